"""What the page of assignments shows, taken from its document: texts, numbers and figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jobs.assign import words as told
from jobs.page import words
from jobs.page.assign_figures import draw_precision
from jobs.page.parts import view_provenance, view_times
from jobs.page.values import mapping, mappings, numbers
from jobs.skills.words import box_of

MOST_ROWS, PRINTED_ROWS = 256, 64
"""So many leaves are in the table; on paper, one of more than so many rows is left out."""
_NAME = 16.0
"""In ems: dimensions are cut to this where they are named many times."""
_KINDS = ("hint_bytes", "upload_bytes", "download_bytes")


def view_assign(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the template of assignments is filled with; figures are drawn on the way."""
    result = mapping(document.get("result"))
    retrieval, leaves = mapping(result.get("retrieval")), mappings(result.get("leaves"))
    precision = [one for one in numbers(result.get("precision")) if one is not None]
    mean = _mean(precision, leaves)
    return {
        "population": mapping(document.get("population")),
        "summary": {
            "workers": words.finite(result.get("workers")),
            "leaves": len(leaves),
            "gets": words.finite(result.get("gets")),
            "down": told.size(result.get("bytes_down")),
            "up": told.size(result.get("bytes_up")),
            "item": told.size(result.get("item_bytes")),
        }
        if result
        else None,
        "protocol": told.PROTOCOLS.get(str(retrieval.get("protocol")), retrieval.get("protocol")),
        "guarantee": told.guarantee_of(result) if retrieval else None,
        "security": retrieval.get("security"),
        "undecoded": told.undecoded_of(result),
        "coverage": told.coverage_of(result),
        "costs": _costs(result),
        "limit": words.finite(retrieval.get("server_seconds")),
        "asked": retrieval.get("asked"),
        "precision": {
            "chart": draw_precision(
                "precision-chart", "precision of each leaf, the highest first", precision, mean
            ),
            "mean": mean,
            "ends": (min(precision), max(precision)),
        }
        if precision
        else None,
        "packing": _packing(result),
        "platform": _platform(result),
        "leaves": _leaves(result, leaves, precision),
        "settings": _settings(result, retrieval),
        "times": view_times(mapping(document.get("seconds"))),
        "provenance": view_provenance(document),
    }


def _mean(precision: Sequence[float], leaves: Sequence[dict[str, Any]]) -> float | None:
    """Return the mean precision of a worker, as the tree counts them; of the leaves alone where it counts nobody."""
    if not precision:
        return None
    counts = [max(0.0, words.finite(leaf.get("count")) or 0.0) for leaf in leaves]
    if len(counts) != len(precision) or not sum(counts):
        counts = [1.0] * len(precision)
    return sum(a * b for a, b in zip(counts, precision, strict=True)) / sum(counts)


def _costs(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what each protocol costs a worker, with the parts of a bar in per cent of the longest."""
    gets = words.finite(result.get("gets")) or 0.0
    rows: list[dict[str, Any]] = []
    for one in mappings(result.get("costs")):
        hint, up, down = (words.finite(one.get(kind)) or 0.0 for kind in _KINDS)
        rows.append(
            {
                "name": told.PROTOCOLS.get(str(one.get("protocol")), one.get("protocol")),
                "parts": (hint, gets * up, gets * down),
                "all": told.size(one.get("bytes_per_worker")),
                "seconds": words.finite(one.get("server_seconds")),
                "chosen": one.get("chosen") is True,
                "affordable": one.get("affordable") is not False,
            }
        )
    longest = max((sum(row["parts"]) for row in rows), default=0.0) or 1.0
    for row in rows:
        ends = [100 * sum(row["parts"][:k]) / longest for k in range(4)]
        row["bars"] = [(round(ends[k], 3), round(ends[k + 1] - ends[k], 3)) for k in range(3)]
        row["sizes"] = [told.size(part) for part in row["parts"]]
    return rows


def _packing(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how tasks were packed, by name."""
    packing, tasks = mapping(result.get("packing")), mapping(result.get("tasks"))
    largest, least = words.finite(packing.get("largest")), words.finite(packing.get("lower_bound"))
    nowhere = words.finite(tasks.get("nowhere"))
    parts = {
        "Tasks": _counted(tasks.get("number")),
        "Their payloads": told.size(tasks["payload_bytes"]) if "payload_bytes" in tasks else None,
        "For no leaf": _counted(nowhere) if nowhere else None,
        "Packed": told.PACKINGS.get(str(packing.get("how")), packing.get("how")),
        "Largest item": largest is not None and told.size(packing.get("largest")),
        "No packing has a smaller one than": least is not None
        and told.size(packing.get("lower_bound"))
        + (f": {told.BOUNDS[packing['bound']]}" if packing.get("bound") in told.BOUNDS else ""),
        "Library": told.size(result["library_bytes"]) if "library_bytes" in result else None,
    }
    return _said(parts)


def _platform(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what the platform did, by name."""
    rate, seconds = (
        words.finite(result.get("server_bytes_per_second")),
        words.finite(result.get("server_seconds")),
    )
    retrieval = mapping(result.get("retrieval"))
    parts = {
        "Went over, for each query and second of a core": told.size(rate) if rate is not None else None,
        "Took in all": f"{words.seconds(seconds)} of one core" if seconds is not None else None,
        "Computed": "nothing: it sent the same bytes to everybody"
        if retrieval.get("protocol") == "download"
        else None,
        "Gets that were decoded": _counted(result.get("received")),
        "Gets that were not": _counted(result.get("undecoded")),
        "Decoding fails": told.failure_of(result),
    }
    return _said(parts)


def _leaves(
    result: dict[str, Any], leaves: Sequence[dict[str, Any]], precision: Sequence[float]
) -> dict[str, Any] | None:
    """Return leaves as rows, those with the most workers first, and how many there are in all."""
    domain = numbers(result.get("domain"))
    if not leaves or len(domain) != 2 or None in domain:
        return None
    whole = (domain[0] or 0.0, domain[1] or 0.0)
    own = precision if len(precision) == len(leaves) else [None] * len(leaves)
    ranked = sorted(
        zip(leaves, own, strict=True), key=lambda one: -(words.finite(one[0].get("count")) or 0.0)
    )
    rows = [
        {
            "id": leaf.get("id"),
            "box": box_of(_box(leaf), whole, lambda name: words.fitted(name, _NAME)),
            "count": words.finite(leaf.get("count")),
            "tasks": words.finite(leaf.get("tasks")),
            "bytes": told.size(leaf.get("payload_bytes")),
            "in_item": words.finite(leaf.get("in_item")),
            "precision": share,
            "coverage": words.finite(leaf.get("coverage")),
            "needed": words.finite(leaf.get("needed")),
        }
        for leaf, share in ranked[:MOST_ROWS]
    ]
    return {"rows": rows, "all": len(leaves), "printed": len(rows) <= PRINTED_ROWS}


def _box(leaf: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Return a leaf's box, without dimensions whose ends are not known."""
    ends = {
        name: [one for one in numbers(pair) if one is not None]
        for name, pair in mapping(leaf.get("box")).items()
    }
    return {name: (pair[0], pair[1]) for name, pair in ends.items() if len(pair) == 2}


def _settings(result: dict[str, Any], retrieval: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how it was fetched, by name."""
    parts = {
        "Protocol": told.PROTOCOLS.get(str(retrieval.get("protocol")), retrieval.get("protocol")),
        "Asked for": retrieval.get("asked"),
        "Layout": retrieval.get("layout"),
        "Gets of every worker": _counted(result.get("gets")),
        "Version of the library": retrieval.get("version"),
        "Tree (SHA-256)": mapping(result.get("tree")).get("sha256"),
    }
    return [(name, str(value)) for name, value in parts.items() if value]


def _counted(value: Any) -> str | None:
    number = words.finite(value)
    return None if number is None else f"{number:,.0f}"


def _said(parts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what is known by name; what is more than a number is a sentence."""
    there = {name: str(value) for name, value in parts.items() if value}
    return [
        (name, words.sentence(text) if ": " in text or "each" in text else text)
        for name, text in there.items()
    ]
