from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from jobs.survey.margin import Margin
from jobs.survey.measures import entropy, g_squared, mutual_information, pearson, phi_squared
from jobs.survey.postprocess import project_to_simplex
from jobs.survey.statistics import estimate_statistic
from sample_data.make import BIOMARKERS
from tests.jobs.survey.reported import (
    BIOMARKER_SHARES,
    EVERY_KIND,
    IDENTITY,
    INSIDE,
    Survey,
    exact,
    fresh_rng,
    independent,
)
from udfs.design import Counts, Shares

Measure = Callable[[Shares], tuple[Shares, Shares]]


def correlation(tables: Shares) -> tuple[Shares, Shares]:
    rows, columns = tables.shape[-2:]
    return pearson(tables, np.arange(rows) ** 2.0, np.arange(columns) + 1.0)


MEASURES: dict[str, Measure] = {
    "mutual_information": mutual_information,
    "g_squared": g_squared,
    "phi_squared": phi_squared,
    "pearson": correlation,
}


# ---- values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "value", "digits"),
    [
        ("entropy", 2.04018, 5),
        ("chi-square", 252.0861, 4),
        ("g-squared", 198.6207, 4),
        ("mutual-information", 0.57772, 5),
        ("pearson", 0.73553, 5),
    ],
)
def test_published_values_come_out(kind: str, value: float, digits: int) -> None:
    margin = exact(BIOMARKERS)
    if kind == "entropy":
        margin = Margin(margin.table, ("a",), (False,))
    found = estimate_statistic(kind, margin)
    assert round(found.estimate, digits) == value
    assert found.of == margin.of
    assert found.unit == ("bits" if kind in ("entropy", "mutual-information") else None)


def test_mutual_information_is_what_two_entropies_have_more_than_that_of_both() -> None:
    joint = entropy(INSIDE.ravel())[0]
    apart = entropy(INSIDE.sum(axis=1))[0] + entropy(INSIDE.sum(axis=0))[0]
    assert mutual_information(INSIDE)[0] == pytest.approx(apart - joint)
    assert estimate_statistic("entropy", Survey(INSIDE, IDENTITY).predicted(10**12)).estimate == (
        pytest.approx(float(joint), abs=1e-9)
    )


def test_values_of_tables_with_empty_cells_and_margins_are_right() -> None:
    certain = np.zeros((3, 2))
    certain[1, 0] = 1
    for measure in (mutual_information, g_squared, phi_squared):
        value, gradient = measure(certain)
        assert value == 0
        assert np.isfinite(gradient).all()
    assert entropy(certain.ravel())[0] == 0
    assert np.isnan(correlation(certain)[0])
    diagonal = np.diag([0.5, 0.5, 0.0])
    assert mutual_information(diagonal)[0] == pytest.approx(1)
    assert phi_squared(diagonal)[0] == pytest.approx(1)
    assert g_squared(diagonal)[0] == pytest.approx(2 * math.log(2))
    for measure in (mutual_information, g_squared):
        assert (measure(diagonal)[1][diagonal == 0] == 0).all()
    assert entropy(np.array([0.5, 0.5, 0.0]))[1][2] == 0


def test_of_independent_attributes_all_measures_vanish_with_their_gradients() -> None:
    table = independent(4, 3)
    for name, measure in MEASURES.items():
        value, gradient = measure(table)
        assert value == pytest.approx(0, abs=1e-12)
        if name != "pearson":
            assert np.ptp(gradient) == pytest.approx(0, abs=1e-12)


# ---- gradients --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MEASURES)
def test_gradients_are_those_of_finite_differences(name: str) -> None:
    """Along moves of share from one cell to another, as shares sum to one."""
    measure, step = MEASURES[name], 1e-6
    rng, seed = fresh_rng()
    tables = 0.5 * rng.dirichlet(np.ones(12), 20).reshape(-1, 4, 3) + 0.5 / 12
    _, gradients = measure(tables)
    for cell in range(1, 12):
        move = np.zeros(12)
        move[[0, cell]] = -step, step
        moved = move.reshape(4, 3)
        slopes = (measure(tables + moved)[0] - measure(tables - moved)[0]) / (2 * step)
        flat = gradients.reshape(-1, 12)
        assert flat[:, cell] - flat[:, 0] == pytest.approx(slopes, abs=1e-7), seed


def test_the_entropys_gradient_has_a_minus() -> None:
    shares, step = np.array([0.2, 0.3, 0.5]), 1e-6
    _, gradient = entropy(shares)
    for cell, moved in enumerate(np.eye(3) * step):
        slope = (entropy(shares + moved)[0] - entropy(shares - moved)[0]) / (2 * step)
        assert gradient[cell] == pytest.approx(slope, abs=1e-7)


def test_the_chi_squares_gradient_is_the_formula() -> None:
    rows, columns = INSIDE.sum(axis=1), INSIDE.sum(axis=0)
    _, gradient = phi_squared(INSIDE)
    for i, j in np.ndindex(INSIDE.shape):
        of_row = (INSIDE[i] ** 2 / (rows[i] * columns)).sum() / rows[i]
        of_column = (INSIDE[:, j] ** 2 / (rows * columns[j])).sum() / columns[j]
        expected = 2 * INSIDE[i, j] / (rows[i] * columns[j]) - of_row - of_column
        assert gradient[i, j] == pytest.approx(expected, rel=1e-12)


def test_stacks_give_what_their_tables_give() -> None:
    stack = np.stack([INSIDE, BIOMARKER_SHARES, independent(6, 3)])
    for measure in MEASURES.values():
        values, gradients = measure(stack)
        for number, table in enumerate(stack):
            value, gradient = measure(table)
            assert values[number] == pytest.approx(value, abs=1e-15)
            assert gradients[number] == pytest.approx(gradient)


# ---- standard errors --------------------------------------------------------------------------------


def slopes_by_reports(kind: str, survey: Survey, counts: Counts) -> Shares:
    """Return the derivatives of an estimate by the shares of reports, from finite differences."""
    reports, step = int(counts.sum()), int(counts.sum()) // 10**6
    slopes = np.zeros(counts.size)
    for cell in range(1, counts.size):
        move = np.zeros(counts.size, dtype=np.int64)
        move[[0, cell]] = -step, step
        up, down = (survey.margin(counts + sign * move.reshape(counts.shape)) for sign in (1, -1))
        difference = estimate_statistic(kind, up).estimate - estimate_statistic(kind, down).estimate
        slopes[cell] = difference * reports / (2 * step)
    return slopes


@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("negative", [False, True])
def test_the_standard_error_is_that_of_the_linearized_estimate(
    kind: str, missing: float, joint: bool, negative: bool
) -> None:
    """Through the projection, the share of those who answered and the design, all at once."""
    shares = INSIDE[:4] / INSIDE[:4].sum()
    if negative:  # as estimates may be, though no truth is
        shares = shares + np.array([0.03, 0, -0.03]) * np.array([[1], [0], [0], [0]])
    survey = Survey(shares, 3.0, joint, missing)
    counts = np.rint(survey.law() * 10**12).astype(np.int64)
    margin = survey.margin(counts)
    assert (margin.proportions < 0).any() == negative
    found = estimate_statistic(kind, margin)
    slopes, observed = slopes_by_reports(kind, survey, counts), counts.ravel() / counts.sum()
    variance = (observed @ slopes**2 - (observed @ slopes) ** 2) / (counts.sum() - 1)
    assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-4)


_REPORTS, _TIMES, _TOLERANCE = 40_000, 100_000, 0.03
"""A standard deviation from so many replications is known to 1.4 % at false alarms of 1e-9."""


def assert_standard_error(error: float, values: Shares, seed: int) -> None:
    """Fail unless a standard error is the estimates' standard deviation, within 3 %."""
    assert abs(float(values.std()) / error - 1) <= _TOLERANCE, seed


@pytest.mark.parametrize("joint", [False, True])
def test_standard_errors_are_the_standard_deviations_of_the_estimates(joint: bool) -> None:
    survey = Survey(INSIDE, 4.0, joint)
    rng, seed = fresh_rng()
    observed = survey.draw(rng, _REPORTS, _TIMES) / _REPORTS
    for number, axis in enumerate(survey.axes):
        observed = axis.design.reconstruct(observed, number + 1)
    raw = observed.reshape(_TIMES, *INSIDE.shape)
    tables = project_to_simplex(raw.reshape(_TIMES, -1)).reshape(raw.shape)
    margin = survey.predicted(_REPORTS)
    scores = np.arange(6.0), np.arange(3.0)
    simulated = {
        "mutual-information": mutual_information(tables)[0],
        "chi-square": _REPORTS * phi_squared(tables)[0],
        "g-squared": _REPORTS * g_squared(tables)[0],
        "pearson": pearson(raw, *scores)[0],
    }
    errors = {kind: estimate_statistic(kind, margin).standard_error for kind in simulated}
    simulated["entropy"] = entropy(project_to_simplex(raw.sum(axis=2)))[0]
    errors["entropy"] = estimate_statistic("entropy", Margin(margin.table, ("a",), (False,))).standard_error
    for kind, values in simulated.items():
        assert_standard_error(errors[kind], values, seed)
        with pytest.raises(AssertionError):
            assert_standard_error(1.06 * errors[kind], values, seed)
    without_rows = np.log2(INSIDE / INSIDE.sum(axis=0))  # mutual information's gradient, a term short
    with pytest.raises(AssertionError):
        assert_standard_error(math.sqrt(margin.variance(without_rows)), simulated["mutual-information"], seed)
