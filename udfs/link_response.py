"""Randomized response on links: every pair of a tile reports a bit, flipped with one probability.

Where it runs: on the tile's holder, which stands for the devices of its respondents. It sees the tile's links.

Two samplers flip every pair independently with exactly the same probability q, an integer over 2**64:

- *dense*: a uniform number a pair is compared with q, one byte of it at first, as that decides all but one in 256;
- *rare*, where q is below 1/256: how many pairs go by before the next flip is drawn at once. A uniform number below
  (1 - q)**k lets k or more go by. Its first 64 bits are compared with a table; where they do not decide, which is
  once in 2**53 draws, its further bits are drawn and compared with the power itself.

No probability is rounded, so that what a pair reports is as private as one answer to the mechanism: the law of a
tile's report is a product of the pairs' laws, of which one link changes one factor.

References
----------
papers/randomized-response, figures 5 and 6: links by randomized response and by the Laplace mechanism.
Devroye (1986), Non-uniform random variate generation, section X.2: the geometric distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from udfs.draws import RowDraws
from udfs.errors import SpecError
from udfs.exact import WORD
from udfs.laplace import LaplaceMechanism
from udfs.links import Bits, Places, Tile
from udfs.randomized_response import RandomizedResponse
from udfs.streams import Words, block_key, byte_stream, derive_key

FURTHEST = 1 << 11
"""The rare sampler looks so many pairs ahead for the next flip: the size of its table."""

_AT_ONCE = 1 << 18
"""Pairs that are drawn for at the same time, or skips: a byte each or eight."""

_REST = 1 << 56
"""The values that a number's bits after the first byte take."""

_MECHANISMS: dict[str, type[RandomizedResponse | LaplaceMechanism]] = {
    one.mechanism: one for one in (RandomizedResponse, LaplaceMechanism)
}


@dataclass(frozen=True)
class LinkResponse:
    """Reports of the pairs of a tile: what links they are, flipped as a mechanism flips an answer of two cells.

    Privacy: each link is epsilon-private in the local model, exactly, with the mechanism's epsilon, if its pair
    reports once.

    Parameters
    ----------
    mechanism : RandomizedResponse or LaplaceMechanism
        Over two cells.

    Raises
    ------
    SpecError

    Examples
    --------
    >>> response = LinkResponse(RandomizedResponse(cells=2, epsilon=1.0))
    >>> round(float(response.support_if_false), 6), response.rare
    (0.268941, False)
    >>> tile = Tile(range(0, 8), range(0, 8))
    >>> response.report(tile.select(np.array([[0, 1], [5, 2]])), tile, bytes(32)).shape
    (8, 1)
    """

    mechanism: RandomizedResponse | LaplaceMechanism

    def __post_init__(self) -> None:
        """Refuse a mechanism of more cells than a pair has answers."""
        if self.mechanism.cells != 2:
            raise SpecError("mechanism", "must have two cells, link and none", str(self.mechanism.cells))

    @classmethod
    def of(cls, mechanism: str, epsilon: Decimal) -> LinkResponse:
        """Return the response by a mechanism's name: randomized-response or laplace."""
        return cls(_MECHANISMS[mechanism](2, epsilon))

    @cached_property
    def flip(self) -> int:
        """The probability q of a flip, over 2**64: in [1, 2**63)."""
        return int(self.mechanism.law[0][1] * WORD)

    @property
    def true_epsilon(self) -> Decimal:
        """What a report really gives away: of rounded Laplace noise, less than its parameter."""
        spent: Decimal = getattr(self.mechanism, "true_epsilon", self.mechanism.epsilon)
        return spent

    @property
    def support_if_true(self) -> Fraction:
        """The probability p = 1 - q that a link is reported as one."""
        return Fraction(WORD - self.flip, WORD)

    @property
    def support_if_false(self) -> Fraction:
        """The probability q that another pair is reported as a link."""
        return Fraction(self.flip, WORD)

    @property
    def rare(self) -> bool:
        """Whether flips are drawn by skips: where q is below 1/256, and by nothing else but q."""
        return self.flip < _REST

    @property
    def label(self) -> str:
        """The mechanism and all its parameters: part of the keys of its draws."""
        return f"links {self.mechanism.label}"

    def report(self, links: Places, tile: Tile, key: bytes) -> Bits:
        """Return the reports of all pairs of a tile.

        Parameters
        ----------
        links : ndarray of int64, shape (links,)
            Places of the pairs that are links, ascending, as `Tile.select` returns them.
        tile : Tile
        key : bytes
            The question's key, 32 bytes. Draws are made under keys of it that belong to the tile and to the links in
            it, so that one set of coins never meets two sets of links.

        Returns
        -------
        ndarray of uint8, shape (rows, row_bytes)
            The tile's bits: zero wherever there is no pair. The same for the same links, tile and key.

        Raises
        ------
        SpecError
            Where places are not ascending, which would give links other coins, or are none of the tile's.

        Notes
        -----
        Memory: 16 MB, and the bits. Cost: 0.6 ns a pair, three times that on the diagonal; of the rare sampler,
        100 ns a flip and 40 ns in every 2048 pairs.
        """
        if np.any(links[1:] <= links[:-1]):
            raise SpecError("links", "must be ascending places of pairs", "another order")
        bands = (tile.rows.start, tile.rows.stop, tile.columns.start, tile.columns.stop)
        tile_key = block_key(key, bands, links)
        bits = tile.to_bits(links)
        (_flip_rarely if self.rare else _flip_densely)(bits, tile, self.flip, tile_key)
        return bits


def _flip_densely(bits: Bits, tile: Tile, flip: int, key: bytes) -> None:
    """Flip bits in place, drawing for one after the other: for some rows at a time, and for all their columns."""
    rows, columns = (np.arange(len(band), dtype=np.int32) for band in (tile.rows, tile.columns))
    step = max(1, _AT_ONCE // columns.size)
    for turn, first in enumerate(range(0, rows.size, step)):
        some = rows[first : first + step, None]
        flips = _below(flip, key, turn, some.size * columns.size).reshape(some.size, columns.size)
        if tile.diagonal:
            flips &= some < columns
        bits[first : first + step] ^= np.packbits(flips, axis=1)


def _below(flip: int, key: bytes, turn: int, size: int) -> npt.NDArray[np.bool_]:
    """Return which of so many uniform numbers of 64 bits are below `flip`; of most, the first byte is drawn alone."""
    byte, rest = divmod(flip, _REST)
    first_bytes = RowDraws(key, -(-size // 8)).words(2 * turn).view(np.uint8)[:size]
    flips = first_bytes < np.uint8(byte)
    even = np.flatnonzero(first_bytes == np.uint8(byte))
    flips[even] = RowDraws(key, even.size).words(2 * turn + 1) < np.uint64(rest << 8)
    return flips


def _flip_rarely(bits: Bits, tile: Tile, flip: int, key: bytes) -> None:
    """Flip bits in place, drawing where the next flip is: from one to the next, in the order of places."""
    done, turn, mean = 0, 0, min(FURTHEST, WORD // flip)
    while done < tile.pairs:
        skips = _skips(flip, key, turn, min(_AT_ONCE, (tile.pairs - done) // mean + 64))
        ends = done + np.cumsum(np.minimum(skips + 1, FURTHEST))
        flips = ends[(skips < FURTHEST) & (ends <= tile.pairs)] - 1
        np.bitwise_xor.at(bits.reshape(-1), *tile.bit_masks(flips))
        done, turn = int(ends[-1]), turn + 1


def _skips(flip: int, key: bytes, turn: int, size: int) -> npt.NDArray[np.int64]:
    """Draw how many pairs go by before the next flip: `FURTHEST` stands for so many or more."""
    words = RowDraws(key, size).words(turn)
    powers = _powers(flip)
    smaller = np.searchsorted(powers, words, side="right")
    skips: npt.NDArray[np.int64] = FURTHEST - smaller
    for even in np.flatnonzero(powers[smaller - 1] == words).tolist():
        further = byte_stream(derive_key(key, "further", str(turn), str(even)))
        skips[even] += _is_below_power(WORD - flip, int(skips[even]) + 1, int(words[even]), further)
    return skips


@lru_cache(maxsize=4)
def _powers(flip: int) -> Words:
    """Return (1 - q)**k over 2**64, rounded down, for k from `FURTHEST` to 1: strictly ascending.

    Notes
    -----
    They differ, as q (1 - q)**k is no less than 2**-64 where q is below 1/256, but for q = 2**-64: there
    2**64 (1 - q)**k is above 2**64 - k by less than one. Cost: 10 ms, once for each q in a process.
    """
    power, descending = 1, list[int]()
    for k in range(FURTHEST):
        power *= WORD - flip
        descending.append(power >> 64 * k)
    return np.array(descending[::-1], dtype=np.uint64)


def _is_below_power(keep: int, exponent: int, word: int, further: Callable[[int], bytes]) -> bool:
    """Return whether a uniform number is below (keep / 2**64)**exponent, drawing its bits until that is decided.

    Parameters
    ----------
    keep, exponent : int
    word : int
        The number's first 64 bits.
    further : callable
        A source of uniform random bytes: its next bits.
    """
    power: int = keep**exponent
    number = word
    for words_after in range(exponent - 1, -1, -1):
        head = power >> 64 * words_after
        if number != head:
            return number < head
        number = number << 64 | int.from_bytes(further(8), "big")
    return False
