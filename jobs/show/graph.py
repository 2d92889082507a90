"""What a terminal shows of a graph: totals, the nodes with the most, the guarantee and the budget."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from jobs.graph import words
from jobs.show.terminal import (
    bar,
    console_of_width,
    numbers_table,
    say,
    say_costs,
    say_files,
    say_spent,
    short,
)

_MOST_ROWS = 10
_KINDS = ("degrees", "triangles")


def show_graph_result(document: dict[str, Any], output: str, stored: bool) -> None:
    """Show a graph's links and triangles in all, the nodes with the most of them, the guarantee, and where it is.

    Parameters
    ----------
    document : dict
        Of the result.
    output : str
        Where it was written.
    stored : bool
        Whether it had been there before, so that nobody was asked.
    """
    console, result, privacy = console_of_width(), document["result"], document["privacy"]
    console.print(_totals(result))
    if any(kind in result for kind in _KINDS) and result["ids"]:
        console.print(_most(result))
        if len(result["ids"]) > _MOST_ROWS:
            say(console, f"{len(result['ids']) - _MOST_ROWS:,} more nodes: see nodes.parquet")
    if result["graph"]:
        say(console, f"A rebuilt graph of {result['released']['links']:,} links may be analysed at will.")
    bound = None if (epsilon := privacy["epsilon"]) is None else f"e^{short(epsilon)}"
    say(console, "".join(words.guarantee_of(privacy, bound)))
    if privacy["model"] == "local":
        say(console, words.merged())
    say_spent(console, privacy, "each link", stored)
    written = (f"{result['graph']}/",) if result["graph"] else ()
    say_files(console, output, "result.json", "nodes.parquet", "report.html", *written)


def show_graph_study(document: dict[str, Any], output: str) -> None:
    """Show the errors of a study, by statistic, mechanism and epsilon."""
    console, study = console_of_width(), document["result"]["study"]
    for kind in _KINDS:
        points = [one for one in study["points"] if one["statistic"] == kind]
        table = numbers_table(kind, "answers", *(f"ε {short(epsilon)}" for epsilon in study["epsilons"]))
        table.columns[1].justify = "left"
        for mechanism, way in dict.fromkeys((one["mechanism"], one["way"]) for one in points):
            own = {
                one["epsilon"]: one for one in points if (one["mechanism"], one["way"]) == (mechanism, way)
            }
            errors = [_error(own.get(epsilon, own.get(None))) for epsilon in study["epsilons"]]
            table.add_row(
                words.MECHANISMS[mechanism], words.WAYS[way] if mechanism != "zero" else "", *errors
            )
        console.print(table)
    say(
        console,
        "Mean absolute errors over nodes and replications; of Cauchy noise, which has none, medians (m).",
    )
    say_files(console, output, "study.json", "report.html")


def show_graph_plan(planned: dict[str, Any]) -> None:
    """Show a graph's plan: what pairs would report, and how exact the statistics would be."""
    console, predicted = console_of_width(), planned["predicted"]
    if "standard_errors" in predicted:
        table = numbers_table("statistic", "std. error", "mean absolute error")
        for kind, error in predicted["standard_errors"].items():
            table.add_row(kind, _number(error), _number(words.mean_absolute_error(error)))
        console.print(table)
        say(
            console,
            f"{predicted['nodes']:,} nodes, {predicted['pairs']:,} pairs; of triangles, in a graph without links.",
        )
    if "lie" in predicted:
        say(console, f"A report is not the answer {100 * predicted['lie']:.3g} % of the time.")
    say_costs(console, planned, "a link")


def _totals(result: dict[str, Any]) -> Table:
    """Return links and triangles in all."""
    table = numbers_table("in all", "estimate", "std. error")
    for name, one in (
        ("links", result.get("edges")),
        ("triangles", (result.get("triangles") or {}).get("total")),
    ):
        if one is not None:
            table.add_row(name, _number(one["estimates"]), _number(one["standard_errors"]))
    return table


def _most(result: dict[str, Any]) -> Table:
    """Return the nodes with the most links, or triangles."""
    kinds = [kind for kind in _KINDS if kind in result]
    headings = [text for kind in kinds for text in ("links" if kind == "degrees" else kind, "std. error")]
    table = numbers_table("node", *headings, "")
    table.columns[-1].justify = "left"
    values = result[kinds[0]]["estimates"]
    order = sorted(range(len(values)), key=lambda place: -values[place])[:_MOST_ROWS]
    most = values[order[0]]
    for place in order:
        numbers = [
            _number(result[kind][key][place]) for kind in kinds for key in ("estimates", "standard_errors")
        ]
        share = 0.6 * values[place] / most if most > 0 else None
        table.add_row(Text(str(result["ids"][place])[:40]), *numbers, bar(share))
    return table


def _error(one: dict[str, Any] | None) -> str:
    if one is None:
        return "-"
    if one["mean_error"] is None:
        return f"{_number(one['median_error']['value'])} m"
    return _number(one["mean_error"]["value"])


def _number(value: float | None) -> str:
    """Return a number with three digits, or all that are before the point."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
