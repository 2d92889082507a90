"""What a terminal shows of an election: the outcome, how decisive it was, the scores, and what was spent."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from jobs.election import words
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

_MOST_ROWS = 12
"""Longer tables show the first rows, and say how many more there are."""
_SCORES = {"duels": "margin", "points": "points"}


def show_election_result(document: dict[str, Any], output: str, stored: bool) -> None:
    """Show an election: in the central model the outcome and the decisive margin alone.

    Parameters
    ----------
    document : dict
        Of the result.
    output : str
        Where it was written.
    stored : bool
        Whether it had been there before, so that nothing was drawn.
    """
    console, result, privacy = console_of_width(), document["result"], document["privacy"]
    epsilon, central = short(privacy["epsilon"]), result["model"] == "central"
    say(console, "".join(words.outcome_of(result, epsilon)))
    say(console, f"{words.margin_of(result)} {words.verdict_of(result)}".strip())
    rounds = [] if central else result["rounds"]
    if len(rounds) > 1 and all(one["question"] == "first choices" for one in rounds):
        console.print(_eliminations(rounds))
    else:
        for number, one in enumerate(rounds, 1):
            console.print(_scores(one, number, len(rounds), result["ballots"]))
    for place, one in enumerate(rounds):
        if one["tied"]:
            decided = ": the tie order decided" if words.order_decides(result, place) else " in a duel"
            say(console, f"In round {place + 1} {', '.join(map(str, one['tied']))} were level{decided}.")
    if levels := words.levels_of(result):
        say(console, levels)
    bound = None if privacy["epsilon"] is None else f"e^{epsilon}"
    say(console, f"{''.join(words.guarantee_of(privacy, bound))} {words.trust_of(result['model'])}")
    say_spent(console, privacy, "these voters", stored)
    say_files(console, output, "result.json", "report.html")


def _scores(one: dict[str, Any], number: int, rounds: int, ballots: int) -> Table:
    """Return a round's scores from the highest down; of a duel, whoever is ahead is named first."""
    question = one["question"]
    of = one["pairs"] if question == "duels" else [[name] for name in one["active"]]
    rows = []
    for names, score, error, ends in zip(
        of, one["scores"], one["standard_errors"], one["intervals"], strict=True
    ):
        behind = question == "duels" and (score or 0.0) < 0
        low, high = [-end for end in reversed(ends)] if behind and None not in ends else ends
        named = " over ".join(map(str, reversed(names) if behind else names))
        rows.append((-score if behind else score, named, error, (low, high)))
    rows.sort(key=lambda row: (row[0] is None, -(row[0] or 0.0)))
    head = question if rounds == 1 else f"round {number}: {question}"
    table = numbers_table(head, _SCORES.get(question, "ballots"), "std. error", "95 % interval", "")
    for score, named, error, (low, high) in rows[:_MOST_ROWS]:
        ends = "" if low is None or high is None else f"{_score(low)} to {_score(high)}"
        share = score / ballots if ballots and score and question != "points" else None
        table.add_row(Text(named), _score(score), _score(error), ends, bar(share))
    _add_more(table, len(rows) - _MOST_ROWS)
    return table


def _eliminations(rounds: list[dict[str, Any]]) -> Table:
    """Return a row for each round: who was ahead, and who went out."""
    table = numbers_table("round", "most first choices", "ballots", "out", "ballots", "std. error")
    for number, one in list(enumerate(rounds, 1))[-_MOST_ROWS:]:
        scores = dict(zip(one["active"], one["scores"], strict=True))
        errors = dict(zip(one["active"], one["standard_errors"], strict=True))
        most, gone = max(scores, key=lambda name: scores[name] or 0.0), one["eliminated"]
        cells = (_score(scores[most]), Text(str(gone)), _score(scores[gone]), _score(errors[gone]))
        table.add_row(str(number), Text(str(most)), *cells)
    _add_more(table, len(rounds) - _MOST_ROWS, "earlier rounds")
    return table


def _add_more(table: Table, left: int, what: str = "more") -> None:
    if left > 0:
        table.add_row(Text(f"{left} {what}: see report.html", style="dim"))


def _score(value: float | None) -> str:
    if value is None:
        return "not estimated"
    return f"{value:,.1f}" if abs(value) < 100 else f"{value:,.0f}"


def show_election_plan(planned: dict[str, Any]) -> None:
    """Show an election's plan: what each round asks of how many, and how decisive a race must be."""
    console, predicted = console_of_width(), planned["predicted"]
    if predicted["rounds"]:
        table = numbers_table(
            "round", "question", "entries", "voters", "std. error", "of a gap", "randomizer"
        )
        for number, one in enumerate(predicted["rounds"], 1):
            errors = (_score(one["standard_error"]), _score(one["standard_error_of_a_gap"]))
            sizes = (f"{one['of']:,}", f"{one['voters']:,}")
            table.add_row(str(number), one["question"], *sizes, *errors, one["randomizer"])
        console.print(table)
    decisive = predicted["decisive_margin"]
    say(console, words.need_of(decisive, planned["rows"]))
    if decisive.get("paper") is not None:
        say(console, f"By the paper’s own bound that would be {words.bound(decisive['paper'])}.")
    say_costs(console, planned, "a voter")
