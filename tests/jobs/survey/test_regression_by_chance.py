from __future__ import annotations

import math
import secrets

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from tests.jobs.survey.regressions import DIRECT, FORCED, KUK_TWICE, WARNER, Codes, Floats, expit, fit, report
from tests.statistics import FALSE_ALARM, MISS


def replications(ratio: float, terms: int) -> int:
    """Return how many standard normal z tell their sample variance from one that is `ratio` times as large."""
    draws = 2
    while stats.chi2.isf(FALSE_ALARM / 2 / terms, draws - 1) > ratio * stats.chi2.ppf(MISS, draws - 1):
        draws += 1
    return draws


def assert_standard_normal(z: Floats, seed: int) -> None:
    """Fail unless each column of z has mean 0 and variance 1, as far as its rows can tell."""
    draws, terms = z.shape
    tail = FALSE_ALARM / 2 / terms
    farthest = stats.norm.isf(tail) / math.sqrt(draws)
    assert (np.abs(z.mean(axis=0)) <= farthest).all(), f"means {z.mean(axis=0)}; the seed was {seed}"
    least, most = stats.chi2.isf([1 - tail, tail], draws - 1) / (draws - 1)
    variances = z.var(axis=0, ddof=1)
    assert ((least <= variances) & (variances <= most)).all(), f"variances {variances}; the seed was {seed}"


TRUTH = np.array([-1.0, 0.5, 0.7])
CELLS = np.array([[1.0, x, group] for x in (-1, 0, 1) for group in (0, 1)])


@pytest.mark.parametrize("law", [WARNER, KUK_TWICE], ids=["warner", "kuk twice"])
def test_estimates_of_the_truth_are_standard_normal_in_standard_errors(law: Floats) -> None:
    seed, respondents = secrets.randbits(64), 50_000
    generator = np.random.default_rng(seed)
    pi = expit(CELLS @ TRUTH)
    chances = np.outer(1 - pi, law[:, 0]) + np.outer(pi, law[:, 1])  # (cells, reports)
    features, reports = np.repeat(CELLS, len(law), axis=0), np.tile(np.arange(len(law)), len(CELLS))
    # Respondents of one cell and report stand in one row, which counts as many times.
    mutant = 1.7  # the variance where standard errors are 23 % too small
    draws = replications(mutant, len(TRUTH))
    counts = generator.multinomial(respondents, chances, size=(draws, len(CELLS))).reshape(draws, -1)

    def z_by(fitted_law: Floats, fitted_reports: Codes, sample: npt.NDArray[np.integer]) -> Floats:
        fits = [
            fit(features, fitted_reports, fitted_law, row.astype(float), weighted=False) for row in sample
        ]
        return np.array([(one.estimates - TRUTH) / one.standard_errors for one in fits])

    z = z_by(law, reports, counts)
    assert_standard_normal(z, seed)
    with pytest.raises(AssertionError, match="the seed was"):
        assert_standard_normal(z * math.sqrt(mutant), seed)
    naive = z_by(DIRECT, (reports > 0).astype(np.intp), counts[:20])
    with pytest.raises(AssertionError, match="means"):
        assert_standard_normal(naive, seed)


def test_weighted_estimates_are_standard_normal_in_standard_errors_of_the_sandwich_alone() -> None:
    seed, respondents = secrets.randbits(64), 3_000
    generator = np.random.default_rng(seed)
    mutant = 0.8 * 0.25**2 + 0.2 * 4.0**2  # the design effect of weights of mean one
    draws = replications(mutant, len(TRUTH))
    z, naive = np.empty((draws, len(TRUTH))), np.empty((draws, len(TRUTH)))
    for place in range(draws):
        features = CELLS[generator.integers(0, len(CELLS), respondents)]
        reports = report(features, TRUTH, FORCED, generator)
        weights = np.where(generator.random(respondents) < 0.8, 0.25, 4.0)
        found = fit(features, reports, FORCED, weights)
        z[place] = (found.estimates - TRUTH) / found.standard_errors
        naive[place] = (found.estimates - TRUTH) / fit(
            features, reports, FORCED, weights, False
        ).standard_errors
    assert_standard_normal(z, seed)
    with pytest.raises(AssertionError, match="the seed was"):
        assert_standard_normal(naive, seed)
