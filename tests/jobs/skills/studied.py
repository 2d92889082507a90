"""What tests of the study share: a small grid, points of it, and a crowd in this process."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import hyp2f1

from jobs.skills.replicate import (
    Point,
)
from jobs.skills.spec import SkillsSpec
from jobs.skills.study import points
from jobs.skills.study_spec import SkillsStudyTable
from jobs.spec import check

STUDY: dict[str, Any] = {
    "epsilons": [1, 4],
    "mechanisms": ["shares", "central", "exact"],
    "workers": [50, 500],
    "depths": [2, 4],
    "bins": [4, 10],
    "replications": 5,
    "seed": 9,
}


def spec_of(path: Any = "people", **changes: Any) -> SkillsSpec:
    given: dict[str, Any] = {
        "job": "skills",
        "population": {"path": str(path), "public": True},
        "output": {"path": "out"},
        "skills": {"dimensions": ["a", "b"], "depth": 3},
        "privacy": {"epsilon": 1, "collusion": 20},
        "study": STUDY,
    }
    for table, values in changes.items():
        given[table] = given[table] | values
    spec = check(SkillsSpec, given)
    assert isinstance(spec, SkillsSpec)
    return spec


def study_of(**changes: Any) -> SkillsStudyTable:
    return SkillsStudyTable(**(STUDY | changes))


def point_of(mechanism: str = "shares", workers: int = 500, depth: int = 3, **study: Any) -> Point:
    table = study_of(
        mechanisms=[mechanism], workers=[workers], depths=[depth], **({"epsilons": [1], "bins": [10]} | study)
    )
    (point,) = points(spec_of(), table, Fraction(10, 9))
    return point


class Crowd:
    """A public population of uniform workers in this process, that notes what it was asked."""

    def __init__(self, workers: int = 300) -> None:
        self.rows, self.blocks = workers, 1
        self.skills = np.random.default_rng(5).random((workers, 2)) if workers else np.zeros((0, 2))
        self.rounds: list[tuple[str, int]] = []
        self.units: list[Any] = []

    def ask(self, asks: Sequence[Any], name: str, tallies: Sequence[Any] = ()) -> list[Any]:
        self.rounds.append((name, len(tallies)))
        (mechanism,) = (mechanism for _, mechanism in asks)
        reports = [mechanism.randomize(self.skills, None)]
        return [mechanism.tally(reports[0]), *(one.tally(reports) for one in tallies)]

    def reduce(self, units: Sequence[Any], chunk: Any, combine: Any, stage: str) -> Any:
        assert stage == "replicate"
        self.units = list(units)
        return combine(map(chunk, units))


def mean_absolute_noise(epsilon: Decimal, beta: Fraction) -> float:
    """The mean of |noise| in closed form: the integral over (0, pi) of (1 - E cos(tX))/(1 - cos t), by pi."""
    rate, shape = float(epsilon), float(beta)
    return shape / math.sinh(rate) * float(hyp2f1(1 - shape, 0.5, 2, 1 / math.cosh(rate / 2) ** 2))
