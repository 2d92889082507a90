"""Ids that stand twice are found wherever they stand, and nothing else is."""

from __future__ import annotations

import random
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster import repeats
from cluster.dataset import open_dataset
from cluster.engine import DaskEngine
from cluster.population import ClusterPopulation
from cluster.reduce import Engine, SerialEngine
from cluster.repeats import plan_scratch
from cluster.storage import Store
from tests.cluster.populations import EXACT, populate, write
from udfs.errors import SchemaError


def files_of(ids: Sequence[Sequence[Any]], kind: pa.DataType | None = None) -> list[pa.Table]:
    """Return a table a file, with these ids and an answer each."""
    return [
        pa.table({"id": pa.array(own, kind), "drinks": pa.array(["never"] * len(own), pa.string())})
        for own in ids
    ]


def found(population: ClusterPopulation) -> dict[int, int]:
    """Ask; return the rows whose id repeats by file, as the refusal names them."""
    try:
        population.collect(EXACT, "randomize")
    except SchemaError as refusal:
        named = re.findall(r"(\d+) rows whose id repeats in column 'id' of \S*/(\d+)\.parquet", refusal.got)
        assert named
        return {int(file): int(rows) for rows, file in named}
    return {}


def counted(ids: Sequence[Sequence[Any]]) -> dict[int, int]:
    """Return the rows whose id repeats by file, counted plainly."""
    times = Counter(str(one) for own in ids for one in own)
    rows = {file: sum(times[str(one)] > 1 for one in own) for file, own in enumerate(ids)}
    return {file: n for file, n in rows.items() if n}


@pytest.fixture(params=["serial", "dask"])
def either(request: pytest.FixtureRequest) -> Engine:
    """Each engine."""
    return SerialEngine() if request.param == "serial" else request.getfixturevalue("engine")


TEXT = pa.string()
PLACES: dict[str, tuple[list[list[Any]], pa.DataType | None]] = {
    "one block": ([[1, 2, 3, 2]], None),
    "two row groups": ([[1, 2, 3, 4, 5, 6, 7, 1]], None),
    "two files of one span": ([[1, 5, 9], [2, 5, 8]], None),
    "two files whose spans touch": ([[1, 2, 3], [3, 4, 5]], None),
    "three files": ([[7, 1], [7, 2], [7, 3]], None),
    "negative": ([[-1, -(2**63)], [-(2**63), 4]], pa.int64()),
    "small integers": ([[1, 2], [2, 3]], pa.int8()),
    "above 2**63": ([[2**64 - 1, 3], [2**63, 2**64 - 1]], pa.uint64()),
    "text in one block": ([["x", "y", "x"]], TEXT),
    "text in two files": ([["x", ""], ["z", ""]], TEXT),
    "large text": ([["x", "y" * 99], ["y" * 99]], pa.large_string()),
    "dictionaries": ([["x", "y"], ["z", "y"]], pa.dictionary(pa.int8(), TEXT)),
}


@pytest.mark.parametrize("place", PLACES)
def test_repeats_are_found_in(tmp_path: Path, either: Engine, place: str) -> None:
    ids, kind = PLACES[place]
    path = write(tmp_path / "data", files_of(ids, kind), row_group_size=3)
    assert found(populate(tmp_path, path, "id", either, rows_per_part=1)) == counted(ids)


@pytest.mark.parametrize(
    ("kinds", "ids"),
    [
        ((pa.int64(), TEXT), [[1, 2], ["2", "3"]]),
        ((pa.uint64(), pa.int8()), [[1, 2**64 - 1], [1, 2]]),
        ((pa.int32(), pa.dictionary(pa.int8(), TEXT)), [[-7, 2], ["-7", "3"]]),
        ((TEXT, pa.null()), [["x", "x"], []]),
    ],
)
def test_ids_of_different_types_repeat_where_they_print_alike(
    tmp_path: Path, kinds: tuple[pa.DataType, ...], ids: list[list[Any]]
) -> None:
    tables = [files_of([own], kind)[0] for own, kind in zip(ids, kinds, strict=True)]
    path = write(tmp_path / "data", tables)
    assert found(populate(tmp_path, path, "id", rows_per_part=1)) == counted(ids)


@pytest.mark.parametrize("order", ["sequential", "shuffled", "overlapping"])
@pytest.mark.parametrize("kind", ["integer", "text"])
def test_ids_that_stand_once_are_accepted(tmp_path: Path, either: Engine, order: str, kind: str) -> None:
    ids: list[Any] = [f"{n}" if kind == "text" else n for n in range(900)]
    if order == "shuffled":
        random.Random(3).shuffle(ids)
    files = [ids[start::3] if order == "overlapping" else ids[start * 300 :][:300] for start in range(3)]
    path = write(tmp_path / "data", files_of(files), row_group_size=100)
    assert found(populate(tmp_path, path, "id", either, rows_per_part=150)) == {}


@settings(deadline=None, max_examples=80)
@given(
    ids=st.lists(st.lists(st.integers(-20, 40), max_size=12), min_size=1, max_size=4),
    kind=st.sampled_from([pa.int64(), TEXT]),
    cuts=st.tuples(st.integers(1, 5), st.integers(1, 20), st.integers(1, 9)),
)
def test_repeats_are_those_that_counting_finds(
    tmp_path_factory: pytest.TempPathFactory,
    ids: list[list[int]],
    kind: pa.DataType,
    cuts: tuple[int, int, int],
) -> None:
    row_group, rows_per_part, run_rows = cuts
    folder = tmp_path_factory.mktemp("ids")
    own: list[list[Any]] = [[str(one) for one in file] for file in ids] if kind == TEXT else [*ids]
    path = write(folder / "data", files_of(own, kind), row_group_size=row_group)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeats, "RUN_ROWS", run_rows)
        rows = found(populate(folder, path, "id", rows_per_part=rows_per_part))
    assert rows == counted(ids)
    shutil.rmtree(folder)


def test_of_very_many_repeats_a_thousand_are_counted(tmp_path: Path, either: Engine) -> None:
    ids = [list(range(3000)), list(range(2999, -1, -1))]
    path = write(tmp_path / "data", files_of(ids))
    assert found(populate(tmp_path, path, "id", either, rows_per_part=1)) == {0: 1000, 1: 1000}


def test_trusted_ids_are_not_looked_at(tmp_path: Path) -> None:
    path = write(tmp_path / "data", files_of([[1, 1], [1, 1]]))
    population = populate(tmp_path, path, "id", checked=False, rows_per_part=1)
    assert found(population) == {}
    assert population.staging.folder("ids").names() == []


@pytest.mark.parametrize(
    ("ids", "runs"),
    [
        ([[1, 2, 3], [4, 5, 6]], 0),
        ([[4, 5, 6], [1, 2, 3]], 0),
        ([[1, 3, 5], [2, 4, 6]], 2),
        ([["a", "b"], ["c", "d"]], 2),
        ([["a", "b", "c"]], 0),
    ],
)
def test_runs_are_written_only_where_footers_do_not_rule_repeats_out(
    tmp_path: Path, ids: list[list[Any]], runs: int
) -> None:
    population = populate(tmp_path, write(tmp_path / "data", files_of(ids)), "id", rows_per_part=1)
    assert found(population) == {}
    assert len(population.staging.folder("ids").names()) == runs


def test_a_part_longer_than_a_run_is_sorted_in_runs_and_searched_in_buckets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeats, "RUN_ROWS", 100_000)
    monkeypatch.setattr(repeats, "BUCKET_ROWS", 100_000)
    ids = random.Random(5).sample(range(10**12), 400_000)
    path = write(tmp_path / "data", files_of([ids]))
    scratch = plan_scratch(open_dataset(path, "id").parts(), Store(str(tmp_path)))
    assert scratch is not None
    assert scratch.buckets == 4
    population = populate(tmp_path, path, "id")
    assert found(population) == {}
    sizes = [population.staging.folder("ids").size(name) for name in population.staging.folder("ids").names()]
    assert len(sizes) == 4
    ids[399_999] = ids[0]
    again = populate(tmp_path / "again", write(tmp_path / "data", files_of([ids])), "id")
    assert found(again) == {0: 2}


def test_a_footer_that_lies_about_its_ids_is_refused(tmp_path: Path) -> None:
    path = write(
        tmp_path / "data", files_of([[1000, 1001], [1002, 1003]]), compression="none", use_dictionary=False
    )
    file = Path(path) / "001.parquet"
    data = file.read_bytes()
    low, high = (value.to_bytes(8, "little") for value in (1002, 1003))
    rows, footer = data[:-500], data[-500:]
    assert low + high in rows
    file.write_bytes(rows.replace(low + high, (1000).to_bytes(8, "little") + high) + footer)
    population = populate(tmp_path, path, "id", rows_per_part=1)
    with pytest.raises(
        SchemaError, match="must lie between the least and greatest value in its file's footer"
    ):
        population.collect(EXACT, "randomize")


def test_what_a_killed_worker_left_half_written_is_no_run(tmp_path: Path, engine: DaskEngine) -> None:
    path = write(tmp_path / "data", files_of([["a", "b"], ["c", "d"]]))
    population = populate(tmp_path, path, "id", engine, rows_per_part=1)
    population.staging.folder("ids").write("part-00000-000.run.0123.tmp", b"torn")
    assert found(population) == {}
