"""Carriers and cheaters from two samples with chances of their own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jobs.population import Population
from jobs.survey.beside import sample_question
from jobs.survey.collected_spec import CheaterDetection, TwoSamplesTable
from jobs.survey.estimate import Z
from jobs.survey.spec import SurveySpec
from jobs.survey.two_sample import Sample, TwoSampleEstimate, cheater_detection, stochastic_lie_detector
from udfs.asides import Aside
from udfs.asking import Ask
from udfs.design import Counts
from udfs.errors import SchemaError
from udfs.tables import CrossTable


def run_cheating(spec: SurveySpec, population: Population) -> list[dict[str, Any]]:
    """Estimate carriers and cheaters of every attribute: one pass for all."""
    collected = spec.collected
    if not isinstance(collected, TwoSamplesTable):
        return []
    asks: list[Ask] = [(sample_question(collected), Aside()), *spec.layout.asks]
    tables = [CrossTable((0, place), (2, 2)) for place in range(1, len(asks))]
    counts = population.ask(asks, "count samples", tables)[len(asks) :]
    return [
        _cheating_document(name, _estimate(collected, own))
        for name, own in zip(spec.attributes, counts, strict=True)
    ]


def _estimate(collected: TwoSamplesTable, counts: Counts) -> TwoSampleEstimate:
    """Return the model's estimates from reports by sample: int64, shape (2, 2)."""
    for label, reports in zip(collected.p, counts.sum(axis=1), strict=True):
        if reports < 2:
            raise SchemaError(
                f"column {collected.sample!r}",
                f"two respondents or more must be of sample {label!r}",
                f"{reports}",
            )
    first, second = (
        Sample(p, int(yes), int(no + yes)) for p, (no, yes) in zip(collected.p.values(), counts, strict=True)
    )
    model = cheater_detection if isinstance(collected, CheaterDetection) else stochastic_lie_detector
    return model(first, second)


def _cheating_document(name: str, found: TwoSampleEstimate) -> dict[str, Any]:
    """Return the estimates of one attribute."""
    estimates = {}
    for label, value, error in zip(found.names, found.values, found.standard_errors, strict=True):
        interval = np.clip([value - Z * error, value + Z * error], 0.0, 1.0)
        estimates[label] = {"estimate": value, "standard_error": error, "interval": interval}
    return {
        "attribute": name,
        "model": found.model,
        "estimates": estimates,
        "p_value": found.cheating.p_value,
        "note": f"{', '.join(found.outside)} came out as no share" if found.outside else None,
    }


def carriers_of(attribute: dict[str, Any], cheating: dict[str, Any]) -> dict[str, Any]:
    """Return an attribute's document with the carriers that two samples tell of, in place of the shares of yes.

    Where the model leaves open whether cheaters are carriers, there are no proportions.
    """
    carriers = cheating["estimates"].get("carriers")
    share, error = (carriers["estimate"], carriers["standard_error"]) if carriers else (math.nan, math.nan)
    low, high = carriers["interval"] if carriers else (math.nan, math.nan)
    note = None if carriers else "see cheating: whether cheaters are carriers is not known"
    return attribute | {
        "proportions": [1 - share, share],
        "standard_errors": [error, error],
        "intervals": [[1 - high, 1 - low], [low, high]],
        "projected": None,
        "post_processed": dict.fromkeys(attribute["post_processed"]),
        "raw": [1 - share, share],
        "raw_standard_errors": [error, error],
        "missing": attribute["missing"] | {"note": note},
    }
