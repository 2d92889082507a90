"""Maximin: whoever loses their worst duel by the least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jobs.election.rules.pairs import margins
from jobs.election.rules.rule import Count, Rule, Scores, first
from udfs.contests import Contest, Duels


@dataclass(frozen=True)
class Maximin(Rule):
    """Maximin."""

    name: ClassVar[str] = "maximin"
    title: ClassVar[str] = "maximin"

    def count(self) -> Count:
        """Ask for all duels."""
        if self.candidates == 1:
            return 0
        duels = Duels.of_all(self.candidates)
        return first(worst_duels(self.candidates, (yield duels)))

    def release(self) -> tuple[Contest, ...]:
        """Return all duels."""
        return (Duels.of_all(self.candidates),)


def worst_duels(candidates: int, scores: Scores) -> Scores:
    """Return each candidate's maximin score: the margin of their worst duel."""
    table = margins(candidates, Duels.of_all(candidates), scores)
    others = ~np.eye(candidates, dtype=np.bool_)
    worst: Scores = np.array([row[other].min() for row, other in zip(table, others, strict=True)])
    return worst
