"""Populations whose reports are regressed on what is known of them, and their fits."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt
import pytest

from jobs.survey.regression import LogisticFit, fit_logistic
from udfs.logistic import logistic_sums

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

DIRECT = np.eye(2)
WARNER = np.array([[0.75, 0.25], [0.25, 0.75]])
FORCED = np.array([[5 / 6, 1 / 6], [1 / 6, 5 / 6]])
KUK_TWICE = np.array([[0.64, 0.04], [0.32, 0.32], [0.04, 0.64]])

every_law = pytest.mark.parametrize(
    "law", [DIRECT, WARNER, FORCED, KUK_TWICE], ids=["direct", "warner", "forced", "kuk twice"]
)


def expit(eta: Floats) -> Floats:
    return np.exp(-np.logaddexp(0, -eta))


def report(features: Floats, beta: Floats, law: Floats, generator: np.random.Generator) -> Codes:
    """Draw who has the trait, and a report of it through the law."""
    trait = (generator.random(len(features)) < expit(features @ beta)).astype(np.intp)
    return (generator.random(len(features)) > np.cumsum(law, axis=0)[:-1, trait]).sum(axis=0)


def fit(
    features: Floats, reports: Codes, law: Floats, weights: Floats | None = None, weighted: bool | None = None
) -> LogisticFit:
    terms = ["intercept", *(f"x{place}" for place in range(1, features.shape[1]))]
    at = partial(logistic_sums, features, reports, law, weights=weights)
    return fit_logistic(at, terms, weights is not None if weighted is None else weighted)


def typical(law: Floats, rows: int = 3000) -> tuple[Floats, Codes, Floats]:
    """Return features, reports and weights of a population that is easy to fit, the same ones every time."""
    generator = np.random.default_rng(11)
    features = np.column_stack([np.ones(rows), generator.normal(size=rows), generator.integers(0, 2, rows)])
    reports = report(features, np.array([-0.5, 0.8, -0.7]), law, generator)
    return features, reports, generator.uniform(0.5, 2, rows)
