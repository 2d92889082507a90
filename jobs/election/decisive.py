"""From which margin of victory on an election's answer is right, but for the failure probability of its spec."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jobs.election.bounds import central_bound, local_bound, paper_bound
from jobs.election.count import preview
from jobs.election.local import answering
from jobs.election.models import release_for, rounds_for
from jobs.election.spec import ElectionSpec


def decisive_margin(
    spec: ElectionSpec, ballots: int, metadata: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """Return the decisive margin of what runs, and the paper's for its own mechanism.

    It depends on no ballot but on their number.

    Parameters
    ----------
    spec : ElectionSpec
    ballots : int
    metadata : sequence of dict
        The footers of reports that were collected.
    """
    rule, privacy = spec.rule, spec.privacy
    failure = float(privacy.failure_probability)
    if privacy.model == "central":
        value = central_bound(rule, privacy.epsilon, failure, privacy.selection, privacy.score)
        bound = "the law of the selection"
    else:
        value, bound = _local(spec, ballots, failure, metadata), "the noise of the scores, and certificates"
    paper = paper_bound(rule, privacy.model, ballots, privacy.epsilon, failure, privacy.score)
    return {
        "value": value if math.isfinite(value) else None,
        "bound": bound,
        "paper": paper if paper is None or math.isfinite(paper) else None,
        "failure_probability": privacy.failure_probability,
    }


def _local(spec: ElectionSpec, ballots: int, failure: float, metadata: Sequence[dict[str, Any]]) -> float:
    """Return the decisive margin of noisy scores."""
    rule = spec.rule
    if spec.privacy.model == "interactive":
        rounds = rounds_for(spec, ballots, bytes(32))
        noises = [
            rounds.mechanism(place, contest)[0].noise(contest, ballots)
            for place, contest in enumerate(preview(rule.rounds()))
        ]
        return local_bound(rule, noises, ballots, failure, fresh=not rounds.share_voters)
    release = release_for(spec, ballots, bytes(32), metadata)
    noises = [
        answering(release.mechanisms, contest)[1].noise(contest, ballots) for contest in preview(rule.count())
    ]
    return local_bound(rule, noises, ballots, failure)
