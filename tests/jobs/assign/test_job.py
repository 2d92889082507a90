"""The assign job, from Parquet to what each worker receives, in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.assign import job as assign_job
from jobs.assign import platform, spec
from tests.jobs.assign.dispatch import SKILLS, Dispatch, grown
from tests.jobs.assign.engines import Counting
from udfs.errors import SpecError
from udfs.lattice_retrieval import LatticeRetrieval

PROTOCOLS = ["lattice", "paillier", "download"]


@pytest.fixture
def dispatch(tmp_path: Path) -> Dispatch:
    return Dispatch(tmp_path)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_worker_receives_the_tasks_of_its_leaf(tmp_path: Path, protocol: str) -> None:
    dispatch = Dispatch(tmp_path, workers=90 if protocol != "paillier" else 12)
    dispatch.given["retrieval"]["protocol"] = protocol
    document, stored = dispatch.run()
    result = document["result"]
    assert not stored
    dispatch.assert_everybody_received(result["leaves"])
    workers = len(dispatch.skills)
    assert (result["workers"], result["received"], result["undecoded"]) == (workers, workers, 0)
    assert result["retrieval"]["protocol"] == protocol
    assert document["privacy"]["spent_after"] == 0
    assert document["privacy"]["epsilon"] is None
    assert document["roles"] == "embedded"
    assert dispatch.charges() == []
    assert not dispatch.secrets()
    kept = {name for name in dispatch.files() if not name.startswith("reports/")}
    assert kept == {"result.json", "report.html", "manifest.json"}


@pytest.mark.parametrize("protocol", ["lattice", "download"])
def test_tasks_that_are_packed_once_take_several_gets(dispatch: Dispatch, protocol: str) -> None:
    dispatch.given["retrieval"] |= {"protocol": protocol, "gets": 5}
    dispatch.given["tasks"]["packing"] = "once"
    result = dispatch.run()[0]["result"]
    assert max(leaf["needed"] for leaf in result["leaves"]) <= 5
    assert all(leaf["coverage"] == 1 for leaf in result["leaves"])
    assert sum(leaf["in_item"] for leaf in result["leaves"]) == len(dispatch.ids) - result["tasks"]["nowhere"]
    received = dispatch.received()
    for leaf in result["leaves"]:
        for worker in np.flatnonzero(dispatch.inside(leaf["box"])).tolist():
            assert dispatch.meets(leaf["box"]) <= set(received[worker])
            assert len(set(received[worker])) == len(received[worker])


def test_numbers_of_leaves_are_those_of_tasks_and_boxes(dispatch: Dispatch) -> None:
    result = dispatch.run()[0]["result"]
    sizes = dict(zip(dispatch.ids, map(len, dispatch.payloads), strict=True))
    for leaf, precision in zip(result["leaves"], result["precision"], strict=True):
        wanted = dispatch.meets(leaf["box"])
        useful = sum(sizes[task] for task in wanted)
        assert (leaf["tasks"], leaf["in_item"], leaf["payload_bytes"]) == (len(wanted), len(wanted), useful)
        assert precision == pytest.approx(useful / result["item_bytes"])
    assert result["item_bytes"] == result["packing"]["largest"] == result["packing"]["lower_bound"]
    assert result["library_bytes"] == 5 * result["item_bytes"]
    chosen = next(one for one in result["costs"] if one["chosen"])
    assert result["bytes_up"] == chosen["upload_bytes"]
    assert result["bytes_down"] == chosen["download_bytes"] + chosen["hint_bytes"]
    assert result["retrieval"]["failure_log2"] < -40
    assert result["tasks"] == {"number": 40, "payload_bytes": sum(sizes.values()), "nowhere": 0}
    assert result["dimensions"] == list(SKILLS)
    assert json.loads((dispatch.out / "result.json").read_text())["result"] == result


@pytest.mark.parametrize(
    ("protocol", "packing", "gets"), [("lattice", "every", 1), ("download", "once", 3), ("auto", "once", 2)]
)
def test_nothing_of_a_worker_stands_in_the_result(
    tmp_path: Path, protocol: str, packing: str, gets: int
) -> None:
    """Other workers, as many as before and all in one leaf: the same result but for what is measured."""
    documents = []
    for place, low in enumerate((0.0, 0.9)):
        dispatch = Dispatch(tmp_path / str(place))
        dispatch.given["retrieval"] |= {"protocol": protocol, "gets": gets}
        dispatch.given["tasks"]["packing"] = packing
        if low:
            dispatch.skills[:] = low
            dispatch.settle()
        document = dispatch.run()[0]
        for key in ("seconds", "spec", "population"):
            document.pop(key)
        for key in ("server_seconds", "server_bytes_per_second"):
            document["result"].pop(key)
        documents.append(document)
    assert documents[0] == documents[1]


def test_assignments_are_their_owner_s_and_written_only_where_wanted(
    dispatch: Dispatch, tmp_path: Path
) -> None:
    dispatch.given["output"]["assignments"] = False
    assert [dispatch.run()[1] for _ in range(2)] == [False, True]
    assert dispatch.reports() == {}
    dispatch.given["output"]["assignments"] = True
    with pytest.raises(
        SpecError, match=r"output\.assignments: the stored result was made without assignments"
    ):
        dispatch.run()
    dispatch.out = tmp_path / "elsewhere"
    dispatch.given |= {"output": {"path": str(dispatch.out), "assignments": True}}
    dispatch.given["retrieval"]["gets"] = 2
    dispatch.run()
    copied = tmp_path / "copied"
    dispatch.given["output"]["path"] = str(copied)
    assert dispatch.run()[1]
    for folder in (dispatch.out, copied):
        files = list((folder / "reports").iterdir())
        assert files
        assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


@pytest.mark.parametrize("protocol", ["lattice", "download"])
def test_batches_and_blocks_of_any_size_give_the_same(
    tmp_path: Path, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spec, "WORKERS_A_TASK", 20)
    received = []
    for place, (batch, blocks) in enumerate(((1 << 28, 4), (1, 1), (1 << 28, 1000))):
        monkeypatch.setattr(assign_job, "_BATCH_BYTES", batch)
        monkeypatch.setattr(assign_job, "_MOST_IN_BATCH", batch)
        monkeypatch.setattr(platform, "_FEWEST_BLOCKS", blocks)
        dispatch = Dispatch(tmp_path / str(place))
        dispatch.given["retrieval"]["protocol"] = protocol
        engine = Counting()
        dispatch.run(engine)
        assert engine.stages.count("fetch") == (8 if batch == 1 else 2)
        received.append(dispatch.received())
    assert received[0] == received[1] == received[2]


def test_hints_are_kept_by_the_library_s_version(tmp_path: Path) -> None:
    dispatch, stages = Dispatch(tmp_path), []
    for gets in (1, 1, 2):  # more gets, but the same library
        dispatch.given["retrieval"]["gets"] = gets
        engine = Counting()
        version = dispatch.run(engine)[0]["result"]["retrieval"]["version"]
        stages.append((version, "hint" in engine.stages))
        dispatch.skills[0, 0] += 0.01  # another population
        dispatch.write(dispatch.workers(list(range(90))))
    assert [computed for _, computed in stages][:2] == [True, False]
    assert stages[0][0] == stages[1][0]
    dispatch.payloads[0] = b"something else"
    dispatch.offer(dispatch.task_table())
    engine = Counting()
    assert dispatch.run(engine)[0]["result"]["retrieval"]["version"] not in dict(stages)
    assert "hint" in engine.stages


def test_what_was_spoilt_is_counted_and_nobody_asks_again(
    dispatch: Dispatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = LatticeRetrieval.answer

    def spoil(self: LatticeRetrieval, rows: Any, first: int, sent: Any) -> Any:
        found = answer(self, rows, first, sent)
        found[:2] ^= np.uint16(0x8000)
        return found

    monkeypatch.setattr(LatticeRetrieval, "answer", spoil)
    engine = Counting()
    result = dispatch.run(engine)[0]["result"]
    assert (result["received"], result["undecoded"]) == (84, 6)  # of each file, two
    rows = pq.read_table(dispatch.out / "reports").to_pylist()
    assert [row["tasks"] for row in rows if not row["decoded"]] == [[]] * 6
    assert sum(row["decoded"] for row in rows) == 84
    assert engine.stages.count("fetch") == 2


def test_workers_without_ids_fetch_too(dispatch: Dispatch) -> None:
    dispatch.given["population"].pop("id")
    with pytest.raises(SpecError, match=r"population\.id"):
        dispatch.run()
    dispatch.given["output"]["assignments"] = False
    result = dispatch.run()[0]["result"]
    assert (result["received"], result["undecoded"]) == (90, 0)


def test_text_ids_decimals_and_narrow_floats_are_read(dispatch: Dispatch) -> None:
    table = dispatch.workers(list(range(90)))
    table["sawing"] = pa.array(table["sawing"]).cast(pa.float32())
    table["sewing"] = pa.array([f"{one:.2f}" for one in table["sewing"]]).cast(pa.decimal128(5, 2))
    table["worker"] = [f"w{number}" for number in range(90)]
    dispatch.write(table)
    leaves = dispatch.run()[0]["result"]["leaves"]
    received = dispatch.received()
    for leaf in leaves:
        for worker in np.flatnonzero(dispatch.inside(leaf["box"])).tolist():
            assert set(received[f"w{worker}"]) == dispatch.meets(leaf["box"])


@pytest.mark.parametrize("protocol", ["lattice", "download"])
def test_a_tree_of_one_leaf_no_tasks_and_nobody(tmp_path: Path, protocol: str) -> None:
    dispatch = Dispatch(tmp_path)
    dispatch.given["retrieval"]["protocol"] = protocol
    dispatch.grow(grown({}))
    result = dispatch.run()[0]["result"]
    dispatch.assert_everybody_received(result["leaves"])
    assert len(result["leaves"]) == 1
    dispatch.offer({name: pa.array(column)[:0] for name, column in dispatch.task_table().items()})
    result = dispatch.run()[0]["result"]
    assert set(map(tuple, dispatch.received().values())) == {()}
    assert (result["precision"], result["tasks"]["number"]) == ([0.0], 0)
    dispatch.write(dispatch.workers([]))
    result = dispatch.run()[0]["result"]
    assert (result["workers"], result["received"], result["server_bytes_per_second"]) == (0, 0, None)
