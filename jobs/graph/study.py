"""How good a graph's statistics are, as an experiment: the error of degrees and triangles against epsilon.

Pairs' own reports, by randomized response and by rounded Laplace noise, estimated without bias and counted in a rebuilt graph,
stand beside a trusted holder's answers with noise for the global and for the smooth sensitivity, and beside zero. The latter
two spend all of epsilon on one sequence alone; reports serve both, and whatever else is asked of them.

References
----------
papers/randomized-response, figures 5 and 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from scipy.stats import t as student

from jobs.graph.accuracy import mean_degree_error
from jobs.graph.central import GatherLinks, noise_of
from jobs.graph.replicate import STATISTICS, WAYS, Counts, Found, Point, Replicate, join
from jobs.graph.spec import GraphSpec, Kind
from jobs.graph.study_spec import MOST_NODES, GraphStudyTable
from jobs.population import Data, Population
from udfs.cauchy_noise import CauchyNoise
from udfs.errors import SpecError
from udfs.link_question import LinkQuestion
from udfs.link_response import LinkResponse
from udfs.smooth_sensitivity import SEQUENCE

CONFIDENCE = 0.95
_REPLICATIONS_A_TASK = 10


def grid(study: GraphStudyTable) -> tuple[Point, ...]:
    """Return every mechanism at every epsilon; the answer zero once."""
    return tuple(
        Point(mechanism, epsilon)
        for mechanism in study.mechanisms
        for epsilon in (study.epsilons if mechanism != "zero" else study.epsilons[:1])
    )


def units_of(study: GraphStudyTable, points: Sequence[Point]) -> list[tuple[int, int, int]]:
    """Return what is spread over the cluster: some replications of a point each."""
    return [
        (place, first, min(first + _REPLICATIONS_A_TASK, last))
        for place, point in enumerate(points)
        for last in [study.replications if point.mechanism != "zero" else 1]
        for first in range(0, last, _REPLICATIONS_A_TASK)
    ]


def run_study(
    study: GraphStudyTable, links: Population, question: LinkQuestion, nodes: int
) -> dict[str, Any]:
    """Measure errors over a grid; return what study.json holds."""
    gathered = links.ask([(question, GatherLinks())], "gather links")[0].whole()
    points = grid(study)
    replicate = Replicate.of(points, gathered, nodes, study.seed)
    found = links.reduce(units_of(study, points), replicate, join, "replicate")
    (degrees, at), sensitivity = replicate.truth, replicate.sensitivity
    return {
        "replications": study.replications,
        "seed": study.seed,
        "mechanisms": list(study.mechanisms),
        "epsilons": list(study.epsilons),
        "confidence": CONFIDENCE,
        "nodes": nodes,
        "links": len(gathered),
        "triangles": int(at.sum()) // 3,
        "most_triangles_at_a_node": int(at.max(initial=0)),
        "most_links_of_a_node": int(degrees.max(initial=0)),
        "sensitivity": {
            "local": SEQUENCE * int(sensitivity.local(np.zeros(1, dtype=np.int64))[0]),
            "smooth": [
                {
                    "epsilon": epsilon,
                    "value": SEQUENCE * sensitivity.smooth(CauchyNoise(epsilon, nodes).beta),
                }
                for epsilon in study.epsilons
            ],
            "global": SEQUENCE * sensitivity.largest,
        },
        "points": [
            one for place, point in enumerate(points) for one in _documents(place, point, found, degrees)
        ],
    }


def check_study(study: GraphStudyTable, nodes: int) -> None:
    """Refuse a graph that is too large to be studied, or has no triangle to find, and an epsilon too small for a mechanism.

    Raises
    ------
    SpecError
    """
    if not 3 <= nodes <= MOST_NODES:
        raise SpecError("study", f"is of graphs of 3 to {MOST_NODES:,} nodes", f"{nodes:,}")
    for point in grid(study):
        if point.mechanism == "smooth-sensitivity":
            CauchyNoise(point.epsilon, nodes)
        elif point.mechanism == "global-sensitivity":
            noise_of("triangles", nodes, point.epsilon)
        elif point.mechanism != "zero":
            LinkResponse.of(point.mechanism, point.epsilon)


def _documents(place: int, point: Point, found: Sequence[Found], degrees: Counts) -> list[dict[str, Any]]:
    """Return a point's errors, by statistic and by how its answer is made."""
    means = np.concatenate([one.means for one in found if one.point == place])
    medians = np.concatenate([one.medians for one in found if one.point == place])
    documents = []
    for way, name in enumerate(WAYS[point.mechanism]):
        for statistic, kind in enumerate(STATISTICS):
            own, middle = means[:, way, statistic], medians[:, way, statistic]
            if np.isnan(own).any():
                continue
            documents.append(
                {
                    "statistic": kind,
                    "mechanism": point.mechanism,
                    "way": name,
                    "epsilon": point.epsilon if point.mechanism != "zero" else None,
                    "true_epsilon": _spent(point),
                    # Cauchy's law has no mean, nor have its errors.
                    "mean_error": None if point.mechanism == "smooth-sensitivity" else _measured(own),
                    "median_error": _measured(middle),
                    "predicted": _predicted(point, kind, name, degrees),
                }
            )
    return documents


def _spent(point: Point) -> Decimal | None:
    """Return what a mechanism really gives away: of rounded Laplace noise, less than its parameter."""
    if point.mechanism in ("randomized-response", "laplace"):
        return LinkResponse.of(point.mechanism, point.epsilon).true_epsilon
    return None if point.mechanism == "zero" else point.epsilon


def _measured(errors: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return a mean over replications with its interval; one of a single replication has none."""
    value, number = float(errors.mean()), len(errors)
    if number < 2:
        return {"value": value, "interval": None}
    reach = student.ppf((1 + CONFIDENCE) / 2, number - 1) * errors.std(ddof=1) / math.sqrt(number)
    return {"value": value, "interval": [value - reach, value + reach]}


def _predicted(point: Point, kind: Kind, way: str, degrees: Counts) -> float | None:
    """Return the mean absolute error that the law gives to a graph of these degrees, where it is a sum; else None."""
    if point.mechanism == "global-sensitivity":
        return noise_of(kind, len(degrees), point.epsilon).mean_absolute_error
    if point.mechanism in ("randomized-response", "laplace") and way == "unbiased" and kind == "degrees":
        lie = LinkResponse.of(point.mechanism, point.epsilon).support_if_false
        return mean_degree_error(degrees, lie)
    return None


def plan_study(spec: GraphSpec, study: GraphStudyTable, data: Data) -> dict[str, Any]:
    """Return the plan of a study, which looks links through and then gathers them.

    Errors that depend on how many links a node has are those of one without any.
    """
    points, no_links = grid(study), np.zeros(data.rows, dtype=np.int64)
    links = data.beside(spec.population.path, "population.path")
    columns = [spec.population.source, spec.population.target]
    read = {name: links.column_bytes.get(name, 0) for name in columns}
    return {
        "job": spec.job,
        "rows": data.rows,
        "stages": [
            {"name": "gather links", "tasks": links.tasks(), "reads": columns, "writes": None},
            {"name": "replicate", "tasks": len(units_of(study, points)), "reads": [], "writes": None},
        ],
        "bytes": {"read": 2 * sum(read.values()), "read_by_column": read, "written": 0},
        "epsilon": {"total": 0, "charged": 0},
        "predicted": {
            "errors": [
                {"statistic": kind, "mechanism": point.mechanism, "way": way, "epsilon": point.epsilon}
                | {"mean_error": _predicted(point, kind, way, no_links)}
                for point in points
                for way in WAYS[point.mechanism]
                for kind in STATISTICS
            ]
        },
        "reasons": ["a study on public data: nothing is protected, and nothing is charged"],
    }
