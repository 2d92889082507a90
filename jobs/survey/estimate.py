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
_Z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)

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
    Respondents are taken as a simple random sample of a larger population: standard errors and intervals
    hold for that population, without a finite-population correction, one category at a time.

    Without a missing cell the intervals are Wilson's of the observed share of support, mapped through
    the design, (l - q)/(p - q), and clipped to [0, 1]. With one, the proportions are ratios: consistent,
    not unbiased; their standard errors are the delta method's, their intervals Fieller's with Wilson's
    half-widths, and all of these are NaN where the share of those who answered is within two standard
    errors of zero.
    """
    categories = randomizer.cells - missing_cell
    if reports == 0:
        nothing = np.full(categories, np.nan)
        intervals = np.full((categories, 2), np.nan)
        raw = Estimate(np.full(randomizer.cells, np.nan), np.full((randomizer.cells,) * 2, np.nan), 0)
        missing = (np.nan, np.nan) if missing_cell else None
        return AttributeEstimate(nothing, nothing, intervals, nothing, raw, missing)
    raw = randomizer.estimate(counts, reports)
    if not missing_cell:
        errors = np.sqrt(np.maximum(np.diag(raw.covariance), 0.0))
        intervals = np.clip(_mapped_wilson(randomizer, counts, reports), 0.0, 1.0)
        return AttributeEstimate(raw.shares, errors, intervals, project_to_simplex(raw.shares), raw, None)
    missing_share, missing_error = float(raw.shares[-1]), float(np.sqrt(max(raw.covariance[-1, -1], 0.0)))
    proportions, errors, intervals = _among_answered(randomizer, counts, raw)
    projected = project_to_simplex(proportions) if np.isfinite(proportions).all() else proportions
    return AttributeEstimate(proportions, errors, intervals, projected, raw, (missing_share, missing_error))


def _among_answered(
    randomizer: PureRandomizer, counts: Counts, raw: Estimate
) -> tuple[Shares, Shares, Intervals]:
    """Return each category's share among those who answered, its delta standard error and its interval."""
    shares, variances = raw.shares[:-1], np.diag(raw.covariance)[:-1]
    answered, answered_variance = 1.0 - raw.shares[-1], raw.covariance[-1, -1]
    if raw.reports < 2 or answered <= 2.0 * np.sqrt(answered_variance):
        nothing = np.full(len(shares), np.nan)
        return nothing, nothing, np.full((len(shares), 2), np.nan)
    proportions = shares / answered
    # The answered share is one less the missing one: its covariance with a category has the other sign.
    with_answered = -raw.covariance[:-1, -1]
    errors = np.sqrt(
        np.maximum(variances - 2 * proportions * with_answered + proportions**2 * answered_variance, 0.0)
    )
    scale = np.sqrt(variances * answered_variance)
    correlation = np.divide(with_answered, scale, out=np.zeros_like(scale), where=scale > 0)
    edges = _mapped_wilson(randomizer, counts, raw.reports)
    low, high, fewest, most = edges[:-1, 0], edges[:-1, 1], 1.0 - edges[-1, 1], 1.0 - edges[-1, 0]
    intervals = np.column_stack(
        [
            _fieller_limit(shares, answered, shares - low, most - answered, correlation, -1),
            _fieller_limit(shares, answered, high - shares, answered - fewest, correlation, +1),
        ]
    )
    return proportions, errors / answered, np.clip(intervals, 0.0, 1.0)


def _fieller_limit(
    shares: Shares, answered: float, share_half: Shares, answered_half: float, correlation: Shares, side: int
) -> Shares:
    """Return one limit of the ratios of shares to the share of those who answered.

    Fieller's equation with the half-widths of each side's own Wilson intervals in place of z standard
    errors: a category without a report keeps a width.

    References
    ----------
    Donner, Zou: Closed-form confidence intervals for functions of the normal mean and standard deviation
    (2012), section 3 (recovery of variance estimates).
    """
    a = answered**2 - answered_half**2
    b = shares * answered - correlation * share_half * answered_half
    c = shares**2 - share_half**2
    if a <= 0:
        return np.full(len(shares), 0.5 + side / 2)
    limits: Shares = (b + side * np.sqrt(np.maximum(b**2 - a * c, 0.0))) / a
    return limits


def _mapped_wilson(randomizer: PureRandomizer, counts: Counts, reports: int) -> Intervals:
    """Return Wilson's interval of the observed share of support, mapped through the design: (cells, 2)."""
    observed = counts / reports
    centre = observed + _Z**2 / (2 * reports)
    half = _Z * np.sqrt(observed * (1 - observed) / reports + _Z**2 / (4 * reports**2))
    edges = np.column_stack([centre - half, centre + half]) / (1 + _Z**2 / reports)
    q = float(randomizer.support_if_false)
    slope = float(randomizer.support_if_true - randomizer.support_if_false)
    mapped: Intervals = (edges - q) / slope
    return mapped


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
