"""Reports as a data product: typed, described in their footer, whole or not there, and never asked for twice."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster import reports
from cluster.reports import ReportWriter, WriteBlock, noted_files
from cluster.storage import Store
from tests.cluster.populations import ASKS, BRACKETS, DRINKS
from udfs.asking import Ask, Partial, WrittenFile, combine, respond
from udfs.categories import CategoryQuestion
from udfs.collected import Collected, CollectedReports, CollectedSets
from udfs.draws import fresh_draws
from udfs.identity import IdColumn
from udfs.mechanisms import MECHANISMS
from udfs.randomized_response import RandomizedResponse
from udfs.sampled_response import SampledResponse
from udfs.several import ProductQuestion, SideBySide
from udfs.tables import CrossTable, SparseCounts

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


@st.composite
def sums(draw: st.DrawFn) -> Any:
    """Draw a sum of reports: dense, of any shape, or sparse in any number of runs."""
    counts = st.integers(-(2**63), 2**63 - 1)
    if draw(st.booleans()):
        shape = draw(st.lists(st.integers(0, 3), max_size=3))
        size = int(np.prod(shape))
        flat = draw(st.lists(counts, min_size=size, max_size=size))
        return np.array(flat, dtype=np.int64).reshape(shape)
    cells = st.dictionaries(st.integers(0, 2**27 - 1), st.integers(1, 2**61), max_size=5)
    runs = [run for run in draw(st.lists(cells, max_size=3)) if run]
    return SparseCounts(tuple((np.array([*run]), np.array([*run.values()])) for run in runs), 2**27)


def plainly(counts: Any) -> tuple[Any, ...]:
    """Return a sum as values that compare."""
    if isinstance(counts, SparseCounts):
        runs = counts.merged().runs
        return counts.size, [
            (cells.tolist(), found.tolist(), found.dtype, cells.dtype) for cells, found in runs
        ]
    return counts.shape, counts.dtype, counts.tolist()


@given(found=st.lists(sums(), max_size=4), rows=st.integers(0, 2**40))
def test_a_note_keeps_dense_and_sparse_sums_to_the_last_bit(found: list[Any], rows: int) -> None:
    partial = Partial(tuple(found), rows, files={NAME: WrittenFile(3, "ab")})
    note = reports._partial_to_json(partial).encode()
    again = reports._partial_from_json(note)
    assert again is not None
    assert [plainly(one) for one in again.counts] == [plainly(one) for one in found]
    assert (again.rows, again.files) == (rows, partial.files)
    assert reports._partial_to_json(again).encode() == note
    twice = combine([again, again])  # what was noted adds up like what is new
    assert [plainly(one) for one in twice.counts] == [plainly(one + one) for one in found]


@given(found=st.lists(sums(), min_size=1, max_size=3), data=st.data())
def test_a_note_that_ends_early_says_nothing(found: list[Any], data: st.DataObject) -> None:
    note = reports._partial_to_json(Partial(tuple(found), 3)).encode()
    assert reports._partial_from_json(note[: data.draw(st.integers(0, len(note) - 1))]) is None


@pytest.mark.parametrize(
    "counts",
    [
        [3],
        ["int64"],
        [[1, 2]],
        [{}],
        [{"int64": "AAAA", "shape": [1]}],
        [{"int64": "not base 64", "shape": [1]}],
        [{"int64": "AAAAAAAAAAA=", "shape": [2]}],
        [{"int64": "AAAAAAAAAAA="}],
        [{"size": 9}],
        [{"size": 9, "runs": [{"int64": "AAAAAAAAAAA=", "shape": [1]}]}],
        [{"size": 9, "runs": [1, 2]}],
    ],
    ids=str,
)
def test_a_part_whose_noted_sums_are_none_is_asked_again(
    writer: ReportWriter, store: Store, counts: list[Any]
) -> None:
    writer.write(two_blocks)
    noted = json.loads(store.read(f"{NAME}.json"))
    store.write(f"{NAME}.json", json.dumps(noted | {"counts": counts}).encode())
    assert writer.answered() is None


def test_a_whole_file_answers_with_its_tables_too(writer: ReportWriter) -> None:
    large = CrossTable((0,), (1 << 20,))
    tables = [CrossTable((0, 1), (4, 8)).tally(BLOCKS[0]), large.tally(BLOCKS[0]), large.zeros()]
    writer.write(lambda write: Partial((*two_blocks(write).counts, *tables), 3))
    answered = writer.answered()
    assert answered is not None
    assert [plainly(one) for one in answered.counts] == [plainly(one) for one in (*PARTIAL.counts, *tables)]


def test_the_same_reports_are_the_same_bytes(writer: ReportWriter, store: Store, tmp_path: Path) -> None:
    writer.write(two_blocks)
    other = Store(str(tmp_path / "other"))
    other.make()
    ReportWriter(other, NAME, writer.asks, writer.ids).write(two_blocks)
    assert other.read(NAME) == store.read(NAME)


def test_a_note_of_other_sums_is_no_answer(writer: ReportWriter, store: Store) -> None:
    ours = replace(writer, tallies=("a table",))
    ours.write(two_blocks)
    before = store.read(NAME)
    assert ours.answered() is not None
    for tallies in ((), ("another table",), ("a table", "another table")):
        assert replace(writer, tallies=tallies).answered() is None
    replace(writer, tallies=()).write(two_blocks)  # asked again: the same reports
    assert store.read(NAME) == before


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


TEXT, NUMBERS = CategoryQuestion("q", ("a", "b", "é")), CategoryQuestion("q", tuple(range(20)))
SMOKES = CategoryQuestion("smokes", ("no", 'so "so"', "yes"))
EATS = CategoryQuestion("eats", (0, 1), missing="category")
ROUND_TRIPS: list[Any] = [
    *((TEXT, kind(3, Decimal(1))) for kind in MECHANISMS.values()),
    *((EATS, kind(3, Decimal(1))) for kind in MECHANISMS.values()),
    *((NUMBERS, kind(20, Decimal("0.5"))) for kind in MECHANISMS.values()),
    (CategoryQuestion("q", (True, False)), RandomizedResponse(2, 1)),
    (CategoryQuestion("q", (0.5, 2.0, -1.0)), RandomizedResponse(3, 1)),
    (ProductQuestion("both", (SMOKES, EATS)), RandomizedResponse(9, 1)),
    (SideBySide("either", (SMOKES, EATS)), SampledResponse((3, 3), Decimal(1))),
]


@pytest.mark.parametrize("ask", ROUND_TRIPS, ids=lambda ask: f"{ask[0].name} {ask[1].label[:28]}")
def test_what_one_job_wrote_another_reads_to_the_same_counts(tmp_path: Path, ask: Any) -> None:
    (question, design), rows = ask, 500
    answers = np.arange(rows) % len(question.labels)
    if isinstance(question, SideBySide):
        answers = np.column_stack([answers % width for width in question.shape])
    made = design.randomize(answers.astype(np.uint8), fresh_draws(rows))

    def in_blocks(write: WriteBlock) -> Partial:
        for start in range(0, rows, 200):
            write([made[start : start + 200]], None)
        return Partial((design.tally(made),), rows)

    store = Store(str(tmp_path))
    ReportWriter(store, NAME, (ask,), None).write(in_blocks)
    table = read(store).combine_chunks()
    reported = CategoryQuestion(question.name, question.labels)
    if isinstance(question, CategoryQuestion):
        reported = question
    asked = CollectedReports(reported, design.label)
    if not getattr(design, "one_code", True):
        asked = CollectedSets(reported, design.label, design)
    asked.check_type(table.schema.field(question.name).type, "reports")
    mechanism, counts = Collected(design), design.zeros()
    for block in table.to_batches(max_chunksize=64):
        response = respond((asked, mechanism), block, lambda _: pytest.fail("nothing may be drawn"))
        assert response.reports is not None
        counts += mechanism.tally(response.reports)
    assert counts.tolist() == design.tally(made).tolist()
    assert list(json.loads(table.schema.metadata[b"canvass"])["attributes"]) == [question.name]
