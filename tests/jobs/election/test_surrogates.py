"""Surrogates, for every profile of a few ballots: no less private than margins, and not far from them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from jobs.election import certificates
from jobs.election.rules import RULES, Condorcet, Maximin
from jobs.election.surrogates import surrogate
from tests.jobs.election.every_profile import complete, every_profile, shared, truncated
from tests.jobs.election.selection_laws import assert_private
from udfs.errors import SpecError
from udfs.profile import Profile

CASES = [
    pytest.param(kinds, candidates, ballots, id=f"{kinds.__name__}-{candidates}-{ballots}")
    for kinds, candidates, ballots in [
        (shared, 2, 6),
        (shared, 3, 1),
        (shared, 3, 2),
        (shared, 3, 3),
        (shared, 3, 4),
        (complete, 3, 7),
        (shared, 4, 2),
        (truncated, 4, 2),
    ]
]
every_case = pytest.mark.parametrize(("kinds", "candidates", "ballots"), CASES)
both_rules = pytest.mark.parametrize("kind", [Condorcet, Maximin], ids=lambda kind: kind.name)


def quarters_of(rule, profiles):
    """Return every profile's surrogate, in quarters of a ballot."""
    scores = [4 * surrogate(rule, profiles.profile(place)) for place in range(len(profiles.counts))]
    assert all(score.denominator == 1 for score in scores)
    return np.array(scores, dtype=np.int64)


@every_case
@both_rules
def test_a_surrogate_is_as_private_as_a_margin_between_all_neighbours_at_every_epsilon(
    kind, kinds, candidates, ballots
):
    rule, profiles = kind(candidates), every_profile(kinds, candidates, ballots)
    pairs = profiles.neighbouring(profiles.outcomes(rule), quarters_of(rule, profiles))
    assert any(one[0] != other[0] for one, other in pairs)
    for (one, k), (other, other_k) in pairs:
        assert_private((one, Fraction(k, 4)), (other, Fraction(other_k, 4)), rule.outcomes)


@every_case
def test_condorcets_surrogate_moves_by_one_and_is_one_where_the_outcome_changes(kinds, candidates, ballots):
    rule, profiles = Condorcet(candidates), every_profile(kinds, candidates, ballots)
    for (one, k), (other, other_k) in profiles.neighbouring(
        profiles.outcomes(rule), quarters_of(rule, profiles)
    ):
        assert abs(k - other_k) <= 4
        assert one == other or k == other_k == 4


@pytest.mark.parametrize("swing", [3, 2])
def test_a_score_of_a_third_or_half_of_maximins_gap_is_caught(swing):
    rule, profiles = Maximin(3), every_profile(shared, 3, 3)
    pairs = profiles.neighbouring(profiles.outcomes(rule), quarters_of(rule, profiles))
    with pytest.raises(AssertionError, match="exceeds"):
        assert_all_private(pairs, swing, rule.outcomes)


def assert_all_private(pairs, swing, outcomes):
    """Fail unless a gap over `swing` is private between all pairs."""
    for (one, gap), (other, other_gap) in pairs:
        assert_private((one, Fraction(gap, swing)), (other, Fraction(other_gap, swing)), outcomes)


@every_case
def test_condorcets_surrogate_is_the_margin_of_a_winner_and_bounds_that_of_nobody(kinds, candidates, ballots):
    rule, profiles = Condorcet(candidates), every_profile(kinds, candidates, ballots)
    outcomes = profiles.outcomes(rule)
    margins, scores = profiles.margins(outcomes), quarters_of(rule, profiles) / 4
    won = outcomes < candidates
    assert (scores[won] == margins[won]).all()
    assert (scores <= margins).all()
    for score in np.unique(scores[~won]):
        allowed = certificates.condorcet(2 * score - 1, candidates)
        assert margins[~won & (scores == score)].max() <= allowed


@every_case
def test_maximins_surrogate_bounds_the_margin_from_both_sides(kinds, candidates, ballots):
    rule, profiles = Maximin(candidates), every_profile(kinds, candidates, ballots)
    margins, gaps = profiles.margins(profiles.outcomes(rule)), quarters_of(rule, profiles)
    assert (gaps <= 4 * margins).all()
    for gap in np.unique(gaps):
        assert margins[gaps == gap].max() <= certificates.maximin_by_gap(gap)


@both_rules
def test_one_candidate_has_a_score_of_nothing(kind):
    assert surrogate(kind(1), Profile.of(np.zeros((3, 1), dtype=np.uint8))) == 0


@pytest.mark.parametrize("name", ["plurality", "borda", "veto", "runoff", "stv"])
def test_other_rules_have_none(name):
    with pytest.raises(SpecError, match=r"privacy\.score: only condorcet, maximin have a polynomial score"):
        surrogate(RULES[name](3), Profile.of(np.zeros((3, 3), dtype=np.uint8)))
