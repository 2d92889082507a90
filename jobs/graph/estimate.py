"""Estimates of a graph from the reports on its pairs: unbiased, with unbiased estimates of their variances.

Let Y be what pairs reported, q the chance that one is flipped, s = 1 - 2 q, X = (Y - q) / s and v = q (1 - q) /
s**2. X is an unbiased estimate of each pair's link A, with variance v, and independent of all others'. So any
product over different pairs is unbiased: triangles are sums of such products, and so are their variances, as A**2
= A. All that is needed of Y are integers: degrees d, their sums over neighbours e = Y d and f = Y e, and of common
neighbours c = Y**2 the sums over those who are linked, and the sums of squares.

Where it runs: driver. It sees sums of reports.

References
----------
papers/randomized-response, section 6.3; the variances are derived in `triangle_variances`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Noise:
    """How answers were flipped.

    Parameters
    ----------
    lie : Fraction
        The chance q that a report is not the answer, below one half.
    """

    lie: Fraction

    @property
    def q(self) -> float:
        """The chance of a lie."""
        return float(self.lie)

    @property
    def slope(self) -> float:
        """How much a link raises the chance of a report: s = 1 - 2 q."""
        return float(1 - 2 * self.lie)

    @property
    def variance(self) -> float:
        """The variance v of a pair's estimate."""
        return float(self.lie * (1 - self.lie) / (1 - 2 * self.lie) ** 2)


@dataclass(frozen=True)
class Estimates:
    """Estimates with their standard errors.

    Attributes
    ----------
    values : ndarray of float64
    standard_errors : ndarray of float64
        Of the same shape.
    """

    values: Numbers
    standard_errors: Numbers


def edge_estimate(noise: Noise, nodes: int, reported: int) -> tuple[float, float]:
    """Return the number of links and its standard error, from how many pairs reported one."""
    pairs = nodes * (nodes - 1) // 2
    return (reported - noise.q * pairs) / noise.slope, (pairs * noise.variance) ** 0.5


def degree_estimates(noise: Noise, degrees: Counts) -> Estimates:
    """Return the nodes' degrees, from the reported ones: each the sum of n - 1 independent reports."""
    others = max(0, len(degrees) - 1)
    values: Numbers = (degrees.astype(np.float64) - noise.q * others) / noise.slope
    return Estimates(values, np.full(len(degrees), (others * noise.variance) ** 0.5))


@dataclass(frozen=True)
class LinkSums:
    """What is added up of the reports: see the module.

    Attributes
    ----------
    degrees, neighbours, second : ndarray of int64, shape (nodes,)
        d, e = Y d and f = Y e.
    linked : ndarray of int64, shape (nodes,)
        The sum of c over a node's neighbours: twice the triangles at it.
    squares : ndarray of int64, shape (nodes,)
        The sum of c**2 over all other nodes.
    """

    degrees: Counts
    neighbours: Counts
    second: Counts
    linked: Counts
    squares: Counts


@dataclass(frozen=True)
class TriangleEstimates:
    """Triangles at each node, and in all.

    Attributes
    ----------
    at : Estimates
    total, total_error : float
    """

    at: Estimates
    total: float
    total_error: float


def triangle_estimates(noise: Noise, sums: LinkSums) -> TriangleEstimates:
    """Return unbiased estimates of the triangles at each node, and in all, with standard errors.

    Parameters
    ----------
    noise : Noise
    sums : LinkSums

    Notes
    -----
    A variance's estimate may come out below what it would be in a graph without links, which it never is: then that
    is taken.
    """
    q, s = noise.q, noise.slope
    d, e = (one.astype(np.float64) for one in (sums.degrees, sums.neighbours))
    n = len(d)
    triples = (n - 1) * (n - 2) / 2
    doubles, singles = d * (d - 1) / 2 + e - d, (n - 2) * d + d.sum() / 2 - d
    values = (sums.linked / 2 - q * doubles + q * q * singles - q**3 * triples) / s**3
    at, total = triangle_variances(noise, sums)
    least = noise.variance**3 * triples
    errors = np.sqrt(np.maximum(at, least))
    return TriangleEstimates(
        Estimates(values, errors), float(values.sum() / 3), math.sqrt(max(total, n * least / 3))
    )


def triangle_variances(noise: Noise, sums: LinkSums) -> tuple[Numbers, float]:
    """Return unbiased estimates of the variances of `triangle_estimates`: at each node, and in all.

    Notes
    -----
    At node i, t = sum over j < k of X_ij X_ik X_jk. Its variance is the sum over these triangles of prod (A + v) -
    prod A, and of the covariances of two that share a pair ij: v A_ik A_jk A_il A_jl, over k != l and both orders.
    Two that share a pair jk at i are the same one. Over all triangles of the graph it is a third of the first sums of
    all nodes, and half of the second. All are sums of products over different pairs.
    """
    q, s, v = noise.q, noise.slope, noise.variance
    d, e = (one.astype(np.float64) for one in (sums.degrees, sums.neighbours))
    n = len(d)
    own, squares = (d - q * (n - 1)) / s, (q * q * (n - 1) + s * d) / s**2
    over = (e - q * (n - 1) * d) / s  # sum over neighbours of their own
    around = (over - q * (own.sum() - own)) / s
    doubles = (own**2 - squares) / 2 + around - squares
    singles = (n - 2) * own + own.sum() / 2 - own
    first = v * doubles + v * v * singles + v**3 * ((n - 1) * (n - 2) / 2)
    second = v * _four_cycles(noise, sums)
    return first + second, float(first.sum() / 3 + second.sum() / 2)


def _four_cycles(noise: Noise, sums: LinkSums) -> Numbers:
    """Return the sum over j and over k != l of X_ik X_jk X_il X_jl, for each node i."""
    q, s = noise.q, noise.slope
    d, e, f = (one.astype(np.float64) for one in (sums.degrees, sums.neighbours, sums.second))
    n = len(d)
    # s**2 sum_k X_ik X_jk = u + r, with u = c + 2 q Y and r = q**2 (n - 2) - q (d_i + d_j).
    constant = q * q * (n - 2)
    u_squared = sums.squares + 4 * q * sums.linked + 4 * q * q * d
    u_alone, u_degrees = e - d + 2 * q * d, f - d**2 + 2 * q * e
    u_r = (constant - q * d) * u_alone - q * u_degrees
    level = constant - q * d
    r_squared = (n - 1) * level**2 - 2 * q * level * (d.sum() - d) + q * q * ((d**2).sum() - d**2)
    products = (u_squared + 2 * u_r + r_squared) / s**4
    # Less those of k = l: the sums of X_ik**2 X_jk**2.
    square_sums = (q * q * (n - 1) + s * d) / s**2
    over = (q * q * (n - 1) * d + s * e) / s**2  # sum over neighbours of their square sums
    shared = (q * q * (square_sums.sum() - square_sums) + s * over) / s**2
    fourths = (q**4 * (n - 1) + ((1 - q) ** 4 - q**4) * d) / s**4
    four_cycles: Numbers = products - (shared - fourths)
    return four_cycles
