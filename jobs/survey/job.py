"""The survey job.

Question: in which category is your answer, for each attribute of the spec? Privacy unit: one respondent,
replaced by another. Guarantee: every report is private in the local model, exactly, at the sum of the
attributes' epsilons. Who sees what: a worker stands in for its respondents' devices and sees their answers;
the driver, the output and everybody after see reports and their sums. Method: randomized response and subset
selection, inverted on the driver. Cost: one pass over the columns that are asked for.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from jobs.population import Data, Population
from jobs.survey.estimate import CONFIDENCE, AttributeEstimate, estimate_attribute
from jobs.survey.plan import plan_survey
from jobs.survey.spec import AttributeTable, SurveySpec
from udfs.asking import MISSING, Fault, Question, refusal
from udfs.errors import SchemaError
from udfs.mechanisms import describe


class Survey:
    """Proportions of a population's attributes."""

    @property
    def spec_type(self) -> type[SurveySpec]:
        """The type of its specs."""
        return SurveySpec

    def check(self, spec: SurveySpec, data: Data) -> None:
        """Refuse data whose columns, types or report designs do not fit the spec.

        Raises
        ------
        SchemaError
        """
        faults: dict[Fault, int] = {}
        for question, _ in spec.asks():
            for file, arrow_type in data.columns(question.column):
                question.check_type(arrow_type, file)
            if spec.attributes[question.column].missing == "none":
                nulls = data.known_nulls(question.column)
                faults |= {(file, question.column, MISSING): count for file, count in nulls}
        if faults:
            raise refusal(faults)
        _check_designs(spec, data)

    def plan(self, spec: SurveySpec, data: Data) -> dict[str, Any]:
        """Return what the job would do and how good it would be; reads no row."""
        return plan_survey(spec, data)

    def questions(self, spec: SurveySpec) -> list[Question]:
        """Return the attributes' questions."""
        return [question for question, _ in spec.asks()]

    def charges(self, spec: SurveySpec) -> list[tuple[str, Decimal]]:
        """Return each attribute's epsilon; nothing for reports that are here already."""
        if spec.collected is not None:
            return []
        return [(name, table.epsilon) for name, table in spec.attributes.items()]

    def privacy(self, spec: SurveySpec) -> dict[str, Any]:
        """Return the guarantee."""
        epsilon = sum((table.epsilon for table in spec.attributes.values()), Decimal(0))
        basis = "drawn by this job" if spec.collected is None else "collected: as the spec says"
        return {"model": "local", "neighbours": "one respondent replaced", "basis": basis, "epsilon": epsilon}

    def run(self, spec: SurveySpec, population: Population) -> dict[str, Any]:
        """Ask every attribute in one round, and estimate."""
        asks = spec.asks()
        write = spec.output.reports and spec.collected is None
        stage = "randomize" if spec.collected is None else "count reports"
        sums = (
            population.collect(asks, stage) if write else population.ask(asks, stage)
        )  # one (cells,) an attribute
        return {
            "respondents": population.rows,
            "confidence": CONFIDENCE,
            "sampling": "respondents are taken as a simple random sample, without a finite-population correction",
            "attributes": {
                name: _document(
                    spec,
                    name,
                    counts.tolist(),
                    estimate_attribute(
                        spec.randomizer(name),
                        counts,
                        population.rows,
                        spec.attributes[name].missing == "category",
                    ),
                )
                for name, counts in zip(spec.attributes, sums, strict=True)
            },
            "statistics": [],
            "joint": [],
        }


def _document(spec: SurveySpec, name: str, counts: list[int], estimate: AttributeEstimate) -> dict[str, Any]:
    """Return an attribute's part of result.json."""
    table = spec.attributes[name]
    share, error = estimate.missing or (None, None)
    return {
        "categories": list(table.categories),
        "proportions": estimate.proportions,
        "standard_errors": estimate.standard_errors,
        "intervals": estimate.intervals,
        "projected": estimate.projected,
        "projection": "nearest point of the simplex",
        "raw": estimate.raw.shares,
        "raw_standard_errors": np.sqrt(np.diag(estimate.raw.covariance)),
        "reports": counts,
        "missing": {
            "handling": table.missing,
            "share": share,
            "standard_error": error,
            "note": _note(table, estimate),
        },
        "mechanism": table.mechanism,
        "epsilon": table.epsilon,
        "thresholds": {key: str(value) for key, value in spec.randomizer(name).thresholds().items()},
    }


def _note(table: AttributeTable, estimate: AttributeEstimate) -> str | None:
    """Return what must be said where missing answers bear on the levels."""
    if table.missing == "random":
        return (
            "a missing answer counts as a uniform one, and how many there are is not known: every share, its error"
            f" and its interval are those of the mixture, which leans towards 1/{len(table.categories)}"
        )
    if estimate.missing is not None and estimate.raw.reports and np.isnan(estimate.proportions).all():
        return "too few seem to have answered: their share is within two standard errors of zero"
    return None


def _check_designs(spec: SurveySpec, data: Data) -> None:
    """Refuse report files that were made otherwise than the spec says, or that the spec takes for answers."""
    for entry in data.metadata:
        designs = entry.get("attributes")
        for name, design in designs.items() if isinstance(designs, dict) else ():
            if name in spec.attributes:
                _check_design(spec, name, design if isinstance(design, dict) else {})


def _check_design(spec: SurveySpec, name: str, found: dict[str, Any]) -> None:
    """Refuse what a footer says of one attribute, where it is not what the spec says."""
    if spec.collected is None:
        raise SchemaError(
            f"attributes.{name}",
            "must hold answers",
            "reports",
            'set collected.design = "randomized-response"',
        )
    expected = describe(spec.question(name), spec.randomizer(name))
    differing = [key for key in expected if found.get(key) != expected[key] and key != "epsilon"]
    if _as_decimal(found.get("epsilon")) != spec.attributes[name].epsilon:
        differing.append("epsilon")
    if differing:
        raise SchemaError(
            f"attributes.{name}",
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
