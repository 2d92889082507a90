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
    title: ClassVar[str] = "plurality with runoff"
    counts_first_choices: ClassVar[bool] = True

    def count(self) -> Count:
        """Ask for first choices, then for one duel; of two candidates, for their duel alone."""
        if self.candidates == 1:
            return 0
        one, other = 0, 1
        if self.candidates > 2:
            scores = yield FirstChoice(self.everybody)
            one, other = sorted(map(int, np.argsort(-scores, kind="stable")[:2]))
        (margin,) = yield Duels(((one, other),))
        return one if margin >= 0 else other

    def release(self) -> tuple[Contest, ...]:
        """Return first choices among all, and all duels; of two candidates, their duel."""
        duels = Duels.of_all(self.candidates)
        return (FirstChoice(self.everybody), duels) if self.candidates > 2 else (duels,)

    @property
    def most_rounds(self) -> int:
        """Two, but of two candidates one."""
        return min(self.candidates - 1, 2)
