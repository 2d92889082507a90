"""From which margin of victory on an election's answer is right, but for the failure probability of its spec."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jobs.election.assurance import is_assured
from jobs.election.bounds import central_bound, local_bound, paper_bound
from jobs.election.count import Round, preview
from jobs.election.local import answering
from jobs.election.models import release_for, rounds_for
from jobs.election.spec import ElectionSpec
from udfs.score_noise import Noise


def decisive_margin(
    spec: ElectionSpec,
    ballots: int,
    metadata: Sequence[dict[str, Any]] = (),
    held: Sequence[Round] = (),
) -> dict[str, Any]:
    """Return the decisive margin of what runs, and the paper's for its own mechanism.

    It depends on the number of ballots and, once rounds were held, on how many public draws asked what; never on
    a ballot.

    Parameters
    ----------
    spec : ElectionSpec
    ballots : int
    metadata : sequence of dict
        The footers of reports that were collected.
    held : sequence of Round
        What was asked; before that, as many are taken to be asked as can be expected.
    """
    rule, privacy = spec.rule, spec.privacy
    failure = float(privacy.failure_probability)
    if not ballots:
        value, bound = 0.0, "that nobody voted: there is one possible outcome"
    elif privacy.model == "central":
        value = central_bound(rule, privacy.epsilon, failure, privacy.selection, privacy.score)
        bound = "the law of the selection"
    else:
        noises = _noises(spec, ballots, metadata, held)
        value = math.inf if noises is None else local_bound(rule, noises, ballots, failure, _fresh(spec))
        bound = "the noise of the scores, and certificates"
    paper = paper_bound(rule, privacy.model, ballots, privacy.epsilon, failure, privacy.score)
    return {
        "value": value if math.isfinite(value) else None,
        "bound": bound,
        "paper": paper if paper is None or math.isfinite(paper) else None,
        "failure_probability": privacy.failure_probability,
    }


def assured(
    spec: ElectionSpec,
    outcome: int | None,
    ballots: int,
    metadata: Sequence[dict[str, Any]],
    held: Sequence[Round],
) -> bool:
    """Tell whether the scores leave no other outcome, but for the failure probability."""
    if not ballots:
        return True
    noises = _noises(spec, ballots, metadata, held)
    failure = float(spec.privacy.failure_probability)
    ties = spec.shared == "tie"
    return noises is not None and is_assured(spec.rule, outcome, held, noises, failure, _fresh(spec), ties)


def _fresh(spec: ElectionSpec) -> bool:
    """Tell whether each round's errors are independent of what earlier rounds told."""
    return spec.privacy.model == "interactive" and spec.privacy.rounds == "share-budget"


def _noises(
    spec: ElectionSpec, ballots: int, metadata: Sequence[dict[str, Any]], held: Sequence[Round]
) -> list[Noise] | None:
    """Return the noise of each question; None where nobody was asked one."""
    rule = spec.rule
    if any(one.fewest == 0 for one in held):
        return None
    asked = [(one.contest, one.fewest) for one in held]
    if spec.privacy.model == "interactive":
        rounds = rounds_for(spec, ballots, bytes(32))
        asked = asked or [(contest, 0) for contest in preview(rule.rounds())]
        return [
            rounds.mechanism(place, contest)[0].noise(contest, ballots, fewest)
            for place, (contest, fewest) in enumerate(asked)
        ]
    mechanisms = release_for(spec, ballots, bytes(32), metadata).mechanisms
    asked = asked or [(contest, 0) for contest in preview(rule.count())]
    return [answering(mechanisms, contest)[1].noise(contest, ballots, fewest) for contest, fewest in asked]
