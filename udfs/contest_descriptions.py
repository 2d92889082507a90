"""Contests as JSON objects: what a file of reports says that its reports answer."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from udfs.contests import Contest, Duels, EveryFirstChoice, FirstChoice, Points
from udfs.errors import SchemaError


def describe_contest(contest: Contest) -> dict[str, Any]:
    """Return a JSON object that `contest_of` turns back into the contest.

    Examples
    --------
    >>> describe_contest(Points((2, Fraction(1, 2), 0)))
    {'question': 'points', 'weights': ['2', '1/2', '0']}
    """
    match contest:
        case FirstChoice(active):
            return {"question": "first choices", "active": list(active)}
        case Duels(pairs):
            candidates = 1 + max((second for _, second in pairs), default=0)
            if pairs and contest == Duels.of_all(candidates):
                return {"question": "duels", "candidates": candidates}
            return {"question": "duels", "pairs": [list(pair) for pair in pairs]}
        case Points(weights):
            return {"question": "points", "weights": [str(weight) for weight in weights]}
        case EveryFirstChoice(candidates):
            return {"question": "every first choice", "candidates": candidates}
    raise TypeError(f"no contest with a description: {type(contest).__name__}")


def contest_of(description: Mapping[str, Any]) -> Contest:
    """Return the contest that was described.

    Raises
    ------
    SchemaError
        For anything that `describe_contest` does not write.
    """
    try:
        match description:
            case {"question": "first choices", "active": [*active]}:
                return FirstChoice(tuple(map(int, active)))
            case {"question": "duels", "candidates": int(candidates)}:
                return Duels.of_all(candidates)
            case {"question": "duels", "pairs": [*pairs]}:
                return Duels(tuple((int(one), int(other)) for one, other in pairs))
            case {"question": "points", "weights": [*weights]}:
                return Points(tuple(map(Fraction, weights)))
            case {"question": "every first choice", "candidates": int(candidates)}:
                return EveryFirstChoice(candidates)
    except (TypeError, ValueError, ZeroDivisionError):
        pass
    raise SchemaError("description of reports", "must name a question that an election asks", "another")
