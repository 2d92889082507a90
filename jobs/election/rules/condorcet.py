"""Condorcet: whoever wins every duel, or nobody."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from jobs.election.rules.pairs import margins
from jobs.election.rules.rule import Count, Rule
from udfs.contests import Contest, Duels


@dataclass(frozen=True)
class Condorcet(Rule):
    """The Condorcet rule: a duel is won by a strictly positive margin."""

    name: ClassVar[str] = "condorcet"
    title: ClassVar[str] = "the Condorcet rule"
    names_nobody: ClassVar[bool] = True

    def count(self) -> Count:
        """Ask for all duels."""
        if self.candidates == 1:
            return 0
        duels = Duels.of_all(self.candidates)
        table = margins(self.candidates, duels, (yield duels))
        for candidate in range(self.candidates):
            if all(table[candidate, other] > 0 for other in self.everybody if other != candidate):
                return candidate
        return None

    def release(self) -> tuple[Contest, ...]:
        """Return all duels."""
        return (Duels.of_all(self.candidates),)

    def rounds(self) -> Count:
        """Hold a knockout tournament, then let whoever is left duel with everybody (algorithm 7)."""
        if self.candidates <= 2:
            return (yield from self.count())
        left = list(self.everybody)
        while len(left) > 1:
            drawn = tuple(zip(left[0::2], left[1::2], strict=False))
            odd = left[-1:] if len(left) % 2 else []
            scores = yield Duels(drawn)
            winners = [
                one if score >= 0 else other for (one, other), score in zip(drawn, scores, strict=True)
            ]
            left = winners + odd
        winner = left[0]
        scores = yield Duels(tuple((winner, other) for other in self.everybody if other != winner))
        return winner if all(score > 0 for score in scores) else None

    @property
    def most_rounds(self) -> int:
        """The rounds of the knockout, and one to verify; of two candidates one."""
        return math.ceil(math.log2(self.candidates)) + 1 if self.candidates > 2 else self.candidates - 1
