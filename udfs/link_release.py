"""The links of a rebuilt graph that fall in one tile of pairs: some of the reported ones, and some others.

Where it runs: on the tile. It sees the tile's reports, and how many links to draw.

Privacy: post-processing of reports. Draws depend on nothing but their key and what is public once reports are,
so the key need not be a secret; it must only be another one than those that reports are drawn with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from udfs.draws import RowDraws
from udfs.errors import SpecError
from udfs.links import Bits, Places, Tile
from udfs.streams import Words, derive_key
from udfs.uniform import uniform_digits

_AT_ONCE = 1 << 20
"""Draws whose words lie in memory at the same time."""

_BIT_OF_RANK = np.argsort(
    np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) == 0, axis=1, kind="stable"
)
"""By byte and r: where the byte's r-th set bit stands, from the highest on."""


@dataclass(frozen=True)
class LinkRelease:
    """How many links a tile draws for the rebuilt graph.

    Parameters
    ----------
    kept : int
        Of its reported links.
    added : int
        Of its other pairs.

    Examples
    --------
    >>> tile = Tile(range(0, 8), range(8, 11))
    >>> reports = tile.to_bits(tile.select(np.array([[0, 8], [1, 9], [10, 1]])))
    >>> LinkRelease(kept=3, added=0).draw(tile, reports, bytes(32))
    array([[ 0,  8],
           [ 1,  9],
           [ 1, 10]])
    """

    kept: int
    added: int

    def draw(self, tile: Tile, reports: Bits, key: bytes) -> Places:
        """Draw the links: uniformly without replacement, among reported ones and among others.

        Parameters
        ----------
        tile : Tile
        reports : ndarray of uint8, shape (rows, row_bytes)
            The tile's bits: a set one is a reported link, and none is set where there is no pair.
        key : bytes
            32 bytes that serve nothing else.

        Returns
        -------
        ndarray of int64, shape (kept + added, 2)
            Nodes i < j of each link, in the order of (i, j).

        Raises
        ------
        SpecError
            Where the bits have another shape than the tile's, or it has fewer reported links, or fewer others,
            than are to be drawn.

        Notes
        -----
        Memory: about three bytes for each of rows x columns, and 60 for each link drawn.
        """
        if reports.shape != (len(tile.rows), tile.row_bytes):
            raise SpecError(
                "reports", f"must be {len(tile.rows)} x {tile.row_bytes} bytes", f"{reports.shape}"
            )
        bits = np.concatenate(
            [
                _some(reports, self.kept, derive_key(key, "kept"), "kept"),
                _some(_pairs(tile) & ~reports, self.added, derive_key(key, "added"), "added"),
            ]
        )
        bits.sort()
        rows, columns = np.divmod(bits, 8 * tile.row_bytes)
        return np.stack([tile.rows.start + rows, tile.columns.start + columns], axis=1)


def uniform_subset(size: int, wanted: int, key: bytes) -> Places:
    """Draw so many of the numbers below `size`, every set of them with the same probability.

    Parameters
    ----------
    size : int
        Up to 2**40.
    wanted : int
        From 0 to `size`.
    key : bytes
        32 bytes that serve nothing else.

    Returns
    -------
    ndarray of int64, shape (wanted,)
        Ascending.

    Notes
    -----
    Cost: a byte of memory for each number below `size`; at most 1.4 words on average for each that is drawn or,
    where these are fewer, left out.
    """

    def numbers(turn: int, rows: int) -> Words:
        return uniform_digits(RowDraws(derive_key(key, str(turn)), rows), [size])[0]

    left_out = size - wanted
    if wanted <= left_out:
        return np.flatnonzero(first_distinct(size, wanted, numbers))
    return np.flatnonzero(~first_distinct(size, left_out, numbers))


def first_distinct(
    size: int, wanted: int, numbers: Callable[[int, int], npt.NDArray[np.integer]]
) -> npt.NDArray[np.bool_]:
    """Mark the first distinct numbers of a sequence, until so many are marked.

    Parameters
    ----------
    size, wanted : int
    numbers : callable
        Given a turn and how many, returns the next numbers of the sequence, each below `size`.

    Returns
    -------
    ndarray of bool, shape (size,)
        `wanted` of them are set. If all numbers are uniform and independent, so is the set: nothing tells one
        number from another.

    Notes
    -----
    No turn draws more than are missing, so that the last number drawn is the last one wanted.
    """
    marked = np.zeros(size, dtype=np.bool_)
    turn, missing = 0, wanted
    while missing:
        marked[numbers(turn, min(missing, _AT_ONCE))] = True
        turn, missing = turn + 1, wanted - int(np.count_nonzero(marked))
    return marked


def _some(bits: Bits, wanted: int, key: bytes, where: str) -> Places:
    """Return which bits some set ones are, chosen uniformly: int64, ascending, counted row after row."""
    tile_bytes = bits.reshape(-1)
    counts = np.bitwise_count(tile_bytes)
    ends = np.cumsum(counts, dtype=np.int64)
    size = int(ends[-1])
    if not 0 <= wanted <= size:
        raise SpecError(where, "must lie between none and what the tile has", f"{wanted} of {size}")
    ranks = uniform_subset(size, wanted, key)
    at = np.searchsorted(ends, ranks, side="right")
    within = ranks - (ends[at] - counts[at])
    chosen: Places = 8 * at + _BIT_OF_RANK[tile_bytes[at], within]
    return chosen


def _pairs(tile: Tile) -> Bits:
    """Return the bits of all pairs of a tile: uint8, shape (rows or, if all are the same, 1, row_bytes)."""
    if not tile.diagonal:
        return np.packbits(np.ones((1, len(tile.columns)), dtype=np.bool_), axis=1)
    nodes = np.arange(len(tile.rows))
    return np.packbits(nodes[:, None] < nodes, axis=1)
