"""What a survey would do and how good it would be, before a row is read."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np

from jobs.population import Data
from jobs.survey.beside import columns_beside
from jobs.survey.collected_spec import TwoSamplesTable
from jobs.survey.guess import best_guess, guess_error, right_guess
from jobs.survey.layout import Unit
from jobs.survey.reconstruct import Axis
from jobs.survey.replicate import replications_a_task
from jobs.survey.schemes import summed_variance
from jobs.survey.spec import SurveySpec
from udfs.design import Design
from udfs.errors import SpecError
from udfs.laplace import LaplaceMechanism
from udfs.randomized_response import RandomizedResponse
from udfs.randomizer import PureRandomizer

_MOST_GUESSED = 1000
"""Cells beyond which a right guess is not predicted: it takes the whole design matrix."""


def plan_survey(spec: SurveySpec, data: Data) -> dict[str, Any]:
    """Return the plan of a survey.

    Parameters
    ----------
    spec : SurveySpec
    data : Data
        Known by its footers.

    Returns
    -------
    dict
        `stages`, `bytes`, `epsilon`, `predicted` and `reasons`, as `canvass plan --json` prints them. The
        predicted standard errors are those of a share of 1/k and the largest over all shares; sampling of
        respondents is included, and everybody is taken to answer. Of a guess of one answer from its report,
        where all answers are as likely, `probability` and `error` are the paper's, of a guess drawn as likely
        as the answers then are, and `best` is the probability that the likeliest answer is the right one.
    """
    layout = spec.layout
    columns = [part.column for question, _ in layout.asks for part in question.parts]
    columns = [*([spec.population.id] if spec.population.id else []), *columns, *columns_beside(spec)]
    columns = list(dict.fromkeys(columns))
    read = {name: data.column_bytes.get(name, 0) for name in columns}
    drawing = spec.collected is None and spec.study is None
    writing = drawing and spec.output.reports
    predicted: dict[str, Any] = {
        "attributes": {name: _predict(spec, name, data.rows) for name in spec.attributes}
    }
    if layout.schemes is not None and len(layout.schemes.tables) > 1:
        predicted["schemes"] = {
            "epsilon": layout.schemes.epsilon,
            "chosen": layout.scheme,
            "summed_variance_times_n": layout.schemes.variances,
        }
    return {
        "rows": data.rows,
        "stages": _stages(spec, data, columns, writing),
        "bytes": {
            "read": sum(read.values()),
            "read_by_column": read,
            "written": _bytes_written(spec, data) if writing else 0,
        },
        "epsilon": {
            "total": layout.epsilon,
            "charged": layout.epsilon if drawing else Decimal(0),
            "attributes": {name: layout.unit_of(name).epsilon for name in spec.attributes},
        },
        "predicted": predicted,
        "reasons": [_reason(unit) for unit in layout.units],
    }


def _stages(spec: SurveySpec, data: Data, columns: list[str], writing: bool) -> list[dict[str, Any]]:
    """Return what is done in turn."""
    if spec.study is not None:
        points = len(spec.study.epsilons) * len(spec.study.mechanisms)
        rounds = points * math.ceil(spec.study.replications / replications_a_task(spec, data.rows))
        return [
            {"name": "truth", "tasks": data.tasks(), "reads": columns, "writes": None},
            {"name": "replicate", "tasks": rounds, "reads": [], "writes": None},
        ]
    name = "count reports" if spec.collected is not None else "randomize"
    return [{"name": name, "tasks": data.tasks(), "reads": columns, "writes": "reports" if writing else None}]


def _predict(spec: SurveySpec, name: str, rows: int) -> dict[str, Any]:
    """Return an attribute's predicted standard errors, and how well its answers could be guessed."""
    unit, axis = spec.layout.unit_of(name), spec.layout.axis_of(name)
    cells = axis.shape[axis.attributes.index(name)]
    two_samples = isinstance(spec.collected, TwoSamplesTable)  # their model's errors hang on what it finds
    at_equal, largest = (math.nan, math.nan) if two_samples else _variances(axis, cells)
    reports = rows / len(unit.axes)

    def error(variance: float) -> float | None:
        return math.sqrt(variance / reports) if rows and math.isfinite(variance) else None

    return {
        "cells": cells,
        "mechanism": unit.mechanism,
        "shared_with": [other for other in unit.attributes if other != name],
        "standard_error": error(at_equal),
        "largest_standard_error": error(largest),
        "without_privacy": math.sqrt((1 / cells) * (1 - 1 / cells) / rows) if rows else None,
        "right_guess": _guesses(axis, cells) if len(unit.axes) == 1 else None,
    }


def _variances(axis: Axis, cells: int) -> tuple[float, float]:
    """Return the variance of one share, times the reports, where all are equal, and at most."""
    design = axis.design
    if not isinstance(design, PureRandomizer):
        return summed_variance(design) / cells, _largest_variance(design)
    truth, lie = float(design.support_if_true), float(design.support_if_false)
    lies = (design.cells // cells) * lie  # of the cells that share a category, where several are joint

    def variance(observed: float) -> float:
        return observed * (1 - observed) / (truth - lie) ** 2

    most = min(max(0.5, lies), lies + truth - lie)  # the observed share nearest to a half
    return variance(lies + (truth - lie) / cells), variance(most)


def _largest_variance(design: Design) -> float:
    """Return the largest variance of any share, times the reports, at any true shares.

    The mean square of an estimate is linear in the true shares. So of a share t the variance is at most
    `t own + (1 - t) other - t**2`, where these are the mean squares if the answer is the cell itself, and if it
    is that one of the others for which it is the largest.
    """
    unit = np.eye(design.cells)
    squares = design.variances(unit) + unit  # [i, v]: of the estimate of cell i where the answer is v
    own = squares.diagonal()
    other = np.where(unit > 0, -np.inf, squares).max(axis=1)
    share = np.clip((own - other) / 2, 0.0, 1.0)
    return float((share * own + (1 - share) * other - share**2).max())


def _guesses(axis: Axis, cells: int) -> dict[str, Any] | None:
    """Return the probability of a right guess of one answer and its error: here, and by the paper's mechanisms.

    Papers/randomized-response, equations 5 and 12, where all answers are as likely.
    """
    epsilon = getattr(axis.design, "epsilon", Decimal("Infinity"))
    if len(axis.attributes) > 1 or cells > _MOST_GUESSED or not epsilon.is_finite():
        return None
    designs: dict[str, Design] = {}
    if axis.design.one_code:
        designs["here"] = axis.design
    for kind in (RandomizedResponse, LaplaceMechanism):
        try:
            designs[kind.mechanism] = kind(cells, epsilon)
        except SpecError:  # so little epsilon that nothing could be estimated
            continue
    equal = np.full(cells, 1 / cells)
    guesses = {}
    for name, design in designs.items():
        law = design.observe(np.eye(cells), 0)
        guesses[name] = {
            "probability": float(right_guess(law, equal) @ equal),
            "error": float(guess_error(law, equal) @ equal),
            "best": best_guess(law, equal),
        }
    return guesses


def _bytes_written(spec: SurveySpec, data: Data) -> int:
    """Return about how many bytes the reports take: bits of codes, bytes of bit sets, ids as they are read."""
    bits = 0
    for unit in spec.layout.units:
        codes = sum(axis.design.cells for axis in unit.axes)
        sets = not unit.axes[0].design.one_code
        bits += 8 * math.ceil(codes / 8) if sets else math.ceil(math.log2(codes))
    return data.rows * bits // 8 + data.column_bytes.get(spec.population.id or "", 0)


def _reason(unit: Unit) -> str:
    """Return why attributes are asked as they are."""
    design = unit.axes[0].design
    reason = f"{unit.name}: {unit.mechanism}, {unit.reason}"
    if isinstance(design, PureRandomizer):
        what = "is the truth" if design.one_code else "holds the truth"
        reason += f"; a report {what} with probability {float(design.support_if_true):.4f}"
    return reason
