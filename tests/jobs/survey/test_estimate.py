from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from jobs.survey.estimate import AttributeEstimate, estimate_attribute, project_to_simplex
from udfs.randomized_response import RandomizedResponse
from udfs.randomizer import PureRandomizer
from udfs.subset_selection import SubsetSelection

LN4 = 2 * math.log(2)
Vector = npt.NDArray[np.float64]


def estimate(randomizer: PureRandomizer, counts: list[int], missing_cell: bool = False) -> AttributeEstimate:
    """Estimate from reports of which each names one cell."""
    return estimate_attribute(randomizer, np.array(counts, dtype=np.int64), sum(counts), missing_cell)


def test_negative_estimates_stand_beside_their_projection() -> None:
    found = estimate(RandomizedResponse(3, LN4), [0, 20, 80])
    assert found.proportions == pytest.approx([-1 / 3, 1 / 15, 19 / 15], abs=1e-6)
    assert found.proportions.sum() == pytest.approx(1)
    assert found.projected == pytest.approx([0, 0, 1], abs=1e-6)
    dispersion = math.sqrt(100 / 99)  # unbiased: divided by one less than the reports
    assert found.standard_errors == pytest.approx([0, 0.08 * dispersion, 0.08 * dispersion], abs=1e-6)
    assert found.raw.shares == pytest.approx(found.proportions)
    assert found.missing is None
    assert ((found.intervals >= 0) & (found.intervals <= 1)).all()


@pytest.mark.parametrize("design", [RandomizedResponse, SubsetSelection])
def test_the_standard_error_follows_from_the_law(design: type[PureRandomizer]) -> None:
    randomizer, n, count = design(6, 1.5), 500, 130
    found = estimate_attribute(randomizer, np.full(6, count, dtype=np.int64), n, missing_cell=False)
    p, q = float(randomizer.support_if_true), float(randomizer.support_if_false)
    observed = count / n
    assert found.proportions == pytest.approx((observed - q) / (p - q))
    assert found.standard_errors == pytest.approx(
        math.sqrt(observed * (1 - observed) / (n - 1)) / (p - q), rel=1e-12
    )


def test_without_noise_the_counts_come_back() -> None:
    found = estimate(RandomizedResponse(3, 1000), [5, 3, 2])
    assert found.proportions == pytest.approx([0.5, 0.3, 0.2], abs=1e-12)
    assert found.projected == pytest.approx([0.5, 0.3, 0.2], abs=1e-12)


@pytest.mark.parametrize("missing_cell", [False, True])
def test_of_nobody_nothing_is_known(missing_cell: bool) -> None:
    found = estimate(RandomizedResponse(3, 1), [0, 0, 0], missing_cell)
    cells = 3 - missing_cell
    assert found.intervals.shape == (cells, 2)
    for unknown in (found.proportions, found.standard_errors, found.projected, found.intervals):
        assert len(unknown) == cells
        assert np.isnan(unknown).all()
    assert found.raw.shares.shape == (3,)
    assert (found.missing is not None) == missing_cell


def test_one_report_gives_an_estimate_without_a_standard_error() -> None:
    found = estimate(RandomizedResponse(2, 1), [0, 1])
    assert found.proportions.sum() == pytest.approx(1)
    assert np.isnan(found.standard_errors).all()
    assert np.isfinite(found.intervals).all()
    assert np.isnan(estimate(RandomizedResponse(3, 1), [0, 1, 0], missing_cell=True).proportions).all()


@pytest.mark.parametrize(
    ("randomizer", "n", "share"),
    [
        (RandomizedResponse(2, 1), 50, 0.1),
        (RandomizedResponse(2, 1), 248, 0.05),
        (RandomizedResponse(2, 0.2), 1000, 0.5),
        (RandomizedResponse(6, 2), 248, 0.3),
        (RandomizedResponse(6, 4), 100, 0.2),
        (SubsetSelection(12, 1), 300, 1 / 12),
        (SubsetSelection(8, 0.5), 60, 0.9),
    ],
)
def test_intervals_cover_the_truth_as_often_as_they_say(
    randomizer: PureRandomizer, n: int, share: float
) -> None:
    """The first cell's interval hangs on its own count alone, whose law is binomial."""
    p, q = float(randomizer.support_if_true), float(randomizer.support_if_false)
    covered = 0.0
    for count in range(n + 1):
        counts = np.array([count] + [0] * (randomizer.cells - 1), dtype=np.int64)
        low, high = estimate_attribute(randomizer, counts, n, missing_cell=False).intervals[0]
        covered += (low <= share <= high) * stats.binom.pmf(count, n, q + (p - q) * share)
    assert 0.93 <= covered <= 0.975


@pytest.mark.parametrize("count", [0, 1, 7, 20, 39, 40])
def test_an_interval_is_wilsons_mapped_through_the_design(count: int) -> None:
    randomizer = RandomizedResponse(2, 3)
    p, q = float(randomizer.support_if_true), float(randomizer.support_if_false)
    wilson = stats.binomtest(count, 40).proportion_ci(method="wilson")
    expected = np.clip((np.array(wilson) - q) / (p - q), 0, 1)
    assert estimate(randomizer, [count, 40 - count]).intervals[0] == pytest.approx(expected, abs=1e-12)


REPORTS = [260, 190, 120, 230]
"""Of three categories and of missing answers."""


def among_answered(randomizer: PureRandomizer) -> Callable[[Vector], Vector]:
    """Return the shares among those who answered as a function of the observed shares."""
    p, q = float(randomizer.support_if_true), float(randomizer.support_if_false)

    def shares(observed: Vector) -> Vector:
        raw = (observed - q) / (p - q)
        return raw[:-1] / (1 - raw[-1])

    return shares


def jacobian(function: Callable[[Vector], Vector], at: Vector, step: float = 1e-6) -> Vector:
    """Return the derivatives by central differences: one row an output."""
    return np.column_stack(
        [(function(at + e) - function(at - e)) / (2 * step) for e in step * np.eye(len(at))]
    )


def test_missing_answers_are_a_cell_and_shares_are_among_those_who_answered() -> None:
    randomizer, n = RandomizedResponse(4, 2), sum(REPORTS)
    found = estimate(randomizer, REPORTS, missing_cell=True)
    observed = np.array(REPORTS) / n
    gradient = jacobian(among_answered(randomizer), observed)
    covariance = (np.diag(observed) - np.outer(observed, observed)) / (n - 1)
    assert found.proportions == pytest.approx(among_answered(randomizer)(observed), rel=1e-12)
    assert found.proportions.sum() == pytest.approx(1)
    assert found.standard_errors == pytest.approx(
        np.sqrt(np.diag(gradient @ covariance @ gradient.T)), rel=1e-6
    )


def test_the_missing_share_has_its_own_standard_error() -> None:
    found = estimate(RandomizedResponse(4, 2), REPORTS, missing_cell=True)
    assert found.missing is not None
    assert found.missing[0] == found.raw.shares[-1]
    assert found.missing[1] == pytest.approx(math.sqrt(found.raw.covariance[-1, -1]))
    assert found.raw.shares.sum() == pytest.approx(1)


def coverage_among_answered(
    epsilon: float, n: int, share: float, missing: float = 0.1
) -> tuple[float, float]:
    """Return, exactly, how often the interval of one of three categories holds its share, and has no width.

    The estimate of a category among those who answered depends on its own reports and on the missing ones:
    all of their counts are enumerated.
    """
    randomizer = RandomizedResponse(4, epsilon)
    q = float(randomizer.support_if_false)
    slope = float(randomizer.support_if_true) - q
    own, none = q + slope * share * (1 - missing), q + slope * missing
    covered = told = narrow = 0.0
    for reports in range(n + 1):
        for blanks in range(n + 1 - reports):
            others = n - reports - blanks
            chance = stats.multinomial.pmf([reports, blanks, others], n, [own, none, 1 - own - none])
            low, high = estimate(randomizer, [reports, others, 0, blanks], missing_cell=True).intervals[0]
            if np.isfinite(low):
                told += chance
                covered += chance * (low <= share <= high)
                narrow += chance * (low == high)
    return covered / told, narrow / told


@pytest.mark.parametrize(
    ("epsilon", "n", "share"), [(2, 30, 0.01), (4, 40, 0.01), (4, 30, 0.3), (1, 40, 0.9)]
)
def test_the_interval_among_those_who_answered_covers(epsilon: float, n: int, share: float) -> None:
    covered, narrow = coverage_among_answered(epsilon, n, share)
    assert covered >= 0.93
    assert narrow <= 0.03  # an interval wholly beyond [0, 1] is clipped to a point


def test_two_reports_are_no_certainty() -> None:
    intervals = estimate(RandomizedResponse(3, 0.5), [0, 2, 0], missing_cell=True).intervals
    assert (intervals[:, 1] - intervals[:, 0] > 0.2).all()


def test_with_many_reports_the_interval_is_two_delta_errors_wide() -> None:
    found = estimate(RandomizedResponse(4, 2), [400_000, 300_000, 200_000, 150_000], missing_cell=True)
    half = (found.intervals[:, 1] - found.intervals[:, 0]) / 2
    assert half == pytest.approx(stats.norm.ppf(0.975) * found.standard_errors, rel=1e-3)


def test_nothing_is_said_of_those_who_answered_where_they_may_be_nobody() -> None:
    found = estimate(RandomizedResponse(3, 1), [22, 24, 60], missing_cell=True)
    assert found.missing is not None
    answered, error = 1 - found.missing[0], found.missing[1]
    assert 0 < answered <= 2 * error
    for unknown in (found.proportions, found.standard_errors, found.projected, found.intervals):
        assert np.isnan(unknown).all()
    assert np.isfinite(found.raw.shares).all()


@pytest.mark.parametrize(
    ("shares", "projected"),
    [
        ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
        ([1.0], [1.0]),
        ([-5.0, -5.0], [0.5, 0.5]),
        ([2.0, -1.0], [1.0, 0.0]),
        ([0.6, 0.6, -0.2], [0.5, 0.5, 0.0]),
        ([0.5, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_a_projection_is_the_nearest_point_of_the_simplex(
    shares: list[float], projected: list[float]
) -> None:
    assert project_to_simplex(np.array(shares)) == pytest.approx(projected)


def test_no_point_of_the_simplex_is_nearer_than_the_projection() -> None:
    """By the variational inequality: the way to the projection leads away from every corner."""
    generator = np.random.default_rng(20)
    for _ in range(200):
        point = generator.normal(size=6)
        nearest = project_to_simplex(point)
        assert nearest.sum() == pytest.approx(1)
        assert (nearest >= 0).all()
        assert ((point - nearest) @ (np.eye(6) - nearest).T <= 1e-12).all()
