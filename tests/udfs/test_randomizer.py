from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tests.udfs.laws import law_and_supports
from udfs.errors import SpecError
from udfs.randomized_response import RandomizedResponse
from udfs.randomizer import code_dtype
from udfs.subset_selection import SubsetSelection

DESIGNS = [
    RandomizedResponse(2, 1),
    RandomizedResponse(3, Decimal("0.5")),
    RandomizedResponse(4, 2),
    SubsetSelection(4, Decimal("0.1")),
    SubsetSelection(5, Decimal("0.5")),
    SubsetSelection(2, 1),
]
SHARES = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6), Fraction(0), Fraction(0)]


def shares_for(design):
    """Return true shares of a design's cells."""
    shares = SHARES[: design.cells]
    return [*shares[:-1], 1 - sum(shares[:-1])]


def every_estimate(design, chances_of_rows):
    """Yield the probability and the estimate of every outcome of some rows, each with its law."""
    _, supports = law_and_supports(design)
    rows = len(chances_of_rows)
    for outcome in product(range(len(supports)), repeat=rows):
        probability = np.prod([chances_of_rows[row][report] for row, report in enumerate(outcome)])
        yield probability, design.estimate(supports[list(outcome)].sum(axis=0), rows)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.label)
def test_the_estimate_inverts_the_law_exactly(design):
    law, supports = law_and_supports(design)
    shares = shares_for(design)
    reported = [sum(p * share for p, share in zip(row, shares, strict=True)) for row in law]
    p, q = design.support_if_true, design.support_if_false
    for cell, share in enumerate(shares):
        observed = sum(chance for chance, held in zip(reported, supports, strict=True) if held[cell])
        assert (observed - q) / (p - q) == share


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.label)
def test_shares_and_covariance_are_unbiased_over_all_samples(design):
    law, _ = law_and_supports(design)
    shares = np.array(shares_for(design), dtype=float)
    chances = np.array(law, dtype=float) @ shares
    outcomes = list(every_estimate(design, [chances] * 3))
    mean = sum(probability * estimate.shares for probability, estimate in outcomes)
    spread = sum(
        probability * np.outer(estimate.shares - shares, estimate.shares - shares)
        for probability, estimate in outcomes
    )
    covariance = sum(probability * estimate.covariance for probability, estimate in outcomes)
    assert mean == pytest.approx(shares, abs=1e-11)
    assert covariance == pytest.approx(spread, rel=1e-9, abs=1e-11)
    predicted = [design.predicted_variance(share) / 3 for share in shares]
    assert predicted == pytest.approx(np.diag(spread), rel=1e-9)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.label)
def test_shares_are_unbiased_for_the_very_people_asked(design):
    law, _ = law_and_supports(design)
    columns = np.array(law, dtype=float).T
    answers = [0, 1, 1]
    outcomes = every_estimate(design, [columns[answer] for answer in answers])
    mean = sum(probability * estimate.shares for probability, estimate in outcomes)
    assert mean == pytest.approx(np.bincount(answers, minlength=design.cells) / 3, abs=1e-11)


def test_the_covariance_of_randomized_response_is_that_of_the_paper():
    design, shares, reports = RandomizedResponse(3, 1), np.array([0.5, 0.3, 0.2]), 10
    matrix = np.array(design.law(), dtype=float)
    inverse = np.linalg.inv(matrix)
    observed = matrix @ shares
    noise = inverse @ (np.diag(observed) - matrix @ np.diag(shares) @ matrix.T) @ inverse.T
    expected = (np.diag(shares) - np.outer(shares, shares) + noise) / reports
    unbiased = design.estimate(observed * reports, reports).covariance * (reports - 1) / reports
    assert unbiased == pytest.approx(expected, rel=1e-9)


def test_the_variance_of_two_cells_is_warners():
    design = RandomizedResponse(2, 1)
    p, observed = float(design.support_if_true), 0.3
    estimate = design.estimate(np.array([70, 30]), 100)
    expected = observed * (1 - observed) / (99 * (2 * p - 1) ** 2)
    assert estimate.covariance == pytest.approx(np.array([[1, -1], [-1, 1]]) * expected)


@pytest.mark.parametrize(("kind", "variance"), [(RandomizedResponse, 6.17), (SubsetSelection, 3.19)])
def test_the_variance_at_16_cells_and_epsilon_1_is_the_published_one(kind, variance):
    share = 1 / 16  # the published figure leaves the sampling of respondents out
    assert kind(16, 1).predicted_variance(share) - share * (1 - share) == pytest.approx(variance, abs=0.005)


def test_a_share_with_hardly_any_noise_has_the_variance_of_a_sample():
    assert RandomizedResponse(3, 40).predicted_variance(0.3) == pytest.approx(0.21)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.label)
def test_the_estimate_of_no_reports_is_empty(design):
    estimate = design.estimate(design.zeros(), 0)
    assert (estimate.shares.shape, estimate.covariance.shape, estimate.reports) == ((0,), (0, 0), 0)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.label)
def test_one_report_has_shares_and_no_covariance(design):
    _, supports = law_and_supports(design)
    estimate = design.estimate(supports[0], 1)
    assert estimate.shares.sum() == pytest.approx(1)
    assert np.isnan(estimate.covariance).all()


@pytest.mark.parametrize("kind", [RandomizedResponse, SubsetSelection])
@pytest.mark.parametrize("cells", [1, 0, -3, True, 2.0, "3", None])
def test_fewer_than_two_cells_are_refused(kind, cells):
    with pytest.raises(SpecError, match="needs at least two cells"):
        kind(cells, 1)


@pytest.mark.parametrize("kind", [RandomizedResponse, SubsetSelection])
@pytest.mark.parametrize("cells", [2, 3, 64])
def test_an_epsilon_too_small_to_estimate_anything_is_refused(kind, cells):
    for epsilon in ("1e-18", "1e-14"):
        with pytest.raises(SpecError, match="its design must be invertible; got epsilon 1E-"):
            kind(cells, Decimal(epsilon))
    assert 1 < kind(cells, Decimal("1e-10")).largest_ratio < 1 + Fraction(1, 10**9)


@pytest.mark.parametrize(("codes", "bits"), [(1, 8), (127, 8), (128, 16), (32_767, 16), (32_768, 32)])
def test_codes_have_room_to_be_turned_round_once(codes, bits):
    assert code_dtype(codes) == np.dtype(f"u{bits // 8}")
