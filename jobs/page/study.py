"""What the page of a study shows: the paper's experiment, its figures beside their numbers."""

from __future__ import annotations

from typing import Any

from jobs.page import figures, words
from jobs.page.curves import stroke_legend
from jobs.page.parts import view_provenance, view_times
from jobs.page.replicated import Study, Target, mechanism_words
from jobs.page.study_figures import STROKES, by_epsilon, view_guess, view_proportions, view_replicated
from jobs.page.theorems import view_theorems
from jobs.page.values import mapping, sequence

_MOST_NAMED = 6
"""Of more targets, outcomes are added up."""


def view_study(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the template of a study is filled with; figures are drawn on the way."""
    given = mapping(mapping(document.get("result")).get("study"))
    study = Study(given)
    population = mapping(document.get("population"))
    return {
        "population": population,
        "respondents": given.get("respondents", population.get("rows")),
        "replications": given.get("replications"),
        "seed": given.get("seed"),
        "grid": [words.short(epsilon) for epsilon in study.grid],
        "mechanisms": [mechanism_words(name) for name in study.mechanisms],
        "legend": figures.legend([mechanism_words(name) for name in study.mechanisms]),
        "strokes": stroke_legend(STROKES),
        "outcome": _outcome(study),
        "attributes": [view_proportions(study, k, one) for k, one in enumerate(study.attributes)],
        "statistics": [view_replicated(study, k, one) for k, one in enumerate(study.statistics)],
        "guesses": [
            one for k, target in enumerate(study.attributes) if (one := view_guess(study, k, target))["best"]
        ],
        "theorems": view_theorems(study),
        "true_epsilons": _true_epsilons(study),
        "asked": _asked(document, study),
        "times": view_times(mapping(document.get("seconds"))),
        "provenance": view_provenance(document),
    }


def _outcome(study: Study) -> dict[str, Any] | None:
    """Return which mechanism had the smallest error how often, targets of the same outcome together."""
    counted = [(target, *study.smallest(target)) for target in study.targets]
    counted = [(target, counts, of) for target, counts, of in counted if of]
    if not counted or len(study.mechanisms) < 2:
        return None
    together: dict[tuple[str, int, int], list[Target]] = {}
    for target, counts, of in counted:
        best = max(counts, key=lambda name: counts[name])
        together.setdefault((mechanism_words(best), counts[best], of), []).append(target)
    totals = {
        mechanism_words(name): sum(counts[name] for _, counts, _ in counted) for name in study.mechanisms
    }
    return {
        "groups": [(*key, targets) for key, targets in together.items()],
        "totals": totals,
        "comparisons": sum(of for *_, of in counted),
        "few": len(counted) <= _MOST_NAMED,
        "how": "smaller" if len(study.mechanisms) == 2 else "smallest",
    }


def _true_epsilons(study: Study) -> dict[str, Any] | None:
    """Return epsilons that differ from the parameter, one column for attributes that share them."""
    columns: dict[tuple[str, tuple[float | None, ...]], list[str]] = {}
    for mechanism in study.mechanisms:
        spent = [mapping(study.point(epsilon, mechanism).get("true_epsilon")) for epsilon in study.grid]
        for name in dict.fromkeys(name for one in spent for name in one):
            column = tuple(words.finite(one.get(name)) for one in spent)
            if any(a is not None and a < b - 1e-6 * b for a, b in zip(column, study.grid, strict=True)):
                columns.setdefault((mechanism_words(mechanism), column), []).append(words.label(name))
    if not columns:
        return None
    heads = [(mechanism, names) for (mechanism, _), names in columns.items()]
    return {
        "heads": heads,
        "rows": by_epsilon(study, [column for _, column in columns]),
        "mechanisms": list(dict.fromkeys(name for name, _ in heads)),
    }


def _asked(document: dict[str, Any], study: Study) -> list[dict[str, Any]]:
    spec = mapping(mapping(document.get("spec")).get("attributes"))
    found = {target.name: target.labels for target in study.attributes}
    return [
        {
            "name": name,
            "categories": [words.label(one) for one in sequence(mapping(spec.get(name)).get("categories"))]
            or found.get(name, []),
            "missing": mapping(spec.get(name)).get("missing"),
        }
        for name in dict.fromkeys([*spec, *found])
    ]
