"""The errors that hide a lattice query, and how seldom they spoil an answer.

Parameters are SimplePIR's: dimension 1024, modulus 2**32, errors of a discrete Gaussian of standard deviation
6.4. Its authors put learning with errors at these at about 128 bits. The usual estimate of the primal attack
asks for lattice reduction in blocks of b = 326 in dimension d = 2145: 2**126 operations at 8 d 2**(0.292 b +
16.4) (Albrecht et al.), and 2**95 at the 2**(0.292 b) of Core-SVP, which counts less than an attacker needs.
Secrets are drawn as errors are: that is no easier to break than uniform secrets are (Applebaum et al.). All
workers share the public matrix; by a hybrid argument, the advantage over many queries is at most as many
times that over one.

References
----------
Henzinger, Hong, Corrigan-Gibbs, Meiklejohn, Vaikuntanathan: One server for the price of two (2023), section
4.2. Applebaum, Cash, Peikert, Sahai: Fast cryptographic primitives and circular-secure encryption (2009).
Albrecht, Player, Scott: On the concrete hardness of learning with errors (2015); Alkim, Ducas, Pöppelmann,
Schwabe: Post-quantum key exchange (2016), for Core-SVP.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from udfs.draws import Draws
from udfs.exact import exp_bounds
from udfs.streams import WORD_TYPE

DIMENSION = 1024
"""How many numbers a query's secret has."""

MODULUS = 1 << 32
"""All is computed modulo this."""

_DEVIATION = Decimal("6.4")

VARIANCE = Fraction(_DEVIATION) ** 2
"""Of errors, and of secrets."""

ANSWER_BITS_CUT = 16
"""An answer's low bits that the platform rounds away: they hold little but error."""

HINT_BITS_CUT = 8
"""A hint's low bits that are rounded away: times a secret, they stay far below the errors."""

_UNIT = 1 << 128
_DIGITS = Context(prec=100)
_MARGIN = Decimal("1e-40")
"""In units of 2**-128: more than 100 digits round away, so that a tail is never rounded up."""

_REACH = 120
"""Beyond this, the Gaussian's tail is below 2**-253."""

_OPEN = np.iinfo(np.int16).max
_MOST_COLUMNS = 1 << 40


class Gaussian:
    """The discrete Gaussian of standard deviation 6.4: P(x) proportional to exp(-x**2 / 81.92).

    Drawn from a table of 128-bit thresholds, by integers alone. The drawn law is symmetric, and each of its
    tails is at most the ideal one's: so is E cosh(t X), and the sum of numbers drawn, each times a weight, is
    sub-Gaussian with the variance that the ideal one has (see `element_failure`).

    Examples
    --------
    >>> from udfs.draws import fresh_draws
    >>> GAUSSIAN.draw(fresh_draws(3)).shape
    (3,)
    """

    @cached_property
    def tails(self) -> tuple[int, ...]:
        """P(X >= k) over 2**128, rounded down, for k = 1, 2, ... where it is positive: descending."""
        with localcontext(_DIGITS):
            weights = [(Decimal(-(k**2)) / (2 * _DEVIATION**2)).exp() for k in range(_REACH + 1)]
            whole = weights[0] + 2 * sum(weights[1:])
            tail, ascending = Decimal(0), list[int]()
            for weight in reversed(weights[1:]):
                tail += weight
                ascending.append(math.floor(tail / whole * _UNIT - _MARGIN))
        return tuple(one for one in reversed(ascending) if one > 0)

    @cached_property
    def _cuts(self) -> list[int]:
        """The numbers from which on X is one less: ascending, symmetric."""
        return [*reversed(self.tails), *(_UNIT - tail for tail in self.tails)]

    @cached_property
    def _uppers(self) -> npt.NDArray[np.uint64]:
        """The cuts' upper halves."""
        return np.array([cut >> 64 for cut in self._cuts], dtype=WORD_TYPE)

    @cached_property
    def _by_prefix(self) -> npt.NDArray[np.int16]:
        """X by a number's upper 16 bits, where these decide."""
        ends = [bisect_right(self._cuts, prefix << 112) for prefix in range(1 << 16)]
        last = [bisect_left(self._cuts, (prefix + 1) << 112) for prefix in range(1 << 16)]
        found = len(self.tails) - np.array(ends, dtype=np.int16)
        found[np.array(ends) != np.array(last)] = _OPEN
        return found

    @property
    def total_variation(self) -> Fraction:
        """A bound on the total variation distance between the law of a drawn number and the ideal one.

        A tail P(X >= k) falls short of the ideal one by d_k < (1 + 2**-99) 2**-128, the last ones, of which
        nothing is left, by less than twice that together. A probability is off by d_k + d_(k + 1) at most,
        and X = 0 by 2 d_1.
        """
        return Fraction(2 * (len(self.tails) + 2), _UNIT)

    def draw(self, draws: Draws) -> npt.NDArray[np.int16]:
        """Draw a number for every row.

        Parameters
        ----------
        draws : Draws
            Word 0 is the upper half of a 128-bit number; word 1, the lower one, is read only where the upper
            half is a threshold's: less than once in 2**56 rows.

        Returns
        -------
        ndarray of int16, shape (rows,)
        """
        words = draws.words(0)
        numbers: npt.NDArray[np.int16] = self._by_prefix[words >> np.uint64(48)]
        rest = np.flatnonzero(numbers == _OPEN)
        places = np.searchsorted(self._uppers, words[rest], side="right")
        numbers[rest] = len(self.tails) - places
        tied = rest[self._uppers[np.maximum(places, 1) - 1] == words[rest]]
        if tied.size:
            lower = draws.words(1)
            for row in tied.tolist():  # one in 2**56
                number = (int(words[row]) << 64) | int(lower[row])
                numbers[row] = len(self.tails) - bisect_right(self._cuts, number)
        return numbers


GAUSSIAN = Gaussian()


def scale(modulus: int) -> int:
    """Return what a query asks with: the largest number whose `modulus`-fold is no more than 2**32."""
    return MODULUS // modulus


@lru_cache(maxsize=4096)
def element_failure(columns: int, modulus: int) -> Fraction:
    """Return a bound on the probability that one entry of the library is decoded wrongly.

    Parameters
    ----------
    columns : int
        Of the library's matrix.
    modulus : int
        Odd; entries are from -h to h, h = (modulus - 1) / 2.

    Returns
    -------
    Fraction
        At most 1.

    Notes
    -----
    An answer less the hint's part is D u + N + R, with D the entry, u = `scale`, N the sum of `columns`
    errors times entries and of 1024 secret numbers times what rounding took from a hint's row, at most 2**7
    each, and R, at most 2**15, what rounding took from the answer. It is decoded rightly where abs(N + R) < u
    / 2. N is sub-Gaussian with variance v = 6.4**2 (columns h**2 + 1024 2**14): for the ideal Gaussian, E
    exp(t X) is exp(t**2 6.4**2 / 2) times the sum of exp(-x**2 / 81.92) over shifted integers, over that over
    the integers themselves, which is the largest; what is drawn has smaller tails. So P(abs(N) >= r) <= 2
    exp(-r**2 / 2v), here with r = u / 2 - 2**15.

    Without the rounding, the largest moduli for 2**-40 are SimplePIR's: 991 for 2**13 columns, 833 for 2**14.

    Examples
    --------
    >>> element_failure(2**13, 943) < Fraction(1, 2**40) < element_failure(2**13, 1001)
    True
    """
    half = (modulus - 1) // 2
    room = Fraction(scale(modulus), 2) - (1 << ANSWER_BITS_CUT - 1)
    variance = VARIANCE * (columns * half**2 + DIMENSION * (1 << 2 * (HINT_BITS_CUT - 1)))
    nats = min(room**2 / (2 * variance), Fraction(200))
    exponent = Decimal(f"-{nats.numerator * 10**20 // nats.denominator}e-20")
    return min(Fraction(1), 2 * exp_bounds(exponent)[1])


def most_columns(modulus: int, failure: Fraction) -> int:
    """Return how many columns a matrix may have for an entry to fail with less than this probability.

    Examples
    --------
    >>> most_columns(777, Fraction(1, 2**80)) > 2**13
    True
    """
    columns = range(1, _MOST_COLUMNS)
    return bisect_left(columns, True, key=lambda count: element_failure(count, modulus) >= failure)
