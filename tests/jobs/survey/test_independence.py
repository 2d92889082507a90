from __future__ import annotations

import itertools
import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from jobs.survey.independence import (
    IndependenceTest,
    _residual_gradients,
    _under_independence,
    independence_test,
)
from jobs.survey.margin import Margin
from jobs.survey.measures import phi_squared
from jobs.survey.reconstruct import Axis, Sample, TableEstimate
from tests.jobs.survey.reported import IDENTITY, Response, Survey, exact, fresh_rng, independent
from udfs.design import Counts, Shares
from udfs.optimized_unary import OptimizedUnaryEncoding

REPORTS = 20_000


# ---- power ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("joint", [False, True])
def test_a_planted_dependence_is_found(joint: bool, missing: float) -> None:
    table = 0.7 * independent(3, 3) + 0.3 * np.diag(independent(3, 3).sum(axis=1))
    survey = Survey(table, 4.0, joint, missing)
    assert independence_test(survey.predicted(REPORTS)).p_value < 1e-12
    rng, seed = fresh_rng()
    found = [independence_test(survey.margin(counts)).p_value for counts in survey.draw(rng, REPORTS, 20)]
    assert max(found) < 0.001, seed


def test_a_rare_category_hides_no_dependence_of_others() -> None:
    """Over the root of its margin, a rare row's noise would drown all else."""
    frequent = independent(2, 3) * 0.998 + np.array([[0.03, -0.03, 0], [-0.03, 0.03, 0]])
    table = np.vstack([frequent, np.full(3, 0.002 / 3)])
    for missing in (0.0, 0.2):
        survey = Survey(table, 2.0, True, missing)
        assert independence_test(survey.predicted(REPORTS)).p_value < 1e-4


# ---- the table of reports ---------------------------------------------------------------------------


def test_reports_of_attributes_randomized_alone_are_tested_as_they_are() -> None:
    survey = Survey(independent(4, 3), 3.0)
    rng, seed = fresh_rng()
    (counts,) = survey.draw(rng, 500, 1)
    expected = chi2_contingency(counts, correction=False)
    for of in (("a", "b"), ("b", "a")):
        found = independence_test(survey.margin(counts, of))
        assert found.of == of
        assert found.method == "pearson"
        assert found.statistic == pytest.approx(expected.statistic), seed
        assert found.degrees_of_freedom == 6
        assert found.p_value == pytest.approx(expected.pvalue), seed


def test_other_attributes_are_summed_over() -> None:
    shares = np.einsum("i,j,k->ijk", [0.2, 0.8], [0.3, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4])
    survey = Survey(shares, 3.0)
    rng, seed = fresh_rng()
    (counts,) = survey.draw(rng, 500, 1)
    expected = chi2_contingency(counts.sum(axis=1).T, correction=False)
    found = independence_test(survey.margin(counts, ("c", "a")))
    assert found.statistic == pytest.approx(expected.statistic), seed
    assert found.degrees_of_freedom == 3


def test_reports_that_nobody_gave_count_no_degrees_of_freedom() -> None:
    counts = np.array([[10, 0, 5], [0, 0, 0], [4, 0, 9]])
    found = independence_test(Survey(independent(3, 3), IDENTITY).margin(counts))
    expected = chi2_contingency(counts[[0, 2]][:, [0, 2]], correction=False)
    assert found.degrees_of_freedom == 1
    assert found.p_value == pytest.approx(expected.pvalue)


# ---- the reconstructed table ------------------------------------------------------------------------


def test_without_noise_the_correction_is_pearsons_test() -> None:
    """Of two by two cells all are the same; of more the estimated covariance is that of dependent shares."""
    counts = np.array([[40, 21], [30, 35]])
    survey = Survey(counts / counts.sum(), IDENTITY, joint=True)
    found = independence_test(survey.margin(counts.ravel()))
    assert found.method == "rao-scott"
    assert found.degrees_of_freedom == pytest.approx(1)
    expected = chi2_contingency(counts, correction=False)
    dependence = abs(found.statistic / expected.statistic - 1)
    assert dependence < 5 * expected.statistic / counts.sum()


def test_the_order_of_attributes_does_not_matter() -> None:
    survey = Survey(0.5 * independent(3, 4) + 0.5 / 12, 3.0, joint=True)
    rng, seed = fresh_rng()
    (counts,) = survey.draw(rng, 2000, 1)
    found = independence_test(survey.margin(counts))
    turned = independence_test(survey.margin(counts, ("b", "a")))
    assert turned.p_value == pytest.approx(found.p_value), seed
    assert turned.degrees_of_freedom == pytest.approx(found.degrees_of_freedom), seed


def weighted(shares: Shares, survey: Survey, reports: int, degrees: float) -> TableEstimate:
    sample = Sample(shares, shares.copy(), reports, degrees, float(reports), reports, 1.0)
    return TableEstimate(survey.axes, (sample,), np.ones(1))


def test_weighted_reports_are_worth_their_effective_number() -> None:
    survey = Survey(0.9 * independent(3, 3) + 0.1 / 9, 4.0)
    law = survey.law() / survey.law().sum()
    of_weighted = independence_test(Margin(weighted(law, survey, 2000, 1600.0), ("a", "b"), (False, False)))
    assert of_weighted.method == "rao-scott"
    counted = TableEstimate(
        survey.axes, (Sample(law, law.copy(), 1601, 1600.0, 1601.0, 1601, 1.0),), np.ones(1)
    )
    of_fewer = independence_test(Margin(counted, ("a", "b"), (False, False)))
    assert of_weighted.p_value == pytest.approx(of_fewer.p_value, rel=1e-12)
    of_all = independence_test(Margin(weighted(law, survey, 2000, 1999.0), ("a", "b"), (False, False)))
    assert of_all.p_value < of_weighted.p_value


def test_strata_are_tested_together_by_the_reconstructed_table() -> None:
    survey = Survey(0.9 * independent(3, 3) + 0.1 / 9, 4.0)
    sample = survey.predicted(2000).table.samples[0]
    halves = TableEstimate(survey.axes, (sample, sample), np.array([0.5, 0.5]))
    found = independence_test(Margin(halves, ("a", "b"), (False, False)))
    assert found.method == "rao-scott"
    # Two strata of 2,000 with the same reports have half the variance of one.
    observed = sample.observed.copy()
    whole = replace(sample, squares=observed, reports=2 * sample.reports, effective=2 * sample.effective)
    one = TableEstimate(survey.axes, (whole,), np.ones(1))
    assert found.p_value == pytest.approx(independence_test(Margin(one, ("a", "b"), (False, False))).p_value)


def test_a_finite_population_makes_no_difference() -> None:
    survey = Survey(0.9 * independent(3, 3) + 0.1 / 9, 4.0, joint=True)
    margin = survey.predicted(2000)
    finite = replace(margin, table=replace(margin.table, sizes=(2500,)))
    assert independence_test(finite) == independence_test(margin)


def test_a_question_asked_with_another_is_no_question_asked_alone() -> None:
    axes = (Axis(("a",), (2,), Response(2, 1.0)), Axis(("b", "c"), (2, 2), Response(4, 1.0)))
    counts = np.array([[30, 20, 25, 25], [20, 30, 25, 25]])
    margin = Margin(TableEstimate.of(counts, axes), ("a", "b"), (False, False))
    assert independence_test(margin).method == "rao-scott"


# ---- where nothing can be said ----------------------------------------------------------------------


def assert_silent(found: IndependenceTest) -> None:
    assert math.isnan(found.statistic)
    assert math.isnan(found.degrees_of_freedom)
    assert math.isnan(found.p_value)
    assert found.note is not None


@pytest.mark.parametrize("joint", [False, True])
def test_of_nobody_and_of_one_and_of_all_alike_nothing_is_said(joint: bool) -> None:
    for answers in (0, 1, 50):
        survey = Survey(independent(3, 2), IDENTITY, joint)
        counts = np.zeros((3, 2), dtype=np.int64)
        counts[1, 1] = answers
        assert_silent(independence_test(survey.margin(counts.reshape(survey.law().shape))))


def test_where_too_few_answered_nothing_is_said() -> None:
    assert_silent(independence_test(Survey(independent(2, 2), 1.0, missing=0.98).predicted(500)))


def test_a_category_that_nobody_has_does_not_decide() -> None:
    shares = np.zeros((3, 3))
    shares[:2, :2] = independent(2, 2)
    for joint in (False, True):
        survey = Survey(shares, IDENTITY, joint, missing=0.0 if joint else 0.2)
        found = independence_test(survey.predicted(REPORTS))
        assert found.method == "rao-scott"
        assert found.degrees_of_freedom == pytest.approx(1)
        assert found.p_value > 0.9


# ---- what noise alone would do ----------------------------------------------------------------------


@pytest.mark.parametrize("of", [("a", "b"), ("b", "a"), ("c", "a")])
def test_of_attributes_asked_alone_residuals_variances_are_products(of: tuple[str, str]) -> None:
    """Against the delta method with each residual's own gradient."""
    shares = np.einsum("i,j,k->ijk", [0.2, 0.8], [0.3, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4])
    margin = Survey(0.8 * shares + 0.2 * shares[::-1, :, ::-1], 9.0).predicted(10**7).table
    found, expected = _under_independence(Margin(margin, of, (False, False)))
    rows, columns = (
        expected.reshape(Margin(margin, of, (False, False)).raw.shape).sum(axis=one) for one in (1, 0)
    )
    gradients = _residual_gradients(rows, columns)
    general = Margin(margin, of, (False, False)).variances_at(np.outer(rows, columns), gradients)
    assert found == pytest.approx(general, rel=1e-8)


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_residuals_variances_are_those_of_the_dense_covariance(joint: bool, missing: float) -> None:
    """The reference: the Kronecker product of the residuals' derivative, around the covariance of all cells."""
    margin = Survey(independent(3, 4), 6.0, joint, missing).predicted(10**8)
    rows, columns = (margin.proportions.sum(axis=one) for one in (1, 0))
    jacobian = np.kron(np.eye(3) - rows[:, None], np.eye(4) - columns[:, None])
    unit = np.eye(12).reshape(-1, 3, 4)
    shares = margin.table.shares.copy()
    inside = shares[: -1 if missing else None, : -1 if missing else None]
    inside[...] = np.outer(rows, columns) * inside.sum()
    ratio = np.zeros((12, *shares.shape))
    centred = unit - np.outer(rows, columns).ravel()[:, None, None] if missing else unit
    ratio[:, : inside.shape[0], : inside.shape[1]] = centred / inside.sum()
    dense = margin.table.at(shares).covariance(ratio)
    found, _ = _under_independence(margin)
    assert found == pytest.approx(np.diag(jacobian @ dense @ jacobian.T), rel=1e-6)


def exact_p_value(counts: Counts) -> float:
    """Return Fisher's p-value of a table of two rows: that of all tables of its margins with such a chi-square."""
    (first, _), columns = counts.sum(axis=1), counts.sum(axis=0)
    observed, p_value = counts.sum() * phi_squared(counts / counts.sum())[0], 0.0
    for top in itertools.product(*(range(column + 1) for column in columns)):
        if sum(top) == first:
            table = np.array([top, columns - top])
            chance = math.prod(map(math.comb, columns.tolist(), top)) / math.comb(columns.sum(), first)
            p_value += chance * (counts.sum() * phi_squared(table / counts.sum())[0] >= observed * (1 - 1e-9))
    return p_value


@pytest.mark.parametrize("counts", [[[5, 1, 0], [1, 3, 4]], [[9, 0, 1], [4, 2, 3]], [[2, 0], [1, 30]]])
def test_few_reports_are_tested_by_tables_of_the_same_margins(counts: list[list[int]]) -> None:
    table = np.array(counts)
    found = independence_test(exact(table))
    told = exact_p_value(table)
    assert found.p_value == pytest.approx(told, abs=6.2 * math.sqrt(told * (1 - told) / 9_999))
    assert found.p_value == independence_test(exact(table)).p_value
    assert found.note is not None
    assert "fewer than 5 reports" in found.note


def test_many_reports_in_every_cell_are_left_to_the_chi_square_law() -> None:
    assert independence_test(exact(np.full((3, 3), 5))).note is None


def test_sets_whose_shares_do_not_sum_to_one_can_still_be_independent() -> None:
    design = OptimizedUnaryEncoding(3, Decimal(2))
    axes = tuple(Axis((name,), (3,), design) for name in "ab")
    supports = np.array([5_200, 3_000, 2_500, 10_000])  # more than such sets hold on average
    table = TableEstimate.of(np.outer(supports, supports), axes)
    assert abs(table.shares.sum() - 1) > 0.1
    assert independence_test(Margin(table, ("a", "b"), (False, False))).p_value > 0.99
