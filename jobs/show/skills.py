"""What a terminal shows of a tree of skills: levels, the largest leaves, the guarantee and the budget."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import Any

from rich.table import Table
from rich.text import Text

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
from jobs.skills import words

_MOST_ROWS = 10
"""So many leaves are shown."""
_BOX, _NAME = 40, 24
"""Characters of what a leaf's workers have in common, as many of its cuts as fit; and of a name."""


def show_skills_result(document: dict[str, Any], output: str, stored: bool) -> None:
    """Show a tree's levels and its largest leaves, the guarantee, the budget, and where it is.

    Parameters
    ----------
    document : dict
        Of the result.
    output : str
        Where it was written.
    stored : bool
        Whether it had been there before, so that nothing was asked.
    """
    console, result, privacy = console_of_width(), document["result"], document["privacy"]
    leaves = result["leaves"]
    console.print(_levels(result))
    console.print(_largest(leaves, result["domain"]))
    if len(leaves) > _MOST_ROWS:
        say(console, f"{len(leaves) - _MOST_ROWS:,} more leaves: see report.html")
    if answers := words.answers_of(result["holders"]):
        say(console, answers)
    if bias := words.bias_of(result):
        say(console, bias)
    bound = None if (epsilon := privacy["epsilon_replace"]) is None else f"e^{short(epsilon)}"
    told = [
        "".join(words.guarantee_of(bound, result["delta"], "{:.2g}".format)),
        *(text for _, text in words.conditions_of(result)),
    ]
    say(console, " ".join(told))
    say_spent(console, privacy, "these workers", stored)
    say_files(console, output, "result.json", "leaves.parquet", "report.html")


def _levels(result: dict[str, Any]) -> Table:
    """Return a row for each level, the root's first."""
    headings = ("cut by", "nodes", "epsilon, counts", "medians", "std. error", "consistent")
    table = numbers_table("level", *headings)
    for one in result["budget"]:
        nodes = [node for node in result["nodes"] if node["level"] == one["level"]]
        cut = next((str(node["dimension"]) for node in nodes if node["dimension"] is not None), "")
        errors = (
            _number(_largest_of(node[key] for node in nodes))
            for key in ("standard_error", "consistent_standard_error")
        )
        spent = (_epsilon(one["counts"]), _epsilon(one["median"]))
        table.add_row(str(one["level"]), Text(_cut(cut)), f"{len(nodes):,}", *spent, *errors)
    return table


def _largest(leaves: list[dict[str, Any]], domain: list[float]) -> Table:
    """Return the leaves with the most workers, each with what these have in common."""
    table = numbers_table("leaf", "workers with", "raw", "std. error", "consistent", "std. error", "")
    ranked = sorted(leaves, key=lambda leaf: -(leaf["consistent_count"] or 0.0))[:_MOST_ROWS]
    most = ranked[0]["consistent_count"] if ranked else None
    for column in (table.columns[1], table.columns[-1]):
        column.justify = "left"
    for leaf in ranked:
        box = {_cut(name): (low, high) for name, (low, high) in leaf["box"].items()}
        shown = words.box_of(box, (domain[0], domain[1]))
        if len(shown) > _BOX:
            shown = f"{shown[:_BOX].rpartition(', ')[0] or _cut(shown, _BOX)}, …"
        estimate = leaf["consistent_count"]
        share = 0.4 * estimate / most if estimate and most and most > 0 else None
        numbers = ("count", "standard_error", "consistent_count", "consistent_standard_error")
        table.add_row(str(leaf["id"]), Text(shown), *(_number(leaf[key]) for key in numbers), bar(share))
    return table


def show_skills_plan(planned: dict[str, Any]) -> None:
    """Show a tree's plan: what levels ask, how exact answers are, what is sent, and what it takes."""
    console, predicted = console_of_width(), planned["predicted"]
    headings = ("nodes", "counters", "ciphertexts", "slots × bits", "epsilon, counts", "medians")
    errors = ("count_standard_error", "bin_standard_error", "median_rank_error")
    table = numbers_table("level", *headings, "std. error", "of a bin", "rank error")
    table.columns[3].min_width = len("ciphertexts")
    for one in predicted["levels"]:
        sizes = (f"{one[key]:,}" for key in ("nodes", "counters", "ciphertexts"))
        spent = (_epsilon(one["counts_epsilon"]), _epsilon(one["median_epsilon"]))
        packed = f"{one['slots']:,} × {one['width']}"
        table.add_row(str(one["level"]), *sizes, packed, *spent, *(_number(one[key]) for key in errors))
    console.print(table)
    say(
        console,
        f"A leaf will hold about {_number(predicted['workers_per_leaf'])} workers, its count a standard error"
        f" of {_number(predicted['leaf_standard_error'])}, and of"
        f" {_number(predicted['leaf_consistent_standard_error'])} once counts agree.",
    )
    say(
        console,
        f"Each participant sends {_counted(predicted['ciphertexts_per_participant'], 'ciphertext')},"
        f" {predicted['bytes_per_participant']:,} bytes. That is"
        f" {_counted(predicted['ciphertexts'], 'ciphertext')} in all, {predicted['bytes_up']:,} bytes.",
    )
    times = [
        f"{_number(seconds)} s to {what}"
        for what, seconds in predicted["seconds"].items()
        if seconds is not None
    ]
    if times:
        say(console, f"About {', '.join(times)}, of one core.")
    if predicted.get("where") == "mailbox":
        say(console, "Waiting for the key-holders to open each level comes on top: they answer by a mailbox.")
    say_costs(console, planned | {"stages": _joined(planned["stages"])}, "a worker")


def _joined(stages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return stages in turn, those of as many tasks as one."""
    joined = []
    for tasks, alike in groupby(stages, key=itemgetter("tasks")):
        first, *others = (one["name"] for one in alike)
        joined.append({"name": f"{first} to {others[-1]}, each" if others else first, "tasks": tasks})
    return joined


def _cut(text: str, most: int = _NAME) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _largest_of(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _epsilon(value: Any) -> str:
    """Return a part of epsilon, be it a number or its digits."""
    return "-" if value is None else f"{float(value):.4g}"


def _number(value: float | None) -> str:
    """Return a number with three digits, or all that are before the point."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
