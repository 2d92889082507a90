"""The errors of leaves' counts that the law of the noise gives beforehand.

References
----------
papers/private-skills, theorem 2.1 (noise shares). Absolute moments are by inversion of characteristic functions (von
Bahr 1965).
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from jobs.skills.consistency import consistent
from jobs.skills.replicate import Point
from udfs.design import Shares

_NEAR, _FAR, _STEPS = 1e-3, 200.0, 10_000
"""The integral's grid: from this part of a standard deviation's inverse, and of 1, to so far, in so many steps."""


def leaf_errors(point: Point) -> dict[str, float | None]:
    """Return the mean of the sum over leaves of |error| by the number of workers, raw and consistent.

    Where boxes lie, and what workers are in them, does not matter to it: it holds for any tree all of whose nodes are
    split, to some 1e-4 of itself. None for other trees.
    """
    depth, budget, beta = point.shape.depth, point.budget, point.beta
    if point.shape.min_count:
        return {"raw": None, "consistent": None}
    if not beta:
        return {"raw": 0.0, "consistent": 0.0}
    levels = np.repeat(np.arange(depth + 1), 2 ** np.arange(depth + 1))
    variances = np.array([point.variance(one.level) for one in budget])[levels]
    scales = np.array([_scale(one.counts) for one in budget])[levels]
    leaf = np.zeros(len(levels))
    leaf[-1] = 1.0
    parents = [None, *(place // 2 for place in range(len(levels) - 1))]
    # Estimates are H Y, where H diag(variances) is symmetric: the weights of one leaf, from what its noise does to all.
    weights = consistent(parents, leaf, variances)[0] * variances[-1] / variances
    return {
        "raw": mean_absolute_sum(leaf, scales, beta) * 2**depth / point.workers,
        "consistent": mean_absolute_sum(weights, scales, beta) * 2**depth / point.workers,
    }


def mean_absolute_sum(weights: Shares, scales: Shares, beta: Fraction) -> float:
    """Return the mean of |X|, where X is a weighted sum of independent noise.

    Parameters
    ----------
    weights : ndarray of float64, shape (counters,)
    scales : ndarray of float64, shape (counters,)
        The variance of each counter's noise by beta.
    beta : Fraction

    Notes
    -----
    Noise is the difference of two negative binomial numbers of shape beta: E cos(tX) is the product over counters of
    (1 + 2 s sin(wt/2)**2)**-beta, for scales s and weights w. E|X| = 2/pi times the integral of (1 - E cos(tX))/t**2 over
    all positive t. It is taken along log t; before the grid the integrand is half the variance of X, beyond it on
    average what it is at its end.

    Examples
    --------
    >>> scale = 1 / (2 * math.sinh(0.05) ** 2)  # of one counter at epsilon 0.1, with beta 1: it is 1/sinh(0.1)
    >>> math.isclose(mean_absolute_sum(np.ones(1), np.array([scale]), Fraction(1)), 1 / math.sinh(0.1), rel_tol=1e-4)
    True
    """
    kinds, counts = np.unique(np.stack([weights.round(12), scales]), axis=1, return_counts=True)
    variance = float(beta) * float((weights**2 * scales).sum())
    t = np.geomspace(_NEAR / max(math.sqrt(variance), 1.0), _FAR, _STEPS)
    logs = sum(
        count * np.log1p(2 * scale * np.sin(weight * t / 2) ** 2)
        for (weight, scale), count in zip(kinds.T, counts, strict=True)
    )
    missing = -np.expm1(-float(beta) * logs)
    integral = np.trapezoid(missing / t, np.log(t)) + variance / 2 * t[0]
    return float(2 / math.pi * (integral + missing[t > _FAR / 2].mean() / _FAR))


def _scale(epsilon: Decimal) -> float:
    return 1 / (2 * math.sinh(float(epsilon) / 2) ** 2)
