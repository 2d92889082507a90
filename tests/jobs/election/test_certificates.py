"""Certificates hold for every profile of a few ballots, and no smaller ones do; and for some larger profiles.

For each wrong outcome, the least error of the scores that names it is found; the margin of victory must not
exceed what the certificate says of that error.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.election import certificates
from jobs.election.margins import margin_of_victory
from jobs.election.rules import RULES
from tests.jobs.election.every_profile import Profiles, complete, every_profile, shared, truncated
from udfs.contests import Duels, FirstChoice, Points

CASES = [
    pytest.param(kinds, candidates, ballots, id=f"{kinds.__name__}-{candidates}-{ballots}")
    for kinds, candidates, ballots in [
        (shared, 2, 9),
        (shared, 3, 1),
        (shared, 3, 2),
        (shared, 3, 3),
        (shared, 3, 4),
        (truncated, 3, 6),
        (complete, 3, 10),
        (shared, 4, 2),
        (complete, 4, 3),
    ]
]
every_case = pytest.mark.parametrize(("kinds", "candidates", "ballots"), CASES)


def all_of(rule, kinds, ballots):
    """Return all profiles, their outcomes and their margins."""
    profiles = every_profile(kinds, rule.candidates, ballots)
    outcomes = profiles.outcomes(rule)
    return profiles, outcomes, profiles.margins(outcomes)


def some_of(rule, seed, ballots=40, profiles=3):
    """Return a few random profiles of truncated ballots, their outcomes and their margins."""
    kinds, generator = truncated(rule.candidates), np.random.default_rng(seed)
    skewed = generator.dirichlet(np.full(len(kinds), 0.05), size=profiles)
    some = Profiles(kinds, generator.multinomial(ballots, skewed))
    margins = [margin_of_victory(rule, some.profile(place)).margin for place in range(profiles)]
    return some, some.outcomes(rule), np.array(margins)


def at_each(certificate, errors):
    """Return what a certificate says of each error."""
    known, which = np.unique(errors, return_inverse=True)
    return np.array([certificate(error) for error in known])[which]


def gaps(scores, outcomes):
    """Return how far each candidate is behind the winner: shape (profiles, candidates)."""
    return scores[np.arange(len(scores)), outcomes][:, None] - scores


def margins_of_duels(profiles, candidates):
    """Return all margins of duels: shape (profiles, candidates, candidates)."""
    duels = Duels.of_all(candidates)
    table = np.zeros((len(profiles.counts), candidates, candidates), dtype=np.int64)
    for (one, other), score in zip(duels.pairs, profiles.scores(duels).T, strict=True):
        table[:, one, other], table[:, other, one] = score, -score
    return table


def worst_duels(table):
    """Return each candidate's worst margin."""
    candidates = table.shape[1]
    return np.where(np.eye(candidates, dtype=bool), np.inf, table).min(axis=2)


def wrong(outcomes, candidates):
    """Return which candidates did not win: shape (profiles, candidates)."""
    return outcomes[:, None] != np.arange(candidates)


def slack_of_plurality(rule, profiles, outcomes, margins):
    behind = gaps(profiles.scores(FirstChoice(rule.everybody)), outcomes)
    slack = at_each(certificates.plurality, behind) - margins[:, None]
    return slack[wrong(outcomes, rule.candidates)]


def slack_of_scoring(rule, profiles, outcomes, margins):
    points, ballots = Points(rule.weights), int(profiles.counts[0].sum())
    spread = points.scale * (rule.weights[0] - rule.weights[-1])
    behind = gaps(profiles.scores(points), outcomes)
    allowed = at_each(lambda gap: certificates.scoring(gap, spread, ballots), behind)
    return (allowed - margins[:, None])[wrong(outcomes, rule.candidates)]


def slack_of_maximin(rule, profiles, outcomes, margins):
    behind = gaps(worst_duels(margins_of_duels(profiles, rule.candidates)), outcomes)
    slack = at_each(certificates.maximin, behind / 2) - margins[:, None]
    return slack[wrong(outcomes, rule.candidates)]


def slack_of_condorcet(rule, profiles, outcomes, margins):
    worst, nobody = worst_duels(margins_of_duels(profiles, rule.candidates)), outcomes == rule.candidates
    missed = worst[~nobody, outcomes[~nobody]]
    named = at_each(lambda duel: certificates.condorcet(duel, rule.candidates), -worst[nobody])
    return np.append(
        at_each(certificates.condorcet_winner, missed) - margins[~nobody],
        named.min(axis=1) - margins[nobody],
    )


def slack_of_runoff(rule, profiles, outcomes, margins, certificate=certificates.runoff):
    first, table = profiles.scores(FirstChoice(rule.everybody)), margins_of_duels(profiles, rule.candidates)
    found = []
    for one, other in combinations(rule.everybody, 2):
        finalists = np.minimum(first[:, one], first[:, other])
        gap = np.maximum(np.delete(first, (one, other), axis=1).max(axis=1, initial=0) - finalists, 0)
        for named, beaten in ((one, other), (other, one)):
            duel = np.maximum(table[:, beaten, named], 0)
            allowed = np.array([certificate(*errors) for errors in zip(gap, duel, strict=True)])
            found.append((allowed - margins)[outcomes != named])
    return np.concatenate(found)


def slack_of_stv(rule, profiles, outcomes, margins):
    scores, found = cache(lambda active: profiles.scores(FirstChoice(active))), []
    for *order, named in permutations(rule.everybody):
        active, excess = rule.everybody, 0
        for gone in order:
            excess = excess + scores(active)[:, active.index(gone)] - scores(active).min(axis=1)
            active = tuple(c for c in active if c != gone)
        allowed = at_each(lambda gap: certificates.stv([gap], rule.candidates), excess)
        found.append((allowed - margins)[outcomes != named])
    return np.concatenate(found)


SLACKS = {
    "plurality": slack_of_plurality,
    "borda": slack_of_scoring,
    "veto": slack_of_scoring,
    "condorcet": slack_of_condorcet,
    "maximin": slack_of_maximin,
    "runoff": slack_of_runoff,
    "stv": slack_of_stv,
}
"""By how much certificates exceed the margins of victory, for all outcomes that are wrong."""


@every_case
@pytest.mark.parametrize("name", SLACKS)
def test_an_outcome_can_be_wrong_up_to_the_certificate_and_not_beyond(name, kinds, candidates, ballots):
    rule = RULES[name](candidates)
    least = SLACKS[name](rule, *all_of(rule, kinds, ballots)).min()
    if name == "stv" or (name == "runoff" and ballots == 1):
        assert least >= 0
    else:
        assert least == 0


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32))
@pytest.mark.parametrize("name", SLACKS)
def test_certificates_hold_for_five_candidates(name, seed):
    rule = RULES[name](5)
    slack = SLACKS[name](rule, *some_of(rule, seed))
    assert slack.min() >= 0


def test_a_runoff_may_need_two_ballots_where_nobody_has_a_first_place():
    def without(gap, duel):
        return max(math.floor(gap), math.floor(duel / 2)) + 1

    rule = RULES["runoff"](3)
    assert slack_of_runoff(rule, *all_of(rule, shared, 4), without).min() < 0


@pytest.mark.parametrize(
    ("kinds", "ballots", "needed"), [(complete, 10, 1), (truncated, 6, 1), (shared, 5, 2)]
)
def test_stv_needs_a_staircase_and_more_of_it_where_ranks_are_shared(kinds, ballots, needed):
    rule = RULES["stv"](3)
    assert slack_of_stv(rule, *all_of(rule, kinds, ballots)).min() == certificates.stv([0, 0], 3) - needed


@pytest.mark.parametrize("error", [0.0, 0.5, 1.0, 7.5, 100.0, 12345.6])
@pytest.mark.parametrize("candidates", [2, 3, 5, 10, 100])
def test_no_certificate_exceeds_the_papers(error, candidates):
    gap = 2 * error
    assert certificates.plurality(gap) <= error + 1
    assert certificates.maximin(error) <= error + 1
    assert certificates.condorcet_winner(error) <= 1 + error
    assert certificates.condorcet(error, candidates) <= 1 + 3 * math.log2(candidates) + 3 * error
    assert certificates.runoff(gap, error) <= 2 + max(gap, error + error / 2)
    assert certificates.stv([gap] * (candidates - 1), candidates) <= candidates**2 + (candidates - 1) * gap


@pytest.mark.parametrize(
    ("kinds", "candidates", "ballots"), [(shared, 3, 4), (complete, 3, 8), (shared, 4, 2)]
)
def test_whoever_is_named_where_nobody_wins_can_be_made_to_win(kinds, candidates, ballots):
    rule = RULES["condorcet"](candidates)
    profiles = every_profile(kinds, candidates, ballots)
    outcomes = profiles.outcomes(rule)
    nobody, worst = outcomes == candidates, worst_duels(margins_of_duels(profiles, candidates))
    for candidate in rule.everybody:
        allowed = at_each(lambda duel: certificates.condorcet(duel, candidates), -worst[nobody, candidate])
        assert (allowed - profiles.distances(outcomes == candidate)[nobody]).min() == 0


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_greedy_cover_of_many_duels_is_within_the_certificate(seed):
    generator, ballots, lost, rivals = np.random.default_rng(seed), 1000, 200, 40
    gains = 2.0 * (np.arange(ballots)[:, None] < np.full(rivals, (ballots + lost) // 2))
    gains, lacking = generator.permuted(gains, axis=0), np.full(rivals, lost + 1.0)
    base = 1 + math.sqrt(2 * math.log(rivals) / lost)
    taken = 0
    while (lacking > 0).any():
        left = np.where(lacking > 0, base ** (lacking - gains), 0).sum(axis=1)
        best = int(left.argmin())
        lacking -= gains[best]
        gains = np.delete(gains, best, axis=0)
        taken += 1
    assert taken <= certificates.condorcet(lost, rivals + 1)


def test_a_condorcet_cover_of_many_duels_is_little_more_than_the_error():
    assert certificates.condorcet(10_000, 20) < 10_000 + math.sqrt(2 * 10_000 * math.log(19)) + 19


def test_an_error_without_bound_leaves_no_margin_safe():
    for one in (
        certificates.plurality(math.inf),
        certificates.scoring(math.inf, 1, 10),
        certificates.runoff(math.inf, 0),
        certificates.runoff(0, math.inf),
        certificates.condorcet(math.inf, 5),
        certificates.condorcet_winner(math.inf),
        certificates.maximin(math.inf),
        certificates.stv([0, math.inf], 3),
    ):
        assert one == math.inf
