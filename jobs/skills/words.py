"""A tree of skills in words, the same on its page and in a terminal: plain text, from its document."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

Text = TypeVar("Text", bound=str)

SAFE_BITS = 2048
"""Shorter moduli are for trials: they have been factored, or may be soon."""
WEAK_DELTA = 1e-9
"""A larger delta makes a guarantee weak."""
NEIGHBOURS = {
    "replace": "one worker replaced by another",
    "add-or-remove": "one worker more or less; the charge is for one replaced, which is twice as much",
}
"""For whom a spec's epsilon is, by what specs call it."""
ALLOCATIONS = {
    "quadtree": "the paper’s: each level’s counts get 2^(1/3) times as much as those of the level above",
    "tree": "each level’s counts get 2^((1 − 1/d)/3) times as much as those of the level above:"
    " best for d dimensions",
}
"""How counts' part of epsilon grows from level to level."""
PARTICIPANTS = {
    "worker": "every worker: adds their own noise, and encrypts",
    "block": "the steward of a block of rows: sees the skills of these workers, adds noise for them,"
    " and encrypts",
}
"""Who adds noise and encrypts."""
WHERE = {
    "mailbox": "They answered from elsewhere, through a mailbox.",
    "embedded": "Here all of them ran within the job, so whoever ran it could have: that is for trials.",
    "trial": "Here the job dealt the keys itself, and they went with it, so whoever ran it could have:"
    " that is for trials.",
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


def guarantee_of(
    bound: Text | None, delta: float | None, shown: Callable[[float], str]
) -> tuple[str, Text | str, str]:
    r"""Return the guarantee in one sentence: what comes before the claim, the claim, and what comes after.

    Parameters
    ----------
    bound : str or None
        How e to the epsilon that is charged is written, as text or as markup; None where it is infinite.
    delta : float or None
        None where it is not known.
    shown : callable
        How delta is written.

    Examples
    --------
    >>> guarantee_of("e^1", 1e-18, str)[1:]
    ('e^1 times', ' as likely as with any other skills, plus δ\xa0=\xa01e-18.')
    >>> "".join(guarantee_of("e^9", 1.0, str))
    'This tree gives no guarantee of differential privacy: δ is 1, which any tree satisfies.'
    """
    nothing = "This tree gives ", "no guarantee of differential privacy"
    if bound is None:
        return *nothing, "."
    if delta is not None and delta >= 1:
        return *nothing, ": δ is 1, which any tree satisfies."
    more = "" if delta == 0 else ", plus a δ that is not known"
    if delta:
        more = f", plus δ\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{shown(delta)}"
    if delta is not None and delta > WEAK_DELTA:
        more += ". This is a weak guarantee: with a chance of about δ, anything may come out of that worker"
    before = "Whatever one worker’s skills, the tree and its counts are at most "
    return before, bound + " times", f" as likely as with any other skills{more}."


def conditions_of(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return on whom the guarantee rests, each with what they would have to do to break it.

    Parameters
    ----------
    result : dict
        Of the result document.
    """
    keys, holders = (one if isinstance(one := result.get(key), dict) else {} for key in ("keys", "holders"))
    parts = {
        "The encryption": _encryption(keys),
        "The key-holders": _holders(holders),
        "The participants": _participants(result),
    }
    return [(name, text) for name, text in parts.items() if text]


def _encryption(keys: dict[str, Any]) -> str:
    bits = whole(keys.get("bits"))
    if bits is None:
        return ""
    trial = f" Keys of {bits:,} bits can be broken: they are for trials." if bits < SAFE_BITS else ""
    return (
        f"What each participant sends is encrypted by threshold Paillier with a key of {bits:,} bits:"
        f" whoever breaks it sees single contributions.{trial}"
    )


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
    gone = f"up to {dropout:,} may be missing" if dropout else "nobody may be missing"
    if not collusion:
        return (
            "The noise is the sum of a share from each. Nobody may tell others their share of it, and"
            f" {gone}: else there is less noise than stated."
        )
    return (
        f"The noise is the sum of a share from each. Up to {collusion:,}{of} may tell others their share of"
        f" it, and {gone}: the rest make all the noise there has to be. With more, the guarantee is weaker"
        " than stated."
    )


def answers_of(holders: dict[str, Any]) -> str:
    """Return which holders opened the sums, which declined, and in whose names answers were wrong.

    Examples
    --------
    >>> answers_of({"number": 4, "threshold": 2, "answered": [1, 3], "declined": [4], "wrong": []})
    'Holders 1 and 3 of 4 opened the sums; 2 are needed. Declined to open one or more: holder 4.'
    >>> answers_of({"wrong": [2]})
    'An answer in holder 2’s name was wrong, and not used.'
    """
    answered, declined, wrong = (
        [one for one in named if whole(one) is not None]
        if isinstance(named := holders.get(key), list)
        else []
        for key in ("answered", "declined", "wrong")
    )
    number, threshold = whole(holders.get("number")), whole(holders.get("threshold"))
    said = []
    if answered:
        needed = "" if threshold is None else f"; {threshold:,} {'is' if threshold == 1 else 'are'} needed"
        of = "" if number is None else f" of {number:,}"
        said.append(f"{_named(answered).capitalize()}{of} opened the sums{needed}.")
    if declined:
        said.append(f"Declined to open one or more: {_named(declined)}.")
    if wrong:
        # Nobody is accused: that an answer is wrong does not tell whose it is.
        one = f"An answer in {_named(wrong)}’s name was wrong"
        them = one if len(wrong) == 1 else f"Answers in the names of {_named(wrong)} were wrong"
        mailed = holders.get("where") == "mailbox"
        whose = ": anybody who can write to the mailbox can have put that there" if mailed else ""
        said.append(f"{them}, and not used{whose}.")
    return " ".join(said)


def bias_of(result: dict[str, Any]) -> str:
    """Return how counts are biased where branches end at low ones; empty where none can.

    Examples
    --------
    >>> bias_of({"min_count": 0})
    ''
    >>> bias_of({"min_count": 75}).partition(".")[0]
    'A node whose raw count is below 75 is not cut'
    """
    least = whole(result.get("min_count"))
    if least is None or least <= 0:
        return ""
    return (
        f"A node whose raw count is below {least:,} is not cut. So leaves above level 0 are leaves because"
        " their counts came out low: these are biased low, and the consistent counts of their siblings high."
        " Standard errors do not cover that."
    )


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
