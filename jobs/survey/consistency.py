"""Whether the tables of a survey's spec go together: all that can be told without data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from jobs.survey.collected_spec import TwoSamplesTable
from udfs.categories import CategoryQuestion
from udfs.errors import SpecError

if TYPE_CHECKING:
    from jobs.survey.spec import RegressionTable, SamplingTable, StatisticTable, StudyTable, SurveySpec

UNFOLLOWED = ("proportions", "independence-test")
"""Statistics that a study cannot draw as one line over epsilon."""
LARGEST_CROSSING = 1 << 62
"""A cell of all attributes together is named by a 64-bit number."""


def check_consistency(spec: SurveySpec) -> None:
    """Refuse a spec whose tables contradict each other.

    Raises
    ------
    SpecError
        Names the key that is wrong.
    """
    for name in spec.attributes:
        spec.question(name)
    named = {f"joint.{place}": table.of for place, table in enumerate(spec.joint)}
    named |= {f"statistics.{place}": table.of for place, table in enumerate(spec.statistics)}
    for where, of in named.items():
        for name in of:
            if name not in spec.attributes:
                raise SpecError(f"{where}.of", "must name attributes of the spec", name)
    if spec.population.id in spec.attributes:
        raise SpecError("population.id", "the column of ids must not be an attribute", spec.population.id)
    _check_collected(spec)
    for place, statistic in enumerate(spec.statistics):
        _check_statistic(spec, f"statistics.{place}", statistic)
    for place, regression in enumerate(spec.regressions):
        _check_regression(spec, f"regressions.{place}", regression)
    if spec.sampling is not None:
        _check_sampling(spec, spec.sampling)
    if spec.study is not None:
        _check_study(spec, spec.study)
    layout = spec.layout
    for place, regression in enumerate(spec.regressions):
        layout.check_outcome(f"regressions.{place}.outcome", regression.outcome)


def _check_collected(spec: SurveySpec) -> None:
    """Refuse columns beside the reports that are reports themselves, or ids."""
    collected = spec.collected
    if collected is None:
        return
    sample = collected.sample if isinstance(collected, TwoSamplesTable) else None
    beside = {
        "weight": collected.weight,
        "strata": collected.strata,
        "groups": collected.groups,
        "sample": sample,
    }
    for key, column in beside.items():
        if column is not None and (column in spec.attributes or column == spec.population.id):
            raise SpecError(f"collected.{key}", "must be a column beside the reports and the ids", column)
    if sample is not None and spec.statistics:
        raise SpecError(
            "statistics",
            "two samples tell of carriers and cheaters alone",
            collected.design,
            "leave them out",
        )


def _check_sampling(spec: SurveySpec, sampling: SamplingTable) -> None:
    """Refuse sizes beside what they do not go with."""
    collected = spec.collected
    if isinstance(collected, TwoSamplesTable) or spec.regressions:
        raise SpecError(
            "sampling",
            "neither two samples nor regressions heed the size of a population",
            "both",
            "leave it out",
        )
    if collected is not None and collected.weight is not None:
        raise SpecError("sampling", "weights tell how respondents were sampled already", "both")
    if collected is not None and (collected.strata is None) != (sampling.strata is None):
        raise SpecError(
            "sampling", "sizes must be of the strata where there are any, else of all", "otherwise"
        )
    if collected is None and sampling.strata is not None:
        raise SpecError("sampling.strata", "only collected data have strata", f"{len(sampling.strata)}")


def _check_study(spec: SurveySpec, study: StudyTable) -> None:
    """Refuse what a study cannot follow, and designs that cannot be built at some point of its grid."""
    if not spec.population.public:
        raise SpecError(
            "study", "a study compares with the truth, so its population must be public", "public = false"
        )
    if spec.collected is not None:
        raise SpecError("study", "a study draws reports of its own", "collected reports")
    if spec.joint or spec.budget is not None or spec.sampling is not None:
        raise SpecError(
            "study",
            "sets every attribute's epsilon and mechanism, and asks everybody",
            "joint, budget or sampling",
        )
    if any(table.missing == "random" for table in spec.attributes.values()):
        raise SpecError("study", "needs answers that are not drawn", 'missing = "random"')
    if any(statistic.kind in UNFOLLOWED for statistic in spec.statistics):
        raise SpecError("study", "follows statistics that are one number", ", ".join(UNFOLLOWED))
    if math.prod(spec.question(name).cells for name in spec.attributes) > LARGEST_CROSSING:
        raise SpecError("study", "all attributes together may have 2**62 cells", "more")
    for epsilon in study.epsilons:
        for mechanism in study.mechanisms:
            _ = spec.at(epsilon, mechanism, None).layout


def _check_statistic(spec: SurveySpec, where: str, table: StatisticTable) -> None:
    """Refuse statistics that cannot be told from these reports."""
    drawn = any(spec.attributes[name].missing == "random" for name in table.of)
    if table.kind == "independence-test" and drawn:
        raise SpecError(
            f"{where}.kind",
            "no test of independence keeps its size where missing answers are drawn",
            'missing = "random"',
            'set missing = "category"',
        )
    if table.scores is not None:
        wanted = [len(spec.attributes[name].categories) for name in table.of]
        if [len(one) for one in table.scores] != wanted:
            raise SpecError(f"{where}.scores", "must be a number for each category of both", str(wanted))


def _check_regression(spec: SurveySpec, where: str, table: RegressionTable) -> None:
    """Refuse regressions on anything but collected answers of yes or no."""
    if spec.collected is None:
        raise SpecError(
            where, "a regression is of reports that were collected beside its covariates", "no collected"
        )
    if table.outcome not in spec.attributes or len(spec.attributes[table.outcome].categories) != 2:
        raise SpecError(f"{where}.outcome", "must be an attribute of two categories", table.outcome)
    if isinstance(spec.collected, TwoSamplesTable):
        raise SpecError(f"{where}.outcome", "must be of one sample, of one design", spec.collected.design)
    if spec.attributes[table.outcome].missing != "none":
        raise SpecError(
            f"{where}.outcome", "must be an attribute that everybody answered", 'missing = "category"'
        )
    for name, categories in table.factors.items():
        try:
            CategoryQuestion(name, categories)
        except SpecError as error:
            raise SpecError(f"{where}.factors.{name}", error.must, error.got, error.remedy) from None
    for name in (*table.numbers, *table.factors):
        if name in spec.attributes:
            raise SpecError(where, "a covariate must be no secret, an attribute is", name)
