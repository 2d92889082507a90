from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.stats import chi2

from tests.udfs.choices import answers_of, every_ballot, own_estimates, report_law, variance
from udfs.choice import SampledChoice
from udfs.choice_contests import every_pair, every_set
from udfs.choice_scores import AnswerNoise
from udfs.contests import Duels, EveryFirstChoice, FirstChoice
from udfs.draws import Numbered, RowDraws
from udfs.streams import Secret
from udfs.subset_selection import SubsetSelection
from udfs.turns import Turn


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3", "8"])
@pytest.mark.parametrize("cells", [2, 3, 4])
@pytest.mark.parametrize("f", [0.0, 0.4, 1.0])
def test_no_profile_has_more_noise_and_one_has_as_much(cells, epsilon, f, last):
    design = SubsetSelection(cells, Decimal(epsilon))
    kinds, steps = answers_of(cells, last), np.linspace(0, 1, 101)
    asked = 1000 - 999 * f
    noise = AnswerNoise(design, last).of(asked, 1000)
    estimates, laws = own_estimates(design), [report_law(design, kind) for kind in kinds]
    for direction, claimed in (
        (np.eye(cells)[0], noise.score),
        (np.eye(cells)[0] - np.eye(cells)[1], noise.gap),
    ):
        own = estimates @ direction
        means = np.array(kinds, dtype=float) @ direction
        values = np.array([law @ own**2 for law in laws]) - (1 - f) * means**2
        most = max(
            (one * steps + other * (1 - steps) - f * (y * steps + z * (1 - steps)) ** 2).max()
            for (one, y), (other, z) in combinations(zip(values, means, strict=True), 2)
        )
        assert most * (1 - 1e-9) <= claimed * asked / 1000**2 <= most * (1 + 1e-3)
        assert np.abs(own).max() + np.abs(direction).max() <= noise.reach * asked / 1000 + 1e-9
    assert noise.subgaussian is None


def test_noise_is_that_of_the_rarest_contest_asked_about():
    choice = SampledChoice(3, every_set(3), (1, 2, 3, 4), Decimal(1), bytes(32), Turn(0, 1, 2))
    two = AnswerNoise(choice.designs[2], False)
    duels = choice.noise(Duels(((0, 2), (2, 1))), 10_000)
    assert duels.score == duels.gap == two.of(1000, 10_000).gap
    assert choice.noise(Duels(((0, 2), (2, 1))), 10_000, asked=7).score == two.of(7, 10_000).gap
    assert choice.noise(FirstChoice((0, 2)), 10_000).score == two.of(1000, 10_000).score
    everything = choice.noise(EveryFirstChoice(3), 10_000)
    assert everything.score == max(
        two.of(500, 10_000).score, choice.noise(FirstChoice((0, 1, 2)), 10_000).score
    )


def test_a_duel_of_two_at_epsilon_one_has_the_published_variance():
    noise = AnswerNoise(SubsetSelection(2, Decimal(1)), False)
    kappa = (math.e + 1) / (math.e - 1)
    assert noise.of(100, 100).gap / 100 == pytest.approx(kappa**2)
    strict = variance(noise.design, [(1, 0), (0, 1)], np.array([0.5, 0.5]), np.array([1.0, -1.0]), 0.0)
    assert strict == pytest.approx(kappa**2 - 1)
    assert strict == pytest.approx(3.68, abs=0.005)


def test_margins_of_sampled_pairs_spread_as_they_should():
    elections, voters, secret = 1400, 1000, Secret.new()
    choice = SampledChoice(4, every_pair(4), (1,) * 6, Decimal(1), secret.key("public"), Turn(1, 3, 4))
    pool = every_ballot(4)
    ballots = pool[np.random.default_rng(list(secret.key("ballots"))).integers(0, len(pool), voters)]
    rows = elections * voters
    draws = RowDraws(secret.key("choice"), rows, Numbered(0, rows))
    reports = choice.randomize(np.asfortranarray(np.tile(ballots, (elections, 1))), draws)
    cuts = np.searchsorted(choice.turn.rows(draws, choice.seed), np.arange(0, rows + 1, voters))
    duels, margins = Duels(every_pair(4)), Duels(every_pair(4)).encode(ballots)
    design, direction = choice.designs[2], np.array([1.0, -1.0])
    kinds = [(1, 0), (0, 1), (Fraction(1, 2), Fraction(1, 2))]
    shares = np.array([[np.mean(column == one) for one in (1, -1, 0)] for column in margins.T])
    deviations, ratios = [], []
    for start, stop in pairwise(cuts):
        tally = choice.tally(reports[start:stop])
        found, asked = choice.estimate(duels, tally, voters), choice.asked(duels, tally)
        true = [
            variance(design, kinds, share, direction, (voters - n) / (voters - 1)) * voters**2 / n
            for share, n in zip(shares, asked.tolist(), strict=True)
        ]
        deviations.append((found.scores - margins.sum(axis=0)) / np.sqrt(true))
        ratios.append(found.standard_errors**2 / true)
    z, where = np.array(deviations), f"the secret was {secret.reveal().hex()}"
    least, most = chi2.ppf(5e-10, z.size), chi2.isf(5e-10, z.size)
    assert np.abs(z.mean(axis=0)).max() * math.sqrt(elections) < 6.2, where
    assert least < np.sum(z**2) < most, where
    assert np.sum((1.1 * z) ** 2) > most, where
    assert np.sum((z / 1.1) ** 2) < least, where
    assert 0.99 < np.mean(ratios) < 1.03, where
