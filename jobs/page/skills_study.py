"""What the page of a study of a tree's error shows: leaves and medians, measured and expected."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from jobs.page import figures, words
from jobs.page.parts import view_provenance, view_times
from jobs.page.sheet import SERIES
from jobs.page.skills_errors import (
    MECHANISMS,
    SIZES,
    Errors,
    Point,
    by_size,
    ends_of,
    law_of,
    product_of,
    ranks_of,
    value_of,
)
from jobs.page.skills_study_figures import (
    Reference,
    Series,
    draw_errors,
    heights,
    kinds_legend,
    reach,
    shown,
)
from jobs.page.skills_study_medians import draw_ranks, view_bins, view_medians
from jobs.page.values import filled, mapping, mappings, numbers, sequence
from jobs.skills.words import ALLOCATIONS
from jobs.spec import middle

_LEAVES = "leaf error, share of workers"


def view_skills_study(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the template is filled with; figures are drawn on the way."""
    study = mapping(mapping(document.get("result")).get("study"))
    errors, own = Errors(study), Errors(mapping(study.get("own")))
    references = mapping(study.get("references"))
    known = {name: [MECHANISMS[one] for one in getattr(errors, name)] for name in ("mechanisms", "noisy")}
    return {
        "population": mapping(document.get("population")),
        "replications": study.get("replications"),
        "base": errors.base,
        "legend": figures.legend(known["noisy"]),
        "all_legend": figures.legend(known["mechanisms"]),
        "kinds": kinds_legend(
            ["raw counts", "consistent counts", "reference values, simulated independently"]
        ),
        "findings": _findings(errors),
        "panels": _panels(errors),
        "product": _product(errors, mappings(references.get("leaves"))),
        "medians": view_medians(errors, mappings(references.get("medians"))),
        "bins": view_bins(errors),
        "beside": [_row(one) for one in errors.points if mapping(one.get("reference"))],
        "groups": _groups(errors),
        "own": _own(own, mapping(study.get("own"))),
        "asked": _asked(study, errors, known["mechanisms"]),
        "times": view_times(mapping(document.get("seconds"))),
        "provenance": view_provenance(document),
    }


def _findings(errors: Errors) -> dict[str, Any]:
    """Return what came out: the errors at the base, and how many agree with the noise's law."""
    base = []
    for mechanism in errors.noisy:
        point = errors.at_base(mechanism)
        raw, better = value_of(point, "raw"), value_of(point, "consistent")
        if raw is not None and better is not None:
            base.append({"name": MECHANISMS[mechanism], "raw": raw, "consistent": better})
    compared = [
        (ends, law)
        for mechanism in errors.noisy
        for point in errors.of(mechanism)
        for kind in ("raw", "consistent")
        if None not in (ends := ends_of(point.get(kind))) and (law := law_of(point, kind)) is not None
    ]
    deepest = [(MECHANISMS[one], ranks_of(errors.at_base(one))[-1:]) for one in errors.mechanisms]
    return {
        "base": base,
        "compared": len(compared),
        "within": sum((low or 0.0) <= law <= (high or 0.0) for (low, high), law in compared),
        "medians": [(name, last["workers"], last["error"]) for name, found in deepest for last in found],
    }


def _leaf_series(points: Sequence[Point], look: int, across: Callable[[Point], float]) -> list[Series]:
    """Return raw and consistent leaf errors with their laws."""
    return [
        Series(
            [across(one) for one in points],
            look,
            [value_of(one, kind) for one in points],
            [ends_of(one.get(kind)) for one in points],
            [law_of(one, kind) for one in points],
            is_open=kind == "consistent",
        )
        for kind in ("raw", "consistent")
        if points
    ]


def _panels(errors: Errors) -> list[dict[str, Any]]:
    """Return a figure of leaf errors by each size that is varied; all have one scale of errors."""
    drawn = []
    for size in SIZES:
        across = by_size(size)
        along = {mechanism: errors.along(mechanism, size) for mechanism in errors.noisy}
        grid = sorted({across(one) for points in along.values() for one in points})
        series = [one for k, points in enumerate(along.values()) for one in _leaf_series(points, k, across)]
        if len(grid) > 1:
            drawn.append((size, grid, series))
    limits = reach(value for *_, series in drawn for value in heights(series))
    return [
        {
            "size": SIZES[size],
            "others": ", ".join(_held(errors, other) for other in SIZES if other != size),
            "chart": draw_errors(
                f"leaves-{size}",
                f"Leaf errors by {SIZES[size]}",
                series,
                limits,
                across=SIZES[size],
                up=_LEAVES,
                grid=grid,
            ),
        }
        for size, grid, series in drawn
        if limits is not None
    ]


def _held(errors: Errors, size: str) -> str:
    value = shown(errors.base[size])
    return (
        f"ε {value}"
        if size == "epsilon"
        else f"depth {value}"
        if size == "depth"
        else f"{value} {SIZES[size]}"
    )


def _product(errors: Errors, references: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return leaf errors over workers times epsilon, by depth: one number tells what a tree needs."""
    mechanism = errors.noisy[0] if errors.noisy else ""
    points = [
        one
        for one in errors.of(mechanism)
        if words.finite(one.get("bins")) == errors.base["bins"] and product_of(one) > 0
    ]
    depths = sorted({depth for one in points if (depth := words.finite(one.get("depth"))) is not None})[
        :SERIES
    ]
    series = [
        one
        for look, depth in enumerate(depths)
        for one in _leaf_series(
            sorted((p for p in points if p.get("depth") == depth), key=product_of), look, product_of
        )
    ]
    crosses = [
        Reference(place, low, high)
        for one in references
        if words.finite(one.get("depth")) in depths
        and (place := words.finite(one.get("workers_epsilon"))) is not None
        for low, high in [filled(numbers(one.get("raw")), 2)]
        if place > 0 and low is not None and high is not None and 0 < low <= high
    ]
    limits = reach(heights(series, crosses))
    if limits is None:
        return None
    return {
        "name": MECHANISMS[mechanism],
        "legend": figures.legend([f"depth {shown(depth)}" for depth in depths]),
        "references": bool(crosses),
        "chart": draw_errors(
            "product",
            "Leaf errors over workers times epsilon, by depth",
            series,
            limits,
            across="workers × ε",
            up=_LEAVES,
            references=crosses,
        ),
    }


def _groups(errors: Errors) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return all points as rows of numbers, those of a mechanism together."""
    return [(MECHANISMS[one], [_row(point) for point in errors.of(one)]) for one in errors.mechanisms]


def _row(point: Point) -> dict[str, Any]:
    """Return a point as a row of numbers."""
    given = mapping(point.get("reference"))
    ranks = [one["error"] for one in ranks_of(point)]
    return {
        "sizes": [shown(words.finite(point.get(name))) for name in ("workers", "depth", "bins", "epsilon")],
        "leaves": [
            {
                "mean": value_of(point, kind),
                "error": words.finite(mapping(point.get(kind)).get("standard_error")),
                "law": law_of(point, kind),
                "reference": filled(numbers(given.get(kind)), 2),
            }
            for kind in ("raw", "consistent")
        ],
        "ranks": (ranks[0], ranks[-1]) if ranks else (None, None),
    }


def _own(errors: Errors, own: dict[str, Any]) -> dict[str, Any] | None:
    """Return the population's own trees: leaf errors by epsilon, and rank errors at the middle one."""
    if not errors.points:
        return None
    across = by_size("epsilon")
    along = {one: sorted((p for p in errors.of(one) if across(p) > 0), key=across) for one in errors.noisy}
    grid = sorted({across(one) for points in along.values() for one in points})
    series = [one for k, points in enumerate(along.values()) for one in _leaf_series(points, k, across)]
    limits = reach(heights(series))
    shared = middle(tuple(sorted({across(one) for one in errors.points})))
    ranked = [next((p for p in errors.of(one) if across(p) == shared), {}) for one in errors.mechanisms]
    return {
        **{name: words.finite(own.get(name)) for name in ("workers", "depth", "bins", "min_count")},
        "legend": figures.legend([MECHANISMS[one] for one in errors.mechanisms]),
        "leaves": None
        if limits is None
        else draw_errors(
            "own-leaves",
            "The population’s own trees: leaf errors by epsilon",
            series,
            limits,
            across="ε",
            up=_LEAVES,
            grid=grid,
        ),
        "epsilon": shown(shared),
        "medians": draw_ranks(
            "own-ranks", "The population’s own trees: rank errors of medians by the workers of a node", ranked
        ),
        "groups": _groups(errors),
    }


def _asked(study: dict[str, Any], errors: Errors, mechanisms: list[str]) -> list[tuple[str, str]]:
    """Return what was done, by name."""
    grids = {
        name: sorted({value for one in errors.points if (value := words.finite(one.get(size))) is not None})
        for name, size in (
            ("Epsilons", "epsilon"),
            ("Workers", "workers"),
            ("Depths", "depth"),
            ("Bins", "bins"),
        )
    }
    share, beta = study.get("counts_share"), words.finite(study.get("beta"))
    dimensions = sequence(study.get("dimensions"))
    parts = {
        "Noise": ", ".join(mechanisms),
        **{name: ", ".join(map(shown, grid)) for name, grid in grids.items()},
        "Dimensions": f"{len(dimensions):,}, cut in turn" if dimensions else "",
        "Part of ε for counts": "" if share is None else str(share),
        "Counts’ ε by level": ALLOCATIONS.get(str(study.get("allocation")), ""),
        "Noise of all shares": ""
        if beta is None or not math.isfinite(beta)
        else f"{beta:.4g} times the variance that is due",
        "Replications of each tree": words.count(study.get("replications")),
        "Seed of populations and noise (public)": "" if study.get("seed") is None else str(study.get("seed")),
    }
    return [(name, text) for name, text in parts.items() if text]
