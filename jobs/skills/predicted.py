"""The errors of leaves' counts that the law of the noise gives beforehand.

References
----------
papers/private-skills, theorem 2.1 (noise shares). Absolute moments are by inversion of characteristic functions (von
Bahr 1965).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from jobs.skills.consistency import consistent
from jobs.skills.replicate import Point
from udfs.design import Shares

_NEAR, _FAR, _STEPS = 1e-3, 200.0, 10_000
"""Integrals' grids: from this part of a standard deviation's inverse, and of 1, to so far, in so many steps."""


def leaf_errors(point: Point) -> dict[str, float | None]:
    """Return the mean of the sum over leaves of |error| by the number of workers, raw and consistent.

    Where boxes lie, and what workers are in them, does not matter to it: it holds for any tree all of whose nodes are
    split. None for other trees.
    """
    depth, budget, beta = point.shape.depth, point.budget, point.beta
    if point.shape.min_count:
        return {"raw": None, "consistent": None}
    if not beta:
        return {"raw": 0.0, "consistent": 0.0}
    levels = np.repeat(np.arange(depth + 1), 2 ** np.arange(depth + 1))
    variances = np.array([point.variance(one.level) for one in budget])[levels]
    leaf = np.zeros(len(levels))
    leaf[-1] = 1.0
    parents = [None, *(place // 2 for place in range(len(levels) - 1))]
    # Estimates are H Y, where H diag(variances) is symmetric: the weights of one leaf, from what its noise does to all.
    weights = consistent(parents, leaf, variances)[0] * variances[-1] / variances
    return {
        "raw": mean_absolute_sum(leaf, variances / float(beta), beta) * 2**depth / point.workers,
        "consistent": mean_absolute_sum(weights, variances / float(beta), beta) * 2**depth / point.workers,
    }


def mean_absolute_sum(weights: Shares, scales: Shares, beta: Fraction) -> float:
    """Return the mean of |X|, where X is a weighted sum of independent noise; within a part in 10**5.

    Parameters
    ----------
    weights : ndarray of float64, shape (counters,)
    scales : ndarray of float64, shape (counters,)
        The variance of each counter's noise by beta.
    beta : Fraction

    Notes
    -----
    Noise Z is the difference of two negative binomial numbers of shape beta: E cos(tZ) is
    (1 + 2 s sin(t/2)**2)**-beta for scale s, and E cos(tX) the product of E cos(w t Z) over counters. E|X| is 2/pi times
    the integral of (1 - E cos(tX))/t**2 over all positive t. What each counter would add if it stood alone, |w| E|Z|, is
    taken out of it beforehand: what is left is small where noise is rare, of the fourth order before the grid, and
    beyond it on average what it is at its end. The grid ends where the least weight has gone around many times.

    Examples
    --------
    >>> scale = 1 / (2 * math.sinh(0.05) ** 2)  # of one counter at epsilon 0.1, with beta 1: it is 1/sinh(0.1)
    >>> math.isclose(mean_absolute_sum(np.ones(1), np.array([scale]), Fraction(1)), 1 / math.sinh(0.1), rel_tol=1e-5)
    True
    """
    mantissas, exponents = np.frexp(np.abs(weights[weights != 0]))
    rounded = np.ldexp(mantissas.round(12), exponents)  # so that nodes alike are told to be
    kinds, counts = np.unique(np.stack([rounded, scales[weights != 0]]), axis=1, return_counts=True)
    size = math.sqrt(float(beta) * float((kinds[0] ** 2 * kinds[1] * counts).sum()))
    t = np.geomspace(_NEAR / max(size, kinds[0].max()), _FAR / kinds[0].min(), _STEPS)
    alone, missing_alone, logs = 0.0, np.zeros(_STEPS), np.zeros(_STEPS)
    for (weight, scale), count in zip(kinds.T, counts.tolist(), strict=True):
        log = _log_cosine(weight * t, scale, beta)
        alone += count * weight * _mean_absolute(scale, beta)
        missing_alone -= count * np.expm1(log)
        logs += count * log
    excess = missing_alone + np.expm1(logs)
    integral = np.trapezoid(excess / t, np.log(t)) + excess[2 * t > t[-1]].mean() / t[-1]
    return float(alone - 2 / math.pi * integral)


def _log_cosine(t: Shares, scale: float, beta: Fraction) -> Shares:
    """Return ln E cos(tZ) of one counter's noise."""
    logs: Shares = -float(beta) * np.log1p(2 * scale * np.sin(t / 2) ** 2)
    return logs


def _mean_absolute(scale: float, beta: Fraction) -> float:
    """Return E|Z| of one counter's noise: as it is whole, the mean over (0, pi) of (1 - E cos(tZ))/(1 - cos t)."""
    t = np.geomspace(_NEAR / max(math.sqrt(float(beta) * scale), 1.0), math.pi, _STEPS)
    missing = -np.expm1(_log_cosine(t, scale, beta)) / (2 * np.sin(t / 2) ** 2)
    return float((np.trapezoid(missing * t, np.log(t)) + missing[0] * t[0]) / math.pi)
