"""What the page of a graph shows, taken from its document: texts, numbers and figures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jobs.graph import accuracy
from jobs.graph import words as told
from jobs.page import words
from jobs.page.graph_figures import MOST_STEPS, bins_of, draw_histogram, draw_ranked
from jobs.page.parts import view_bound, view_budget, view_provenance, view_times
from jobs.page.skills_tree import known
from jobs.page.values import filled, mapping, numbers, sequence

MOST_ROWS = 100
MOST_OPEN = 40
"""A table of more rows is closed at first."""
KINDS = {"degrees": "links", "triangles": "triangles"}
_LEAST_SPREAD = 10
"""The spread of fewer nodes tells nothing."""


def view_graph(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the template of a graph is filled with; figures are drawn on the way."""
    result, privacy = mapping(document.get("result")), mapping(document.get("privacy"))
    edges, total = _estimate(result.get("edges")), _estimate(mapping(result.get("triangles")).get("total"))
    return {
        "population": mapping(document.get("population")),
        "nodes": words.finite(result.get("nodes")),
        "about": words.listed(_about(edges, total)),
        "totals": [(name, one) for name, one in (("Links", edges), ("Triangles", total)) if one],
        "guarantee": told.guarantee_of(privacy, view_bound(privacy.get("epsilon"))) if privacy else None,
        "merged": told.merged() if privacy.get("model") == "local" else None,
        "budget": view_budget(privacy),
        "sequences": [one for kind in KINDS if (one := _sequence(kind, result, privacy))],
        "table": _table(result),
        "released": _released(result),
        "settings": _settings(result),
        "times": view_times(mapping(document.get("seconds"))),
        "provenance": view_provenance(document),
    }


def _estimate(given: Any) -> dict[str, Any] | None:
    """Return an estimate with its standard error, and how many decimals each deserves: a trusted holder's are whole."""
    value, error = (words.finite(mapping(given).get(key)) for key in ("estimates", "standard_errors"))
    if value is None:
        return None
    digits = words.places([error], most=2) if error else 0
    return {
        "value": value,
        "digits": 0 if value.is_integer() else digits,
        "error": error,
        "error_digits": digits,
    }


def _about(edges: dict[str, Any] | None, total: dict[str, Any] | None) -> list[str]:
    """Return what there is in all, in words; what noise makes less than nothing is left to its card."""
    both = (("link", edges), ("triangle", total))
    told_of = [(words.count(one["value"]), what) for what, one in both if one and one["value"] >= 0.5]
    return [f"{number} {what}{'s' * (number != '1')}" for number, what in told_of]


def _sequence(kind: str, result: dict[str, Any], privacy: dict[str, Any]) -> dict[str, Any] | None:
    """Return a sequence's figures, and how far off its numbers are expected to be."""
    given, what = mapping(result.get(kind)), KINDS[kind]
    columns = (sequence(given.get(key)) for key in ("estimates", "standard_errors"))
    both = [(known(value), known(error)) for value, error in zip(*columns, strict=False)]
    told_of = [(value, error) for value, error in both if value is not None and error is not None]
    if not told_of:
        return None
    values, errors = np.array(told_of).T
    nodes, lie = words.finite(result.get("nodes")), words.finite(result.get("lie"))
    reports = None if privacy.get("model") == "central" else round(max(nodes or len(values), 1.0)) - 1
    off = [accuracy.mean_absolute_error(kind, error, reports, lie) for error in errors.tolist()]
    noise = math.sqrt(float(np.mean(errors**2)))
    bins = bins_of(values.tolist(), _step(kind, result))
    return {
        "kind": kind,
        "what": what,
        "ranked": draw_ranked(
            f"ranked-{kind}",
            f"estimated {what} of each node, the greatest first, in a band of a standard error either way",
            values.tolist(),
            errors.tolist(),
            what,
        ),
        "histogram": draw_histogram(
            f"histogram-{kind}",
            f"how many nodes have how many {what}, as they are estimated",
            bins,
            noise,
            what,
        ),
        "bins": list(zip(bins[1], bins[1][1:], bins[0], strict=False)),
        "digits": words.places([bins[1][1] - bins[1][0]], most=2),
        "together": len(values) > MOST_STEPS,
        "mean_error": float(np.mean([error for error, _ in off])),
        "at_most": off[0][1],
        "below": int((values < 0).sum()),
        "mean": float(values.mean()),
        "spread": _spread(values, noise),
    }


def _step(kind: str, result: dict[str, Any]) -> float | None:
    """Return the distance of neighbouring numbers that can be estimated; None where they lie anywhere."""
    lie = words.finite(result.get("lie")) or 0.0  # a trusted holder's noise is whole
    if kind == "triangles":
        return 1.0 if lie == 0 else None
    return 1 / (1 - 2 * lie) if 0 <= lie < 0.5 else None


def _spread(values: Any, noise: float) -> dict[str, Any] | None:
    """Return how widely estimates are spread, as a standard deviation, how much of it is noise, and what is left."""
    if len(values) < _LEAST_SPREAD:
        return None
    whole = float(np.var(values, ddof=1))
    return {"whole": math.sqrt(whole), "noise": noise, "truth": math.sqrt(max(whole - noise**2, 0.0))}


def _table(result: dict[str, Any]) -> dict[str, Any] | None:
    """Return the nodes with the most links, or triangles, as a table."""
    ids = sequence(result.get("ids"))
    columns = {
        what: [
            filled(numbers(mapping(result.get(kind)).get(key)), len(ids))
            for key in ("estimates", "standard_errors")
        ]
        for kind, what in KINDS.items()
        if kind in result
    }
    if not columns or not ids:
        return None
    first, (values, _) = next(iter(columns.items()))
    order = sorted(range(len(ids)), key=lambda place: (values[place] is None, -(values[place] or 0.0)))
    shown = order[:MOST_ROWS]
    return {
        "most": first,
        "all": len(ids),
        "is_open": len(shown) <= MOST_OPEN,
        "columns": [
            (what, words.places([errors[place] for place in shown], most=2))
            for what, (_, errors) in columns.items()
        ],
        "rows": [
            (words.label(ids[place]), [(own[place], errors[place]) for own, errors in columns.values()])
            for place in shown
        ],
    }


def _released(result: dict[str, Any]) -> dict[str, Any] | None:
    """Return what was released, where it is, and how many of its links are to be expected to be true."""
    released = mapping(result.get("released"))
    links, kept = (words.finite(released.get(key)) for key in ("links", "reported"))
    if not isinstance(result.get("graph"), str) or links is None:
        return None
    pairs, lie = words.finite(result.get("pairs")), words.finite(result.get("lie"))
    parts = None if kept is None or pairs is None or lie is None else (links, kept, pairs, lie)
    return {
        "where": result["graph"],
        "links": links,
        "reported": kept,
        "cut": released.get("cut") is True,
        "true": None if parts is None else accuracy.true_links(*parts),
    }


def _settings(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how it was asked, by name."""
    lie, pairs = words.finite(result.get("lie")), words.finite(result.get("pairs"))
    mechanism, loops = result.get("mechanism"), result.get("self_loops")
    parts = {
        "Mechanism": told.MECHANISMS.get(str(mechanism), mechanism),
        "Reports": None
        if not isinstance(result.get("reports"), str)
        else words.sentence(result["reports"], capital=False),
        "A report is not the answer": None
        if lie is None
        else f"{words.significant(100 * lie, 3)} % of the time",
        "Pairs of nodes": None if pairs is None else words.count(pairs),
        "Links of a node with itself": {"refuse": "refused", "drop": "left out"}.get(str(loops)),
    }
    return [(name, str(value)) for name, value in parts.items() if value]
