"""What stands beside collected reports and is no secret: weights, samples, covariates; strata and groups."""

from __future__ import annotations

from jobs.survey.collected_spec import TwoSamplesTable
from jobs.survey.spec import RegressionTable, SurveySpec
from udfs.asides import NumberQuestion
from udfs.asking import Question
from udfs.categories import CategoryQuestion


def questions_of(spec: SurveySpec) -> list[Question]:
    """Return all that every row is asked, whose values are known: the attributes, and what stands beside them."""
    questions: list[Question] = [question for question, _ in spec.layout.asks]
    if (weights := weight_question(spec)) is not None:
        questions.append(weights)
    if isinstance(spec.collected, TwoSamplesTable):
        questions.append(sample_question(spec.collected))
    for table in spec.regressions:
        questions.extend(covariate_questions(table))
    return questions


def level_columns(spec: SurveySpec) -> tuple[str, ...]:
    """Return the columns whose values are found out: strata and groups."""
    if spec.collected is None:
        return ()
    return tuple(one for one in (spec.collected.strata, spec.collected.groups) if one is not None)


def columns_beside(spec: SurveySpec) -> list[str]:
    """Return all columns beside the reports."""
    asked = [part.column for question in questions_of(spec) for part in question.parts]
    return [column for column in (*asked, *level_columns(spec)) if column not in spec.attributes]


def weight_question(spec: SurveySpec) -> NumberQuestion | None:
    """Return what reads the weights."""
    if spec.collected is None or spec.collected.weight is None:
        return None
    return NumberQuestion(spec.collected.weight, weights=True)


def sample_question(collected: TwoSamplesTable) -> CategoryQuestion:
    """Return what reads which of two samples a respondent was in."""
    return CategoryQuestion(collected.sample, tuple(collected.p))


def covariate_questions(table: RegressionTable) -> list[NumberQuestion | CategoryQuestion]:
    """Return what reads the covariates of a regression: numbers, then factors."""
    factors = [CategoryQuestion(name, categories) for name, categories in table.factors.items()]
    return [*(NumberQuestion(name) for name in table.numbers), *factors]
