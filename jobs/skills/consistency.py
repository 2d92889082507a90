"""Counts of a tree's nodes made to agree: children add up to their parents, and every count is bettered by the others.

Post-processing of private counts: it costs no privacy.

References
----------
papers/private-skills, "Post-processing"; Hay, Rastogi, Miklau, Suciu: Boosting the accuracy of differentially private
histograms through consistency (VLDB 2010), theorem 3; Cormode et al. (ICDE 2012), section 5, for unequal budgets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from udfs.design import Shares


def consistent(
    parents: Sequence[int | None], counts: npt.ArrayLike, variances: npt.ArrayLike
) -> tuple[Shares, Shares]:
    """Return the least-squares counts of a tree whose children add up to their parents, and their variances.

    The generalized least-squares estimate, so the best linear unbiased one, where noise is independent and unbiased.

    Parameters
    ----------
    parents : sequence of int or None
        The place of each node's parent, which stands before it; None for a root. Trees may have any shape.
    counts : array of numbers, shape (nodes,)
        The noisy count of each node.
    variances : array of float64, shape (nodes,)
        Of their noise: positive.

    Returns
    -------
    estimates, variances : ndarray of float64, shape (nodes,)

    Notes
    -----
    Two passes. Up, a node's own count Y of variance s is averaged with its children's sum: V = 1/(1/s + 1/S) and
    z = V (Y/s + sum z_c / S), where S = sum V_c; a leaf keeps V = s and z = Y. Down, what a parent's estimate b
    differs from its children's sum is shared by their variances: b_c = z_c + (b - sum z_c) V_c/S. As z_c and b are
    independent but for sum z_c, Var b_c = V_c - V_c**2/S + (V_c/S)**2 Var b.

    Cost: a few operations on whole arrays a level.

    Examples
    --------
    >>> consistent([None, 0, 0], [10, 4, 3], [1.0, 1.0, 1.0])[0]
    array([9., 5., 4.])
    """
    levels = _levels(parents)
    above = np.array([-1 if parent is None else parent for parent in parents], dtype=np.intp)
    z, v = np.array(counts, dtype=np.float64), np.array(variances, dtype=np.float64)
    sums, spreads = np.zeros_like(z), np.zeros_like(v)
    for level in reversed(levels):
        inner = level[spreads[level] > 0]
        own, below = v[inner], spreads[inner]
        v[inner] = own * below / (own + below)
        z[inner] = (z[inner] * below + sums[inner] * own) / (own + below)
        children = level[above[level] >= 0]
        np.add.at(sums, above[children], z[children])
        np.add.at(spreads, above[children], v[children])
    for level in levels[1:]:
        parent = above[level]
        share = v[level] / spreads[parent]
        z[level] += (z[parent] - sums[parent]) * share
        v[level] += (v[parent] - spreads[parent]) * share**2
    return z, v


def _levels(parents: Sequence[int | None]) -> list[npt.NDArray[np.intp]]:
    """Return the places of the nodes at each distance from their root, roots first."""
    distances = np.zeros(len(parents), dtype=np.intp)
    for place, parent in enumerate(parents):
        if parent is not None:
            distances[place] = distances[parent] + 1
    order = np.argsort(distances, kind="stable")
    return np.split(order, np.cumsum(np.bincount(distances))[:-1])
