"""All graphs of a few nodes, and what can be found out about them by looking at every one.

A graph is a number, whose bits are the pairs of `pairs_of` that are linked: graphs that one link tells apart
differ in one bit.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]


def pairs_of(nodes: int) -> list[tuple[int, int]]:
    """Return all pairs of nodes."""
    return list(combinations(range(nodes), 2))


def links_of(graph: int, nodes: int) -> Numbers:
    """Return the pairs that are linked: int64, shape (links, 2)."""
    linked = [pair for place, pair in enumerate(pairs_of(nodes)) if graph >> place & 1]
    return np.array(linked, dtype=np.int64).reshape(-1, 2)


@cache
def neighbours(nodes: int) -> Numbers:
    """Return the graphs that one link tells from each: int64, shape (pairs, graphs)."""
    pairs = len(pairs_of(nodes))
    return np.arange(1 << pairs) ^ (1 << np.arange(pairs))[:, None]


@cache
def triangles(nodes: int) -> Numbers:
    """Return the numbers of triangles at each node of all graphs: int64, shape (graphs, nodes)."""
    pairs = pairs_of(nodes)
    graphs = np.arange(1 << len(pairs))
    linked = {frozenset(pair): graphs >> place & 1 for place, pair in enumerate(pairs)}
    counts = np.zeros((len(graphs), nodes), dtype=np.int64)
    for three in combinations(range(nodes), 3):
        counts[:, three] += np.prod([linked[frozenset(pair)] for pair in combinations(three, 2)], axis=0)[
            :, None
        ]
    return counts


@cache
def local_sensitivities(nodes: int) -> Numbers:
    """Return by how much one link moves the triangles: int64, shape (graphs, 2).

    Of their number, and of those at each node, the sum of absolute changes.
    """
    counts = triangles(nodes)
    changes = np.abs(counts[neighbours(nodes)] - counts).sum(axis=2)
    totals = counts.sum(axis=1) // 3
    in_all = np.abs(totals[neighbours(nodes)] - totals)
    return np.stack([one.max(axis=0, initial=0) for one in (in_all, changes)], axis=1)


@cache
def sensitivities_within(nodes: int, distances: int) -> Numbers:
    """Return the largest of the graphs within a distance: int64, shape (distances, graphs, 2)."""
    within = [local_sensitivities(nodes)]
    while len(within) < distances:
        within.append(np.maximum(within[-1], within[-1][neighbours(nodes)].max(axis=0, initial=0)))
    return np.stack(within)
