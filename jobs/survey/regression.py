"""The driver of a logistic regression through a randomizing design: Newton's method and Fisher scoring.

Question, once a step: what are your log-likelihood, score and information at these coefficients? Who sees what:
the driver sees sums over all rows. Guarantee: that of the reports, for the outcome alone; the predictors are used
as they are. Method: maximum likelihood. Cost: a pass over reports and predictors a step, five to seven as a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from jobs.survey.estimate import CONFIDENCE
from udfs.errors import SchemaError
from udfs.logistic import Floats, LogisticSums

_MOST_STEPS = 50
_MOST_HALVINGS = 30
_LONGEST_STEP = 4.0
"""A step changes the log-odds by this at most, in the root mean square: where the likelihood is all but flat,
the information says little of how far to go."""

_CLOSE = 1e-8
"""How near the maximum is near enough, in standard errors."""

_LEAST_RATIO = 0.1
"""A direction whose observed information is less than this part of the expected one takes a step by the latter."""

_ROUNDING = 1e-12
"""A log-likelihood that falls by less than this part of itself has not fallen, as far as floats can tell."""

_LEAST_INDEPENDENCE = 1e-9
"""Columns whose least eigenvalue, once all are of one length, is below this are collinear to floats."""

_LEAST_CURVATURE = 1e-12
"""A direction that has kept less of the information it had at zero leads to infinite coefficients."""

_PARTAKES = 0.01
"""A term with less than this part of a direction's largest has no part in it."""


@dataclass(frozen=True)
class LogisticFit:
    """The maximum of the likelihood, and how sure it is.

    Attributes
    ----------
    terms : tuple of str
    estimates : ndarray of float64, shape (terms,)
        Coefficients, in log-odds of the trait: consistent; biased by order 1/n, away from zero as a rule.
    covariance : ndarray of float64, shape (terms, terms)
        Their asymptotic covariance.
    log_likelihood : float
        Of the reports; with weights, the weighted (pseudo) log-likelihood.
    iterations : int
        Steps taken.
    rows : int
    """

    terms: tuple[str, ...]
    estimates: Floats
    covariance: Floats
    log_likelihood: float
    iterations: int
    rows: int

    @property
    def standard_errors(self) -> Floats:
        """The standard errors of the coefficients: float64, shape (terms,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def intervals(self) -> Floats:
        """Wald's intervals of the coefficients: float64, shape (terms, 2)."""
        half = norm.isf((1 - CONFIDENCE) / 2) * self.standard_errors
        return np.column_stack([self.estimates - half, self.estimates + half])

    def document(self, outcome: str) -> dict[str, Any]:
        """Return the fit's part of result.json."""
        z = self.estimates / self.standard_errors
        with np.errstate(over="ignore"):
            ratios, ratio_intervals = np.exp(self.estimates), np.exp(self.intervals)
        columns = {
            "term": self.terms,
            "estimate": self.estimates,
            "standard_error": self.standard_errors,
            "z": z,
            "p_value": 2 * norm.sf(np.abs(z)),
            "interval": self.intervals,
            "odds_ratio": ratios,
            "odds_ratio_interval": ratio_intervals,
        }
        return {
            "outcome": outcome,
            "terms": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
            "log_likelihood": self.log_likelihood,
            "iterations": self.iterations,
            "rows": self.rows,
        }


def fit_logistic(
    sums_at: Callable[[Floats], LogisticSums], terms: Sequence[str], weighted: bool, where: str = "regression"
) -> LogisticFit:
    """Maximise the likelihood from zero, by Newton's method where it bends and Fisher scoring where it does not.

    Parameters
    ----------
    sums_at : callable
        Given coefficients (float64, shape (terms,)), returns the sums over all rows: one pass.
    terms : sequence of str
        Names of the columns of the features; the intercept comes first.
    weighted : bool
        Whether rows carry sampling weights: standard errors are then the sandwich's. Multiplying all weights
        by a constant changes neither estimates nor standard errors.
    where : str
        What errors name as their place.

    Returns
    -------
    LogisticFit
        The covariance is the inverse of the expected information; with weights it is the sandwich
        `H**-1 (sum w**2 s s') H**-1` of the observed one, for rows drawn independently.

    Raises
    ------
    SchemaError
        No rows; collinear or constant columns; a likelihood that rises for ever, or has not levelled out
        after 50 steps.

    Notes
    -----
    The first pass, at zero, weighs all rows alike, so its information measures the columns: coordinates are
    chosen in which it is the identity. From there on neither units nor correlations of the columns matter,
    and a direction that loses its information is one in which coefficients grow without bound.

    Behind a randomizing design the likelihood need not be concave: along each principal direction a step divides
    the score by the observed information, or by the expected one where the former is small or negative; a step
    that lowers the likelihood is halved. The steps end within 1e-8 standard errors of a local maximum.

    References
    ----------
    Binder: On the variances of asymptotically normal estimators from complex surveys (1983), equation 3.2.
    Albert, Anderson: On the existence of maximum likelihood estimates in logistic regression models (1984).
    """
    beta = np.zeros(len(terms))
    sums = sums_at(beta)
    if not sums.weight > 0:
        raise SchemaError(where, "must have rows of positive weight", f"{sums.rows} rows without")
    lengths = np.sqrt(np.diag(sums.information))
    basis = _basis(sums.information, lengths, terms, where)  # (terms, terms): a column is a new coordinate
    mean_weight, longest = sums.weight / sums.rows, _LONGEST_STEP * lengths[0]
    for iterations in range(_MOST_STEPS):
        curvatures, rotation = np.linalg.eigh(basis.T @ sums.information @ basis)
        axes = basis @ rotation  # (terms, terms): a column is a direction of coefficients
        flattest = axes[:, 0]
        if curvatures[0] < _LEAST_CURVATURE:
            break
        axes = axes / np.sqrt(curvatures)  # now the expected information is the identity
        ratios, rotation = np.linalg.eigh(axes.T @ sums.observed @ axes)
        axes = axes @ rotation  # and the observed one is diagonal
        slopes = axes.T @ sums.score
        if np.linalg.norm(slopes) <= _CLOSE * np.sqrt(mean_weight) and ratios[0] > 0:
            inverse = (axes / ratios) @ axes.T
            covariance = inverse @ sums.outer @ inverse if weighted else axes @ axes.T
            return LogisticFit(tuple(terms), beta, covariance, sums.log_likelihood, iterations, sums.rows)
        step = axes @ (slopes / np.where(ratios > _LEAST_RATIO, ratios, 1.0))
        step *= longest / max(longest, np.linalg.norm(np.linalg.solve(basis, step)))
        beta, sums = _climb(sums_at, beta, sums, step, where)
    raise SchemaError(
        where,
        "the likelihood must have its maximum at finite coefficients",
        f"one still rising after {iterations} steps, along {_partakers(flattest * lengths, terms)}",
        "a group's reports may all be alike, or fewer than chance alone would give: merge it with another, leave the"
        " term out, or gather more reports",
    )


def _basis(information: Floats, lengths: Floats, terms: Sequence[str], where: str) -> Floats:
    """Return coordinates in which this information is the identity: (terms, terms), a coordinate a column.

    Raises
    ------
    SchemaError
        Names columns that are zero throughout, not finite in their squares, or collinear.
    """
    measured = np.isfinite(lengths) & (lengths > 0)
    if not measured.all():
        raise SchemaError(
            where,
            "the numbers of a column must differ from zero, and their squares must have a finite sum",
            ", ".join(np.array(terms)[~measured]),
            "leave such terms out, or change their units",
        )
    eigenvalues, vectors = np.linalg.eigh(information / lengths / lengths[:, np.newaxis])
    if eigenvalues[0] < _LEAST_INDEPENDENCE:
        raise SchemaError(
            where,
            "no column may be a combination of others",
            _partakers(vectors[:, 0], terms),
            "leave one of them out; a number that hardly varies about a large mean must be centred",
        )
    basis: Floats = vectors / np.sqrt(eigenvalues) / lengths[:, np.newaxis]
    return basis


def _climb(
    sums_at: Callable[[Floats], LogisticSums], beta: Floats, sums: LogisticSums, step: Floats, where: str
) -> tuple[Floats, LogisticSums]:
    """Take a step, or the largest of its halves, quarters, ... that does not lower the likelihood."""
    least = sums.log_likelihood - _ROUNDING * abs(sums.log_likelihood)
    for halvings in range(_MOST_HALVINGS):
        there = beta + step / 2**halvings
        found = sums_at(there)
        if found.log_likelihood >= least:
            return there, found
    raise SchemaError(
        where,
        "a step along the score must raise the likelihood",
        f"none that does, down to 2**-{_MOST_HALVINGS - 1} of it",
        "centre and scale the numeric columns",
    )


def _partakers(direction: Floats, terms: Sequence[str]) -> str:
    """Return the names of the terms that have a part in a direction, given in columns of one length."""
    parts = np.abs(direction)
    return ", ".join(np.array(terms)[parts > _PARTAKES * parts.max()])
