"""From sums of reports to what a survey says: shares, standard errors and intervals.

All of it is post-processing of private reports: it costs no budget, whatever is done with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from udfs.randomizer import Counts, Estimate, PureRandomizer, Shares

CONFIDENCE = 0.95

Intervals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class AttributeEstimate:
    """What the reports of one attribute say.

    Attributes
    ----------
    proportions : ndarray of float64, shape (categories,)
        Among those who answered; not projected, so single ones may be negative or above one.
        NaN where nobody answered, as far as the reports tell.
    standard_errors : ndarray of float64, shape (categories,)
    intervals : ndarray of float64, shape (categories, 2)
        At 95 %, within [0, 1].
    projected : ndarray of float64, shape (categories,)
        The proportions' nearest point on the simplex.
    raw : Estimate
        Unbiased, of all cells, that of missing answers included.
    missing : tuple of float, optional
        The share of missing answers and its standard error, where they are a cell of their own.
    """

    proportions: Shares
    standard_errors: Shares
    intervals: Intervals
    projected: Shares
    raw: Estimate
    missing: tuple[float, float] | None


def estimate_attribute(
    randomizer: PureRandomizer, counts: Counts, reports: int, missing_cell: bool
) -> AttributeEstimate:
    """Estimate one attribute from the sum of its reports.

    Parameters
    ----------
    randomizer : PureRandomizer
    counts : ndarray of int64, shape (cells,)
    reports : int
    missing_cell : bool
        Whether the last cell is that of missing answers.

    Returns
    -------
    AttributeEstimate

    Notes
    -----
    Without a missing cell the intervals are Wilson's of the observed share of support, mapped through
    the design: (l - q)/(p - q). With one, the proportions are ratios: consistent, not unbiased; their
    standard errors are the delta method's, their intervals Fieller's, and all of these are NaN where
    the share of those who answered is within two standard errors of zero.
    """
    categories = randomizer.cells - missing_cell
    if reports == 0:
        nothing = np.full(categories, np.nan)
        anything = np.tile([0.0, 1.0], (categories, 1))
        raw = Estimate(np.full(randomizer.cells, np.nan), np.full((randomizer.cells,) * 2, np.nan), 0)
        missing = (np.nan, np.nan) if missing_cell else None
        return AttributeEstimate(nothing, nothing, anything, nothing, raw, missing)
    raw = randomizer.estimate(counts, reports)
    if not missing_cell:
        errors = np.sqrt(np.maximum(np.diag(raw.covariance), 0.0))
        intervals = _mapped_wilson(randomizer, counts, reports)
        return AttributeEstimate(raw.shares, errors, intervals, project_to_simplex(raw.shares), raw, None)
    missing_share, missing_error = float(raw.shares[-1]), float(np.sqrt(max(raw.covariance[-1, -1], 0.0)))
    proportions, errors, intervals = _among_answered(raw, missing_share, missing_error)
    projected = project_to_simplex(proportions) if np.isfinite(proportions).all() else proportions
    return AttributeEstimate(proportions, errors, intervals, projected, raw, (missing_share, missing_error))


def _among_answered(raw: Estimate, missing: float, missing_error: float) -> tuple[Shares, Shares, Intervals]:
    """Return each category's share among those who answered, its delta standard error and Fieller interval."""
    shares, answered = raw.shares[:-1], 1.0 - missing
    if raw.reports < 2 or answered <= 2.0 * missing_error:
        nothing = np.full(len(shares), np.nan)
        return nothing, nothing, np.full((len(shares), 2), np.nan)
    proportions = shares / answered
    variances = np.diag(raw.covariance)[:-1]
    # The answered share is one less the missing one: its covariance with a category has the other sign.
    with_answered = -raw.covariance[:-1, -1]
    answered_variance = raw.covariance[-1, -1]
    errors = np.sqrt(
        np.maximum(variances - 2 * proportions * with_answered + proportions**2 * answered_variance, 0.0)
    )
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    a = answered**2 - z**2 * answered_variance
    b = shares * answered - z**2 * with_answered
    c = shares**2 - z**2 * variances
    spread = np.sqrt(np.maximum(b**2 - a * c, 0.0))
    intervals = np.column_stack([b - spread, b + spread]) / a  # a > 0: the answered share is 2 errors from 0
    return proportions, errors / answered, np.clip(intervals, 0.0, 1.0)


def _mapped_wilson(randomizer: PureRandomizer, counts: Counts, reports: int) -> Intervals:
    """Return Wilson's interval of the observed share of support, mapped through the design: (cells, 2)."""
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    observed = counts / reports
    centre = observed + z**2 / (2 * reports)
    half = z * np.sqrt(observed * (1 - observed) / reports + z**2 / (4 * reports**2))
    edges = np.column_stack([centre - half, centre + half]) / (1 + z**2 / reports)
    q = float(randomizer.support_if_false)
    slope = float(randomizer.support_if_true - randomizer.support_if_false)
    return np.clip((edges - q) / slope, 0.0, 1.0)


def project_to_simplex(shares: Shares) -> Shares:
    """Return the nearest shares, in the Euclidean sense, that are non-negative and sum to one.

    Parameters
    ----------
    shares : ndarray of float64, shape (cells,)

    Returns
    -------
    ndarray of float64, shape (cells,)

    References
    ----------
    Duchi, Shalev-Shwartz, Singer, Chandra: Efficient projections onto the l1-ball (2008), figure 1.

    Examples
    --------
    >>> project_to_simplex(np.array([-1 / 3, 1 / 15, 19 / 15]))
    array([0., 0., 1.])
    """
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, len(shares) + 1)
    last = np.flatnonzero(falling > excess)[-1]
    projected: Shares = np.maximum(shares - excess[last], 0.0)
    return projected
