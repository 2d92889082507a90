"""What the page of a survey shows beyond single questions: statistics, joint tables, regressions, groups."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

from jobs.page import figures, words
from jobs.page.scales import Series
from jobs.page.sheet import SERIES
from jobs.page.values import epsilon_of, filled, mapping, mappings, numbers, pairs, sequence

_MOST_CELLS = 2500
"""A joint table of more cells is left to result.json."""
_TABLE_FILE = re.compile(r"tables/[0-9]+\.parquet")
TITLES = {
    "entropy": "Entropy",
    "mutual-information": "Mutual information",
    "chi-square": "Chi-square",
    "g-squared": "G-squared",
    "pearson": "Pearson correlation",
    "independence-test": "Test of independence",
    "proportions": "Proportions",
}
"""What each kind of statistic is called."""
_METHODS = {
    "pearson": "Pearson’s chi-square of the reports",
    "rao-scott": "chi-square of the estimated table, corrected after Rao and Scott",
}


def view_statistic(k: int, one: dict[str, Any]) -> dict[str, Any]:
    """Return a single statistic, with its interval as a figure."""
    estimate, error = words.finite(one.get("estimate")), words.finite(one.get("standard_error"))
    (low, high), *_ = [*pairs([one.get("interval")]), (None, None)]
    p = words.finite(one.get("p_value"))
    kind = str(one.get("kind") or "statistic")
    title = f"{TITLES.get(kind, kind)}: estimate and interval"
    chart, by_noise = None, words.finite(one.get("if_independent"))
    if estimate is not None and low is not None and high is not None:
        # What it is compared with is drawn where it is near; from further away it would flatten the interval.
        zero, by_noise = (
            value
            if value is not None and low - 4 * (high - low) <= value <= high + 4 * (high - low)
            else None
            for value in (0.0, by_noise)
        )
        series, compared = Series("", [estimate], [(low, high)]), [] if by_noise is None else [by_noise]
        chart = figures.dots(f"statistic-{k}-chart", title, [""], [series], reference=zero, truths=compared)
    return {
        **{key: one.get(key) for key in ("unit", "note")},
        "method": _METHODS.get(str(one.get("method")), one.get("method")),
        "title": TITLES.get(kind, kind),
        "of": [words.label(name) for name in sequence(one.get("of"))],
        "estimate": estimate,
        "error": error,
        "interval": (low, high),
        "digits": words.places([error], least=1),
        "degrees": words.finite(one.get("degrees_of_freedom")),
        "p_value": p,
        "often": None if p is None else words.how_often(p),
        "event": "a correlation this far from zero" if kind == "pearson" else "a value this large",
        "chart": chart,
        "by_noise": chart is not None and by_noise is not None,
    }


def view_joint(one: dict[str, Any], attributes: dict[str, Any]) -> dict[str, Any]:
    """Return a joint table with one row for every cell of all axes but the last, which gives the columns.

    A statistic of the kind "proportions" is one too, with the categories of its attributes. A cell beyond the
    categories is that of missing answers. A table that is a file of its own is only named.
    """
    file = str(one.get("table") or "")
    shape, shares = _table(one.get("proportions", one.get("estimate")))
    errors_shape, errors = _table(one.get("standard_errors", one.get("standard_error")))
    known = [mapping(attributes.get(str(name))).get("categories") for name in sequence(one.get("of"))]
    given = filled(sequence(one.get("categories")) or known, len(shape))
    axes = [
        [words.label(category) for category in filled(sequence(axis), size)]
        for axis, size in zip(given, shape, strict=True)
    ]
    columns = axes[-1] if axes else []
    return {
        "of": [words.label(name) for name in sequence(one.get("of"))],
        "epsilon": epsilon_of(one),
        **{key: one.get(key) for key in ("mechanism", "note")},
        "file": file,
        "link": file if _TABLE_FILE.fullmatch(file) else None,
        "cells": words.finite(one.get("cells")) if file else len(shares),
        "table": _heat(
            [" · ".join(cell) for cell in product(*axes[:-1])],
            columns,
            _in_rows(shares, len(columns)),
            _in_rows(errors if errors_shape == shape else [None] * len(shares), len(columns)),
        )
        if columns and len(shares) <= _MOST_CELLS
        else None,
    }


def _table(nested: Any) -> tuple[list[int], list[float | None]]:
    """Return a nested list's shape and its numbers, the last axis fastest; no shape where its parts differ."""
    if not isinstance(nested, list):
        return [], [words.finite(nested)]
    parts = [_table(inner) for inner in nested]
    shapes = [shape for shape, _ in parts]
    if not parts or any(shape != shapes[0] for shape in shapes):
        return [], []
    return [len(parts), *shapes[0]], [value for _, values in parts for value in values]


def _in_rows(flat: list[float | None], width: int) -> list[list[float | None]]:
    return [flat[start : start + width] for start in range(0, len(flat), width)]


def _heat(
    rows: list[str], columns: list[str], shares: list[list[float | None]], errors: list[list[float | None]]
) -> dict[str, Any]:
    levels = figures.heat_levels(shares)
    return {
        "columns": columns,
        "digits": words.percent_places(error for row in errors for error in row),
        "rows": [
            (label, list(zip(*cells, strict=True)))
            for label, *cells in zip(rows, shares, errors, levels, strict=True)
        ],
    }


def view_regression(k: int, one: dict[str, Any]) -> dict[str, Any]:
    """Return a regression: its terms, as odds ratios where there are any."""
    terms = mappings(one.get("terms"))
    odds = any(words.finite(term.get("odds_ratio")) is not None for term in terms)
    estimate, interval = ("odds_ratio", "odds_ratio_interval") if odds else ("estimate", "interval")
    # An intercept is no comparison, and its size would flatten those that are.
    shown = [term for term in terms if "intercept" not in str(term.get("term")).lower()]
    values = [words.finite(term.get(estimate)) for term in shown]
    series = Series("", values, pairs([term.get(interval) for term in shown]))
    kind = "odds ratio" if odds else "coefficient"
    outcome = words.label(one.get("outcome") or "the outcome")
    return {
        "outcome": outcome,
        "odds": odds,
        "terms": [
            {
                **{
                    key: words.finite(term.get(key)) for key in ("estimate", "standard_error", "z", "p_value")
                },
                "term": words.label(term.get("term")),
                "odds_ratio": words.finite(term.get("odds_ratio")),
                "interval": pairs([term.get("interval")])[0],
                "odds_ratio_interval": pairs([term.get("odds_ratio_interval")])[0],
            }
            for term in terms
        ],
        "digits": words.places((term.get("standard_error") for term in terms), least=2),
        **{key: words.finite(one.get(key)) for key in ("rows", "iterations", "log_likelihood")},
        "chart": figures.dots(
            f"regression-{k}-chart",
            f"{outcome}: {kind} of each term, with intervals",
            [words.label(term.get("term")) for term in shown],
            [series],
            reference=1.0 if odds else 0.0,
            log=odds,
        )
        if any(value is not None for value in values)
        else None,
    }


def view_groups(groups: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the groups with their sizes, and every attribute side by side in each."""
    if not groups:
        return None
    names = dict.fromkeys(name for group in groups for name in mapping(group.get("attributes")))
    return {
        "sizes": [(words.label(group.get("group")), group.get("respondents")) for group in groups],
        "attributes": [_grouped(k, name, groups) for k, name in enumerate(names)],
    }


def _grouped(k: int, name: str, groups: list[dict[str, Any]]) -> dict[str, Any]:
    ones = [mapping(mapping(group.get("attributes")).get(name)) for group in groups]
    labels = [
        words.label(category) for category in max((sequence(one.get("categories")) for one in ones), key=len)
    ]
    size, names = len(labels), [words.label(group.get("group")) for group in groups]
    series = [
        Series(
            group,
            filled(numbers(one.get("proportions")), size),
            filled(pairs(one.get("intervals")), size, (None, None)),
        )
        for group, one in zip(names, ones, strict=True)
    ]
    errors = [filled(numbers(one.get("standard_errors")), size) for one in ones]
    by_row = [list(row) for row in zip(*(one.estimates for one in series), strict=True)]
    title = f"{name}: estimated share of each category in each group, with intervals"
    few = len(groups) <= SERIES and 0 < size <= 30
    return {
        "name": name,
        "chart": figures.dots(f"group-{k}-chart", title, labels, series, unit="%", scale=100)
        if few
        else None,
        "legend": figures.legend(names) if few else [],
        "table": _heat(labels, names, by_row, [list(row) for row in zip(*errors, strict=True)]),
    }


def view_cheating(k: int, one: dict[str, Any]) -> dict[str, Any]:
    """Return what two samples say of one attribute's carriers and of cheaters."""
    estimates = {name: mapping(value) for name, value in mapping(one.get("estimates")).items()}
    values = [words.finite(value.get("estimate")) for value in estimates.values()]
    intervals = pairs([value.get("interval") for value in estimates.values()])
    errors = [words.finite(value.get("standard_error")) for value in estimates.values()]
    name, p = words.label(one.get("attribute")), words.finite(one.get("p_value"))
    # The page says in its own words what the p-value is.
    remarks = [str(one["note"])] if one.get("note") else []
    return {
        "model": one.get("model"),
        "note": "; ".join(remarks),
        "name": name,
        "p_value": p,
        "often": None if p is None else words.how_often(p),
        "digits": words.percent_places(errors),
        "rows": [
            {"label": label, "share": share, "error": error, "interval": ends, "post": []}
            for label, share, error, ends in zip(estimates, values, errors, intervals, strict=True)
        ],
        "chart": figures.dots(
            f"cheating-{k}-chart",
            f"{name}: carriers and cheaters, with intervals",
            list(estimates),
            [Series("", values, intervals)],
            unit="%",
            scale=100,
        )
        if any(value is not None for value in values)
        else None,
    }
