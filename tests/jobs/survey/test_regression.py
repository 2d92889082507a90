from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import optimize

from jobs.results import encode
from jobs.survey.regression import LogisticFit, fit_logistic
from tests.jobs.survey.regressions import (
    DIRECT,
    WARNER,
    Codes,
    Floats,
    every_law,
    expit,
    fit,
    report,
    typical,
)
from udfs.logistic import LogisticSums, combine, logistic_sums


def reweighted_least_squares(features: Floats, reports: Codes, weights: Floats) -> tuple[Floats, Floats]:
    """Fit ordinary logistic regression; returns coefficients and the inverse information."""
    beta = np.zeros(features.shape[1])
    for _ in range(25):
        pi = expit(features @ beta)
        root = np.sqrt(weights * pi * (1 - pi))
        working = features @ beta + (reports - pi) / (pi * (1 - pi))
        beta = np.linalg.lstsq(features * root[:, np.newaxis], working * root)[0]
    _, triangle = np.linalg.qr(features * root[:, np.newaxis])
    inverse = np.linalg.inv(triangle)
    return beta, inverse @ inverse.T


@pytest.mark.parametrize("weighted", [False, True])
def test_without_randomization_it_is_ordinary_logistic_regression(weighted: bool) -> None:
    features, reports, weights = typical(DIRECT)
    weights = weights if weighted else np.ones(len(reports))
    found = fit(features, reports, DIRECT, weights if weighted else None)
    beta, inverse = reweighted_least_squares(features, reports, weights)
    residuals = weights * (reports - expit(features @ beta))
    sandwich = inverse @ (features.T * residuals**2) @ features @ inverse
    np.testing.assert_allclose(found.estimates, beta, rtol=1e-8)
    np.testing.assert_allclose(found.covariance, sandwich if weighted else inverse, rtol=1e-8)


@every_law
@pytest.mark.parametrize("weighted", [False, True])
def test_a_search_without_derivatives_finds_the_same_maximum(law: Floats, weighted: bool) -> None:
    features, reports, weights = typical(law)
    weights = weights if weighted else np.ones(len(reports))

    def unlikelihood(beta: Floats) -> float:
        pi = expit(features @ beta)
        return -float(weights @ np.log(law[reports, 0] * (1 - pi) + law[reports, 1] * pi))

    found = fit(features, reports, law, weights if weighted else None)
    searched = optimize.minimize(
        unlikelihood, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11}
    )
    assert found.log_likelihood == pytest.approx(-unlikelihood(found.estimates), rel=1e-12)
    assert unlikelihood(found.estimates) <= searched.fun + 1e-9
    np.testing.assert_allclose(found.estimates, searched.x, atol=1e-4 * found.standard_errors.min())


@pytest.mark.parametrize("weighted", [False, True])
def test_the_covariance_is_the_inverse_information_or_the_sandwich(weighted: bool) -> None:
    features, reports, weights = typical(WARNER)
    found = fit(features, reports, WARNER, weights, weighted)
    sums = logistic_sums(features, reports, WARNER, found.estimates, weights)
    bread = np.linalg.inv(sums.observed)
    expected = bread @ sums.outer @ bread if weighted else np.linalg.inv(sums.information)
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-9)
    assert not np.allclose(sums.observed, sums.information, rtol=1e-3)


@pytest.mark.parametrize("seed", [95, 241, 287])  # samples on which Newton's method alone is led astray
def test_a_likelihood_that_is_not_concave_is_climbed_all_the_same(seed: int) -> None:
    generator = np.random.default_rng(seed)
    features = np.column_stack([np.ones(150), generator.normal(size=150), generator.normal(size=150)])
    reports = report(features, np.array([-1.5, 1.2, 0.0]), WARNER, generator)
    found = fit(features, reports, WARNER)
    sums = logistic_sums(features, reports, WARNER, found.estimates)
    np.testing.assert_allclose(sums.score, 0, atol=1e-6)
    assert (np.linalg.eigvalsh(sums.observed) > 0).all()


@pytest.mark.parametrize(
    ("truth", "yes", "rows", "share", "error", "denominator"),
    [
        (5 / 6, 322, 523, 0.673518164, 0.03190544, 523),
        (5 / 6, 216, 523, 0.369502868, 0.03229496, 523),
        (3 / 4, 112, 310, 0.222581, 0.054655, 309),
        (3 / 4, 80, 310, 0.016129, 0.049785, 309),
        (5 / 6, 831, 2435, 0.261910, 0.014416, 2434),
    ],
    ids=["crosswise copied", "crosswise bullied", "crosswise 198", "crosswise 230", "forced response"],
)
def test_an_intercept_alone_gives_published_proportions(
    truth: float, yes: int, rows: int, share: float, error: float, denominator: int
) -> None:
    law = np.array([[truth, 1 - truth], [1 - truth, truth]])
    found = fit(np.ones((rows, 1)), (np.arange(rows) < yes).astype(np.intp), law)
    pi = float(expit(found.estimates)[0])
    assert pi == pytest.approx(share, abs=1e-6)
    of_share = found.standard_errors[0] * pi * (1 - pi) * math.sqrt(rows / denominator)
    assert of_share == pytest.approx(error, abs=1e-6)


def test_a_weighted_intercept_is_the_weighted_mean_of_reports_through_the_design() -> None:
    _, reports, weights = typical(WARNER)
    found = fit(np.ones((len(reports), 1)), reports, WARNER, weights)
    observed = weights @ reports / weights.sum()
    pi = (observed - 0.25) / 0.5
    of_share = math.sqrt(weights**2 @ (reports - observed) ** 2) / weights.sum() / 0.5
    assert found.estimates[0] == pytest.approx(math.log(pi / (1 - pi)), rel=1e-10)
    assert found.standard_errors[0] == pytest.approx(of_share / (pi * (1 - pi)), rel=1e-10)


def test_reports_of_a_factor_alone_are_fitted_group_by_group() -> None:
    groups, reports = (
        np.repeat([0, 1], [400, 600]),
        np.r_[np.arange(400) < 180, np.arange(600) < 330].astype(np.intp),
    )
    found = fit(np.column_stack([np.ones(1000), groups]), reports, WARNER)
    first, second = ((np.array([180 / 400, 330 / 600])) - 0.25) / 0.5
    logits = [math.log(pi / (1 - pi)) for pi in (first, second)]
    np.testing.assert_allclose(found.estimates, [logits[0], logits[1] - logits[0]], rtol=1e-9)


@every_law
@pytest.mark.parametrize("scale", [1e-9, 3.0, 2.0**40])
def test_a_constant_in_all_weights_changes_nothing_but_the_likelihood(law: Floats, scale: float) -> None:
    features, reports, weights = typical(law)
    once, scaled = fit(features, reports, law, weights), fit(features, reports, law, weights * scale)
    np.testing.assert_allclose(scaled.estimates, once.estimates, rtol=1e-9)
    np.testing.assert_allclose(scaled.covariance, once.covariance, rtol=1e-9)
    assert scaled.log_likelihood == pytest.approx(once.log_likelihood * scale, rel=1e-12)
    assert scaled.iterations == once.iterations


@every_law
@pytest.mark.parametrize(
    ("shift", "unit"), [(0.0, 1e5), (0.0, 1e-7), (2020.0, 5.0)], ids=["income", "tiny", "year"]
)
def test_units_and_origins_of_a_column_do_not_matter(law: Floats, shift: float, unit: float) -> None:
    features, reports, _ = typical(law)
    changed = features.copy()
    changed[:, 1] = shift + unit * features[:, 1]
    once, found = fit(features, reports, law), fit(changed, reports, law)
    back = found.estimates * [1, unit, 1] + [shift * found.estimates[1], 0, 0]
    np.testing.assert_allclose(back, once.estimates, rtol=1e-7)
    np.testing.assert_allclose(found.standard_errors[1] * unit, once.standard_errors[1], rtol=1e-7)
    assert found.log_likelihood == pytest.approx(once.log_likelihood, rel=1e-12)


@every_law
def test_few_passes_are_enough_and_blocks_do_as_well_as_one(law: Floats) -> None:
    features, reports, _ = typical(law)
    passes = 0

    def in_blocks(beta: Floats) -> LogisticSums:
        nonlocal passes
        passes += 1
        halves = (slice(0, 1000), slice(1000, None))
        return combine((logistic_sums(features[half], reports[half], law, beta) for half in halves), 3)

    found = fit_logistic(in_blocks, ["intercept", "x1", "x2"], weighted=False)
    np.testing.assert_allclose(found.estimates, fit(features, reports, law).estimates, rtol=1e-9)
    assert found.iterations < passes <= 10
    assert found.rows == 3000


def test_the_document_holds_what_result_json_shows() -> None:
    fitted = LogisticFit(("intercept", "age"), np.array([1.0, -400.0]), np.diag([0.25, 1e6]), -12.5, 4, 90)
    document = fitted.document("smokes")
    assert list(document) == ["outcome", "terms", "log_likelihood", "iterations", "rows"]
    first, second = document["terms"]
    assert (document["outcome"], first["term"], second["term"]) == ("smokes", "intercept", "age")
    assert (first["estimate"], first["standard_error"], first["z"]) == (1.0, 0.5, 2.0)
    assert first["p_value"] == pytest.approx(0.04550026389635842, rel=1e-12)
    np.testing.assert_allclose(first["interval"], [1 - 0.5 * 1.959963984540054, 1 + 0.5 * 1.959963984540054])
    assert first["odds_ratio"] == pytest.approx(math.e)
    np.testing.assert_allclose(first["odds_ratio_interval"], np.exp(first["interval"]))
    assert second["odds_ratio_interval"][1] == math.inf
    assert json.loads(encode(document))["terms"][1]["odds_ratio_interval"][1] is None
