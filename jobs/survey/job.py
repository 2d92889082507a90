"""The survey job.

Question: in which category is your answer, for each attribute of the spec, or in which cell, for several at
once? Privacy unit: one respondent, replaced by another. Guarantee: every report is private in the local model,
exactly, at the sum of the reports' epsilons. Who sees what: a worker stands in for its respondents' devices and
sees their answers; the driver, the output and everybody after see reports and their sums. Method: the designs'
laws, inverted on the driver, and the delta method. Cost: one pass over the columns that are asked for.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from jobs.population import Data, Digests, Population
from jobs.results import encode
from jobs.survey.beside import questions_of
from jobs.survey.cheating import carriers_of, run_cheating
from jobs.survey.check import check_data
from jobs.survey.document import attribute_documents, group_document, joint_documents, statistic_document
from jobs.survey.estimate import CONFIDENCE
from jobs.survey.inquiry import Inquiry
from jobs.survey.large_tables import move_large_tables
from jobs.survey.plan import plan_survey
from jobs.survey.regressions import run_regressions
from jobs.survey.spec import SurveySpec
from jobs.survey.study import run_study


class Survey:
    """Proportions and statistics of a population's attributes."""

    @property
    def spec_type(self) -> type[SurveySpec]:
        """The type of its specs."""
        return SurveySpec

    def check(self, spec: SurveySpec, data: Data) -> None:
        """Refuse data whose columns, types, sizes or report designs do not fit the spec.

        Raises
        ------
        SchemaError
        """
        check_data(spec, data)

    def plan(self, spec: SurveySpec, data: Data) -> dict[str, Any]:
        """Return what the job would do and how good it would be; reads no row."""
        return plan_survey(spec, data)

    def look_through(self, spec: SurveySpec, data: Data, population: Population) -> Digests:
        """Have all rows looked through for what will be asked; return their keyed digests."""
        return population.check(questions_of(spec))

    def roles(self, spec: SurveySpec) -> str:
        """Return who stands in for whom: the cluster for respondents' devices."""
        return "embedded"

    def writes_reports(self, spec: SurveySpec) -> bool:
        """Tell whether respondents' reports are published."""
        return spec.output.reports and bool(self.charges(spec))

    def charges(self, spec: SurveySpec) -> list[tuple[str, Decimal]]:
        """Return each report's epsilon; nothing for reports that are here already."""
        if spec.collected is not None or spec.study is not None:
            return []
        return [(unit.name, unit.epsilon) for unit in spec.layout.units]

    def privacy(self, spec: SurveySpec) -> dict[str, Any]:
        """Return the guarantee."""
        if spec.study is not None:
            return {"model": "none", "basis": "a study on public data: nothing is protected", "epsilon": None}
        basis = "drawn by this job" if spec.collected is None else "collected: as the spec says"
        covers = (
            "all that respondents report" if spec.collected is None else "reports, and no column beside them"
        )
        return {
            "model": "local",
            "neighbours": "one respondent replaced",
            "basis": basis,
            "covers": covers,
            "epsilon": spec.layout.epsilon,
        }

    def run(self, spec: SurveySpec, population: Population) -> dict[str, Any]:
        """Ask every attribute in one round, and estimate."""
        if spec.study is not None:
            return {"study": run_study(spec, spec.study, population)}
        inquiry = Inquiry.prepare(spec, population)
        ask = population.collect if self.writes_reports(spec) else population.ask
        stage = "randomize" if spec.collected is None else "count reports"
        sums = ask(inquiry.asks, stage, inquiry.tallies)  # a sum for each ask, then one for each table
        whole, groups = inquiry.estimates(sums, population.rows)
        attributes, cheating = attribute_documents(whole), run_cheating(spec, population)
        return {
            "respondents": population.rows,
            "confidence": CONFIDENCE,
            "sampling": _sampling(spec),
            "attributes": attributes
            | {one["attribute"]: carriers_of(attributes[one["attribute"]], one) for one in cheating},
            "statistics": [
                statistic_document(spec, statistic, whole.margin(statistic.of))
                for statistic in spec.statistics
            ],
            "joint": joint_documents(whole),
            "strata": inquiry.strata_documents(whole),
            "groups": [group_document(label, own) for label, own in groups],
            "cheating": cheating,
            "regressions": run_regressions(spec, population),
        }

    def documents(self, document: dict[str, Any]) -> dict[str, bytes]:
        """Return the result, and what is too large for it or stands by itself."""
        if "study" in document["result"]:
            return {"result.json": encode(document), "study.json": encode(document["result"]["study"])}
        result, tables = move_large_tables(document["result"])
        return {"result.json": encode(document | {"result": result}), **tables}

    def page(self, document: dict[str, Any]) -> bytes:
        """Return the page of a survey, or of a study."""
        from jobs.page.page import (  # noqa: PLC0415  its figures take half a second to import
            render_study,
            render_survey,
        )

        return render_study(document) if "study" in document["result"] else render_survey(document)


def _sampling(spec: SurveySpec) -> str:
    """Return whom standard errors take respondents for."""
    strata = spec.collected is not None and spec.collected.strata is not None
    weighted = spec.collected is not None and spec.collected.weight is not None
    kind = "independent draws that count by their weights" if weighted else "a simple random sample"
    what = f"respondents are taken as {kind}" + (" within their stratum" if strata else "")
    if spec.sampling is None:
        return f"{what}, without a finite-population correction"
    sizes = (spec.sampling.size,) if spec.sampling.strata is None else spec.sampling.strata.values()
    return f"{what}, without replacement, of a population of {sum(size or 0 for size in sizes)}"
