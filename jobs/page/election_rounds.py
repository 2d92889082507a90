"""What the page of an election shows of its rounds: scores, transfers and duels, each with its figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jobs.page.election_figures import (
    Dot,
    draw_duels,
    draw_scores,
    draw_transfers,
    scale_of,
    signed_levels,
)
from jobs.page.election_scores import Round, Score

_MOST_PANELS, _MOST_COLUMNS, _MOST_BARS = 6, 6, 10
"""Of more rounds the first and the last are drawn, their table is folded away, and the last ones flow."""
_STANDING = 9
"""So many rows of a tall figure stand beside one short one."""
_MOST_IN_TABLE, _MOST_IN_FIGURE = 10, 60
"""Duels of more candidates are shades of a figure, and of more yet only told by the worst ones."""
_MOST_PRINTED, _MOST_ROWS = 100, 2000
"""A longer table is not put on paper, and one longer yet is left to result.json."""


def view_rounds(rounds: Sequence[Round], outcome: str | None, ballots: float | None) -> dict[str, Any]:
    """Return a card for each round, or one for all where candidates go out one by one."""
    if len(rounds) > 1 and all(one.question == "first choices" for one in rounds):
        return {"transfers": _view_transfers(rounds, outcome, ballots), "cards": []}
    cards = []
    for k, one in enumerate(rounds):
        then = rounds[k + 1].active if k + 1 < len(rounds) else None
        view = _view_all_duels if one.is_of_all_pairs else _view_scores
        cards.append(view(one, outcome, then, ballots) | {"alone": len(rounds) == 1})
    return {"transfers": None, "cards": cards}


def _shared(ballots: float | None, question: str) -> tuple[float, str]:
    """Return what scores are multiplied by on an axis, and the unit there: shares of ballots, or points of each."""
    if not ballots:
        return 1.0, ""
    return (1.0 / ballots, "") if question == "points" else (100.0 / ballots, "%")


def _dot(one: Score, scale: float, look: str, label: str | None = None) -> Dot:
    estimate, low, high = (None if x is None else scale * x for x in (one.value, *one.interval))
    return Dot(one.label if label is None else label, estimate, (low, high), look)


def _by_value(scores: Sequence[Score]) -> list[Score]:
    return sorted(scores, key=lambda one: (one.value is None, -(one.value or 0.0)))


def _row(one: Score, ballots: float | None, look: str, number: int | None = None) -> dict[str, Any]:
    share = one.value / ballots if one.value is not None and ballots else None
    return {
        "names": one.names,
        "value": one.value,
        "error": one.error,
        "interval": one.interval,
        "share": share,
        "look": look,
        "number": number,
    }


def _view_scores(
    one: Round, outcome: str | None, then: list[str] | None, ballots: float | None
) -> dict[str, Any]:
    """Return a round's scores from the highest down; of a duel, whoever is ahead is named first."""
    scale, unit = _shared(ballots, one.question)
    scores = [
        each.turned() if len(each.names) == 2 and (each.value or 0.0) < 0 else each for each in one.scores
    ]
    ahead = [each.names[0] for each in scores] if one.question == "duels" else one.active
    on = [outcome] if then is None else [name for name in ahead if name in then]
    looks = [(each, "on" if each.names[0] in on else "rest") for each in _by_value(scores)]
    dots = [_dot(each, scale, look) for each, look in looks]
    return {
        **_head(one),
        "kind": "scores",
        "chart": draw_scores(
            f"round-{one.number}",
            f"Round {one.number}, {one.question}: estimates with intervals",
            dots,
            scale_of(dots),
            unit,
        )
        if any(dot.estimate is not None for dot in dots)
        else None,
        "rows": [_row(each, ballots, look) for each, look in looks],
        "goes_on": [] if then is None else on,
        "looks": len({look for _, look in looks}),
        "below": one.question == "first choices" and any((each.value or 0.0) < 0 for each in one.scores),
    }


def _head(one: Round) -> dict[str, Any]:
    return {
        "number": one.number,
        "question": one.question,
        "asked": one.asked,
        "tied": one.tied,
        "order_decides": one.order_decides,
        "digits": one.digits,
        "size": len(one.scores),
        "printed": len(one.scores) <= _MOST_PRINTED,
    }


def _view_all_duels(
    one: Round, outcome: str | None, then: list[str] | None, ballots: float | None
) -> dict[str, Any]:
    """Return all duels: a table of margins or its figure, and the worst duel of each candidate."""
    margins = {each.names: each for score in one.scores for each in (score, score.turned())}
    ranked = sorted(
        one.active,
        key=lambda name: -sum((each.value or 0.0) > 0 for each in margins.values() if each.names[0] == name),
    )
    ranked.sort(key=lambda name: name != outcome)
    table = [[margins.get((name, other)) for other in ranked] for name in ranked]
    values = [[None if cell is None else cell.value for cell in row] for row in table]
    worst = [
        min(row, key=lambda cell: cell.value or 0.0)
        for cells in table
        if (row := [cell for cell in cells if cell is not None and cell.value is not None])
    ]
    worst.sort(key=lambda cell: -(cell.value or 0.0))
    scale, unit = _shared(ballots, one.question)
    dots = [_dot(cell, scale, "on" if cell.names[0] == outcome else "rest", cell.names[0]) for cell in worst]
    is_small, size = len(ranked) <= _MOST_IN_TABLE, len(one.scores)
    title = "Margins of all duels: each row’s candidate over each column’s"
    ahead = [each.turned() if (each.value or 0.0) < 0 else each for each in one.scores]
    return {
        **_head(one),
        "kind": "duels",
        "table": [
            (name, list(zip(row, levels, strict=True)))
            for name, row, levels in zip(ranked, table, signed_levels(values), strict=True)
        ]
        if is_small
        else None,
        "names": ranked,
        "chart": None
        if is_small or len(ranked) > _MOST_IN_FIGURE
        else draw_duels(f"duels-{one.number}", title, ranked, values),
        "worst": draw_scores(
            f"worst-{one.number}",
            "The worst duel of each candidate, with intervals",
            dots,
            scale_of(dots),
            unit,
        )
        if dots
        else None,
        "worst_rows": [_row(cell, ballots, dot.look) for cell, dot in zip(worst, dots, strict=True)],
        "rows": [_row(each, ballots, "rest") for each in _by_value(ahead)] if size <= _MOST_ROWS else [],
    }


def _view_transfers(rounds: Sequence[Round], outcome: str | None, ballots: float | None) -> dict[str, Any]:
    """Return how candidates went out one by one: votes as they flow, a count sheet, and every round's scores."""
    lasted = {name: k for k, one in enumerate(rounds) for name in one.active}
    order = sorted(lasted, key=lambda name: (name != outcome, -lasted[name]))
    found = [{one.names[0]: one for one in each.scores} for each in rounds]
    gone = [_gone(rounds, k, outcome) for k in range(len(rounds))]
    scale, unit = _shared(ballots, "first choices")
    chosen = [k for k in range(len(rounds)) if k == 0 or k > len(rounds) - _MOST_PANELS]
    dots = {
        k: [
            _dot(found[k][name], scale, "out" if name == gone[k] else "on")
            for name in order
            if name in found[k]
        ]
        for k in chosen
    }
    ends = scale_of([dot for ours in dots.values() for dot in ours])
    known = [one for each in rounds for one in each.scores]
    rows = [
        _row(one, ballots, "out" if one.names[0] == gone[k] else "on", each.number)
        for k, each in enumerate(rounds)
        for one in _by_value(each.scores)
    ]
    return {
        "chart": _flow(rounds[-_MOST_BARS:], order, outcome),
        "from": max(len(rounds) - _MOST_BARS, 0) + 1,
        "sheet": [
            (
                name,
                [(ours.get(name), name == out) for ours, out in zip(found, gone, strict=True)],
            )
            for name in order
        ]
        if len(rounds) <= _MOST_COLUMNS
        else None,
        "numbers": [one.number for one in rounds],
        "panels": [
            {
                "number": rounds[k].number,
                "out": gone[k],
                "span": min(max(round(len(dots[k]) / _STANDING), 1), 3),
                "chart": draw_scores(
                    f"round-{rounds[k].number}",
                    f"Round {rounds[k].number}, first choices: estimates with intervals",
                    dots[k],
                    ends,
                    unit,
                ),
            }
            for k in chosen
            if any(dot.estimate is not None for dot in dots[k])
        ],
        "rows": rows if len(rows) <= _MOST_ROWS else [],
        "size": len(rows),
        "printed": len(rows) <= _MOST_PRINTED,
        "digits": max(one.digits for one in rounds),
        "tied": [(one.number, one.tied) for one in rounds if one.tied],
        "below": any((one.value or 0.0) < 0 for one in known),
        "left_out": len(rounds) - len(chosen),
    }


def _gone(rounds: Sequence[Round], k: int, outcome: str | None) -> str | None:
    """Return who is out after a round, also where it does not say so itself."""
    stays = rounds[k + 1].active if k + 1 < len(rounds) else [outcome]
    if rounds[k].eliminated is not None or outcome is None:
        return rounds[k].eliminated
    return next((name for name in rounds[k].active if name not in stays), None)


def _flow(rounds: Sequence[Round], order: list[str], outcome: str | None) -> Any:
    there = [name for name in order if name in rounds[0].active]
    columns = []
    for one in rounds:
        values = {each.names[0]: each.value or 0.0 for each in one.scores}
        columns.append([values.get(name) for name in there])
    if len(rounds) < 2 or not any(value for column in columns for value in column):
        return None
    heads = [f"{one.number}" for one in rounds]
    title = "How the estimated votes move from round to round"
    return draw_transfers("transfers", title, there, heads, columns)
