"""Randomized response on pairs of nodes: each reports whether it is linked, but with a chance q the contrary.

A report is the answer, flipped or not, and the flips of all pairs are drawn without looking at any answer. Where
they are many, each pair has a word of its own. Where they are few, what is drawn is how far it is to the next.

References
----------
papers/randomized-response, equations 4 to 11, and section 6.3 on links; Devroye: Non-uniform random variate
generation (1986), chapter X.2, for waiting times.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from udfs.draws import RowDraws
from udfs.errors import SpecError
from udfs.exact import WORD, exp_bounds
from udfs.laplace import LaplaceMechanism
from udfs.links import Bits, Flags, Places, Tile
from udfs.randomized_response import RandomizedResponse

MECHANISMS = ("randomized-response", "laplace")
MOST_PAIRS = 1 << 26
"""Of a tile."""

_RARE = Fraction(1, 40)
"""Below this chance of a flip, drawing distances is faster."""
_MOST_REACH, _FLIPS_IN_REACH = 4096, 10
"""Distances are drawn up to so many pairs, in which so many flips are expected at most; a longer one goes on from there."""
_UNIT = 1 << 128
_CHUNK = 1 << 20


@dataclass(frozen=True)
class LinkResponse:
    """Flips each pair's answer with probability q = `flip / 2**64`.

    Privacy: each pair's link is epsilon-private in the local model, exactly: see `Notes`. Cost: 8 bytes of
    keystream a pair; or 8 bytes, and a binary search, a flip.

    Parameters
    ----------
    mechanism : {"randomized-response", "laplace"}
        Of the least q that is private; or of Laplace noise of scale 1 / epsilon on 0 or 1, rounded, which
        flips more often than it has to.
    epsilon : Decimal

    Notes
    -----
    Every pair by itself: the ratio of a report's probabilities is (1 - q) / q <= e**epsilon, by integers.

    By distances: P(the next flip is more than k pairs away) is `survival[k] / 2**128`, which is (1 - q)**k
    rounded. So given all earlier flips, a pair that is k pairs behind the last one flips with probability
    q_k = 1 - survival[k + 1] / survival[k], all but q. Two answers that differ in one pair give the same report
    by flips that differ in that pair. The ratio of these flips' probabilities is that of the pair's own, at most
    max (1 - q_k) / q_k, times what follows up to the next flip: there both count from other places, so that each
    pair gives a factor (1 - q_k) / (1 - q_j), at most 1 + r. Over fewer than `MOST_PAIRS` = m pairs that is at
    most 1 / (1 - m r). The product is held against e**epsilon in rational numbers, and `flip` is one higher
    where that is needed. q_k differs from q by less than 2**-60, which is how far estimates are off.

    Examples
    --------
    >>> response = LinkResponse("randomized-response", Decimal(5))
    >>> round(float(response.lie), 6), response.by_distance
    (0.006693, True)
    >>> tile = Tile(range(0, 4), range(4, 8))
    >>> response.report(np.array([0, 5]), tile, bytes(32)).shape
    (4, 1)
    """

    mechanism: str
    epsilon: Decimal

    def __post_init__(self) -> None:
        """Check the mechanism, and the guarantee."""
        if self.mechanism not in MECHANISMS:
            raise SpecError("privacy.mechanism", f"must be one of {', '.join(MECHANISMS)}", self.mechanism)
        if self.by_distance and not self._holds(self.flip):
            raise SpecError("privacy.epsilon", "must leave flips that are private", f"{self.epsilon}")

    @cached_property
    def flip(self) -> int:
        """The probability of a flip, over 2**64."""
        kind = RandomizedResponse if self.mechanism == "randomized-response" else LaplaceMechanism
        truth = kind(2, self.epsilon).law[0][0] * WORD
        least = WORD - int(truth)
        return least if Fraction(least, WORD) >= _RARE or self._holds(least) else least + 1

    @property
    def lie(self) -> Fraction:
        """The probability q of a flip."""
        return Fraction(self.flip, WORD)

    @property
    def by_distance(self) -> bool:
        """Whether distances between flips are drawn."""
        return self.lie < _RARE

    @property
    def label(self) -> str:
        """The mechanism and all its parameters."""
        way = "distances" if self.by_distance else "pairs"
        return f"links by {self.mechanism} epsilon={self.epsilon.normalize()} flip={self.flip} by {way}"

    def report(self, links: Places, tile: Tile, key: bytes) -> Bits:
        """Turn the links of a tile into the bits that its pairs report.

        Parameters
        ----------
        links : ndarray of int64, shape (links,)
            Their places in the tile, ascending and each once.
        tile : Tile
        key : bytes
            32 bytes that belong to this tile and the links in it.

        Returns
        -------
        ndarray of uint8, shape (rows, ceil(columns / 8))
        """
        if tile.pairs >= MOST_PAIRS:
            raise SpecError("tile", f"must have fewer than {MOST_PAIRS:,} pairs", f"{tile.pairs:,}")
        if self.by_distance:
            return tile.to_bits(np.setxor1d(links, self.flips(tile.pairs, key), assume_unique=True))
        flags = self._flags(tile.pairs, key)
        flags[links] ^= True
        return tile.pack(flags)

    def flips(self, pairs: int, key: bytes) -> Places:
        """Return which of so many pairs are flipped, ascending: int64."""
        if not self.by_distance:
            return np.flatnonzero(self._flags(pairs, key))
        found, start = [np.empty(0, dtype=np.int64)], 0
        for distances in self._distances(pairs, key):
            ends = start + np.cumsum(np.minimum(distances + 1, self.reach))
            start = int(ends[-1])
            found.append(ends[distances < self.reach] - 1)
            if start >= pairs:
                break
        places = np.concatenate(found)
        return places[: np.searchsorted(places, pairs)]

    def _flags(self, pairs: int, key: bytes) -> Flags:
        """Return whether each pair is flipped, by a word of its own."""
        flags = np.empty(pairs, dtype=bool)
        for number, first in enumerate(range(0, pairs, _CHUNK)):
            rows = min(_CHUNK, pairs - first)
            np.less(RowDraws(key, rows).words(number), np.uint64(self.flip), out=flags[first : first + rows])
        return flags

    def _distances(self, pairs: int, key: bytes) -> Iterator[Places]:
        """Yield how many pairs are not flipped before the next that is, `reach` where there are as many or more."""
        rows = max(64, min(_CHUNK, int(pairs * float(self.lie) * 1.1) + pairs // self.reach + 64))
        draws, index = RowDraws(key, rows), 0
        while True:
            words = draws.words(2 * index)
            below = np.searchsorted(self._uppers, words, side="right")
            distances = self.reach - below
            tied = np.flatnonzero(self._uppers[np.maximum(below, 1) - 1] == words)
            if tied.size:
                lower = draws.words(2 * index + 1)
                for row in tied.tolist():  # fewer than one in 2**51
                    number = (int(words[row]) << 64) | int(lower[row])
                    distances[row] = self.reach - bisect_left(self._ascending, number + 1)
            yield distances
            index += 1

    @property
    def reach(self) -> int:
        """How many pairs a distance can pass at most."""
        return _reach(self.flip)

    @cached_property
    def survival(self) -> tuple[int, ...]:
        """P(the next flip is more than k pairs away) over 2**128, for k from 0 to `reach`."""
        return _survival(self.flip)

    @cached_property
    def _ascending(self) -> list[int]:
        return list(reversed(self.survival[1:]))

    @cached_property
    def _uppers(self) -> npt.NDArray[np.uint64]:
        return np.array([one >> 64 for one in self._ascending], dtype=np.uint64)

    def _holds(self, flip: int) -> bool:
        """Tell whether distances between flips of this probability keep the guarantee."""
        stay = 1 - Fraction(flip, WORD)
        own, drift = Fraction(0), Fraction(0)
        survival = _survival(flip)
        for before, after in itertools.pairwise(survival):
            kept = Fraction(after, before)
            own = max(own, kept / (1 - kept), (1 - kept) / kept)
            drift = max(drift, abs(kept / stay - 1))
        ratio = (1 + drift) / (1 - drift) - 1
        if MOST_PAIRS * ratio >= 1:
            return False
        return own / (1 - MOST_PAIRS * ratio) <= exp_bounds(self.epsilon)[0]


def _reach(flip: int) -> int:
    """Return up to how many pairs distances are drawn: what is left of `survival` has digits enough."""
    return max(1, min(_MOST_REACH, _FLIPS_IN_REACH * WORD // flip))


def _survival(flip: int) -> tuple[int, ...]:
    """Return (1 - q)**k over 2**128, rounded, for k from 0 to `reach`."""
    guard = 128
    stay, whole, found = (WORD - flip) << 192, 1 << 256, [_UNIT]
    power = whole
    for _ in range(_reach(flip)):
        power = power * stay >> 256
        found.append((power + (1 << guard - 1)) >> guard)
    return tuple(found)
