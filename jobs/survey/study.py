"""The paper's experiment as a job: a survey replicated over a grid of epsilons and mechanisms.

The population is public, so the truth is known. Each replication asks the same respondents again, with coins
of its own from a public seed; what differs between replications is the randomizers' noise alone, and so do the
standard errors that are predicted (a census: no sampling). Replications are spread over the cluster.

References
----------
papers/randomized-response, section 6: figures 1 to 4; theorems 2 to 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jobs.population import Population
from jobs.survey.inquiry import Estimates, Inquiry
from jobs.survey.reconstruct import Sample, TableEstimate
from jobs.survey.replicate import (
    Point,
    Replicate,
    Truth,
    Values,
    add_moments,
    quantities,
    replications_a_task,
)
from jobs.survey.spec import StudyTable, SurveySpec
from jobs.survey.theorems import check_theorems, guesses
from udfs.asking import Ask
from udfs.collected import Collected
from udfs.errors import SchemaError
from udfs.plain import PlainAnswers
from udfs.randomizer import code_dtype
from udfs.tables import CrossTable, SparseCounts


def grid(spec: SurveySpec, study: StudyTable, rows: int) -> tuple[Point, ...]:
    """Return the points of a study of so many respondents, in the order of its epsilons."""
    return tuple(
        Point(epsilon, mechanism, spec.at(epsilon, mechanism, rows))
        for epsilon in study.epsilons
        for mechanism in study.mechanisms
    )


def learn_truth(spec: SurveySpec, population: Population) -> Truth:
    """Ask a public population of one respondent at least, without a randomizer."""
    questions = [spec.question(name) for name in spec.attributes]
    asks: list[Ask] = [(question, Collected(PlainAnswers(question.cells))) for question in questions]
    shape = tuple(question.cells for question in questions)
    table = CrossTable(tuple(range(len(asks))), shape)
    counts = population.ask(asks, "truth", [table])[-1]
    sparse = counts.merged() if isinstance(counts, SparseCounts) else SparseCounts.of_dense(counts)
    ((cells, found),) = sparse.runs
    codes = np.unravel_index(cells, shape)
    return Truth(tuple(code.astype(code_dtype(max(shape))) for code in codes), found)


def run_study(spec: SurveySpec, study: StudyTable, population: Population) -> dict[str, Any]:
    """Replicate a survey over its grid; return what study.json holds.

    All that is computed from the truth alone comes first, so that nothing is left to fail once the
    replications are done. `theorems_unchecked` says of which epsilons and attributes the theorems were not
    checked, and why.

    Raises
    ------
    SchemaError
        For a population of nobody.
    """
    if population.rows == 0:
        raise SchemaError("population", "must have respondents, so that there is a truth", "no rows")
    truth = learn_truth(spec, population)
    points = grid(spec, study, truth.rows)
    expected = [_expectation(point.spec, truth) for point in points]
    guessed = [guesses(point.spec, truth.shares) for point in points]
    theorems, unchecked = check_theorems(spec, study.epsilons, truth.shares)
    chunk = Replicate(points, truth, tuple(values for values, _ in expected), study.seed)
    last, step = study.replications, replications_a_task(spec, truth.rows)
    units = [
        (place, range(first, min(first + step, last)))
        for place in range(len(points))
        for first in range(0, last, step)
    ]
    moments = population.reduce(units, chunk, add_moments, "replicate")
    return {
        "replications": last,
        "seed": study.seed,
        "respondents": truth.rows,
        "quantities": _names(spec),
        "truth": expected[0][0],
        "points": [
            {"epsilon": point.epsilon, "mechanism": point.mechanism}
            | _spent(point.spec)
            | outcomes(moments.sums[place], expected[place])
            | {"guess": guessed[place]}
            for place, point in enumerate(points)
        ],
        "theorems": theorems,
        "theorems_unchecked": unchecked,
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


def outcomes(sums: Values, expected: tuple[Values, Values]) -> dict[str, Any]:
    """Return the estimates' mean, and their standard error as it was and as it was predicted.

    Parameters
    ----------
    sums : ndarray of float64, shape (5, quantities)
        Of all replications: see `jobs.survey.replicate.Moments`.
    expected : two ndarray of float64, shape (quantities,)
        The true quantities, and the variances that are predicted at the truth.

    Returns
    -------
    dict
        Means are of the replications that have a finite estimate, which are `finite`; that of the standard
        errors which the replications estimate, the root of their mean square, is of the finite ones of these.
    """
    counted, deviations, squares, valued, variances = sums
    truth, predicted = expected
    with np.errstate(invalid="ignore", divide="ignore"):
        bias = deviations / counted
        spread = np.maximum(squares - counted * bias**2, 0.0) / (counted - 1)
        estimated = np.sqrt(variances / valued)
        error = np.sqrt(squares / counted)
    return {
        "finite": counted.astype(np.int64),
        "mean": truth + bias,
        "empirical_standard_error": np.sqrt(spread),
        "predicted_standard_error": np.sqrt(predicted),
        "mean_estimated_standard_error": estimated,
        "root_mean_squared_error": error,
    }


def _expectation(spec: SurveySpec, truth: Truth) -> tuple[Values, Values]:
    """Return the true quantities, and their estimates' variance as the delta method has it at the truth."""
    layout, cells = spec.layout, tuple(spec.question(name).cells for name in spec.attributes)
    tables: dict[Any, TableEstimate] = {}
    for places in [*((place,) for place in range(len(cells))), *Inquiry(spec).needed]:
        axes = layout.axes(places)
        observed = truth.table(places, [cells[place] for place in places])
        for number, axis in enumerate(axes):
            observed = axis.design.observe(observed, number)
        sample = Sample.expected(observed, truth.rows)
        tables[places] = TableEstimate(axes, (sample,), np.ones(1), (truth.rows,))
    return quantities(Estimates(spec, (), tables, truth.rows))
