"""Rules whose margins are multicovers: no challenger is passed over, and half steps count."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from jobs.election.margins import margin_of_victory, needs
from jobs.election.rules import Condorcet, Maximin
from jobs.election.rules.pairs import margins
from udfs.contests import Duels
from udfs.profile import Profile

CYCLE = Profile.of(np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0]], dtype=np.uint8), np.array([5, 4, 3]))
"""0 beats 1 by 4, 1 beats 2 by 6, 2 beats 0 by 2."""


def tables(profile: Profile) -> np.ndarray:
    """Return the margins of all duels of each kind of ballot, as a table of candidates by candidates."""
    above = profile.places[:, :, None].astype(int) - profile.places[:, None, :]
    return -np.sign(above)


def cheapest(profile: Profile, gains: np.ndarray, goals: np.ndarray) -> int:
    """Return how few ballots raise all goals, without any of the shortcuts."""
    whole = np.ones(len(gains))
    conditions = LinearConstraint(gains.T, lb=goals)
    found = milp(whole, constraints=conditions, bounds=Bounds(0, profile.counts), integrality=whole)
    return round(found.fun)


def drawn(seed: int) -> Profile:
    """Return 60 ballots of 5 candidates in a cycle, or nearly, ranks shared and missing."""
    rng = np.random.default_rng(seed)
    rolled = np.array([np.roll(np.arange(5), -start) for start in range(5)])[rng.integers(5, size=60)]
    utilities = rolled + rng.normal(scale=1.5, size=rolled.shape)
    ranks = np.clip(utilities.round(), 0, rng.integers(1, 5, size=(60, 1)))
    return Profile.of((ranks[:, :, None] > ranks[:, None, :]).sum(axis=2).astype(np.uint8))


def test_needs_are_the_ballots_to_win_each_lost_duel_alone():
    duels = Duels.of_all(3)
    assert needs(margins(3, duels, CYCLE.score(duels))).tolist() == [[0, 0, 2], [3, 0, 0], [0, 4, 0]]


def test_a_cycle_is_broken_in_favour_of_whoever_is_nearest():
    found = margin_of_victory(Condorcet(3), CYCLE)
    assert (found.outcome, found.margin) == (None, 2)
    assert found.witness.added.places.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("seed", range(12))
def test_no_candidate_is_nearer_to_be_a_condorcet_winner(seed: int):
    profile = drawn(seed)
    found = margin_of_victory(Condorcet(5), profile)
    each = tables(profile)
    total = np.tensordot(profile.counts, each, axes=1)
    others = ~np.eye(5, dtype=bool)
    winners = np.flatnonzero(((total > 0) | ~others).all(axis=1)).tolist()
    assert [found.outcome] == (winners or [None])
    if not winners:
        assert found.margin == min(
            cheapest(profile, 1 - each[:, one, others[one]], 1 - total[one, others[one]]) for one in range(5)
        )


@pytest.mark.parametrize("seed", range(12))
def test_no_challenger_is_nearer_to_the_maximin_winner(seed: int):
    profile = drawn(seed)
    found = margin_of_victory(Maximin(5), profile)
    each, winner = tables(profile), found.outcome
    total = np.tensordot(profile.counts, each, axes=1)
    rivals = [one for one in range(5) if one != winner]
    least = profile.ballots
    for one, other in product(rivals, rivals):
        others = np.arange(5) != one
        gains = 2 - each[:, one, others] + each[:, [winner], other]
        goals = total[winner, other] - total[one, others] + (winner < one)
        least = min(least, cheapest(profile, gains, goals))
    assert found.margin == least
