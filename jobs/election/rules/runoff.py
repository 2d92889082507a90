"""Plurality with runoff: a duel of the two who are placed first by the most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jobs.election.rules.rule import Count, Rule
from udfs.contests import Contest, Duels, FirstChoice


@dataclass(frozen=True)
class Runoff(Rule):
    """Plurality with runoff."""

    name: ClassVar[str] = "runoff"

    def count(self) -> Count:
        """Ask for first choices, then for one duel."""
        if self.candidates == 1:
            return 0
        scores = yield FirstChoice(self.everybody)
        one, other = sorted(map(int, np.argsort(-scores, kind="stable")[:2]))
        (margin,) = yield Duels(((one, other),))
        return one if margin >= 0 else other

    def release(self) -> tuple[Contest, ...]:
        """Return first choices among all, and all duels."""
        return (FirstChoice(self.everybody), Duels.of_all(self.candidates))

    @property
    def most_rounds(self) -> int:
        """Two."""
        return 2 if self.candidates > 1 else 0
