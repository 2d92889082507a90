"""Statistics of a table of shares, and their standard errors by the delta method.

Each measure is a function of shares, written for stacks of tables and returned with its gradient. The
variance of its estimate is the gradient's quadratic form in the covariance of the estimated shares, which
`jobs.survey.reconstruct` takes without forming that matrix. All is post-processing.

References
----------
papers/randomized-response, equations 24 to 26 and result 5, whose gradient lacks a minus.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from jobs.survey.independence import phi_squared_of_noise
from jobs.survey.layout import LARGEST_DENSE
from jobs.survey.margin import Margin
from jobs.survey.measures import entropy, g_squared, mutual_information, pearson, phi_squared
from jobs.survey.postprocess import project_to_simplex, pull_back_projection
from jobs.survey.reconstruct import Gradients
from udfs.design import Shares

Values: TypeAlias = npt.NDArray[np.float64]

CONFIDENCE = 0.95
_Z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)


@dataclass(frozen=True)
class StatisticEstimate:
    """One statistic of a survey.

    Attributes
    ----------
    kind : str
    of : tuple of str
        The attributes.
    estimate : float
        NaN where the reports do not tell.
    standard_error : float
        The delta method's.
    interval : tuple of float
        At 95 %, within what the statistic can be.
    unit : str, optional
    note : str, optional
        What to know before relying on them.
    if_independent : float, optional
        About what the estimate would be on average if the attributes were independent: noise alone. None
        where it was not asked for.
    """

    kind: str
    of: tuple[str, ...]
    estimate: float
    standard_error: float
    interval: tuple[float, float]
    unit: str | None
    note: str | None
    if_independent: float | None = None


@dataclass(frozen=True)
class _Measure:
    """A measure of tables that have no negative shares.

    Parameters
    ----------
    function : callable
    largest : callable
        The most it can be, by the table's shape.
    unit : str, optional
    times_answers : bool
        Whether the statistic is the measure times the number of those who answered.
    by_phi_squared : float, optional
        What it is over `phi_squared` near independence, where it is a measure of dependence.
    """

    function: Callable[[Shares], tuple[Values, Gradients]]
    largest: Callable[[tuple[int, ...]], float]
    unit: str | None = None
    times_answers: bool = False
    by_phi_squared: float | None = None


_MEASURES: Mapping[str, _Measure] = MappingProxyType(
    {
        "entropy": _Measure(entropy, lambda shape: math.log2(math.prod(shape)), "bits"),
        "mutual-information": _Measure(
            mutual_information, lambda shape: math.log2(min(shape)), "bits", by_phi_squared=0.5 / math.log(2)
        ),
        "chi-square": _Measure(
            phi_squared, lambda shape: min(shape) - 1.0, times_answers=True, by_phi_squared=1.0
        ),
        "g-squared": _Measure(
            g_squared, lambda shape: 2 * math.log(min(shape)), times_answers=True, by_phi_squared=1.0
        ),
    }
)

_ROUNDING = 1e-12
"""A share smaller than this is 0, as far as floats can tell."""
_UNKNOWN = "Too few seem to have answered."
_NO_VARIANCE = "The estimated variance of an attribute's scores is not positive."


def estimate_statistic(
    kind: str,
    margin: Margin,
    scores: Sequence[Sequence[float]] | None = None,
    *,
    with_noise: bool = False,
) -> StatisticEstimate:
    """Estimate one statistic of some attributes among those who answered all of them.

    Parameters
    ----------
    kind : str
        `entropy`, `mutual-information`, `chi-square`, `g-squared` or `pearson`.
    margin : Margin
        Of any number of attributes for the entropy, which is that of their product cell; else of two.
    scores : two sequences of float, optional
        What `pearson` counts the categories of each attribute as; by default 0, 1, 2 and so on.
    with_noise : bool
        Whether to work out what noise alone would make of a measure of dependence. That can take a score for
        every cell and every report's code: it is left out of tables too large for tests of independence.

    Returns
    -------
    StatisticEstimate
        `chi-square` and `g-squared` are of as many as are estimated to have answered. All but `pearson`
        are taken at the unbiased shares' projection to the simplex, and its Jacobian goes into the standard
        error; that changes nothing where no share is negative.

    Notes
    -----
    A standard error is that of the first-order term, and holds where that term is more than the rest: not
    near independence for all but the correlation, nor near uniform shares for the entropy. Estimates other
    than the correlation's are biased upwards (the entropy's downwards) by the second-order term; of measures of
    dependence, what it comes to under independence is given with the estimate where it is asked for.
    """
    shares = margin.proportions
    if not np.isfinite(shares).all():
        return _unknown(kind, margin, _UNKNOWN)
    if kind == "pearson":
        return _estimate_pearson(margin, scores)
    measure, reports = _MEASURES[kind], margin.table.reports
    projected = project_to_simplex(shares.ravel())
    projected = np.where(projected < _ROUNDING, 0.0, projected)
    value, gradient = measure.function(projected if kind == "entropy" else projected.reshape(shares.shape))
    pulled = pull_back_projection(projected, gradient.ravel()).reshape(shares.shape)
    scale, by_answered = 1.0, 0.0
    if measure.times_answers:
        scale, by_answered = reports * margin.answered, reports * float(value)
    estimate, error = scale * float(value) + 0.0, math.sqrt(margin.variance(scale * pulled, by_answered))
    most = scale * measure.largest(shares.shape)
    interval, of_noise = _interval(estimate, error, 0.0, most), None
    if with_noise and measure.by_phi_squared is not None and margin.table.shares.size <= LARGEST_DENSE:
        of_noise = scale * measure.by_phi_squared * phi_squared_of_noise(margin)
        of_noise = of_noise if of_noise < most else None  # more noise than its second order can tell
    notes = [*_notes(kind, shares, of_noise)]
    if kind == "entropy" and interval[1] == most:
        notes.append("Near equal shares this standard error does not hold.")
    note = " ".join(notes) or None
    return StatisticEstimate(kind, margin.of, estimate, error, interval, measure.unit, note, of_noise)


def _notes(kind: str, shares: Shares, of_noise: float | None) -> Iterator[str]:
    """Say what to know before relying on a measure of these unbiased shares."""
    negative = int((shares < -_ROUNDING).sum())
    if negative:
        yield (
            f"{negative} of {shares.size} cells had negative estimates: this is of the nearest shares without"
            " negative ones, and its standard error is approximate."
        )
    if kind != "entropy":
        yield "Near independence this standard error does not hold: ask for an independence-test."
    if of_noise is not None:
        yield f"If they were independent, noise alone would make it about {of_noise:.4g} on average."


def _estimate_pearson(margin: Margin, scores: Sequence[Sequence[float]] | None) -> StatisticEstimate:
    shares = margin.proportions
    rows, columns = scores or [range(cells) for cells in shares.shape]
    value, gradient = pearson(shares, np.array(rows, dtype=np.float64), np.array(columns, dtype=np.float64))
    estimate = float(value)
    if math.isnan(estimate):
        return _unknown("pearson", margin, _NO_VARIANCE)
    error = math.sqrt(margin.variance(gradient))
    interval = _interval(estimate, error, -1.0, 1.0)
    note = None if abs(estimate) <= 1 else "The unbiased shares give a correlation beyond 1."
    return StatisticEstimate("pearson", margin.of, estimate, error, interval, None, note)


def _unknown(kind: str, margin: Margin, note: str) -> StatisticEstimate:
    unit = _MEASURES[kind].unit if kind in _MEASURES else None
    return StatisticEstimate(kind, margin.of, math.nan, math.nan, (math.nan, math.nan), unit, note)


def _interval(estimate: float, error: float, least: float, most: float) -> tuple[float, float]:
    low, high = np.clip([estimate - _Z * error, estimate + _Z * error], least, most)
    return float(low), float(high)
