"""How a spec asks: the release of its one round, or its rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jobs.election.interactive import Rounds, default_shares
from jobs.election.local import Release, plan_release, release_of
from jobs.election.spec import ElectionSpec


def release_for(
    spec: ElectionSpec, ballots: int, seed: bytes, metadata: Sequence[dict[str, Any]] = ()
) -> Release:
    """Return the release that a spec asks for, or that its reports were made by.

    Raises
    ------
    SpecError
        Where the randomizer cannot answer the rule.
    SchemaError
        Where footers do not say how reports were made.
    """
    if spec.rule.candidates == 1:
        return Release({}, "one candidate stands")
    if spec.collected is not None:
        return release_of(metadata, spec.order)
    return plan_release(spec.rule, spec.privacy.randomizer, spec.privacy.epsilon, seed, ballots)


def rounds_for(spec: ElectionSpec, ballots: int, seed: bytes) -> Rounds:
    """Return how a spec asks in rounds."""
    privacy = spec.privacy
    return Rounds(
        spec.rule,
        privacy.randomizer,
        privacy.epsilon,
        privacy.rounds == "share-voters",
        privacy.shares or default_shares(spec.rule),
        seed,
        ballots,
    )
