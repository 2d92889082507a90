"""One rule of a study of decisive margins: a figure by each size, and all numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jobs.page import words
from jobs.page.election_study_figures import Line, draw_margins, reach
from jobs.page.measured import (
    MODELS,
    SIZES,
    Margins,
    Number,
    Point,
    families_of,
    grid_of,
    rule_title,
)
from jobs.page.values import filled, numbers

FAMILIES = {
    "random": "random",
    "two-way": "two-way marginals (E.3)",
    "transfers": "marginals by transfers (F.3)",
    "packing": "packing (3.6)",
}
"""Which elections were held."""


def view_rule(study: Margins, rule: str) -> dict[str, Any]:
    """Return one rule; its figures have one scale of margins."""
    ours = study.of(rule)
    drawn = []
    for size in SIZES:
        along = study.along(ours, size)
        grid = grid_of(along, size)
        lines = [line for look, model in enumerate(study.models) for line in _lines(along, size, model, look)]
        drawn.append((size, grid, [*_rate(along, size), *lines]))
    limits = reach(line for *_, lines in drawn for line in lines)
    panels = [
        {
            "caption": f"By {SIZES[size]}",
            "others": ", ".join(study.held(other) for other in SIZES if other != size),
            "chart": draw_margins(
                f"margins-{rule}-{size}",
                f"{rule_title(rule)}: decisive margin by {SIZES[size]}, measured and proved, by model",
                grid,
                lines,
                limits,
                across=SIZES[size],
                up="margin of victory",
            ),
        }
        for size, grid, lines in drawn
        if len(grid) > 1 and limits is not None
    ]
    return {
        "id": f"rule-{rule}",
        "name": rule_title(rule),
        "panels": panels,
        "rows": [row for one in ours for row in _rows(one)],
        "one_round": "interactive" in study.models and not study.of(rule, "interactive"),
        "arrows": any(words.finite(kind.get("margin")) is None for one in ours for kind in families_of(one)),
    }


def _lines(along: Sequence[Point], size: str, model: str, look: int) -> list[Line]:
    """Return a model's lines: what is proved, then what was measured on top."""
    found = {words.finite(one.get(size)): one for one in along if one.get("model") == model}
    if not found:
        return []
    ours = [found.get(at, {}) for at in grid_of(along, size)]

    def proved(name: str, kind: str) -> Line:
        return Line([words.finite(one.get(name)) for one in ours], look, kind)

    lines = [proved("paper", "paper"), proved("bound", "bound")]
    if model == "central":
        lines.append(proved("lower", "lower"))
    return [*lines, *(_measured(ours, place, look, kind) for place, kind in ((1, "proof"), (0, "measured")))]


def _measured(points: Sequence[Point], place: int, look: int, kind: str) -> Line:
    """Return what was measured on the family in one place."""
    kinds = [(families_of(one)[place : place + 1] or [{}])[0] for one in points]

    def read(name: str) -> list[Number]:
        return [words.finite(one.get(name)) for one in kinds]

    margins = read("margin")
    beyond = [
        top if margin is None else None for margin, top in zip(margins, read("largest_tried"), strict=True)
    ]
    return Line(margins, look, kind, list(zip(read("low"), read("high"), strict=True)), beyond)


def _rate(along: Sequence[Point], size: str) -> list[Line]:
    """Return the rate of every local mechanism."""
    local = [one for one in along if one.get("model") in ("local", "interactive")]
    found = {words.finite(one.get(size)): words.finite(one.get("lower")) for one in local}
    return [Line([found.get(at) for at in grid_of(along, size)], None, "lower")] if found else []


def _rows(point: Point) -> list[dict[str, Any]]:
    """Return a point's numbers, a row for each family."""
    read: Callable[[dict[str, Any], str], Number] = lambda one, name: words.finite(one.get(name))  # noqa: E731
    return [
        {
            "model": MODELS.get(str(point.get("model")), words.label(point.get("model"))),
            "sizes": [read(point, name) for name in SIZES],
            "family": FAMILIES.get(str(one.get("family")), words.label(one.get("family"))),
            "bound": read(point, "bound"),
            "paper": read(point, "paper"),
            "margins": _shares(one),
        }
        | {name: read(one, name) for name in ("margin", "low", "high", "largest_tried")}
        for one in families_of(point)
    ]


def _shares(family: dict[str, Any]) -> list[tuple[Number, Number]]:
    """Return each margin that was tried, with the share of right outcomes."""
    margins, right, tried = (numbers(family.get(name)) for name in ("margins", "right", "tried"))
    size = len(margins)
    return [
        (margin, None if hits is None or not of else hits / of)
        for margin, hits, of in zip(margins, filled(right, size), filled(tried, size), strict=True)
    ]
