"""Negative binomial numbers from random words, by a table of integer thresholds over 2**128.

P(G = k) = Gamma(k + r) / (k! Gamma(r)) (1 - a)**r a**k with r = 1 / parts and a = e**-epsilon. No float is on the path of
a draw. Thresholds of 64 bits would leave a tail that can be seen: a million numbers add up to far more than one of
them could reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from functools import lru_cache
from itertools import count

import numpy as np
import numpy.typing as npt

from udfs.draws import Draws
from udfs.streams import WORD_TYPE, Words

UNIT = 1 << 128
"""Thresholds are integers over this: two words decide a draw."""

SMALLEST_EPSILON = Decimal("0.0002")
"""A table has up to 89 / epsilon thresholds: at this epsilon, every process takes a third of a second to make it."""

_SCALE_BITS = 192
_MARGIN = 1 << 44
"""In units of 2**-192: more than the rounding of a table adds up to, and far less than a threshold's unit."""

_DIGITS = Context(prec=120)

_PAIR = np.dtype({"names": ["high", "low"], "formats": [WORD_TYPE, WORD_TYPE], "offsets": [8, 0]})
"""A 128-bit number as it lies in memory, compared by its upper half first."""


@dataclass(frozen=True, eq=False)
class Thresholds:
    """128-bit integers, ascending.

    Attributes
    ----------
    numbers : ndarray of pairs of uint64, shape (thresholds,)
        Each as its halves, `high` and `low`.
    high : ndarray of uint64, shape (thresholds,)
        The upper halves once more, side by side: most draws need no others.
    """

    numbers: npt.NDArray[np.void]
    high: Words


@lru_cache(maxsize=32)
def thresholds(epsilon: Decimal, parts: int) -> Thresholds:
    """Return P(G >= k) over 2**128, rounded down, for all k >= 1 where that is positive: ascending, at least one.

    Parameters
    ----------
    epsilon : Decimal
        At least `SMALLEST_EPSILON`.
    parts : int
        At least one.

    Returns
    -------
    Thresholds
        Each is at most the ideal one, and less by under 1 + 2**-19; so is 0, for all that are left out. It is kept
        for the process.

    Notes
    -----
    Probabilities are followed in units of u = 2**-192 by P(k + 1) = P(k) a (k + r) / (k + 1). `decimal` gives P(0) and
    a to 115 digits, so each is within 2u once rounded down. A step multiplies the error by less than one, and adds
    2u P(k) for that of a, and u for each of two roundings: so P(k) is within (4k + 2) u, and a tail, one less the sum
    of k of them, within 2k**2 u. As P(G >= k) <= a**k, there are fewer than 128 ln 2 / epsilon < 2**19 thresholds, and
    2**39 u bounds all errors. `_MARGIN` u is taken off before a tail is rounded down.

    Examples
    --------
    >>> table = thresholds(Decimal("0.6931471805599453094172321214581765680755"), 1)
    >>> [int(one) / 2**64 for one in table.high[:-4:-1]]
    [0.5, 0.25, 0.125]
    """
    scale = 1 << _SCALE_BITS
    alpha = _DIGITS.exp(epsilon.copy_negate())
    none = _DIGITS.exp(_DIGITS.divide(_DIGITS.ln(_DIGITS.subtract(Decimal(1), alpha)), Decimal(parts)))
    rate, probability = (int(_DIGITS.multiply(number, Decimal(scale))) for number in (alpha, none))
    tail, descending = scale - probability - _MARGIN, list[int]()
    for k in count(1):
        descending.append(max(0, tail >> _SCALE_BITS - 128))
        probability = (probability * rate >> _SCALE_BITS) * ((k - 1) * parts + 1) // (k * parts)
        tail -= probability
        if tail < scale // UNIT:
            break
    data = b"".join(one.to_bytes(16, "little") for one in reversed(descending))
    numbers = np.frombuffer(data, dtype=_PAIR)
    return Thresholds(numbers, np.ascontiguousarray(numbers["high"]))


def draw_positive(
    table: Thresholds, draws: Draws, upper: int, lower: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Draw G for every row: how many thresholds exceed a 128-bit number.

    Parameters
    ----------
    table : Thresholds
    draws : Draws
    upper, lower : int
        The words that are the number's halves. The lower ones are read only where an upper one equals that of
        a threshold: less than once in 2**45 rows.

    Returns
    -------
    rows, sizes : ndarrays of int, shape (some,)
        The rows where G may be positive, and what it is there. It is 0 in all others.
    """
    words = draws.words(upper)
    rows = np.flatnonzero(words <= table.high[-1])
    words = words[rows]
    places = np.searchsorted(table.high, words, side="right")
    tied = np.flatnonzero(table.high[places - 1] == words)
    if tied.size:
        numbers = np.empty(tied.size, dtype=_PAIR)
        numbers["high"], numbers["low"] = words[tied], draws.words(lower)[rows[tied]]
        places[tied] = np.searchsorted(table.numbers, numbers, side="right")
    return rows, len(table.high) - places
