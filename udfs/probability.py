"""Probabilities as people write them, and the privacy of a law that is made of them.

All of it is exact: a probability is a fraction, and an epsilon is rounded up, never down.
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TypeAlias

from udfs.errors import SpecError

Law: TypeAlias = tuple[tuple[Fraction, ...], ...]
"""Row u, column v is the probability of report u for answer v."""

Probability: TypeAlias = int | float | Decimal | Fraction | str
"""A probability as it is written: a number, or text such as "1/6" or ".25"."""

_MOST_DIGITS = 100
"""More is a slip, and could fill the memory: 1e-999999999 is a short number."""

_TEXT = re.compile(r"\d+\s*/\s*\d+|\d*\.\d+|\d+", re.ASCII)


def parse_probability(value: object, where: str) -> Fraction:
    """Return a probability as an exact fraction.

    Parameters
    ----------
    value : int, float, Decimal, Fraction or str
        A float means the decimal it prints as; text is "a/b" or a decimal such as ".25".
    where : str
        The option named in the error.

    Returns
    -------
    Fraction
        From 0 to 1.

    Raises
    ------
    SpecError
        For anything else: a truth value, NaN, other text, more than 100 digits, a number outside [0, 1].

    Examples
    --------
    >>> parse_probability("1/6", "p"), parse_probability(0.1, "p")
    (Fraction(1, 6), Fraction(1, 10))
    """
    exact = _exact(value)
    if exact is None or not 0 <= exact <= 1:
        raise SpecError(
            where,
            "must be a probability: a number from 0 to 1, or a fraction as text",
            f"{type(value).__name__} {str(value)[:_MOST_DIGITS]!r}",
            'write ".25" or "1/4"',
        )
    return exact


def parse_number(value: object) -> Fraction:
    """Return a number as an exact fraction.

    Raises
    ------
    SpecError
        For a truth value, NaN, other text, or more than 100 digits.

    Examples
    --------
    >>> parse_number(3), parse_number("1/3")
    (Fraction(3, 1), Fraction(1, 3))
    """
    exact = _exact(value)
    if exact is None:
        raise SpecError("", "must be a number, or a fraction as text", f"{type(value).__name__}")
    return exact


def privacy_of_law(rows: Law) -> Decimal:
    """Return the epsilon of a law: the largest log-ratio of two probabilities of one report.

    Parameters
    ----------
    rows : tuple of tuples of Fraction
        Row u, column v is the probability of report u for answer v; a row of zeros never shows.

    Returns
    -------
    Decimal
        Twelve digits, rounded up: never below the true value. Infinite where a report rules an answer out.

    Notes
    -----
    The ratio is rounded up to 40 digits; `decimal` rounds the logarithm correctly, to half a unit in the
    last of them, and one whole unit is given away.

    Examples
    --------
    >>> privacy_of_law(((Fraction(1, 2), Fraction(0)), (Fraction(1, 2), Fraction(1))))
    Decimal('Infinity')
    """
    shown = [row for row in rows if any(row)]
    if not all(map(all, shown)):
        return Decimal("Infinity")
    ratio = max(max(row) / min(row) for row in shown)
    if ratio == 1:
        return Decimal(0)
    up = Context(prec=40, rounding=ROUND_CEILING)
    above = up.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    return Context(prec=12, rounding=ROUND_CEILING).plus(up.next_plus(up.ln(above)))


def _exact(value: object) -> Fraction | None:
    """Return the number that a value is written as, None where it is none of 100 digits or fewer."""
    if isinstance(value, str):
        text = value.strip()
        if len(text) > _MOST_DIGITS or not _TEXT.fullmatch(text):
            return None
        above, _, below = text.partition("/")
        divisor = Fraction(below or 1)
        return Fraction(above) / divisor if divisor else None
    if isinstance(value, float):
        value = Decimal(str(value))
    if isinstance(value, Decimal):
        exponent = value.as_tuple().exponent
        written_out = isinstance(exponent, int) and -_MOST_DIGITS <= exponent <= 0
        return Fraction(value) if written_out else None
    return Fraction(value) if isinstance(value, int | Fraction) and not isinstance(value, bool) else None
