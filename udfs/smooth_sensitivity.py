"""How far links near a graph's move its triangles: local sensitivity at a distance, and a smooth bound on it.

One link between i and j makes or breaks a triangle with each node that both are linked to, of which there are
a_ij. It moves the number of triangles by a_ij; and the numbers of triangles at each node by 3 a_ij in all: by
a_ij at i and at j, and by one at each of the others. So everything here is of the number of triangles, and
three times as large for the numbers at each node.

Of the graphs that s links or fewer tell from a given one, the worst for the pair i, j has

    c_ij(s) = min(a_ij + s, (s + t_ij) // 2, n - 2)

nodes that both are linked to, where t_ij counts the links from either of them to third nodes: a change makes
such a node of one that is linked to either, or else two changes make one of a node that is linked to neither.

References
----------
Nissim, Raskhodnikova, Smith: Smooth sensitivity and sampling in private data analysis (2007), definition 2.2
and the section on triangles, which writes c_ij(s) = min(a_ij + floor((s + min(s, b_ij)) / 2), n - 2) with
b_ij = t_ij - 2 a_ij. It is for the number of triangles. papers/randomized-response, Figure 6, is about those
at each node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, eye_array

Numbers = npt.NDArray[np.int64]

SEQUENCE = 3
"""How many times as sensitive the numbers of triangles at each node are, all together, as their total."""

_BLOCK_PRODUCTS = 1 << 18
"""A block of rows is multiplied at a time: some megabytes, which a processor keeps at hand."""


@dataclass(frozen=True, eq=False)
class TriangleSensitivity:
    """What a graph tells of how sensitive its number of triangles is, to changes of links.

    Where it runs: with the trusted holder. None of it is private.

    Attributes
    ----------
    nodes : int
        n, which is public.
    common : ndarray of int64, shape (pairs,)
        a of the pairs that are the worst at some distance: descending.
    ends : ndarray of int64, shape (pairs,)
        t of these pairs: ascending, and so is t - 2 a.

    Examples
    --------
    >>> star = TriangleSensitivity.of(np.array([[0, 1], [0, 2], [0, 3]]), nodes=4)
    >>> star.local(np.arange(4))
    array([1, 1, 2, 2])
    """

    nodes: int
    common: Numbers
    ends: Numbers

    @classmethod
    def of(cls, links: Numbers, nodes: int) -> TriangleSensitivity:
        """Find the pairs that are the worst at some distance.

        Parameters
        ----------
        links : ndarray of int64, shape (links, 2)
            Every pair that is linked, once, its ends in any order; no node is linked to itself.
        nodes : int
            How many there are: the links' ends are below it.

        Returns
        -------
        TriangleSensitivity

        Notes
        -----
        c grows with a and with t: of the pairs with an equal a, the one with the largest t counts, and only
        where no pair with a larger a has as large a t. Pairs with a common neighbour are found by a product
        of sparse matrices, in blocks of rows. All others have a = 0, and the largest t of all pairs stands
        for theirs: a pair that it may belong to instead is worse anyway.

        Cost: as many products as there are paths of two links.
        """
        matrix = _adjacency(links, nodes)
        degrees = np.diff(matrix.indptr).astype(np.int64)
        most = np.zeros(int(degrees.max(initial=0)) + 1, dtype=np.int64)
        most[0] = _largest_ends(links, degrees)
        for common, ends in _pairs(matrix, degrees, most):
            np.maximum.at(most, common, ends)
        above = np.maximum.accumulate(most[::-1])[::-1]
        worst = np.flatnonzero(above > np.append(above[1:], -1))[::-1]
        return cls(nodes, worst, above[worst])

    @property
    def largest(self) -> int:
        """The global sensitivity: n - 2, of any graph."""
        return max(0, self.nodes - 2)

    def local(self, distances: Numbers) -> Numbers:
        """Return the largest local sensitivity of the graphs within distances of this one.

        Parameters
        ----------
        distances : ndarray of int64, shape (distances,)
            Of how many links they may differ; 0 is this graph's own.

        Returns
        -------
        ndarray of int64, shape (distances,)
            Ascends to `largest`, which it has reached at a distance of twice that.

        Notes
        -----
        At a distance of s, (s + t) // 2 is at most a + s where t - 2 a <= s: of these pairs the last one has
        the largest (s + t) // 2, of the others the first one has the largest a + s.
        """
        full = np.searchsorted(self.ends - 2 * self.common, distances, side="right")
        reached = np.zeros(distances.shape, dtype=np.int64)
        for pair in (np.maximum(full - 1, 0), np.minimum(full, len(self.ends) - 1)):
            common = np.minimum(self.common[pair] + distances, (distances + self.ends[pair]) // 2)
            reached = np.maximum(reached, common)
        return np.minimum(reached, self.largest)

    def smooth(self, beta: float) -> float:
        """Return the least beta-smooth bound on the local sensitivity: the most e**(-beta s) times that at s.

        Parameters
        ----------
        beta : float
            Positive.

        Returns
        -------
        float
            At least the local sensitivity, and at most e**beta times as large for this graph as for one that
            one link tells from it; to a relative precision of (2 beta + ln n + 4) 2**-52. 0 for fewer than
            three nodes.
        """
        distances = np.arange(2 * self.largest + 1)
        return float((np.exp(-beta * distances) * self.local(distances)).max())


def _adjacency(links: Numbers, nodes: int) -> csr_array:
    """Return the symmetric matrix of zeros and ones."""
    rows, columns = np.concatenate([links, links[:, ::-1]]).T
    return csr_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=(nodes, nodes))


def _pairs(matrix: csr_array, degrees: Numbers, most: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield a and t of the pairs that have a common neighbour and a larger t than any so far for their a.

    A block of rows at a time. In the product, a pair's a is doubled, and the last bit tells whether it is
    linked.
    """
    doubled = 2 * matrix + eye_array(len(degrees), dtype=np.int32, format="csr")
    products = np.cumsum(matrix @ degrees)
    cuts = np.searchsorted(products, np.arange(0, products.max(initial=0) + 1, _BLOCK_PRODUCTS))
    for first, last in pairwise([*cuts, len(degrees)]):
        found = (matrix[first:last] @ doubled).tocoo()
        common, linked = found.data >> 1, found.data & 1
        ends = degrees[first:last][found.row] + degrees[found.col] - 2 * linked
        more = np.flatnonzero((ends > most[common]) & (first + found.row != found.col))
        yield common[more], ends[more]


def _largest_ends(links: Numbers, degrees: Numbers) -> int:
    """Return the largest t of all pairs: the sum of both degrees, less two if they are linked.

    That is the largest sum of two degrees or one less, if a pair has it that is not linked: if fewer links
    have it than pairs. Else it is two less than the largest.
    """
    if len(degrees) < 2:
        return 0
    nodes_of = np.bincount(degrees)
    sums_of_links = degrees[links].sum(axis=1)
    largest = int(np.sort(degrees)[-2:].sum())
    for ends in (largest, largest - 1):
        one = np.arange(max(0, ends - len(nodes_of) + 1), min(ends, len(nodes_of) - 1) + 1)
        ordered = int(nodes_of[one] @ nodes_of[ends - one])
        same = int(nodes_of[ends // 2]) if ends % 2 == 0 else 0
        if (ordered - same) // 2 > np.count_nonzero(sums_of_links == ends):
            return ends
    return largest - 2
