"""A study of decisive margins, by rule, model and size, with gaps where a number is null or not there."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from jobs.election.rules import RULES
from jobs.page import words
from jobs.page.values import mapping, mappings

MODELS = {
    "central": "central model",
    "local": "local model in one round",
    "interactive": "local model in rounds",
}
"""How each model is called."""
SIZES = {"ballots": "ballots", "candidates": "candidates", "epsilon": "ε"}
"""What a study varies, as its axes say."""

Point = dict[str, Any]
Number = float | None


class Margins:
    """A study's result.

    Parameters
    ----------
    study : dict
        `result.study` of a document.

    Attributes
    ----------
    points : list of dict
    models, rules : list of str
        Those that points are of, rules in the study's own order.
    """

    def __init__(self, study: dict[str, Any]) -> None:
        self.study, self.points = study, mappings(study.get("points"))
        self.models = [model for model in MODELS if any(one.get("model") == model for one in self.points)]
        named = [str(one.get("rule")) for one in self.points]
        self.rules = [rule for rule in dict.fromkeys(named) if rule in RULES]

    @cached_property
    def base(self) -> dict[str, Number]:
        """The size of which each is varied by itself."""
        given = mapping(self.study.get("base"))
        return {name: words.finite(given.get(name)) for name in SIZES}

    def of(self, rule: str, model: str | None = None) -> list[Point]:
        """Return the points of a rule, of one model or of all."""
        return [one for one in self.points if one.get("rule") == rule and model in (None, one.get("model"))]

    def along(self, points: Iterable[Point], size: str) -> list[Point]:
        """Return the points that differ from the base in one size alone, by that size."""
        found = [
            one
            for one in points
            if all(words.finite(one.get(name)) == at for name, at in self.base.items() if name != size)
        ]
        return sorted(found, key=lambda one: words.finite(one.get(size)) or 0.0)

    def at_base(self, rule: str, model: str) -> Point:
        """Return a rule's and a model's point at the base, or one that holds nothing."""
        found = [one for one in self.of(rule, model) if sizes_of(one) == list(self.base.values())]
        return found[0] if found else {}

    def held(self, size: str) -> str:
        """Return what a size is held at, in words."""
        value = self.base[size]
        shown = words.ABSENT if value is None else f"{value:,.10g}"
        return f"ε {shown}" if size == "epsilon" else f"{shown} {SIZES[size]}"


def sizes_of(point: Point) -> list[Number]:
    """Return a point's ballots, candidates and epsilon."""
    return [words.finite(point.get(name)) for name in SIZES]


def grid_of(points: Iterable[Point], size: str) -> list[float]:
    """Return the different values of a size, increasing."""
    return sorted({value for one in points if (value := words.finite(one.get(size))) is not None})


def families_of(point: Point) -> list[dict[str, Any]]:
    """Return what was measured at a point: on random elections or packings, then on those of another proof."""
    return mappings(point.get("families"))


def measured(point: Point) -> Number:
    """Return the margin that was measured on the first family's elections."""
    found = families_of(point)
    return words.finite(found[0].get("margin")) if found else None


def rule_title(rule: Any) -> str:
    """Return a rule's name as a heading.

    Examples
    --------
    >>> rule_title("condorcet"), rule_title("stv"), rule_title("another")
    ('Condorcet', 'Single transferable vote', 'another')
    """
    if rule not in RULES:
        return words.label(rule)
    title = RULES[rule].title.removeprefix("the ").removesuffix(" rule").removesuffix(" count")
    return title[:1].upper() + title[1:]
