"""What the page of a study of a graph shows: errors of degrees and triangles against epsilon, by mechanism."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from jobs.graph import words as told
from jobs.page import figures, words
from jobs.page.graph_errors import MEASURES, Answer, Errors, Number, ends_of, value_of
from jobs.page.parts import view_provenance, view_times
from jobs.page.sheet import SERIES
from jobs.page.skills_study_figures import LEVEL, Series, draw_errors, heights, kinds_legend, reach
from jobs.page.values import mapping, mappings
from jobs.spec import middle

_STATISTICS = {"degrees": "Links of each node", "triangles": "Triangles of each node"}
_LEVEL_MARK = Markup(
    '<svg class="mark" aria-hidden="true" width="34" height="16"><path d="M1 8h32" stroke="var(--ink)" stroke-width="{}"/></svg>'
)


def view_graph_study(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the template is filled with; figures are drawn on the way."""
    study = mapping(mapping(document.get("result")).get("study"))
    errors = [one for kind in _STATISTICS if (one := Errors.of(study, kind)).answers]
    looks = list(dict.fromkeys(name for one in errors for name in one.mechanisms))[:SERIES]
    return {
        "population": mapping(document.get("population")),
        "study": {
            key: words.finite(study.get(key))
            for key in ("nodes", "links", "triangles", "replications", "seed")
        },
        "findings": _findings(errors),
        "statistics": [shown for one in errors if (shown := _statistic(one, looks))],
        "sensitivity": _sensitivity(study),
        "nominal": _nominal(study),
        "times": view_times(mapping(document.get("seconds"))),
        "provenance": view_provenance(document),
    }


def _findings(errors: list[Errors]) -> dict[str, Any]:
    """Return what came out: errors at the middle epsilon, from where on answers are of use, and how many agree with the law."""
    names = list(dict.fromkeys((one.mechanism, one.way, one.name) for own in errors for one in own.answers))
    own = {(of.kind, one.mechanism, one.way): (one, of.zero) for of in errors for one in of.answers}
    compared, within = (sum(column) for column in zip(*(one.by_law() for one in errors), (0, 0), strict=True))
    return {
        "kinds": [_STATISTICS[one.kind] for one in errors],
        "useful": [
            (name, [_useful(*own.get((of.kind, mechanism, way), (None, {}))) for of in errors])
            for mechanism, way, name in names
        ],
        "compared": compared,
        "within": within,
        "middle": _at_middle(errors),
    }


def _useful(answer: Answer | None, zero: dict[str, Any]) -> str:
    """Return from which epsilon on an answer is better than zero, in words."""
    if answer is None or value_of(zero, answer.measure) is None:
        return words.ABSENT
    found = answer.useful_from(zero)
    if found is None:
        return "at none"
    return "at every ε" if found == answer.points[0]["epsilon"] else f"from ε {words.short(found)} on"


def _at_middle(errors: list[Errors]) -> dict[str, Any] | None:
    """Return errors at the middle epsilon: of pairs' own reports, and of a trusted holder's answers."""
    epsilons = sorted({one["epsilon"] for of in errors for answer in of.answers for one in answer.points})
    if not epsilons:
        return None
    epsilon, found = middle(tuple(epsilons)), []
    for of in errors:
        pair = [
            next(
                (
                    value_of(one.at(epsilon), "mean_error")
                    for one in of.answers
                    if (one.mechanism, one.way) == key
                ),
                None,
            )
            for key in (("randomized-response", "unbiased"), ("global-sensitivity", "output"))
        ]
        if None not in pair:
            found.append(({"degrees": "links"}.get(of.kind, of.kind), *pair))
    return {"epsilon": epsilon, "errors": found} if found else None


def _statistic(errors: Errors, looks: list[str]) -> dict[str, Any] | None:
    """Return the figures of a statistic's mean and median errors, and its numbers."""
    charts = [one for measure in MEASURES if (one := _chart(errors, measure, looks))]
    if not charts:
        return None
    kinds = kinds_legend(["unbiased estimates, and what a holder puts out", "counted in a rebuilt graph"])
    if any(value_of(errors.zero, measure) for measure in MEASURES):
        kinds.append(("the answer zero", _LEVEL_MARK.format(LEVEL)))
    legend = figures.legend([told.MECHANISMS[one] for one in looks])
    return {
        "kind": errors.kind,
        "name": _STATISTICS[errors.kind],
        "charts": charts,
        "legend": [mark for one, mark in zip(looks, legend, strict=True) if one in errors.mechanisms],
        "kinds": kinds,
        "zero": {measure: value_of(errors.zero, measure) for measure in MEASURES},
        "rows": [(one.name, [_row(point) for point in one.points]) for one in errors.answers],
    }


def _chart(errors: Errors, measure: str, looks: list[str]) -> dict[str, Any] | None:
    """Return a figure of errors by epsilon, and what it cannot show."""
    drawn = [
        (
            one,
            Series(
                [point["epsilon"] for point in one.points],
                looks.index(one.mechanism),
                [value_of(point, measure) for point in one.points],
                [ends_of(point, measure) for point in one.points],
                is_open=one.way == "rebuilt",
            ),
        )
        for one in errors.answers
        if one.mechanism in looks and any(value_of(point, measure) is not None for point in one.points)
    ]
    series, level = [one for _, one in drawn], value_of(errors.zero, measure)
    limits = reach([*heights(series), level])
    if not series or limits is None:
        return None
    name = MEASURES[measure]
    return {
        "name": name,
        "chart": draw_errors(
            f"{errors.kind}-{measure.partition('_')[0]}",
            f"{name} of {errors.kind} by epsilon, both axes logarithmic",
            series,
            limits,
            across="ε",
            up=name,
            grid=sorted({place for one in series for place in one.places}),
            level=level if level else None,
            joined=True,
        ),
        "zeros": sum(value == 0 for one in series for value in one.measured),
        "lacking": [
            told.MECHANISMS[one.mechanism]
            for one in errors.answers
            if one not in [answer for answer, _ in drawn] and one.measure != measure
        ],
    }


def _row(one: dict[str, Any]) -> dict[str, Any]:
    """Return a point as a row of the table."""
    return {
        "epsilon": one["epsilon"],
        "errors": [(value_of(one, measure), ends_of(one, measure)) for measure in MEASURES],
        "predicted": words.finite(one.get("predicted")),
    }


def _sensitivity(study: dict[str, Any]) -> dict[str, Any] | None:
    """Return by how much a link can change the triangles of all nodes together."""
    given = mapping(study.get("sensitivity"))
    local, worst = words.finite(given.get("local")), words.finite(given.get("global"))
    smooth: list[tuple[Number, Number]] = [
        (words.finite(one.get("epsilon")), words.finite(one.get("value")))
        for one in mappings(given.get("smooth"))
    ]
    return None if local is None or worst is None else {"local": local, "global": worst, "smooth": smooth}


def _nominal(study: dict[str, Any]) -> list[tuple[float, float]]:
    """Return the epsilons that Laplace noise is drawn by, each with what its rounded reports give away."""
    own = (one for one in mappings(study.get("points")) if one.get("mechanism") == "laplace")
    both = {words.finite(one.get("epsilon")): words.finite(one.get("true_epsilon")) for one in own}
    return sorted((drawn, given) for drawn, given in both.items() if drawn is not None and given is not None)
