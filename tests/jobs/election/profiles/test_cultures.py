"""Random electorates follow their models' laws."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from jobs.election.profiles.cultures import mallows, mixed, plackett_luce, truncated
from jobs.election.profiles.instance import places_of
from tests.statistics import UnlikelyError, assert_law
from udfs.streams import Secret

RANKINGS = list(permutations(range(3)))
STRENGTHS = (0.5, 3.0, 1.0)
CENTRE = (2, 0, 1)


def plackett_luce_law(strengths):
    law = []
    for first, second, third in RANKINGS:
        left = strengths[second] + strengths[third]
        law.append(strengths[first] / (strengths[first] + left) * strengths[second] / left)
    return law


def mallows_law(dispersion):
    turned = [sum(one.index(b) < one.index(a) for a, b in ((2, 0), (2, 1), (0, 1))) for one in RANKINGS]
    weights = dispersion ** np.array(turned)
    return list(weights / weights.sum())


def counted(culture):
    """Return a sample of how often each ranking of three is drawn."""

    def sample(secret: Secret, draws: int):
        generator = np.random.default_rng(list(secret.reveal()))
        places = culture(generator, draws)
        return [int((places == places_of([one])).all(axis=1).sum()) for one in RANKINGS]

    return sample


def test_plackett_luce_draws_in_proportion_to_strength():
    law, mutant = plackett_luce_law(STRENGTHS), plackett_luce_law((0.55, 3.0, 1.0))
    assert_law(counted(lambda rng, ballots: plackett_luce(rng, ballots, STRENGTHS)), law, mutant)
    with pytest.raises(UnlikelyError):
        assert_law(counted(lambda rng, ballots: plackett_luce(rng, ballots, (0.55, 3.0, 1.0))), law, mutant)


def test_equal_strengths_are_the_impartial_culture():
    law, mutant = [1 / 6] * 6, plackett_luce_law((1.05, 1, 1))
    assert_law(counted(lambda rng, ballots: plackett_luce(rng, ballots, np.ones(3))), law, mutant)


def test_mallows_draws_in_proportion_to_the_dispersion_to_the_pairs_turned_round():
    law, mutant = mallows_law(0.5), mallows_law(0.55)
    assert_law(counted(lambda rng, ballots: mallows(rng, ballots, CENTRE, 0.5)), law, mutant)
    with pytest.raises(UnlikelyError):
        assert_law(counted(lambda rng, ballots: mallows(rng, ballots, CENTRE, 0.55)), law, mutant)


def test_a_share_of_ballots_is_cut_at_uniform_lengths():
    complete = np.arange(4, dtype=np.uint8)

    def sample(secret: Secret, draws: int):
        generator = np.random.default_rng(list(secret.reveal()))
        ranked = truncated(generator, np.tile(complete, (draws, 1)), 0.6).max(axis=1)
        return [int((ranked == most).sum()) for most in (1, 2, 3)]

    assert_law(sample, [0.3, 0.3, 0.4], [0.33, 0.27, 0.4])


def test_a_mixed_electorate_ranks_everybody_and_depends_on_the_seed_alone():
    for candidates in (1, 2, 7, 30):
        ballots = mixed(np.random.default_rng(5), 500, candidates)
        assert ballots.dtype == np.uint8
        assert np.array_equal(np.sort(ballots, axis=1), np.tile(np.arange(candidates), (500, 1)))
        assert np.array_equal(ballots, mixed(np.random.default_rng(5), 500, candidates))
    assert not np.array_equal(ballots, mixed(np.random.default_rng(6), 500, 30))


def test_truncating_cuts_no_ballot_of_two():
    two = places_of([(1, 0), (0, 1)])
    assert np.array_equal(truncated(np.random.default_rng(1), two, 1.0), two)
