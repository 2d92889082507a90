"""Sums over a symmetric matrix of 0 and 1 that lies in tiles: what triangles and their errors are made of.

The matrix never lies in one place. A block is a pair of bands of nodes; its common neighbours are a product of
single-precision numbers, which is exact, as they are integers below 2**24. All sums are integers, so that it does
not matter in what order they are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from udfs.errors import SpecError
from udfs.link_reports import LinkReports
from udfs.links import Tile
from udfs.loads import Load

Sums = npt.NDArray[np.int64]
Vector = npt.NDArray[np.int64]

MOST_NODES = (1 << 24) - 1
"""Common neighbours are counted exactly below 2**24."""


@dataclass(frozen=True)
class LinkMatrix:
    """A symmetric matrix with zeros on its diagonal, by the tiles on and above that.

    Parameters
    ----------
    nodes : int
    tiles : tuple of Tile
        All of them, row by row.
    bits : tuple of Load
        The bits of each.
    """

    nodes: int
    tiles: tuple[Tile, ...]
    bits: tuple[Load, ...]

    def __post_init__(self) -> None:
        """Check that common neighbours can be counted."""
        if self.nodes > MOST_NODES:
            raise SpecError("links", f"must be of at most {MOST_NODES:,} nodes", f"{self.nodes:,}")

    @classmethod
    def of(cls, reports: LinkReports) -> LinkMatrix:
        """Return the matrix that pairs reported."""
        return cls(len(reports.degrees), reports.tiles, reports.bits)

    @cached_property
    def bands(self) -> tuple[range, ...]:
        """The bands of nodes."""
        return tuple(tile.rows for tile in self.tiles if tile.diagonal)

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """All pairs of bands, each once: units of work."""
        return [(i, j) for i in range(len(self.bands)) for j in range(i, len(self.bands))]

    def block(self, i: int, j: int) -> npt.NDArray[np.uint8]:
        """Return the entries between two bands: uint8, 0 or 1, shape (nodes of band i, nodes of band j)."""
        first, second = min(i, j), max(i, j)
        place = first * len(self.bands) - first * (first - 1) // 2 + second - first
        entries = np.unpackbits(np.asarray(self.bits[place]()), axis=1, count=len(self.bands[second]))
        if first == second:
            return entries | entries.T
        return entries if i == first else entries.T


@dataclass(frozen=True)
class TimesVector:
    """The part of the matrix's product with a vector that some block gives.

    Parameters
    ----------
    matrix : LinkMatrix
    vector : ndarray of int64, shape (nodes,)
        From 0 up, of a sum below 2**53.
    """

    matrix: LinkMatrix
    vector: Vector

    def __call__(self, block: tuple[int, int]) -> Sums:
        """Return the part: int64, shape (nodes,)."""
        i, j = block
        rows, columns = self.matrix.bands[i], self.matrix.bands[j]
        entries, vector = self.matrix.block(i, j).astype(np.float64), self.vector.astype(np.float64)
        product = np.zeros(self.matrix.nodes)
        product[rows.start : rows.stop] = entries @ vector[columns.start : columns.stop]
        if i != j:
            product[columns.start : columns.stop] = entries.T @ vector[rows.start : rows.stop]
        return product.astype(np.int64)


@dataclass(frozen=True)
class CommonNeighbours:
    """Sums over the common neighbours c of the pairs of nodes between two bands."""

    matrix: LinkMatrix

    def __call__(self, block: tuple[int, int]) -> Sums:
        """Return, for each node, the sum of c over those it is linked with, and of c**2 over all others.

        Returns
        -------
        ndarray of int64, shape (2, nodes)
            Half of the first, over all blocks, is the number of triangles at the node.
        """
        i, j = block
        matrix, rows, columns = self.matrix, self.matrix.bands[i], self.matrix.bands[j]
        common = np.zeros((len(rows), len(columns)), dtype=np.float32)
        for k in range(len(matrix.bands)):
            left = matrix.block(i, k).astype(np.float32)
            right = left if i == j else matrix.block(j, k).astype(np.float32)
            common += left @ right.T
        if i == j:
            np.fill_diagonal(common, 0)
        counts = common.astype(np.float64)
        linked, squares = counts * matrix.block(i, j), counts * counts
        sums = np.zeros((2, matrix.nodes), dtype=np.int64)
        for place, one in enumerate((linked, squares)):
            sums[place, rows.start : rows.stop] += one.sum(axis=1).astype(np.int64)
            if i != j:
                sums[place, columns.start : columns.stop] += one.sum(axis=0).astype(np.int64)
        return sums


def add_up(size: tuple[int, ...]) -> Callable[[Iterable[Sums]], Sums]:
    """Return what adds sums of one shape up; of none, zeros."""
    return _AddUp(size)


@dataclass(frozen=True)
class _AddUp:
    size: tuple[int, ...]

    def __call__(self, parts: Iterable[Sums]) -> Sums:
        total = np.zeros(self.size, dtype=np.int64)
        for part in parts:
            total += part
        return total
