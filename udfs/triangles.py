"""Degrees and triangles of a graph as it is: exact counts, for a trusted holder, and to hold estimates against.

A triangle's nodes are put in the order of their degrees: then each lies once in the product of the matrix of links to
later nodes with itself, and a node has few later ones, however many links it has (Chiba, Nishizeki: Arboricity and
subgraph listing algorithms, 1985).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

Counts = npt.NDArray[np.int64]

_PATHS_AT_ONCE = 1 << 22
"""So many paths of two links are held at a time."""


def degrees_of(links: Counts, nodes: int) -> Counts:
    """Return how many links each node has: int64, shape (nodes,).

    Parameters
    ----------
    links : ndarray of int64, shape (links, 2)
        Of different nodes, each once.
    nodes : int

    Examples
    --------
    >>> degrees_of(np.array([[0, 1], [0, 2]]), 4)
    array([2, 1, 1, 0])
    """
    return np.bincount(links.ravel(), minlength=nodes).astype(np.int64)


def triangles_of(links: Counts, nodes: int) -> Counts:
    """Return how many triangles each node is in: int64, shape (nodes,).

    Parameters
    ----------
    links : ndarray of int64, shape (links, 2)
        Of different nodes, each once.
    nodes : int

    Examples
    --------
    >>> triangles_of(np.array([[0, 1], [0, 2], [1, 2], [2, 3]]), 4)
    array([1, 1, 1, 0])
    """
    order = np.argsort(degrees_of(links, nodes), kind="stable")
    ranks = np.empty(nodes, dtype=np.int64)
    ranks[order] = np.arange(nodes)
    ends = np.sort(ranks[links], axis=1)
    ones = np.ones(len(links), dtype=np.int32)
    later = csr_array((ones, (ends[:, 0], ends[:, 1])), shape=(nodes, nodes))
    counts = np.zeros(nodes, dtype=np.int64)
    paths = np.cumsum(np.diff(later.indptr)[later.indices]) if later.nnz else np.zeros(0, dtype=np.int64)
    starts = np.concatenate([[0], paths])[later.indptr]
    first = 0
    while first < nodes:
        stop = int(np.searchsorted(starts, starts[first] + _PATHS_AT_ONCE, side="right")) - 1
        stop = min(max(stop, first + 1), nodes)
        rows = later[first:stop]
        closed = (rows @ later) * rows  # at (i, k): paths i - j - k that a link i - k closes
        counts[first:stop] += closed.sum(axis=1).astype(np.int64)
        counts += closed.sum(axis=0).astype(np.int64)
        between = (rows.T @ rows) * later  # at (j, k): links i - j and i - k that a link j - k closes
        counts += between.sum(axis=1).astype(np.int64)
        first = stop
    found: Counts = counts[ranks]
    return found
