"""A study's result, by epsilon and mechanism, with gaps where a number is null or not there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jobs.page import words
from jobs.page.derived import TITLES
from jobs.page.sheet import SERIES
from jobs.page.values import filled, mapping, mappings, numbers, sequence

MECHANISMS = {
    "randomized-response": "randomized response",
    "laplace": "Laplace mechanism",
    "subset-selection": "subset selection",
    "optimized-unary": "optimized unary encoding",
}
"""What each mechanism is called in a sentence."""
COLUMNS = (
    "mean",
    "empirical_standard_error",
    "predicted_standard_error",
    "mean_estimated_standard_error",
    "root_mean_squared_error",
)
Values = list[float | None]


@dataclass(frozen=True)
class Target:
    """What is estimated: an attribute's proportions, or a statistic.

    Attributes
    ----------
    kind : str
        "proportion", or the statistic's.
    of : list of str
    places : list of int
        Where its quantities are among all: one for each category, or a single one.
    labels : list of str
        The categories.
    """

    kind: str
    of: list[str]
    places: list[int]
    labels: list[str]

    @property
    def name(self) -> str:
        """The first attribute's name: of proportions the only one's."""
        return self.of[0] if self.of else ""

    @property
    def title(self) -> str:
        """What it is called as a heading."""
        return "Proportions" if self.kind == "proportion" else TITLES.get(self.kind, self.kind)

    @property
    def words(self) -> str:
        """What it is called within a sentence."""
        is_name = self.kind in {"pearson", "g-squared"}
        return f"the {self.title if is_name else self.title[:1].lower() + self.title[1:]}"


class Study:
    """A study's result.

    Parameters
    ----------
    study : dict
        `result.study` of a document.

    Attributes
    ----------
    grid : list of float
        Its epsilons, increasing.
    mechanisms : list of str
    targets : list of Target
    """

    def __init__(self, study: dict[str, Any]) -> None:
        self.study = study
        self._points = {
            (epsilon, str(point.get("mechanism") or words.ABSENT)): point
            for point in mappings(study.get("points"))
            if (epsilon := words.finite(point.get("epsilon"))) is not None and epsilon > 0
        }
        self.grid = sorted({epsilon for epsilon, _ in self._points})
        self.mechanisms = list(dict.fromkeys(mechanism for _, mechanism in self._points))[:SERIES]
        self.truth = numbers(study.get("truth"))

    def point(self, epsilon: float, mechanism: str) -> dict[str, Any]:
        """Return one point of the grid; one without anything where it was not asked."""
        return self._points.get((epsilon, mechanism), {})

    @cached_property
    def targets(self) -> list[Target]:
        """What is estimated, attributes first."""
        attributes: dict[str, Target] = {}
        statistics = []
        for place, one in enumerate(mappings(self.study.get("quantities"))):
            of = [words.label(name) for name in sequence(one.get("of"))]
            kind = str(one.get("kind") or "statistic")
            if kind != "proportion":
                statistics.append(Target(kind, of, [place], []))
                continue
            target = attributes.setdefault("".join(of[:1]), Target(kind, of[:1], [], []))
            target.places.append(place)
            target.labels.append(words.label(one.get("category")))
        return [*attributes.values(), *statistics]

    @property
    def attributes(self) -> list[Target]:
        """Attributes by their proportions."""
        return [one for one in self.targets if one.kind == "proportion"]

    @property
    def statistics(self) -> list[Target]:
        """Statistics alone."""
        return [one for one in self.targets if one.kind != "proportion"]

    def truths(self, target: Target) -> Values:
        """Return the true value of each of a target's quantities."""
        return [self.truth[place] if place < len(self.truth) else None for place in target.places]

    def found(self, epsilon: float, mechanism: str, target: Target, column: str) -> Values:
        """Return one column of a point's outcome for each of a target's quantities."""
        values = numbers(self.point(epsilon, mechanism).get(column))
        return [filled(values, place + 1)[place] for place in target.places]

    def over_grid(self, mechanism: str, target: Target, column: str) -> Values:
        """Return one column over all epsilons: of several quantities the root of their mean square."""
        return [_root_mean_square(self.found(epsilon, mechanism, target, column)) for epsilon in self.grid]

    def smallest(self, target: Target) -> tuple[dict[str, int], int]:
        """Return at how many epsilons each mechanism has the smallest error alone, and of how many.

        The error is root mean squared. Only epsilons count at which every mechanism has one.
        """
        errors = [self.over_grid(name, target, "root_mean_squared_error") for name in self.mechanisms]
        columns = [column for column in zip(*errors, strict=True) if None not in column]
        counts = dict.fromkeys(self.mechanisms, 0)
        for column in columns:
            known = [error for error in column if error is not None]
            if known.count(min(known)) == 1:
                counts[self.mechanisms[known.index(min(known))]] += 1
        return counts, len(columns)

    def guess(self, epsilon: float, mechanism: str, name: str) -> dict[str, Any]:
        """Return how well an individual answer is guessed."""
        return mapping(mapping(self.point(epsilon, mechanism).get("guess")).get(name))

    def blind_error(self, target: Target) -> float | None:
        """Return how often a guess is wrong that goes by the true shares alone; None where a cell has none.

        An answer v is guessed with probability pi_v, so the guess is right with the sum of all pi_v**2.
        """
        truths = self.truths(target)
        known = [share for share in truths if share is not None]
        if len(known) < len(truths) or not math.isclose(sum(known), 1.0, abs_tol=1e-6):
            return None
        asked = [self.guess(epsilon, name, target.name) for epsilon, name in self._points]
        if any(len(sequence(one.get("right"))) != len(known) for one in asked if one):
            return None
        return 1.0 - math.fsum(share**2 for share in known)


def mechanism_words(mechanism: str) -> str:
    """Return a mechanism as a sentence names it.

    Examples
    --------
    >>> mechanism_words("laplace"), mechanism_words("other-one")
    ('Laplace mechanism', 'other one')
    """
    return MECHANISMS.get(mechanism, mechanism.replace("-", " "))


def _root_mean_square(values: Values) -> float | None:
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    # A mean keeps its sign: there is nothing to average in a single value.
    return known[0] if len(known) == 1 else math.sqrt(math.fsum(value**2 for value in known) / len(known))
