"""Cells of a tree: which counters a row adds one to, at one level of a k-d tree.

The tree above the level is public: cuts that send a row to the node whose box it lies in. The level asks
for each node's count and, where nodes are to be split further, for a histogram of one column in each.
Both are decided by comparing the row's numbers with splits and edges, exactly: nothing is divided or
rounded, so that a number on an edge lies in the bin that begins there.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from udfs.design import Counts
from udfs.errors import SpecError

Numbers: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TreeCells:
    """The counters of one level of a k-d tree, and which of them a row is counted in.

    Counter `v` is the count of node v; counter `nodes + v * bins + b` is bin b of node v. Boxes and bins
    are half-open, `low <= x < high`: a number on a split goes right, one on an edge lies in the bin that
    begins there. The first and last bin take all that lies outside the edges, so that the last one is
    closed. Each row adds to at most one counter of each kind: a level's nodes are disjoint, and so are a
    node's bins.

    Parameters
    ----------
    cut_columns : tuple of int
        The column that each cut compares; cut 0 is the root's. Without cuts, everybody is in node 0.
    cut_splits : tuple of float
        A number of at least the split goes right.
    cut_children : tuple of (int, int)
        Where each cut sends a row, left and right: to a later cut, c >= 0; to node k of this level,
        -1 - k; or nowhere, -1 - nodes, as the branch has ended above this level.
    nodes : int
        The nodes of this level, from 1 up.
    column : int, optional
        The column whose histograms are asked for; without, counts alone are.
    edges : tuple of tuple of float
        Each node's bin edges, all of the same number and ascending; see `bin_edges`. Empty without a column.

    Examples
    --------
    >>> halves = (bin_edges(0.0, 0.5, 2), bin_edges(0.5, 1.0, 2))
    >>> level = TreeCells((0,), (0.5,), ((-1, -2),), nodes=2, column=1, edges=halves)
    >>> level.cells(np.array([[0.1, 0.3], [0.5, 0.75], [1.0, 1.0]]))
    array([[0, 3],
           [1, 5],
           [1, 5]])
    """

    cut_columns: tuple[int, ...]
    cut_splits: tuple[float, ...]
    cut_children: tuple[tuple[int, int], ...]
    nodes: int
    column: int | None
    edges: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        """Check that cuts lead to this level's nodes, and that every node has edges."""
        self._check_cuts()
        self._check_edges()

    def _check_cuts(self) -> None:
        where, cuts = "tree.cuts", len(self.cut_splits)
        if not len(self.cut_columns) == len(self.cut_children) == cuts:
            raise SpecError(where, "each cut needs a column, a split and two children", "tuples that differ")
        if self.nodes < 1:
            raise SpecError("tree.nodes", "a level has at least one node", f"{self.nodes}")
        if min(self.cut_columns, default=0) < 0 or not np.isfinite(self.cut_splits).all():
            raise SpecError(where, "columns are numbered from 0 and splits are finite", "others")
        for cut, children in enumerate(self.cut_children):
            for child in children:
                if not (cut < child < cuts or -1 - self.nodes <= child < 0):
                    must = f"must lead to a later cut, or to one of {self.nodes} nodes or nowhere"
                    raise SpecError(f"{where}[{cut}]", must, f"{child}")

    def _check_edges(self) -> None:
        where, lengths = "tree.edges", {len(edges) for edges in self.edges}
        if self.column is None:
            if self.edges:
                raise SpecError(
                    where, "without a column there are no bins", f"those of {len(self.edges)} nodes"
                )
            return
        if self.column < 0:
            raise SpecError("tree.column", "columns are numbered from 0", f"{self.column}")
        if len(self.edges) != self.nodes or len(lengths) != 1 or min(lengths) < 2:
            must = f"each of {self.nodes} nodes needs the same number of edges, two at least"
            raise SpecError(where, must, f"those of {len(self.edges)} nodes, {sorted(lengths)} in number")
        edges = np.array(self.edges)
        if not (np.isfinite(edges).all() and (edges[:, :-1] <= edges[:, 1:]).all()):
            raise SpecError(where, "must be finite and ascend", "others")

    @property
    def bins(self) -> int:
        """How many bins each node's histogram has; 0 where there is none."""
        return len(self.edges[0]) - 1 if self.edges else 0

    @property
    def counters(self) -> int:
        """How many counters the level has."""
        return self.nodes * (1 + self.bins)

    @cached_property
    def label(self) -> str:
        """A digest of everything: part of the keys of draws at this level."""
        columns, splits, onward = (one.tolist() for one in self._walk)
        whole = repr((columns, splits, onward, self.column, np.array(self.edges, dtype=np.float64).tolist()))
        return f"tree cells {hashlib.sha256(whole.encode()).hexdigest()}"

    def cells(self, answers: Numbers) -> Places:
        """Return the counters that each row adds one to.

        Parameters
        ----------
        answers : ndarray of float64, shape (rows, columns)
            Finite numbers, best in Fortran order.

        Returns
        -------
        ndarray of int64, shape (rows, 2) or (rows, 1)
            The counter of the row's node, and that of its bin where there are any; -1 is none.
        """
        nodes = self._nodes_of(answers)
        cells = np.empty((len(nodes), 1 if self.column is None else 2), dtype=np.int64, order="F")
        cells[:, 0] = nodes
        if self.column is not None:
            cells[:, 1] = self.nodes + nodes * self.bins + self._bins_of(answers[:, self.column], nodes)
        cells[nodes == self.nodes] = -1
        return cells

    def count(self, answers: Numbers) -> Counts:
        """Count rows in each counter, as they are: for public data alone.

        Parameters
        ----------
        answers : ndarray of float64, shape (rows, columns)

        Returns
        -------
        ndarray of int64, shape (counters,)
        """
        places = self.cells(answers).ravel(order="K") + 1
        return np.bincount(places, minlength=self.counters + 1)[1:].astype(np.int64, copy=False)

    def _nodes_of(self, answers: Numbers) -> Places:
        """Return each row's node; `nodes` where its branch has ended.

        All rows walk down together. A state below the number of cuts is a cut; those above are a node each,
        which a row does not leave.
        """
        cuts, rows = len(self.cut_columns), len(answers)
        columns, splits, children = self._walk
        states = np.zeros(rows, dtype=np.int64)
        flat, row = np.asfortranarray(answers).ravel(order="F"), np.arange(rows)
        while (states < cuts).any():
            numbers = flat.take((columns * rows).take(states) + row)
            states = children.take(2 * states + (numbers >= splits.take(states)))
        return states - cuts

    @cached_property
    def _walk(self) -> tuple[Places, Numbers, Places]:
        """Columns, splits and next states, two a state: of the cuts, the nodes, and the end of a branch."""
        cuts, ends = len(self.cut_columns), self.nodes + 1
        children = np.array(self.cut_children, dtype=np.int64).reshape(-1)
        onward = np.where(children < 0, cuts - 1 - children, children)
        columns = np.array([*self.cut_columns, *[0] * ends], dtype=np.int64)
        splits = np.array([*self.cut_splits, *[np.inf] * ends])
        return columns, splits, np.concatenate([onward, np.repeat(cuts + np.arange(ends), 2)])

    def _bins_of(self, numbers: Numbers, nodes: Places) -> Places:
        """Return each row's bin in its node: how many of the inner edges are not above its number.

        A binary search in all rows at once.
        """
        table = self._inner_edges
        first, bins = nodes * table.shape[1], np.zeros(len(nodes), dtype=np.int64)
        step = (table.shape[1] + 1) // 2
        while step:
            bins += step * (table.take(first + bins + (step - 1)) <= numbers)
            step //= 2
        return bins

    @cached_property
    def _inner_edges(self) -> Numbers:
        """Each node's edges between bins, filled up to one less than a power of two with infinity.

        The last row is for rows that are in no node.
        """
        table = np.full((self.nodes + 1, (1 << (self.bins - 1).bit_length()) - 1), np.inf)
        table[:-1, : self.bins - 1] = np.array(self.edges)[:, 1:-1]
        return table


def bin_edges(low: float, high: float, bins: int) -> tuple[float, ...]:
    """Return the edges of bins of equal width from `low` to `high`, each correctly rounded.

    A float means the decimal it prints as, so that edges are the floats that people write.

    Parameters
    ----------
    low, high : float
        Finite, `low <= high`.
    bins : int
        From 1 up.

    Returns
    -------
    tuple of float
        `bins + 1` numbers, ascending, from `low` to `high`.

    Examples
    --------
    >>> bin_edges(0.0, 1.0, 100)[29], 0.29 * 100
    (0.29, 28.999999999999996)
    >>> bin_edges(0.0, 1.1, 11)[3]
    0.3
    """
    start, stop = (Fraction(repr(float(end))) for end in (low, high))
    scale = bins * start.denominator * stop.denominator
    left, right = start.numerator * stop.denominator, stop.numerator * start.denominator
    return tuple((left * (bins - edge) + right * edge) / scale for edge in range(bins + 1))
