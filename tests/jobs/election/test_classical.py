"""The classical count: every round recounted by hand, and ties told wherever the order decides."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.election.classical import count_exactly, tied
from jobs.election.rules import (
    RULES,
    Borda,
    Condorcet,
    Maximin,
    Plurality,
    Runoff,
    Scoring,
    SingleTransferableVote,
)
from jobs.election.rules.rule import Rule
from udfs.contests import Duels, FirstChoice, Points
from udfs.profile import Profile

unhurried = settings(deadline=None, max_examples=60)
NAMES = ("Ada", "Bo", "Cy")
SOME = tuple(itertools.product(range(3), repeat=3))
PLACES = np.array(
    [[sum(other < one for other in levels) for one in levels] for levels in SOME], dtype=np.uint8
)

counts = st.lists(st.integers(0, 2), min_size=len(SOME), max_size=len(SOME)).map(np.array)


def profile(numbers: np.ndarray[Any, Any], order: tuple[int, ...] = (0, 1, 2)) -> Profile:
    """Return ballots, so many of each kind, with the candidates numbered in this order."""
    return Profile.of(PLACES[:, order], numbers)


def choices(numbers: np.ndarray[Any, Any], active: list[int]) -> dict[str, int]:
    """Return first choices among some candidates, ballot by ballot."""
    votes = dict.fromkeys((NAMES[one] for one in active), 0)
    for ballot, count in zip(PLACES.tolist(), numbers.tolist(), strict=True):
        best = min(ballot[one] for one in active)
        ahead = [one for one in active if ballot[one] == best]
        if len(ahead) == 1:
            votes[NAMES[ahead[0]]] += count
    return votes


@unhurried
@given(counts)
def test_stv_eliminates_the_last_of_the_fewest_round_by_round(numbers: np.ndarray[Any, Any]) -> None:
    found = count_exactly(SingleTransferableVote(3), profile(numbers), NAMES)
    active = [0, 1, 2]
    for one in found["rounds"]:
        votes = choices(numbers, active)
        assert dict(zip(one["active"], one["scores"], strict=True)) == votes
        assert one["exhausted"] == numbers.sum() - sum(votes.values())
        fewest = [place for place in active if votes[NAMES[place]] == min(votes.values())]
        assert one["tied"] == ([NAMES[place] for place in fewest] if len(fewest) > 1 else [])
        assert one["eliminated"] == NAMES[fewest[-1]]
        active.remove(fewest[-1])
    assert [found["outcome"]] == [NAMES[place] for place in active]
    assert found["majority_base"] == numbers.sum() - found["rounds"][-1]["exhausted"]


@unhurried
@given(counts)
def test_duels_tell_the_votes_of_both(numbers: np.ndarray[Any, Any]) -> None:
    (one,) = count_exactly(Maximin(3), profile(numbers), NAMES)["rounds"]
    assert one["pairs"] == [["Ada", "Bo"], ["Ada", "Cy"], ["Bo", "Cy"]]
    for pair, votes, margin in zip(one["pairs"], one["votes"], one["scores"], strict=True):
        expected = choices(numbers, [NAMES.index(name) for name in pair])
        assert votes == list(expected.values())
        assert margin == votes[0] - votes[1]


@pytest.mark.parametrize("name", [name for name in RULES if name != "scoring"])
@unhurried
@given(numbers=counts)
def test_where_no_tie_is_told_the_order_does_not_matter(name: str, numbers: np.ndarray[Any, Any]) -> None:
    rule: Rule = RULES[name](3)
    told, outcomes = [], set()
    for order in itertools.permutations(range(3)):
        found = count_exactly(rule, profile(numbers, order), [NAMES[one] for one in order])
        told.append(any(one["tied"] for one in found["rounds"]))
        outcomes.add(found["outcome"])
    assert len(outcomes) == 1 or all(told)


@pytest.mark.parametrize(
    ("rule", "contest", "scores", "expected"),
    [
        (Plurality(3), FirstChoice((0, 1, 2)), [4, 4, 1], [0, 1]),
        (Plurality(3), FirstChoice((0, 1, 2)), [4, 1, 1], []),
        (Borda(3), Points((2, 1, 0)), [1, 7, 7], [1, 2]),
        (SingleTransferableVote(4), FirstChoice((0, 2, 3)), [5, 2, 2], [2, 3]),
        (SingleTransferableVote(4), FirstChoice((0, 2, 3)), [5, 5, 2], []),
        (Runoff(3), FirstChoice((0, 1, 2)), [4, 4, 1], []),
        (Runoff(3), FirstChoice((0, 1, 2)), [4, 3, 3], [1, 2]),
        (Runoff(3), FirstChoice((0, 1, 2)), [4, 4, 4], [0, 1, 2]),
        (Runoff(2), FirstChoice((0, 1)), [4, 4], []),
        (Runoff(3), Duels(((0, 2),)), [0], [0, 2]),
        (Runoff(3), Duels(((0, 2),)), [-1], []),
        (Maximin(3), Duels.of_all(3), [1, -1, 1], [0, 1, 2]),
        (Maximin(3), Duels.of_all(3), [1, 1, 5], []),
        (Condorcet(3), Duels.of_all(3), [0, 0, 0], []),
    ],
)
def test_ties_are_those_that_bear_on_the_rule(
    rule: Rule, contest: Any, scores: list[int], expected: list[int]
) -> None:
    assert tied(rule, contest, np.array(scores)) == expected


def test_points_are_told_in_points_whatever_they_are_counted_in() -> None:
    ballots = Profile.of(np.array([[0, 1, 1], [0, 0, 0]], dtype=np.uint8))
    rule = Scoring(3, (Fraction(3), Fraction(1, 2), Fraction(0)))
    (one,) = count_exactly(rule, ballots, NAMES)["rounds"]
    assert one["scores"] == [3, 0.25, 0.25]  # a blank ballot gives nobody points
    assert one["question"] == "points"


def test_blank_ballots_are_told_where_they_can_be() -> None:
    blank = np.zeros((3, 2), dtype=np.uint8)
    assert count_exactly(Plurality(2), Profile.of(blank), NAMES[:2])["blank"] == 3
    assert count_exactly(Plurality(1), Profile.of(blank[:, :1]), NAMES[:1])["blank"] is None
