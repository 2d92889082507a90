"""Medians of a study of a tree's error: how far splits are from half of their nodes' workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup

from jobs.page import words
from jobs.page.figures import legend
from jobs.page.sheet import SERIES
from jobs.page.skills_errors import MECHANISMS, Errors, Point, Rank, by_size, ranks_of
from jobs.page.skills_study_figures import (
    Reference,
    Series,
    draw_errors,
    heights,
    kinds_legend,
    reach,
    shown,
)

_ERROR = "rank error of medians"
_FEWEST = 10
"""A median of fewer workers is off by whole workers: it says nothing of noise."""


def view_medians(errors: Errors, references: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return rank errors of medians: at the base by the size of nodes, and of all points over one number."""
    series = []
    for look, mechanism in enumerate(errors.noisy):
        ranks = [one for point in errors.of(mechanism) for one in ranks_of(point)]
        usable = [one for one in ranks if one["workers"] >= _FEWEST and (one["epsilon"] or 0) > 0]
        if usable:
            series.append(_rank_series(usable, look, lambda rank: float(rank["workers"] * rank["epsilon"])))
    crosses = [
        Reference(place, error, error)
        for one in references
        if (place := words.finite(one.get("workers_epsilon"))) is not None
        and (error := words.finite(one.get("rank_error"))) is not None
        and place > 0 < error
    ]
    limits = reach(heights(series, crosses)) if series else None
    title = "Rank errors of medians at the base, by the workers of a node"
    return {
        "base": draw_ranks("ranks", title, [errors.at_base(one) for one in errors.mechanisms]),
        "references": bool(crosses),
        "product": None
        if limits is None
        else draw_errors(
            "rank-product",
            "Rank errors of all medians over the workers of a node times the epsilon of its histogram",
            series,
            limits,
            across="workers of a node × ε of its histogram",
            up=_ERROR,
            references=crosses,
        ),
    }


def view_bins(errors: Errors) -> dict[str, Any] | None:
    """Return rank errors by the bins of histograms, beside those that bins leave without noise."""
    mechanism = errors.noisy[0] if errors.noisy else "exact"
    along = errors.along(mechanism, "bins")[:SERIES]
    exact = {by_size("bins")(one): one for one in errors.along("exact", "bins")}
    beside = [exact.get(by_size("bins")(one), {}) for one in along] if mechanism != "exact" else []
    title = "Rank errors of medians by the workers of a node, for each number of bins"
    chart = draw_ranks("bins", title, along, beside) if len(along) > 1 else None
    if chart is None:
        return None
    names = [MECHANISMS[mechanism], *([MECHANISMS["exact"]] if any(beside) else [])]
    return {
        "legend": legend([f"{shown(words.finite(one.get('bins')))} bins" for one in along]),
        "kinds": kinds_legend(names, lines=False),
        "chart": chart,
    }


def draw_ranks(name: str, title: str, points: Sequence[Point], beside: Sequence[Point] = ()) -> Markup | None:
    """Draw rank errors over the workers of nodes: full marks for points, open ones for those beside them."""
    series = [
        _rank_series(ranks, look, lambda rank: float(rank["workers"]), is_open)
        for is_open, all_of_them in ((False, points), (True, beside))
        for look, point in enumerate(all_of_them)
        if (ranks := ranks_of(point))
    ]
    limits = reach(heights(series))
    if limits is None:
        return None
    grid = sorted({_rounded(place) for one in series for place in one.places})
    return draw_errors(
        name, title, series, limits, across="workers of a node, on average", up=_ERROR, grid=grid
    )


def _rounded(workers: float) -> float:
    """Return the workers of a node as an axis says them."""
    return float(f"{workers:.3g}") if workers < 100 else float(round(workers))


def _rank_series(
    ranks: Sequence[Rank], look: int, across: Callable[[Rank], float], is_open: bool = False
) -> Series:
    ordered = sorted(ranks, key=across)
    errors, intervals = [one["error"] for one in ordered], [one["interval"] for one in ordered]
    return Series([across(one) for one in ordered], look, errors, intervals, is_open=is_open)
