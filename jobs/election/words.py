"""An election in words: the same on its page and in a terminal. Plain text, of a result document's own values."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from jobs.election import rules
from jobs.guarantee import collected

Text = TypeVar("Text", bound=str)

RULES = {name: kind.title for name, kind in rules.RULES.items()}
"""How each rule is named in a sentence."""
INVALID = {
    "truncate": "a ballot is cut where it first breaks the rules",
    "blank": "a ballot that breaks the rules counts as blank",
    "refuse": "none are allowed: one would have stopped the count",
}
"""What becomes of overvotes, repeated and unknown names."""
SHARED = {
    "overvote": "breaks the rules",
    "tie": "is a tie between those who share it",
}
"""What a rank is that several candidates share on a ballot."""
RANDOMIZERS = {
    "ball": "one bit: on which side of a public random direction their answer lies, flipped at random",
    "ellipsoid": "one bit: on which side of a public random direction their duels lie, once what is cyclic"
    " in them is weighed apart; flipped at random",
    "sampled": "a randomized answer to one of the questions, which a public draw chose for them",
    "subset-selection": "a random set of candidates, which holds their own choice more often than any other",
}
"""What a voter sends under each randomizer."""
ROUNDS = {
    "share-voters": "Each voter is asked in one round alone, and spends all of ε there; which round is a public draw.",
    "share-budget": "Every voter is asked in every round, and spends an equal part of ε in each.",
}
"""How rounds share the voters or the budget."""
SELECTIONS = {
    "margin": "by chance: any other outcome has e^(−ε × margin) times the chance of the true one",
    "exponential": "by chance, with the paper’s weights: any other outcome has e^(−ε × margin / 2) times the chance"
    " of the true one",
}
"""How the central model draws the outcome."""
SCORES = {
    "exact": "the exact margin of victory",
    "polynomial": "a stand-in for the margin of victory that takes polynomial time",
}
"""What the central model takes for the margin."""

_NO_NUMBER = "an unknown number"


def rule_of(result: dict[str, Any]) -> str:
    """Return the rule's name in a sentence.

    Examples
    --------
    >>> rule_of({"rule": "stv"}), rule_of({"rule": "another"}), rule_of({})
    ('single transferable vote', 'another', 'the rule')
    """
    rule = str(result.get("rule") or "the rule")
    return RULES.get(rule, rule)


def outcome_of(result: dict[str, Any], epsilon: str) -> tuple[str, str, str]:
    r"""Return the outcome in one sentence: what comes before who wins, who does, and what comes after.

    Parameters
    ----------
    result : dict
        Of the result document.
    epsilon : str
        As it is to be shown.

    Examples
    --------
    >>> outcome_of({"outcome": "Ada", "rule": "borda", "model": "local", "ballots": 9}, "1")
    ('', 'Ada', ' wins by the Borda count, in the local model at ε\xa01.')
    >>> outcome_of({"outcome": None, "rule": "condorcet", "model": "central", "ballots": 9}, "1")
    ('', 'Nobody', ' wins by the Condorcet rule, in the central model at ε\xa01: no candidate beats all others.')
    """
    how = (
        f"by {rule_of(result)}, in the {result.get('model') or 'given'} model at ε\N{NO-BREAK SPACE}{epsilon}"
    )
    candidates, name = result.get("candidates"), result.get("outcome")
    if name is None:
        return "", "Nobody", f" wins {how}: no candidate beats all others."
    if isinstance(candidates, list) and len(candidates) == 1:
        return "", str(name), f" is the only candidate, and wins {how}."
    if result.get("ballots") == 0:
        return "No ballot was cast: by the tie order alone ", str(name), f" wins {how}."
    return "", str(name), f" wins {how}."


def margin_of(result: dict[str, Any]) -> str:
    r"""Return in one sentence how decisive the race was; empty where the document does not tell.

    Examples
    --------
    >>> margin = {"value": 1850, "failure_probability": 0.05}
    >>> margin_of({"ballots": 312771, "estimated_margin": 2027, "decisive_margin": margin})
    'The race was decided by an estimated 2,027 of 312,771 ballots; with 95\xa0% probability the answer is right wherever that is at least 1,850.'
    >>> margin_of({"model": "central", "ballots": 100, "decisive_margin": margin | {"value": 7}})
    'With 95\xa0% probability the answer is right wherever at least 7 of the 100 ballots decided the race.'
    >>> margin_of({"model": "central", "ballots": 5, "decisive_margin": margin | {"value": 7}})
    'For the right answer with 95\xa0% probability it takes a margin of 7 ballots, and there are 5.'
    """
    decisive = result.get("decisive_margin")
    if not isinstance(decisive, dict) or "value" not in decisive:
        return ""
    least = _number(decisive["value"])
    often = f"{_percent(decisive)} probability"
    if least is None:
        return f"No margin is known from which on the answer is right with {often}."
    if least <= 0:
        return "There was only one possible outcome, and the answer is right."
    ballots, estimate = result.get("ballots"), _number(result.get("estimated_margin"))
    if result.get("model") != "central" and estimate is not None:
        side = str(result.get("estimated_margin_is", "")).partition(": ")[2]
        return (
            f"The race was decided by an estimated {count(estimate)} of {count(ballots)} ballots"
            f"{side and f', {side}'};"
            f" with {often} the answer is right wherever that is at least {bound(least)}."
        )
    if _is_beyond(least, ballots):
        few = _too_few(often, least, ballots)
        return f"{few[0].upper()}{few[1:]}"
    return (
        f"With {often} the answer is right wherever at least {bound(least)} of the {count(ballots)} ballots"
        " decided the race."
    )


def verdict_of(result: dict[str, Any]) -> str:
    r"""Return what follows from the margins and the scores, in a sentence; empty where nothing does.

    Examples
    --------
    >>> result = {"ballots": 9000, "assured": False, "decisive_margin": {"value": 900, "failure_probability": 0.05}}
    >>> verdict_of(result)
    'The scores leave other outcomes possible: the race was too close to be sure of the answer.'
    >>> verdict_of(result | {"assured": True})
    'The scores leave no other outcome: with 95\xa0% probability the answer is right.'
    >>> verdict_of(result | {"ballots": 800})
    'So few ballots cannot decide any race for sure at this ε: take the answer for a guess.'
    """
    decisive = result.get("decisive_margin")
    if not isinstance(decisive, dict):
        return ""
    least, assured = _number(decisive.get("value")), result.get("assured")
    if least is not None and least <= 0:
        return ""
    if assured is True:
        return (
            f"The scores leave no other outcome: with {_percent(decisive)} probability the answer is right."
        )
    if least is None:
        return ""
    if _is_beyond(least, result.get("ballots")):
        return "So few ballots cannot decide any race for sure at this ε: take the answer for a guess."
    if result.get("model") == "central":
        return "How many did is not told: the outcome is all that leaves."
    if assured is False:
        return "The scores leave other outcomes possible: the race was too close to be sure of the answer."
    return ""


def levels_of(result: dict[str, Any]) -> str:
    """Return what first choices include besides, in a sentence; empty where they include nothing.

    Examples
    --------
    >>> levels_of({"rounds": [{"includes": "an equal part of the blank ballots"}]})
    'First choices include an equal part of the blank ballots; differences between candidates do not.'
    """
    rounds = result.get("rounds")
    told = (
        [one.get("includes") for one in rounds if isinstance(one, dict)] if isinstance(rounds, list) else []
    )
    for includes in filter(None, told):
        return f"First choices include {includes}; differences between candidates do not."
    return ""


def need_of(decisive: Any, ballots: Any) -> str:
    r"""Return how decisive a race would have to be, in a sentence; empty where the document does not tell.

    Examples
    --------
    >>> need_of({"value": 1850, "failure_probability": 0.05}, 312771)
    'A race is decided right with 95\xa0% probability wherever at least 1,850 of the 312,771 ballots decide it.'
    >>> need_of({"value": 30621, "failure_probability": 0.05}, 30000)
    'No race of so few ballots can be decided for sure: for the right answer with 95\xa0% probability it takes a margin of 30,621 ballots, and there are 30,000.'
    """
    if not isinstance(decisive, dict) or "value" not in decisive:
        return ""
    least, often = _number(decisive["value"]), f"{_percent(decisive)} probability"
    if least is None:
        return f"No margin is known from which on a race is decided right with {often}."
    if least <= 0:
        return "There is only one possible outcome."
    if _is_beyond(least, ballots):
        return f"No race of so few ballots can be decided for sure: {_too_few(often, least, ballots)}"
    of_all = f"wherever at least {bound(least)} of the {count(ballots)} ballots decide it"
    return f"A race is decided right with {often} {of_all}."


def order_decides(result: dict[str, Any], place: int) -> bool:
    """Tell whether the tie order decides where candidates are level in a round, counted from 0.

    Of a duel it does where somebody has to go on or win: not among all duels, and not where whoever is left has to
    beat everybody.

    Examples
    --------
    >>> duels = {"question": "duels"}
    >>> [order_decides({"rule": "condorcet", "rounds": [duels, duels]}, place) for place in range(2)]
    [True, False]
    """
    rounds = result["rounds"]
    is_last = place == len(rounds) - 1
    return not (is_last and rounds[place]["question"] == "duels" and result.get("rule") != "runoff")


def guarantee_of(privacy: dict[str, Any], times: Text | None) -> tuple[str, Text | str, str]:
    """Return an election's guarantee in one sentence: what comes before the claim, the claim, what comes after.

    Parameters
    ----------
    privacy : dict
        Of the result document: its model is "local", "interactive" or "central".
    times : str or None
        How often e to the epsilon is written, as text or as markup; None where epsilon is infinite.

    Examples
    --------
    >>> print("".join(guarantee_of({"model": "local"}, "e^1")))
    Whatever one voter’s ballot, their report is at most e^1 times as likely as with any other ballot.
    >>> print("".join(guarantee_of({"model": "interactive"}, "e^1")))
    Whatever one voter’s ballot, all that is sent in all rounds is at most e^1 times as likely as with any other ballot.
    """
    if times is None:
        return "This election gives ", "no guarantee of differential privacy", "."
    what = {
        "interactive": "all that is sent in all rounds is",
        "central": "the outcome is",
    }.get(str(privacy.get("model")), "their report is")
    given = "If reports were made as they say, then whatever" if collected(privacy) else "Whatever"
    before = f"{given} one voter’s ballot, {what} at most "
    return before, times + " times", " as likely as with any other ballot."


def trust_of(model: Any) -> str:
    """Return whether whoever counts is trusted, in a sentence.

    Examples
    --------
    >>> trust_of("local")
    'Only randomized reports were counted: whoever counts need not be trusted.'
    """
    if model == "central":
        return "Ballots were counted as they are: whoever counts is trusted, and publishes the outcome alone."
    return "Only randomized reports were counted: whoever counts need not be trusted."


def bound(value: Any) -> str:
    """Return a number of ballots that is a bound from above: rounded up.

    Examples
    --------
    >>> bound(10.57), bound(7.0)
    ('11', '7')
    """
    number = _number(value)
    return count(None if number is None else math.ceil(number))


def count(value: Any) -> str:
    """Return a number of ballots.

    Examples
    --------
    >>> count(312771), count(None)
    ('312,771', 'an unknown number')
    """
    number = _number(value)
    return _NO_NUMBER if number is None else f"{number:,.0f}"


def _is_beyond(least: float, ballots: Any) -> bool:
    """Tell whether no race of so many ballots has such a margin."""
    number = _number(ballots)
    return number is not None and least > number


def _too_few(often: str, least: float, ballots: Any) -> str:
    return f"for the right answer with {often} it takes a margin of {bound(least)} ballots, and there are {count(ballots)}."


def _percent(decisive: dict[str, Any]) -> str:
    failure = _number(decisive.get("failure_probability"))
    return "a set" if failure is None else f"{100 * (1 - failure):.6g}\N{NO-BREAK SPACE}%"


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < float("inf"):
        return None
    return float(value)
