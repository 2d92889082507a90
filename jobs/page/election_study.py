"""What the page of a study of decisive margins shows: table 1 of the paper, measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jobs.election import words as told
from jobs.page import figures, words
from jobs.page.election_study_figures import line_legend
from jobs.page.election_study_rules import view_rule
from jobs.page.measured import (
    MODELS,
    SIZES,
    Margins,
    Number,
    Point,
    families_of,
    grid_of,
    measured,
    rule_title,
)
from jobs.page.parts import view_provenance, view_times
from jobs.page.scales import Series
from jobs.page.values import filled, mapping, mappings, numbers

_LINES = {
    "measured": "measured, random elections (central: packings)",
    "proof": "measured, elections of the lower bound’s proof",
    "bound": "proved for what ran",
    "paper": "proved in the paper for its mechanism",
    "lower": "no mechanism is below (local: but for a constant)",
}
_SHORT = {"central": "central", "local": "one\N{NO-BREAK SPACE}round", "interactive": "rounds"}
_RATES = {
    "plurality": (("log m", "log m"), ("√n", "√n"), ("√n", "√n")),
    "maximin": (("log m", "log m"), ("m √n", "m √n"), ("m √n", "√n")),
    "runoff": (("log m", "log m"), ("m √n", "m √n"), ("√n", "√n")),
    "stv": (("log m", "log m"), ("2^(m/2) √n", "min(n/m, 2^Ω(√m) √n)"), ("m² √n", "√n")),
    "condorcet": (("log m", "log m"), ("m √n", "m √n"), ("√(m n)", "√n")),
}
"""Table 1: upper and lower bounds by model, without the dependence on epsilon and the failure probability."""


def view_election_study(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the template is filled with; figures are drawn on the way."""
    given = mapping(mapping(document.get("result")).get("study"))
    study = Margins(given)
    failure = words.finite(given.get("failure_probability"))
    models = [MODELS[model] for model in study.models]
    return {
        "population": mapping(document.get("population")),
        "replications": given.get("replications"),
        "electorates": given.get("electorates"),
        "seed": given.get("seed"),
        "wanted": None if failure is None else f"{100 * (1 - failure):.6g}\N{NO-BREAK SPACE}%",
        "base": study.base,
        "grid": {name: grid_of(study.points, name) for name in SIZES},
        "models": models,
        "rules": [rule_title(rule) for rule in study.rules],
        "legend": figures.legend(models),
        "lines": line_legend(_LINES),
        "findings": _findings(study),
        "table": _table(study),
        "spans": {name: _ends(grid_of(study.points, name)) for name in SIZES},
        "cards": [view_rule(study, rule) for rule in study.rules],
        "own": _own(mapping(given.get("own"))),
        "claims": _claims(mappings(given.get("claims"))),
        "times": view_times(mapping(document.get("seconds"))),
        "provenance": view_provenance(document),
    }


def _ends(grid: Sequence[float]) -> tuple[str, str] | None:
    return (f"{grid[0]:,.10g}", f"{grid[-1]:,.10g}") if len(grid) > 1 else None


def _findings(study: Margins) -> dict[str, Any]:
    """Return what came out: the margins at the base, and how many agree with what is proved."""
    ranges = []
    for model in study.models:
        margins = [
            (margin, told.rule_of({"rule": rule}))
            for rule in study.rules
            if (margin := measured(study.at_base(rule, model))) is not None
        ]
        if margins:
            ranges.append((MODELS[model], min(margins), max(margins)))
    kinds = [(words.finite(one.get("bound")), kind) for one in study.points for kind in families_of(one)]
    known = [
        (words.finite(kind.get("low")) or margin, bound)
        for bound, kind in kinds
        if bound is not None and (margin := words.finite(kind.get("margin"))) is not None
    ]
    claims = mappings(study.study.get("claims"))
    return {
        "ranges": ranges,
        "measured": len(known),
        "within": sum(low <= bound for low, bound in known),
        "unreached": sum(words.finite(kind.get("margin")) is None for _, kind in kinds),
        "claims": len(claims),
        "holding": sum(one.get("holds") is True for one in claims),
    }


def _table(study: Margins) -> list[dict[str, Any]]:
    """Return a row for each rule and model: the paper's rates, and what was measured beside them."""
    growth = {(one.get("rule"), one.get("model")): one for one in mappings(study.study.get("growth"))}
    rows: list[dict[str, Any]] = []
    for rule in study.rules:
        ours = [model for model in study.models if study.of(rule, model)]
        for model in ours:
            point, found = study.at_base(rule, model), study.of(rule, model)
            slopes = mapping(mapping(growth.get((rule, model))).get("ballots"))
            rows.append(
                {
                    "rule": rule_title(rule),
                    "first": model == ours[0],
                    "model": _SHORT[model],
                    "rates": dict(zip(MODELS, _RATES.get(rule, ()), strict=False)).get(model, ("", "")),
                    "expected": "0" if model == "central" else "½",
                    "slope": words.finite(slopes.get("measured")),
                    "factors": [
                        _factor(study.along(found, size), size) for size in ("candidates", "epsilon")
                    ],
                    "measured": measured(point),
                    "proof": _proof(point),
                    "bound": words.finite(point.get("bound")),
                    "paper": words.finite(point.get("paper")),
                }
            )
    return rows


def _factor(found: Sequence[Point], size: str) -> Number:
    """Return how many times as large the measured margin is at the end of a grid as at its beginning."""
    if len(found) < 2 or found[0].get(size) == found[-1].get(size):
        return None
    first, last = measured(found[0]), measured(found[-1])
    return last / first if first and last else None


def _proof(point: Point) -> dict[str, Any] | None:
    """Return what was measured on the elections of a lower bound's proof, if other ones came first."""
    found = families_of(point)[1:2]
    return {name: words.finite(found[0].get(name)) for name in ("margin", "largest_tried")} if found else None


def _own(own: dict[str, Any]) -> dict[str, Any] | None:
    """Return the population's own election: how often each model named its winner."""
    found = mappings(own.get("points"))
    models = [model for model in MODELS if any(one.get("model") == model for one in found)]
    grid = grid_of(found, "epsilon")
    if not models or not grid:
        return None
    cells = {(one.get("model"), words.finite(one.get("epsilon"))): one for one in found}
    rows, series = [], []
    for model in models:
        ours = [mapping(cells.get((model, epsilon))) for epsilon in grid]
        shares = [words.finite(one.get("share")) for one in ours]
        ends = [filled(numbers(one.get("interval")), 2) for one in ours]
        series.append(Series(MODELS[model], shares, [(low, high) for low, high in ends]))
        rows += [
            {
                "model": MODELS[model],
                "epsilon": words.short(epsilon),
                "share": share,
                "interval": both,
                "bound": words.finite(one.get("bound")),
            }
            for epsilon, share, both, one in zip(grid, shares, ends, ours, strict=True)
            if one
        ]
    return {
        "rule": told.rule_of(own),
        "ballots": own.get("ballots"),
        "candidates": own.get("candidates"),
        "outcome": None if own.get("outcome") is None else words.label(own.get("outcome")),
        "margin": words.finite(own.get("margin")),
        "legend": figures.legend([MODELS[model] for model in models]),
        "chart": figures.dots(
            "own",
            "The population’s own election: how often each model names its winner, by epsilon",
            [f"ε {words.short(epsilon)}" for epsilon in grid],
            series,
            reference=1.0,
            unit="%",
            scale=100,
        ),
        "rows": rows,
    }


def _claims(claims: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the checks, those of one claim together."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in claims:
        key = words.label(one.get("source")), words.label(one.get("claim"))
        groups.setdefault(key, []).append({**one, "rule": rule_title(one.get("rule"))})
    return [{"source": source, "claim": claim, "rows": rows} for (source, claim), rows in groups.items()]
