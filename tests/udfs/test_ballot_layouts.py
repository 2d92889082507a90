"""Ballots in every layout and type of column, against a plain loop over rows."""

from __future__ import annotations

import unicodedata
from unittest import mock

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import udfs.ballots
from udfs.ballot_layouts import element_type
from udfs.ballots import OVERVOTED, REPEATED, UNKNOWN, BallotQuestion
from udfs.streams import block_key

FOUR = ("A", "B", "C", "D")
ACCENTED = ("Zoé", "Bo", "Ångström", "Ж")
"""Normal forms; what is drawn is composed or not."""
NUMBERED = (7, -1, 100, 3)

TEXTS = [pa.string(), pa.large_string(), pa.string_view()]
CODED = [pa.dictionary(index, text) for index in (pa.int8(), pa.uint32()) for text in TEXTS]
INTEGERS = [pa.int8(), pa.int64(), pa.dictionary(pa.int16(), pa.int32())]
UNSIGNED = [pa.uint8(), pa.uint16(), pa.uint64()]


def plain_faults(ballot, candidates, shared):
    """Return the faults of a ballot, a list of lists of names: one set of what is wrong a rank."""
    seen, faults = set(), []
    for rank in ballot:
        wrong = {OVERVOTED} if len(rank) > 1 and shared == "overvote" else set()
        for name in rank:
            if name not in candidates:
                wrong.add(UNKNOWN)
            elif name in seen:
                wrong.add(REPEATED)
            seen.add(name)
        faults.append(wrong)
    return faults


def plain_places(ballot, candidates, invalid, shared):
    """Return the places of a ballot, rank by rank."""
    faults = plain_faults(ballot, candidates, shared)
    faultless = next((rank for rank, wrong in enumerate(faults) if wrong), len(ballot))
    kept = [] if invalid == "blank" and faultless < len(ballot) else ballot[:faultless]
    above, places = 0, {}
    for rank in kept:
        places |= dict.fromkeys(rank, above)
        above += len(rank)
    return [places.get(candidate, above) for candidate in candidates]


def plain_counts(ballots, columns, candidates, shared):
    """Return how many ballots have each fault in each column."""
    counts = {}
    for ballot in ballots:
        faults = plain_faults(ballot, candidates, shared)
        where = columns if len(columns) > 1 else columns * len(ballot)
        pairs = zip(where, faults, strict=False)
        for fault in {(column, what) for column, wrong in pairs for what in wrong}:
            counts[fault] = counts.get(fault, 0) + 1
    return counts


def cleared(ballots):
    """Return ballots as lists of ranks that are lists of names in the normal form, with nothing missing."""
    return [
        [[normal(name) for name in rank or [] if name is not None] for rank in ballot or []]
        for ballot in ballots
    ]


def normal(name):
    return unicodedata.normalize("NFC", name) if isinstance(name, str) else name


def as_array(values, arrow_type):
    """Return values as an array of a type: Arrow makes neither all dictionaries nor lists of them."""
    if pa.types.is_dictionary(arrow_type):
        entries = list(dict.fromkeys(value for value in values if value is not None))[::-1]
        indices = [None if value is None else entries.index(value) for value in values]
        return pa.DictionaryArray.from_arrays(
            pa.array(indices, arrow_type.index_type), pa.array(entries, arrow_type.value_type)
        )
    if element_type(arrow_type) is None:
        return pa.array(values, arrow_type)
    elements = as_array([one for value in values for one in value or []], arrow_type.value_type)
    absent = pa.array([value is None for value in values], pa.bool_())
    if pa.types.is_fixed_size_list(arrow_type):
        assert None not in values
        return pa.FixedSizeListArray.from_arrays(elements, arrow_type.list_size)
    ends = np.cumsum([0, *(len(value or []) for value in values)])
    kind, width = (
        (pa.LargeListArray, pa.int64()) if pa.types.is_large_list(arrow_type) else (pa.ListArray, pa.int32())
    )
    return kind.from_arrays(pa.array(ends, width), elements, mask=absent if len(values) else None)


@st.composite
def elections(draw):
    """Draw candidates, ballots with all kinds of faults, and how these stand in columns."""
    candidates, types = draw(
        st.sampled_from([(ACCENTED, [*TEXTS, *CODED]), (NUMBERED, INTEGERS), ((5, 250), UNSIGNED)])
    )
    candidates = candidates[: draw(st.sampled_from([4, 3, 2, 1]))]
    if isinstance(candidates[0], str):
        names = [unicodedata.normalize(form, name) for name in candidates for form in ("NFC", "NFD")]
        names += draw(st.sampled_from([[], [""], ["bo", "Z\u0301oe"]]))
    else:
        names = [*candidates, *draw(st.sampled_from([[], [0], [9, 10]]))]
    name = st.none() | st.sampled_from(names)
    ranks, alone = draw(st.sampled_from([4, 6, 3, 1])), draw(st.booleans())
    rank = name.map(lambda one: [one]) if alone else st.none() | st.lists(name, max_size=3)
    layout = draw(st.sampled_from(["list", "ranks", "fixed"]))
    length = {"min_size": 0 if layout == "list" else ranks, "max_size": ranks}
    ballot = st.lists(rank, **length) if layout != "list" else st.none() | st.lists(rank, **length)
    ballots = draw(st.lists(ballot, min_size=draw(st.sampled_from([8, 0])), max_size=20))
    value = draw(st.sampled_from(types))
    listed = draw(st.sampled_from([pa.list_, pa.large_list]))
    of_rank = value if alone else draw(st.sampled_from([pa.list_, pa.large_list]))(value)
    written = [ballot and [rank[0] for rank in ballot] if alone else ballot for ballot in ballots]
    if layout == "ranks":
        columns = {
            f"rank{place}": as_array([ballot[place] for ballot in written], of_rank) for place in range(ranks)
        }
    else:
        whole = pa.list_(of_rank, ranks) if layout == "fixed" else listed(of_rank)
        columns = {"ranking": as_array(written, whole)}
    start = draw(st.integers(0, min(2, len(ballots))))
    rows = slice(start, draw(st.integers(max(start, len(ballots) - 2), len(ballots))))
    block = pa.record_batch(columns).slice(rows.start, rows.stop - rows.start)
    return candidates, cleared(ballots[rows]), block, "ranks" if layout == "ranks" else "list"


@given(elections(), st.sampled_from(["truncate", "blank"]), st.sampled_from(["overvote", "tie"]))
def test_places_are_those_of_a_plain_loop_in_every_layout_and_type(election, invalid, shared):
    candidates, ballots, block, layout = election
    question = BallotQuestion(tuple(block.schema.names), candidates, layout, invalid, shared)
    for part in question.parts:
        part.check_type(block.schema.field(part.column).type, "part")
    reading = question.read(block)
    assert reading.codes.tolist() == [plain_places(ballot, candidates, invalid, shared) for ballot in ballots]
    assert reading.codes.dtype == np.uint8
    assert reading.codes.shape == (len(ballots), len(candidates))
    assert reading.codes.flags.f_contiguous
    assert not reading.faults


@given(elections(), st.sampled_from(["overvote", "tie"]))
def test_faults_are_counted_by_column_and_kind_where_they_are_refused(election, shared):
    candidates, ballots, block, layout = election
    columns = tuple(block.schema.names)
    reading = BallotQuestion(columns, candidates, layout, "refuse", shared).read(block)
    assert reading.faults == plain_counts(ballots, columns, candidates, shared)
    if not reading.faults:
        assert reading.codes.tolist() == [
            plain_places(ballot, candidates, "truncate", shared) for ballot in ballots
        ]


@given(elections(), st.integers(1, 9), st.sampled_from(["truncate", "blank", "refuse"]))
def test_a_block_is_read_alike_in_one_piece_or_in_many(election, cells, invalid):
    candidates, _, block, layout = election
    question = BallotQuestion(tuple(block.schema.names), candidates, layout, invalid)
    whole = question.read(block)
    with mock.patch.object(udfs.ballots, "_CELLS_AT_ONCE", cells):
        pieces = question.read(block)
    assert pieces.faults == whole.faults
    assert whole.faults or (pieces.codes == whole.codes).all()


def test_the_same_ballots_have_the_same_key_whatever_the_type_of_their_column():
    ballots = [["Bo", "Zoé", None], ["Zoé", "Bo", "Ж"], [None, None, None], ["Ж", "X", "Bo"]]
    columns = [
        as_array(ballots, listed(text)) for listed in (pa.list_, pa.large_list) for text in [*TEXTS, *CODED]
    ]
    columns.append(as_array(ballots, pa.list_(pa.string(), 3)))
    columns.append(as_array([[[name] for name in one] for one in ballots], pa.list_(pa.list_(pa.string()))))
    decomposed = [[name and unicodedata.normalize("NFD", name) for name in one] for one in ballots]
    columns.append(as_array(decomposed, pa.list_(pa.string())))
    question = BallotQuestion(("b",), ("Zoé", "Bo", "Ж"), "list")
    answers = [question.read(pa.record_batch({"b": column})).codes for column in columns]
    for text in [*TEXTS, *CODED]:
        ranks = {
            f"r{place}": as_array(list(column), text)
            for place, column in enumerate(zip(*ballots, strict=True))
        }
        asked = BallotQuestion(tuple(ranks), ("Zoé", "Bo", "Ж"), "ranks")
        answers.append(asked.read(pa.record_batch(ranks)).codes)
    assert answers[0].tolist() == [[1, 0, 2], [0, 1, 2], [0, 0, 0], [1, 1, 0]]
    assert len({block_key(bytes(32), (0, 0, 0), one) for one in answers}) == 1


def test_rows_under_a_null_and_beyond_a_slice_are_not_read():
    hidden = pa.ListArray.from_arrays(
        pa.array([0, 2, 4, 5], pa.int32()),
        pa.array(["A", "B", "X", "X", "D"]),
        mask=pa.array([False, True, False]),
    )
    question = BallotQuestion(("b",), FOUR, "list", "refuse")
    reading = question.read(pa.record_batch({"b": hidden}))
    assert reading.faults == {}
    assert reading.codes.tolist() == [[0, 1, 2, 2], [0, 0, 0, 0], [1, 1, 1, 0]]
    beyond = pa.record_batch({"b": [["X"], ["B"], ["X"]]}).slice(1, 1)
    assert question.read(beyond).codes.tolist() == [[1, 0, 1, 1]]


def test_a_column_of_nulls_holds_blank_ballots_or_a_skipped_rank():
    for column in (pa.nulls(2), pa.array([[], None]), pa.array([[None], [[], None]])):
        question = BallotQuestion(("b",), FOUR, "list", "refuse")
        question.parts[0].check_type(column.type, "part")
        assert question.read(pa.record_batch({"b": column})).codes.tolist() == [[0] * 4] * 2
    ranks = BallotQuestion(("r1", "r2"), FOUR, "ranks", "refuse")
    block = pa.record_batch({"r1": pa.nulls(1), "r2": ["B"]})
    ranks.parts[0].check_type(pa.null(), "part")
    assert ranks.read(block).codes.tolist() == [[1, 0, 1, 1]]


def test_what_is_not_utf8_is_an_unknown_name():
    offsets, data = np.array([0, 1, 4, 5], np.int32), b"A\xff\xc3\xa9B"
    names = pa.StringArray.from_buffers(3, pa.py_buffer(offsets), pa.py_buffer(data))
    block = pa.record_batch({"b": pa.ListArray.from_arrays(pa.array([0, 3], pa.int32()), names)})
    assert BallotQuestion(("b",), FOUR, "list").read(block).codes.tolist() == [[0, 1, 1, 1]]
    faults = BallotQuestion(("b",), FOUR, "list", "refuse").read(block).faults
    assert faults == {("b", UNKNOWN): 1}
