"""What the page of a graph shows, taken from its document: texts, numbers and figures."""

from __future__ import annotations

from typing import Any

from jobs.graph import words as told
from jobs.page import words
from jobs.page.graph_figures import draw_histogram, draw_ranked
from jobs.page.parts import view_bound, view_budget, view_provenance, view_times
from jobs.page.skills_tree import known
from jobs.page.values import filled, mapping, numbers, sequence

MOST_ROWS = 100
_KINDS = {"degrees": ("links", "degree"), "triangles": ("triangles", "triangles")}


def view_graph(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the template of a graph is filled with; figures are drawn on the way."""
    result, privacy = mapping(document.get("result")), mapping(document.get("privacy"))
    bound = view_bound(privacy.get("epsilon"))
    return {
        "population": mapping(document.get("population")),
        "nodes": words.finite(result.get("nodes")),
        "edges": _estimate(mapping(result.get("edges"))),
        "total": _estimate(mapping(mapping(result.get("triangles")).get("total"))),
        "guarantee": told.guarantee_of(privacy, None if bound is None else bound) if privacy else None,
        "merged": told.merged() if privacy.get("model") == "local" else None,
        "budget": view_budget(privacy),
        "sequences": [one for kind in _KINDS if (one := _sequence(kind, result))],
        "rows": _rows(result),
        "all": len(sequence(result.get("ids"))),
        "released": _released(result),
        "settings": _settings(document, result),
        "times": view_times(mapping(document.get("seconds"))),
        "provenance": view_provenance(document),
    }


def _estimate(given: dict[str, Any]) -> dict[str, Any] | None:
    """Return an estimate with its standard error."""
    value, error = words.finite(given.get("estimates")), words.finite(given.get("standard_errors"))
    return (
        None
        if value is None
        else {"value": value, "error": error, "digits": min(1, words.places([error], most=1))}
    )


def _sequence(kind: str, result: dict[str, Any]) -> dict[str, Any] | None:
    """Return a sequence's figures, and how far off its numbers are expected to be."""
    given = mapping(result.get(kind))
    both = zip(sequence(given.get("estimates")), sequence(given.get("standard_errors")), strict=False)
    told_of = [
        (value, error)
        for one in both
        if (value := known(one[0])) is not None and (error := known(one[1])) is not None
    ]
    if not told_of:
        return None
    values, errors = [value for value, _ in told_of], [error for _, error in told_of]
    what = _KINDS[kind][0]
    off = [told.mean_absolute_error(error) for error in errors]
    return {
        "kind": kind,
        "what": what,
        "ranked": draw_ranked(f"ranked-{kind}", f"{what} of each node, the most first", values, errors, what),
        "histogram": draw_histogram(f"histogram-{kind}", f"nodes by {what}", values, what),
        "mean_error": sum(one for one in off if one is not None) / len(off),
        "below": sum(value < 0 for value in values),
        "mean": sum(values) / len(values),
    }


def _rows(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes with the most links, or triangles."""
    ids = sequence(result.get("ids"))
    columns = {
        kind: [
            filled(numbers(mapping(result.get(kind)).get(key)), len(ids))
            for key in ("estimates", "standard_errors")
        ]
        for kind in _KINDS
        if kind in result
    }
    if not columns:
        return []
    first = next(iter(columns.values()))[0]
    order = sorted(
        range(len(ids)), key=lambda place: -(first[place] if first[place] is not None else float("-inf"))
    )
    return [
        {"id": words.label(ids[place])}
        | {kind: (values[place], errors[place]) for kind, (values, errors) in columns.items()}
        for place in order[:MOST_ROWS]
    ]


def _released(result: dict[str, Any]) -> dict[str, Any] | None:
    """Return what was released, and where it is."""
    released = mapping(result.get("released"))
    if result.get("graph") is None or not released:
        return None
    return {"where": result["graph"]} | {
        key: words.finite(released.get(key)) for key in ("links", "reported")
    }


def _settings(document: dict[str, Any], result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how it was asked, by name."""
    lie = words.finite(result.get("lie"))
    mechanism = result.get("mechanism")
    parts = {
        "Mechanism": told.MECHANISMS.get(str(mechanism), mechanism),
        "A report is not the answer": None
        if lie is None
        else f"{words.significant(100 * lie, 3)} % of the time",
        "Pairs of nodes": None if (pairs := words.finite(result.get("pairs"))) is None else f"{pairs:,.0f}",
        "Links of a node with itself": result.get("self_loops"),
    }
    return [(name, str(value)) for name, value in parts.items() if value]
