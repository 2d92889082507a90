"""Random elections have exactly the margin that is asked for."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
import pytest

from jobs.election.margins import Margin, margin_of_victory
from jobs.election.profiles.cultures import mixed, truncated
from jobs.election.profiles.random import raised, random_election, shifted, sunk
from jobs.election.rules import RULES, Borda, Condorcet, Plurality, SingleTransferableVote
from jobs.election.rules.rule import Rule
from tests.jobs.election.profiles.checks import apart, every_ballot, withstands
from udfs.errors import SpecError
from udfs.profile import Profile

NAMES = ["plurality", "borda", "condorcet", "maximin", "runoff", "stv"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("margin", [1, 2, 17, 60])
@pytest.mark.parametrize("name", NAMES)
def test_the_designated_candidate_wins_by_exactly_the_margin(name, margin, seed):
    rule = RULES[name](4)
    election = random_election(rule, 400, margin, seed, unranked=0.3 * (seed % 2))
    found = margin_of_victory(rule, election.profile)
    assert (found.outcome, found.margin) == (election.designated, margin)
    assert election.profile.ballots == 400


@pytest.mark.parametrize("name", NAMES)
def test_trying_all_changes_finds_the_same_margin(name):
    rule = RULES[name](3)
    for margin in (1, 2):
        election = random_election(rule, 7, margin, 11)
        assert withstands(rule, election.profile, margin - 1)
        assert not withstands(rule, election.profile, margin)


def test_an_election_depends_on_its_public_seed_alone():
    one, same, other = (
        random_election(Plurality(5), 300, 9, seed).profile for seed in ([7, 1], [7, 1], [7, 2])
    )
    assert np.array_equal(one.places, same.places)
    assert np.array_equal(one.counts, same.counts)
    assert apart(one, other) > 0


@pytest.mark.parametrize(("kind", "margin"), [(Plurality, 1), (Plurality, 9_000), (Borda, 4_000)])
def test_a_large_electorate_takes_few_looks(kind, margin):
    ballots, looks = 20_000, []

    def measure(rule: Rule, profile: Profile):
        looks.append(profile)
        return margin_of_victory(rule, profile)

    election = random_election(kind(10), ballots, margin, 3, measure=measure)
    assert margin_of_victory(kind(10), election.profile).margin == margin
    assert len(looks) <= 2 + math.log2(2 * ballots / margin)


def test_every_step_changes_one_ballot_at_most():
    rng = np.random.default_rng(4)
    ballots = truncated(rng, mixed(rng, 12, 4), 0.5)
    profiles = [shifted(ballots, 2, steps) for steps in range(-12, 13)]
    assert max(apart(*pair) for pair in pairwise(profiles)) == 1
    assert apart(profiles[12], Profile.of(ballots)) == 0


@pytest.mark.parametrize("move", [raised, sunk])
def test_moving_a_candidate_leaves_the_others_as_they_were(move):
    ballots = every_ballot(4)
    for candidate in range(4):
        others = [other for other in range(4) if other != candidate]
        moved = move(ballots, candidate)
        for one, other in combinations(others, 2):
            before, after = (np.sign(each[:, one].astype(int) - each[:, other]) for each in (ballots, moved))
            assert np.array_equal(before, after)
        assert np.array_equal(moved, (moved[:, None, :] < moved[:, :, None]).sum(axis=2))


def test_raised_is_alone_on_top_and_sunk_is_above_nobody():
    ballots = every_ballot(4)
    for candidate in range(4):
        others = [other for other in range(4) if other != candidate]
        assert (raised(ballots, candidate)[:, others].min(axis=1) > 0).all()
        assert (
            sunk(ballots, candidate)[:, others].max(axis=1) <= sunk(ballots, candidate)[:, candidate]
        ).all()


def test_a_complete_ballot_stays_complete():
    ballots = mixed(np.random.default_rng(2), 50, 5)
    for candidate in range(5):
        for moved in (raised(ballots, candidate), sunk(ballots, candidate)):
            assert np.array_equal(np.sort(moved, axis=1), np.sort(ballots, axis=1))


def test_a_margin_beyond_everybodys_first_choice_is_refused():
    with pytest.raises(
        SpecError, match=r"random_election\.margin: must be within reach of this electorate; got 60"
    ):
        random_election(Plurality(3), 100, 60, 1)
    assert random_election(Plurality(3), 100, 50, 1).profile.ballots == 100


def test_a_margin_of_somebody_else_is_not_taken_for_the_designated_candidates():
    looks = []

    def measure(rule: Rule, profile: Profile):
        found = margin_of_victory(rule, profile)
        looks.append(found.outcome)
        return found if len(looks) > 1 else Margin(1 - found.outcome, 100, found.witness)

    election = random_election(Plurality(2), 300, 5, 1, measure=measure)
    assert len(looks) > 1
    assert margin_of_victory(Plurality(2), election.profile) == Margin(election.designated, 5)


@pytest.mark.parametrize(("candidates", "margin"), [(1, 1), (3, 0)])
def test_one_candidate_and_no_margin_are_refused(candidates, margin):
    with pytest.raises(SpecError, match="random_election: needs two candidates"):
        random_election(SingleTransferableVote(candidates), 10, margin, 1)


def test_where_nobody_wins_the_drawn_electorate_somebody_is_designated():
    seeds = [
        seed
        for seed in range(60)
        if margin_of_victory(Condorcet(5), Profile.of(mixed(np.random.default_rng(seed), 31, 5))).outcome
        is None
    ]
    assert seeds
    election = random_election(Condorcet(5), 31, 3, seeds[0])
    assert margin_of_victory(Condorcet(5), election.profile).outcome == election.designated
