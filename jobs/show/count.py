"""What a terminal shows of an exact count and its margin."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from jobs.election.words import rule_of
from jobs.show.terminal import console_of_width, numbers_table

_MOST_LISTED = 3
"""So many duels are listed; of more, a table of all against all is shown."""
_MOST_ACROSS = 12
"""A table has so many columns of candidates or rounds."""


def show_count(document: dict[str, Any]) -> None:
    """Show the outcome, how many ballots decide it, and every round."""
    console = console_of_width()
    for sentence in _sentences(document):
        console.print(sentence, markup=False)
    first_choices = [one for one in document["rounds"] if one["question"] == "first choices"]
    if first_choices:
        console.print(_first_choices(document["candidates"], first_choices))
    for one in document["rounds"]:
        if one["question"] == "duels":
            listed = len(one["pairs"]) <= _MOST_LISTED
            console.print(_listed_duels(one) if listed else _all_duels(document["candidates"], one))
        elif one["question"] == "points":
            console.print(_points(one))
    for number, one in enumerate(document["rounds"], 1):
        if one["tied"]:
            names = ", ".join(map(str, one["tied"]))
            console.print(f"Round {number}: {names} tied, and the tie order decided.", markup=False)


def _sentences(document: dict[str, Any]) -> list[str]:
    """Return the outcome and the margin in words."""
    outcome, margin = document["outcome"], document["margin"]
    ballots = f"{document['ballots']:,} ballots" + (
        f", {document['blank']:,} blank" if document["blank"] else ""
    )
    who = "Nobody wins" if outcome is None else f"{outcome} wins"
    changed = (
        "No ballots could change that."
        if not margin
        else f"That changes if {margin:,} ballot{'s are' if margin > 1 else ' is'} replaced by others, and with no fewer."
    )
    return [f"{who} by {rule_of(document)}, of {ballots}.", changed]


def _first_choices(candidates: list[Any], rounds: list[dict[str, Any]]) -> Table:
    """Return first choices by candidate and round; of many rounds the first and the last ones."""
    numbered = list(enumerate(rounds, 1))
    if len(numbered) > _MOST_ACROSS:
        numbered = numbered[:1] + numbered[1 - _MOST_ACROSS :]
    table = numbers_table("first choices, by round", *(str(number) for number, _ in numbered))
    scores = [dict(zip(one["active"], one["scores"], strict=True)) for _, one in numbered]
    for name in candidates:
        table.add_row(Text(str(name)), *(f"{own[name]:,}" if name in own else "" for own in scores))
    table.add_row(Text("for nobody", style="dim"), *(f"{one['exhausted']:,}" for _, one in numbered))
    return table


def _listed_duels(one: dict[str, Any]) -> Table:
    table = numbers_table("duel", "for the first", "for the second", "margin")
    for (name, other), votes, margin in zip(one["pairs"], one["votes"], one["scores"], strict=True):
        table.add_row(Text(f"{name} and {other}"), *(f"{vote:,}" for vote in votes), f"{margin:+,}")
    return table


def _all_duels(candidates: list[Any], one: dict[str, Any]) -> Table:
    """Return each candidate's margin over each other; of many candidates, how their duels end."""
    margins: dict[Any, dict[Any, int]] = {name: {} for name in candidates}
    for (name, other), margin in zip(one["pairs"], one["scores"], strict=True):
        margins[name][other], margins[other][name] = margin, -margin
    if len(candidates) > _MOST_ACROSS:
        table = numbers_table("duels", "won", "tied", "lost", "worst margin")
        for name, own in margins.items():
            signs = [(margin > 0) - (margin < 0) for margin in own.values()]
            ends = (str(signs.count(sign)) for sign in (1, 0, -1))
            table.add_row(Text(str(name)), *ends, f"{min(own.values()):+,}")
        return table
    table = numbers_table("margin over", *(str(number) for number in range(1, len(candidates) + 1)))
    for number, (name, own) in enumerate(margins.items(), 1):
        row = (f"{own[other]:+,}" if other in own else "" for other in candidates)
        table.add_row(Text(f"{number} {name}"), *row)
    return table


def _points(one: dict[str, Any]) -> Table:
    table = numbers_table("points", "sum")
    for name, points in zip(one["active"], one["scores"], strict=True):
        table.add_row(Text(str(name)), f"{points:,}")
    return table
