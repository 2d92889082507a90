"""Plurality: whoever is placed first by the most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jobs.election.rules.rule import Count, Rule, first
from udfs.contests import Contest, FirstChoice


@dataclass(frozen=True)
class Plurality(Rule):
    """Plurality."""

    name: ClassVar[str] = "plurality"
    title: ClassVar[str] = "plurality"
    counts_first_choices: ClassVar[bool] = True

    def count(self) -> Count:
        """Ask for first choices."""
        if self.candidates == 1:
            return 0
        scores = yield FirstChoice(self.everybody)
        return first(scores)

    def release(self) -> tuple[Contest, ...]:
        """Return first choices among all."""
        return (FirstChoice(self.everybody),)
