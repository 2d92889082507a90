"""What ballots answer, against implementations that read one ballot at a time, over all ballots there are."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from tests.jobs.election.every_profile import complete, shared, truncated
from tests.vectors import load
from udfs.contests import Duels, EveryFirstChoice, FirstChoice, Points, members
from udfs.errors import SpecError

CASES = {case["id"]: case for case in load("election_field_cases")}
HALVES = (Fraction(5, 2), Fraction(1, 3), Fraction(1, 3), 0)


def first_choice(ballot, active):
    """Return whom a ballot places alone before all other active candidates, or None."""
    best = [one for one in active if all(ballot[one] < ballot[other] for other in active if other != one)]
    return best[0] if best else None


def points(ballot, weights):
    """Return each candidate's points: the average of the places that those of a rank fill together."""
    return [
        Fraction(sum(weights[place : place + ballot.count(place)]), 1) / ballot.count(place)
        for place in ballot
    ]


def contests(candidates):
    """Return contests of every kind."""
    every = range(candidates)
    pairs = tuple((one, other) for one in every for other in every if one != other)
    return [
        *(FirstChoice(active) for size in (1, 2, 3) for active in combinations(every, size)),
        Duels.of_all(candidates),
        Duels(pairs),
        Points(tuple(range(candidates - 1, -1, -1))),
        Points((*(1,) * (candidates - 1), 0)),
        Points(HALVES[-candidates:]),
        Points((0, *(-3,) * (candidates - 1))),
        EveryFirstChoice(candidates),
    ]


def slowly(contest, ballot):
    """Return one ballot's answer."""
    match contest:
        case FirstChoice(active):
            return [int(first_choice(ballot, active) == one) for one in active]
        case Duels(pairs):
            return [(ballot[one] < ballot[other]) - (ballot[one] > ballot[other]) for one, other in pairs]
        case Points(weights):
            return [contest.scale * one for one in points(ballot, weights)]
        case EveryFirstChoice():
            sets = [
                tuple(one for one in range(len(ballot)) if number >> one & 1)
                for number in range(1 << len(ballot))
            ]
            return [entry for one in sets if len(one) > 1 for entry in slowly(FirstChoice(one), ballot)]


@pytest.mark.parametrize("candidates", [3, 4])
def test_every_ballot_answers_as_a_slow_reading_has_it(candidates):
    ballots = shared(candidates)
    for contest in contests(candidates):
        expected = [slowly(contest, ballot) for ballot in ballots.tolist()]
        for places in (ballots, np.asfortranarray(ballots)):
            answers = contest.encode(places)
            assert answers.tolist() == expected, contest
            assert answers.dtype.kind == "i"
            assert answers.shape == (len(ballots), contest.dimension)


@pytest.mark.parametrize("candidates", [3, 4])
def test_the_norm_of_a_contest_is_the_largest_that_any_ballot_has(candidates):
    """Least too: a smaller ball would leave a ballot outside, a larger one costs variance."""
    for contest in contests(candidates):
        if contest.dimension > 1:
            answers = contest.encode(shared(candidates)).astype(np.int64) - contest.centre
            assert (answers**2).sum(axis=1).max() == contest.squared_norm, contest


@pytest.mark.parametrize("candidates", [3, 4])
def test_a_blank_ballot_answers_with_the_centre(candidates):
    blank = np.zeros((1, candidates), dtype=np.uint8)
    for contest in contests(candidates):
        if contest.dimension > 1:
            assert set(contest.encode(blank)[0].tolist()) == {contest.centre}


@pytest.mark.parametrize("weights", [(2, 1, 0), (1, 1, 0), (3, 0, -1), HALVES, (Fraction(1, 7), 0)])
def test_every_ballot_gives_as_many_points_and_the_scale_is_the_least_that_makes_them_whole(weights):
    contest = Points(weights)
    found = [points(ballot, weights) for ballot in shared(len(weights)).tolist()]
    assert {sum(one) for one in found} == {Fraction(sum(weights))}
    whole = [
        scale
        for scale in range(1, contest.scale + 1)
        if all((scale * one).denominator == 1 for ballot in found for one in ballot)
    ]
    assert whole == [contest.scale]


def test_candidates_treated_alike_by_every_ballot_score_alike():
    """Exchanging two candidates on all ballots exchanges their entries, and no others."""
    ballots = shared(4)
    for one, other in combinations(range(4), 2):
        exchanged = ballots.copy()
        exchanged[:, [one, other]] = ballots[:, [other, one]]
        for contest in (Points((3, 2, 1, 0)), Points((1, 1, 1, 0)), FirstChoice((0, 1, 2, 3))):
            answers, swapped = contest.encode(ballots), contest.encode(exchanged).copy()
            swapped[:, [one, other]] = swapped[:, [other, one]]
            assert (answers == swapped).all()


@pytest.mark.parametrize("part", ["A", "B"])
def test_case_e05_equal_ranks_share_their_points(part):
    given, expected = CASES["E05"]["input"], CASES["E05"]["expect"][part]
    names, borda = given["candidates"], Points((3, 2, 1, 0))
    ballots, counts = [], []
    for count, ranks in given[part]:
        place = [
            sum(len(rank) for rank in ranks[: next(i for i, rank in enumerate(ranks) if name in rank)])
            for name in names
        ]
        ballots.append(place)
        counts.append(count)
    scores = np.array(counts) @ borda.encode(np.array(ballots, dtype=np.uint8))
    assert dict(zip(names, (scores / borda.scale).tolist(), strict=True)) == expected["borda"]
    if part == "A":
        veto = Points((1, 1, 1, 0))
        kept = np.array(counts) @ veto.encode(np.array(ballots, dtype=np.uint8)) // veto.scale
        assert dict(zip(names, (sum(counts) - kept).tolist(), strict=True)) == expected["vetoes"]


def test_partial_ballots_swing_a_duel_by_nothing_one_or_two():
    duel = Duels(((0, 1),)).encode(truncated(3))[:, 0].tolist()
    assert {abs(one - other) for one, other in product(duel, duel)} == {0, 1, 2}
    assert set(Duels.of_all(3).encode(complete(3)).ravel().tolist()) == {1, -1}


@pytest.mark.parametrize("candidates", [2, 3, 5])
def test_every_set_stands_once_in_ascending_order_with_its_entries_side_by_side(candidates):
    contest = EveryFirstChoice(candidates)
    assert list(contest.sets) == sorted({*contest.sets})
    assert {members(one) for one in contest.sets} == {
        active for size in range(2, candidates + 1) for active in combinations(range(candidates), size)
    }
    laid_out = [entry for one in contest.sets for entry in contest.entries(FirstChoice(members(one)))]
    assert laid_out == list(range(contest.dimension))
    assert contest.dimension == candidates * 2 ** (candidates - 1) - candidates
    assert contest.squared_norm == 2**candidates - candidates - 1


def test_so_many_candidates_that_sets_cannot_be_told_apart_are_refused():
    assert EveryFirstChoice(16).dimension == 16 * 2**15 - 16
    with pytest.raises(SpecError, match=r"election\.candidates: at most 16 .* got 17\. .*interactive"):
        EveryFirstChoice(17)


def test_255_candidates_have_places_of_a_byte():
    places = np.arange(255, dtype=np.uint8)[None, ::-1]
    assert FirstChoice(tuple(range(255))).choices(places).tolist() == [254]
    blank = np.zeros((1, 255), dtype=np.uint8)
    assert FirstChoice(tuple(range(255))).choices(blank).tolist() == [255]
    borda = Points(tuple(range(254, -1, -1)))
    assert borda.encode(places)[0, -1] == 254 * borda.scale
    assert borda.encode(blank)[0].tolist() == [127 * borda.scale] * 255


def test_no_ballots_have_answers_of_no_rows():
    for contest in contests(3):
        assert contest.encode(np.empty((0, 3), dtype=np.uint8)).shape == (0, contest.dimension)
