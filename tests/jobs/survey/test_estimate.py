from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from jobs.survey.estimate import AttributeEstimate, estimate_attribute
from jobs.survey.margin import Margin
from jobs.survey.reconstruct import Axis, TableEstimate
from udfs.laplace import LaplaceMechanism
from udfs.optimized_unary import OptimizedUnaryEncoding
from udfs.randomized_response import RandomizedResponse
from udfs.randomizer import PureRandomizer, Randomizer
from udfs.subset_selection import SubsetSelection

LN4 = 2 * math.log(2)
Vector = npt.NDArray[np.float64]


def estimate(
    randomizer: Randomizer, counts: list[int], missing_cell: bool = False, reports: int | None = None
) -> AttributeEstimate:
    """Estimate from reports: of which each names one cell, or where their number is given, a set of cells."""
    features = np.array(counts if randomizer.one_code else [*counts, reports], dtype=np.int64)
    axis = Axis(("a",), (randomizer.cells,), randomizer)
    return estimate_attribute(Margin(TableEstimate.of(features, [axis]), ("a",), (missing_cell,)))


def test_negative_estimates_stand_beside_their_projection() -> None:
    found = estimate(RandomizedResponse(3, LN4), [0, 20, 80])
    assert found.proportions == pytest.approx([-1 / 3, 1 / 15, 19 / 15], abs=1e-6)
    assert found.proportions.sum() == pytest.approx(1)
    assert found.post_processed["simplex-projection"] == pytest.approx([0, 0, 1], abs=1e-6)
    dispersion = math.sqrt(100 / 99)  # unbiased: divided by one less than the reports
    assert found.standard_errors == pytest.approx([0, 0.08 * dispersion, 0.08 * dispersion], abs=1e-6)
    assert found.raw == pytest.approx(found.proportions)
    assert found.missing is None
    assert ((found.intervals >= 0) & (found.intervals <= 1)).all()


@pytest.mark.parametrize("design", [RandomizedResponse, SubsetSelection])
def test_the_standard_error_follows_from_the_law(design: type[PureRandomizer]) -> None:
    randomizer = design(6, 1.5)
    n = 780 if randomizer.one_code else 500
    found = estimate(randomizer, [130] * 6, reports=n)
    p, q = float(randomizer.support_if_true), float(randomizer.support_if_false)
    observed = 130 / n
    assert found.proportions == pytest.approx((observed - q) / (p - q))
    assert found.standard_errors == pytest.approx(
        math.sqrt(observed * (1 - observed) / (n - 1)) / (p - q), rel=1e-12
    )


def test_without_noise_the_counts_come_back() -> None:
    found = estimate(RandomizedResponse(3, 1000), [5, 3, 2])
    assert found.proportions == pytest.approx([0.5, 0.3, 0.2], abs=1e-12)
    for shares in found.post_processed.values():
        assert shares == pytest.approx([0.5, 0.3, 0.2], abs=1e-12)


@pytest.mark.parametrize("missing_cell", [False, True])
def test_of_nobody_nothing_is_known(missing_cell: bool) -> None:
    found = estimate(RandomizedResponse(3, 1), [0, 0, 0], missing_cell)
    cells = 3 - missing_cell
    assert found.intervals.shape == (cells, 2)
    for unknown in (found.proportions, found.standard_errors, found.intervals):
        assert len(unknown) == cells
        assert np.isnan(unknown).all()
    assert set(found.post_processed.values()) == {None}
    assert found.raw.shape == (3,)
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
        (RandomizedResponse(2, 1), 30, 0.01),
        (RandomizedResponse(2, 1), 30, 0.05),
        (RandomizedResponse(2, 2), 30, 0.02),
        (RandomizedResponse(2, 3), 30, 0.01),
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
        others = [n - count] + [0] * (randomizer.cells - 2)
        low, high = estimate(randomizer, [count, *others], reports=n).intervals[0]
        covered += (low <= share <= high) * stats.binom.pmf(count, n, q + (p - q) * share)
    assert 0.93 <= covered <= 0.975


@pytest.mark.parametrize("count", [0, 1, 7, 20, 39, 40])
@pytest.mark.parametrize(
    "randomizer", [RandomizedResponse(2, 3), SubsetSelection(2, 3), SubsetSelection(9, 1)]
)
def test_an_interval_is_wilsons_mapped_through_the_design(randomizer: PureRandomizer, count: int) -> None:
    p, q = float(randomizer.support_if_true), float(randomizer.support_if_false)
    wilson = stats.binomtest(count, 40).proportion_ci(method="wilson")
    expected = np.clip((np.array(wilson) - q) / (p - q), 0, 1)
    counts = [count, 40 - count] + [0] * (randomizer.cells - 2)
    found = estimate(randomizer, counts, reports=40)
    assert found.intervals[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "counts", [[90, 60, 30, 20], [1, 0, 0, 0], [0, 0, 200, 0], [3, 0, 0, 5], [0, 9, 0, 0]]
)
@pytest.mark.parametrize("epsilon", [1, 3, 9])
def test_intervals_behind_laplace_noise_hold_the_estimate(counts: list[int], epsilon: int) -> None:
    """A report makes one of many estimates, so that these are no binomial's; they are within their range."""
    found = estimate(LaplaceMechanism(4, epsilon), counts)
    shares = np.clip(found.proportions, 0, 1)
    assert (found.intervals[:, 0] <= shares + 1e-12).all()
    assert (shares <= found.intervals[:, 1] + 1e-12).all()
    assert (found.intervals[:, 0] <= found.intervals[:, 1]).all()


def test_with_many_reports_an_interval_behind_laplace_noise_is_two_errors_wide() -> None:
    found = estimate(LaplaceMechanism(4, 3), [400_000, 300_000, 200_000, 150_000])
    half = (found.intervals[:, 1] - found.intervals[:, 0]) / 2
    assert half == pytest.approx(stats.norm.ppf(0.975) * found.standard_errors, rel=1e-3)


def test_every_way_of_post_processing_stands_under_its_name() -> None:
    found = estimate(RandomizedResponse(3, LN4), [0, 20, 80]).post_processed
    assert list(found) == ["simplex-projection", "clip-and-rescale", "maximum-likelihood"]
    assert found["simplex-projection"] == pytest.approx([0, 0, 1], abs=1e-6)
    assert found["clip-and-rescale"] == pytest.approx([0, 0.05, 0.95], abs=1e-6)
    assert found["maximum-likelihood"] is not None
    assert likelihood(found["maximum-likelihood"]) >= max(
        likelihood(np.array([0, b, 1 - b])) for b in np.linspace(0, 1, 101)
    )


def likelihood(shares: Vector) -> float:
    """Return the log-likelihood of 20 and 80 reports of the last two of three cells."""
    design = RandomizedResponse(3, LN4)
    p, q = float(design.support_if_true), float(design.support_if_false)
    return float(np.log(q + (p - q) * shares) @ np.array([0, 20, 80]))


@pytest.mark.parametrize("randomizer", [LaplaceMechanism(3, 2), SubsetSelection(3, 1)])
def test_no_maximum_likelihood_is_given_where_it_has_no_closed_form(randomizer: Randomizer) -> None:
    found = estimate(randomizer, [50, 30, 20], reports=100).post_processed
    assert found["maximum-likelihood"] is None
    assert found["simplex-projection"] is not None


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
    assert found.missing == (found.raw[-1], found.raw_standard_errors[-1])
    dispersion = RandomizedResponse(4, 2).estimate(np.array(REPORTS), sum(REPORTS)).covariance
    assert found.missing[1] == pytest.approx(math.sqrt(dispersion[-1, -1]))
    assert found.raw.sum() == pytest.approx(1)


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
    for unknown in (found.proportions, found.standard_errors, found.intervals):
        assert np.isnan(unknown).all()
    assert set(found.post_processed.values()) == {None}
    assert np.isfinite(found.raw).all()


def test_sets_that_are_all_empty_make_no_shares_of_themselves() -> None:
    """All unbiased shares are negative then: they sum to one only in expectation."""
    found = estimate(OptimizedUnaryEncoding(3, 1), [0, 0, 0], reports=5)
    assert (found.proportions < 0).all()
    assert found.post_processed["clip-and-rescale"] is not None
    assert np.isnan(found.post_processed["clip-and-rescale"]).all()
    assert found.post_processed["simplex-projection"] == pytest.approx([1 / 3] * 3)
