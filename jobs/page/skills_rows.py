"""Tables of a tree of skills: its levels, its leaves, and where it is cut."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from jobs.page import words
from jobs.page.skills_tree import Node, Tree, known
from jobs.page.values import mappings
from jobs.skills import words as told

MOST_ROWS, PRINTED_ROWS = 256, 64
"""So many leaves, and so many cuts, are in a table; on paper, one of more than so many rows is left out."""
_NAME = 16.0
"""In ems: dimensions are cut to this where they are named many times."""


def view_levels(tree: Tree, result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each level: what it was cut by, its part of epsilon, and how exact its counts are."""
    budget = {words.finite(one.get("level")): one for one in mappings(result.get("budget"))}
    by_level: dict[float | None, list[Node]] = {}
    for one in tree.nodes:
        by_level.setdefault(one.level, []).append(one)
    levels = sorted({level for level in (*budget, *by_level) if level is not None}, reverse=True)
    spent = {
        level: (known(budget.get(level, {}).get("counts")), known(budget.get(level, {}).get("median")))
        for level in levels
    }
    largest = max((sum(filter(None, parts)) for parts in spent.values()), default=0.0) or 1.0
    rows = []
    for level in levels:
        nodes = by_level.get(level, [])
        cut = {one.dimension: None for one in nodes if one.dimension is not None}
        shares = [round(100 * max(part or 0.0, 0.0) / largest, 2) for part in spent[level]]
        rows.append(
            {
                "level": level,
                "cut": words.fitted(next(iter(cut), ""), _NAME),
                "nodes": len(nodes),
                "counts": spent[level][0],
                "median": spent[level][1],
                "shares": shares,
                "error": root_mean_square(one.error for one in nodes),
                "estimate_error": root_mean_square(one.estimate_error for one in nodes),
            }
        )
    return rows


def root_mean_square(values: Iterable[float | None]) -> float | None:
    """Return the root of the mean square of the numbers that are known."""
    squares = [value * value for value in values if value is not None]
    return math.sqrt(sum(squares) / len(squares)) if squares else None


def view_nodes(tree: Tree, nodes: Sequence[Node], by_size: bool = True) -> dict[str, Any]:
    """Return nodes as rows, the largest or the uppermost first, and how many there are in all."""
    key = (lambda one: -(one.best or 0.0)) if by_size else (lambda one: (one.id is None, one.id))
    chosen = sorted(nodes, key=key)[:MOST_ROWS]
    total = float(tree.counts.sum())

    def named(name: str) -> str:
        return words.fitted(name, _NAME)

    rows = [
        {
            "id": one.id,
            "level": one.level,
            "box": told.box_of(dict(zip(tree.dimensions, one.box, strict=True)), tree.domain, named),
            "cut": None
            if one.dimension is None
            else f"{named(one.dimension)} < {words.short(one.split and float(f'{one.split:.5g}'))}",
            "count": one.count,
            "error": one.error,
            "estimate": one.estimate,
            "estimate_error": one.estimate_error,
            "share": one.best / total if one.best is not None and total > 0 else None,
        }
        for one in chosen
    ]
    digits = words.places((row["estimate_error"] for row in rows), most=1) if rows else 0
    return {"rows": rows, "all": len(nodes), "digits": min(digits, 1), "printed": len(rows) <= PRINTED_ROWS}
