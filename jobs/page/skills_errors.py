"""A study of a tree's error, by mechanism and size, with gaps where a number is null or not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jobs.page import words
from jobs.page.values import filled, mapping, mappings, numbers

MECHANISMS = {"shares": "noise shares of all", "central": "one trusted party’s noise", "exact": "no noise"}
"""How each mechanism is called."""
SIZES = {"epsilon": "ε", "workers": "workers", "depth": "depth", "bins": "bins"}
"""What a study varies, as its axes say."""

Point = dict[str, Any]
Rank = dict[str, Any]
"""A level's medians: `level`, `workers` of a node, `epsilon`, `error` and its `interval`."""
Number = float | None


class Errors:
    """A study's result.

    Parameters
    ----------
    study : dict
        `result.study` of a document, or its `own`.
    """

    def __init__(self, study: dict[str, Any]) -> None:
        self.points = mappings(study.get("points"))
        self.mechanisms = [one for one in MECHANISMS if any(p.get("mechanism") == one for p in self.points)]
        self.noisy = [one for one in self.mechanisms if one != "exact"]
        base = mapping(study.get("base"))
        self.base = {name: words.finite(base.get(name)) for name in SIZES}

    def of(self, mechanism: str) -> list[Point]:
        """Return a mechanism's points."""
        return [one for one in self.points if one.get("mechanism") == mechanism]

    def along(self, mechanism: str, size: str) -> list[Point]:
        """Return a mechanism's points that differ from the base in one size alone, by that size."""
        held = {name: value for name, value in self.base.items() if name != size}
        found = [
            one
            for one in self.of(mechanism)
            if all(words.finite(one.get(name)) == value for name, value in held.items())
        ]
        return sorted((one for one in found if by_size(size)(one) > 0), key=by_size(size))

    def at_base(self, mechanism: str) -> Point:
        """Return a mechanism's point at the base, or one that holds nothing."""
        found = [
            one
            for one in self.of(mechanism)
            if all(words.finite(one.get(k)) == v for k, v in self.base.items())
        ]
        return found[0] if found else {}


def value_of(point: Point, kind: str) -> Number:
    """Return the mean of what was measured at a point."""
    return words.finite(mapping(point.get(kind)).get("mean"))


def ends_of(measured: Any) -> tuple[Number, Number]:
    """Return the ends of the interval of what was measured."""
    low, high = filled(numbers(mapping(measured).get("interval")), 2)
    return low, high


def law_of(point: Point, kind: str) -> Number:
    """Return the leaf error that a point's noise gives by its law."""
    return words.finite(mapping(point.get("predicted")).get(kind))


def by_size(size: str) -> Callable[[Point], float]:
    """Return what reads a size of a point; 0 where it is not known."""
    return lambda one: words.finite(one.get(size)) or 0.0


def product_of(one: Point) -> float:
    """Return workers times epsilon; 0 where one is not known."""
    return (words.finite(one.get("workers")) or 0.0) * (words.finite(one.get("epsilon")) or 0.0)


def ranks_of(point: Point) -> list[Rank]:
    """Return the medians of a point that are known, with the workers of their nodes, root first."""
    return [
        {
            "level": one.get("level"),
            "workers": workers,
            "epsilon": words.finite(one.get("epsilon")),
            "error": error,
            "interval": ends_of(one.get("rank_error")),
        }
        for one in mappings(point.get("medians"))
        if (workers := words.finite(one.get("workers"))) is not None
        and workers > 0
        and (error := value_of(one, "rank_error")) is not None
    ]
