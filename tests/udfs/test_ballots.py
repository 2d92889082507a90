from __future__ import annotations

import pickle
import unicodedata

import numpy as np
import pyarrow as pa
import pytest

from udfs.asking import refusal, respond
from udfs.ballots import BallotQuestion
from udfs.collected import Collected
from udfs.contests import Duels, FirstChoice, Points
from udfs.draws import fresh_draws
from udfs.errors import SchemaError, SpecError
from udfs.plain import PlainAnswers

FOUR = ("A", "B", "C", "D")
NUMBERED = (7, -1, 100, 3)


def places_of(ballots, candidates=FOUR, **settings):
    """Return the places of ballots, each a list of ranks or None, from a column of lists of lists."""
    column = pa.array(ballots, pa.list_(pa.list_(pa.string())))
    return BallotQuestion(("b",), candidates, "list", **settings).read(pa.record_batch({"b": column})).codes


@pytest.mark.parametrize(
    ("ballot", "places"),
    [
        ([["A"], ["B"], ["C"], ["D"]], [0, 1, 2, 3]),
        ([["D"], ["B"], ["A"], ["C"]], [2, 1, 3, 0]),
        ([["A"]], [0, 1, 1, 1]),
        ([["C"], ["A"]], [1, 2, 0, 2]),
        ([["A"], ["B", "C"]], [0, 1, 1, 3]),
        ([["A", "B"], ["C", "D"]], [0, 0, 2, 2]),
        ([["A", "B", "C", "D"]], [0, 0, 0, 0]),
        ([["A", None, "B"], [None]], [0, 0, 2, 2]),
        ([[], ["B"], None, ["A"]], [1, 0, 2, 2]),
        ([], [0, 0, 0, 0]),
        (None, [0, 0, 0, 0]),
    ],
    ids=str,
)
def test_a_place_is_how_many_stand_strictly_above(ballot, places):
    assert places_of([ballot], shared="tie").tolist() == [places]


@pytest.mark.parametrize(
    ("ballot", "shared", "cut"),
    [
        ([["A"], ["X"], ["B"]], "overvote", [["A"]]),
        ([["A"], ["B"], ["A"], ["C"]], "overvote", [["A"], ["B"]]),
        ([["A"], ["B", "C"], ["D"]], "overvote", [["A"]]),
        ([["B"], ["A", "X"]], "tie", [["B"]]),
        ([["B"], ["A", "A"], ["C"]], "tie", [["B"]]),
        ([["B"], ["A", "B"], ["C"]], "tie", [["B"]]),
        ([["X"], ["A"]], "tie", []),
        ([["A", "B"], ["C"], ["B"]], "tie", [["A", "B"], ["C"]]),
    ],
    ids=str,
)
def test_a_ballot_is_cut_above_the_first_rank_with_a_fault_or_is_blank(ballot, shared, cut):
    assert (places_of([ballot], shared=shared) == places_of([cut], shared=shared)).all()
    assert places_of([ballot], shared=shared, invalid="blank").tolist() == [[0, 0, 0, 0]]


def test_case_e01_ballots_without_a_continuing_candidate_are_exhausted():
    places = places_of([[["P"]]] * 5 + [[["Q"]]] * 4 + [[["R"]]] * 3, ("P", "Q", "R"))
    assert FirstChoice((0, 1, 2)).encode(places).sum(axis=0).tolist() == [5, 4, 3]
    assert FirstChoice((0, 1)).encode(places).sum(axis=0).tolist() == [5, 4]


def test_case_e05_equal_ranks_share_their_points():
    borda = Points((3, 2, 1, 0))
    tied = places_of([[["A"], ["B", "C"], ["D"]]] * 2 + [[["D"], ["C"], ["B"], ["A"]]], shared="tie")
    assert tied.tolist() == [[0, 1, 1, 3], [0, 1, 1, 3], [3, 2, 1, 0]]
    assert (borda.encode(tied).sum(axis=0) / borda.scale).tolist() == [6, 4, 5, 3]
    named = [[["A"], ["B", "C", "D"]], [["A"]]]
    assert (places_of(named, shared="tie") == [0, 1, 1, 1]).all()
    last = places_of([named[0]] * 2 + [[["B", "C", "D"], ["A"]]], shared="tie")
    assert (borda.encode(last).sum(axis=0) / borda.scale).tolist() == [6, 4, 4, 4]
    assert Duels(((0, 1), (0, 2), (0, 3))).encode(last).sum(axis=0).tolist() == [1, 1, 1]


def test_case_e11_nothing_below_an_overvote_counts_and_a_skipped_rank_is_no_fault():
    ballots = [[["A"]]] * 5 + [[["B"]]] * 4 + [[["C"]]] * 3 + [[["D"]]] + [[["B", "C", "D"], ["A"]]]
    places = places_of(ballots)
    rounds = [FirstChoice(active).encode(places).sum(axis=0).tolist() for active in [(0, 1, 2, 3), (0, 1)]]
    assert rounds == [[5, 4, 3, 1], [5, 4]]
    skipped = [[[], [], ["A", "B"]]]
    assert places_of(skipped).tolist() == [[0, 0, 0, 0]]
    assert places_of(skipped, shared="tie").tolist() == [[0, 0, 2, 2]]


def test_case_e14_votes_pass_over_a_withdrawn_candidate_and_a_blank_ballot_favours_nobody():
    first = places_of([[["B"], ["A"]]] * 4 + [[["C"]]] * 3 + [[["A"]]] * 2, ("A", "B", "C"))
    assert FirstChoice((0, 2)).encode(first).sum(axis=0).tolist() == [6, 3]
    second = places_of([[["A", "C"], ["B"]]] * 2 + [[["B"]]] * 3 + [[]], ("A", "B", "C"), shared="tie")
    borda = Points((2, 1, 0))
    assert ((borda.encode(second)[:-1].sum(axis=0)) / borda.scale).tolist() == [4.5, 6, 4.5]
    assert len(set(borda.encode(second)[-1].tolist())) == 1


def test_candidates_and_ballots_may_encode_accents_either_way():
    composed, decomposed = (unicodedata.normalize(form, "Zoé") for form in ("NFC", "NFD"))
    assert composed != decomposed
    for candidate in (composed, decomposed):
        places = places_of([[["Bo"], [composed]], [["Bo"], [decomposed]]], (candidate, "Bo", "Cy"))
        assert places.tolist() == [[1, 0, 2]] * 2
    assert places_of([[["Bo"], [composed], [decomposed]]], (composed, "Bo", "Cy")).tolist() == [[1, 0, 2]]


def test_255_candidates_can_all_be_ranked():
    candidates = tuple(range(255))
    ballots = np.random.default_rng(7).permuted(np.tile(np.arange(255), (3, 1)), axis=1)
    block = pa.record_batch({"b": pa.array([*ballots.tolist(), [254], [254, 254, 7], [255]])})
    codes = BallotQuestion(("b",), candidates, "list").read(block).codes
    assert (codes[:3] == np.argsort(ballots, axis=1)).all()
    assert codes[3:5].tolist() == [[1] * 254 + [0]] * 2
    assert not codes[5].any()


def test_a_candidate_who_stands_alone_stands_at_the_top():
    assert places_of([[["A"]], [], [["X"], ["A"]]], ("A",)).tolist() == [[0]] * 3


def test_a_refusal_counts_ballots_and_shows_no_name():
    ballots = [[["Secretly"]], [["A"], ["A"]], [["Known"], ["Other"]], [["C", "D"]], [["B"]]]
    block = pa.record_batch({"b": pa.array(ballots)})
    ask = BallotQuestion(("b",), FOUR, "list", "refuse"), Collected(PlainAnswers(4))
    response = respond(ask, block, lambda answers: fresh_draws(len(answers)))
    assert response.reports is None
    message = str(refusal({("file", *fault): rows for fault, rows in response.faults.items()}))
    assert "1 ballots that repeat a candidate in column 'b' of file" in message
    assert "1 ballots with several names in one rank in column 'b' of file" in message
    assert "2 ballots with unknown names in column 'b' of file" in message
    assert not any(name in message for name in ("Secretly", "Known", "Other"))


LISTED, SCALAR = pa.list_(pa.string()), pa.string()


@pytest.mark.parametrize(
    ("layout", "candidates", "arrow_type"),
    [
        ("list", FOUR, SCALAR),
        ("list", FOUR, pa.list_(pa.int8())),
        ("list", FOUR, pa.list_(pa.binary())),
        ("list", FOUR, pa.list_(pa.list_(LISTED))),
        ("list", FOUR, pa.struct({"first": pa.string()})),
        ("list", FOUR, pa.map_(pa.string(), pa.int8())),
        ("list", FOUR, pa.list_(pa.struct({"name": pa.string()}))),
        ("list", FOUR, pa.list_(pa.dictionary(pa.int8(), pa.int8()))),
        ("list", NUMBERED, LISTED),
        ("list", NUMBERED, pa.list_(pa.float64())),
        ("list", (300, 400), pa.list_(pa.int8())),
        ("ranks", FOUR, pa.int64()),
        ("ranks", FOUR, pa.bool_()),
        ("ranks", FOUR, pa.list_(LISTED)),
        ("ranks", NUMBERED, SCALAR),
        ("ranks", NUMBERED, pa.dictionary(pa.int32(), pa.string())),
        ("ranks", NUMBERED, pa.float32()),
    ],
    ids=str,
)
def test_a_column_that_cannot_hold_ballots_is_refused(layout, candidates, arrow_type):
    part = BallotQuestion(("b",), candidates, layout).parts[0]
    with pytest.raises(SchemaError) as caught:
        part.check_type(arrow_type, "part-0.parquet")
    assert caught.value.where == "part-0.parquet, column 'b'"
    assert caught.value.got == f"type {arrow_type}"
    assert repr(candidates[0]) in caught.value.must
    assert ("lists" in caught.value.must) == (layout == "list")
    assert ("text" if candidates is FOUR else "integers") in caught.value.must


@pytest.mark.parametrize(
    ("columns", "layout", "candidates", "where", "must"),
    [
        (("a", "b"), "list", FOUR, "population.ranking", "one column; got 2"),
        ((), "ranks", FOUR, "population.ranks", "a column for each rank, all different"),
        (("a", "a"), "ranks", FOUR, "population.ranks", "a column for each rank, all different"),
        (("a",), "list", (), "election.candidates", "1 to 255 candidates; got 0"),
        (("a",), "list", tuple(range(256)), "election.candidates", "1 to 255 candidates; got 256"),
        (("a",), "list", ("A", 1), "election.candidates", "all text or all integers"),
        (("a",), "list", (True, False), "election.candidates", "all text or all integers"),
        (("a",), "list", (1.0, 2.0), "election.candidates", "all text or all integers"),
        (("a",), "list", ("A", ""), "election.candidates", "must have a name"),
        (("a",), "list", ("A", "B", "A"), "election.candidates", "must stand once"),
        (("a",), "list", (1, 2, 1), "election.candidates", "got 1 twice"),
        (("a",), "list", ("Zo\u00e9", "Zoe\u0301"), "election.candidates", "got Zoé twice"),
    ],
    ids=str,
)
def test_columns_and_candidates_that_cannot_be_told_apart_are_refused(
    columns, layout, candidates, where, must
):
    with pytest.raises(SpecError) as caught:
        BallotQuestion(columns, candidates, layout)
    assert caught.value.where == where
    assert must in str(caught.value)


def test_the_label_tells_questions_apart():
    questions = [
        BallotQuestion(("b",), candidates, layout, invalid, shared)
        for candidates in [("1", "2"), ("2", "1"), (1, 2)]
        for layout in ("list", "ranks")
        for invalid in ("truncate", "blank", "refuse")
        for shared in ("overvote", "tie")
    ]
    questions.append(BallotQuestion(("c",), ("1", "2"), "list"))
    assert len({question.label for question in questions}) == len(questions) == 37


def test_a_question_that_was_used_pickles_and_equals_a_fresh_one():
    question, block = BallotQuestion(("b",), FOUR, "list"), pa.record_batch({"b": [["B", "A"]]})
    question.read(block)
    again = pickle.loads(pickle.dumps(question))
    assert again == question == BallotQuestion(("b",), FOUR, "list")
    assert again.read(block).codes.tolist() == [[1, 0, 2, 2]]


def test_a_ballot_is_asked_as_it_is():
    question = BallotQuestion(("r1", "r2"), FOUR, "ranks")
    assert (question.name, question.labels, question.imputes) == ("ballot", (), False)
    assert [(part.column, part.missing) for part in question.parts] == [("r1", "none"), ("r2", "none")]
    codes = np.zeros((2, 4), dtype=np.uint8)
    assert question.impute(codes, fresh_draws(2)) is codes
