"""Links, degrees and triangles of a graph, estimated from reports in which every pair of nodes may be flipped.

A pair's report y is the truth with probability p = 1 - q, for all pairs independently. With r = p - q,

    x = (y - q) / r

has the pair's true value a, zero or one, as its mean, and the variance v = p q / r**2 whatever a is. So sums of products
of distinct pairs' x are unbiased for what they are with a in place of x: degrees, triangles, and the variances
of both. The driver sees integer sums of reports alone: see `udfs.link_sums`.

Privacy: post-processing of reports.

References
----------
papers/randomized-response, equation 6 for x, with a single pair as the population, and section 6 for both sequences.
That triangles have no bias, and all variances, follow from the independence of pairs: see `triangle_moments`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from udfs.errors import SpecError
from udfs.link_sums import LinkSums, Sums

Numbers: TypeAlias = npt.NDArray[Any]
"""Of float64, or of Fractions."""


@dataclass(frozen=True, eq=False)
class Estimated:
    """Estimates and their standard errors.

    Attributes
    ----------
    estimates : ndarray of float64
        Unbiased. They are not cut to what is possible, which would add a bias: some may be negative.
    standard_errors : ndarray of float64
        Of the same shape: (nodes,) for a sequence, () for a total.
    """

    estimates: npt.NDArray[np.float64]
    standard_errors: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TriangleMoments:
    """Triangles, and the variances of these very estimates: all of them unbiased.

    Attributes
    ----------
    sequence, variances : ndarrays of float64 or of Fractions, shape (nodes,)
        Of the number of triangles at each node.
    total, total_variance : float or Fraction
        Of the number of triangles in the graph.
    """

    sequence: Numbers
    variances: Numbers
    total: Any
    total_variance: Any


def edge_total(degrees: Sums, flip: Fraction) -> Estimated:
    """Estimate the number of links.

    Parameters
    ----------
    degrees : ndarray of int64, shape (nodes,)
        Reported links at each node.
    flip : Fraction
        q: the probability that a pair's report is false; at least 0 and below 1/2.

    Returns
    -------
    Estimated
        Of shape (): the standard error is sqrt(N v), N the number of pairs, and is known exactly.

    Raises
    ------
    SpecError

    Examples
    --------
    >>> print(edge_total(np.array([2, 1, 1]), Fraction(1, 4)).estimates)
    2.5
    """
    nodes = len(degrees)
    edges = (Fraction(int(degrees.sum()), 2) - nodes * (nodes - 1) // 2 * flip) / slope(flip)
    return Estimated(np.array(float(edges)), np.array(least_errors(nodes, flip)["edges"]))


def degree_sequence(degrees: Sums, flip: Fraction) -> Estimated:
    """Estimate the number of links at each node.

    Parameters
    ----------
    degrees : ndarray of int64, shape (nodes,)
        Reported links at each node.
    flip : Fraction
        q: at least 0 and below 1/2.

    Returns
    -------
    Estimated
        Of shape (nodes,): all standard errors are sqrt((nodes - 1) v), which is known exactly. Two nodes' estimates
        have a covariance of v, by the pair of both.

    Raises
    ------
    SpecError

    Examples
    --------
    >>> degree_sequence(np.array([2, 1, 1]), Fraction(1, 4)).estimates
    array([3., 1., 1.])
    """
    nodes = len(degrees)
    estimates = (degrees.astype(np.float64) - float((nodes - 1) * flip)) / float(slope(flip))
    return Estimated(estimates, np.full(nodes, least_errors(nodes, flip)["degrees"]))


def triangle_sequence(sums: LinkSums, flip: Fraction) -> tuple[Estimated, Estimated]:
    """Estimate the number of triangles at each node, and that of the graph.

    Parameters
    ----------
    sums : LinkSums
        Of all pairs' reports.
    flip : Fraction
        q: at least 0 and below 1/2.

    Returns
    -------
    sequence, total : Estimated
        Of shapes (nodes,) and (). The total is a third of the sequence's sum.

    Raises
    ------
    SpecError

    Notes
    -----
    Standard errors are roots of the unbiased variances of `triangle_moments`. Where links are few, these may fall
    short of what an empty graph has, C(nodes - 1, 2) v**3 and C(nodes, 3) v**3, or of zero. No graph has less than
    that, so they are raised to it, which only takes them closer to the truth, but leaves them too large on average. Fewer
    than three nodes have no triangle, and no error of it.
    """
    nodes = len(sums.degrees)
    least = least_errors(nodes, flip)["triangles"] ** 2
    if nodes < 3:
        return Estimated(np.zeros(nodes), np.zeros(nodes)), Estimated(np.zeros(()), np.zeros(()))
    moments = triangle_moments(sums, float(flip))
    return (
        Estimated(moments.sequence, np.sqrt(np.maximum(moments.variances, least))),
        Estimated(np.array(moments.total), np.array(max(moments.total_variance, nodes * least / 3) ** 0.5)),
    )


def least_errors(nodes: int, flip: Fraction) -> dict[str, float]:
    """Return the standard errors of a graph without links, which no graph's are below.

    Parameters
    ----------
    nodes : int
    flip : Fraction
        q: at least 0 and below 1/2.

    Returns
    -------
    dict
        Of the number of links ("edges"), and of the links ("degrees") and the triangles ("triangles") at each node. The first
        two are those of any graph.

    Raises
    ------
    SpecError

    Examples
    --------
    >>> least_errors(3, Fraction(1, 4))
    {'edges': 1.5, 'degrees': 1.224744871391589, 'triangles': 0.649519052838329}
    """
    v, others = report_variance(flip), max(0, nodes - 1)
    variances = {
        "edges": nodes * others // 2 * v,
        "degrees": others * v,
        "triangles": others * max(0, nodes - 2) // 2 * v**3,
    }
    return {kind: float(variance) ** 0.5 for kind, variance in variances.items()}


def triangle_moments(sums: LinkSums, flip: Fraction | float) -> TriangleMoments:
    """Return unbiased numbers of triangles, and unbiased variances of these.

    Parameters
    ----------
    sums : LinkSums
        Of all pairs' reports.
    flip : Fraction or float
        q: at least 0 and below 1/2. Results are exact where it is a Fraction.

    Returns
    -------
    TriangleMoments
        In float64, rounding moves a variance by less than nodes * 2**-48 of the sum of itself and an empty graph's, and an
        estimate by less than that of its standard error, where p - q is 0.001 or more.

    Raises
    ------
    SpecError

    Notes
    -----
    With b_ij = sum_k x_ik x_jk, d_i = sum_j x_ij, and all sums over distinct nodes other than i,

        t_i = sum_{j<k} x_ij x_jk x_ik = sum_j x_ij b_ij / 2

    The same triangle has a variance of prod(a + v) - prod(a), two triangles at i with the link ij in common have a
    covariance of v times their other four links, and others have none:

        Var t_i = P_i + v F_i
        P_i = sum_{j<k} [(a_ij + v)(a_jk + v)(a_ik + v) - a_ij a_jk a_ik]
        F_i = sum_j sum_{k != l} a_ik a_jk a_il a_jl
        Var sum_i t_i / 3 = sum_i P_i / 3 + v sum_i F_i / 2

    All products are of distinct pairs, so x in place of a leaves the means as they are. As x**2 = x + v, whatever y is,

        sum_j x_ij**2 = d_i + (n - 1) v
        sum_{k != l} x_ik x_jk x_il x_jl = b_ij**2 - b_ij - v (d_i + d_j - 2 x_ij) - (n - 2) v**2
    """
    n, q = len(sums.degrees), cast(Any, flip)
    r, v = slope(q), report_variance(q)
    ones, links = sums.degrees, sums.degrees.sum()
    # r**2 b_ij = c_ij - q (ones_i + ones_j - 2 y_ij) + (n - 2) q**2 = u_ij + h_i, u_ij = c_ij - q ones_j + 2 q y_ij
    h = (n - 2) * q**2 - q * ones
    u_sums = sums.paths - q * (links - ones) + 2 * q * ones
    u_on_links = sums.corners - q * (sums.paths + ones) + 2 * q * ones
    u_squares = (
        sums.squares
        + q**2 * ((ones**2).sum() - ones**2)
        + 4 * q**2 * ones
        - 2 * q * sums.weighted
        + 4 * q * sums.corners
        - 4 * q**2 * (sums.paths + ones)
    )
    b_sums = (u_sums + (n - 1) * h) / r**2
    b_squares = (u_squares + 2 * h * u_sums + (n - 1) * h**2) / r**4
    sequence = ((u_on_links + ones * h) / r**2 - q * b_sums) / (2 * r)

    d = (ones - (n - 1) * q) / r
    edges = d.sum() / 2
    two_links = (d**2 - d - (n - 1) * v) / 2 + b_sums  # of the three pairs of i, j and k, summed over j < k
    one_link = (n - 3) * d + edges
    same = v * two_links + v**2 * one_link + (n - 1) * (n - 2) * v**3 / 2
    shared = b_squares - b_sums - v * ((n - 4) * d + 2 * edges) - (n - 1) * (n - 2) * v**2
    return TriangleMoments(
        sequence=sequence,
        variances=same + v * shared,
        total=sequence.sum() / 3,
        total_variance=same.sum() / 3 + v * shared.sum() / 2,
    )


def slope(flip: Any) -> Any:
    """Return r = p - q, of the same type as q.

    Raises
    ------
    SpecError
    """
    if not 0 <= 2 * flip < 1:
        raise SpecError("flip", "must be at least 0 and below 1/2", f"{float(flip)}", "give a larger epsilon")
    return 1 - 2 * flip


def report_variance(flip: Any) -> Any:
    """Return v = p q / (p - q)**2, the variance of what one pair's report comes to: of the same type as q."""
    return flip * (1 - flip) / slope(flip) ** 2
