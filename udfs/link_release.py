"""A graph rebuilt from reports: some of the pairs that reported a link, and some of those that did not.

Post-processing: it may be released, and analysed at will, at the reports' own epsilon.

References
----------
papers/randomized-response, section 6.3: the reconstruction of one instance of the network.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from udfs.draws import RowDraws
from udfs.links import Bits, Places, Tile
from udfs.streams import derive_key
from udfs.uniform import uniform_digits


@dataclass(frozen=True)
class Rebuilding:
    """How many links a rebuilt graph has, and of which pairs.

    Attributes
    ----------
    links : int
        The estimated number of links, within what there can be.
    kept : int
        How many of them are of pairs that reported one.
    """

    links: int
    kept: int


def rebuilding(pairs: int, reported: int, lie: Fraction, links: float) -> Rebuilding:
    """Return how a graph is rebuilt.

    Parameters
    ----------
    pairs, reported : int
        How many pairs there are, and how many of them reported a link.
    lie : Fraction
        The chance q of a report that is not the answer.
    links : float
        The estimated number of links.

    Notes
    -----
    Of pairs of which a share m / N is linked, one that reported a link is linked with probability p pi / (p pi + q (1 -
    pi)), p = 1 - q and pi = m / N: as many of them are kept.

    Examples
    --------
    >>> rebuilding(17_020, 5_000, Fraction(1, 4), 684.2)
    Rebuilding(links=684, kept=558)
    """
    number = min(max(round(links), 0), pairs)
    if number == 0:
        return Rebuilding(0, 0)
    share = Fraction(number, pairs)
    true = (1 - lie) * share
    kept = round(reported * true / (true + lie * (1 - share)))
    return Rebuilding(number, min(max(kept, number - (pairs - reported), 0), reported, number))


def uniform_subset(size: int, whole: int, key: bytes) -> Places:
    """Return a uniform subset of the numbers below `whole`, ascending: int64, shape (size,).

    Parameters
    ----------
    size, whole : int
    key : bytes
        32 bytes that serve nothing else.

    Notes
    -----
    Numbers are drawn until so many different ones are found: the first so many of a sequence are any set with equal
    chances. Of more than half of all, the others are drawn.

    Examples
    --------
    >>> uniform_subset(3, 3, bytes(32))
    array([0, 1, 2])
    """
    if 2 * size > whole:
        left = np.ones(whole, dtype=bool)
        left[uniform_subset(whole - size, whole, key)] = False
        return np.flatnonzero(left)
    found, attempt = np.empty(0, dtype=np.int64), 0
    while len(found) < size:
        draws = RowDraws(derive_key(key, f"subset {attempt}"), size - len(found))
        found = np.union1d(found, uniform_digits(draws, [whole])[0].astype(np.int64))
        attempt += 1
    return found


def places_of_ranks(tile: Tile, bits: Bits, ones: Places, zeros: Places) -> Places:
    """Return pairs of a tile by their ranks among those that reported a link, and among those that did not.

    Parameters
    ----------
    tile : Tile
    bits : ndarray of uint8
    ones, zeros : ndarray of int64
        Ranks from 0 up, ascending.

    Returns
    -------
    ndarray of int64, shape (ones + zeros, 2)
        The pairs, ascending.

    Notes
    -----
    The zero of rank r is at place r + k, where k is how many ones stand before it: those whose place less their own rank
    is at most r.
    """
    reported = tile.from_bits(bits)
    before = np.searchsorted(reported - np.arange(len(reported)), zeros, side="right")
    return tile.pair_of(np.sort(np.concatenate([reported[ones], zeros + before])))
