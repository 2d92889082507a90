"""Profiles: all ballots and their numbers add up, however they are cut."""

from __future__ import annotations

import json
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.jobs.election.every_profile import shared
from tests.vectors import load
from udfs.asking import Partial, combine
from udfs.contests import Duels, EveryFirstChoice, FirstChoice, Points
from udfs.profile import Profile, ProfileTally

CASES = {case["id"]: case for case in load("election_field_cases")}
KINDS = shared(4)
CONTESTS = [
    FirstChoice((0, 1, 2, 3)),
    FirstChoice((1, 3)),
    Duels.of_all(4),
    Points((3, 2, 1, 0)),
    EveryFirstChoice(4),
]
ballots = st.lists(st.integers(0, len(KINDS) - 1), max_size=60).map(
    lambda drawn: KINDS[np.array(drawn, dtype=int)]
)


def as_counter(profile):
    """Return a profile as plain numbers."""
    found = Counter(dict(zip(map(tuple, profile.places.tolist()), profile.counts.tolist(), strict=True)))
    assert len(found) == len(profile.places)
    return found


def same(one, other):
    """Tell whether two profiles are alike to the bit."""
    return one.places.tolist() == other.places.tolist() and one.counts.tolist() == other.counts.tolist()


@given(places=ballots, data=st.data())
def test_any_cut_in_any_order_gives_the_same_profile(places, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(places)), max_size=5)))
    order = data.draw(st.permutations(range(len(places))))
    shuffled = places[list(order)]
    tally = ProfileTally(4)
    parts = [tally.tally([part]) for part in np.split(shuffled, cuts)]
    for whole in (sum(parts, tally.zeros()), sum(parts[::-1], tally.zeros())):
        assert as_counter(whole) == Counter(map(tuple, places.tolist()))
        assert same(whole, Profile.of(places))
    assert whole.ballots == len(places)


@given(places=st.tuples(ballots, ballots, ballots))
def test_profiles_are_a_commutative_monoid(places):
    a, b, c = map(Profile.of, places)
    assert same((a + b) + c, a + (b + c))
    assert same(a + b, b + a)
    assert same(a + ProfileTally(4).zeros(), a)


@given(places=ballots, weights=st.data())
def test_a_score_is_the_sum_of_all_answers(places, weights):
    counts = np.array(
        weights.draw(st.lists(st.integers(0, 2**40), min_size=len(places), max_size=len(places))),
        dtype=np.int64,
    )
    profile = Profile.of(places, counts)
    for contest in CONTESTS:
        answers = contest.encode(places).astype(object)
        expected = [sum(int(n) * a for n, a in zip(counts, column, strict=True)) for column in answers.T]
        assert profile.score(contest).tolist() == expected
        assert profile.score(contest).dtype == np.int64


def test_scores_of_more_kinds_than_are_read_at_once_are_whole(monkeypatch):
    profile = Profile.of(KINDS)
    whole = [profile.score(contest).tolist() for contest in CONTESTS]
    monkeypatch.setattr("udfs.profile._ROWS_AT_ONCE", 7)
    assert [profile.score(contest).tolist() for contest in CONTESTS] == whole


def test_a_ballot_that_nobody_cast_is_not_there():
    profile = Profile.of(KINDS[:3], np.array([2, 0, 5]))
    assert as_counter(profile) == Counter({tuple(KINDS[0].tolist()): 2, tuple(KINDS[2].tolist()): 5})
    assert profile.ballots == 7


@pytest.mark.parametrize("candidates", [1, 2, 16, 17, 255])
def test_ballots_of_any_width_are_told_apart(candidates):
    generator = np.random.default_rng(5)
    kinds = np.array([generator.permutation(candidates) for _ in range(6)], dtype=np.uint8)
    drawn = np.concatenate([kinds, kinds[::2], np.zeros((3, candidates), dtype=np.uint8)])
    profile = Profile.of(np.asfortranarray(drawn))
    assert as_counter(profile) == Counter(map(tuple, drawn.tolist()))
    assert profile.candidates == candidates
    assert profile.places.dtype == np.uint8


def test_no_ballots_are_a_profile_too():
    empty = ProfileTally(4).zeros()
    assert (empty.ballots, empty.candidates) == (0, 4)
    assert same(Profile.of(np.zeros((0, 4), dtype=np.uint8)), empty)
    assert [empty.score(contest).tolist() for contest in CONTESTS] == [
        [0] * one.dimension for one in CONTESTS
    ]


def test_profiles_travel_and_add_up_as_partial_answers_do():
    parts = [Partial((Profile.of(KINDS[start::3]),), len(KINDS[start::3])) for start in range(3)]
    (whole,) = combine(pickle.loads(pickle.dumps(parts))).counts
    assert same(whole, Profile.of(KINDS))


@pytest.mark.parametrize("part", ["A", "B"])
def test_case_e05_comes_out_of_a_profile(part):
    given, expected = CASES["E05"]["input"], CASES["E05"]["expect"][part]
    names = given["candidates"]
    places = [[_above(name, ranks) for name in names] for _, ranks in given[part]]
    profile = Profile.of(np.array(places, dtype=np.uint8), np.array([count for count, _ in given[part]]))
    borda = Points((3, 2, 1, 0))
    scores = profile.score(borda) / borda.scale
    assert dict(zip(names, scores.tolist(), strict=True)) == expected["borda"]
    assert profile.ballots == sum(count for count, _ in given[part])
    if part == "B":
        duels = dict(zip(Duels.of_all(4).pairs, profile.score(Duels.of_all(4)).tolist(), strict=True))
        assert [names[0]] == expected["condorcet"]
        assert [duels[0, other] for other in (1, 2, 3)] == [1, 1, 1]
        assert [duels[pair] for pair in ((1, 2), (1, 3), (2, 3))] == [0, 0, 0]


def test_case_e08_one_candidate_gets_no_points_and_no_division_by_nothing():
    given, expected = CASES["E08"]["input"], CASES["E08"]["expect"]
    counts = np.array([count for count, _ in given["ballots"]])
    profile = Profile.of(np.zeros((2, 1), dtype=np.uint8), counts)
    assert profile.ballots == expected["valid"] + expected["blank"]
    assert profile.score(Points((0,))).tolist() == [expected["borda"]["A"]]
    assert profile.score(Duels.of_all(1)).tolist() == []


def test_a_profile_is_no_json():
    """It is raw data: nothing keeps or publishes it by accident."""
    with pytest.raises(TypeError):
        json.dumps(Profile.of(KINDS))


def _above(name, ranks):
    """Return how many stand above a name."""
    place = next(number for number, rank in enumerate(ranks) if name in rank)
    return sum(len(rank) for rank in ranks[:place])
