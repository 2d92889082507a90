"""Reports as a data product: typed, described in their footer, whole or not there, and never asked for twice."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster import reports
from cluster.reports import ReportWriter, WriteBlock, noted_files
from cluster.storage import Store
from tests.cluster.populations import ASKS, BRACKETS, DRINKS
from udfs.asking import Ask, Partial, WrittenFile
from udfs.categories import CategoryQuestion
from udfs.identity import IdColumn
from udfs.randomized_response import RandomizedResponse

NAME = "part-00000.parquet"
BLOCKS = [[np.array([0, 3], np.uint8), np.eye(7, dtype=np.bool_)[[6, 2]]], [np.array([1], np.uint8), np.eye(7, dtype=np.bool_)[[0]]]]  # fmt: skip
PARTIAL = Partial((np.array([1, 1, 0, 1]), np.array([1, 0, 1, 0, 0, 0, 1])), 3)


def two_blocks(write: WriteBlock) -> Partial:
    """Write two blocks of reports with their ids."""
    write(BLOCKS[0], pa.array(["b", "a"]).dictionary_encode())
    write(BLOCKS[1], pa.array(["c"]))
    return PARTIAL


@pytest.fixture
def writer(store: Store) -> ReportWriter:
    return ReportWriter(store, NAME, tuple(ASKS), IdColumn("id", "text"))


def read(store: Store) -> pa.Table:
    """Return the file of reports as a table."""
    return pq.read_table(pa.BufferReader(store.read(NAME)))


def test_reports_go_with_their_ids_as_labels_and_bit_sets(writer: ReportWriter, store: Store) -> None:
    writer.write(two_blocks)
    table = read(store)
    assert table.to_pydict() == {
        "id": ["b", "a", "c"],
        "drinks": [DRINKS[0], DRINKS[3], DRINKS[1]],
        "income": [b"\x40", b"\x04", b"\x01"],
    }
    assert [str(one) for one in table.schema.types] == [
        "string",
        "dictionary<values=string, indices=uint8, ordered=0>",
        "fixed_size_binary[1]",
    ]


def test_the_footer_says_what_a_reader_needs_and_nothing_of_the_secret(
    writer: ReportWriter, store: Store
) -> None:
    writer.write(two_blocks)
    metadata = read(store).schema.metadata
    entry = json.loads(metadata[b"canvass"])
    assert entry["version"] == 1
    drinks, income = entry["attributes"]["drinks"], entry["attributes"]["income"]
    assert (drinks["mechanism"], drinks["epsilon"], drinks["categories"]) == (
        "randomized-response",
        "1",
        [*DRINKS],
    )
    assert (income["mechanism"], income["cells"], income["categories"]) == (
        "subset-selection",
        7,
        [*BRACKETS],
    )
    assert set(metadata) == {b"canvass"}


def test_what_was_written_is_what_is_there(writer: ReportWriter, store: Store) -> None:
    partial = writer.write(two_blocks)
    data = store.read(NAME)
    assert partial.files == {NAME: WrittenFile(len(data), hashlib.sha256(data).hexdigest())}


def test_a_whole_file_answers_for_its_part(writer: ReportWriter) -> None:
    assert writer.answered() is None
    written, answered = writer.write(two_blocks), writer.answered()
    assert answered is not None
    assert [counts.tolist() for counts in answered.counts] == [counts.tolist() for counts in PARTIAL.counts]
    assert all(counts.dtype == np.int64 for counts in answered.counts)
    assert answered.rows == 3
    assert answered.files == written.files


@pytest.mark.parametrize("note", [b"", b"{", b"[]", b"{}", b'{"counts": 3, "rows": 1, "files": {}}'])
def test_a_part_whose_note_is_torn_is_asked_again(writer: ReportWriter, store: Store, note: bytes) -> None:
    written = writer.write(two_blocks)
    store.write(f"{NAME}.json", note)
    assert writer.answered() is None
    assert noted_files(note) == {}
    assert writer.write(two_blocks).files == written.files
    assert writer.answered() is not None


def test_the_same_reports_are_the_same_bytes(writer: ReportWriter, store: Store, tmp_path: Path) -> None:
    writer.write(two_blocks)
    other = Store(str(tmp_path / "other"))
    other.make()
    ReportWriter(other, NAME, writer.asks, writer.ids).write(two_blocks)
    assert other.read(NAME) == store.read(NAME)


def test_a_failure_leaves_no_file(writer: ReportWriter, store: Store) -> None:
    def fail(write: WriteBlock) -> Partial:
        write(BLOCKS[0], pa.array(["a", "b"]))
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        writer.write(fail)
    assert store.names() == []
    assert writer.answered() is None


@pytest.mark.parametrize("spoilt", [b"", b"PAR1", b"\0" * 300])
def test_a_spoilt_file_does_not_answer(writer: ReportWriter, store: Store, spoilt: bytes) -> None:
    writer.write(two_blocks)
    store.write(NAME, spoilt)
    assert writer.answered() is None


def test_row_groups_are_cut_by_blocks(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "_ROWS_PER_GROUP", 4)
    ask: Ask = (CategoryQuestion("a", (False, True), missing="category"), RandomizedResponse(3, 1))

    def ten(write: WriteBlock) -> Partial:
        for _ in range(5):
            write([np.array([0, 2], np.uint8)], None)
        return Partial((np.array([5, 0, 5]),), 10)

    ReportWriter(store, NAME, (ask,), None).write(ten)
    metadata = pq.read_metadata(pa.BufferReader(store.read(NAME)))
    assert [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)] == [4, 4, 2]
    assert read(store)["a"].to_pylist() == [False, None] * 5


@pytest.mark.parametrize(
    ("kind", "ids"), [("integer", [-5, 3]), ("unsigned", [2**64 - 1, 0]), ("text", ["é", ""])]
)
def test_ids_keep_their_kind(store: Store, kind: str, ids: list[object]) -> None:
    id_column = IdColumn("id", kind)  # type: ignore[arg-type]

    def one_block(write: WriteBlock) -> Partial:
        write(BLOCKS[0], pa.array(ids, id_column.arrow_type))
        return Partial(PARTIAL.counts, 2)

    ReportWriter(store, NAME, tuple(ASKS), id_column).write(one_block)
    column = read(store)["id"]
    assert (column.type, column.to_pylist()) == (id_column.arrow_type, ids)
