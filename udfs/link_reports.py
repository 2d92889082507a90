"""Reports on pairs of nodes: their bits, tile by tile, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Protocol

import numpy as np
import numpy.typing as npt

from udfs.link_sums import LinkSums, band_bits, tile_sums
from udfs.links import Bits, Places, Tile
from udfs.loads import Load


class PairMechanism(Protocol):
    """How the answers of a tile become reports."""

    @property
    def label(self) -> str:
        """The mechanism and all its parameters."""
        ...

    def report(self, links: Places, tile: Tile, key: bytes) -> Bits:
        """Turn the links of a tile, by their places in it, into the bits that all of its pairs report.

        The key serves all tiles: draws belong to it, to the tile and to the links in it.
        """
        ...


@dataclass(frozen=True)
class LinkReports:
    """What pairs reported: adds up by `+`, in the order of tiles.

    Attributes
    ----------
    tiles : tuple of Tile
    bits : tuple of Load
        Each tile's bits, which lie somewhere.
    ones : tuple of int
        How many pairs of each tile reported a link.
    degrees : ndarray of int64, shape (nodes,)
        How many reported links each node has.
    """

    tiles: tuple[Tile, ...]
    bits: tuple[Load, ...]
    ones: tuple[int, ...]
    degrees: npt.NDArray[np.int64]

    def __add__(self, other: LinkReports) -> LinkReports:
        """Put the reports of further tiles after these."""
        return LinkReports(
            self.tiles + other.tiles,
            self.bits + other.bits,
            self.ones + other.ones,
            self.degrees + other.degrees,
        )

    def rows(self, band: range) -> Bits:
        """Return the rows of the symmetric matrix that belong to a band of tiles: uint8, packed."""
        own = (
            (tile, np.asarray(load()))
            for tile, load in zip(self.tiles, self.bits, strict=True)
            if band in (tile.rows, tile.columns)
        )
        return band_bits(band, own, len(self.degrees))


@dataclass(frozen=True)
class TileSums:
    """Adds up what triangles and their errors are made of, tile by tile.

    Parameters
    ----------
    reports : LinkReports
        Of all pairs.
    """

    reports: LinkReports

    def __call__(self, tile: Tile) -> LinkSums:
        """Return what a tile's pairs add to the sums."""
        rows = self.reports.rows(tile.rows)
        columns = rows if tile.diagonal else self.reports.rows(tile.columns)
        return tile_sums(tile, rows, columns, self.reports.degrees)

    def combine(self, parts: Iterable[LinkSums]) -> LinkSums:
        """Add sums up."""
        return reduce(add, parts, LinkSums.none(len(self.reports.degrees)))
