"""The paper's theorems 2 to 4 as a study finds them: a row for each epsilon, a table for each attribute."""

from __future__ import annotations

from typing import Any

from jobs.page import words
from jobs.page.replicated import Study
from jobs.page.values import filled, mapping, mappings, sequence


def view_theorems(study: Study) -> dict[str, Any] | None:
    """Return what theorems 2 to 4 say, how often each was found to hold, and the tables of it.

    Theorem 3 is one of two categories. Of more, the paper expects what it says, and is counted by itself.
    """
    labels = {one.name: one.labels for one in study.attributes}
    entries = [_entry(one, labels) for one in mappings(study.study.get("theorems"))]
    if not entries:
        return None
    kinds = [(2, "theorem 2"), (4, "theorem 4"), (3, "theorem 3"), ("expected", "expected")]
    found = {key: [one for one in entries if one["kind"] == key] for key, _ in kinds}
    return {
        "found": {str(key): _count(ones) for key, ones in found.items() if ones},
        "tables": [
            _table(name, [one for one in entries if one["attribute"] == name])
            for name in dict.fromkeys(one["attribute"] for one in entries)
        ],
    }


def _entry(one: dict[str, Any], labels: dict[str, list[str]]) -> dict[str, Any]:
    name = words.label(one.get("attribute"))
    known, places = labels.get(name, []), sequence(one.get("cells_where_not"))
    theorem = one.get("theorem")
    return {
        "attribute": name,
        "epsilon": words.finite(one.get("epsilon")),
        "theorem": theorem,
        "kind": "expected" if theorem == 3 and len(known) > 2 else theorem,
        "ours": words.finite(one.get("randomized_response")),
        "theirs": words.finite(one.get("laplace")),
        "on_average": one.get("holds_on_average"),
        "for_every": one.get("holds_for_every_cell"),
        # A cell beyond the categories is that of missing answers.
        "where_not": [
            filled(known, place + 1, "no answer")[place]
            for place in places
            if isinstance(place, int) and place >= 0
        ],
    }


def _count(ones: list[dict[str, Any]]) -> dict[str, Any]:
    """Return in how many checks a theorem holds, and where not."""
    return {
        "checks": len(ones),
        "on_average": sum(one["on_average"] is True for one in ones),
        "for_every": sum(one["for_every"] is True for one in ones),
        "attributes": list(dict.fromkeys(one["attribute"] for one in ones)),
        "exceptions": [
            {key: one[key] for key in ("attribute", "where_not")} | {"epsilon": words.short(one["epsilon"])}
            for one in ones
            if one["where_not"]
        ],
    }


def _table(name: str, ones: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one attribute's checks: of the guess and of the proportions, by epsilon."""
    rows: dict[float | None, dict[str, Any]] = {}
    for one in ones:
        rows.setdefault(one["epsilon"], {})["proportions" if one["theorem"] == 3 else "guess"] = one
    theorem = next((one["theorem"] for one in ones if one["theorem"] != 3), None)
    return {
        "name": name,
        "theorem": theorem,
        "expected": any(one["kind"] == "expected" for one in ones),
        "rows": [
            (words.short(epsilon), [mapping(row.get(key)) for key in ("guess", "proportions")])
            for epsilon, row in sorted(rows.items(), key=lambda item: item[0] or 0.0)
        ],
    }
