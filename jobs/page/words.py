"""How a page words numbers and labels. All of it takes null, and says it with a dash."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from typing import Any

ABSENT = "–"
MINUS = "\N{MINUS SIGN}"
_EVEN_NARROWER, _NARROW, _PLAIN, _BROAD, _WIDE = 0.3, 0.42, 0.58, 0.75, 1.05


def finite(value: Any) -> float | None:
    """Return a number as a float, and None for anything that is not a finite number.

    Examples
    --------
    >>> finite(3), finite(None), finite(True), finite("3")
    (3.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def places(errors: Iterable[Any], least: int = 0, most: int = 6) -> int:
    """Return how many decimals show the smallest error that is above zero with two digits.

    Examples
    --------
    >>> places([0.222, 3.1]), places([12.0]), places([None])
    (2, 0, 2)
    """
    known = [size for error in errors if (size := finite(error)) is not None and size > 0]
    if not known:
        return max(least, 2)
    return min(max(1 - math.floor(math.log10(min(known))), least), most)


def number(value: Any, digits: int) -> str:
    """Return a number with so many decimals, a true minus sign, and a power of ten where it is huge.

    Examples
    --------
    >>> number(-1234.5, 1), number(None, 2), number(2.5e12, 1)
    ('−1,234.5', '–', '2.5 × 10¹²')
    """
    known = finite(value)
    if known is None:
        return ABSENT
    if abs(known) >= 1e9:
        mantissa, exponent = f"{known:.{digits}e}".split("e")
        return f"{mantissa} × {_power(exponent)}".replace("-", MINUS)
    return f"{known:,.{digits}f}".replace("-", MINUS)


def short(value: Any) -> str:
    """Return a number as briefly as ten digits allow.

    Examples
    --------
    >>> short(6.0), short(-0.25), short(None)
    ('6', '−0.25', '–')
    """
    known = finite(value)
    return ABSENT if known is None else f"{known:.10g}".replace("-", MINUS)


def significant(value: Any, digits: int = 3) -> str:
    """Return a number with so many digits that tell, and a power of ten where it is huge or tiny.

    Examples
    --------
    >>> significant(0.03214), significant(271712.4), significant(9.176e-14), significant(0), significant(None)
    ('0.0321', '271,712', '9.18 × 10⁻¹⁴', '0', '–')
    """
    known = finite(value)
    if known is None or known == 0:
        return ABSENT if known is None else "0"
    if abs(known) < 1e-5:
        mantissa, exponent = f"{known:.{digits - 1}e}".split("e")
        return f"{mantissa} × {_power(exponent)}".replace("-", MINUS)
    return number(known, max(digits - 1 - math.floor(math.log10(abs(known))), 0))


def listed(names: Iterable[str]) -> str:
    """Return names as one says them one after the other.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a", "b"]), listed(["a"])
    ('a, b and c', 'a and b', 'a')
    """
    *before, last = [*names] or [""]
    return f"{', '.join(before)} and {last}" if before else last


def bound(value: Any) -> str:
    """Return an epsilon with at most four decimals, rounded up: a bound stays a bound.

    Examples
    --------
    >>> bound(5.992419858), bound(6.0), bound(1.5), bound(0.0125), bound(None)
    ('5.9925', '6', '1.5', '0.0125', '–')
    """
    known = finite(value)
    if known is None or not 0.1 <= known < 1e6:
        return short(known)
    exact = Decimal(repr(known)).quantize(Decimal("0.0001"), rounding=ROUND_CEILING)
    return short(float(exact))


def percent(value: Any, digits: int) -> str:
    """Return a share as per cent, without the sign.

    Examples
    --------
    >>> percent(0.0706, 1), percent(-0.004, 2)
    ('7.1', '−0.40')
    """
    known = finite(value)
    return ABSENT if known is None else number(100 * known, digits)


def percent_places(errors: Iterable[Any]) -> int:
    """Return how many decimals shares of these standard errors deserve as per cent: one to four."""
    return places((100 * size for error in errors if (size := finite(error)) is not None), least=1, most=4)


def count(value: Any) -> str:
    """Return a whole number with its thousands apart.

    Examples
    --------
    >>> count(200000), count(None)
    ('200,000', '–')
    """
    known = finite(value)
    return ABSENT if known is None else number(known, 0)


def degrees(value: Any) -> str:
    """Return degrees of freedom: whole ones, or with one decimal.

    Examples
    --------
    >>> degrees(4), degrees(9.2983)
    ('4', '9.3')
    """
    known = finite(value)
    return number(known, 0 if known is not None and known.is_integer() else 1)


def seconds(value: Any) -> str:
    """Return a time as people say it.

    Examples
    --------
    >>> seconds(0.5549), seconds(125)
    ('0.55 s', '2 min 5 s')
    """
    known = finite(value)
    if known is None:
        return ABSENT
    if known < 60:
        return f"{known:.2f} s"
    minutes, rest = divmod(round(known), 60)
    return f"{minutes:,} min {rest} s"


def times(epsilon: float) -> str:
    """Return e to the epsilon with four digits, rounded up: a bound stays a bound.

    Examples
    --------
    >>> times(1.0), times(6.0), times(50.0), times(0.0)
    ('2.719', '403.5', '5.185 × 10²¹', '1')
    """
    with localcontext(Context(prec=30)):
        exact = Decimal(str(epsilon)).exp()
    rounded = Context(prec=4, rounding=ROUND_CEILING).plus(exact)
    if rounded >= Decimal(10) ** 9:
        mantissa, exponent = f"{rounded:E}".split("E")
        return f"{mantissa} × {_power(exponent)}"
    return f"{rounded.normalize():,f}"


def label(category: Any) -> str:
    """Return a category as it is shown.

    Examples
    --------
    >>> label("weekly"), label(3), label(True), label(None), label(" ")
    ('weekly', '3', 'true', 'no answer', '(blank)')
    """
    if category is None:
        return "no answer"
    if isinstance(category, bool):
        return str(category).lower()
    return str(category) if str(category).strip() else "(blank)"


def sentence(text: Any, capital: bool = True) -> str:
    """Return a remark with a full stop, and by default a capital.

    Examples
    --------
    >>> sentence("too few answered"), sentence("Rao-Scott.", capital=False)
    ('Too few answered.', 'Rao-Scott.')
    """
    remark = str(text).strip()
    remark += "" if remark.endswith((".", "!", "?")) else "."
    return remark[:1].upper() + remark[1:] if capital else remark


def p_value(value: Any) -> str:
    r"""Return a p-value with two digits, and only as a bound where it is tiny.

    Examples
    --------
    >>> p_value(0.0321), p_value(1e-9), p_value(0.0), p_value(None)
    ('0.032', '<\xa00.001', '<\xa00.001', '–')
    """
    known = finite(value)
    if known is None:
        return ABSENT
    return "<\N{NO-BREAK SPACE}0.001" if known < 0.001 else f"{known:.2g}"


def how_often(value: float) -> str:
    """Return a probability as a count of trials.

    Examples
    --------
    >>> how_often(0.61), how_often(0.032), how_often(0.0042), how_often(1e-7), how_often(0.9999)
    ('about 61 of 100', 'about 3 of 100', 'about 4 of 1,000', 'fewer than 1 of 1,000', 'nearly all')
    """
    if value < 0.001:
        return "fewer than 1 of 1,000"
    if value < 0.01:
        return f"about {value * 1000:.0f} of 1,000"
    return "nearly all" if value > 0.994 else f"about {value * 100:.0f} of 100"


def ems(text: str) -> float:
    """Return about how wide a text is in a sans-serif font, rather too wide, in units of its size."""
    return sum(map(_em, text))


def fitted(text: str, width: float) -> str:
    """Return a text cut with an ellipsis to what is about as wide as this many ems.

    Examples
    --------
    >>> fitted("weekly", 10), fitted("several times a week", 6)
    ('weekly', 'several ti…')
    """
    if ems(text) <= width:
        return text
    kept, used = "", _WIDE
    for character in text:
        used += _em(character)
        if used > width:
            break
        kept += character
    return kept.rstrip() + "…"


def _power(exponent: str) -> str:
    return "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _em(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF" or character in "MW@%…mw−+":
        return _WIDE if character not in "mw−+" else 0.88
    if unicodedata.combining(character):
        return 0.0
    if character in "ijl.,:;'|!":
        return _EVEN_NARROWER
    if character in "ftr ()[]-":
        return _NARROW
    return _BROAD if character.isupper() else _PLAIN
