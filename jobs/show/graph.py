"""What a terminal shows of a graph: totals, the nodes with the most, the guarantee and the budget."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from jobs.graph import accuracy, words
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
_WITH_BARS = 80
"""Narrower terminals have no room for bars."""
_OF_NAMES, _OF_A_NUMBER = 30, 9
"""Characters that a table of errors has at least for names, and takes for a number."""
_LEAST_WRITTEN_OUT, _MOST_WRITTEN_OUT = 1e-9, 1e9
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
        console.print(_most(result, with_bars=console.width >= _WITH_BARS))
        if len(result["ids"]) > _MOST_ROWS:
            say(console, f"{len(result['ids']) - _MOST_ROWS:,} more nodes: see nodes.parquet")
    if result["graph"]:
        links = result["released"]["links"]
        say(console, f"A rebuilt graph of {links:,} link{'s' * (links != 1)} may be analysed at will.")
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
        for epsilons in _portions(study["epsilons"], console.width):
            console.print(_errors(kind, points, epsilons))
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
        lie, nodes, pairs = predicted.get("lie"), predicted["nodes"], predicted["pairs"]
        for kind, error in predicted["standard_errors"].items():
            reports = None if lie is None else pairs if kind == "edges" else max(0, nodes - 1)
            off, at_most = accuracy.mean_absolute_error(kind, error, reports, lie)
            table.add_row(kind, _number(error), "≤ " * at_most + _number(off))
        console.print(table)
        least = lie is not None and "triangles" in predicted["standard_errors"]
        remark = (
            "; errors of triangles are those of a graph without links, the least there are" if least else ""
        )
        say(console, f"{nodes:,} nodes, {pairs:,} pairs{remark}.")
    if "lie" in predicted:
        say(console, f"A report is not the answer {100 * predicted['lie']:.3g} % of the time.")
    say_costs(console, planned, "a link", "nodes")


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


def _most(result: dict[str, Any], with_bars: bool) -> Table:
    """Return the nodes with the most links, or triangles."""
    kinds = [kind for kind in _KINDS if kind in result]
    headings = [text for kind in kinds for text in ("links" if kind == "degrees" else kind, "std. error")]
    table = _unbroken(numbers_table("node", *headings, *([""] if with_bars else [])))
    if with_bars:
        table.columns[-1].justify = "left"
    values = result[kinds[0]]["estimates"]
    order = sorted(range(len(values)), key=lambda place: -values[place])[:_MOST_ROWS]
    most = values[order[0]]
    for place in order:
        numbers = [
            _number(result[kind][key][place]) for kind in kinds for key in ("estimates", "standard_errors")
        ]
        share = 0.6 * values[place] / most if most > 0 else None
        table.add_row(Text(str(result["ids"][place])[:40]), *numbers, *([bar(share)] if with_bars else []))
    return table


def _portions(epsilons: list[float], width: int) -> list[list[float]]:
    """Return a grid of epsilons in as many parts, of nearly one length, as tables of them fit into lines.

    Examples
    --------
    >>> _portions([1, 2, 3, 4, 5], 60), _portions([1, 2, 3, 4, 5], 110)
    ([[1, 2, 3], [4, 5]], [[1, 2, 3, 4, 5]])
    """
    parts = -(-len(epsilons) // max(1, (width - _OF_NAMES) // _OF_A_NUMBER))
    long = -(-len(epsilons) // max(1, parts))
    return [epsilons[first : first + long] for first in range(0, len(epsilons), long)]


def _errors(kind: str, points: list[dict[str, Any]], epsilons: list[float]) -> Table:
    """Return a statistic's errors, a line for each mechanism and how its answer is made."""
    table = _unbroken(numbers_table(kind, *(f"ε {short(epsilon)}" for epsilon in epsilons)))
    for mechanism, way in dict.fromkeys((one["mechanism"], one["way"]) for one in points):
        own = {one["epsilon"]: one for one in points if (one["mechanism"], one["way"]) == (mechanism, way)}
        errors = [_error(own.get(epsilon, own.get(None))) for epsilon in epsilons]
        made = "" if way == "output" else f", {words.WAYS[way]}"
        table.add_row(words.MECHANISMS[mechanism] + made, *errors)
    return table


def _unbroken(table: Table) -> Table:
    """Return a table whose numbers are never cut: in a narrow one names are broken."""
    for column in table.columns[1:]:
        column.no_wrap = True
    table.columns[0].overflow = "fold"
    return table


def _error(one: dict[str, Any] | None) -> str:
    if one is None:
        return "-"
    if one["mean_error"] is None:
        return f"{_number(one['median_error']['value'])} m"
    return _number(one["mean_error"]["value"])


def _number(value: float | None) -> str:
    """Return a number with three digits, or all that are before the point, if there is room for them."""
    if value is None:
        return "-"
    if abs(value) < _LEAST_WRITTEN_OUT:
        return "0"
    return f"{value:,.0f}" if 100 <= abs(value) < _MOST_WRITTEN_OUT else f"{value:.3g}"
