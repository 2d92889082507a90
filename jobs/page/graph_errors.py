"""A study of a graph's statistics, by mechanism, with gaps where a number is null or not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jobs.graph import words as told
from jobs.page import words
from jobs.page.skills_tree import known
from jobs.page.values import filled, mapping, mappings, numbers, sequence

ZERO = "zero"
MEASURES = {"mean_error": "mean absolute error", "median_error": "median absolute error"}

Number = float | None
Point = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What a mechanism answers, in one of its ways, by epsilon.

    Attributes
    ----------
    mechanism, way : str
    points : list of dict
        Whose epsilons are positive, in their order.
    """

    mechanism: str
    way: str
    points: list[Point]

    @property
    def name(self) -> str:
        """The mechanism, and how its answer is made."""
        mechanism = told.MECHANISMS[self.mechanism]
        return mechanism if self.way == "output" else f"{mechanism}, {told.WAYS[self.way]}"

    @property
    def measure(self) -> str:
        """What tells how far off it is: the median where there is no mean."""
        means = [value_of(one, "mean_error") for one in self.points]
        return "mean_error" if any(one is not None for one in means) else "median_error"

    def at(self, epsilon: float) -> Point:
        """Return the point at an epsilon, or one that holds nothing."""
        return next((one for one in self.points if one["epsilon"] == epsilon), {})

    def useful_from(self, zero: Point) -> Number:
        """Return the epsilon from which on its whole interval lies below the error of the answer zero; None if there is none."""
        level, found = value_of(zero, self.measure), None
        for one in reversed(self.points):
            value, (_, high) = value_of(one, self.measure), ends_of(one, self.measure)
            reached = value if high is None else high
            if level is None or reached is None or reached >= level:
                break
            found = one["epsilon"]
        return found


@dataclass(frozen=True)
class Errors:
    """A statistic's errors.

    Attributes
    ----------
    kind : str
    answers : list of Answer
        Of mechanisms and ways that are known, the answer zero apart.
    zero : dict
        The answer zero's point.
    """

    kind: str
    answers: list[Answer]
    zero: Point

    @classmethod
    def of(cls, study: dict[str, Any], kind: str) -> Errors:
        """Return a statistic's errors, as a study has them."""
        own = [one for one in mappings(study.get("points")) if one.get("statistic") == kind]
        names = [one for one in sequence(study.get("mechanisms")) if isinstance(one, str)]
        found = [
            Answer(mechanism, way, _by_epsilon(own, mechanism, way))
            for mechanism in dict.fromkeys(names)
            if mechanism in told.MECHANISMS and mechanism != ZERO
            for way in told.WAYS
        ]
        zero = next((one for one in own if one.get("mechanism") == ZERO), {})
        return cls(kind, [one for one in found if one.points], zero)

    @property
    def mechanisms(self) -> list[str]:
        """Whose answers there are."""
        return list(dict.fromkeys(one.mechanism for one in self.answers))

    def by_law(self) -> tuple[int, int]:
        """Return how many mean errors can be held against their law, and how many have it in their intervals."""
        held = [
            low <= law <= high
            for answer in self.answers
            for one in answer.points
            for low, high in [ends_of(one, "mean_error")]
            if low is not None and high is not None
            if (law := words.finite(one.get("predicted"))) is not None
        ]
        return len(held), sum(held)


def value_of(point: Point, measure: str) -> Number:
    """Return an error as it was measured."""
    return known(mapping(point.get(measure)).get("value"))


def ends_of(point: Point, measure: str) -> tuple[Number, Number]:
    """Return the ends of an error's interval."""
    low, high = filled(numbers(mapping(point.get(measure)).get("interval")), 2)
    return low, high


def _by_epsilon(points: list[Point], mechanism: str, way: str) -> list[Point]:
    """Return an answer's points with epsilons as numbers."""
    own = [
        one | {"epsilon": epsilon}
        for one in points
        if one.get("mechanism") == mechanism
        and one.get("way") == way
        and (epsilon := words.finite(one.get("epsilon"))) is not None
        and epsilon > 0
    ]
    return sorted(own, key=lambda one: float(one["epsilon"]))
