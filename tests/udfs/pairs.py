"""The pairs of a tile by their places, found without the product's own way there."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from udfs.links import Bits, Places, Tile


def pair_of(tile: Tile, places: Places) -> tuple[Places, Places]:
    """Return the nodes i and j, i < j, of the pairs at these places."""
    i, j = np.nonzero(_pairs(tile))
    return i[places] + tile.rows.start, j[places] + tile.columns.start


def flags_of(tile: Tile, bits: Bits) -> npt.NDArray[np.bool_]:
    """Return the bits as a bool a pair, by places."""
    return np.unpackbits(bits, axis=1, count=len(tile.columns)).astype(np.bool_)[_pairs(tile)]


def places_of(tile: Tile, bits: Bits) -> Places:
    """Return the places of the pairs whose bits are set, ascending."""
    return np.flatnonzero(flags_of(tile, bits))


def _pairs(tile: Tile) -> npt.NDArray[np.bool_]:
    """Return which of rows x columns are pairs."""
    every = np.ones((len(tile.rows), len(tile.columns)), dtype=np.bool_)
    return np.triu(every, 1) if tile.diagonal else every
