"""What the page of a survey shows, taken from its document: texts, numbers and figures."""

from __future__ import annotations

from typing import Any

from jobs.guarantee import collected, guarantee, not_covered
from jobs.page import figures, words
from jobs.page.derived import view_cheating, view_groups, view_joint, view_regression, view_statistic
from jobs.page.parts import view_bound, view_budget, view_provenance, view_times
from jobs.page.scales import Series
from jobs.page.values import epsilon_of, filled, mapping, mappings, numbers, pairs, sequence


def view_survey(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the template of a survey is filled with; figures are drawn on the way."""
    result = mapping(document.get("result"))
    confidence = words.finite(result.get("confidence")) or 0.95
    known = mapping(result.get("attributes"))
    attributes = [_attribute(k, name, mapping(one)) for k, (name, one) in enumerate(known.items())]
    cheating = mappings(result.get("cheating"))
    statistics = mappings(result.get("statistics"))
    tables = [one for one in statistics if one.get("table") or isinstance(one.get("estimate"), list)]
    return {
        "population": mapping(document.get("population")),
        "respondents": result.get("respondents", mapping(document.get("population")).get("rows")),
        "confidence": f"{100 * confidence:.6g}\N{NO-BREAK SPACE}%",
        "sampling": result.get("sampling"),
        "guarantee": _guarantee(document),
        "privacy": mapping(document.get("privacy")),
        "budget": view_budget(mapping(document.get("privacy"))),
        "attributes": attributes,
        "any_below": any(one["below"] for one in attributes),
        "any_post": any(one["post"] for one in attributes),
        "statistics": [view_statistic(k, one) for k, one in enumerate(statistics) if one not in tables],
        "joint": [view_joint(one, known) for one in (*mappings(result.get("joint")), *tables)],
        "regressions": [view_regression(k, one) for k, one in enumerate(mappings(result.get("regressions")))],
        "groups": view_groups(mappings(result.get("groups"))),
        "strata": mappings(result.get("strata")),
        "cheating": [view_cheating(k, one) for k, one in enumerate(cheating)],
        "cheated": [words.label(one.get("attribute")) for one in cheating],
        "asked": _asked(document, result),
        "times": view_times(mapping(document.get("seconds"))),
        "provenance": view_provenance(document),
    }


def _guarantee(document: dict[str, Any]) -> dict[str, Any] | None:
    """Return the one sentence in parts, whether there is a guarantee, and what it leaves out."""
    privacy = mapping(document.get("privacy"))
    if "epsilon" not in privacy:
        return None
    bound = view_bound(privacy["epsilon"])
    before, claim, after = guarantee(privacy, bound)
    return {
        "before": before,
        "claim": claim,
        "after": after,
        "none": bound is None,
        "collected": collected(privacy),
        "not_covered": not_covered(privacy, mapping(document.get("spec"))),
    }


def _attribute(k: int, name: str, one: dict[str, Any]) -> dict[str, Any]:
    labels = [words.label(category) for category in sequence(one.get("categories"))]
    size = len(labels)
    shares = filled(numbers(one.get("proportions")), size)
    errors = filled(numbers(one.get("standard_errors")), size)
    intervals = filled(pairs(one.get("intervals")), size, (None, None))
    post = {key: values for key, values in mapping(one.get("post_processed")).items() if values}
    columns = [filled(numbers(values), size) for values in post.values()]
    known = [
        (share, label, ends)
        for share, label, ends in zip(shares, labels, intervals, strict=True)
        if share is not None
    ]
    return {
        "name": name,
        "id": f"attribute-{k}",
        "mechanism": one.get("mechanism"),
        "reason": one.get("reason"),
        "together": [words.label(other) for other in sequence(one.get("shared_with"))],
        "epsilon": epsilon_of(one) or words.ABSENT,
        "missing": mapping(one.get("missing")),
        "digits": words.percent_places(errors),
        "post": list(post),
        "rows": [
            {"label": label, "share": share, "error": error, "interval": ends, "post": list(others)}
            for label, share, error, ends, *others in zip(
                labels, shares, errors, intervals, *columns, strict=True
            )
        ],
        "below": any(share < 0 or share > 1 for share, *_ in known),
        "highest": max(known, key=lambda row: row[0]) if known else None,
        "chart": figures.dots(
            f"attribute-{k}-chart",
            f"{name}: estimated share of each category, with intervals",
            labels,
            [Series("", shares, intervals)],
            unit="%",
            scale=100,
        )
        if known
        else None,
    }


def _asked(document: dict[str, Any], result: dict[str, Any]) -> list[dict[str, Any]]:
    spec, found = mapping(mapping(document.get("spec")).get("attributes")), mapping(result.get("attributes"))
    asked = []
    for name in dict.fromkeys([*spec, *found]):
        one = {**mapping(spec.get(name)), **mapping(found.get(name))}
        missing = one.get("missing")
        asked.append(
            {
                "name": name,
                "categories": [words.label(category) for category in sequence(one.get("categories"))],
                "mechanism": one.get("mechanism"),
                "epsilon": epsilon_of(one) or words.ABSENT,
                "missing": missing.get("handling") if isinstance(missing, dict) else missing,
                "reason": one.get("reason"),
            }
        )
    return asked
