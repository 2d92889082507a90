"""What a survey would do and how good it would be, before a row is read."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from jobs.population import Data
from jobs.survey.spec import SurveySpec
from udfs.subset_selection import SubsetSelection

_SPREAD_SHARES = 21


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
        respondents is included, and everybody is taken to answer.
    """
    columns = [*([spec.population.id] if spec.population.id else []), *spec.attributes]
    read = {name: data.column_bytes.get(name, 0) for name in columns}
    drawing = spec.collected is None
    writing = drawing and spec.output.reports
    epsilon = sum((table.epsilon for table in spec.attributes.values()), Decimal(0))
    return {
        "rows": data.rows,
        "stages": [
            {
                "name": "randomize" if drawing else "count reports",
                "tasks": data.tasks(),
                "reads": columns,
                "writes": "reports" if writing else None,
            }
        ],
        "bytes": {
            "read": sum(read.values()),
            "read_by_column": read,
            "written": _bytes_written(spec, data) if writing else 0,
        },
        "epsilon": {
            "total": epsilon,
            "charged": epsilon if drawing else Decimal(0),
            "attributes": {name: table.epsilon for name, table in spec.attributes.items()},
        },
        "predicted": {"attributes": {name: _predict(spec, name, data.rows) for name in spec.attributes}},
        "reasons": [_reason(spec, name) for name in spec.attributes],
    }


def _predict(spec: SurveySpec, name: str, rows: int) -> dict[str, Any]:
    """Return an attribute's predicted standard errors."""
    randomizer = spec.randomizer(name)
    shares = [step / (_SPREAD_SHARES - 1) for step in range(_SPREAD_SHARES)]
    largest = max(randomizer.predicted_variance(share) for share in shares)
    at_equal = randomizer.predicted_variance(1 / randomizer.cells)
    return {
        "cells": randomizer.cells,
        "mechanism": randomizer.mechanism,
        "standard_error": math.sqrt(at_equal / rows) if rows else None,
        "largest_standard_error": math.sqrt(largest / rows) if rows else None,
        "without_privacy": math.sqrt((1 / randomizer.cells) * (1 - 1 / randomizer.cells) / rows)
        if rows
        else None,
    }


def _bytes_written(spec: SurveySpec, data: Data) -> int:
    """Return about how many bytes the reports take: bits of codes, bytes of bit sets, ids as they are read."""
    bits = sum(
        8 * -(-randomizer.cells // 8)
        if isinstance(randomizer, SubsetSelection)
        else math.ceil(math.log2(randomizer.cells))
        for randomizer in (spec.randomizer(name) for name in spec.attributes)
    )
    return data.rows * bits // 8 + data.column_bytes.get(spec.population.id or "", 0)


def _reason(spec: SurveySpec, name: str) -> str:
    """Return why the attribute is asked as it is."""
    table, randomizer = spec.attributes[name], spec.randomizer(name)
    keep = float(randomizer.support_if_true)
    what = "holds the truth" if isinstance(randomizer, SubsetSelection) else "is the truth"
    return f"{name}: {table.mechanism}, as the spec says; a report {what} with probability {keep:.4f}"
