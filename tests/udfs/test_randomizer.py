from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from tests.jobs.survey.reported import fresh_rng
from tests.udfs.laws import law_and_supports
from udfs.draws import fresh_draws
from udfs.errors import SpecError
from udfs.mechanisms import MECHANISMS
from udfs.optimized_unary import OptimizedUnaryEncoding
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
    OptimizedUnaryEncoding(2, 1),
    OptimizedUnaryEncoding(3, Decimal("0.5")),
]
PURE = [RandomizedResponse, SubsetSelection, OptimizedUnaryEncoding]
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
    predicted = design.variances(shares) / 3
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
    matrix = np.array(design.law, dtype=float)
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


@pytest.mark.parametrize(
    ("kind", "variance"),
    [(RandomizedResponse, 6.17), (OptimizedUnaryEncoding, 3.75), (SubsetSelection, 3.19)],
)
def test_the_variance_at_16_cells_and_epsilon_1_is_the_published_one(kind, variance):
    share = 1 / 16  # the published figure leaves the sampling of respondents out
    predicted = kind(16, 1).variances(np.full(16, share))
    assert predicted - share * (1 - share) == pytest.approx(variance, abs=0.005)


def test_a_share_with_hardly_any_noise_has_the_variance_of_a_sample():
    assert RandomizedResponse(3, 40).variances(np.array([0.3, 0.7, 0.0]))[0] == pytest.approx(0.21)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.label)
def test_the_estimate_of_no_reports_is_empty(design):
    estimate = design.estimate(design.zeros(), 0)
    assert (estimate.shares.shape, estimate.covariance.shape, estimate.reports) == ((0,), (0, 0), 0)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.label)
def test_one_report_has_shares_and_no_covariance(design):
    _, supports = law_and_supports(design)
    estimate = design.estimate(supports[0], 1)
    assert estimate.shares == pytest.approx(own_estimates(design)[0])
    assert np.isnan(estimate.covariance).all()


@pytest.mark.parametrize("design", [one for one in DESIGNS if not isinstance(one, OptimizedUnaryEncoding)])
def test_shares_sum_to_one_where_all_reports_support_as_many_cells(design):
    _, supports = law_and_supports(design)
    for report in supports:
        assert design.estimate(report, 1).shares.sum() == pytest.approx(1)


def own_estimates(design):
    """Return each report's own estimate, a row a report."""
    _, supports = law_and_supports(design)
    p, q = design.support_if_true, design.support_if_false
    return np.array([[float((int(held) - q) / (p - q)) for held in report] for report in supports])


def features_of(design):
    """Return each report's features, a row a report."""
    _, supports = law_and_supports(design)
    constant = np.ones((len(supports), 0 if design.one_code else 1))
    return np.hstack([supports, constant])


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.label)
def test_observed_features_are_those_of_the_law(design):
    law, _ = law_and_supports(design)
    expected = features_of(design).T @ np.array(law, dtype=float)
    assert design.features == len(expected)
    assert design.observe(np.eye(design.cells)) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.label)
def test_features_of_a_report_are_reconstructed_to_its_own_estimate(design):
    features, own = features_of(design).T, own_estimates(design).T
    assert design.reconstruct(features) == pytest.approx(own, rel=1e-12, abs=1e-12)
    assert design.reconstruct_squares(features) == pytest.approx(own**2, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.label)
def test_what_was_observed_is_reconstructed_along_any_axis(design):
    rng, seed = fresh_rng()
    table = rng.normal(size=(2, design.cells, 3))
    there_and_back = design.reconstruct(design.observe(table, 1), 1)
    assert there_and_back == pytest.approx(table, rel=1e-9, abs=1e-9), seed
    first = design.observe(np.moveaxis(table, 1, 0))
    assert design.observe(table, 1) == pytest.approx(np.moveaxis(first, 0, 1), rel=1e-12), seed
    assert design.observe(table, -2) == pytest.approx(design.observe(table, 1), rel=1e-12), seed


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.label)
def test_a_gradient_is_pulled_back_by_the_transpose(design):
    matrix = design.reconstruct(np.eye(design.features))
    rng, seed = fresh_rng()
    gradient = rng.normal(size=(2, design.cells))
    assert design.pull_back(gradient, 1) == pytest.approx(gradient @ matrix, rel=1e-9, abs=1e-12), seed


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.label)
def test_to_forget_an_attribute_leaves_the_features_of_the_others(design):
    features, others = features_of(design), np.array([[1, 0, 2]] * len(features_of(design)))
    table = np.einsum("ri,rj->ij", features, others)
    assert design.forget(table).tolist() == others.sum(axis=0).tolist()
    assert design.forget(table.T, 1).tolist() == others.sum(axis=0).tolist()


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.label)
def test_second_moments_are_those_of_the_law(design):
    law, _ = law_and_supports(design)
    own = own_estimates(design)
    expected = np.einsum("rv,ri,rj->vij", np.array(law, dtype=float), own, own)
    assert design.second_moments() == pytest.approx(expected, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.label)
def test_the_predicted_covariance_is_that_of_one_report(design):
    law, _ = law_and_supports(design)
    shares = np.array(shares_for(design), dtype=float)
    own, chances = own_estimates(design), np.array(law, dtype=float) @ shares
    expected = np.einsum("r,ri,rj->ij", chances, own - shares, own - shares)
    predicted = design.predicted_covariance(shares)
    assert predicted == pytest.approx(expected, rel=1e-9, abs=1e-11)
    by_moments = np.tensordot(shares, design.second_moments(), axes=1) - np.outer(shares, shares)
    assert predicted == pytest.approx(by_moments, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("kind", PURE)
def test_more_than_2_to_31_reports_are_estimated_exactly(kind):
    design, reports = kind(3, 1), 9 * 2**40
    shares = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    p, q = design.support_if_true, design.support_if_false
    counts = np.array([round(reports * (q + (p - q) * share)) for share in shares], dtype=np.int64)
    assert counts.max() > 2**31
    estimate = design.estimate(counts, reports)
    assert estimate.shares == pytest.approx([float(share) for share in shares], abs=1e-12)
    predicted = design.predicted_covariance(np.array(shares, dtype=float))
    assert estimate.covariance == pytest.approx(predicted / reports, rel=1e-9)


@pytest.mark.parametrize("kind", MECHANISMS.values())
def test_a_design_travels_as_its_parameters_alone(kind):
    design = kind(12, 3)
    bare = pickle.dumps(design)
    design.predicted_covariance(np.full(12, 1 / 12))
    assert pickle.dumps(design) == bare
    again = pickle.loads(bare)
    assert (again, again.label, again.thresholds()) == (design, design.label, design.thresholds())


@pytest.mark.parametrize("kind", MECHANISMS.values())
def test_a_column_of_reports_is_one_of_codes_where_a_report_is_one_code(kind):
    design = kind(5, 3)
    coded = pa.types.is_dictionary(design.report_type(tuple("abcde")))
    assert design.one_code is coded


@pytest.mark.parametrize("kind", PURE)
def test_a_pure_randomizer_uses_its_epsilon_up(kind):
    design = kind(5, Decimal("1.5"))
    assert design.true_epsilon == Decimal("1.5")
    assert float(design.largest_ratio) == pytest.approx(math.exp(1.5), rel=1e-15)


@pytest.mark.parametrize("kind", PURE)
@pytest.mark.parametrize("epsilon", ["1e-6", "44", "1000"])
def test_extreme_epsilons_give_reports(kind, epsilon):
    design, answers = kind(6, Decimal(epsilon)), np.arange(60, dtype=np.uint8) % 6
    counts = design.tally(design.randomize(answers, fresh_draws(60)))
    assert np.isfinite(design.estimate(counts, 60).covariance).all()


@pytest.mark.parametrize("kind", MECHANISMS.values())
@pytest.mark.parametrize("cells", [1, 0, -3, True, 2.0, "3", None])
def test_fewer_than_two_cells_are_refused(kind, cells):
    with pytest.raises(SpecError, match="needs at least two cells"):
        kind(cells, 1)


@pytest.mark.parametrize("kind", PURE)
@pytest.mark.parametrize("cells", [2, 3, 64])
def test_an_epsilon_too_small_to_estimate_anything_is_refused(kind, cells):
    for epsilon in ("1e-18", "1e-14"):
        with pytest.raises(SpecError, match="its design must be invertible; got epsilon 1E-"):
            kind(cells, Decimal(epsilon))
    assert 1 < kind(cells, Decimal("1e-10")).largest_ratio < 1 + Fraction(1, 10**9)


@pytest.mark.parametrize(("codes", "bits"), [(1, 8), (127, 8), (128, 16), (32_767, 16), (32_768, 32)])
def test_codes_have_room_to_be_turned_round_once(codes, bits):
    assert code_dtype(codes) == np.dtype(f"u{bits // 8}")
