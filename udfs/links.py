"""Pairs of nodes, and the tiles that they are asked in.

Of n nodes there are n (n - 1) / 2 unordered pairs: the places above the diagonal of a matrix. It is cut into
bands of consecutive nodes both ways, and each tile of it is asked by itself, so that the whole matrix never
lies in one place. Within a tile, pairs are numbered row by row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from udfs.errors import SpecError

Places = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]
"""The bits of a tile: uint8, shape (rows, ceil(columns / 8)), the first column the highest bit."""
Flags = npt.NDArray[np.bool_]

_UNPACKED_ROWS = 256


@dataclass(frozen=True)
class Tile:
    """The pairs of a node among some rows with a later one among some columns.

    Parameters
    ----------
    rows, columns : range
        Consecutive nodes; the same, or all columns behind the rows.

    Examples
    --------
    >>> tile = Tile(range(0, 3), range(0, 3))
    >>> tile.pairs, tile.pair_of(np.arange(3)).tolist()
    (3, [[0, 1], [0, 2], [1, 2]])
    >>> tile.select(np.array([[2, 0], [0, 1], [0, 2], [1, 1], [2, 5]]))
    array([0, 1])
    """

    rows: range
    columns: range

    def __post_init__(self) -> None:
        """Check that the tile lies on the diagonal or above it."""
        if self.rows != self.columns and self.rows.stop > self.columns.start:
            raise SpecError("tile", "must lie on the diagonal or above it", f"{self.rows} and {self.columns}")

    @property
    def diagonal(self) -> bool:
        """Whether rows and columns are the same nodes."""
        return self.rows == self.columns

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        high, wide = len(self.rows), len(self.columns)
        return wide * (wide - 1) // 2 if self.diagonal else high * wide

    def places(self, pairs: Places) -> Places:
        """Return the numbers of pairs of this tile, the lower node first: int64, shape (pairs,)."""
        row, column = pairs[:, 0] - self.rows.start, pairs[:, 1] - self.columns.start
        if self.diagonal:
            return self._starts[row] + column - row - 1
        return row * len(self.columns) + column

    def pair_of(self, places: Places) -> Places:
        """Return the pairs of numbers: int64, shape (places, 2), the lower node first."""
        if self.diagonal:
            row = np.searchsorted(self._starts, places, side="right") - 1
            column = places - self._starts[row] + row + 1
        else:
            row, column = np.divmod(places, max(1, len(self.columns)))
        return np.stack([row + self.rows.start, column + self.columns.start], axis=1)

    def select(self, pairs: Places) -> Places:
        """Return the numbers of those pairs that are in this tile, ascending and each once.

        Parameters
        ----------
        pairs : ndarray of int64, shape (pairs, 2)
            Either node first; a node with itself is no pair.
        """
        ordered = np.sort(pairs, axis=1)
        low, high = ordered.T
        inside = (low >= self.rows.start) & (low < self.rows.stop) & (low < high)
        inside &= (high >= self.columns.start) & (high < self.columns.stop)
        return np.unique(self.places(ordered[inside]))

    def to_bits(self, places: Places) -> Bits:
        """Return the bits in which these pairs, ascending and each once, are set."""
        row, column = (self.pair_of(places) - [self.rows.start, self.columns.start]).T
        stride = self._stride
        at, value = row * stride + column // 8, np.uint8(128) >> (column % 8).astype(np.uint8)
        bits = np.zeros(len(self.rows) * stride, dtype=np.uint8)
        first = np.flatnonzero(np.diff(at, prepend=-1))
        if len(first):
            bits[at[first]] = np.add.reduceat(value, first, dtype=np.uint8)
        return bits.reshape(len(self.rows), stride)

    def from_bits(self, bits: Bits) -> Places:
        """Return the numbers of the pairs whose bits are set, ascending."""
        found = [np.empty((0, 2), dtype=np.int64)]
        for first, block in _blocks(bits, len(self.columns)):
            row, column = np.nonzero(block)
            start = [self.rows.start + first, self.columns.start]
            found.append(np.stack([row, column], axis=1) + start)
        return self.places(np.concatenate(found))

    def pack(self, flags: Flags) -> Bits:
        """Return the bits of all pairs, given by number: bool, shape (pairs,)."""
        high, wide = len(self.rows), len(self.columns)
        if not self.diagonal:
            return np.packbits(flags.reshape(high, wide), axis=1)
        matrix = np.zeros((high, wide), dtype=bool)
        matrix[np.triu(np.ones((high, wide), dtype=bool), 1)] = flags
        return np.packbits(matrix, axis=1)

    def degrees(self, bits: Bits, nodes: int) -> Places:
        """Return how many of the pairs that are set each node is in: int64, shape (nodes,)."""
        degrees = np.zeros(nodes, dtype=np.int64)
        for first, block in _blocks(bits, len(self.columns)):
            start = self.rows.start + first
            degrees[start : start + len(block)] += block.sum(axis=1, dtype=np.int64)
            degrees[self.columns.start : self.columns.stop] += block.sum(axis=0, dtype=np.int64)
        return degrees

    @property
    def _stride(self) -> int:
        return -(-len(self.columns) // 8)

    @property
    def _starts(self) -> Places:
        """The number of the first pair of each row of a tile on the diagonal."""
        row = np.arange(len(self.rows), dtype=np.int64)
        return row * (2 * len(self.rows) - row - 1) // 2


def _blocks(bits: Bits, columns: int) -> Iterator[tuple[int, Bits]]:
    """Yield some rows at a time, unpacked, each with its first row."""
    for first in range(0, len(bits), _UNPACKED_ROWS):
        yield first, np.unpackbits(bits[first : first + _UNPACKED_ROWS], axis=1, count=columns)


def tiles(nodes: int, band: int) -> tuple[Tile, ...]:
    """Return all tiles of so many nodes, cut in bands of so many, row of tiles by row of tiles.

    Examples
    --------
    >>> [tile.pairs for tile in tiles(5, 2)]
    [1, 4, 2, 1, 2, 0]
    """
    if nodes < 0 or band < 1:
        raise SpecError("tiles", "must have nodes from 0 up and bands from 1 up", f"{nodes} and {band}")
    bands = [range(first, min(first + band, nodes)) for first in range(0, nodes, band)]
    return tuple(Tile(rows, columns) for place, rows in enumerate(bands) for columns in bands[place:])
