from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import chi2

from tests.udfs.balls import FOUR, RANKING, vectors, weak_orders
from udfs.ball import Ball, DirectionSums
from udfs.ball_scores import SUBGAUSSIAN
from udfs.contests import Duels, EveryFirstChoice, FirstChoice, Points
from udfs.directions import UNIT, Directions, moments
from udfs.draws import Numbered, PublicDraws, fresh_draws
from udfs.ellipsoid import Ellipsoid
from udfs.errors import SpecError
from udfs.streams import Secret
from udfs.turns import Turn

SIGMAS = 6.2
"""A normal variable is beyond as many of its deviations with probability 6e-10."""


def all_sums(ball):
    return DirectionSums(ball, tuple(range(ball.contest.dimension)))


def sums_of(ball, places):
    draws = fresh_draws(len(places), Numbered(0, len(places)))
    return all_sums(ball).tally([ball.randomize(places, draws)])


@cache
def deviations(name, epsilon="2", mutant=1.1):
    """Return how far the estimate of one ranking's answers is from these, along them, in standard deviations.

    First as it is; then `mutant` times more and less, and with sqrt(pi d / 2), which is for directions on a
    sphere, in place of 1 / E|V|. So many ballots that a mutant is beyond the deviations where the truth is within.
    """
    contest, transform = FOUR[name]
    seed = Secret.new().key("seed")
    ball = Ball(contest, Decimal(epsilon), seed, transform=transform)
    relative = math.sqrt(math.pi / 2) / float(ball.slope)  # the deviation of one report along x, over |x| = r
    rows = math.ceil(((1 + mutant) * SIGMAS * relative / (mutant - 1)) ** 2)
    counts = sums_of(ball, np.repeat(RANKING, rows, axis=0))
    estimate = ball.estimate(contest, counts, rows).scores * contest.scale - rows * contest.centre
    (x,) = vectors(ball, RANKING)
    seen = estimate
    if transform:
        seen = estimate @ transform.stretch(np.eye(contest.dimension, dtype=np.int64))
    along = seen @ x / (x @ x) / rows
    wrong = along * math.sqrt(math.pi / 2 * contest.dimension) * moments()[0]
    return tuple(
        (one - 1) / relative * math.sqrt(rows) for one in (along, along * mutant, along / mutant, wrong)
    ), seed


@pytest.mark.parametrize("name", FOUR)
def test_scores_are_unbiased_and_a_tenth_more_or_less_is_caught(name):
    (found, more, less, wrong), seed = deviations(name)
    assert abs(found) < SIGMAS, f"{found} deviations from the truth; the seed was {seed.hex()}"
    assert more > SIGMAS
    assert less < -SIGMAS
    assert wrong > SIGMAS


def groups_of(ball, places, size, ballots=None):
    """Return the estimates of many small elections of `size` ballots each: scores and standard errors."""
    reports = ball.randomize(places, fresh_draws(len(places), Numbered(0, len(places))))
    group = ball.turn.rows(PublicDraws(Numbered(0, len(places))), ball.seed) // size
    signed = np.concatenate(
        [
            Directions(ball.seed, part["name"]).coordinates(range(ball.contest.dimension))
            * np.where(part["positive"], 1, -1)[:, None]
            for part in np.array_split(reports, -(-len(reports) // 4096))
        ]
    )
    counts = np.zeros((len(places) // size, ball.contest.dimension + 1), dtype=np.int64)
    np.add.at(counts, group, np.column_stack([signed, np.ones(len(reports), dtype=np.int64)]))
    estimates = [ball.estimate(ball.contest, row, size) for row in counts]
    return np.stack([one.scores for one in estimates]), np.stack([one.standard_errors for one in estimates])


@pytest.mark.parametrize("transform", [None, Ellipsoid(4)])
def test_blank_ballots_have_the_variance_that_is_the_largest(transform):
    """Scores of blank ballots are normal, so that their squares follow chi-square; 10% of the scale are 21%."""
    ball = Ball(Duels.of_all(4), Decimal(1), Secret.new().key("seed"), transform=transform)
    size, groups = 4, 9000
    scores, _ = groups_of(ball, np.zeros((size * groups, 4), dtype=np.uint8), size)
    least, most = chi2.ppf(5e-10, groups) / groups, chi2.isf(5e-10, groups) / groups
    for column in scores[:, [0, 5]].T:
        ratio = float((column**2).mean()) / ball.noise(ball.contest, size).score
        assert least < ratio < most, f"{ratio}; the seed was {ball.seed.hex()}"
        assert ratio * 1.1**2 > most
        assert ratio / 1.1**2 < least


def test_standard_errors_are_about_the_exact_tally_of_all_whether_asked_or_not():
    """Half of the voters are asked. That all ballots are a sample of themselves alone is part of the error."""
    ball = Ball(FirstChoice((0, 1)), Decimal(44), Secret.new().key("seed"), Turn(1, 2, 2))
    size, groups = 120, 9000
    places = np.tile(np.array([[0, 1], [1, 0]], dtype=np.uint8), (size * groups // 2, 1))
    scores, errors = groups_of(ball, places, size)
    squares, variances = float(((scores[:, 0] - size / 2) ** 2).mean()), float((errors[:, 0] ** 2).mean())
    allowed = SIGMAS * math.sqrt(2 / groups) + 0.01  # that variances are estimates costs 2 in 1,000
    assert abs(squares / variances - 1) < allowed, f"{squares / variances}; the seed was {ball.seed.hex()}"
    worst = ball.noise(ball.contest, size).score  # 1.57 ballots**2 / asked, of 1.20 for these ballots
    assert squares / worst < 1 - allowed


def test_errors_of_first_choices_are_those_of_the_formula():
    ball = Ball(FirstChoice((0, 1, 2)), Decimal(1), bytes(32))
    means, rows = np.array([0.5, 0.3, 0.2]), 10**9
    size = moments()[1] / moments()[0] ** 2 / float(ball.slope) ** 2
    counts = np.append(np.rint(means * rows * float(ball.slope) * moments()[0] * UNIT), rows).astype(np.int64)
    found = ball.estimate(ball.contest, counts, 2 * rows)
    np.testing.assert_allclose(found.scores, 2 * rows * means, rtol=1e-9)
    variances = 4 * rows * (size - means / 2 - means**2 / 2)
    np.testing.assert_allclose(found.standard_errors**2, variances, rtol=1e-7)
    assert (found.standard_errors**2 <= 2 * ball.noise(ball.contest, 2 * rows).score).all()


def exact_counts(ball, places):
    """Return what would be added up if signs told the answers without noise, and 10**6 ballots gave each."""
    scale = math.sqrt(ball.squared_norm) / float(ball.slope) / moments()[0] / UNIT
    times = 10**6
    sums = vectors(ball, places).sum(axis=0) * times / scale
    return np.append(np.rint(sums), times * len(places)).astype(np.int64), times * len(places)


@pytest.mark.parametrize(
    ("asked", "transform", "contest"),
    [
        (EveryFirstChoice(4), None, FirstChoice((1, 3))),
        (EveryFirstChoice(4), None, FirstChoice((0, 1, 2, 3))),
        (EveryFirstChoice(4), None, Duels(((3, 1), (0, 2)))),
        (EveryFirstChoice(4), None, EveryFirstChoice(4)),
        (Duels.of_all(4), None, Duels(((2, 1), (0, 3), (2, 3)))),
        (Duels.of_all(4), Ellipsoid(4), Duels(((2, 1), (0, 3)))),
        (Duels.of_all(4), Ellipsoid(4), Duels.of_all(4)),
        (Points((3, 2, 1, 0)), None, Points((3, 2, 1, 0))),
        (Points((1, 1, Fraction(1, 3), 0)), None, Points((1, 1, Fraction(1, 3), 0))),
        (FirstChoice((1, 2, 3)), None, FirstChoice((1, 2, 3))),
    ],
)
def test_answers_without_noise_give_the_exact_tally(asked, transform, contest):
    places = weak_orders(4)[::3]
    ball = Ball(asked, Decimal(1), bytes(32), transform=transform)
    counts, ballots = exact_counts(ball, places)
    assert ball.answers(contest)
    exact = contest.encode(places).sum(axis=0, dtype=np.int64) * (ballots / len(places)) / contest.scale
    np.testing.assert_allclose(ball.estimate(contest, counts, ballots).scores, exact, atol=1e-6 * ballots)
    needed = list(ball.coordinates(contest))
    found = ball.estimate(contest, counts[[*needed, -1]], ballots)
    np.testing.assert_allclose(found.scores, exact, atol=1e-6 * ballots)
    assert ball.asked(contest, counts).tolist() == [ballots]


@pytest.mark.parametrize(
    ("asked", "contest"),
    [
        (FirstChoice((0, 1, 2)), FirstChoice((0, 1))),
        (FirstChoice((0, 1)), Duels(((0, 1),))),
        (Duels(((0, 1),)), Duels(((0, 2),))),
        (Duels(((0, 1),)), Duels(())),
        (EveryFirstChoice(3), FirstChoice((1, 3))),
        (EveryFirstChoice(3), FirstChoice((1,))),
        (EveryFirstChoice(3), Duels(((1, 1),))),
        (EveryFirstChoice(3), EveryFirstChoice(4)),
        (Points((2, 1, 0)), Points((1, 1, 0))),
    ],
)
def test_what_reports_do_not_answer_is_refused(asked, contest):
    ball = Ball(asked, Decimal(1), bytes(32))
    assert not ball.answers(contest)
    with pytest.raises(SpecError, match="reports answer"):
        ball.estimate(contest, ball.zeros(), 0)


def test_only_what_is_needed_is_summed():
    ball, places = Ball(EveryFirstChoice(4), Decimal(1), bytes(32)), np.repeat(RANKING, 300, axis=0)
    reports = ball.randomize(places, fresh_draws(300, Numbered(0, 300)))
    wanted = ball.coordinates(FirstChoice((0, 2, 3)))
    assert len(wanted) == 3
    every = all_sums(ball).tally([reports])
    np.testing.assert_array_equal(DirectionSums(ball, wanted).tally([reports]), every[[*wanted, -1]])
    assert not ball.sums_all
    assert ball.zeros().tolist() == [0]
    assert ball.tally(reports).tolist() == [300]
    few, many = (Ball(Duels.of_all(m), Decimal(1), bytes(32)) for m in (90, 92))
    assert (few.sums_all, many.sums_all) == (True, False)


def test_where_nobody_was_asked_nothing_is_known():
    ball = Ball(Points((2, 1, 0)), Decimal(1), bytes(32))
    found = ball.estimate(ball.contest, ball.zeros(), 5)
    assert found.scores.tolist() == [0, 0, 0]
    assert np.isinf(found.standard_errors).all()


def test_the_subgaussian_constant_holds_for_every_answer_and_every_test_vector():
    """The largest of the bound's two variables; the variance's own constant is too small."""
    rho, t = np.meshgrid(np.linspace(0.01, 1, 100), np.linspace(-30, 30, 6001)[1::2])
    with np.errstate(divide="ignore"):
        log_mean = np.logaddexp(np.log1p(-rho), np.log(2 * rho) + log_ndtr(t))
    excess = 2 * (log_mean - t * rho * math.sqrt(2 / math.pi)) / t**2
    needed = math.sqrt(math.pi / 2 * (1 + excess.max()))
    assert 1.332 < needed < SUBGAUSSIAN
    assert math.sqrt(math.pi / 2) < 1.26 < needed


def test_noise_is_that_of_the_formulas():
    kappa = (math.e + 1) / (math.e - 1)
    unit = kappa**2 * math.pi / 2
    first = Ball(FirstChoice((0, 1, 2)), Decimal(1), bytes(32)).noise(FirstChoice((0, 1, 2)), 100)
    assert math.isclose(first.score, 100 * unit, rel_tol=1e-7)
    assert math.isclose(first.gap, 200 * unit, rel_tol=1e-7)
    assert math.isclose(first.subgaussian, SUBGAUSSIAN * kappa * 10, rel_tol=1e-7)
    assert math.isinf(first.reach)
    assert math.isclose(
        first.deviation(3, 0.05, gap=True), first.subgaussian * math.sqrt(4 * math.log(120)), rel_tol=1e-12
    )
    every, pair = Ball(EveryFirstChoice(3), Decimal(1), bytes(32)), Duels(((0, 2),))
    assert math.isclose(every.noise(FirstChoice((0, 1)), 1).score, 4 * unit, rel_tol=1e-7)
    assert math.isclose(every.noise(pair, 1).score, 8 * unit, rel_tol=1e-7)
    assert every.noise(pair, 1).gap == every.noise(pair, 1).score
    borda = Points((2, 1, 0))
    assert math.isclose(Ball(borda, Decimal(1), bytes(32)).noise(borda, 1).score, 2 * unit, rel_tol=1e-7)
    half = Ball(Duels.of_all(3), Decimal(1), bytes(32), Turn(0, 1, 2)).noise(pair, 1)
    assert math.isclose(half.score, 6 * unit, rel_tol=1e-7)
    assert math.isclose(half.subgaussian**2, 2 * (SUBGAUSSIAN**2 * kappa**2 * 3 + 1), rel_tol=1e-7)
