"""Single transferable vote: the search leaves out no order that could be the cheapest."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from jobs.election.margins import margin_of_victory, outcome
from jobs.election.margins.elimination import Ending, Tallies, set_of
from jobs.election.rules import SingleTransferableVote
from tests.jobs.election.margins.exhaustive import ballots
from udfs.contests import FirstChoice
from udfs.profile import Profile


def drawn(candidates: int, voters: int, seed: int) -> Profile:
    """Return a profile of ballots of all sorts."""
    rng = np.random.default_rng(seed)
    kinds = ballots(candidates)
    return Profile.of(kinds, rng.multinomial(voters, rng.dirichlet(np.full(len(kinds), 0.3))))


SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_order_of_elimination_is_cheaper(seed: int):
    profile = drawn(4, 700, seed)
    found = margin_of_victory(SingleTransferableVote(4), profile)
    tallies = Tallies(profile)
    orders = [order for order in permutations(range(4)) if order[-1] != found.outcome]
    assert found.margin == min(Ending(tallies, order).replacement().ballots for order in orders)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_bound_of_an_ending_holds_for_every_order_that_ends_so(seed: int):
    tallies = Tallies(drawn(4, 300, seed))
    reachable = tallies.reachable(10**6)
    for order in permutations(range(4)):
        least = Ending(tallies, order).replacement().ballots
        for gone in range(3):
            assert reachable[set_of(order[gone:])] <= least
            assert tallies.bound(set_of(order[gone:]), order[gone]) <= least
            assert Ending(tallies, order[gone:]).bound <= least


@pytest.mark.parametrize("seed", SEEDS)
def test_a_replacement_brings_its_order_about(seed: int):
    profile = drawn(4, 300, seed)
    for order in permutations(range(4)):
        replacement = Ending(Tallies(profile), order).replacement()
        after = replacement.applied_to(profile)
        assert Tallies(after).order(0b1111) == order
        assert outcome(SingleTransferableVote(4), after) == order[-1]


def test_the_true_order_costs_nothing():
    tallies = Tallies(drawn(4, 300, 0))
    assert Ending(tallies, tallies.order(0b1111)).replacement().ballots == 0


def test_an_order_for_which_there_are_too_few_voters_has_no_replacement():
    one_voter = Tallies(Profile.of(np.array([[0, 1, 2]], dtype=np.uint8)))
    assert Ending(one_voter, (0, 1, 2)).replacement() is None
    assert Ending(one_voter, (2, 1, 0)).replacement().ballots == 0


def test_tallies_are_first_choices_among_a_set():
    profile = drawn(4, 300, 1)
    for active in ((0, 1, 2, 3), (1, 3), (0, 2, 3)):
        tally = np.array(Tallies(profile).tally(set_of(active)))
        assert np.array_equal(tally[list(active)], profile.score(FirstChoice(active)))
        assert tally.sum() == profile.ballots


def test_sets_that_cannot_be_left_below_the_limit_are_left_out():
    tallies = Tallies(drawn(4, 300, 2))
    everything = tallies.reachable(10**6)
    assert sorted(everything) == list(range(1, 16))
    assert tallies.reachable(20) == {active: bound for active, bound in everything.items() if bound < 20}
