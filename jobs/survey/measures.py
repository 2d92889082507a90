"""What statistics are of tables of shares, each with its gradient: for stacks of tables at once.

References
----------
papers/randomized-response, equations 25 and 26 and result 5; its gradient of the entropy lacks the sign.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from jobs.survey.reconstruct import Gradients
from udfs.design import Shares

Values: TypeAlias = npt.NDArray[np.float64]

_ROUNDING = 1e-12
"""A variance of scores below this share of their squared range is none."""


def entropy(shares: Shares) -> tuple[Values, Gradients]:
    """Return Shannon's entropy, in bits.

    Parameters
    ----------
    shares : ndarray of float64, shape (..., cells)
        Non-negative, of sum one. A cell of share 0 contributes 0, and its gradient is given as 0.

    Returns
    -------
    values : ndarray of float64, shape (...)
        Of the range 0 to log2(cells).
    gradients : ndarray of float64, shape (..., cells)
        `-(log2(share) + 1 / ln 2)`.

    Examples
    --------
    >>> float(entropy(np.array([0.5, 0.25, 0.25, 0.0]))[0])
    1.5
    """
    logs = _log_of(shares, np.ones_like(shares)) / math.log(2)
    gradients = np.where(shares > 0, -logs - 1 / math.log(2), 0.0)
    return -(shares * logs).sum(axis=-1), gradients


def mutual_information(tables: Shares) -> tuple[Values, Gradients]:
    """Return the mutual information of two attributes, in bits.

    Parameters
    ----------
    tables : ndarray of float64, shape (..., rows, columns)
        Non-negative, of sum one. A cell of share 0 contributes 0, and its gradient is given as 0.

    Returns
    -------
    values : ndarray of float64, shape (...)
        Of the range 0 to log2(min(rows, columns)).
    gradients : ndarray of float64, shape (..., rows, columns)
        `log2(share / (row * column)) - 1 / ln 2`, where row and column are the cell's margins.
    """
    values, gradients = g_squared(tables)
    return values / (2 * math.log(2)), gradients / (2 * math.log(2))


def g_squared(tables: Shares) -> tuple[Values, Gradients]:
    """Return the likelihood ratio statistic of independence, a respondent: 2 ln 2 `mutual_information`."""
    rows, columns = _margins(tables)
    logs = _log_of(tables, rows * columns)
    gradients = np.where(tables > 0, 2 * (logs - 1), 0.0)
    return np.maximum(2 * (tables * logs).sum(axis=(-2, -1)), 0.0), gradients


def phi_squared(tables: Shares) -> tuple[Values, Gradients]:
    """Return the mean square contingency: Pearson's chi-square of independence, for each respondent.

    Parameters
    ----------
    tables : ndarray of float64, shape (..., rows, columns)
        Non-negative, of sum one. Rows and columns of sum 0 contribute 0, and their gradient is given as 0.

    Returns
    -------
    values : ndarray of float64, shape (...)
        Of the range 0 to min(rows, columns) - 1.
    gradients : ndarray of float64, shape (..., rows, columns)
        With `ratio = share / (row * column)`, `2 ratio - sum of column * ratio**2 over the cell's row - sum of
        row * ratio**2 over its column`.
    """
    rows, columns = _margins(tables)
    expected = rows * columns
    ratios = np.divide(tables, expected, out=np.zeros_like(tables), where=expected > 0)
    of_rows = (columns * ratios**2).sum(axis=-1, keepdims=True)
    of_columns = (rows * ratios**2).sum(axis=-2, keepdims=True)
    gradients = np.where(expected > 0, 2 * ratios - of_rows - of_columns, 0.0)
    return (np.where(expected > 0, ratios - 1, 0.0) * (tables - expected)).sum(axis=(-2, -1)), gradients


def pearson(tables: Shares, row_scores: Values, column_scores: Values) -> tuple[Values, Gradients]:
    """Return Pearson's correlation of two attributes whose categories have scores.

    Parameters
    ----------
    tables : ndarray of float64, shape (..., rows, columns)
        Of sum one; single shares may be negative.
    row_scores, column_scores : ndarray of float64, shapes (rows,) and (columns,)

    Returns
    -------
    values : ndarray of float64, shape (...)
        Within -1 and 1 where no share is negative. NaN where the scores of an attribute have no positive
        variance.
    gradients : ndarray of float64, shape (..., rows, columns)
        `a b - value (a**2 + b**2) / 2` of the standardized scores a and b.
    """
    rows, columns = _margins(tables)
    a = _standardized(row_scores[:, None], rows)
    b = _standardized(column_scores[None, :], columns)
    values = (tables * a * b).sum(axis=(-2, -1), keepdims=True)
    return values[..., 0, 0], a * b - values * (a**2 + b**2) / 2


def _margins(tables: Shares) -> tuple[Shares, Shares]:
    """Return the row and column sums, ready to be broadcast against the tables."""
    return tables.sum(axis=-1, keepdims=True), tables.sum(axis=-2, keepdims=True)


def _log_of(shares: Shares, expected: Shares) -> Shares:
    """Return the natural logarithm of shares over what is expected, 0 where there are none."""
    ratios = np.divide(shares, expected, out=np.ones_like(shares), where=shares > 0)
    logs: Shares = np.log(ratios)
    return logs


def _standardized(scores: Values, margins: Shares) -> Values:
    """Return scores less their mean over their standard deviation, NaN where that is none."""
    centred = scores - (margins * scores).sum(axis=(-2, -1), keepdims=True)
    variance = (margins * centred**2).sum(axis=(-2, -1), keepdims=True)
    positive = variance > _ROUNDING * np.ptp(scores) ** 2
    standardized: Values = centred / np.sqrt(np.where(positive, variance, np.nan))
    return standardized
