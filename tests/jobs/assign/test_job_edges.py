"""The assign job where tasks, ids and files are unusual."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster import manifest
from cluster.dataset import open_dataset
from jobs.assign.library import Library
from tests.jobs.assign.dispatch import Dispatch, grown
from tests.vectors import load
from udfs.errors import SchemaError
from udfs.items import unpack_item

PROTOCOLS = ["lattice", "paillier", "download"]
P01 = next(case for case in load("assign_field_cases") if case["id"] == "P01")
MIDDLES = [[0.1, 0.1], [0.1, 0.9], [0.9, 0.9], [0.6, 0.1], [0.9, 0.1]]
"""A point of each leaf."""


def small(root: Path, protocol: str) -> Dispatch:
    """Return a dispatch of a dozen workers, the first of whom are in a leaf each."""
    dispatch = Dispatch(root, workers=12)
    dispatch.given["retrieval"]["protocol"] = protocol
    dispatch.skills[:5] = MIDDLES
    dispatch.settle()
    return dispatch


def offered(
    dispatch: Dispatch, ids: list[Any], payloads: list[bytes], places: list[Any], kind: Any = None
) -> None:
    """Offer tasks for workers at single points, with ids of some type."""
    dispatch.payloads = payloads
    dispatch.bounds = np.repeat(np.array(places, dtype=float)[:, :, None], 2, axis=2)
    dispatch.ids = ids
    dispatch.offer(dispatch.task_table() | {"task": pa.array(ids, kind)})


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_leaves_that_no_task_meets_bring_nothing_and_look_like_others(tmp_path: Path, protocol: str) -> None:
    """The first leaf's task ends in zeros, as padding does."""
    dispatch = small(tmp_path, protocol)
    offered(dispatch, ["only"], [b"saw\0\0\0"], MIDDLES[:1])
    result = dispatch.run()[0]["result"]
    assert [leaf["in_item"] for leaf in result["leaves"]] == [1, 0, 0, 0, 0]
    assert result["precision"][1:] == [0.0] * 4
    assert (result["received"], result["undecoded"]) == (12, 0)
    dispatch.assert_everybody_received(result["leaves"])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_leaf_has_the_item_of_its_place(tmp_path: Path, protocol: str) -> None:
    """P01: five items, one a leaf; the last is no neighbour of the first, and each comes whole."""
    dispatch, names = small(tmp_path, protocol), P01["input"]["items"]
    offered(dispatch, names, [name.encode() for name in names], MIDDLES)
    result = dispatch.run()[0]["result"]
    received = dispatch.received()
    assert [received[worker] for worker in range(5)] == [[name] for name in names]
    assert {leaf["tasks"] for leaf in result["leaves"]} == {1}
    dispatch.assert_everybody_received(result["leaves"])


def test_items_hold_payloads_byte_for_byte(tmp_path: Path) -> None:
    dispatch = small(tmp_path, "download")
    spec: Any = dispatch.spec()
    library = Library.read(spec, open_dataset(str(dispatch.tasks)))
    payloads = dict(zip(dispatch.ids, dispatch.payloads, strict=True))
    assert sum(one.endswith(b"\0") for one in payloads.values()) > 5
    for leaf, item in zip(spec.grown.leaves, library.items, strict=True):
        found = dict(unpack_item(item, "item"))
        assert found == {name: payloads[name] for name in dispatch.meets(leaf.box)}
    assert {len(item) for item in library.items} == {library.item_bytes}
    assert library.nowhere == 0


@pytest.mark.parametrize(
    ("ids", "arrow_type"),
    [
        ([2**64 - 1, 0, 2**63], pa.uint64()),
        ([-(2**63), 2**63 - 1, 0], pa.int64()),
        ([-1, 0, 1], pa.int8()),
        (["", "Säge\n", "木" * 300], pa.string()),
        (["b", "a", "c"], pa.dictionary(pa.int8(), pa.large_string())),
    ],
)
def test_ids_of_tasks_come_as_they_were(tmp_path: Path, ids: list[Any], arrow_type: pa.DataType) -> None:
    dispatch = small(tmp_path, "download")
    offered(dispatch, ids, [b"x"] * 3, MIDDLES[:1] * 3, arrow_type)
    leaves = dispatch.run()[0]["result"]["leaves"]
    received = dispatch.received()
    inside = np.flatnonzero(dispatch.inside(leaves[0]["box"])).tolist()
    assert inside
    assert all(received[worker] == ids for worker in inside)
    assert sum(map(len, received.values())) == 3 * len(inside)


def test_files_of_many_blocks_and_empty_ones_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cluster.blocks.BLOCK_ROWS", 7)
    monkeypatch.setattr(manifest, "BLOCK_ROWS", 7)
    dispatch = Dispatch(tmp_path)
    table = pa.table(dispatch.workers(list(range(90))))
    dispatch.write(dispatch.workers([]))
    with pq.ParquetWriter(dispatch.people / "1.parquet", table.schema) as writer:
        for first, stop in ((0, 0), (0, 50), (50, 50), (50, 90)):
            writer.write_table(table[first:stop])
    dispatch.offer(
        *({name: column[part::2] for name, column in dispatch.task_table().items()} for part in (0, 1))
    )
    dispatch.assert_everybody_received(dispatch.run()[0]["result"]["leaves"])


def test_a_leaf_between_two_equal_ends_has_no_task(tmp_path: Path) -> None:
    """It holds no point, and so no worker."""
    dispatch = Dispatch(tmp_path)
    dispatch.grow(grown({1: ("sawing", 0.0)}))
    dispatch.bounds[:] = [[0.0, 0.2], [0.0, 0.2]]
    dispatch.offer(dispatch.task_table())
    result = dispatch.run()[0]["result"]
    assert [leaf["tasks"] for leaf in result["leaves"]] == [0, 40]
    assert result["tasks"]["nowhere"] == 0
    dispatch.assert_everybody_received(result["leaves"])


def test_workers_whose_skills_are_not_known_are_refused_by_count(tmp_path: Path) -> None:
    dispatch = Dispatch(tmp_path, 12)
    table = dispatch.workers(list(range(12)))
    table["sawing"] = [None, None, *table["sawing"][2:]]
    dispatch.write(table)
    with pytest.raises(SchemaError, match="2 missing answers in column 'sawing'"):
        dispatch.run()
    assert dispatch.files() == {}
    assert not dispatch.secrets()
