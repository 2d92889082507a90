"""How good a private tree is, as an experiment: the error of its leaves and of its medians, by epsilon and size.

Trees are grown again and again on uniform populations that are made, and on the population itself, which is public. What
is measured stands beside what the noise's law says beforehand, and beside reference values of an independent
simulation. Epsilon is a whole tree's, for one worker more or less.

References
----------
papers/private-skills: PKD, and the error of its leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import t as student

from jobs.population import Population
from jobs.skills.budget import split_budget
from jobs.skills.levels import Crowd
from jobs.skills.predicted import leaf_errors
from jobs.skills.replicate import (
    CountedIn,
    Errors,
    Found,
    Growing,
    Point,
    Replicate,
    join,
    replications_a_task,
)
from jobs.skills.spec import SkillsSpec
from jobs.skills.study_spec import SkillsStudyTable
from udfs.asides import Aside
from udfs.errors import SchemaError

Document = dict[str, Any]

LEAF_REFERENCES: dict[tuple[int, int], Document] = {
    (10, 10_000): {"raw": [0.63, 0.75], "consistent": [0.56, 0.64]},
    (10, 100_000): {"raw": [0.07, 0.07], "consistent": [0.06, 0.06]},
    (10, 1_000_000): {"raw": [0.007, 0.007], "consistent": [0.006, 0.006]},
    (5, 1000): {"raw": [0.166, 0.166], "consistent": [0.14, 0.14]},
    (5, 10_000): {"raw": [0.02, 0.02], "consistent": None},
}
"""Leaf errors by depth and by workers times epsilon, and the ranges they were found in: uniform workers, ten bins, the
quadtree's budget with .7 for counts, a tenth of the workers colluding, epsilon at most 1: far above, noise is no longer
as its inverse."""
REFERENCE_BINS, REFERENCE_SHARE, MOST_REFERENCE_EPSILON, REFERENCE_MEDIAN_EPSILON = (
    10,
    Decimal("0.7"),
    1,
    0.03,
)
MEDIAN_REFERENCES = {100: 0.19, 1000: 0.058, 10_000: 0.006}
"""Rank errors of a median of ten bins at epsilon .03, by the workers of its node."""


def run_study(spec: SkillsSpec, study: SkillsStudyTable, population: Population) -> Document:
    """Measure errors over a grid, and of the population's own tree; return what study.json holds.

    Raises
    ------
    SchemaError
        For a population without workers.
    SpecError
        Where so many may collude or be missing that hardly anybody is left.
    """
    if population.rows == 0:
        raise SchemaError("population", "must have workers, so that there is a truth", "no rows")
    beta = Crowd.of(spec, population.rows, population.blocks).beta
    own = own_points(spec, study, population.rows, beta)
    found_own = _grow_own(spec, study, own, population)
    grid = points(spec, study, beta)
    units = [unit for place, point in enumerate(grid) for unit in _shared(place, point, study.replications)]
    found = population.reduce(units, Replicate(grid, study.seed), join, "replicate")
    return {
        "replications": study.replications,
        "seed": study.seed,
        "mechanisms": list(study.mechanisms),
        "base": study.base._asdict(),
        "dimensions": list(spec.skills.dimensions),
        "counts_share": spec.skills.counts_share,
        "allocation": spec.skills.allocation,
        "beta": float(beta),
        "points": [
            _document(point, place, found) | {"reference": reference(point, spec)}
            for place, point in enumerate(grid)
        ],
        "own": {
            "workers": population.rows,
            "depth": spec.skills.depth,
            "bins": spec.skills.bins,
            "min_count": spec.skills.min_count,
            "points": [_document(point, place, found_own) for place, point in enumerate(own)],
        },
        "references": {
            "leaves": [
                {"depth": depth, "workers_epsilon": product} | ends
                for (depth, product), ends in LEAF_REFERENCES.items()
            ],
            "medians": [
                {"workers_epsilon": workers * REFERENCE_MEDIAN_EPSILON, "rank_error": error}
                for workers, error in MEDIAN_REFERENCES.items()
            ],
        },
    }


def points(spec: SkillsSpec, study: SkillsStudyTable, beta: Fraction) -> tuple[Point, ...]:
    """Return the trees that are grown on populations that are made; all their nodes are split."""
    return tuple(
        _point(spec, mechanism, size.epsilon, (size.workers, size.depth, size.bins, 0), beta)
        for mechanism in study.mechanisms
        for size in study.sizes
    )


def own_points(spec: SkillsSpec, study: SkillsStudyTable, workers: int, beta: Fraction) -> tuple[Point, ...]:
    """Return the trees that are grown on the population itself: the spec's own, with every epsilon."""
    table = spec.skills
    own = workers, table.depth, table.bins, table.min_count
    return tuple(
        _point(spec, mechanism, epsilon, own, beta)
        for mechanism in study.mechanisms
        for epsilon in study.epsilons
    )


def _point(
    spec: SkillsSpec, mechanism: str, epsilon: Decimal, size: tuple[int, int, int, int], beta: Fraction
) -> Point:
    workers, depth, bins, min_count = size
    table = spec.skills
    shape = replace(spec.shape, depth=depth, bins=bins, min_count=min_count)
    budget = split_budget(epsilon, depth, table.counts_share, table.allocation, len(table.dimensions))
    added = {"shares": beta, "central": Fraction(1), "exact": Fraction(0)}[mechanism]
    return Point(mechanism, shape, workers, epsilon, budget, added)


def _shared(place: int, point: Point, replications: int) -> list[tuple[int, range]]:
    """Return the units of a point: all its replications, so many at a time."""
    step = replications_a_task(point)
    return [(place, range(first, min(first + step, replications))) for first in range(0, replications, step)]


def _grow_own(
    spec: SkillsSpec, study: SkillsStudyTable, own: Sequence[Point], population: Population
) -> Found:
    """Grow all trees of the population itself at once: rows are read once for each level of them all."""
    growing = {
        (place, replication): Growing(point, study.seed, replication)
        for place, point in enumerate(own)
        for replication in range(study.replications)
    }
    for level in range(spec.skills.depth, -1, -1):
        asked = {key: one.question.cells for key, one in growing.items() if one.question is not None}
        if not asked:
            break
        cells = list(dict.fromkeys(asked.values()))
        tallies = [CountedIn(one) for one in cells]
        _, *counters = population.ask([(spec.question, Aside())], f"level {level}", tallies)
        answers = dict(zip(cells, counters, strict=True))
        for key, one in asked.items():
            growing[key].answer(answers[one])
    return {key: one.errors() for key, one in growing.items()}


def _document(point: Point, place: int, found: Found) -> Document:
    """Return what was measured at a point, beside what was to be expected."""
    ours = [errors for (where, _), errors in sorted(found.items(), key=lambda one: one[0]) if where == place]
    shape = point.shape
    return {
        "mechanism": point.mechanism,
        "workers": point.workers,
        "depth": shape.depth,
        "bins": shape.bins,
        "epsilon": point.epsilon,
        "beta": float(point.beta),
        "raw": _mean(one.raw for one in ours),
        "consistent": _mean(one.consistent for one in ours),
        "predicted": leaf_errors(point),
        "medians": [_median(point, row, ours) for row in range(shape.depth)],
    }


def _median(point: Point, row: int, found: Sequence[Errors]) -> Document:
    """Return the rank error of one level's medians; the root's row is 0."""
    budget = point.budget[row]
    return {
        "level": budget.level,
        "epsilon": budget.median,
        "workers": point.workers / 2**row,
        "rank_error": _mean(error for one in found if (error := one.ranks[row]) is not None),
    }


def _mean(values: Iterable[float]) -> Document:
    """Return the mean over replications, its standard error and 95 % interval; None where there are too few."""
    known = np.array(list(values), dtype=np.float64)
    mean = float(known.mean()) if len(known) else None
    if mean is None or len(known) < 2:
        return {"mean": mean, "standard_error": None, "interval": [None, None]}
    error = float(known.std(ddof=1) / math.sqrt(len(known)))
    reach = float(student.isf(0.025, len(known) - 1)) * error
    return {"mean": mean, "standard_error": error, "interval": [mean - reach, mean + reach]}


def reference(point: Point, spec: SkillsSpec) -> Document | None:
    """Return the reference values for a made tree's leaves; None for a budget, bins or a size that they are not of."""
    table, product = spec.skills, point.workers * point.epsilon
    alike = table.allocation == "quadtree" and table.counts_share == REFERENCE_SHARE
    within = point.shape.bins == REFERENCE_BINS and point.epsilon <= MOST_REFERENCE_EPSILON
    if point.mechanism != "shares" or not (alike and within):
        return None
    return LEAF_REFERENCES.get((point.shape.depth, int(product))) if product == int(product) else None
