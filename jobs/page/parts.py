"""What all pages show: the bound of the guarantee, the budget, times, and where a document comes from."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from jobs.page import words
from jobs.page.values import mapping

_WORDLESS = 1e6
"""From this epsilon on, what e to it is says nothing to anybody."""


def view_bound(value: Any) -> Markup | None:
    """Return how often e to an epsilon is, as markup; None where that is infinite, or no epsilon."""
    epsilon = words.finite(value)
    if epsilon is None or epsilon < 0:
        return None
    about = f" ≈ {words.times(epsilon)}" if epsilon < _WORDLESS else ""
    return Markup("e<sup>{}</sup>{}").format(words.bound(epsilon), about)


def view_budget(privacy: dict[str, Any]) -> dict[str, Any] | None:
    """Return the budget as parts of the limit, in per cent: spent before, by this job, and left."""
    before, after, limit = (
        words.finite(privacy.get(key)) for key in ("spent_before", "spent_after", "limit")
    )
    if after is None:
        return None
    before = 0.0 if before is None else before
    budget: dict[str, Any] = {
        "before": before,
        "after": after,
        "own": max(after - before, 0.0),
        "limit": limit,
    }
    if limit is not None and limit > 0:
        shares = (min(100 * before / limit, 100.0), min(100 * after / limit, 100.0))
        budget |= {"left": max(limit - after, 0.0), "shares": [round(share, 3) for share in shares]}
    return budget


def view_times(seconds: dict[str, Any]) -> list[tuple[str, float, float]]:
    """Return each stage with its seconds, and its part of the longest in per cent."""
    known = [(name, time) for name, value in seconds.items() if (time := words.finite(value)) is not None]
    longest = max((time for _, time in known), default=0.0) or 1.0
    return [(name, time, round(100 * max(time, 0.0) / longest, 2)) for name, time in known]


def view_provenance(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return where a document comes from, by name, without what it does not say."""
    population, privacy = mapping(document.get("population")), mapping(document.get("privacy"))
    parts = {
        "Job": " ".join(str(document[key]) for key in ("job", "version") if document.get(key) is not None),
        "Population": population.get("name"),
        "Fingerprint of the input (keyed)": population.get("fingerprint"),
        "Privacy model": privacy.get("model"),
        "Neighbours": privacy.get("neighbours"),
        "Basis": privacy.get("basis"),
        "Covers": privacy.get("covers"),
        "Roles": document.get("roles"),
    }
    return [(name, str(value)) for name, value in parts.items() if value]
