from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.choices import choice_of
from udfs.choice_contests import every_pair, every_set
from udfs.draws import Numbered, fresh_draws
from udfs.errors import SchemaError

CHOICES = {
    "pairs": choice_of(5, every_pair(5)),
    "every set": choice_of(9, every_set(9), "0.3"),
    "every set, one each": choice_of(4, every_set(4), "9"),
    "one of many": choice_of(200, (tuple(range(200)),), "9"),
    "many of many": choice_of(200, (tuple(range(200)),)),
}


def reports_of(choice, rows):
    """Return reports on random ballots."""
    ballots = np.random.default_rng().integers(
        0, choice.candidates, (rows, choice.candidates), dtype=np.uint8
    )
    return choice.randomize(ballots, fresh_draws(rows, Numbered(0, rows)))


@pytest.mark.parametrize("name", CHOICES)
@given(rows=st.integers(0, 40), start=st.integers(0, 40))
def test_reports_come_back_from_any_slice_of_a_column(name, rows, start):
    choice = CHOICES[name]
    reports = reports_of(choice, rows)
    column = choice.to_arrow(reports, ())
    assert column.type == choice.report_type(())
    back, impossible = choice.from_arrow(column[start:])
    assert back.tobytes() == reports[start:].tobytes()
    assert impossible == 0


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("pairs", pa.int8()),
        ("every set", pa.binary(2)),
        ("every set, one each", pa.int8()),
        ("one of many", pa.int16()),
        ("many of many", pa.binary(25)),
    ],
)
def test_sets_of_one_are_written_as_positions_and_others_as_bits(name, answer):
    assert CHOICES[name].report_type(()) == pa.struct([("question", pa.int32()), ("answer", answer)])


def test_a_position_is_that_in_the_contest_and_the_lowest_bit_is_the_first():
    single, several = choice_of(9, ((2, 5, 7),), "9"), choice_of(9, ((2, 3, 4, 5, 6, 7, 8),), "0.1")
    for choice in (single, several):
        reports = reports_of(choice, 200)
        answers = choice.to_arrow(reports, ()).field("answer").to_pylist()
        sets = [1 << one if isinstance(one, int) else int.from_bytes(one, "little") for one in answers]
        assert choice.tally(reports)[:-1].tolist() == [
            sum(one >> position & 1 for one in sets) for position in range(len(choice.contests[0]))
        ]
    assert several.designs[7].size > 1


def test_rows_that_no_voter_sends_are_counted_and_left_out():
    choice = CHOICES["pairs"]
    rows = [
        {"question": 0, "answer": 1},
        {"question": 10, "answer": 0},  # there are ten contests
        {"question": -1, "answer": 0},
        {"question": 9, "answer": 2},  # of two candidates
        {"question": 9, "answer": -1},
        {"question": None, "answer": 0},
        {"question": 3, "answer": None},
        None,
        {"question": 9, "answer": 0},
    ]
    reports, impossible = choice.from_arrow(pa.array(rows, choice.report_type(())))
    assert [(question, answer.tolist()) for question, answer in reports.tolist()] == [(0, [2]), (9, [1])]
    assert impossible == 7


def test_sets_that_no_voter_sends_are_counted_and_left_out():
    choice = CHOICES["every set"]
    everybody, pair = len(choice.contests) - 1, 0
    size = choice.designs[9].size
    assert size > 1
    fitting = [(everybody, (1 << size) - 1), (everybody, (1 << size) - 1 << 9 - size), (pair, 2)]
    wrong = [
        (everybody, (1 << size + 1) - 1),
        (everybody, 1),
        (everybody, 0),
        (everybody, (1 << size - 1) - 1 | 1 << 9),  # bits beyond the last candidate
        (everybody, (1 << size) - 1 | 1 << 15),
        (pair, 4),
        (pair, 3),
        (len(choice.contests), 1),
    ]
    rows = [{"question": one, "answer": bits.to_bytes(2, "little")} for one, bits in [*fitting, *wrong]]
    column = pa.array([*rows, None], choice.report_type(()))
    reports, impossible = choice.from_arrow(column)
    found = [(one, int.from_bytes(bytes(answer), "little")) for one, answer in reports.tolist()]
    assert found == fitting
    assert impossible == len(wrong) + 1


@pytest.mark.parametrize("kind", [pa.int8(), pa.struct([("question", pa.int64()), ("answer", pa.int8())])])
def test_another_type_is_refused(kind):
    with pytest.raises(SchemaError, match="must be of type struct"):
        CHOICES["pairs"].from_arrow(pa.array([None], kind))
