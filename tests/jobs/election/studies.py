"""A booth whose ballots are public, and a study of few small elections."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.jobs.election.booths import KINDS, Booth

STUDY: dict[str, Any] = {
    "epsilons": [1, 4],
    "mechanisms": ["central", "local", "interactive"],
    "rules": ["plurality", "runoff"],
    "ballots": [100, 200],
    "candidates": [2, 3],
    "electorates": 2,
    "replications": 8,
    "seed": 7,
}


def study_booth(root: Path, rule: str = "stv", **study: Any) -> Booth:
    """Return a booth with a study in its spec."""
    booth = Booth(root, rule, "local").set("population", public=True).set("privacy", epsilon=1)
    booth.vote([(ranking, count // 50) for ranking, count in KINDS], files=2)
    booth.given["study"] = STUDY | study
    return booth
