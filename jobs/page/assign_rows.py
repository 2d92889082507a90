"""Tables of assignments: leaves with what is for them; what was packed, fetched and computed, by name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from jobs.assign import words as told
from jobs.page import words
from jobs.page.values import filled, mapping, mappings, numbers
from jobs.skills.words import box_of, brief

MOST_ROWS, PRINTED_ROWS = 256, 64
"""So many leaves are in the table; on paper, one of more than so many rows is left out."""
_NAME = 16.0
"""In ems: dimensions are cut to this where they are named many times."""
_EVERYTHING = (-math.inf, math.inf)


@dataclass(frozen=True)
class Precision:
    """How much of what workers download is for them.

    Attributes
    ----------
    by_leaf : list of float or None
        One for each leaf.
    """

    by_leaf: list[float | None]
    mean: float | None
    weighted: bool

    @property
    def known(self) -> list[float]:
        """Those that are known."""
        return [one for one in self.by_leaf if one is not None]


def precision_of(result: dict[str, Any]) -> Precision:
    """Return the precision of each leaf, and that of a worker on average.

    Leaves count as the tree's noisy counts say, where these are above zero anywhere; else all the same.
    """
    leaves = mappings(result.get("leaves"))
    own = numbers(result.get("precision"))
    if len(own) != len(leaves):
        return Precision(own, _mean(own, [1.0] * len(own)), weighted=False)
    counts = [max(0.0, words.finite(leaf.get("count")) or 0.0) for leaf in leaves]
    weighted = _mean(own, counts)
    if weighted is not None:
        return Precision(own, weighted, weighted=True)
    return Precision(own, _mean(own, [1.0] * len(own)), weighted=False)


def _mean(values: Iterable[float | None], weights: Sequence[float]) -> float | None:
    """Return the weighted mean of values that are known; None where nothing weighs anything."""
    known = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    largest = max((weight for _, weight in known), default=0.0)
    if not largest:
        return None
    shares = [weight / largest for _, weight in known]  # sums of huge weights are no numbers
    return sum(value * share for (value, _), share in zip(known, shares, strict=True)) / sum(shares)


def size(value: Any) -> str | None:
    """Return a number of bytes that does not break, and None for what is none."""
    known = words.finite(value)
    return None if known is None else told.size(known).replace(" ", "\N{NO-BREAK SPACE}")


def counted(value: Any) -> str | None:
    """Return a whole number, and None for what is none."""
    return None if words.finite(value) is None else words.count(value)


def view_leaves(result: dict[str, Any], precision: Precision) -> dict[str, Any] | None:
    """Return leaves as rows, those with the most workers first, and how many there are in all."""
    leaves = mappings(result.get("leaves"))
    if not leaves:
        return None
    low, high = filled(numbers(result.get("domain")), 2)
    domain = _EVERYTHING if low is None or high is None else (low, high)
    own = precision.by_leaf if len(precision.by_leaf) == len(leaves) else [None] * len(leaves)
    ranked = sorted(
        zip(leaves, own, strict=True), key=lambda one: -(words.finite(one[0].get("count")) or 0.0)
    )
    rows = [
        {
            "id": leaf.get("id"),
            "box": box_of(_box(leaf), domain, _named),
            "count": words.finite(leaf.get("count")),
            "tasks": words.finite(leaf.get("tasks")),
            "bytes": size(leaf.get("payload_bytes")),
            "in_item": words.finite(leaf.get("in_item")),
            "precision": share,
            "coverage": whole_share(leaf.get("coverage")),
            "needed": words.finite(leaf.get("needed")),
        }
        for leaf, share in ranked[:MOST_ROWS]
    ]
    digits = words.percent_places([max(precision.known, default=0.0)])
    return {"rows": rows, "all": len(leaves), "printed": len(rows) <= PRINTED_ROWS, "digits": digits}


def _named(dimension: str) -> str:
    """Return a dimension's name, cut; isolated where it might turn the text after it around."""
    name = words.fitted(words.label(dimension), _NAME)
    return name if name.isascii() else f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"


def _box(leaf: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Return a leaf's box, without dimensions whose ends are not known."""
    ends = {name: filled(numbers(pair), 2) for name, pair in mapping(leaf.get("box")).items()}
    return {name: (low, high) for name, (low, high) in ends.items() if low is not None and high is not None}


def whole_share(value: Any) -> float | None:
    """Return a share in whole per cent, rounded down: only all is shown as all.

    Examples
    --------
    >>> whole_share(0.9999), whole_share(0.29), whole_share(1.0), whole_share(None)
    (0.99, 0.29, 1.0, None)
    """
    share = words.finite(value)
    if share is None or share >= 1:
        return None if share is None else 1.0
    return min(math.floor(100 * max(share, 0.0) + 1e-9), 99) / 100


def view_packing(result: dict[str, Any], precision: Precision) -> list[tuple[str, str]]:
    """Return how tasks were packed, by name."""
    packing, tasks = mapping(result.get("packing")), mapping(result.get("tasks"))
    number, payload = counted(tasks.get("number")), size(tasks.get("payload_bytes"))
    nowhere = words.finite(tasks.get("nowhere"))
    gets, item = words.finite(result.get("gets")), words.finite(result.get("item_bytes"))
    parts = {
        "Tasks": number and number + (f", with payloads of {payload} in all" if payload else ""),
        "For no leaf": nowhere and f"{words.count(nowhere)}, and in no item",
        "Packed": told.PACKINGS.get(str(packing.get("how")), packing.get("how")),
        "Largest item": _largest(packing),
        "No packing has a smaller one than": _bound(packing),
        "Every item, padded": size(item),
        "A worker’s items together": size(gets * item) if gets and item and gets > 1 else None,
        "Of use to the worker in that": _useful(gets, item, precision),
        "Library": size(result.get("library_bytes")),
    }
    return said(parts)


def _largest(packing: dict[str, Any]) -> str | None:
    """Return how large the largest item is, and how far from the smallest that could be."""
    largest, least = words.finite(packing.get("largest")), words.finite(packing.get("lower_bound"))
    if largest is None or least is None or least <= 0:
        return size(largest)
    if largest <= least:
        return f"{size(largest)}, the smallest possible"
    if (excess := words.finite(1000 * (largest / least - 1))) is None:
        return size(largest)
    more = brief(math.ceil(excess) / 10)  # a bound stays a bound
    return f"{size(largest)}, at most {more}\N{NO-BREAK SPACE}% above the smallest possible"


def _bound(packing: dict[str, Any]) -> str | None:
    least, why = size(packing.get("lower_bound")), told.BOUNDS.get(str(packing.get("bound")))
    return f"{least}: {why}" if least and why else least


def _useful(gets: float | None, item: float | None, precision: Precision) -> str | None:
    """Return the bytes of use in what a worker gets."""
    if gets is None or item is None or not precision.known or precision.mean is None:
        return None
    ends = (min(precision.known), max(precision.known), precision.mean)
    low, high, mean = (size(share * gets * item) for share in ends)
    return low if low == high else f"from {low} to {high}, {mean} on average"


def view_platform(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what the platform did, by name."""
    rate, seconds, received, lost = (
        words.finite(result.get(key))
        for key in ("server_bytes_per_second", "server_seconds", "received", "undecoded")
    )
    retrieval = mapping(result.get("retrieval"))
    answered = (received or 0.0) + (lost or 0.0)
    parts = {
        "Went over, for each query": rate is not None
        and f"{size(rate)} of the library a second, on one core",
        "A get took": seconds is not None
        and answered > 0
        and f"{words.significant(seconds / answered, 2)}\N{NO-BREAK SPACE}s of one core",
        "All gets took": seconds is not None and f"{words.seconds(seconds)} of one core",
        "Computed": "nothing: it sent the same bytes to everybody"
        if retrieval.get("protocol") == "download"
        else None,
        "Gets that were decoded": counted(received),
        "Gets that were not": counted(lost),
        "Decoding fails": failure(retrieval),
    }
    return said(parts)


def failure(retrieval: dict[str, Any]) -> str | None:
    """Return how likely it was that anything is decoded wrongly."""
    known = {
        "protocol": str(retrieval.get("protocol")),
        "failure_log2": words.finite(retrieval.get("failure_log2")),
    }
    return told.failure_of({"retrieval": known})


def said(parts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what is known by name; what is more than a number is a sentence."""
    there = {name: str(value) for name, value in parts.items() if value}
    return [(name, words.sentence(text) if " " in text else text) for name, text in there.items()]
