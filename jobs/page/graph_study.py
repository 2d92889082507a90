"""What the page of a study of a graph shows: errors of degrees and triangles against epsilon, by mechanism."""

from __future__ import annotations

from typing import Any

from jobs.graph import words as told
from jobs.page import figures, words
from jobs.page.parts import view_provenance, view_times
from jobs.page.skills_study_figures import Series, draw_errors, heights, kinds_legend, reach
from jobs.page.skills_tree import known
from jobs.page.values import filled, mapping, mappings, numbers, sequence

_ZERO = "zero"
_STATISTICS = {"degrees": "Links of each node", "triangles": "Triangles at each node"}


def view_graph_study(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the template is filled with; figures are drawn on the way."""
    study = mapping(mapping(document.get("result")).get("study"))
    mechanisms = [
        one
        for one in sequence(study.get("mechanisms"))
        if isinstance(one, str) and one in told.MECHANISMS and one != _ZERO
    ]
    points = mappings(study.get("points"))
    return {
        "population": mapping(document.get("population")),
        "study": {
            key: words.finite(study.get(key))
            for key in ("nodes", "links", "triangles", "replications", "seed")
        },
        "sensitivity": _sensitivity(study),
        "legend": figures.legend([told.MECHANISMS.get(one, one) for one in mechanisms]),
        "kinds": kinds_legend(
            ["unbiased estimates, and what is put out", "counted in a rebuilt graph"], lines=False
        ),
        "statistics": [one for kind in _STATISTICS if (one := _statistic(kind, points, mechanisms))],
        "times": view_times(mapping(document.get("seconds"))),
        "provenance": view_provenance(document),
    }


def _statistic(kind: str, points: list[dict[str, Any]], mechanisms: list[str]) -> dict[str, Any] | None:
    """Return the figures of a statistic's mean and median errors, and its numbers."""
    own = [one for one in points if one.get("statistic") == kind]
    zero = next((one for one in own if one.get("mechanism") == _ZERO), {})
    charts = []
    for key, name in (("mean_error", "mean absolute error"), ("median_error", "median absolute error")):
        series = [
            one
            for look, mechanism in enumerate(mechanisms)
            for way in ("unbiased", "output", "rebuilt")
            if (one := _series(own, mechanism, way, key, look))
        ]
        limits = reach([*list(heights(series)), _value(zero.get(key))])
        if not series or limits is None:
            continue
        grid = sorted({place for one in series for place in one.places})
        level = _value(zero.get(key))
        if level is not None and len(grid) > 1:
            series.append(
                Series(grid, len(mechanisms), [None] * len(grid), law=[level] * len(grid), is_open=True)
            )
        title = f"{name} of {kind} by epsilon"
        chart = draw_errors(
            f"{kind}-{key.partition('_')[0]}", title, series, limits, across="ε", up=name, grid=grid
        )
        charts.append({"name": name, "chart": chart})
    if not charts:
        return None
    return {
        "kind": kind,
        "name": _STATISTICS[kind],
        "charts": charts,
        "zero": {key: _value(zero.get(key)) for key in ("mean_error", "median_error")},
        "rows": [_row(one) for one in own if one.get("mechanism") != _ZERO],
    }


def _series(points: list[dict[str, Any]], mechanism: str, way: str, key: str, look: int) -> Series | None:
    """Return the errors of a mechanism's answers by epsilon."""
    own = [
        (epsilon, one)
        for one in points
        if one.get("mechanism") == mechanism
        and one.get("way") == way
        and (epsilon := words.finite(one.get("epsilon"))) is not None
        and epsilon > 0
        and _value(one.get(key)) is not None
    ]
    if not own:
        return None
    return Series(
        [epsilon for epsilon, _ in own],
        look,
        [_value(one.get(key)) for _, one in own],
        [_ends(one.get(key)) for _, one in own],
        is_open=way == "rebuilt",
    )


def _value(measured: Any) -> float | None:
    return known(mapping(measured).get("value"))


def _ends(measured: Any) -> tuple[float | None, float | None]:
    low, high = filled(numbers(mapping(measured).get("interval")), 2)
    return low, high


def _row(one: dict[str, Any]) -> dict[str, Any]:
    """Return a point as a row of the table."""
    return {
        "mechanism": told.MECHANISMS.get(str(one.get("mechanism")), "–"),
        "way": told.WAYS.get(str(one.get("way")), "–"),
        "epsilon": words.finite(one.get("epsilon")),
        "mean": _value(one.get("mean_error")),
        "ends": _ends(one.get("mean_error")),
        "median": _value(one.get("median_error")),
        "predicted": words.finite(one.get("predicted")),
    }


def _sensitivity(study: dict[str, Any]) -> dict[str, Any] | None:
    """Return by how much a link can change the triangles of all nodes together."""
    given = mapping(study.get("sensitivity"))
    local, worst = words.finite(given.get("local")), words.finite(given.get("global"))
    smooth = [
        (words.finite(one.get("epsilon")), words.finite(one.get("value")))
        for one in mappings(given.get("smooth"))
    ]
    return None if local is None or worst is None else {"local": local, "global": worst, "smooth": smooth}
