"""What a terminal shows of a study of decisive margins."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from jobs.election.words import rule_of
from jobs.show.terminal import console_of_width, numbers_table, short


def show_election_study(document: dict[str, Any], output: str) -> None:
    """Show the measured margins at the base with how they grow, how often the own winner was named, and the checks."""
    console, study = console_of_width(), document["result"]["study"]
    base, growth = study["base"], {(one["rule"], one["model"]): one for one in study["growth"]}
    table = numbers_table(
        "decisive margin", "model", "measured", "95 % interval", "proved", "paper’s", "grows with n"
    )
    for one in study["points"]:
        if all(one[size] == value for size, value in base.items()):
            slope = growth[one["rule"], one["model"]]["ballots"]["measured"]
            exponent = "-" if slope is None else f"n^{slope:.2f}"
            first = one["families"][0]
            measured, ends = _margin(first["margin"]), f"{_margin(first['low'])} to {_margin(first['high'])}"
            bounds = (_margin(one["bound"]), _margin(one["paper"]))
            table.add_row(Text(rule_of(one)), one["model"], measured, ends, *bounds, exponent)
    console.print(table)
    at = f"{base['ballots']:,} ballots, {base['candidates']} candidates, epsilon {short(base['epsilon'])}"
    console.print(f"At {at}; {study['replications']:,} replications of each margin.", markup=False)
    own = study["own"]
    right = ", ".join(
        f"{one['model']} at epsilon {short(one['epsilon'])} {one['share']:.0%}" for one in own["points"]
    )
    margin = f"by a margin of {own['margin']:,}"
    console.print(
        f"The population’s own outcome ({rule_of(own)}, {margin}) was named: {right}.", markup=False
    )
    held = sum(one["holds"] for one in study["claims"])
    console.print(
        f"{held} of {len(study['claims'])} statements on the lower bounds’ profiles hold.", markup=False
    )
    for name in ("study.json", "report.html"):
        console.print(f"{output}/{name}", markup=False, soft_wrap=True)


def _margin(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"
