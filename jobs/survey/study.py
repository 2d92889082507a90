"""The paper's experiment as a job: a survey replicated over a grid of epsilons and mechanisms.

The population is public, so the truth is known. Each replication asks the same respondents again, with coins
of its own from a public seed; what differs between replications is the randomizers' noise alone, and so do the
standard errors that are predicted (a census: no sampling). Replications are spread over the cluster.

References
----------
papers/randomized-response, section 6: figures 1 to 4; theorems 2 to 4.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from jobs.population import Population
from jobs.survey.inquiry import Estimates, Inquiry
from jobs.survey.reconstruct import Sample, TableEstimate
from jobs.survey.spec import REPLICATIONS_A_TASK, StudyTable, SurveySpec
from jobs.survey.statistics import estimate_statistic
from jobs.survey.theorems import check_theorems, guesses
from udfs.asking import Ask
from udfs.collected import Collected
from udfs.plain import PlainAnswers
from udfs.randomizer import Codes, Counts, code_dtype
from udfs.streams import RowDraws, Secret
from udfs.tables import CrossTable, SparseCounts

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Truth:
    """What a public population answers: the cells of all attributes together that anybody is in.

    Attributes
    ----------
    codes : tuple of ndarray
        Each attribute's code in these cells.
    counts : ndarray of int64
        How many are in each.
    """

    codes: tuple[Codes, ...]
    counts: Counts

    @property
    def rows(self) -> int:
        """How many respondents there are."""
        return int(self.counts.sum())

    def answers(self, attribute: int) -> Codes:
        """Return everybody's answer to one attribute."""
        return np.repeat(self.codes[attribute], self.counts)

    def shares(self, attribute: int, cells: int) -> Values:
        """Return the true shares of one attribute's cells."""
        return np.bincount(self.codes[attribute], self.counts, cells) / self.rows


@dataclass(frozen=True)
class Point:
    """One point of the grid.

    Attributes
    ----------
    epsilon : Decimal
    mechanism : str
    spec : SurveySpec
        The survey at this point.
    """

    epsilon: Decimal
    mechanism: str
    spec: SurveySpec


def grid(spec: SurveySpec, study: StudyTable, rows: int) -> tuple[Point, ...]:
    """Return the points of a study of so many respondents, in the order of its epsilons."""
    return tuple(
        Point(epsilon, mechanism, spec.at(epsilon, mechanism, rows))
        for epsilon in study.epsilons
        for mechanism in study.mechanisms
    )


def learn_truth(spec: SurveySpec, population: Population) -> Truth:
    """Ask a public population without a randomizer."""
    questions = [spec.question(name) for name in spec.attributes]
    asks: list[Ask] = [(question, Collected(PlainAnswers(question.cells))) for question in questions]
    shape = tuple(question.cells for question in questions)
    table = CrossTable(tuple(range(len(asks))), shape)
    counts = population.ask(asks, "truth", [table])[-1]
    sparse = counts.merged() if isinstance(counts, SparseCounts) else SparseCounts.of_dense(counts)
    ((cells, found),) = sparse.runs or ((np.empty(0, np.int64), np.empty(0, np.int64)),)
    codes = np.unravel_index(cells, shape)
    return Truth(tuple(code.astype(code_dtype(max(shape))) for code in codes), found)


def quantities(estimates: Estimates) -> tuple[Values, Values]:
    """Return all that a study follows, and the predicted variance of each: proportions, then statistics."""
    values: list[float] = []
    variances: list[float] = []
    for name in estimates.spec.attributes:
        margin = estimates.margin([name])
        values.extend(margin.proportions)
        variances.extend(margin.variances())
    for statistic in estimates.spec.statistics:
        found = estimate_statistic(
            statistic.kind, estimates.margin(statistic.of), estimates.spec.scores(statistic)
        )
        values.append(found.estimate)
        variances.append(found.standard_error**2)
    return np.array(values), np.array(variances)


@dataclass(frozen=True)
class Moments:
    """Sums over replications, by point of the grid: a commutative monoid.

    Attributes
    ----------
    sums : dict of int to ndarray of float64, shape (4, quantities)
        Replications with a finite estimate, their deviations from the truth, these squared, and predicted
        variances.
    """

    sums: dict[int, Values]


def add_moments(found: Iterable[Moments]) -> Moments:
    """Add sums of replications up."""
    sums: dict[int, Values] = {}
    for one in found:
        for point, values in one.sums.items():
            sums[point] = sums[point] + values if point in sums else values
    return Moments(sums)


@dataclass(frozen=True)
class Replicate:
    """Asks everybody again, some times, at one point of the grid, and adds the outcomes up. Runs on a worker."""

    points: tuple[Point, ...]
    truth: Truth
    expected: tuple[Values, ...]
    seed: int

    def __call__(self, unit: tuple[int, range]) -> Moments:
        """Return the sums of some replications of one point."""
        place, replications = unit
        inquiry = Inquiry(self.points[place].spec)
        secret = Secret(hashlib.sha256(f"dask-canvass study {self.seed}".encode()).digest())
        rows = self.truth.rows
        answers = [self.truth.answers(attribute) for attribute in range(len(self.truth.codes))]
        sums = np.zeros((4, len(self.expected[place])))
        for replication in replications:
            reports = []
            for (question, mechanism), codes in zip(inquiry.asks, answers, strict=True):
                key = secret.key("study", question.label, mechanism.label, str(replication))
                reports.append(mechanism.randomize(codes, RowDraws(key, rows)))
            own = [mechanism.tally(one) for (_, mechanism), one in zip(inquiry.asks, reports, strict=True)]
            tallied = [tally.tally(reports) for tally in inquiry.tallies]
            whole, _ = inquiry.estimates([*own, *tallied], rows)
            values, variances = quantities(whole)
            deviations = values - self.expected[place]
            sums += np.nan_to_num(np.array([np.isfinite(values), deviations, deviations**2, variances]))
        return Moments({place: sums})


def run_study(spec: SurveySpec, study: StudyTable, population: Population) -> dict[str, Any]:
    """Replicate a survey over its grid; return what study.json holds."""
    truth = learn_truth(spec, population)
    points = grid(spec, study, truth.rows)
    expected = [_expectation(point.spec, truth) for point in points]
    chunk = Replicate(points, truth, tuple(values for values, _ in expected), study.seed)
    last = study.replications
    units = [
        (place, range(first, min(first + REPLICATIONS_A_TASK, last)))
        for place in range(len(points))
        for first in range(0, last, REPLICATIONS_A_TASK)
    ]
    moments = population.reduce(units, chunk, add_moments, "replicate")
    names = _names(spec)
    return {
        "replications": last,
        "seed": study.seed,
        "respondents": truth.rows,
        "quantities": names,
        "truth": expected[0][0],
        "points": [
            {"epsilon": point.epsilon, "mechanism": point.mechanism}
            | _spent(point.spec)
            | _outcomes(moments.sums[place], expected[place])
            | {"guess": guesses(point.spec, truth.shares)}
            for place, point in enumerate(points)
        ],
        "theorems": check_theorems(spec, study.epsilons, truth.shares),
    }


def _names(spec: SurveySpec) -> list[dict[str, Any]]:
    names: list[dict[str, Any]] = [
        {"kind": "proportion", "of": [name], "category": category}
        for name, table in spec.attributes.items()
        for category in table.categories
    ]
    return names + [{"kind": one.kind, "of": list(one.of)} for one in spec.statistics]


def _spent(spec: SurveySpec) -> dict[str, Any]:
    return {"true_epsilon": {unit.name: unit.epsilon for unit in spec.layout.units}}


def _outcomes(sums: Values, expected: tuple[Values, Values]) -> dict[str, Any]:
    """Return the estimates' mean, and their standard error as it was and as it was predicted."""
    counted, deviations, squares, variances = sums
    truth, predicted = expected
    with np.errstate(invalid="ignore", divide="ignore"):
        bias = deviations / counted
        spread = np.maximum(squares - counted * bias**2, 0.0) / (counted - 1)
        estimated = np.sqrt(variances / counted)
    return {
        "finite": counted.astype(np.int64),
        "mean": truth + bias,
        "empirical_standard_error": np.sqrt(spread),
        "predicted_standard_error": np.sqrt(predicted),
        "mean_estimated_standard_error": estimated,
        "root_mean_squared_error": np.sqrt(squares / np.maximum(counted, 1)),
    }


def _expectation(spec: SurveySpec, truth: Truth) -> tuple[Values, Values]:
    """Return the true quantities, and their estimates' variance as the delta method has it at the truth."""
    layout, cells = spec.layout, tuple(spec.question(name).cells for name in spec.attributes)
    tables: dict[Any, TableEstimate] = {}
    for places in [*((place,) for place in range(len(cells))), *Inquiry(spec).needed]:
        axes = layout.axes(places)
        wide = CrossTable(places, tuple(cells[place] for place in places))
        counts = wide.tally([truth.answers(place) for place in range(len(cells))])
        observed = (
            counts.dense().reshape(wide.shape) if isinstance(counts, SparseCounts) else counts
        ) / truth.rows
        for number, axis in enumerate(axes):
            observed = axis.design.observe(observed, number)
        sample = Sample(observed, observed, truth.rows, truth.rows - 1 or math.nan, float(truth.rows))
        tables[places] = TableEstimate(axes, (sample,), np.ones(1), (truth.rows,))
    return quantities(Estimates(spec, (), tables, truth.rows))
