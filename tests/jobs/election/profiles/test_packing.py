"""Lemmas 3.6 and 3.8: near each other, and safely won by all candidates in turn."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest

from jobs.election.margins import margin_of_victory
from jobs.election.profiles.packing import MAJORITY_KAPPA, SCORING_KAPPA, majority_packing, scoring_packing
from jobs.election.rules import (
    Borda,
    Condorcet,
    Maximin,
    Plurality,
    Runoff,
    Scoring,
    SingleTransferableVote,
    Veto,
)
from tests.jobs.election.profiles.checks import apart, withstands
from udfs.errors import SpecError

MAJORITY_RULES = [Plurality, Condorcet, Maximin, Runoff, SingleTransferableVote]


def scoring_rules(candidates: int) -> list[Scoring]:
    geometric = Scoring(candidates, tuple(Fraction(1, 2**place) for place in range(candidates)))
    approval = Scoring(candidates, (1, 1, *(0,) * (candidates - 2)))
    return [Borda(candidates), Veto(candidates), geometric, *([approval] if candidates > 2 else [])]


@pytest.mark.parametrize("kind", MAJORITY_RULES)
@pytest.mark.parametrize(("candidates", "margin"), [(2, 1), (3, 4), (5, 3)])
def test_a_candidate_whom_all_place_first_wins_by_the_margin_under_every_majority_rule(
    kind, candidates, margin
):
    for number, election in enumerate(majority_packing(candidates, margin)):
        assert election.designated == number
        found = margin_of_victory(kind(candidates), election.profile)
        assert (found.outcome, found.margin >= margin) == (number, True)


@pytest.mark.parametrize("kind", MAJORITY_RULES)
def test_trying_all_changes_finds_the_same(kind):
    for election in majority_packing(3, 2):
        assert withstands(kind(3), election.profile, 1)
        assert not withstands(kind(3), election.profile, 3)


@pytest.mark.parametrize("candidates", [2, 3, 5])
def test_a_perturbed_cycle_is_won_by_the_margin_whatever_the_weights(candidates):
    for rule in scoring_rules(candidates):
        for number, election in enumerate(scoring_packing(candidates, 3)):
            found = margin_of_victory(rule, election.profile)
            assert (found.outcome, found.margin >= 3) == (number, True)


def test_trying_all_changes_finds_no_smaller_margin_of_scoring():
    for rule in scoring_rules(3):
        for election in scoring_packing(3, 2):
            assert withstands(rule, election.profile, 1)


@pytest.mark.parametrize(
    ("packing", "kappa"), [(majority_packing, MAJORITY_KAPPA), (scoring_packing, SCORING_KAPPA)]
)
@pytest.mark.parametrize("candidates", [2, 3, 6])
def test_any_two_of_a_packing_are_exactly_kappa_margins_apart(packing, kappa, candidates):
    for one, other in combinations(packing(candidates, 5), 2):
        assert apart(one.profile, other.profile) == kappa * 5


def test_a_majority_packing_would_not_do_for_veto():
    election = majority_packing(3, 2)[2]
    assert margin_of_victory(Veto(3), election.profile).outcome != 2


def test_nobody_and_no_margin_are_refused():
    with pytest.raises(SpecError, match="packing: needs a candidate"):
        majority_packing(0, 1)
    with pytest.raises(SpecError, match="packing: needs a candidate"):
        scoring_packing(3, 0)
