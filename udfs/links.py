"""Pairs of nodes, and the tiles they are cut into: which of them are links is a bit a pair.

Nodes are numbered from 0 and cut into bands; a tile holds the pairs whose lower node is in one band and whose
higher node is in another one, or in the same. Every pair {i, j} is in exactly one tile.

Where it runs: on the tile's holder. A tile of pairs stands for the devices of its respondents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from udfs.errors import SpecError

Bits: TypeAlias = npt.NDArray[np.uint8]
"""A bit a pair of a tile, shape (rows, ceil(columns / 8)), a row's first pair the highest bit of its first byte."""

Places: TypeAlias = npt.NDArray[np.int64]
"""Numbers of nodes, or of pairs within a tile."""

PAIRS_A_TASK = 1 << 25
"""A task of pairs should take a tenth of a second or more: it reads all links."""

_UNPACKED_ROWS = 256


@dataclass(frozen=True)
class Tile:
    """The pairs {i, j}, i < j, of a node i in `rows` and a node j in `columns`.

    Its pairs are numbered row by row, from 0: their *places*.

    Parameters
    ----------
    rows, columns : range
        Consecutive nodes, at least one: the same ones, where the tile lies on the diagonal, or rows before columns.

    Raises
    ------
    SpecError

    Examples
    --------
    >>> tile = Tile(range(8, 12), range(8, 12))
    >>> tile.pairs
    6
    >>> places = tile.select(np.array([[9, 8], [11, 10], [8, 9], [3, 9]]))
    >>> places
    array([0, 5])
    >>> bits = tile.to_bits(places)
    >>> np.unpackbits(bits, axis=1, count=4)
    array([[0, 1, 0, 0],
           [0, 0, 0, 0],
           [0, 0, 0, 1],
           [0, 0, 0, 0]], dtype=uint8)
    """

    rows: range
    columns: range

    def __post_init__(self) -> None:
        """Refuse nodes that make no tile."""
        bands = (self.rows, self.columns)
        if not (
            all(len(band) > 0 and band.step == 1 and band.start >= 0 for band in bands)
            and (self.diagonal or self.rows.stop <= self.columns.start)
        ):
            raise SpecError(
                "tile", "rows and columns must be the same consecutive nodes, or rows come before", str(bands)
            )

    @property
    def diagonal(self) -> bool:
        """Whether rows and columns are the same nodes."""
        return self.rows == self.columns

    @property
    def pairs(self) -> int:
        """How many pairs it holds."""
        columns = len(self.columns)
        return columns * (columns - 1) // 2 if self.diagonal else len(self.rows) * columns

    @property
    def row_bytes(self) -> int:
        """How many bytes a row of bits takes."""
        return -(-len(self.columns) // 8)

    def places(self, i: Places, j: Places) -> Places:
        """Return the places of pairs.

        Parameters
        ----------
        i, j : ndarrays of int64, shape (m,)
            Nodes of the tile's rows and of its columns, i < j.

        Returns
        -------
        ndarray of int64, shape (m,)
        """
        rows, columns = i - self.rows.start, j - self.columns.start
        return self._row_starts()[rows] + columns if self.diagonal else rows * len(self.columns) + columns

    def select(self, pairs: Places) -> Places:
        """Return the places of those pairs that are in this tile.

        Parameters
        ----------
        pairs : ndarray of int64, shape (m, 2)
            Two nodes each, in any order; a pair that comes more than once counts once, and a node is no pair
            with itself.

        Returns
        -------
        ndarray of int64, shape (places,)
            Ascending.
        """
        low, high = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
        here = (low < high) & _within(low, self.rows) & _within(high, self.columns)
        return np.unique(self.places(low[here], high[here]))

    def bit_masks(self, places: Places) -> tuple[Places, Bits]:
        """Return where the pairs at these places have their bits.

        Returns
        -------
        bytes_at : ndarray of int64, shape (m,)
            Which of the tile's bytes, row after row.
        masks : ndarray of uint8, shape (m,)
            The bit in it.
        """
        rows, columns = self._row_and_column(places)
        masks = np.right_shift(np.uint8(128), (columns & 7).astype(np.uint8))
        return rows * self.row_bytes + (columns >> 3), masks

    def to_bits(self, places: Places) -> Bits:
        """Set the bits of some pairs.

        Parameters
        ----------
        places : ndarray of int64, shape (m,)
            In any order.

        Returns
        -------
        ndarray of uint8, shape (rows, row_bytes)
            What `np.packbits` makes of the tile's 0/1 matrix along its rows: zero wherever there is no pair.

        Raises
        ------
        SpecError
            Where a place is none of the tile's.
        """
        if places.size and not (places.min() >= 0 and places.max() < self.pairs):
            raise SpecError("places", "must be numbers of the tile's pairs", f"a tile of {self.pairs} pairs")
        bits = np.zeros((len(self.rows), self.row_bytes), dtype=np.uint8)
        np.bitwise_or.at(bits.reshape(-1), *self.bit_masks(places))
        return bits

    def degrees(self, bits: Bits, nodes: int) -> Places:
        """Return how many of the pairs whose bits are set each node is in: int64, shape (nodes,)."""
        degrees = np.zeros(nodes, dtype=np.int64)
        degrees[self.rows.start : self.rows.stop] = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
        for first in range(0, len(bits), _UNPACKED_ROWS):
            matrix = np.unpackbits(bits[first : first + _UNPACKED_ROWS], axis=1, count=len(self.columns))
            degrees[self.columns.start : self.columns.stop] += matrix.sum(axis=0, dtype=np.int64)
        return degrees

    def _row_and_column(self, places: Places) -> tuple[Places, Places]:
        """Return the row and the column of the pairs at these places, each counted from the tile's first."""
        if not self.diagonal:
            rows, columns = np.divmod(places, len(self.columns))
            return rows, columns
        starts = self._row_starts()
        first_places = starts + np.arange(1, len(starts) + 1)
        rows = np.searchsorted(first_places, places, side="right") - 1
        return rows, places - starts[rows]

    def _row_starts(self) -> Places:
        """Return the place of each row's pair in column 0, if it had one: its pairs begin after the diagonal."""
        size = len(self.rows)
        row = np.arange(size, dtype=np.int64)
        starts: Places = row * (2 * size - row - 3) // 2 - 1
        return starts


def tiles(nodes: int, band: int) -> tuple[Tile, ...]:
    """Cut the pairs of `nodes` nodes into tiles, by bands of `band` consecutive nodes and one of the rest.

    Parameters
    ----------
    nodes : int
        Zero or more.
    band : int
        A positive multiple of 8, so that a band's bits are whole bytes.

    Returns
    -------
    tuple of Tile
        Ordered by rows, then by columns.

    Raises
    ------
    SpecError

    Examples
    --------
    >>> [(tile.rows, tile.columns) for tile in tiles(11, 8)]
    [(range(0, 8), range(0, 8)), (range(0, 8), range(8, 11)), (range(8, 11), range(8, 11))]
    """
    if nodes < 0:
        raise SpecError("nodes", "must be zero or more", str(nodes))
    if band <= 0 or band % 8:
        raise SpecError("band", "must be a positive multiple of 8", str(band))
    bands = [range(first, min(first + band, nodes)) for first in range(0, nodes, band)]
    return tuple(Tile(rows, columns) for rows, columns in combinations_with_replacement(bands, 2))


def group_tiles(tiles: Sequence[Tile], sizes: Sequence[int], most: int) -> list[tuple[Tile, ...]]:
    """Group consecutive tiles, until a group's sizes have reached `most` together.

    Examples
    --------
    >>> [len(group) for group in group_tiles(tiles(32, 8), [4, 3, 3, 9, 0, 0, 0, 0, 0, 0], 8)]
    [3, 1, 6]
    """
    groups: list[list[Tile]] = []
    filled = most
    for tile, size in zip(tiles, sizes, strict=True):
        if filled >= most:
            groups.append([])
            filled = 0
        groups[-1].append(tile)
        filled += size
    return [tuple(group) for group in groups]


def pair_tasks(tiles: Sequence[Tile]) -> list[tuple[Tile, ...]]:
    """Return tiles as tasks ask them: groups of `PAIRS_A_TASK` pairs or so."""
    return group_tiles(tiles, [tile.pairs for tile in tiles], PAIRS_A_TASK)


def _within(nodes: Places, band: range) -> npt.NDArray[np.bool_]:
    """Return which nodes are in a band."""
    return (nodes >= band.start) & (nodes < band.stop)
