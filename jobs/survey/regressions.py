"""Logistic regressions of collected reports on what stands beside them: a conversation, a pass each step."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from jobs.population import Population
from jobs.survey.beside import covariate_questions, weight_question
from jobs.survey.regression import fit_logistic
from jobs.survey.spec import RegressionTable, SurveySpec
from udfs.asides import Aside
from udfs.asking import Ask
from udfs.logistic import Factor, Floats, LogisticSums, Numeric, Predictor, term_names
from udfs.logistic_tally import LogisticTally


def run_regressions(spec: SurveySpec, population: Population) -> list[dict[str, Any]]:
    """Fit every regression."""
    return [
        _regress(spec, population, f"regressions.{place}", table)
        for place, table in enumerate(spec.regressions)
    ]


def _regress(spec: SurveySpec, population: Population, where: str, table: RegressionTable) -> dict[str, Any]:
    unit, weights = spec.layout.unit_of(table.outcome), weight_question(spec)
    predictors: list[Predictor] = [Numeric(name) for name in table.numbers]
    predictors += [Factor(name, categories) for name, categories in table.factors.items()]
    asks: list[Ask] = [unit.ask, *((question, Aside()) for question in covariate_questions(table))]
    if weights is not None:
        asks.append((weights, Aside()))
    law = unit.axes[0].design.observe(np.eye(2), 0)  # (reports, 2)
    place = len(asks) - 1 if weights is not None else None

    def sums_at(beta: Floats) -> LogisticSums:
        tally = LogisticTally(tuple(predictors), tuple(map(tuple, law.tolist())), tuple(beta.tolist()), place)
        *_, sums = population.ask(asks, f"regression of {table.outcome}", [tally])
        return cast(LogisticSums, sums)

    fit = fit_logistic(sums_at, term_names(predictors), weights is not None, where)
    return fit.document(table.outcome)
