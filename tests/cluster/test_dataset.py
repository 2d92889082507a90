"""A population's files: which are found, and what their footers say."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster.blocks import read_blocks
from cluster.dataset import open_dataset
from tests.cluster.populations import people, write
from udfs.errors import SchemaError, SpecError

ROWS = {"answer": ["yes", "no"]}


def found(path: Path | str, root: Path) -> list[str]:
    """Return the files of a population, relative to a folder."""
    return [str(Path(file.url).relative_to(root)) for file in open_dataset(str(path)).files]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of Parquet files, some of them hidden, with other files between them."""
    for name in (
        "b.parquet",
        "a.parq",
        "c/d/e.pq",
        "_h.parquet",
        ".h.parquet",
        "_h/f.parquet",
        "c/.h/g.parquet",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(ROWS), tmp_path / name)
    (tmp_path / "notes.txt").write_text("no Parquet")
    (tmp_path / "d.parquet").mkdir()
    return tmp_path


def test_a_folder_is_searched_to_its_depths_but_not_for_what_is_hidden(folder: Path) -> None:
    assert found(folder, folder) == ["a.parq", "b.parquet", "c/d/e.pq"]
    assert found(f"{folder}/", folder) == ["a.parq", "b.parquet", "c/d/e.pq"]


def test_a_single_file_need_not_end_in_a_known_way(tmp_path: Path) -> None:
    pq.write_table(pa.table(ROWS), tmp_path / "answers")
    assert found(tmp_path / "answers", tmp_path) == ["answers"]


PATTERNS = {
    "*.par*": ["a.parq", "b.parquet"],
    "c/*/?.pq": ["c/d/e.pq"],
    "**/*.p*": ["a.parq", "b.parquet", "c/d/e.pq"],
    "_h/*.parquet": ["_h/f.parquet"],
    "[ab].par*": ["a.parq", "b.parquet"],
}


@pytest.mark.parametrize(("pattern", "names"), PATTERNS.items())
def test_a_pattern_finds_what_matches_and_is_not_hidden_but_by_name(
    folder: Path, pattern: str, names: list[str]
) -> None:
    assert found(folder / pattern, folder) == names


def test_a_relative_path_is_made_absolute(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert found("b.parquet", folder) == ["b.parquet"]


@pytest.mark.parametrize("path", ["nowhere", "empty", "empty/*.parquet", "nowhere/*", "hidden"])
def test_a_path_without_a_parquet_file_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path / "hidden" / "_tmp", [ROWS])
    with pytest.raises(SpecError, match=r"population\.path: must name a Parquet file"):
        open_dataset(str(tmp_path / path))


def test_an_unknown_protocol_is_refused() -> None:
    with pytest.raises(SpecError, match=r"population\.path: must be a path or a URL"):
        open_dataset("nowhere://people")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no Parquet at all", b"PAR1" + b"\xff" * 40 + b"PAR1"])
def test_a_file_that_is_no_parquet_is_refused_by_its_name(tmp_path: Path, content: bytes) -> None:
    write(tmp_path, [ROWS])
    (tmp_path / "torn.parquet").write_bytes(content)
    with pytest.raises(SchemaError, match=r"torn\.parquet: must be a readable Parquet file"):
        open_dataset(str(tmp_path))


def test_a_link_to_nowhere_is_refused_by_its_name(tmp_path: Path) -> None:
    write(tmp_path, [ROWS])
    (tmp_path / "link.parquet").symlink_to(tmp_path / "nowhere")
    with pytest.raises(
        SchemaError, match=r"link\.parquet: must be a readable Parquet file; got FileNotFoundError"
    ):
        open_dataset(str(tmp_path))


def test_files_and_row_groups_without_rows_give_no_units(tmp_path: Path) -> None:
    schema = people(1).schema
    path = write(tmp_path, [people(3), people(0), people(2)])
    pq.ParquetWriter(tmp_path / "9.parquet", schema).close()
    with pq.ParquetWriter(tmp_path / "8.parquet", schema) as writer:
        for rows in (0, 5, 0):
            writer.write_table(people(rows))
    data = open_dataset(path)
    assert [(unit.file, unit.rows) for unit in data.units] == [(0, 3), (2, 2), (3, 5)]
    assert (data.rows, len(data.files)) == (10, 5)


def test_ids_spans_come_from_the_footers_of_integer_columns(tmp_path: Path) -> None:
    big = pa.array([2**63 + 5, 1], pa.uint64())
    path = write(tmp_path, [{"id": [3, -4]}, {"id": big}, {"id": ["x", "y"]}])
    assert [unit.id_span for unit in open_dataset(path, "id").units] == [(-4, 3), (1, 2**63 + 5), None]
    assert [unit.id_span for unit in open_dataset(path).units] == [None] * 3


def test_a_column_must_stand_once_in_every_file(tmp_path: Path) -> None:
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["answer", "answer"])
    path = write(tmp_path, [ROWS, {"other": ["x"]}, twice])
    columns = open_dataset(path).columns("answer")
    assert next(columns) == (f"{path}/000.parquet", pa.string())
    with pytest.raises(SchemaError, match=r"001\.parquet: must have one column 'answer'; got columns other"):
        next(columns)
    with pytest.raises(SchemaError, match=r"002\.parquet: must have one column 'answer'; got 2 of that name"):
        list(open_dataset(f"{path}/002.parquet").columns("answer"))


def test_the_snapshot_changes_with_the_files_and_with_nothing_else(tmp_path: Path) -> None:
    path = write(tmp_path, [people(3), people(4)])
    before = open_dataset(path).snapshot
    assert open_dataset(path, "id").snapshot == before
    os.utime(tmp_path / "000.parquet", ns=(1, 1))
    assert open_dataset(path).snapshot != before


def test_the_bytes_of_a_column_are_counted_by_its_whole_name(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a.b": [1, 2], "a": [{"c": 1}, {"c": 2}]}), tmp_path / "0.parquet")
    column_bytes = open_dataset(str(tmp_path)).column_bytes
    assert sorted(column_bytes) == ["a", "a.b"]
    assert all(column_bytes.values())


def test_tasks_are_cut_by_rows_and_blocks_by_what_is_read_at_a_time(tmp_path: Path) -> None:
    path = write(tmp_path, [{"n": range(300)}, {"n": range(70_000)}], row_group_size=70_000)
    data = open_dataset(path, task_rows=200)
    assert [part.rows for part in data.parts()] == [300, 70_000]
    assert data.tasks() == 2
    assert open_dataset(path).tasks() == 1
    assert data.blocks == 1 + 2


@pytest.mark.parametrize("unit_rows", [1, 64, 100, 1000])
def test_large_row_groups_are_cut_and_every_row_is_read_once(tmp_path: Path, unit_rows: int) -> None:
    path = write(tmp_path, [{"n": range(150)}, {"n": range(150, 157)}], row_group_size=100)
    data = open_dataset(path, unit_rows=unit_rows)
    assert max(unit.rows for unit in data.units) == min(unit_rows, 100)
    assert len({unit.name for unit in data.units}) == len(data.units)
    found = [
        (unit.first_row + place, number)
        for part in data.parts()
        for unit in part.units
        for place, number in enumerate(
            number
            for block in read_blocks(part.files[unit.file], unit, ["n"])
            for number in block["n"].to_pylist()
        )
    ]
    assert found == [(number, number) for number in range(157)]


def test_a_cut_row_group_shares_its_values_out(tmp_path: Path) -> None:
    path = write(tmp_path, [{"n": [[1, 2, 3]] * 10}])
    assert [(unit.rows, unit.values) for unit in open_dataset(path, unit_rows=4).units] == [
        (4, 12),
        (4, 12),
        (2, 6),
    ]


def test_another_data_set_is_found_beside_and_its_key_named_in_errors(tmp_path: Path) -> None:
    path = write(tmp_path / "people", [people(3)])
    data = open_dataset(path)
    other = data.beside(write(tmp_path / "tasks", [people(5)]), "tasks.path")
    assert (data.rows, other.rows) == (3, 5)
    assert other.snapshot != data.snapshot
    assert data.beside(path, "tasks.path").snapshot == data.snapshot
    with pytest.raises(SpecError, match=r"^tasks\.path: must name a Parquet file"):
        data.beside(str(tmp_path / "nowhere"), "tasks.path")


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "people", [people(3), people(2, 3)])
    reading = open_dataset(path).read(["id"])
    assert next(reading)[1]["id"].to_pylist() == [0, 1, 2]
    write(tmp_path / "people", [people(3), people(4, 3)])
    with pytest.raises(SchemaError, match="must stay as it was"):
        list(reading)
