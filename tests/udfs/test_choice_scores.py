from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.choices import answer_law, answers_of, every_ballot, own_estimates, report_law, variance
from udfs.choice import SampledChoice
from udfs.choice_contests import every_set
from udfs.choice_scores import estimate_margins, estimate_sums, standard_errors
from udfs.contests import Duels, EveryFirstChoice, FirstChoice, Points
from udfs.profile import Profile
from udfs.subset_selection import SubsetSelection

MANY = 10**12
"""So many voters that counts are as they are expected, to twelve digits."""


@pytest.mark.parametrize(
    ("cells", "voters", "asked"), [(2, 3, 2), (2, 4, 1), (3, 3, 2), (3, 2, 2), (3, 3, 3)]
)
def test_the_variance_is_that_of_every_choice_of_voters_and_every_report(cells, voters, asked):
    design, f = SubsetSelection(cells, Decimal("0.5")), (voters - asked) / (voters - 1)
    kinds = [
        tuple(map(Fraction, one))
        for one in (*np.eye(cells, dtype=int).tolist(), [Fraction(1, cells)] * cells)
    ]
    ballots, direction = [kinds[voter % len(kinds)] for voter in range(1, voters + 1)], np.eye(cells)[0]
    estimates, laws = own_estimates(design) @ direction, [report_law(design, ballot) for ballot in ballots]
    known, moments, squared_errors = float(np.mean([ballot[0] ** 2 for ballot in ballots])), np.zeros(3), 0.0
    subsets = list(combinations(range(voters), asked))
    for subset, reports in product(subsets, product(range(len(estimates)), repeat=asked)):
        chance = math.prod(laws[voter][report] for voter, report in zip(subset, reports, strict=True)) / len(
            subsets
        )
        found = estimates[list(reports)]
        moments += chance * (voters * found.mean()) ** np.arange(3)
        if asked > f:
            parts = (np.array([one]) for one in ((found**2).mean(), known, found.mean(), float(asked)))
            squared_errors += chance * standard_errors(*parts, voters)[0] ** 2
    true = variance(design, ballots, np.full(voters, 1 / voters), direction, f) * voters**2 / asked
    assert moments[0] == pytest.approx(1)
    assert moments[1] == pytest.approx(float(sum(ballot[0] for ballot in ballots)))
    assert moments[2] - moments[1] ** 2 == pytest.approx(true)
    if asked > f:
        assert squared_errors == pytest.approx(true)


def expected(design, kinds, shares, asked):
    """Return the counts that so many reports are expected to have."""
    held = own_estimates(design) > 0
    law = sum(share * report_law(design, kind) for share, kind in zip(shares, kinds, strict=True))
    return np.rint(np.append(law @ held, 1.0) * asked).astype(np.int64)


def shares_of(numbers, kinds):
    """Return what shares of all ballots are of each kind, the last of them there for sure."""
    ballots = np.array(numbers[: len(kinds)], dtype=float)
    ballots[-1] += 1
    return ballots / ballots.sum()


SHARES = st.lists(st.integers(0, 9), min_size=20, max_size=20)


@pytest.mark.parametrize("last", [False, True])
@given(
    cells=st.integers(2, 4),
    epsilon=st.sampled_from(["0.2", "1", "6"]),
    part=st.sampled_from([1, 2, 50]),
    data=SHARES,
)
def test_standard_errors_cover_the_true_ones_and_little_more(last, cells, epsilon, part, data):
    design, kinds = SubsetSelection(cells, Decimal(epsilon)), answers_of(cells, last)
    shares, asked = shares_of(data, kinds), MANY // part
    f = (MANY - asked) / (MANY - 1)
    found = estimate_sums(design, expected(design, kinds, shares, asked), MANY, last)
    means = shares @ np.array(kinds, dtype=float)
    assert found.scores / MANY == pytest.approx(means, abs=1e-9)
    for cell, error in enumerate(found.standard_errors):
        true = variance(design, kinds, shares, np.eye(cells)[cell], f)
        slack = (1 - f) * (means[cell] * (1 - means[cell]) if last else means.min() * (cells - 1) / cells)
        assert true - 1e-6 <= error**2 * asked / MANY**2 <= true + slack + 1e-6  # counts are rounded


@pytest.mark.parametrize("epsilon", ["0.5", "1", "4"])
@pytest.mark.parametrize("part", [1, 3])
def test_standard_errors_are_the_true_ones_where_a_candidate_has_no_votes(epsilon, part):
    design, asked = SubsetSelection(3, Decimal(epsilon)), MANY // part
    kinds, shares = np.eye(3, dtype=int).tolist(), np.array([0.6, 0.4, 0.0])
    kinds = [tuple(map(Fraction, kind)) for kind in kinds]
    found = estimate_sums(design, expected(design, kinds, shares, asked), MANY, False)
    true = [variance(design, kinds, shares, one, (MANY - asked) / (MANY - 1)) for one in np.eye(3)]
    assert found.standard_errors**2 * asked / MANY**2 == pytest.approx(np.array(true), rel=1e-6)


@given(epsilon=st.sampled_from(["0.2", "1", "6"]), part=st.sampled_from([1, 2, 50]), data=SHARES)
def test_standard_errors_of_margins_cover_the_true_ones(epsilon, part, data):
    design, kinds, asked = SubsetSelection(2, Decimal(epsilon)), answers_of(2, False), MANY // part
    shares = shares_of(data, kinds)
    f, direction = (MANY - asked) / (MANY - 1), np.array([1.0, -1.0])
    found = estimate_margins(design, expected(design, kinds, shares, asked)[None], MANY)
    margin = shares @ np.array(kinds, dtype=float) @ direction
    true = variance(design, kinds, shares, direction, f)
    tied = shares[[kind[0] == Fraction(1, 2) for kind in kinds]].sum()
    assert found.scores[0] / MANY == pytest.approx(margin, abs=1e-9)
    slack = (1 - f) * (1 - tied - abs(margin))  # exact where all who are not tied agree
    assert found.standard_errors[0] ** 2 * asked / MANY**2 == pytest.approx(true + slack, abs=1e-8)


def expected_tally(choice, ballots, counts):
    """Return the tally that is expected where as many are asked each contest as its weight says."""
    parts = []
    for contest, weight in zip(choice.contests, choice.weights, strict=True):
        kinds = [tuple(answer_law(ballot, contest, choice.last)) for ballot in ballots]
        asked = MANY * weight // sum(choice.weights)
        parts.append(expected(choice.designs[len(contest)], kinds, counts / counts.sum(), asked))
    return np.concatenate(parts)


def some_ballots(candidates):
    """Return all kinds of ballots, and how many of each: no two candidates level anywhere."""
    ballots = every_ballot(candidates)
    return ballots, np.arange(1, len(ballots) + 1) ** 2


def off(estimate, truth):
    """Return how far the scores are from the truth, in shares of all ballots."""
    return np.abs(estimate.scores / MANY - truth).max()


@pytest.mark.parametrize("epsilon", ["0.3", "2"])
def test_scores_are_those_of_the_ballots(epsilon):
    contests = every_set(4)
    parameters = (4, contests, tuple(range(1, 12)))
    choice = SampledChoice(*parameters, Decimal(epsilon), bytes(32))
    wrong = SampledChoice(*parameters, Decimal(epsilon) * Decimal("1.1"), bytes(32))
    ballots, counts = some_ballots(4)
    tally, profile = expected_tally(choice, ballots, counts), Profile(ballots, counts)
    duels = Duels(((1, 0), (0, 1), (2, 3), (3, 0)))
    truth = profile.score(duels) / counts.sum()
    assert off(choice.estimate(duels, tally, MANY), truth) < 1e-9
    assert off(wrong.estimate(duels, tally, MANY), truth) > 1e-3 * np.abs(truth).max()
    whole = choice.estimate(EveryFirstChoice(4), tally, MANY)
    for contest in contests:
        first = FirstChoice(contest)
        truth = profile.score(first) / counts.sum()
        levels = (1 - truth.sum()) / len(contest)
        found = choice.estimate(first, tally, MANY)
        assert off(found, truth + levels) < 1e-9
        assert off(wrong.estimate(first, tally, MANY), truth + levels) > 1e-5
        entries = EveryFirstChoice(4).entries(first)
        assert whole.scores[entries.start : entries.stop].tolist() == found.scores.tolist()


@pytest.mark.parametrize("weights", [(1, 1, 1, 0), (Fraction(5, 2), Fraction(5, 2), Fraction(5, 2), -1)])
def test_last_places_tell_points_as_they_are_shared(weights):
    points, ballots_and_counts = Points(weights), some_ballots(4)
    choice = SampledChoice(4, ((0, 1, 2, 3),), (1,), Decimal(1), bytes(32), last=True)
    tally = expected_tally(choice, *ballots_and_counts)
    truth = Profile(*ballots_and_counts).score(points) / points.scale / ballots_and_counts[1].sum()
    found = choice.estimate(points, tally, MANY)
    assert off(found, truth) < 1e-9
    unit = choice.estimate(Points((1, 1, 1, 0)), tally, MANY)
    drop = float(weights[0] - weights[-1])
    assert found.standard_errors == pytest.approx(drop * unit.standard_errors)
    one, several = choice.noise(Points((1, 1, 1, 0)), 1000), choice.noise(points, 1000)
    assert several.score == pytest.approx(drop**2 * one.score)
    assert several.gap == pytest.approx(drop**2 * one.gap)
    assert several.reach == pytest.approx(drop * one.reach)


def test_where_nobody_was_asked_nothing_is_known():
    choice = SampledChoice(3, every_set(3), (1,) * 4, Decimal(1), bytes(32))
    for contest in (FirstChoice((0, 1, 2)), Duels(((1, 0),))):
        found = choice.estimate(contest, choice.zeros(), 10)
        assert not found.scores.any()
        assert np.all(np.isposinf(found.standard_errors))
        found = choice.estimate(contest, choice.zeros(), 0)
        assert not found.scores.any()
        assert not found.standard_errors.any()
        assert choice.noise(contest, 0).deviation(3, 0.05) == 0


def test_one_report_of_several_voters_tells_no_error():
    choice = SampledChoice(2, ((0, 1),), (1,), Decimal(1), bytes(32))
    tally = np.array([1, 0, 1])
    for contest in (FirstChoice((0, 1)), Duels(((0, 1),))):
        assert np.all(np.isposinf(choice.estimate(contest, tally, 2).standard_errors))
        assert np.all(np.isfinite(choice.estimate(contest, tally, 1).standard_errors))
