"""Figures of a study, each with the numbers it is drawn from: proportions, statistics, guesses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from jobs.page import figures, words
from jobs.page.curves import Curve, draw_curves
from jobs.page.replicated import COLUMNS, Study, Target, Values, mechanism_words
from jobs.page.scales import Series
from jobs.page.values import filled, numbers

SHOWN = (-0.5, 1.5)
"""How far the axis of proportions reaches at most: possible ones are from 0 to 1."""
CLOSE = 1.25
"""A predicted standard error is close to the empirical one if neither is this many times the other."""
_MANY_CATEGORIES, _MOST_CATEGORIES, _MOST_ROWS, _WIDEST = 20, 100, 2000, 24
_WIDEST_PRINTED = 8
_MOST_PRINTED = 100
"""Longer tables are not put on paper, nor are wider ones."""
_LEGIBLE = 6.0
"""How many times as far from the truth as the best mechanism the axis of a statistic reaches."""
STROKES = {"solid": "empirical", "dashed": "predicted", "dotted": "estimated"}
"""The standard error that each kind of curve is."""
_ERRORS = dict(zip(STROKES, COLUMNS[1:4], strict=True))


def view_proportions(study: Study, k: int, target: Target) -> dict[str, Any]:
    """Return one attribute's proportions: at some epsilons by category, and their error over all."""
    size = len(target.labels)
    middle = study.grid[len(study.grid) // 2 :][:1]
    chosen = middle if size > _MANY_CATEGORIES else sorted({*study.grid[:1], *middle, *study.grid[-1:]})
    panels = [_panel(study, f"proportions-{k}-{place}", target, at) for place, at in enumerate(chosen)]
    errors = [study.over_grid(name, target, "root_mean_squared_error") for name in study.mechanisms]
    rows = [row for epsilon in study.grid for row in _rows(study, target, epsilon)]
    return {
        "name": target.name,
        "id": f"attribute-{k}",
        "panels": panels if size <= _MOST_CATEGORIES else [],
        "wide": size > _MANY_CATEGORIES,
        "errors": _over_grid(
            study,
            f"errors-{k}",
            f"{target.name}: root mean squared error of its proportions over epsilon",
            [Curve(_bare(values, 100), look) for look, values in enumerate(errors)],
            up="log scale",
            log=True,
            unit="%",
        ),
        "error_rows": by_epsilon(study, errors),
        "rows": rows if len(rows) <= _MOST_ROWS else [],
        "size": len(rows),
        "printed": len(rows) <= _MOST_PRINTED,
        "gaps": any(row["finite"] != study.study.get("replications") for row in rows),
    }


def _panel(study: Study, name: str, target: Target, epsilon: float) -> dict[str, Any]:
    series, cut = [], []
    for mechanism in study.mechanisms:
        means = study.found(epsilon, mechanism, target, "mean")
        ends = _bars(means, study.found(epsilon, mechanism, target, "empirical_standard_error"))
        series.append(Series(mechanism_words(mechanism), means, ends))
        reached = [end for both in ends for end in both if end is not None]
        if any(not SHOWN[0] <= end <= SHOWN[1] for end in (*reached, *filter(None, means))):
            cut.append(mechanism_words(mechanism))
    title = f"{target.name} at epsilon {words.short(epsilon)}: mean estimate of each share, by mechanism"
    chart = figures.dots(
        name, title, target.labels, series, unit="%", scale=100, truths=study.truths(target), limits=SHOWN
    )
    return {"epsilon": words.short(epsilon), "chart": chart, "cut": cut}


def _rows(study: Study, target: Target, epsilon: float) -> list[dict[str, Any]]:
    """Return the numbers of one epsilon, a row for each quantity and mechanism."""
    labels = target.labels or [""]
    columns = [
        (mechanism, [study.found(epsilon, mechanism, target, column) for column in (*COLUMNS, "finite")])
        for mechanism in study.mechanisms
    ]
    truths = study.truths(target)
    found = []
    for k, label in enumerate(labels):
        for mechanism, values in columns:
            mean, *errors, finite = (column[k] for column in values)
            found.append(
                {
                    "epsilon": words.short(epsilon),
                    "label": label,
                    "mechanism": mechanism_words(mechanism),
                    "truth": truths[k],
                    "mean": mean,
                    "errors": errors,
                    "finite": finite,
                }
            )
    return found


def view_replicated(study: Study, k: int, target: Target) -> dict[str, Any]:
    """Return one statistic over epsilon: its estimate, and each mechanism's standard errors beside it."""
    (truth,) = study.truths(target)
    name = f"{target.title} of {words.listed(target.of)}"
    curves, reaches, empirical = [], [], []
    for look, mechanism in enumerate(study.mechanisms):
        means = study.over_grid(mechanism, target, "mean")
        spread = study.over_grid(mechanism, target, "empirical_standard_error")
        curves.append(Curve(Series(mechanism, means, _bars(means, spread)), look))
        reaches += [_reach(means, spread, truth)]
        empirical += _positive(spread)
    # The best mechanism stays legible beside the worst.
    around = _LEGIBLE * min(filter(None, reaches), default=0.0)
    cut = truth is not None and max(reaches, default=0.0) > around
    outer = (min(empirical) / 10, max(empirical) * 10) if empirical else None
    rows = [row for epsilon in study.grid for row in _rows(study, target, epsilon)]
    return {
        "title": target.title,
        "of": target.of,
        "truth": truth,
        "digits": words.places([min(empirical, default=None)], least=2),
        "estimate": _over_grid(
            study,
            f"statistic-{k}-estimate",
            f"{name}: mean estimate over epsilon, with one empirical standard error to either side",
            curves,
            up=target.words.removeprefix("the "),
            reference=truth,
            limits=(truth - around, truth + around) if cut and truth is not None else None,
        )
        or _at_one_epsilon(study, f"statistic-{k}-estimate", f"{name}: mean estimate", curves, truth),
        "errors": _standard_errors(study, k, target, name, outer),
        "close": [_closeness(study, mechanism, target) for mechanism in study.mechanisms],
        "cut": cut and len(study.grid) > 1,
        "rows": rows,
        "gaps": any(row["finite"] != study.study.get("replications") for row in rows),
    }


def _at_one_epsilon(study: Study, name: str, title: str, curves: list[Curve], truth: float | None) -> Any:
    """Draw a row for each mechanism, where there is nothing to go over."""
    if not curves or len(study.grid) > 1:
        return None
    means = [mean for one in curves for mean in one.series.estimates]
    ends = [both for one in curves for both in one.series.intervals]
    labels = [mechanism_words(mechanism) for mechanism in study.mechanisms]
    title += ", with one empirical standard error to either side"
    return figures.dots(
        name, title, labels, [Series("", means, ends)], reference=None, truths=[truth] * len(labels)
    )


def _standard_errors(
    study: Study, k: int, target: Target, name: str, limits: tuple[float, float] | None
) -> list[dict[str, Any]]:
    """Return a figure for each mechanism, all of one scale: empirical, predicted, and mean estimated."""
    found, drawn = [], []
    for look, mechanism in enumerate(study.mechanisms):
        ours = [
            Curve(_bare(study.over_grid(mechanism, target, column)), look, stroke)
            for stroke, column in _ERRORS.items()
        ]
        drawn.append(ours)
    every = _positive(value for ours in drawn for one in ours for value in one.series.estimates)
    if limits is not None and every:
        limits = max(limits[0], min(every) / 1.2), min(limits[1], max(every) * 1.2)
    for look, (mechanism, ours) in enumerate(zip(study.mechanisms, drawn, strict=True)):
        words_ = mechanism_words(mechanism)
        chart = _over_grid(
            study,
            f"statistic-{k}-errors-{look}",
            f"{name}: standard errors over epsilon under the {words_}: empirical, predicted and estimated",
            ours,
            up="standard error, log scale",
            log=True,
            limits=limits,
        )
        values = [value for one in ours for value in one.series.estimates if value is not None]
        cut = limits is not None and any(not limits[0] <= value <= limits[1] for value in values)
        found.append({"mechanism": words_, "chart": chart, "cut": cut})
    return found


def _closeness(study: Study, mechanism: str, target: Target) -> tuple[str, int, int]:
    """Return at how many epsilons the predicted error is close to the empirical one, and of how many."""
    empirical, predicted = (study.over_grid(mechanism, target, column) for column in COLUMNS[1:3])
    both = [(a, b) for a, b in zip(empirical, predicted, strict=True) if a is not None and b is not None]
    return mechanism_words(mechanism), sum(a <= CLOSE * b and b <= CLOSE * a for a, b in both), len(both)


def view_guess(study: Study, k: int, target: Target) -> dict[str, Any]:
    """Return how often a guess at one answer is wrong, over epsilon, for each mechanism that has guesses."""
    name, blind = target.name, study.blind_error(target)
    guessed = [one for one in study.mechanisms if any(study.guess(at, one, name) for at in study.grid)]
    errors = [
        [words.finite(study.guess(epsilon, one, name).get("mean_error")) for epsilon in study.grid]
        for one in guessed
    ]
    rights = [
        (words.short(epsilon), mechanism_words(one), numbers(study.guess(epsilon, one, name).get("right")))
        for epsilon in study.grid
        for one in guessed
    ]
    cells = max((len(right) for *_, right in rights), default=0)
    return {
        "name": name,
        "blind": blind,
        "chart": _over_grid(
            study,
            f"guess-{k}",
            f"{name}: how often a guess at one respondent’s answer is wrong, over epsilon",
            [
                Curve(_bare(values, 100), study.mechanisms.index(one))
                for one, values in zip(guessed, errors, strict=True)
            ],
            up="wrong guesses",
            reference=None if blind is None else 100 * blind,
            unit="%",
        ),
        "rows": by_epsilon(study, errors),
        "mechanisms": [mechanism_words(one) for one in guessed],
        "without": [mechanism_words(one) for one in study.mechanisms if one not in guessed],
        "best": [(mechanism_words(one), values[-1]) for one, values in zip(guessed, errors, strict=True)],
        "columns": filled(target.labels, cells, "no answer") if cells <= _WIDEST else [],
        "printed": cells <= _WIDEST_PRINTED,
        "rights": [(epsilon, one, filled(right, cells)) for epsilon, one, right in rights],
    }


def by_epsilon(study: Study, columns: Sequence[Sequence[float | None]]) -> list[tuple[str, Any]]:
    """Return each epsilon as it is shown, with one value of each column."""
    return [
        (words.short(epsilon), [column[place] for column in columns])
        for place, epsilon in enumerate(study.grid)
    ]


def _over_grid(study: Study, name: str, title: str, curves: list[Curve], **options: Any) -> Any:
    """Draw curves over the study's epsilons, unless there is nothing that goes over them."""
    if len(study.grid) < 2 or not any(value is not None for one in curves for value in one.series.estimates):
        return None
    return draw_curves(name, title, study.grid, curves, across="ε", **options)


def _bare(values: Values, scale: float = 1.0) -> Series:
    return Series(
        "", [None if value is None else scale * value for value in values], [(None, None)] * len(values)
    )


def _bars(means: Values, errors: Values) -> list[tuple[float | None, float | None]]:
    """Return one standard error to either side of each mean."""
    return [
        (None, None) if mean is None or error is None else (mean - error, mean + error)
        for mean, error in zip(means, errors, strict=True)
    ]


def _positive(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None and value > 0]


def _reach(means: Values, errors: Values, truth: float | None) -> float:
    """Return how far from the truth a curve with its bars goes."""
    if truth is None:
        return 0.0
    pairs = zip(means, errors, strict=True)
    return max((abs(mean - truth) + (error or 0.0) for mean, error in pairs if mean is not None), default=0.0)
