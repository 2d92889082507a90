from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tests.jobs.survey.reported import fresh_rng
from udfs.design import MatrixDesign, along
from udfs.errors import SpecError


@dataclass(frozen=True)
class Table(MatrixDesign):
    """A design by a table of fractions, a row a report."""

    rows: tuple

    @property
    def cells(self):
        return len(self.rows[0])

    @property
    def law(self):
        return tuple(tuple(Fraction(p) for p in row) for row in self.rows)


SQUARE = Table((("1/2", "1/5", "1/10"), ("3/10", "7/10", "1/10"), ("1/5", "1/10", "4/5")))
TALL = Table((("1/2", "1/6"), ("1/3", "1/3"), ("1/6", "1/2")))
DESIGNS = [
    pytest.param(SQUARE, id="as many reports as cells"),
    pytest.param(TALL, id="more reports than cells"),
]


def shares_for(design):
    """Return true shares of a design's cells."""
    return np.array([0.5, 0.3, 0.2] if design.cells == 3 else [0.7, 0.3])


@pytest.mark.parametrize("design", DESIGNS)
def test_what_was_observed_is_reconstructed_along_any_axis(design):
    rng, seed = fresh_rng()
    table = rng.normal(size=(2, design.cells, 4))
    observed = design.observe(table, 1)
    assert observed.shape == (2, design.features, 4)
    assert observed == pytest.approx(np.einsum("uv,avb->aub", design.matrix, table)), seed
    assert design.reconstruct(observed, 1) == pytest.approx(table, abs=1e-12), seed
    assert design.observe(table, -2) == pytest.approx(observed), seed


def test_the_kronecker_product_is_applied_axis_by_axis():
    rng, seed = fresh_rng()
    table = rng.normal(size=(SQUARE.cells, TALL.cells))
    observed = TALL.observe(SQUARE.observe(table, 0), 1)
    assert observed.ravel() == pytest.approx(np.kron(SQUARE.matrix, TALL.matrix) @ table.ravel()), seed
    back = SQUARE.reconstruct(TALL.reconstruct(observed, 1), 0)
    assert back == pytest.approx(table, abs=1e-12), seed


@pytest.mark.parametrize("design", DESIGNS)
def test_a_gradient_is_pulled_back_by_the_transpose(design):
    rng, seed = fresh_rng()
    gradient = rng.normal(size=(2, design.cells))
    assert design.pull_back(gradient, 1) == pytest.approx(gradient @ design.inverse), seed


@pytest.mark.parametrize("design", DESIGNS)
def test_moments_of_single_reports_are_those_of_the_law(design):
    own = design.reconstruct(np.eye(design.features)).T
    mean = np.einsum("uv,ui->vi", design.matrix, own)
    assert mean == pytest.approx(np.eye(design.cells), abs=1e-12)
    second = np.einsum("uv,ui,uj->vij", design.matrix, own, own)
    assert design.second_moments() == pytest.approx(second, abs=1e-12)
    squares = design.reconstruct_squares(np.eye(design.features)).T
    assert squares == pytest.approx(own**2)


@pytest.mark.parametrize("design", DESIGNS)
def test_shares_and_covariance_are_unbiased_over_all_samples(design):
    shares, rows = shares_for(design), 3
    chances = design.matrix @ shares
    mean, spread, told = 0, 0, 0
    for sample in product(range(design.features), repeat=rows):
        probability = np.prod(chances[list(sample)])
        estimate = design.estimate(design.tally(np.array(sample)), rows)
        error = estimate.shares - shares
        mean, spread = mean + probability * error, spread + probability * np.outer(error, error)
        told = told + probability * estimate.covariance
    assert mean == pytest.approx(np.zeros(design.cells), abs=1e-12)
    assert told == pytest.approx(spread, rel=1e-9, abs=1e-12)
    assert design.predicted_covariance(shares) / rows == pytest.approx(spread, rel=1e-9, abs=1e-12)
    by_moments = np.tensordot(shares, design.second_moments(), axes=1) - np.outer(shares, shares)
    assert by_moments == pytest.approx(design.predicted_covariance(shares), abs=1e-12)
    assert design.variances(shares) == pytest.approx(np.diag(by_moments), abs=1e-12)


def test_noise_and_sampling_add_up_to_the_covariance_of_the_paper():
    shares, reports = shares_for(SQUARE), 1000
    matrix, inverse, observed = SQUARE.matrix, SQUARE.inverse, SQUARE.matrix @ shares
    noise = inverse @ (np.diag(observed) - matrix @ np.diag(shares) @ matrix.T) @ inverse.T
    expected = np.diag(shares) - np.outer(shares, shares) + noise
    assert SQUARE.predicted_covariance(shares) == pytest.approx(expected)
    counts = np.rint(observed * reports).astype(np.int64)
    assert SQUARE.estimate(counts, reports).covariance * (reports - 1) == pytest.approx(expected)


def test_counts_beyond_2_to_31_are_estimated_exactly():
    shares, reports = shares_for(SQUARE), 10**13
    counts = np.rint(SQUARE.matrix @ shares * reports).astype(np.int64)
    estimate = SQUARE.estimate(counts, reports)
    assert estimate.shares == pytest.approx(shares, abs=1e-12)
    assert estimate.reports == reports


@pytest.mark.parametrize("design", DESIGNS)
def test_none_and_one_report_have_no_covariance(design):
    none = design.estimate(design.zeros(), 0)
    assert (none.shares.shape, none.covariance.shape, none.reports) == ((0,), (0, 0), 0)
    one = design.estimate(design.tally(np.array([1], dtype=np.uint8)), 1)
    assert one.shares == pytest.approx(design.inverse[:, 1])
    assert np.isnan(one.covariance).all()


@pytest.mark.parametrize("design", DESIGNS)
def test_reports_are_counted_by_code_and_forgotten_by_their_sum(design):
    counts = design.tally(np.array([1, 0, 1], dtype=np.uint8))
    assert counts.tolist() == [1, 2, 0]
    assert counts.dtype == design.zeros().dtype == np.int64
    assert design.forget(counts) == 3
    assert design.one_code


@pytest.mark.parametrize("design", DESIGNS)
def test_a_lawful_design_passes(design):
    design.check_law("here")


@pytest.mark.parametrize(
    ("rows", "must"),
    [
        ((("1/2", "1/2"), ("1/2", "1/2")), "must be invertible"),
        ((("1/2", "1/4", "1/4"), ("1/2", "3/4", "3/4")), "must be invertible"),
        ((("1/2", "1/4", "3/8"), ("1/2", "3/4", "5/8")), "must be invertible"),
        (
            (("500000000001/1000000000000", "1/2"), ("499999999999/1000000000000", "1/2")),
            "must be invertible",
        ),
        ((("5/4", "0"), ("-1/4", "1")), "must be a probability"),
        ((("3/4", "1/4"), ("1/4", "4/5")), "must sum to one"),
        ((("3/4", "1/4"), (Fraction(1, 4) + Fraction(1, 2**70), "3/4")), "must sum to one"),
    ],
)
def test_a_matrix_that_is_no_design_is_refused(rows, must):
    with pytest.raises(SpecError, match=rf"^here: .*{must}"):
        Table(rows).check_law("here")


def test_a_matrix_is_multiplied_into_the_axis_that_is_named():
    matrix, table = np.arange(6.0).reshape(2, 3), np.arange(60.0).reshape(4, 3, 5)
    assert along(matrix, table, 1) == pytest.approx(np.einsum("uv,avb->aub", matrix, table))
