"""What the page of assignments shows, taken from its document: texts, numbers and figures."""

from __future__ import annotations

from typing import Any

from jobs.assign import words as told
from jobs.page import words
from jobs.page.assign_figures import CostBar, decades, draw_costs, draw_precision
from jobs.page.assign_rows import (
    counted,
    precision_of,
    said,
    size,
    view_leaves,
    view_packing,
    view_platform,
    whole_share,
)
from jobs.page.parts import view_provenance, view_times
from jobs.page.values import mapping, mappings
from jobs.skills.words import SAFE_BITS

_KINDS = ("upload_bytes", "download_bytes")


def view_assign(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the template of assignments is filled with; figures are drawn on the way."""
    result = mapping(document.get("result"))
    retrieval, precision = mapping(result.get("retrieval")), precision_of(result)
    return {
        "population": mapping(document.get("population")),
        "summary": _summary(result) if result else None,
        "alerts": _alerts(result),
        "protocol": _protocol(retrieval),
        "downloaded": retrieval.get("protocol") == "download",
        "guarantee": told.guarantee_of({"retrieval": retrieval}) if retrieval.get("protocol") else None,
        "short_key": _short_key(document),
        "security": retrieval.get("security"),
        "embedded": document.get("roles") == "embedded",
        "costs": _costs(result),
        "choice": _choice(result),
        "precision": {
            "chart": draw_precision(
                "precision-chart",
                "precision of each leaf, the highest first",
                precision.known,
                precision.mean,
            )
            if max(precision.known) > 0
            else None,
            "mean": precision.mean,
            "weighted": precision.weighted,
            "ends": (min(precision.known), max(precision.known)),
        }
        if precision.known
        else None,
        "packing": view_packing(result, precision),
        "platform": view_platform(result),
        "leaves": view_leaves(result, precision),
        "settings": _settings(result, retrieval),
        "times": view_times(mapping(document.get("seconds"))),
        "provenance": view_provenance(document),
    }


def _summary(result: dict[str, Any]) -> dict[str, Any]:
    """Return who fetched what, and how much of it."""
    hint, gets = words.finite(result.get("hint_bytes")), words.finite(result.get("gets"))
    return {
        "workers": words.finite(result.get("workers")),
        "leaves": len(mappings(result.get("leaves"))),
        "gets": gets,
        "up": size(result.get("bytes_up")),
        "down": size(result.get("bytes_down")),
        "hint": size(hint) if hint else None,
        "item": size(result.get("item_bytes")),
        "empty": mapping(result.get("tasks")).get("payload_bytes") == 0,
    }


def _protocol(one: dict[str, Any]) -> str | None:
    """Return a protocol in words; the document's own where there are none."""
    name = one.get("protocol")
    return None if name is None else told.PROTOCOLS.get(str(name), str(name))


def _alerts(result: dict[str, Any]) -> list[str]:
    """Return what has to be known first: gets that failed, and tasks that workers did not see."""
    lost = words.finite(result.get("undecoded"))
    leaves = [
        {"coverage": whole_share(leaf.get("coverage")), "needed": None if needed is None else int(needed)}
        for leaf in mappings(result.get("leaves"))
        for needed in [words.finite(leaf.get("needed"))]
    ]
    alerts = (
        told.undecoded_of({"undecoded": int(lost)}) if lost else None,
        told.coverage_of({"leaves": leaves}),
    )
    return [text for text in alerts if text]


def _short_key(document: dict[str, Any]) -> str | None:
    """Return the bits of keys that are for trials alone; None where there are none such."""
    bits = words.finite(mapping(mapping(document.get("spec")).get("retrieval")).get("bits"))
    taken = mapping(mapping(document.get("result")).get("retrieval")).get("protocol")
    return words.count(bits) if taken == "paillier" and bits is not None and bits < SAFE_BITS else None


def _costs(result: dict[str, Any]) -> dict[str, Any] | None:
    """Return what each protocol costs a worker and the platform: a figure, and the rows of a table."""
    gets = words.finite(result.get("gets")) or 0.0
    rows: list[dict[str, Any]] = []
    bars = []
    for one in mappings(result.get("costs")):
        up, down = (max(0.0, words.finite(one.get(kind)) or 0.0) for kind in _KINDS)
        parts = (max(0.0, words.finite(one.get("hint_bytes")) or 0.0), gets * up, gets * down)
        name, taken = _protocol(one) or words.ABSENT, one.get("chosen") is True
        whole = size(one.get("bytes_per_worker")) or words.ABSENT
        seconds = words.finite(one.get("server_seconds"))
        rows.append(
            {
                "name": name,
                "sizes": [size(part) or words.ABSENT for part in parts],
                "all": whole,
                "seconds": seconds,
                "chosen": taken,
                "affordable": one.get("affordable") is not False,
            }
        )
        note = whole if seconds is None else f"{whole}; {words.significant(seconds, 2)} s a get"
        bars.append(CostBar(f"{name}, taken" if taken else name, note, parts, taken))
    if not rows:
        return None
    chart = None
    if all(words.finite(sum(bar.parts)) is not None for bar in bars) and any(sum(bar.parts) for bar in bars):
        written = [told.size(10**decade) for decade in range(decades(bars)[1] + 1)]
        chart = draw_costs("costs-chart", "what each protocol costs a worker, in bytes", bars, written)
    return {"rows": rows, "chart": chart}


def _choice(result: dict[str, Any]) -> str | None:
    """Return why the protocol that was taken was taken."""
    retrieval, costs = mapping(result.get("retrieval")), mappings(result.get("costs"))
    asked, limit = retrieval.get("asked"), words.finite(retrieval.get("server_seconds"))
    if asked == "auto":
        most = "" if limit is None else f" no more than {words.short(limit)} s of one core a get"
        most = most or " little enough"
        return f"Taken is the one with the fewest bytes of those that cost the platform{most}."
    sizes = [
        (bytes_, one) for one in costs if (bytes_ := words.finite(one.get("bytes_per_worker"))) is not None
    ]
    if asked is None or not sizes:
        return None
    least = min(sizes, key=lambda one: one[0])[1]
    fewer = "" if least.get("chosen") is True else f"; with {_protocol(least)} there would be fewer bytes"
    return f"The spec asks for the one that was taken{fewer}."


def _settings(result: dict[str, Any], retrieval: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how it was fetched, by name."""
    tree = mapping(result.get("tree"))
    epsilon = words.finite(tree.get("epsilon"))
    asked = retrieval.get("asked")
    parts = {
        "Protocol": _protocol(retrieval),
        "Asked for": "the one with the fewest bytes that can be afforded" if asked == "auto" else asked,
        "Layout": retrieval.get("layout"),
        "Gets of every worker": counted(result.get("gets")),
        "Epsilon of the tree": epsilon is not None and f"{words.bound(epsilon)}, charged when it was grown",
    }
    digests = {"Version of the library": retrieval.get("version"), "Tree (SHA-256)": tree.get("sha256")}
    return [*said(parts), *((name, str(value)) for name, value in digests.items() if value)]
