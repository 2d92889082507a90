"""The private k-d tree: which question each level asks, and what its counters make of it.

A driver's conversation, written once as a generator: it yields a level's question and is sent that level's counters,
be they decrypted sums with noise, exact counts or simulated ones. It sees nothing else, so what it returns is
post-processing of what is opened anyway.

References
----------
papers/private-skills, algorithms 1 (PrivMed) and 2 (PKD).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from udfs.design import Counts
from udfs.tree_cells import TreeCells, bin_edges

Box = tuple[tuple[float, float], ...]
"""The ends of a node in each dimension: half-open, but closed where they reach the domain's upper end."""

ROOT = 1
MOST_DEPTH = 20
MOST_COUNTERS = 1 << 20
"""Of one level: a participant encrypts every one of them."""


@dataclass(frozen=True)
class Shape:
    """What a tree is like, before anybody is asked.

    Attributes
    ----------
    dimensions : tuple of str
        In the order in which they are cut, again and again.
    domain : tuple of float
        The ends of every dimension.
    bins : int
        Of the histograms that medians are found by.
    depth : int
        How often the root's workers are split at most; from 0 up.
    min_count : int
        Nodes with a lower count are not split; at 0 all are, also where noise makes a count negative.
    """

    dimensions: tuple[str, ...]
    domain: tuple[float, float]
    bins: int
    depth: int
    min_count: int = 0

    def cut_at(self, level: int) -> int | None:
        """Return the place of the dimension that a level's nodes are split by; None at the leaves."""
        return (self.depth - level) % len(self.dimensions) if level else None


@dataclass(frozen=True)
class Node:
    """A part of the space, and what is known of the workers in it.

    Attributes
    ----------
    id : int
        The root's is 1; the children of node v are 2v, below its split, and 2v + 1, from its split up.
    level : int
        The root's is the tree's depth.
    dimension : str or None
        That it was split by; None for a leaf.
    split : float or None
        Where.
    box : tuple of (float, float)
        Its ends, by dimension.
    count : int
    bins : tuple of int or None
        The histogram along the dimension of its level; None at level 0, where there is none.
    """

    id: int
    level: int
    dimension: str | None
    split: float | None
    box: Box
    count: int
    bins: tuple[int, ...] | None


@dataclass(frozen=True)
class Tree:
    """A tree that was grown.

    Attributes
    ----------
    nodes : tuple of Node
        By level, the root first, and by id.
    """

    nodes: tuple[Node, ...]

    @property
    def leaves(self) -> tuple[Node, ...]:
        """The nodes that are not split: their boxes fill the space, and every worker is in exactly one."""
        return tuple(node for node in self.nodes if node.split is None)

    @property
    def parents(self) -> tuple[int | None, ...]:
        """The place of each node's parent among the nodes; None for the root's."""
        places = {node.id: place for place, node in enumerate(self.nodes)}
        return tuple(places.get(node.id // 2) for node in self.nodes)


@dataclass(frozen=True)
class LevelQuestion:
    """What a level asks: the count of each of its nodes, and a histogram where they are to be split.

    Attributes
    ----------
    level : int
    cells : TreeCells
        Its answer is int64 of shape (cells.counters,): the counts, then the histograms one after another.
    """

    level: int
    cells: TreeCells


def grow(shape: Shape) -> Generator[LevelQuestion, Counts, Tree]:
    """Grow a tree: yield each level's question, root first, be sent its counters, and return the tree.

    Workers at a split go up: a node holds those below it on its left, those from it up on its right.

    Parameters
    ----------
    shape : Shape

    Yields
    ------
    LevelQuestion
        Of levels `depth`, ..., 0; fewer where no node is left to split.

    Returns
    -------
    Tree
    """
    nodes: list[Node] = []
    cuts: dict[int, tuple[int, float]] = {}
    asked: dict[int, Box] = {ROOT: (shape.domain,) * len(shape.dimensions)}
    for level in range(shape.depth, -1, -1):
        column = shape.cut_at(level)
        counters = yield LevelQuestion(level, _cells(shape, cuts, asked, column))
        counts, histograms = np.split(counters, [len(asked)])
        bins = histograms.reshape(len(asked), -1) if column is not None else [None] * len(asked)
        below: dict[int, Box] = {}
        for (name, box), count, histogram in zip(asked.items(), counts.tolist(), bins, strict=True):
            node = _node(shape, level, name, box, count, histogram)
            nodes.append(node)
            if node.split is not None and column is not None:
                cuts[name] = column, node.split
                low, high = box[column]
                for child, ends in (2 * name, (low, node.split)), (2 * name + 1, (node.split, high)):
                    below[child] = (*box[:column], ends, *box[column + 1 :])
        asked = below
        if not asked:
            break
    return Tree(tuple(nodes))


def conduct(growing: Generator[LevelQuestion, Counts, Tree], ask: Callable[[LevelQuestion], Counts]) -> Tree:
    """Put each level's question to whoever answers, and return the tree that grew."""
    try:
        question = next(growing)
        while True:
            question = growing.send(ask(question))
    except StopIteration as stop:
        tree: Tree = stop.value
        return tree


def _node(shape: Shape, level: int, name: int, box: Box, count: int, histogram: Counts | None) -> Node:
    """Return a node that has been counted, split where it is to be."""
    column = shape.cut_at(level)
    if column is None or histogram is None:
        return Node(name, level, None, None, box, count, None)
    bins = tuple(histogram.tolist())
    if shape.min_count and count < shape.min_count:
        return Node(name, level, None, None, box, count, bins)
    # A box that ends where the domain does is closed there: a split at that end would leave two such boxes.
    below_end = math.nextafter(shape.domain[1], -math.inf)
    split = min(median(histogram, bin_edges(*box[column], shape.bins)), below_end)
    return Node(name, level, shape.dimensions[column], split, box, count, bins)


def _cells(
    shape: Shape, cuts: dict[int, tuple[int, float]], asked: dict[int, Box], column: int | None
) -> TreeCells:
    """Return the cells of a level: the way down to its nodes, by columns and splits, and their histograms' edges."""
    ended = -1 - len(asked)
    places = {name: -1 - place for place, name in enumerate(asked)}
    places |= {name: place for place, name in enumerate(cuts)}
    return TreeCells(
        cut_columns=tuple(cut for cut, _ in cuts.values()),
        cut_splits=tuple(split for _, split in cuts.values()),
        cut_children=tuple((places.get(2 * name, ended), places.get(2 * name + 1, ended)) for name in cuts),
        nodes=len(asked),
        column=column,
        edges=() if column is None else tuple(bin_edges(*box[column], shape.bins) for box in asked.values()),
    )


def median(bins: Counts, edges: Sequence[float]) -> float:
    """Return the median of a noisy histogram (PrivMed): where half of its sum is reached, bins being uniform.

    Parameters
    ----------
    bins : ndarray of int64, shape (bins,)
        Noise may have made some negative. They stay so: cutting them off at 0 would add workers to empty bins, and
        drag skewed medians to the middle.
    edges : sequence of float, shape (bins + 1,)
        The bins' ends, not falling.

    Returns
    -------
    float
        Correctly rounded, so within the edges; their middle where the bins' sum is not positive. A float means the
        decimal it prints as, as in `bin_edges`.

    Notes
    -----
    Bin k, of b_k workers from l_k up to h_k, is the first at which the sum t of those before it has t + b_k >= s/2,
    where s is the sum of all. The median is l_k + (h_k - l_k)(s/2 - t)/b_k. As s > 0 and k is the first,
    t < s/2 <= t + b_k: so b_k is positive and the fraction lies in (0, 1] whatever the noise, and the rules of the
    paper for an empty bin k, and for a median beyond its bin, are never called for.

    Examples
    --------
    >>> median(np.array([1, 1, 4, 2]), (0.0, 0.25, 0.5, 0.75, 1.0))
    0.625
    """
    sums = np.cumsum(bins)
    total = int(sums[-1])
    if total <= 0:
        return _between(edges[0], edges[-1], Fraction(1, 2))
    k = int(np.argmax(2 * sums >= total))
    here = int(bins[k])
    return _between(edges[k], edges[k + 1], Fraction(total - 2 * (int(sums[k]) - here), 2 * here))


def _between(low: float, high: float, fraction: Fraction) -> float:
    start, stop = Fraction(repr(float(low))), Fraction(repr(float(high)))
    return float(start + (stop - start) * fraction)
