"""The paper's table 1 as an experiment: from which margin of victory on each model names the right winner.

Elections are made of every margin that is tried: random ones, and those that the lower bounds are proved by. Each is
held again and again by what an election of a spec runs, and the share of right outcomes tells the measured decisive
margin. Beside it stand the decisive margin that is proved for what ran, the paper's for its own mechanism, and what no
mechanism can do better than. The population is public, and its own election is one more.

References
----------
papers/private-voting, table 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any

import numpy as np

from jobs.election.bounds import central_lower_bound, local_lower_rate
from jobs.election.decisive import decisive_margin
from jobs.election.ladder import Crossing, Rungs, crossing, next_margin, wilson
from jobs.election.margins import Margin, margin_of_victory
from jobs.election.profiles.instance import numbered
from jobs.election.replicate import OWN, Point, Replicate, Series, add, replications_a_task
from jobs.election.rules import RULES
from jobs.election.spec import ElectionSpec, ElectionTable
from jobs.election.study_claims import CLAIMS, check_claim, together
from jobs.election.study_elections import families, widest
from jobs.election.study_spec import ElectionStudyTable, StudiedRule
from jobs.population import Population
from udfs.asides import Aside
from udfs.errors import SchemaError
from udfs.profile import Profile, ProfileTally

_BEYOND_THE_LAW = 2
"""So many times the bound are central ladders: it is the least that is enough, and not above it."""
_GROWTHS: dict[str, Callable[[dict[str, Any]], float | None]] = {
    "measured": lambda one: one["families"][0]["margin"],
    "bound": lambda one: one["bound"],
    "paper": lambda one: one["paper"],
}


def points(spec: ElectionSpec, study: ElectionStudyTable) -> tuple[Point, ...]:
    """Return the points of a study, by rule and by model; none in rounds where a rule has but one."""
    return tuple(
        Point(election_at(spec, model, epsilon, (rule, candidates)), ballots)
        for rule in study.rules
        for model in study.mechanisms
        for ballots, candidates, epsilon in study.sizes
        if model != "interactive" or RULES[rule](candidates).most_rounds > 1
    )


def election_at(
    spec: ElectionSpec, model: str, epsilon: Decimal, made: tuple[StudiedRule, int] | None = None
) -> ElectionSpec:
    """Return the election of one point: the population's own, or one that is made, by rule and candidates."""
    table = spec.election
    if made is not None:
        table = ElectionTable.model_construct(rule=made[0], candidates=numbered("c", made[1]))
    privacy = spec.privacy.model_copy(update={"model": model, "epsilon": epsilon})
    given = {name: getattr(spec, name) for name in ElectionSpec.model_fields}
    return ElectionSpec.model_construct(**(given | {"election": table, "privacy": privacy, "study": None}))


def learn_truth(spec: ElectionSpec, population: Population) -> tuple[Profile, Margin]:
    """Count the ballots of a public population, and find their outcome and its margin.

    Raises
    ------
    SchemaError
        For a population without ballots.
    """
    if population.rows == 0:
        raise SchemaError("population", "must have ballots, so that there is a truth", "no rows")
    tally = ProfileTally(spec.rule.candidates)
    profile: Profile = population.ask([(spec.question, Aside())], "count ballots", [tally])[-1]
    return profile, margin_of_victory(spec.rule, profile)


def run_study(spec: ElectionSpec, study: ElectionStudyTable, population: Population) -> dict[str, Any]:
    """Measure decisive margins over a grid; return what study.json holds.

    Raises
    ------
    SchemaError
        For a population without ballots.
    """
    profile, truth = learn_truth(spec, population)
    claims = population.reduce(range(len(CLAIMS)), check_claim, together, "check profiles")
    grid = points(spec, study)
    own = [
        Point(election_at(spec, model, epsilon), profile.ballots)
        for model in study.mechanisms
        for epsilon in study.epsilons
        if model != "interactive" or spec.rule.most_rounds > 1
    ]
    series = [Series(point, family) for point in grid for family in families(point.spec.rule, point.model)]
    series += [Series(point, OWN) for point in own]
    chunk = Replicate(tuple(series), study.seed, study.electorates, study.replications, profile, truth)
    wanted = 1 - float(spec.privacy.failure_probability)
    decisive = {point: decisive_margin(point.spec, point.ballots) for point in (*grid, *own)}
    tops = [_top(one, decisive[one.point]["value"], truth) for one in series]
    rungs = _climb(chunk, tops, wanted, population)
    held = {
        (one.point, one.family): (found, top) for one, found, top in zip(series, rungs, tops, strict=True)
    }
    documents = [_point(point, decisive[point], held, wanted) for point in grid]
    return {
        "replications": study.replications,
        "electorates": study.electorates,
        "seed": study.seed,
        "failure_probability": spec.privacy.failure_probability,
        "base": study.base,
        "rules": list(study.rules),
        "models": list(study.mechanisms),
        "points": documents,
        "growth": list(_growths(study, documents)),
        "claims": [claims[place] for place in sorted(claims)],
        "own": {
            "rule": spec.rule.name,
            "ballots": profile.ballots,
            "candidates": spec.rule.candidates,
            "outcome": None if truth.outcome is None else spec.order[truth.outcome],
            "margin": truth.margin,
            "points": [_own(point, decisive[point], held[point, OWN][0][truth.margin]) for point in own],
        },
    }


def _top(series: Series, bound: float | None, truth: Margin) -> int:
    """Return the largest margin that is tried: what is proved to be enough, or what the ballots allow."""
    if series.family == OWN:
        return truth.margin
    point = series.point
    most = widest(series.family, point.spec.rule, point.ballots)
    if bound is None:
        return most
    beyond = _BEYOND_THE_LAW if point.model == "central" else 1
    return max(1, min(math.ceil(bound) * beyond, most))


def _climb(
    chunk: Replicate, tops: Sequence[int], wanted: float, population: Population
) -> list[dict[int, tuple[int, int]]]:
    """Try margins of every series, as many in turn as they need; return what came of each.

    A stage tries one margin of each series that is not done, and the next one depends on what came of it.
    """
    rungs: list[dict[int, tuple[int, int]]] = [{} for _ in tops]
    while True:
        asked = [
            (place, margin)
            for place, (one, found, top) in enumerate(zip(chunk.series, rungs, tops, strict=True))
            if (margin := _next(one, found, top, wanted)) is not None
        ]
        if not asked:
            return rungs
        units = [
            (place, margin, replications)
            for place, margin in asked
            for replications in _shared(chunk.replications, replications_a_task(chunk.series[place].point))
        ]
        stage = f"replicate {max(map(len, rungs)) + 1}"
        for (place, margin), counts in population.reduce(units, chunk, add, stage).counts.items():
            rungs[place][margin] = counts


def _next(series: Series, found: Rungs, top: int, wanted: float) -> int | None:
    """Return the margin of a series to try next; there is but one of the population's own election."""
    if series.family == OWN:
        return None if found else top
    return next_margin(found, top, wanted)


def _shared(replications: int, step: int) -> Iterator[range]:
    """Yield all replications, so many at a time."""
    for first in range(0, replications, step):
        yield range(first, min(first + step, replications))


def _point(
    point: Point, decisive: dict[str, Any], held: dict[tuple[Point, str], Any], wanted: float
) -> dict[str, Any]:
    """Return what was measured at a point: of each family, and of the one that needs the largest margin."""
    kinds = []
    for family in families(point.spec.rule, point.model):
        rungs, top = held[point, family]
        kinds.append({"family": family, "largest_tried": top} | _measured(rungs, crossing(rungs, wanted)))
    worst = max(kinds, key=lambda one: one["largest_tried"] if one["margin"] is None else one["margin"])
    rule, epsilon, failure = point.spec.rule, point.epsilon, 1 - wanted
    if point.model == "central":
        lower, is_rate = central_lower_bound(rule, epsilon, failure), False
    else:
        lower, is_rate = local_lower_rate(point.ballots, epsilon), True
    return {
        "rule": rule.name,
        "model": point.model,
        "ballots": point.ballots,
        "candidates": rule.candidates,
        "epsilon": epsilon,
        "measured": worst["margin"],
        "interval": [worst["low"], worst["high"]],
        "family": worst["family"],
        "reached": worst["margin"] is not None,
        "bound": decisive["value"],
        "paper": decisive["paper"],
        "lower": lower,
        "lower_is": "a rate, but for a constant" if is_rate else "a bound",
        "families": kinds,
    }


def _measured(rungs: Rungs, found: Crossing) -> dict[str, Any]:
    margins = sorted(rungs)
    return asdict(found) | {
        "margins": margins,
        "right": [rungs[margin][0] for margin in margins],
        "tried": [rungs[margin][1] for margin in margins],
    }


def _own(point: Point, decisive: dict[str, Any], counts: tuple[int, int]) -> dict[str, Any]:
    """Return how often a model named the population's own winner."""
    right, tried = counts
    return {
        "model": point.model,
        "epsilon": point.epsilon,
        "right": right,
        "tried": tried,
        "share": right / tried,
        "interval": list(wilson(right, tried)),
        "bound": decisive["value"],
        "paper": decisive["paper"],
    }


def _growths(study: ElectionStudyTable, found: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield how margins grow by each size, of every rule and model: the slope over the log of both."""
    base = study.base
    for rule in study.rules:
        for model in study.mechanisms:
            ours = [one for one in found if (one["rule"], one["model"]) == (rule, model)]
            if ours:
                yield {"rule": rule, "model": model} | {
                    size: _growth([one for one in ours if _varies(one, size, base)], size) for size in base
                }


def _varies(one: dict[str, Any], size: str, base: dict[str, Any]) -> bool:
    """Tell whether a point differs from the base in one size at most."""
    return all(one[other] == value for other, value in base.items() if other != size)


def _growth(found: Sequence[dict[str, Any]], size: str) -> dict[str, float | None]:
    """Return the slopes of what was measured of the first family, and of both bounds; None of fewer than two."""
    slopes: dict[str, float | None] = {}
    for name, margin in _GROWTHS.items():
        known = [(float(one[size]), margin(one)) for one in found if margin(one)]
        slopes[name] = None
        if len(known) > 1:
            across, up = np.log(np.array(known, dtype=np.float64)).T
            slopes[name] = float(np.polyfit(across, up, 1)[0])
    return slopes
