"""Whether data fit a survey's spec, by their footers: columns, types, sizes, and how reports were made."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from jobs.population import Data
from jobs.survey.beside import level_columns, questions_of
from jobs.survey.collected_spec import OwnReports
from jobs.survey.layout import Unit
from jobs.survey.spec import SurveySpec
from udfs.asides import check_level_type
from udfs.asking import Fault, refusal
from udfs.categories import MISSING
from udfs.errors import SchemaError
from udfs.mechanisms import describe


def check_data(spec: SurveySpec, data: Data) -> None:
    """Refuse data that do not fit; no row is read.

    Raises
    ------
    SchemaError
    SpecError
    """
    faults: dict[Fault, int] = {}
    for question in questions_of(spec):
        for part in question.parts:
            for file, arrow_type in data.columns(part.column):
                part.check_type(arrow_type, file)
            if part.missing == "none" and not _nulls_are_reports(spec, part.column):
                nulls = data.known_nulls(part.column)
                faults |= {(file, part.column, MISSING): count for file, count in nulls}
    if faults:
        raise refusal(faults)
    for column in level_columns(spec):
        for file, arrow_type in data.columns(column):
            check_level_type(column, arrow_type, file)
    _check_size(spec, data)
    for entry in data.metadata:
        designs = entry.get("attributes")
        if isinstance(designs, dict):
            _check_footer(spec, designs)


def _nulls_are_reports(spec: SurveySpec, column: str) -> bool:
    """Tell whether a null is a report: "no answer", where that is a cell."""
    return column in spec.attributes and spec.attributes[column].missing == "category"


def _check_size(spec: SurveySpec, data: Data) -> None:
    """Refuse a population smaller than its sample."""
    if spec.sampling is None:
        return
    strata = spec.sampling.strata
    whole = spec.sampling.size if strata is None else sum(strata.values())
    if whole is not None and whole < data.rows:
        raise SchemaError(
            "sampling",
            "the population must be as large as its sample",
            f"{whole} of which {data.rows} were asked",
        )


def _check_footer(spec: SurveySpec, designs: dict[str, Any]) -> None:
    """Refuse report files that were made otherwise than the spec says, or that it takes for answers."""
    own = spec.collected is None or isinstance(spec.collected, OwnReports)
    for unit in spec.layout.units:
        for name in dict.fromkeys([unit.name, *unit.attributes]):
            if name in designs and spec.collected is None:
                raise SchemaError(
                    f"attributes.{name}",
                    "must hold answers",
                    "reports",
                    'set collected.design = "randomized-response"',
                )
        if unit.name in designs:
            if not own:
                raise SchemaError(
                    "collected.design",
                    "must be what the files' footers say",
                    "reports of a mechanism of this project",
                    'set collected.design = "randomized-response"',
                )
            _check_design(unit, designs[unit.name])


def _check_design(unit: Unit, entry: object) -> None:
    """Refuse what a footer says of one report, where it is not what the spec says."""
    found: dict[str, Any] = entry if isinstance(entry, dict) else {}
    expected = describe(unit.asked)
    differing = [key for key in expected if found.get(key) != expected[key] and key != "epsilon"]
    if _as_decimal(found.get("epsilon")) != Decimal(expected["epsilon"]):
        differing.append("epsilon")
    if differing:
        raise SchemaError(
            f"attributes.{unit.name}",
            "must say how its reports were made, as their files' footers do",
            ", ".join(f"{key} {str(found.get(key))[:40]} in a footer" for key in sorted(differing)),
            "correct the spec",
        )


def _as_decimal(text: object) -> Decimal | None:
    try:
        number = Decimal(str(text))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
