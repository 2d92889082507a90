from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.errors import SchemaError
from udfs.logistic import Factor, LogisticSums, Numeric, combine, design_matrix, logistic_sums, term_names

Floats = npt.NDArray[np.float64]

WARNER = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
FORCED = ((Fraction(5, 6), Fraction(1, 6)), (Fraction(1, 6), Fraction(5, 6)))
KUK_TWICE = (
    (Fraction(16, 25), Fraction(1, 25)),
    (Fraction(8, 25), Fraction(8, 25)),
    (Fraction(1, 25), Fraction(16, 25)),
)
MANGAT = ((Fraction(2, 5), Fraction(0)), (Fraction(3, 5), Fraction(1)))
DIRECT = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
LAWS = [WARNER, FORCED, KUK_TWICE, MANGAT, DIRECT]

every_law = pytest.mark.parametrize("law", LAWS, ids=["warner", "forced", "kuk twice", "mangat", "direct"])
fields = ("log_likelihood", "score", "information", "observed", "outer", "rows", "weight")


def floats(law: Any) -> Floats:
    """Return a law of fractions as floats."""
    return np.array(law, dtype=np.float64)


def sample(
    seed: int, rows: int, law: Floats, terms: int = 3
) -> tuple[Floats, npt.NDArray[np.uint8], Floats, Floats]:
    """Return features, reports of any kind that has a chance, coefficients and weights."""
    generator = np.random.default_rng(seed)
    features = np.column_stack([np.ones(rows), generator.normal(size=(rows, terms - 1))])
    reports = generator.integers(0, len(law), rows).astype(np.uint8)
    return features, reports, generator.normal(size=terms), generator.uniform(0, 3, rows)


def assert_same(found: LogisticSums, expected: LogisticSums, tolerance: float) -> None:
    for field in fields:
        np.testing.assert_allclose(
            getattr(found, field), getattr(expected, field), rtol=tolerance, atol=tolerance, err_msg=field
        )


@every_law
@given(exponent=st.integers(-1000, 1000))
def test_one_row_is_as_in_fractions_however_large_the_log_odds(law: Any, exponent: int) -> None:
    pi = Fraction(2) ** exponent / (1 + Fraction(2) ** exponent)
    beta = np.array([exponent * math.log(2)])
    chances = [a * (1 - pi) + b * pi for a, b in law]
    scores = [(b - a) * pi * (1 - pi) / f for (a, b), f in zip(law, chances, strict=True)]
    information = sum(f * s**2 for f, s in zip(chances, scores, strict=True))
    for report, (chance, score) in enumerate(zip(chances, scores, strict=True)):
        found = logistic_sums(np.ones((1, 1)), np.array([report]), floats(law), beta)
        log_chance = math.log(chance.numerator) - math.log(chance.denominator)
        assert found.log_likelihood == pytest.approx(log_chance, rel=1e-12, abs=1e-12)
        assert found.score[0] == pytest.approx(float(score), rel=1e-12, abs=0)
        assert found.outer[0, 0] == pytest.approx(float(score**2), rel=1e-12, abs=0)
        assert found.information[0, 0] == pytest.approx(float(information), rel=1e-12, abs=0)


@every_law
@pytest.mark.parametrize("eta", [-1e6, 1e6])
def test_beyond_the_reach_of_exp_the_limits_hold(law: Any, eta: float) -> None:
    for report, (a, b) in enumerate(law):
        found = logistic_sums(np.ones((1, 1)), np.array([report]), floats(law), np.array([eta]))
        likely, unlikely = (b, a) if eta > 0 else (a, b)
        expected = math.log(likely) if likely else math.log(unlikely) - abs(eta)
        assert found.log_likelihood == pytest.approx(expected, rel=1e-15)
        assert found.score[0] == pytest.approx(0 if likely else -math.copysign(1, eta), abs=1e-300)
        assert found.information[0, 0] == pytest.approx(0, abs=1e-300)


@every_law
@given(seed=st.integers(0, 2**32 - 1))
def test_score_and_observed_information_are_the_derivatives(law: Any, seed: int) -> None:
    features, reports, beta, weights = sample(seed, 8, floats(law))
    at = partial(logistic_sums, features, reports, floats(law), weights=weights)
    found, step = at(beta), 1e-5
    for term, shift in enumerate(step * np.eye(len(beta))):
        above, below = at(beta + shift), at(beta - shift)
        rise = (above.log_likelihood - below.log_likelihood) / (2 * step)
        assert found.score[term] == pytest.approx(rise, rel=1e-6, abs=1e-7)
        np.testing.assert_allclose(
            found.observed[term], (below.score - above.score) / (2 * step), rtol=1e-6, atol=1e-7
        )


@every_law
def test_over_all_reports_the_score_has_mean_zero_and_the_information_for_covariance(law: Any) -> None:
    rows, matrix = 3, floats(law)
    features, _, beta, _ = sample(5, rows, matrix, terms=2)
    pi = 1 / (1 + np.exp(-features @ beta))
    chances = np.outer(1 - pi, matrix[:, 0]) + np.outer(pi, matrix[:, 1])  # (rows, reports)
    total, score, squared, outer, observed = (
        0.0,
        np.zeros(2),
        np.zeros((2, 2)),
        np.zeros((2, 2)),
        np.zeros((2, 2)),
    )
    for reports in itertools.product(range(len(law)), repeat=rows):
        chance = math.prod(chances[range(rows), reports])
        found = logistic_sums(features, np.array(reports), matrix, beta)
        total += chance
        score += chance * found.score
        squared += chance * np.outer(found.score, found.score)
        outer += chance * found.outer
        observed += chance * found.observed
    assert total == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(score, 0, atol=1e-14)
    for expected in (squared, outer, observed):
        np.testing.assert_allclose(found.information, expected, atol=1e-14)


def test_with_an_identity_for_law_it_is_ordinary_logistic_regression() -> None:
    features, reports, beta, weights = sample(6, 50, np.eye(2))
    pi = 1 / (1 + np.exp(-features @ beta))
    residuals = weights * (reports - pi)
    found = logistic_sums(features, reports, np.eye(2), beta, weights)
    assert found.log_likelihood == pytest.approx(
        weights @ np.log(np.where(reports == 1, pi, 1 - pi)), rel=1e-13
    )
    np.testing.assert_allclose(found.score, features.T @ residuals, rtol=1e-12)
    np.testing.assert_allclose(
        found.information, (features.T * weights * pi * (1 - pi)) @ features, rtol=1e-12
    )
    np.testing.assert_allclose(found.observed, found.information, rtol=1e-12)
    np.testing.assert_allclose(found.outer, (features.T * residuals**2) @ features, rtol=1e-12)


@every_law
@given(seed=st.integers(0, 2**32 - 1), cuts=st.lists(st.integers(0, 200), max_size=8))
def test_any_cutting_into_blocks_gives_the_sums_of_one_block(law: Any, seed: int, cuts: list[int]) -> None:
    features, reports, beta, weights = sample(seed, 200, floats(law))
    edges = [0, *sorted(cuts), 200]
    blocks = [
        logistic_sums(features[low:high], reports[low:high], floats(law), beta, weights[low:high])
        for low, high in itertools.pairwise(edges)
    ]
    whole = logistic_sums(features, reports, floats(law), beta, weights)
    assert_same(combine(blocks, 3), whole, 1e-12)
    assert_same(combine(reversed(blocks), 3), whole, 1e-12)


def test_no_rows_are_neutral() -> None:
    features, reports, beta, _ = sample(7, 20, floats(WARNER))
    some = logistic_sums(features, reports, floats(WARNER), beta)
    nothing = logistic_sums(features[:0], reports[:0], floats(WARNER), beta)
    assert_same(nothing, LogisticSums.zeros(3), 0)
    assert_same(combine([], 3), nothing, 0)
    assert_same(some + nothing, some, 0)
    assert_same(nothing + some, some, 0)


@pytest.mark.parametrize("count", [3, 2**33])
def test_a_weight_counts_a_row_so_often_but_for_the_sandwich(count: int) -> None:
    features, reports, beta, _ = sample(8, 20, floats(FORCED))
    once = logistic_sums(features, reports, floats(FORCED), beta)
    often = logistic_sums(features, reports, floats(FORCED), beta, np.full(20, float(count)))
    expected = LogisticSums(
        once.log_likelihood * count,
        once.score * count,
        once.information * count,
        once.observed * count,
        once.outer * count**2,
        20,
        20.0 * count,
    )
    for field in fields:
        np.testing.assert_allclose(getattr(often, field), getattr(expected, field), rtol=1e-12, err_msg=field)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_weights_that_are_none_are_refused(bad: float) -> None:
    features, reports, beta, weights = sample(9, 20, floats(WARNER))
    weights[3] = bad
    with pytest.raises(SchemaError) as refused:
        logistic_sums(features, reports, floats(WARNER), beta, weights)
    assert (refused.value.where, refused.value.got) == ("weights", "1 of 20 rows that are not so")


def test_a_report_that_no_answer_leads_to_is_refused() -> None:
    law = np.array([[0.5, 0.25], [0.5, 0.75], [0.0, 0.0]])
    features = np.ones((4, 1))
    found = logistic_sums(features, np.array([0, 1, 1, 0]), law, np.zeros(1))
    assert_same(found, logistic_sums(features, np.array([0, 1, 1, 0]), law[:2], np.zeros(1)), 0)
    with pytest.raises(SchemaError) as refused:
        logistic_sums(features, np.array([0, 2, 1, 2]), law, np.zeros(1))
    assert (refused.value.where, refused.value.got) == ("reports", "2 of 4 rows that are not so")


PREDICTORS = (Numeric("income"), Factor("region", ("north", "south", "west")), Factor("urban", (False, True)))


def test_columns_become_an_intercept_numbers_and_dummies() -> None:
    columns = [
        np.array([10, 20, 30]),
        np.array([2, 0, 1], dtype=np.uint8),
        np.array([0, 1, 1], dtype=np.uint8),
    ]
    assert term_names(PREDICTORS) == ("intercept", "income", "region=south", "region=west", "urban=True")
    features = design_matrix(PREDICTORS, columns, 3)
    assert features.dtype == np.float64
    assert features.tolist() == [[1, 10, 0, 1, 0], [1, 20, 0, 0, 1], [1, 30, 1, 0, 1]]


def test_without_predictors_there_is_an_intercept() -> None:
    assert term_names([]) == ("intercept",)
    assert design_matrix([], [], 2).tolist() == [[1], [1]]
    assert design_matrix(PREDICTORS, [np.empty(0)] * 3, 0).shape == (0, 5)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_refused_and_counted(bad: float) -> None:
    with pytest.raises(SchemaError) as refused:
        design_matrix([Numeric("income")], [np.array([1.0, bad, bad])], 3)
    assert (refused.value.where, refused.value.got) == ("column 'income'", "2 of 3 rows that are not so")
    assert "nan" not in str(refused.value)


def test_codes_of_no_category_are_refused_and_counted() -> None:
    with pytest.raises(SchemaError) as refused:
        design_matrix([Factor("region", ("north", "south"))], [np.array([0, 1, 2], dtype=np.uint8)], 3)
    assert (refused.value.where, refused.value.got) == ("column 'region'", "1 of 3 rows that are not so")
