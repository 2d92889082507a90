"""What an election would do and how decisive a race it needs, before a row is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from jobs.election.count import QUESTIONS, preview
from jobs.election.decisive import decisive_margin
from jobs.election.local import Release, answering
from jobs.election.models import release_for, rounds_for
from jobs.election.randomizers import ScoreMechanism, name_of, sums_when_asked
from jobs.election.spec import ElectionSpec
from jobs.population import Data
from udfs.choice import SampledChoice
from udfs.contests import Contest, Duels

Stage = dict[str, Any]


def plan_election(spec: ElectionSpec, data: Data) -> dict[str, Any]:
    """Return the plan of an election.

    Returns
    -------
    dict
        `stages`, `bytes`, `epsilon`, `predicted` and `reasons`, as `canvass plan --json` prints them. Predicted
        standard errors are the largest, whatever the ballots are, about the exact tally.
    """
    rows, model = data.rows, spec.privacy.model
    columns = [*([spec.population.id] if spec.population.id else [])]
    if spec.collected is None:
        columns += spec.question.columns
    rounds, reasons, written = _rounds(spec, data)
    if model == "local" and spec.collected is not None:
        release = release_for(spec, rows, bytes(32), data.metadata)
        columns += [part.column for question, _ in release.collected() for part in question.parts]
    read = {name: data.column_bytes.get(name, 0) for name in columns}
    drawing = spec.collected is None and spec.rule.candidates > 1
    return {
        "rows": rows,
        "stages": _stages(spec, data, columns, rounds),
        "bytes": {"read": sum(read.values()), "read_by_column": read, "written": written},
        "epsilon": {
            "total": spec.privacy.epsilon,
            "charged": spec.privacy.epsilon if drawing else Decimal(0),
        },
        "predicted": {"decisive_margin": decisive_margin(spec, rows, data.metadata), "rounds": rounds},
        "reasons": reasons,
    }


def _rounds(spec: ElectionSpec, data: Data) -> tuple[list[Stage], list[str], int]:
    """Return each round, with its predicted standard errors; why they ask as they do; and the bytes written."""
    rows, model = data.rows, spec.privacy.model
    if model == "central" or spec.rule.candidates == 1:
        return [], [f"{model}: nothing is asked of voters"], 0
    if model == "local":
        release = release_for(spec, rows, bytes(32), data.metadata)
        found = [
            _round(answering(release.mechanisms, one)[1], one, rows) for one in preview(spec.rule.count())
        ]
        names = ", ".join(map(name_of, release.mechanisms.values()))
        return found, [f"{names}: {release.reason}"], _written(spec, release, data)
    rounds = rounds_for(spec, rows, bytes(32))
    chosen = [(one, *rounds.mechanism(place, one)) for place, one in enumerate(preview(spec.rule.rounds()))]
    reasons = [f"round {place}: {name_of(one)}, {why}" for place, (_, one, why) in enumerate(chosen, 1)]
    return [_round(one, contest, rows) for contest, one, _ in chosen], reasons, 0


def _round(mechanism: ScoreMechanism, contest: Contest, rows: int) -> Stage:
    """Return what one question is, and how good its answer will be."""
    noise = mechanism.noise(contest, rows)
    share = float(mechanism.turn.share)
    return {
        "question": QUESTIONS[type(contest)],
        "of": len(contest.pairs) if isinstance(contest, Duels) else contest.dimension,
        "randomizer": name_of(mechanism),
        "voters": round(rows * share),
        "standard_error": math.sqrt(noise.score) if rows else None,
        "standard_error_of_a_gap": math.sqrt(noise.gap) if rows else None,
    }


def _stages(spec: ElectionSpec, data: Data, columns: Sequence[str], rounds: Sequence[Stage]) -> list[Stage]:
    """Return what is done in turn."""

    def stage(name: str, writes: str | None = None, reads: Sequence[str] = columns) -> Stage:
        return {"name": name, "tasks": data.tasks(), "reads": list(reads), "writes": writes}

    if spec.rule.candidates == 1:
        return []
    if spec.privacy.model == "central":
        return [stage("count ballots")]
    if spec.privacy.model == "interactive":
        return [stage(f"round {place}") for place in range(1, len(rounds) + 1)]
    release = release_for(spec, data.rows, bytes(32), data.metadata)
    ids = [spec.population.id] if spec.population.id else []
    passes = [stage(name, reads=[*ids, column]) for name, column in _passes(spec, release)]
    if spec.collected is not None:
        return [stage("count reports"), *passes]
    return [stage("randomize", "reports" if spec.output.reports else None), *passes]


def _passes(spec: ElectionSpec, release: Release) -> list[tuple[str, str]]:
    """Return the further passes over reports whose sums are too many to be made in one, and what each reads."""
    asked = [answering(release.mechanisms, contest) for contest in preview(spec.rule.count())]
    return [
        (f"question {place}", column)
        for place, (column, mechanism) in enumerate(asked, 1)
        if sums_when_asked(mechanism)
    ]


def _written(spec: ElectionSpec, release: Release, data: Data) -> int:
    """Return about how many bytes the reports take."""
    if spec.collected is not None or not spec.output.reports:
        return 0
    bits = 0
    for mechanism in release.mechanisms.values():
        if isinstance(mechanism, SampledChoice):
            widest = max(map(len, mechanism.contests))
            answer = math.ceil(math.log2(widest)) if mechanism.column.single else 8 * math.ceil(widest / 8)
            bits += answer + math.ceil(math.log2(len(mechanism.contests)))
        else:
            bits += 1
    return data.rows * bits // 8 + data.column_bytes.get(spec.population.id or "", 0)
