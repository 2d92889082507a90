"""The parts of a survey's result.json."""

from __future__ import annotations

from typing import Any

import numpy as np

from jobs.survey.estimate import AttributeEstimate, estimate_attribute
from jobs.survey.independence import independence_test
from jobs.survey.inquiry import Estimates
from jobs.survey.margin import Margin
from jobs.survey.spec import AttributeTable, StatisticTable, SurveySpec
from jobs.survey.statistics import estimate_statistic
from udfs.lookup import Category


def attribute_documents(estimates: Estimates) -> dict[str, Any]:
    """Return the estimates of every attribute."""
    return {name: _attribute_document(estimates, name) for name in estimates.spec.attributes}


def _attribute_document(estimates: Estimates, name: str) -> dict[str, Any]:
    spec = estimates.spec
    table, unit = spec.attributes[name], spec.layout.unit_of(name)
    estimate = estimate_attribute(estimates.margin([name]))
    share, error = estimate.missing or (None, None)
    _, mechanism = unit.asked
    return {
        **_shares_document(table, estimate),
        "projected": estimate.post_processed["simplex-projection"],
        "projection": "nearest point of the simplex",
        "post_processed": estimate.post_processed,
        "raw": estimate.raw,
        "raw_standard_errors": estimate.raw_standard_errors,
        "reports": estimates.reports_of(name),
        "missing": {
            "handling": table.missing,
            "share": share,
            "standard_error": error,
            "note": _note(table, estimate),
        },
        "mechanism": unit.mechanism,
        "shared_with": [other for other in unit.attributes if other != name],
        "reason": unit.reason,
        "epsilon": unit.epsilon,
        "thresholds": {key: str(value) for key, value in mechanism.thresholds().items()},
    }


def _shares_document(table: AttributeTable, estimate: AttributeEstimate) -> dict[str, Any]:
    return {
        "categories": list(table.categories),
        "proportions": estimate.proportions,
        "standard_errors": estimate.standard_errors,
        "intervals": estimate.intervals,
    }


def group_document(label: Category, estimates: Estimates) -> dict[str, Any]:
    """Return the estimates of every attribute within one group."""
    spec = estimates.spec
    return {
        "group": label,
        "respondents": estimates.respondents,
        "attributes": {
            name: _shares_document(table, estimate_attribute(estimates.margin([name])))
            for name, table in spec.attributes.items()
        },
    }


def statistic_document(spec: SurveySpec, table: StatisticTable, margin: Margin) -> dict[str, Any]:
    """Return one statistic."""
    head = {"kind": table.kind, "of": list(table.of)}
    if table.kind == "independence-test":
        test = independence_test(margin)
        return head | {
            "estimate": test.statistic,
            "standard_error": None,
            "unit": None,
            "degrees_of_freedom": test.degrees_of_freedom,
            "p_value": test.p_value,
            "method": test.method,
            "note": test.note,
        }
    if table.kind == "proportions":
        return head | {
            "estimate": margin.proportions,
            "standard_error": np.sqrt(margin.variances()),
            "unit": "share",
            "categories": [list(spec.attributes[name].categories) for name in table.of],
            "note": None,
        }
    found = estimate_statistic(table.kind, margin, spec.scores(table), with_noise=True)
    return head | {
        "estimate": found.estimate,
        "standard_error": found.standard_error,
        "interval": found.interval,
        "unit": found.unit,
        "note": found.note,
        "if_independent": found.if_independent,
    }


def joint_documents(estimates: Estimates) -> list[dict[str, Any]]:
    """Return the tables of attributes that are randomized at once."""
    documents = []
    for unit in estimates.spec.layout.units:
        if len(unit.axes[0].attributes) > 1:
            margin = estimates.margin(unit.attributes)
            documents.append(
                {
                    "of": list(unit.attributes),
                    "shape": list(margin.proportions.shape),
                    "categories": [
                        list(estimates.spec.attributes[name].categories) for name in unit.attributes
                    ],
                    "proportions": margin.proportions,
                    "standard_errors": np.sqrt(margin.variances()),
                    "mechanism": unit.mechanism,
                    "epsilon": unit.epsilon,
                }
            )
    return documents


def _note(table: AttributeTable, estimate: AttributeEstimate) -> str | None:
    """Return what must be said where missing answers bear on the levels."""
    if table.missing == "random":
        return (
            "a missing answer counts as a uniform one, and how many there are is not known: every share, its error"
            f" and its interval are those of the mixture, which leans towards 1/{len(table.categories)}"
        )
    if (
        estimate.missing is not None
        and np.isfinite(estimate.raw).all()
        and np.isnan(estimate.proportions).all()
    ):
        return "too few seem to have answered: their share is within two standard errors of zero"
    return None
