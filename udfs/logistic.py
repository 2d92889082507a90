"""Logistic regression of an answer that only a randomized report tells of: one block's sums.

The likelihood goes through the design: a report is a mixture of what a respondent who has the trait and one
who has not would report. Maximising it is a conversation: the driver names coefficients, every block answers
with its log-likelihood, score and information there, and the answers add up.

References
----------
Blair, Imai, Zhou: Design and analysis of the randomized response technique (2015), section 3.1 (R package rr).
Heck, Moshagen: RRreg: an R package for correlation and regression analyses of randomized response data (2018),
section 2.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from udfs.errors import SchemaError

Codes: TypeAlias = npt.NDArray[np.integer]
Floats: TypeAlias = npt.NDArray[np.float64]

INTERCEPT = "intercept"

_STEEPEST = 700.0
"""Beyond this log-odds a probability differs from 0 or 1 by less than 1e-304; exp of it still is finite."""


@dataclass(frozen=True)
class LogisticSums:
    """What a block of rows says at given coefficients: a commutative monoid under `+`, up to rounding.

    Attributes
    ----------
    log_likelihood : float
        Weighted, of the reports given the features.
    score : ndarray of float64, shape (terms,)
        Its gradient: the sum of w s.
    information : ndarray of float64, shape (terms, terms)
        The expected (Fisher) information: the sum of w E[s s' | x].
    observed : ndarray of float64, shape (terms, terms)
        The observed information, minus the second derivative: of mean `information`, for true coefficients.
    outer : ndarray of float64, shape (terms, terms)
        The sum of w**2 s s', the middle of the sandwich.
    rows : int
    weight : float
        The sum of w: `rows` where there are no weights.
    """

    log_likelihood: float
    score: Floats
    information: Floats
    observed: Floats
    outer: Floats
    rows: int
    weight: float

    def __add__(self, other: LogisticSums) -> LogisticSums:
        """Return the sums of both."""
        return LogisticSums(
            self.log_likelihood + other.log_likelihood,
            self.score + other.score,
            self.information + other.information,
            self.observed + other.observed,
            self.outer + other.outer,
            self.rows + other.rows,
            self.weight + other.weight,
        )

    @classmethod
    def zeros(cls, terms: int) -> LogisticSums:
        """Return the sums of no rows."""
        square = np.zeros((terms, terms))
        return cls(0.0, np.zeros(terms), square, square, square, 0, 0.0)


def combine(partials: Iterable[LogisticSums], terms: int) -> LogisticSums:
    """Add blocks' sums up, in the order they are given in."""
    return reduce(add, partials, LogisticSums.zeros(terms))


def logistic_sums(
    features: Floats, reports: Codes, law: Floats, beta: Floats, weights: Floats | None = None
) -> LogisticSums:
    """Return one block's log-likelihood, score and information at given coefficients.

    Parameters
    ----------
    features : ndarray of float64, shape (rows, terms)
        Finite: see `design_matrix`.
    reports : ndarray of integers, shape (rows,)
        Rows of `law`.
    law : ndarray of float64, shape (reports, 2)
        The design matrix P: column 1 is the law of a report where the trait is there, column 0 where it is not.
    beta : ndarray of float64, shape (terms,)
    weights : ndarray of float64, shape (rows,), optional
        Finite, not negative; all one by default.

    Returns
    -------
    LogisticSums

    Raises
    ------
    SchemaError
        Reports that no answer can lead to, or weights that are none.

    Notes
    -----
    Runs on a block of reports: post-processing of them. The features are taken as they are: the guarantee
    of the reports does not cover them.

    The model is `Pr(trait | x) = pi = expit(x'beta)` and `Pr(u | x) = f_u = a_u (1 - pi) + b_u pi`, with (a, b)
    the columns of the law. By log-odds eta, the derivative of log f_u is

        (b_u - a_u) pi (1 - pi) / f_u  =  (b_u - a_u) / (a_u (1 + e**-eta) + b_u (1 + e**eta)),

    whose right side neither cancels nor is 0/0, as far as floats reach; with an identity for law it is the
    y - pi of ordinary logistic regression. Time: O(rows (reports + terms**2)).

    Examples
    --------
    >>> warner = np.array([[0.7, 0.3], [0.3, 0.7]])
    >>> logistic_sums(np.ones((3, 1)), np.array([0, 1, 1]), warner, np.zeros(1)).score
    array([0.2])
    """
    possible = law.sum(axis=1) > 0
    _refuse_rows("reports", "every report must be one that some answer leads to", ~possible[reports])
    if weights is None:
        weights = np.ones(len(reports))
    _refuse_rows(
        "weights", "every weight must be finite and not negative", ~(weights >= 0) | np.isinf(weights)
    )

    eta = features @ beta
    with np.errstate(divide="ignore"):
        log_law = np.log(law)[reports]
    log_mixture = np.logaddexp(
        log_law[:, 0] - np.logaddexp(0.0, eta), log_law[:, 1] - np.logaddexp(0.0, -eta)
    )  # (rows,)

    bounded = np.clip(eta, -_STEEPEST, _STEEPEST)
    against, odds = np.exp(-bounded), np.exp(bounded)
    absent, present = law[reports].T
    scale = absent * (1.0 + against) + present * (1.0 + odds)  # f / (pi (1 - pi))
    slopes = (present - absent) / scale
    bends = slopes * (present * odds - absent * against) / scale
    informations = sum((b - a) ** 2 / (a * (1.0 + against) + b * (1.0 + odds)) for a, b in law[possible]) / (
        2.0 + against + odds
    )

    weighted_slopes = weights * slopes
    return LogisticSums(
        float(weights @ log_mixture),
        features.T @ weighted_slopes,
        _second_moment(features, weights * informations),
        _second_moment(features, weights * bends),
        _second_moment(features, weighted_slopes**2),
        len(reports),
        float(weights.sum()),
    )


@dataclass(frozen=True)
class Numeric:
    """A predictor whose number is a term."""

    column: str

    @property
    def terms(self) -> tuple[str, ...]:
        """The name of its term."""
        return (self.column,)

    def expand(self, values: npt.NDArray[np.generic]) -> Floats:
        """Return the numbers as features: (rows, 1).

        Raises
        ------
        SchemaError
            Counts the rows without a finite number.
        """
        numbers = values.astype(np.float64)
        _refuse_rows(f"column {self.column!r}", "every number must be finite", ~np.isfinite(numbers))
        return numbers[:, np.newaxis]


@dataclass(frozen=True)
class Factor:
    """A predictor whose categories, but for the first, are a term each: what they add to the first's log-odds."""

    column: str
    categories: tuple[str | int | float | bool, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """The names of its terms."""
        return tuple(f"{self.column}={category}" for category in self.categories[1:])

    def expand(self, codes: npt.NDArray[np.generic]) -> Floats:
        """Return a block's codes of the categories as dummy variables: (rows, categories - 1).

        Raises
        ------
        SchemaError
            Counts the rows with a code that is no category's.
        """
        categories = np.arange(len(self.categories))
        _refuse_rows(
            f"column {self.column!r}", "every row must be of a declared category", ~np.isin(codes, categories)
        )
        dummies: Floats = (codes[:, np.newaxis] == categories[1:]).astype(np.float64)
        return dummies


Predictor: TypeAlias = Numeric | Factor


def term_names(predictors: Sequence[Predictor]) -> tuple[str, ...]:
    """Return the names of the columns of `design_matrix`.

    Examples
    --------
    >>> term_names([Numeric("age"), Factor("region", ("north", "south", "west"))])
    ('intercept', 'age', 'region=south', 'region=west')
    """
    return (INTERCEPT, *(term for predictor in predictors for term in predictor.terms))


def design_matrix(
    predictors: Sequence[Predictor], columns: Sequence[npt.NDArray[np.generic]], rows: int
) -> Floats:
    """Turn one block's columns into features: an intercept, and each predictor's terms.

    Parameters
    ----------
    predictors : sequence of Numeric and Factor
    columns : sequence of ndarrays, each of shape (rows,)
        A predictor's numbers, or the codes of its categories.
    rows : int

    Returns
    -------
    ndarray of float64, shape (rows, terms)

    Raises
    ------
    SchemaError
        Counts the rows that a column has no number or category for.

    Examples
    --------
    >>> design_matrix([Factor("region", ("north", "south", "west"))], [np.array([2, 0])], 2)
    array([[1., 0., 1.],
           [1., 0., 0.]])
    """
    blocks = [predictor.expand(column) for predictor, column in zip(predictors, columns, strict=True)]
    return np.column_stack([np.ones(rows), *blocks])


def _second_moment(features: Floats, weights: Floats) -> Floats:
    """Return the weighted sum of x x': (terms, terms)."""
    moment: Floats = features.T @ (features * weights[:, np.newaxis])
    return moment


def _refuse_rows(where: str, must: str, faults: npt.NDArray[np.bool_]) -> None:
    """Refuse a block with faulty rows; says how many."""
    if faults.any():
        raise SchemaError(where, must, f"{np.count_nonzero(faults)} of {len(faults)} rows that are not so")
