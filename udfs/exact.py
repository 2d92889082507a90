"""Epsilon as an exact number, and probabilities rounded so that its promise stays exact.

Floating point breaks the promise: p/q computed in doubles exceeds e**epsilon in half of all cases.
Here epsilon is a decimal, e**epsilon is a rational lower bound to 80 digits, and a probability is an
integer over 2**64 rounded to the private side.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from fractions import Fraction

from udfs.errors import SpecError

WORD = 1 << 64
"""Probabilities are integers over this: one 64-bit word of a keystream decides a draw."""

_DIGITS = 80
LARGEST_MAGNITUDE = 1000
"""An epsilon beyond 10**1000, or below its inverse, is a slip."""
_LARGEST_EXPONENT = Decimal(200)
"""e**200 is far beyond 2**64: a larger epsilon cannot be told from it in one word."""


def parse_epsilon(value: object, where: str = "epsilon") -> Decimal:
    """Return epsilon as an exact decimal.

    Parameters
    ----------
    value : int, float, Decimal or Fraction-free number
        A positive finite number. A float means the decimal it prints as.
    where : str
        The option named in the error.

    Returns
    -------
    Decimal
        The same number, positive and finite.

    Raises
    ------
    SpecError
        For zero, a negative or non-finite number, a truth value or text.

    Examples
    --------
    >>> parse_epsilon(0.1)
    Decimal('0.1')
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise SpecError(
            where, "epsilon must be a positive finite number", f"{type(value).__name__} {value!r}"
        )
    try:
        epsilon = Decimal(str(value) if isinstance(value, float) else value)
    except InvalidOperation:
        epsilon = Decimal("NaN")
    if not (epsilon.is_finite() and epsilon > 0 and abs(epsilon.adjusted()) <= LARGEST_MAGNITUDE):
        raise SpecError(where, "epsilon must be a positive finite number", f"{value}", "give one above 0")
    return epsilon


def exp_bounds(exponent: Decimal) -> tuple[Fraction, Fraction]:
    """Return rationals below and above e**exponent, 80 digits apart from each other.

    Parameters
    ----------
    exponent : Decimal
        At most 200 in absolute value.

    Returns
    -------
    tuple of Fraction
        `lower < e**exponent < upper`.

    Notes
    -----
    `decimal` rounds the exponential correctly, to half a unit in the last place; one whole unit is
    given away on either side.

    Examples
    --------
    >>> lower, upper = exp_bounds(Decimal(1))
    >>> lower < upper and abs(float(lower) - 2.718281828459045) < 1e-15
    True
    """
    nearest = Context(prec=_DIGITS).exp(exponent)
    below, above = Context(prec=_DIGITS, rounding=ROUND_FLOOR), Context(prec=_DIGITS, rounding=ROUND_CEILING)
    return Fraction(below.next_minus(nearest)), Fraction(above.next_plus(nearest))


def max_ratio(epsilon: Decimal) -> Fraction:
    """Return the largest ratio of two probabilities that epsilon allows, as a rational not above it.

    Examples
    --------
    >>> max_ratio(Decimal("0.5")) < Fraction(16488, 10000)
    True
    """
    return exp_bounds(min(epsilon, _LARGEST_EXPONENT))[0]


def truth_threshold(odds: Fraction, epsilon: Decimal) -> int:
    """Return the probability of a truthful draw over 2**64, rounded inward.

    A draw is truthful with probability `odds e**epsilon / (1 + odds e**epsilon)`: the chance that a
    design gives to the truth where it is favoured by e**epsilon over prior odds `odds`.

    Parameters
    ----------
    odds : Fraction
        Positive: the odds of the truth where epsilon is 0.
    epsilon : Decimal
        Positive.

    Returns
    -------
    int
        In [1, 2**64 - 1]: at most the ideal probability, and within 2**-64 of it or of the largest
        number below 1 that a word can express.

    Examples
    --------
    >>> round(truth_threshold(Fraction(1), Decimal("1.09861228866811")) / 2**64, 12)  # ln 3 between two
    0.75
    """
    favour = odds * max_ratio(epsilon)
    return max(1, min(WORD - 1, math.floor(WORD * favour / (1 + favour))))
