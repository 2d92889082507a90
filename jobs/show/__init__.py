"""What a terminal shows of results, plans and ledgers."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from jobs.ledger import Ledger
from jobs.show.assign import show_assign_plan, show_assign_result
from jobs.show.election import show_election_plan, show_election_result
from jobs.show.election_study import show_election_study
from jobs.show.graph import show_graph_plan, show_graph_result, show_graph_study
from jobs.show.skills import show_skills_plan, show_skills_result
from jobs.show.skills_study import show_skills_study, show_skills_study_plan
from jobs.show.survey import show_survey_plan, show_survey_result
from jobs.show.terminal import console_of_width

_RESULTS = {
    "survey": show_survey_result,
    "election": show_election_result,
    "skills": show_skills_result,
    "assign": show_assign_result,
    "graph": show_graph_result,
}
_STUDIES = {"election": show_election_study, "skills": show_skills_study, "graph": show_graph_study}
_PLANS = {
    "survey": show_survey_plan,
    "election": show_election_plan,
    "skills": show_skills_plan,
    "assign": show_assign_plan,
    "graph": show_graph_plan,
}


def show_result(document: dict[str, Any], output: str, stored: bool) -> None:
    """Show a result, the guarantee, the budget, and where it is."""
    if document["job"] in _STUDIES and "study" in document["result"]:
        _STUDIES[document["job"]](document, output)
    else:
        _RESULTS[document["job"]](document, output, stored)


def show_plan(job: str, planned: dict[str, Any]) -> None:
    """Show the plan of a kind of job."""
    if job == "skills" and "leaf_errors" in planned["predicted"]:
        show_skills_study_plan(planned)
    else:
        _PLANS[job](planned)


def show_ledger(ledger: Ledger) -> None:
    """Show every account with its charges."""
    console = console_of_width()
    for balance in ledger.balances():
        limit = "no limit" if balance.limit is None else f"limit {balance.limit}"
        table = Table(
            title=Text(f"{balance.account}: {balance.spent} spent, {limit}"),
            title_justify="left",
            box=box.SIMPLE_HEAD,
            pad_edge=False,
        )
        for heading in ("when", "job", "question"):
            table.add_column(heading)
        table.add_column("epsilon", justify="right")
        table.add_column("status")
        for charge in ledger.charges(balance.account):
            table.add_row(
                charge.at, charge.job[:12], Text(charge.question), str(charge.epsilon), charge.status
            )
        console.print(table)
