"""Public Gaussian directions: each coordinate by itself, in whole numbers, of a published seed and a row's name.

A direction has an entry for each entry of an answer, and there may be half a million of these. Whoever adds
reports up wants few of them, so each is a function of (seed, row, coordinate) alone: a 32-bit piece of one AES
block. It becomes normal by a table of quantiles in fixed point. Whole numbers add up to the same sum in any
order, and to the same sum anywhere.

Privacy: nothing here depends on an answer.

References
----------
FIPS 197 (AES). Wichura: Algorithm AS 241 (1988), the quantiles of the normal law.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from udfs.draws import Draws
from udfs.streams import WORD_TYPE, BlockCipher, Words, derive_key

UNIT = 1 << 24
"""One standard deviation."""
LARGEST = 106_333_290
"""No coordinate is larger: at most the quantile of 2**-33, 6.34 deviations."""
IN_A_BLOCK = 4
"""Coordinates share an AES block, 32 bits each."""

_SEGMENT_BITS, _CELL_BITS = 9, 12
"""An octave of probabilities has 2**9 segments, each a straight line of 2**12 cells."""
_LOWEST, _HIGHEST = -1, 30
"""The octaves of a magnitude in [2**-1, 2**31)."""
_FINE_BITS = 16
"""The table is so much finer than `UNIT`."""
_MANTISSA_BITS, _EXPONENT_BIAS = 52, 1023
_FIRST_SEGMENT = (_EXPONENT_BIAS + _LOWEST) << _SEGMENT_BITS

ROWS_AT_ONCE = 1 << 12
"""So many rows' coordinates stay in a processor's cache."""


@cache
def _table() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the start and the slope of every segment: int64, 2**-40 deviations, the latter by the cell.

    Segment i of octave e holds probabilities 2**(e - 32) (1 + [i, i + 1) / 512). Quantiles are convex there: the
    chord is lowered by half of what it is too high in the middle, so that it is off by 2e-7 at most.
    """
    segments = 1 << _SEGMENT_BITS
    octave = np.repeat(np.arange(_LOWEST, _HIGHEST + 1), segments)
    start = 1 + np.tile(np.arange(segments), len(octave) // segments) / segments
    low, middle, high = (-ndtri(np.ldexp(start + part / segments, octave - 32)) for part in (0.0, 0.5, 1.0))
    excess = ((low + high) / 2 - middle) / 2
    scale = UNIT << _FINE_BITS
    slopes = np.rint((high - low) * scale / (1 << _CELL_BITS))
    whole_cells = (
        octave >= _SEGMENT_BITS + _CELL_BITS
    )  # of several magnitudes each: the line's value in their middle
    starts = (
        np.rint((low - excess) * scale)
        + (1 << _FINE_BITS - 1)
        + np.where(whole_cells, np.rint(slopes / 2), 0)
    )
    return starts.astype(np.int64), slopes.astype(np.int64)


def normal(words: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Turn uniform words into standard normal numbers, `UNIT` a deviation, by quantiles.

    Parameters
    ----------
    words : ndarray of int32, any shape

    Returns
    -------
    ndarray of int64, C order
        The sign of the word; a magnitude a of 31 bits is the quantile of (a + 1/2) / 2**32. The law is symmetric,
        and coupled to the normal one within 1e-6 deviations.

    Examples
    --------
    >>> normal(np.array([0, -1, 2**31 - 1, 2**30], dtype=np.int32)) / UNIT
    array([ 6.33795774e+00, -6.33795774e+00,  1.19209290e-07,  6.74489439e-01])
    """
    starts, slopes = _table()
    signs = np.right_shift(words, 31, order="C")
    place = np.bitwise_xor(words, signs, order="C").astype(np.float64)
    place += 0.5
    bits = place.view(np.int64)  # a float's own bits: octave, segment and cell
    segment = bits >> (_MANTISSA_BITS - _SEGMENT_BITS)
    segment -= _FIRST_SEGMENT
    bits >>= _MANTISSA_BITS - _SEGMENT_BITS - _CELL_BITS
    bits &= (1 << _CELL_BITS) - 1
    bits *= slopes.take(segment, mode="clip")
    bits += starts.take(segment, out=segment, mode="clip")
    bits >>= _FINE_BITS
    bits ^= signs
    bits -= signs
    return bits


@cache
def moments() -> tuple[float, float]:
    """Return E|V| and E[V**2] of a coordinate V in deviations, by exact sums over all its values.

    Cost: a third of a second, once.
    """
    few = 1 << _SEGMENT_BITS + _CELL_BITS
    absolute = squares = 0
    for octave in range(_SEGMENT_BITS + _CELL_BITS - 1, _HIGHEST + 1):
        times = max(1, (1 << octave) // few)
        first = 0 if octave < _SEGMENT_BITS + _CELL_BITS else 1 << octave
        sizes = normal((first + times * np.arange(few, dtype=np.int64)).astype(np.int32)).reshape(-1, 256)
        absolute += times * int(sizes.sum())
        squares += times * sum((sizes * sizes).sum(axis=1).tolist())
    return absolute / (UNIT << 31), squares / (UNIT * UNIT << 31)


def row_names(draws: Draws, seed: bytes) -> Words:
    """Return what tells each row's direction: uint64, shape (rows, 2), public and as good as random.

    Parameters
    ----------
    draws : Draws
        Of rows that stand somewhere.
    seed : bytes
        32 published bytes.
    """
    public = draws.public(derive_key(seed, "directions"))
    names = np.empty((len(draws), 2), dtype=WORD_TYPE)
    names[:, 0], names[:, 1] = public.words(0), public.words(1)
    return names


class Directions:
    """The directions of some rows: few enough that a column of them stays in a processor's cache.

    Parameters
    ----------
    seed : bytes
        32 published bytes.
    names : ndarray of uint64, shape (rows, 2)
        From `row_names`.

    Notes
    -----
    Coordinates 4c to 4c + 3 are the four pieces of AES-256 of the name with c added without carry to its second
    half, under a key of the seed.

    Examples
    --------
    >>> Directions(bytes(32), np.zeros((1, 2), dtype=np.uint64)).coordinates([0, 1_000_000]).shape
    (1, 2)
    """

    def __init__(self, seed: bytes, names: Words) -> None:
        self._cipher = BlockCipher(derive_key(seed, "coordinates"))
        self._halves = np.ascontiguousarray(names[:, 1])
        self._blocks = np.empty((len(names), 2), dtype=WORD_TYPE)
        self._blocks[:, 0] = names[:, 0]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._blocks)

    def _pieces(self, counter: int | Words) -> npt.NDArray[np.int32]:
        """Return the blocks of one counter, or of one a row: int32, shape (rows, 4)."""
        np.bitwise_xor(self._halves, np.uint64(counter), out=self._blocks[:, 1])
        return self._cipher.encrypt(self._blocks).view("<i4")

    def four(self, counter: int) -> npt.NDArray[np.int64]:
        """Return coordinates 4 counter to 4 counter + 3: int64, shape (4, rows)."""
        return normal(self._pieces(counter).T)

    def at(self, entries: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """Return one coordinate of each row, its own: int64, shape (rows,)."""
        pieces = self._pieces(entries >> np.uint64(2))
        place = (entries & np.uint64(3)).astype(np.intp)
        place += np.arange(0, pieces.size, IN_A_BLOCK)
        return normal(pieces.reshape(-1).take(place))

    def coordinates(self, wanted: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return some coordinates of every row: int64, shape (rows, wanted).

        Parameters
        ----------
        wanted : sequence of int
            Ascending: coordinates that share a block are evaluated together.
        """
        found = np.empty((len(wanted), len(self)), dtype=np.int64)
        for places, counter, pieces in in_blocks(wanted):
            found[places] = self.four(counter)[pieces]
        return found.T


def in_blocks(wanted: Iterable[int]) -> Iterator[tuple[slice, int, list[int]]]:
    """Yield for each block that holds some of the ascending coordinates: their places, its counter, its pieces.

    Examples
    --------
    >>> list(in_blocks([1, 2, 8]))
    [(slice(0, 2, None), 0, [1, 2]), (slice(2, 3, None), 2, [0])]
    """
    pieces: dict[int, list[int]] = {}
    for coordinate in wanted:
        pieces.setdefault(coordinate // IN_A_BLOCK, []).append(coordinate % IN_A_BLOCK)
    start = 0
    for counter, some in pieces.items():
        yield slice(start, start + len(some)), counter, some
        start += len(some)
