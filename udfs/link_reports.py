"""Reports on pairs of nodes: their bits, tile by tile, and what they add up to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from udfs.links import Bits, Places, Tile
from udfs.loads import Load


class PairMechanism(Protocol):
    """How the answers of a tile become reports."""

    @property
    def label(self) -> str:
        """The mechanism and all its parameters."""
        ...

    def report(self, links: Places, tile: Tile, key: bytes) -> Bits:
        """Turn the links of a tile, by their places in it, into the bits that all of its pairs report."""
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
