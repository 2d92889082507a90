"""From sums of reports to what a survey says of one attribute: shares, standard errors and intervals.

All of it is post-processing of private reports: it costs no budget, whatever is done with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from jobs.survey.margin import Margin
from jobs.survey.postprocess import clip_and_rescale, maximum_likelihood, project_to_simplex
from udfs.design import Shares
from udfs.randomized_response import RandomizedResponse

CONFIDENCE = 0.95
Z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)

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
    post_processed : dict of str to ndarray of float64, shape (categories,), or None
        The proportions as shares from 0 to 1 that sum to one, by each method's name.
    raw, raw_standard_errors : ndarray of float64, shape (cells,)
        Unbiased, of all cells, that of missing answers included.
    missing : tuple of float, optional
        The share of missing answers and its standard error, where they are a cell of their own.
    """

    proportions: Shares
    standard_errors: Shares
    intervals: Intervals
    post_processed: dict[str, Shares | None]
    raw: Shares
    raw_standard_errors: Shares
    missing: tuple[float, float] | None


def estimate_attribute(margin: Margin) -> AttributeEstimate:
    """Estimate one attribute.

    Parameters
    ----------
    margin : Margin
        Of the one attribute.

    Returns
    -------
    AttributeEstimate

    Notes
    -----
    Respondents are taken as a simple random sample of a larger population, within their stratum: standard
    errors and intervals hold for that population, one category at a time.

    Without a missing cell the intervals are score intervals, at the effective number of reports: where a
    report makes one of two estimates, as with randomized response, Wilson's interval of the observed share of
    support, mapped through the design. With one, the proportions are ratios: consistent, not unbiased; their standard
    errors are the delta method's, their intervals Fieller's with these half-widths, and all of these are
    NaN where the share of those who answered is within two standard errors of zero.
    """
    raw, raw_errors = margin.raw, np.sqrt(margin.raw_variances)
    edges = _scored(margin)
    if not margin.missing[0]:
        intervals = np.clip(edges, 0.0, 1.0)
        return AttributeEstimate(raw, raw_errors, intervals, _post_process(margin), raw, raw_errors, None)
    missing = float(raw[-1]), float(raw_errors[-1])
    proportions = margin.proportions
    if not np.isfinite(proportions).all() or margin.table.reports < 2:
        nothing = np.full(len(proportions), np.nan)
        intervals = np.full((len(proportions), 2), np.nan)
        return AttributeEstimate(nothing, nothing, intervals, _post_process(margin), raw, raw_errors, missing)
    errors, intervals = np.sqrt(margin.variances()), _fieller(margin, edges)
    return AttributeEstimate(proportions, errors, intervals, _post_process(margin), raw, raw_errors, missing)


def _post_process(margin: Margin) -> dict[str, Shares | None]:
    """Return the proportions as shares, by each method."""
    proportions = margin.proportions
    if not np.isfinite(proportions).all():
        return {"simplex-projection": None, "clip-and-rescale": None, "maximum-likelihood": None}
    return {
        "simplex-projection": project_to_simplex(proportions),
        "clip-and-rescale": clip_and_rescale(proportions),
        "maximum-likelihood": _most_likely(margin),
    }


def _most_likely(margin: Margin) -> Shares | None:
    """Return the maximum likelihood's shares, where they have a closed form: randomized response, one sample."""
    (axis, *others), (sample, *strata) = margin.table.axes, margin.table.samples
    if (
        others
        or strata
        or sample.observed is not sample.squares
        or not isinstance(axis.design, RandomizedResponse)
    ):
        return None
    design = axis.design
    likely = maximum_likelihood(sample.observed, design.support_if_true, design.support_if_false)
    one = margin.take(likely.reshape(axis.shape))
    answered = one[:-1] if margin.missing[0] else one
    return answered / answered.sum() if answered.sum() > 0 else None


def _scored(margin: Margin) -> Intervals:
    """Return a score interval of every raw share: (cells, 2)."""
    return np.array([_score_interval(margin, cell) for cell in range(len(margin.raw))])


def _score_interval(margin: Margin, cell: int) -> tuple[float, float]:
    """Return the true shares that a raw share is within z standard errors of: theirs, not its own.

    At a share t, single reports' own estimates of it have the second moment a where it is the answer and b on
    average where it is not, all other shares being as estimated. So the limits solve
    `(raw - t)**2 = z**2 (t a + (1 - t) b - t**2) / n`. Where a report makes one of two estimates, as with
    randomized response, that is Wilson's interval of the share of support, mapped through the design.
    """
    table, unit, raw = margin.table, np.zeros(len(margin.raw)), float(margin.raw[cell])
    unit[cell] = 1.0
    lifted = margin.lift(unit)
    inside = table.at(_within(table.shares, lifted)).variance(lifted) + 1.0
    outside = table.at(_within(table.shares, 1.0 - lifted)).variance(lifted)
    share = min(max(raw, 0.0), 1.0)
    spread = share * inside + (1 - share) * outside - share**2
    scale = Z**2 / _effective(margin, cell, share, spread)
    half, rest = raw + scale * (inside - outside) / 2, raw**2 - scale * outside
    root = math.sqrt(max(half**2 - (1 + scale) * rest, 0.0))
    return (half - root) / (1 + scale), (half + root) / (1 + scale)


def _within(shares: Shares, mask: Shares) -> Shares:
    """Return estimated shares within a mask, as shares of it; equal ones where none is above 0."""
    kept = np.where(np.isfinite(shares), np.maximum(shares, 0.0), 0.0) * mask
    within: Shares = kept / kept.sum() if kept.sum() > 0 else mask / mask.sum()
    return within


def _effective(margin: Margin, cell: int, share: float, spread: float) -> float:
    """Return the number of plain reports at which a raw share would be as sure as it is.

    That of the design, at the estimated share, times what weights and strata make of it. The variance that was
    observed has a say there, but not where it is less than half of what the design predicts: rare reports that
    nobody gave are none of its doing.
    """
    table = margin.table
    reports = float(table.reports) if table.plain else table.effective
    if table.sizes is not None and reports > 0:
        left = spread - share * (1 - share) * table.asked
        reports *= spread / left if left > 0 else math.inf
    if not table.plain and reports > 0 and spread > 0:
        reports /= max(float(margin.raw_variances[cell]) * reports / spread, 0.5)
    return reports if reports > 0 else math.nan


def _fieller(margin: Margin, edges: Intervals) -> Intervals:
    """Return the intervals of the ratios of shares to the share of those who answered."""
    shares, answered = margin.raw[:-1], margin.answered
    variances, answered_variance = margin.raw_variances[:-1], margin.answered_error**2
    with_answered = margin.covariances_with_answered[:-1]
    scale = np.sqrt(np.maximum(variances * answered_variance, 0.0))
    correlation = np.divide(with_answered, scale, out=np.zeros_like(scale), where=scale > 0)
    low, high, fewest, most = edges[:-1, 0], edges[:-1, 1], 1.0 - edges[-1, 1], 1.0 - edges[-1, 0]
    intervals = np.column_stack(
        [
            _fieller_limit(shares, answered, shares - low, most - answered, correlation, -1),
            _fieller_limit(shares, answered, high - shares, answered - fewest, correlation, +1),
        ]
    )
    return np.clip(intervals, 0.0, 1.0)


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
