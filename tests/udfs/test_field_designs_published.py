"""Surveys whose numbers were published, through the designs that were used."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from udfs.design import Estimate
from udfs.field_designs import FieldDesign, crosswise, forced_response, kuk, unrelated_question, warner

F = Fraction


def of_yes(design: FieldDesign, yes: int, reports: int) -> Estimate:
    """Estimate from reports of which so many are the second."""
    return design.estimate(np.array([reports - yes, yes]), reports)


def spread(estimate: Estimate, divided_by: int = -1) -> float:
    """Return the standard error of the carriers: divided by n - 1, or by n + 0."""
    scale = (estimate.reports - 1) / (estimate.reports + divided_by)
    return math.sqrt(estimate.covariance[1, 1] * scale)


def finite(design: FieldDesign, estimate: Estimate, population: int) -> npt.NDArray[np.float64]:
    """Return the covariance of a sample without replacement from a finite population of fixed answers.

    (1 - f) cov is the share that sampling has in the dispersion of reports; the noise of those sampled adds
    1/N of its mean, E[x x'] - diag(pi).
    """
    second_moment = np.tensordot(estimate.shares, design.second_moments(), axes=1)
    noise = (second_moment - np.diag(estimate.shares)) / population
    return (1 - estimate.reports / population) * estimate.covariance + noise


@pytest.mark.parametrize(
    ("yes", "alpha", "share", "variance"),
    [(328, "1/12", 0.8406103, 0.001389716), (280, "2/3", 0.1220657, 0.001337415)],
)
def test_unrelated_questions_in_a_finite_population_come_out_as_published(yes, alpha, share, variance):
    n, population = 710, 10777
    design = unrelated_question(".5", alpha)
    estimate = of_yes(design, yes, n)
    assert estimate.shares[1] == pytest.approx(share, abs=5e-8)
    # the published formula, in numbers of one's own
    asked, known = F(1, 2), F(alpha)
    scores = np.repeat(
        [float(-(1 - asked) * known / asked), float((1 - (1 - asked) * known) / asked)], [n - yes, yes]
    )
    published = (1 - n / population) * scores.var(ddof=1) / n + (scores * (scores - 1)).sum() / (
        n * population
    )
    assert published == pytest.approx(variance, abs=5e-10)
    general = finite(design, estimate, population)
    assert general[1, 1] == pytest.approx(published, rel=1e-12)
    assert general == pytest.approx(published * np.array([[1, -1], [-1, 1]]), rel=1e-9)


@pytest.mark.parametrize(
    ("yes", "share", "error"), [(201, 0.673518164, 0.03190544), (307, 0.369502868, 0.03229496)]
)
def test_a_crosswise_survey_divided_by_n_comes_out_as_published(yes, share, error):
    estimate = of_yes(crosswise("2/12"), yes, 523)
    assert estimate.shares[1] == pytest.approx(share, abs=5e-10)
    assert spread(estimate, divided_by=0) == pytest.approx(error, abs=5e-9)


@pytest.mark.parametrize(
    ("yes", "share", "error", "published"),
    [(198, 0.222581, 0.054655, 0.054663), (230, 0.016129, 0.049785, 0.049784)],
)
def test_a_crosswise_survey_divided_by_n_less_one_comes_out_within_a_hundred_thousandth(
    yes, share, error, published
):
    # The published errors are not those of n - 1 to the last digit, and further from those of n.
    estimate = of_yes(crosswise(".25"), yes, 310)
    assert estimate.shares[1] == pytest.approx(share, abs=5e-7)
    assert spread(estimate) == pytest.approx(error, abs=5e-7)
    assert spread(estimate) == pytest.approx(published, abs=1e-5)
    assert abs(spread(estimate, divided_by=0) - published) > 7e-5


def test_a_forced_response_comes_out_as_published():
    estimate = of_yes(forced_response("2/3", "1/6", "1/6"), 831, 2435)
    assert estimate.shares[1] == pytest.approx(0.261910, abs=5e-7)
    assert spread(estimate) == pytest.approx(0.014416, abs=5e-7)


@pytest.mark.parametrize(("p", "ratio"), [(".6", 5.45), (".7", 1.36), (".8", 0.60), (".9", 0.33)])
def test_warners_error_against_that_of_direct_answers_comes_out_as_published(p, ratio):
    carriers, n, truth_of_carriers = 0.6, 1000, 0.95
    noise = warner(p).predicted_covariance(np.array([1 - carriers, carriers]))[1, 1] / n
    said = carriers * truth_of_carriers
    direct = said * (1 - said) / n + (said - carriers) ** 2
    assert noise / direct == pytest.approx(ratio, abs=0.005)


@pytest.mark.parametrize(
    ("design", "epsilon"),
    [(warner(".7"), 0.847), (crosswise(".25"), 1.099), (kuk(".8", ".2"), 1.386)],
    ids=lambda value: value.label if isinstance(value, FieldDesign) else "",
)
def test_epsilons_come_out_as_published(design, epsilon):
    assert float(design.epsilon) == pytest.approx(epsilon, abs=5e-4)
