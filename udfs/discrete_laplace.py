"""Discrete Laplace noise from random bytes, exactly: what a trusted holder adds to whole numbers.

P(x) = (1 - a) / (1 + a) a**abs(x) with a = e**-(epsilon / sensitivity): the law of the difference of two
geometric numbers. The binary digits of a geometric number are independent, so each is one biased coin; and a
coin whose bias has infinitely many digits is tossed exactly, by comparing random digits with these until two
differ. So no table is cut off, no float is on the path of a draw, and the guarantee needs no delta.

References
----------
Ghosh, Roughgarden, Sundararajan: Universally utility-maximizing privacy mechanisms (2012), for the geometric
mechanism. Canonne, Kamath, Steinke: The discrete Gaussian for differential privacy (2020), section 5, for its
law, its moments and another exact way to draw it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache

import gmpy2
import numpy as np
import numpy.typing as npt

from udfs.errors import SpecError
from udfs.exact import WORD, parse_epsilon
from udfs.safe_primes import RandomBytes
from udfs.streams import WORD_TYPE

SMALLEST_RATE = Fraction(1, 1 << 40)
"""Of epsilon over sensitivity: a number then passes 2**62 with a probability of e**-(2**22): never."""

_LARGEST_RATE = 512
"""Beyond this there is no noise: it is drawn at this rate, which is the more private."""


@dataclass(frozen=True)
class DiscreteLaplace:
    """The discrete Laplace law for whole numbers that one change moves by `sensitivity` at most, in all.

    Privacy: numbers with this noise, independent in each, are epsilon-private in the central model, exactly.
    Cost: two words a number for every binary digit of sensitivity / epsilon, and about three more.

    Parameters
    ----------
    epsilon : Decimal
        Positive and finite.
    sensitivity : int
        The largest sum of absolute changes, at least one. Of a graph with n nodes and for a change of one
        link: 2 for the degrees, n - 2 for the number of triangles, 3 (n - 2) for the numbers of triangles at
        each node.

    Examples
    --------
    >>> from udfs.streams import byte_stream
    >>> noise = DiscreteLaplace(Decimal(1), sensitivity=2)
    >>> noise.draw(3, byte_stream(bytes(32))).dtype
    dtype('int64')
    """

    epsilon: Decimal
    sensitivity: int

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "epsilon", parse_epsilon(self.epsilon))
        if (
            isinstance(self.sensitivity, bool)
            or not isinstance(self.sensitivity, int)
            or self.sensitivity < 1
        ):
            raise SpecError("sensitivity", "must be a whole number, one or more", f"{self.sensitivity!r}")
        if self.rate < SMALLEST_RATE:
            raise SpecError(
                "epsilon",
                "must be at least 2**-40 of the sensitivity",
                f"{self.epsilon} for a sensitivity of {self.sensitivity}",
                "give a larger epsilon",
            )

    @cached_property
    def rate(self) -> Fraction:
        """The logarithm of 1 / a: epsilon over sensitivity, or 512 where that is more."""
        if self.epsilon > _LARGEST_RATE * self.sensitivity:
            return Fraction(_LARGEST_RATE)
        return Fraction(self.epsilon) / self.sensitivity

    @property
    def label(self) -> str:
        """The law and its parameters."""
        return f"discrete laplace epsilon={self.epsilon.normalize()} sensitivity={self.sensitivity}"

    @property
    def variance(self) -> float:
        """2 a / (1 - a)**2, of each number."""
        return 1 / (2 * math.sinh(float(self.rate) / 2) ** 2)

    @property
    def mean_absolute_error(self) -> float:
        """2 a / (1 - a**2), of each number."""
        return 1 / math.sinh(float(self.rate))

    def draw(self, numbers: int, stream: RandomBytes) -> npt.NDArray[np.int64]:
        """Draw independent noise for so many numbers.

        Parameters
        ----------
        numbers : int
        stream : callable
            A source of uniform random bytes that serve nothing else, such as `byte_stream` of a key: the
            noise is a function of it.

        Returns
        -------
        ndarray of int64, shape (numbers,)

        Notes
        -----
        Runs where the truth is: with the trusted holder.
        """
        up, down = _geometric(self.rate, numbers, stream), _geometric(self.rate, numbers, stream)
        return up - down


def _geometric(rate: Fraction, numbers: int, stream: RandomBytes) -> npt.NDArray[np.int64]:
    """Draw from P(G = k) = (1 - a) a**k, where a = e**-rate.

    Written as k = b_0 + 2 b_1 + 4 b_2 + ... + 2**m h, a**k is a product of a factor for each of b_0, ...,
    b_(m - 1) and h: they are independent, bit b_i is 1 with probability 1 / (1 + e**(2**i rate)), and h is
    geometric as well, of the rate 2**m times as large. Where that is 1 or more, h is counted out.
    """
    drawn = np.zeros(numbers, dtype=np.int64)
    place = 0
    while rate * (1 << place) < 1:
        drawn |= toss(rate * (1 << place), 1, numbers, stream).astype(np.int64) << place
        place += 1
    going = np.arange(numbers)
    while going.size:
        going = going[toss(rate * (1 << place), 0, going.size, stream)]
        drawn[going] += 1 << place
    return drawn


def toss(exponent: Fraction, others: int, coins: int, stream: RandomBytes) -> npt.NDArray[np.bool_]:
    """Toss coins that show heads with probability 1 / (e**exponent + others), exactly.

    Parameters
    ----------
    exponent : Fraction
        Positive.
    others : int
    coins : int
    stream : callable

    Returns
    -------
    ndarray of bool, shape (coins,)

    Notes
    -----
    A uniform real number is below that probability if the first digit is in which they differ. Digits are
    words of 64 bits: a second one is drawn for one coin in 2**64.
    """
    heads = np.zeros(coins, dtype=np.bool_)
    undecided, digits = np.arange(coins), 0
    while undecided.size:
        digits += 1
        digit = np.uint64(chance(exponent, others, digits) % WORD)
        words = np.frombuffer(stream(WORD_TYPE.itemsize * undecided.size), dtype=WORD_TYPE)
        heads[undecided] = words < digit
        undecided = undecided[words == digit]
    return heads


@lru_cache(maxsize=1024)
def chance(exponent: Fraction, others: int, digits: int) -> int:
    """Return the first so many digits of 1 / (e**exponent + others), each a word of 64 bits.

    Parameters
    ----------
    exponent : Fraction
        Positive: so the power is no rational number, and its digits are found at some precision.
    others : int
    digits : int

    Returns
    -------
    int
        As a whole number, rounded down.

    Examples
    --------
    >>> chance(Fraction(1), 1, 1) / 2**64 - 1 / (1 + math.e)
    0.0
    """
    precision = 64 * digits + 64
    while True:
        quotients = set()
        for rounding in (gmpy2.RoundDown, gmpy2.RoundUp):
            with gmpy2.context(precision=precision, round=rounding):
                power = gmpy2.mpq(gmpy2.exp(gmpy2.mpfr(gmpy2.mpq(exponent))))
            quotients.add(int(gmpy2.mpq(WORD**digits) // (power + others)))
        if len(quotients) == 1:
            return quotients.pop()
        precision *= 2
