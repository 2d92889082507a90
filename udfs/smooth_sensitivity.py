"""Smooth sensitivity of triangles: noise for a trusted holder that follows the graph, and not the worst one.

How much one link changes the triangles of this graph may itself give links away. A smooth bound of it may not: it
changes by at most e**beta from a graph to its neighbours.

References
----------
Nissim, Raskhodnikova, Smith: Smooth sensitivity and sampling in private data analysis (2007): definition 2.2, and
claim 3.13 on triangles. The noise is Cauchy's: see `smooth_noise`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

Counts = npt.NDArray[np.int64]

_CELLS = 1 << 22
"""Pairs of nodes that are looked at at once."""


@dataclass(frozen=True)
class PairProfile:
    """What decides by how much a change of links can raise the common neighbours of two nodes.

    Attributes
    ----------
    nodes : int
    common : ndarray of int64, shape (kinds,)
        Numbers of common neighbours that pairs of nodes have, ascending.
    half : ndarray of int64, shape (kinds,)
        Of the pairs with so many, the most nodes that are linked with exactly one of the two.
    """

    nodes: int
    common: Counts
    half: Counts

    def local_sensitivity(self, distance: int) -> int:
        """Return the most that one link can change the number of triangles, in any graph within so many changes.

        It takes one change to make a node that is linked with one of two a common neighbour, and two for any other:
        a + floor((s + min(s, b)) / 2), and no more than n - 2.
        """
        if not len(self.common):
            return 0
        raised = self.common + (distance + np.minimum(distance, self.half)) // 2
        return int(min(raised.max(), self.nodes - 2))

    def smooth_sensitivity(self, beta: float) -> float:
        """Return the greatest of e**(-beta s) times the local sensitivity at distance s."""
        best, distance = 0.0, 0
        while True:
            here = self.local_sensitivity(distance)
            best = max(best, math.exp(-beta * distance) * here)
            if here >= self.nodes - 2 or math.exp(-beta * distance) * (self.nodes - 2) <= best:
                return best
            distance += 1


def pair_profile(links: Counts, nodes: int) -> PairProfile:
    """Return what decides the local sensitivity of triangles.

    Parameters
    ----------
    links : ndarray of int64, shape (links, 2)
        Of different nodes, each once.
    nodes : int

    Examples
    --------
    >>> path = pair_profile(np.array([[0, 1], [1, 2], [2, 3]]), 4)
    >>> [path.local_sensitivity(distance) for distance in range(3)]
    [1, 2, 2]
    """
    ends = np.concatenate([links, links[:, ::-1]])
    linked = csr_array((np.ones(len(ends), dtype=np.int64), (ends[:, 0], ends[:, 1])), shape=(nodes, nodes))
    degrees = np.bincount(ends[:, 0], minlength=nodes).astype(np.int64)
    most = np.full(nodes, -1, dtype=np.int64)  # by common neighbours, the greatest b
    step = max(1, _CELLS // max(1, nodes))
    for first in range(0, nodes, step):
        rows = linked[first : first + step]
        common = (rows @ linked).toarray()
        either = degrees[first : first + step, None] + degrees[None, :] - 2 * common - 2 * rows.toarray()
        later = np.arange(nodes)[None, :] > np.arange(first, first + len(common))[:, None]
        np.maximum.at(most, common[later], either[later])
    found = np.flatnonzero(most >= 0)
    return PairProfile(nodes, found, most[found])


@dataclass(frozen=True)
class SmoothNoise:
    """Cauchy noise that is epsilon-private with a smooth sensitivity.

    Attributes
    ----------
    beta : float
        How smooth it has to be.
    scale : float
        Of the noise, for a smooth sensitivity of 1.
    """

    beta: float
    scale: float


def smooth_noise(epsilon: float, outputs: int) -> SmoothNoise:
    """Return the noise for so many numbers at once, whose changes add up to the sensitivity.

    Notes
    -----
    Of Cauchy's density h, ln h(z + x) - ln h(z) is at most abs(x), as abs(h' / h) is at most 1: to move all numbers by
    what adds up to S, in units of S / alpha, costs alpha. ln(e**y h(e**y z)) - ln h(z) is at most abs(y) for each number,
    so that another scale costs `outputs` times beta. With alpha = epsilon / 2 and beta = epsilon / (2 outputs) it is
    epsilon together. A beta that does not fall with the number of outputs is not private.
    """
    return SmoothNoise(epsilon / (2 * outputs), 2 / epsilon)
