"""Single transferable vote for one seat: the fewest first choices go, until one is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jobs.election.rules.rule import Count, Rule, last
from udfs.contests import Contest, EveryFirstChoice, FirstChoice


@dataclass(frozen=True)
class SingleTransferableVote(Rule):
    """Single transferable vote, one seat: instant runoff. Of the fewest, the last in the tie order goes."""

    name: ClassVar[str] = "stv"
    title: ClassVar[str] = "single transferable vote"
    counts_first_choices: ClassVar[bool] = True

    def count(self) -> Count:
        """Ask for first choices among whoever is left, again and again."""
        active = self.everybody
        while len(active) > 1:
            scores = yield FirstChoice(active)
            gone = last(scores)
            active = (*active[:gone], *active[gone + 1 :])
        return active[0]

    def release(self) -> tuple[Contest, ...]:
        """Return first choices among every set of candidates."""
        return (EveryFirstChoice(self.candidates),)

    @property
    def most_rounds(self) -> int:
        """One less than there are candidates."""
        return self.candidates - 1
