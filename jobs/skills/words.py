"""A tree of skills in words: the same on its page and in a terminal. Plain text, of a result document's own values."""

from __future__ import annotations

import math
from typing import Any, TypeVar

Text = TypeVar("Text", bound=str)

SAFE_BITS = 2048
"""Shorter moduli are for trials: they have been factored, or may be soon."""
NEIGHBOURS = {
    "replace": "one worker replaced by another",
    "add-or-remove": "one worker more or less; the charge is for one replaced, which is twice as much",
}
"""For whom a spec's epsilon is, by what specs call it."""
ALLOCATIONS = {
    "quadtree": "the paper’s: each level’s counts get 2^(1/3) times as much as those of the level above",
    "tree": "each level’s counts get 2^((1 − 1/d)/3) times as much as those of the level above: best for d dimensions",
}
"""How counts' part of epsilon grows from level to level."""
PARTICIPANTS = {
    "worker": "every worker: adds their own noise, and encrypts",
    "block": "the steward of a block of rows: sees the skills of these workers, adds noise for them, and encrypts",
}
"""Who adds noise and encrypts."""
WHERE = {
    "mailbox": "They answered from elsewhere, through a mailbox.",
    "embedded": "Here all of them ran within the job, so whoever ran it could have: that is for trials.",
    "trial": "Here the job dealt the keys itself, and they went with it, so whoever ran it could have: that is for trials.",
}
"""Where the holders of the key were."""


def whole(value: Any) -> int | None:
    """Return a count of a document, and None for anything else.

    Examples
    --------
    >>> whole(3), whole(None), whole(True), whole("3")
    (3, None, None, None)
    """
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def charged(privacy: dict[str, Any]) -> Any:
    """Return epsilon for a worker replaced, which is what is charged; None where it is infinite, or not known.

    Examples
    --------
    >>> charged({"epsilon": 1.0, "epsilon_replace": 2.0}), charged({"epsilon": 1.0})
    (2.0, 1.0)
    """
    return privacy.get("epsilon_replace", privacy.get("epsilon"))


def guarantee_of(bound: Text | None, delta: str | None) -> tuple[str, Text | str, str]:
    r"""Return the guarantee in one sentence: what comes before the claim, the claim, and what comes after.

    Parameters
    ----------
    bound : str or None
        How often e to the epsilon that is charged is written, as text or as markup; None where it is infinite.
    delta : str or None
        As it is to be shown; None where it is 0.

    Examples
    --------
    >>> "".join(guarantee_of("e^1", "1e-18"))
    'Whatever one worker’s skills, the tree and its counts are at most e^1 times as likely as with any other skills, plus δ\xa0=\xa01e-18.'
    """
    if bound is None:
        return "This tree gives ", "no guarantee of differential privacy", "."
    more = "" if delta is None else f", plus δ\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{delta}"
    before = "Whatever one worker’s skills, the tree and its counts are at most "
    return before, bound + " times", f" as likely as with any other skills{more}."


def conditions_of(result: dict[str, Any], computational: Any) -> list[tuple[str, str]]:
    """Return on whom the guarantee rests, each with what they would have to do to break it.

    Parameters
    ----------
    result : dict
        Of the result document.
    computational : str or None
        What the document says of the encryption.
    """
    keys, holders = (one if isinstance(one := result.get(key), dict) else {} for key in ("keys", "holders"))
    parts = {
        "The encryption": _encryption(keys, computational),
        "The key-holders": _holders(holders),
        "The participants": _participants(result),
    }
    return [(name, text) for name, text in parts.items() if text]


def _encryption(keys: dict[str, Any], computational: Any) -> str:
    bits = whole(keys.get("bits"))
    said = "" if computational is None else _sentence(computational)
    if not said and bits is None:
        return ""
    said = said or (
        f"What each participant sends is encrypted by threshold Paillier with a key of {bits:,} bits:"
        " whoever breaks it sees single contributions."
    )
    if bits is not None and bits < SAFE_BITS:
        said += f" Keys of {bits:,} bits can be broken: they are for trials."
    return said


def _holders(holders: dict[str, Any]) -> str:
    number, threshold = whole(holders.get("number")), whole(holders.get("threshold"))
    where = WHERE.get(str(holders.get("where")), "")
    if number is None or threshold is None:
        return where
    if threshold == 1:
        who = "The one holder of the key" if number == 1 else f"Each of the {number:,} key-holders, alone,"
        fewer = ""
    else:
        who = f"Any {threshold:,} of the {number:,} key-holders together"
        if threshold == number:
            who = f"All {number:,} key-holders together"
        fewer = "; fewer cannot"
    could = "could open what one participant sent, which holds hardly any noise of its own"
    return f"{who} {could}{fewer}. {where}".rstrip()


def _participants(result: dict[str, Any]) -> str:
    collusion, dropout = whole(result.get("collusion")), whole(result.get("dropout"))
    number = whole(result.get("participants"))
    if collusion is None or dropout is None:
        return ""
    of = "" if number is None else f" of the {number:,}"
    told = (
        f"Up to {collusion:,}{of} may tell others their share"
        if collusion
        else "Nobody may tell others their share"
    )
    gone = f"up to {dropout:,} may be missing" if dropout else "nobody may be missing"
    return (
        f"The noise is the sum of a share from each. {told} of it, and {gone}: the rest make all the noise there has"
        " to be. With more, the guarantee is weaker than stated."
        if collusion
        else f"The noise is the sum of a share from each. {told} of it, and {gone}: else there is less noise than stated."
    )


def answers_of(holders: dict[str, Any]) -> str:
    """Return which holders answered, and who was refused, in a sentence; empty where that is not known.

    Examples
    --------
    >>> answers_of({"number": 3, "threshold": 2, "answered": [1, 3], "refused": [2]})
    'Holders 1 and 3 of 3 opened the sums; 2 are needed. Refused for a wrong proof: holder 2.'
    """
    answered, refused = (
        [one for one in named if whole(one) is not None]
        if isinstance(named := holders.get(key), list)
        else []
        for key in ("answered", "refused")
    )
    number, threshold = whole(holders.get("number")), whole(holders.get("threshold"))
    said = []
    if answered:
        needed = "" if threshold is None else f"; {threshold:,} {'is' if threshold == 1 else 'are'} needed"
        of = "" if number is None else f" of {number:,}"
        said.append(f"{_named(answered).capitalize()}{of} opened the sums{needed}.")
    if refused:
        said.append(f"Refused for a wrong proof: {_named(refused)}.")
    return " ".join(said)


def _named(holders: list[int], most: int = 12) -> str:
    if len(holders) > most:
        return f"{len(holders):,} holders"
    *before, last = map(str, holders)
    return f"holders {', '.join(before)} and {last}" if before else f"holder {last}"


def box_of(box: dict[str, tuple[float, float]], domain: tuple[float, float], named: Any = str) -> str:
    """Return what the workers of a box have in common, for each dimension that it is cut in.

    Parameters
    ----------
    box : dict
        The ends of each dimension.
    domain : tuple of float
        The ends of all of them.
    named : callable
        How a dimension is written.

    Examples
    --------
    >>> box_of({"maths": (0.25, 0.5), "prose": (0.0, 0.125), "music": (0.0, 1.0)}, (0.0, 1.0))
    '0.25 ≤ maths < 0.5, prose < 0.125'
    >>> box_of({"maths": (0.0, 1.0)}, (0.0, 1.0))
    'everybody'
    """
    parts = []
    for name, (low, high) in box.items():
        if low > domain[0] and high < domain[1]:
            parts.append(f"{brief(low)} ≤ {named(name)} < {brief(high)}")
        elif high < domain[1]:
            parts.append(f"{named(name)} < {brief(high)}")
        elif low > domain[0]:
            parts.append(f"{named(name)} ≥ {brief(low)}")
    return ", ".join(parts) or "everybody"


def brief(value: float) -> str:
    """Return where a dimension is cut, with four digits.

    Examples
    --------
    >>> brief(0.123456), brief(-2.0)
    ('0.1235', '−2')
    """
    return f"{value:.4g}".replace("-", "\N{MINUS SIGN}") if math.isfinite(value) else "–"


def _sentence(text: Any) -> str:
    said = str(text).strip()
    said = said[:1].upper() + said[1:]
    return said if not said or said.endswith((".", "!", "?")) else f"{said}."
