from __future__ import annotations

import math

import numpy as np
import pytest

from jobs.survey.postprocess import (
    clip_and_rescale,
    maximum_likelihood,
    project_to_simplex,
    pull_back_projection,
)
from tests.jobs.survey.reported import Response, fresh_rng
from udfs.design import Shares

LN4 = 2 * math.log(2)
LDL = np.array([16, 64, 103, 50, 12, 3])
RAW_OF_FEW = np.array([-1 / 3, 1 / 15, 19 / 15])


def raw_shares(times: int, cells: int, scale: float = 0.3) -> tuple[Shares, int]:
    """Return stacked vectors of sum one, many with negative entries."""
    rng, seed = fresh_rng()
    noise = rng.normal(0, scale, (times, cells))
    return 1 / cells + noise - noise.mean(axis=1, keepdims=True), seed


def test_negative_estimates_have_two_remedies_with_different_answers() -> None:
    design = Response(3, LN4)
    raw = design.reconstruct(np.array([0.0, 0.2, 0.8]))
    assert raw == pytest.approx(RAW_OF_FEW, abs=1e-6)
    assert raw.sum() == pytest.approx(1)
    assert clip_and_rescale(raw) == pytest.approx([0, 0.05, 0.95], abs=1e-6)
    assert project_to_simplex(raw) == pytest.approx([0, 0, 1], abs=1e-6)


@pytest.mark.parametrize("cells", [2, 3, 6, 40])
def test_the_projection_is_the_nearest_point_of_the_simplex(cells: int) -> None:
    raw, seed = raw_shares(500, cells)
    found = project_to_simplex(raw)
    assert (found >= 0).all(), seed
    assert found.sum(axis=1) == pytest.approx(1), seed
    # A point of a convex set is nearest if no corner of it lies nearer in direction: exact, for any dimension.
    towards_corners = (raw - found) - ((raw - found) * found).sum(axis=1, keepdims=True)
    assert towards_corners.max() <= 1e-12, seed


def test_what_is_on_the_simplex_stays() -> None:
    inside = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]])
    assert project_to_simplex(inside) == pytest.approx(inside, abs=1e-15)
    assert clip_and_rescale(inside) == pytest.approx(inside, abs=1e-15)


def test_the_projections_gradient_is_that_of_finite_differences() -> None:
    raw, seed = raw_shares(200, 5)
    found = project_to_simplex(raw)
    step = 1e-7
    # Where a cell is about to turn positive or zero there is no derivative.
    smooth = (np.abs(raw - (raw - found).max(axis=1, keepdims=True)) > 10 * step).all(axis=1)
    assert smooth.sum() > 150, seed
    for cell in range(5):
        moved = np.eye(5)[cell] * step
        slopes = (project_to_simplex(raw + moved) - project_to_simplex(raw - moved)) / (2 * step)
        weights = np.arange(1.0, 6)
        pulled = pull_back_projection(found, np.broadcast_to(weights, raw.shape))[:, cell]
        assert pulled[smooth] == pytest.approx((slopes @ weights)[smooth], abs=1e-6), seed


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, math.inf])
@pytest.mark.parametrize("cells", [2, 3, 6, 40])
def test_no_other_shares_are_as_likely(cells: int, epsilon: float) -> None:
    design = Response(cells, epsilon)
    rng, seed = fresh_rng()
    counts = rng.multinomial(60, rng.dirichlet(np.ones(cells), 300))
    found = maximum_likelihood(counts, design.truth, design.lie)
    assert (found >= 0).all(), seed
    assert found.sum(axis=1) == pytest.approx(1), seed
    # The likelihood is concave: it is greatest where its slope towards no corner is positive.
    expected = design.observe(found, axis=1)
    slopes = np.divide(counts, expected, out=np.zeros_like(expected), where=counts > 0)
    towards_corners = slopes - (slopes * found).sum(axis=1, keepdims=True)
    assert towards_corners.max() <= 1e-6 * slopes.max(), seed


def test_where_raw_shares_are_none_negative_they_are_the_most_likely() -> None:
    design, counts = Response(4, 1.5), np.array([30, 26, 24, 20])
    raw = design.reconstruct(counts / 100)
    assert (raw > 0).all()
    assert maximum_likelihood(counts, design.truth, design.lie) == pytest.approx(raw, abs=1e-12)


def test_shares_of_reports_are_as_good_as_counts() -> None:
    design, counts = Response(6, 1.0), np.array([3, 0, 9, 1, 1, 1])
    of_counts = maximum_likelihood(counts, design.truth, design.lie)
    assert maximum_likelihood(counts / 15, design.truth, design.lie) == pytest.approx(of_counts, abs=1e-12)


def test_of_nothing_comes_nothing() -> None:
    unknown = np.full(3, np.nan)
    assert np.isnan(project_to_simplex(unknown)).all()
    assert np.isnan(clip_and_rescale(unknown)).all()
    assert np.isnan(maximum_likelihood(np.zeros(3, dtype=np.int64), 0.5, 0.25)).all()


# ---- how near each comes to the truth ---------------------------------------------------------------

_NEAREST_TWO = 0.0504 - 0.0493
_SPREAD = 0.045  # a bound on the standard deviation of one total squared error
_Z = 6.2
_TIMES = math.ceil((2 * _Z * _SPREAD / (_NEAREST_TWO - 2 * 5e-5)) ** 2)
"""So many that the two remedies that come nearest to each other are told apart."""


def assert_error(found: Shares, expected: float, seed: int) -> None:
    """Fail unless the mean total squared error is as expected, to the four digits given."""
    errors = ((found - LDL / LDL.sum()) ** 2).sum(axis=1)
    assert errors.std() < _SPREAD
    assert abs(errors.mean() - expected) <= 5e-5 + _Z * _SPREAD / math.sqrt(len(errors)), seed


def test_the_errors_of_all_remedies_are_those_documented() -> None:
    design = Response(6, 1.0)
    rng, seed = fresh_rng()
    counts = rng.multinomial(LDL.sum(), design.observe(LDL / LDL.sum()), size=_TIMES)
    raw = design.reconstruct(counts / LDL.sum(), axis=1)
    projected = project_to_simplex(raw)
    likely = maximum_likelihood(counts, design.truth, design.lie)
    assert_error(raw, 0.0673, seed)
    assert_error(clip_and_rescale(raw), 0.0473, seed)
    assert_error(projected, 0.0504, seed)
    assert_error(likely, 0.0493, seed)
    with pytest.raises(AssertionError):
        assert_error(projected, 0.0493, seed)
    with pytest.raises(AssertionError):
        assert_error(likely, 0.0504, seed)
