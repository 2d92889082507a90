"""What only collected data are asked: regressions on what stands beside the reports, and two samples' cheaters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from jobs.population import Population
from jobs.survey.collected_spec import CheaterDetection, TwoSamplesTable
from jobs.survey.regression import fit_logistic
from jobs.survey.spec import RegressionTable, SurveySpec
from jobs.survey.two_sample import Sample, TwoSampleEstimate, cheater_detection, stochastic_lie_detector
from udfs.asides import Aside, NumberQuestion
from udfs.asking import Ask
from udfs.categories import CategoryQuestion
from udfs.logistic import (
    Factor,
    Floats,
    LogisticSums,
    Numeric,
    Predictor,
    design_matrix,
    logistic_sums,
    term_names,
)
from udfs.tables import CrossTable

_Z = 1.959963984540054


@dataclass(frozen=True)
class LogisticTally:
    """Adds up log-likelihood, score and information of a logistic regression at given coefficients.

    Parameters
    ----------
    predictors : tuple of Numeric and Factor
        The asks after the first, in order.
    law : tuple of tuple of float
        Of the first ask's reports: (reports, 2).
    beta : tuple of float
    weight : int, optional
        The place of the ask that reads weights.
    """

    predictors: tuple[Predictor, ...]
    law: tuple[tuple[float, ...], ...]
    beta: tuple[float, ...]
    weight: int | None = field(default=None)

    def zeros(self) -> LogisticSums:
        """Return the sums of no rows."""
        return LogisticSums.zeros(len(self.beta))

    def tally(self, reports: Sequence[npt.NDArray[np.generic]]) -> LogisticSums:
        """Return a block's sums."""
        outcome, *columns = reports[: len(self.predictors) + 1]
        features = design_matrix(self.predictors, columns, len(outcome))
        weights = None if self.weight is None else reports[self.weight].astype(np.float64)
        codes = outcome.astype(np.uint32)
        return logistic_sums(features, codes, np.array(self.law), np.array(self.beta), weights)


def run_regressions(spec: SurveySpec, population: Population) -> list[dict[str, Any]]:
    """Fit every regression: a pass over its columns each step."""
    return [
        _regress(spec, population, f"regressions.{place}", table)
        for place, table in enumerate(spec.regressions)
    ]


def _regress(spec: SurveySpec, population: Population, where: str, table: RegressionTable) -> dict[str, Any]:
    unit = spec.layout.unit_of(table.outcome)
    predictors: list[Predictor] = [Numeric(name) for name in table.numbers]
    asks: list[Ask] = [unit.ask, *((NumberQuestion(name), Aside()) for name in table.numbers)]
    for name, categories in table.factors.items():
        predictors.append(Factor(name, categories))
        asks.append((CategoryQuestion(name, categories), Aside()))
    weight = spec.collected.weight if spec.collected is not None else None
    if weight is not None:
        asks.append((NumberQuestion(weight, weights=True), Aside()))
    design = unit.axes[0].design
    law = design.observe(np.eye(2), 0)  # (reports, 2)
    place = len(asks) - 1 if weight is not None else None

    def sums_at(beta: Floats) -> LogisticSums:
        tally = LogisticTally(tuple(predictors), tuple(map(tuple, law.tolist())), tuple(beta.tolist()), place)
        *_, sums = population.ask(asks, f"regression of {table.outcome}", [tally])
        return cast(LogisticSums, sums)

    fit = fit_logistic(sums_at, term_names(predictors), weight is not None, where)
    return fit.document(table.outcome)


def run_cheating(spec: SurveySpec, population: Population) -> list[dict[str, Any]]:
    """Estimate carriers and cheaters of every attribute from two samples."""
    collected = spec.collected
    if not isinstance(collected, TwoSamplesTable):
        return []
    samples = CategoryQuestion(collected.sample, tuple(collected.p))
    documents = []
    for name in spec.attributes:
        asks: list[Ask] = [(samples, Aside()), spec.layout.unit_of(name).ask]
        counts = population.ask(asks, f"samples of {name}", [CrossTable((0, 1), (2, 2))])[-1]
        first, second = (
            Sample(p, int(yes), int(no + yes))
            for p, (no, yes) in zip(collected.p.values(), counts, strict=True)
        )
        model = cheater_detection if isinstance(collected, CheaterDetection) else stochastic_lie_detector
        documents.append(_cheating_document(name, model(first, second)))
    return documents


def from_two_samples(attributes: dict[str, Any], cheating: list[dict[str, Any]]) -> dict[str, Any]:
    """Return attributes' documents with the carriers that two samples tell of, in place of the shares of yes.

    Where the model leaves open whether cheaters are carriers, there are no proportions.
    """
    nothing = {"simplex-projection": None, "clip-and-rescale": None, "maximum-likelihood": None}
    found = {}
    for one in cheating:
        name, carriers = one["attribute"], one["estimates"].get("carriers")
        share, error = (
            (carriers["estimate"], carriers["standard_error"]) if carriers else (math.nan, math.nan)
        )
        low, high = carriers["interval"] if carriers else (math.nan, math.nan)
        note = None if carriers else "see cheating: whether cheaters are carriers is not known"
        found[name] = attributes[name] | {
            "proportions": [1 - share, share],
            "standard_errors": [error, error],
            "intervals": [[1 - high, 1 - low], [low, high]],
            "projected": None,
            "post_processed": nothing,
            "missing": attributes[name]["missing"] | {"note": note},
        }
    return attributes | found


def _cheating_document(name: str, found: TwoSampleEstimate) -> dict[str, Any]:
    """Return the estimates of one attribute."""
    estimates = {}
    for label, value, error in zip(found.names, found.values, found.standard_errors, strict=True):
        interval = np.clip([value - _Z * error, value + _Z * error], 0.0, 1.0)
        estimates[label] = {"estimate": value, "standard_error": error, "interval": interval}
    return {
        "attribute": name,
        "model": found.model,
        "estimates": estimates,
        "p_value": found.cheating.p_value,
        "note": "p_value: of so many cheaters or more, if nobody cheats"
        + (f"; {', '.join(found.outside)} came out as no share" if found.outside else ""),
    }
