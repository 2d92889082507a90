"""What a terminal shows of a study of a tree's error, and of its plan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobs.show.terminal import console_of_width, numbers_table, say, say_costs, say_files, short

_SIZES = ("workers", "depth", "bins", "epsilon")


def show_skills_study(document: dict[str, Any], output: str) -> None:
    """Show leaf errors beside what their noise's law gives, the rank errors of medians, and where all is.

    Trees without noise are left to the page: their leaves have no errors.

    Parameters
    ----------
    document : dict
        Of the result.
    output : str
        Where it was written.
    """
    console, study = console_of_width(), document["result"]["study"]
    own = study["own"]
    headings = ("raw leaves", "by law", "consistent", "medians, root", "deepest")
    for title, points in (("uniform", study["points"]), ("own", own["points"])):
        table = numbers_table(title, *_SIZES, *headings)
        for one in points:
            if one["mechanism"] != "exact":
                table.add_row(one["mechanism"], *_sizes(one), *_leaves(one), *_medians(one["medians"]))
        console.print(table)
    say(
        console,
        "Leaf errors are what leaves' counts are off by, all together, as a share of workers; rank errors how"
        f" far from half of its workers a node is split. Means of {study['replications']:,} trees; epsilon is"
        " for one worker more or less.",
    )
    say_files(console, output, "study.json", "report.html")


def _sizes(one: dict[str, Any]) -> Iterable[str]:
    return (f"{one['workers']:,}", str(one["depth"]), str(one["bins"]), short(float(one["epsilon"])))


def _leaves(one: dict[str, Any]) -> Iterable[str]:
    values = (one["raw"]["mean"], one["predicted"]["raw"], one["consistent"]["mean"])
    return map(_number, values)


def _medians(medians: list[dict[str, Any]]) -> tuple[str, str]:
    known = [one["rank_error"]["mean"] for one in medians if one["rank_error"]["mean"] is not None]
    return (_number(known[0]), _number(known[-1])) if known else ("-", "-")


def show_skills_study_plan(planned: dict[str, Any]) -> None:
    """Show a study's plan: the leaf errors that are to be expected, and what is done for it."""
    console = console_of_width()
    table = numbers_table("leaf errors by law", *_SIZES, "raw", "consistent")
    for one in planned["predicted"]["leaf_errors"]:
        table.add_row(one["mechanism"], *_sizes(one), _number(one["raw"]), _number(one["consistent"]))
    console.print(table)
    say_costs(console, planned, "a worker")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
