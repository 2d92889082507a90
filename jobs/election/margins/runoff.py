"""Plurality with runoff: the winner misses the final, or loses it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations

import numpy as np
import numpy.typing as npt

from jobs.election.margins.leads import behind, falling, lacking
from jobs.election.margins.margin import Counts, Replacement, in_turn, numbers_of, raising, spread
from jobs.election.rules.runoff import Runoff
from udfs.contests import Duels, FirstChoice
from udfs.profile import Profile


def fewest_for_runoff(rule: Runoff, profile: Profile, winner: int) -> Replacement:
    """Return the fewest replacements that unseat the winner: two others pass them, or one meets and beats them.

    References
    ----------
    Xia 2012, theorem 7.
    """
    choices = FirstChoice(rule.everybody).choices(profile.places)
    scores = numbers_of(choices, profile.counts, rule.candidates + 1)
    others = [one for one in rule.everybody if one != winner]
    losses = (_Lost(profile, choices, scores, winner, one) for one in others)
    misses = (_Missed(profile, choices, scores, winner, *pair) for pair in combinations(others, 2))
    ways: Iterator[_Lost | _Missed] = chain(losses, misses)
    return min(ways, key=lambda way: way.fewest).replacement()


@dataclass(frozen=True, eq=False)
class _Way:
    """A way to unseat the winner.

    Parameters
    ----------
    profile : Profile
    choices : ndarray of uint8, shape (rows,)
        Whom each ballot places first; nobody is `profile.candidates`.
    scores : ndarray of int64, shape (candidates + 1,)
        First choices of each candidate, and of nobody.
    winner, challenger : int
    """

    profile: Profile
    choices: npt.NDArray[np.uint8]
    scores: Counts
    winner: int
    challenger: int


@dataclass(frozen=True, eq=False)
class _Missed(_Way):
    """The challenger and another both pass the winner, who misses the final."""

    other: int

    @property
    def race(self) -> tuple[int, list[int]]:
        """The winner's score, and those of the two, less the lead they need."""
        rivals = (self.challenger, self.other)
        return int(self.scores[self.winner]), [
            int(self.scores[one]) - behind(self.winner, one) for one in rivals
        ]

    @cached_property
    def fewest(self) -> int:
        """As many as it takes; more than all ballots where there is but one."""
        return falling(*self.race)

    def replacement(self) -> Replacement:
        """Take first choices of the winner, then ballots that serve neither of the two."""
        turns = np.full(self.profile.candidates + 1, 1)
        turns[self.winner], turns[[self.challenger, self.other]] = 0, 2
        kinds = turns[self.choices]
        wanted = in_turn(self.fewest, numbers_of(kinds, self.profile.counts, 3))
        one, _ = lacking(*self.race, self.fewest)
        rankings = [
            (raising(rival, self.winner, self.profile.candidates), number)
            for rival, number in ((self.challenger, one), (self.other, self.fewest - one))
        ]
        return Replacement.by(self.profile, spread(wanted, kinds, self.profile.counts), rankings)


@dataclass(frozen=True, eq=False)
class _Lost(_Way):
    """The challenger reaches the final, and beats the winner if they meet there.

    All replaced ballots rank the challenger first and the winner last, and none did the former before. They are
    of kinds, a table: by first choice, and by whether they raise the challenger against the winner by 2, 1 or 0.
    """

    @cached_property
    def lead(self) -> int:
        """By how much the challenger must be raised for the winner to lose."""
        duel = Duels(((self.winner, self.challenger),))
        return int(self.profile.score(duel)[0]) + behind(self.winner, self.challenger)

    @cached_property
    def kinds(self) -> npt.NDArray[np.intp]:
        """The kind of each ballot, as a place in the flat table."""
        duel = Duels(((self.challenger, self.winner),))
        return self.choices.astype(np.intp) * 3 + 1 + duel.encode(self.profile.places)[:, 0]

    @cached_property
    def table(self) -> Counts:
        """How many ballots there are of each kind that may be replaced: int64, shape (candidates + 1, 3)."""
        sums = numbers_of(self.kinds, self.profile.counts, 3 * len(self.scores)).reshape(-1, 3)
        sums[self.challenger] = 0
        return sums

    def wanted(self, ballots: int) -> Counts:
        """Return which ballots serve best, like `table`: so many, or more where fewer cannot bring them to the final.

        Rivals who would keep the challenger out lose their excess of first choices. Those ballots, and the rest
        from anywhere, are the ones that raise the challenger most.
        """
        rivals = np.arange(len(self.scores) - 1)
        excess = np.zeros_like(self.scores)
        excess[:-1] = self.scores[:-1] - self.scores[self.challenger] - ballots + (rivals < self.challenger)
        excess[[self.challenger, self.winner]] = 0
        excess = np.maximum(excess, 0)
        forced = in_turn(excess[:, None], self.table)
        left = self.table - forced
        free = in_turn(ballots - forced.sum(), left.T.ravel()).reshape(left.T.shape).T
        wanted: Counts = forced + free
        return wanted

    def suffice(self, ballots: int) -> bool:
        """Return whether so many do."""
        wanted = self.wanted(ballots)
        return bool(wanted.sum() <= ballots and (wanted @ [2, 1, 0]).sum() >= self.lead)

    @cached_property
    def fewest(self) -> int:
        """The least number that suffices: if any does, so does one more, up to all the table."""
        tried = range(1, int(self.table.sum()))
        return 1 + bisect_left(tried, True, key=self.suffice)

    def replacement(self) -> Replacement:
        """Take the ballots wanted."""
        wanted = self.wanted(self.fewest)
        taken = spread(wanted.ravel(), self.kinds, self.profile.counts)
        ranking = raising(self.challenger, self.winner, self.profile.candidates)
        return Replacement.by(self.profile, taken, [(ranking, self.fewest)])
