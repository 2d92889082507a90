"""Orders of elimination: how few ballots to replace for candidates to go in a given order, as an integer program."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from jobs.election.margins.leads import behind, falling
from jobs.election.margins.margin import Counts, Replacement, distinct, numbers_of, spread
from jobs.election.margins.programs import Program
from udfs.contests import FirstChoice, members
from udfs.profile import Profile

_CHOICES_KEPT = 128
"""Columns of a byte a row."""


class Tallies:
    """First choices among any set of candidates, a set being the whole number whose bits are its members."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.choices = lru_cache(_CHOICES_KEPT)(self._choices)
        self.tally = lru_cache(None)(self._tally)

    def _choices(self, active: int) -> npt.NDArray[np.uint8]:
        """Return whom each ballot places first among a set; `profile.candidates` where that is nobody."""
        numbers = np.array([*members(active), self.profile.candidates], dtype=np.uint8)
        return numbers[FirstChoice(members(active)).choices(self.profile.places)]

    def _tally(self, active: int) -> list[int]:
        """Return how many ballots place each candidate first among a set, and how many nobody."""
        numbers = numbers_of(self.choices(active), self.profile.counts, self.profile.candidates + 1)
        return list(map(int, numbers))

    def bound(self, active: int, goes: int) -> int:
        """Return the fewest replacements for somebody to be the next to go of a set, whatever went before."""
        tally = self.tally(active)
        rivals = [tally[one] - behind(goes, one) for one in members(active ^ 1 << goes)]
        return falling(tally[goes], rivals)

    def reachable(self, limit: int) -> dict[int, int]:
        """Return the sets that may be who is left at some time, at fewer replacements than a limit.

        Returns
        -------
        dict of int to int
            A lower bound for each: of all orders in which the others may have gone, the least by the round that
            takes the most. (Never below the bound of Blom, Teague, Stuckey, Tidhar 2016, section 4, which takes
            the most first choices that one of the set can ever have for the least that one who has gone had.)
        """
        everybody = (1 << self.profile.candidates) - 1
        found, waiting = {everybody: 0}, [(0, everybody)]
        while waiting:
            bound, active = heapq.heappop(waiting)
            if bound > found[active]:
                continue
            for one in members(active):
                rest, least = active ^ 1 << one, max(bound, self.bound(active, one))
                if rest and least < found.get(rest, limit):
                    found[rest] = least
                    heapq.heappush(waiting, (least, rest))
        return found

    def order(self, active: int) -> tuple[int, ...]:
        """Return the order in which the members of a set go, the winner last."""
        order = []
        while active:
            tally = self.tally(active)
            order.append(min(members(active), key=lambda one: (tally[one], -one)))
            active ^= 1 << order[-1]
        return tuple(order)


def set_of(candidates: tuple[int, ...]) -> int:
    """Return a set as a whole number."""
    return sum(1 << candidate for candidate in candidates)


@dataclass(frozen=True, eq=False)
class Ending:
    """The last candidates of an order of elimination, the winner last; all others have gone before.

    All that matters of a ballot is whom it counts for in each round, its signature, so that most ballots are alike.
    Nobody is an entry of it, too: blank and exhausted ballots can be replaced. Of the ballots added, one that counts
    for nobody in some round is never better than one that counts for a later candidate there; so they are complete
    rankings. Each passes from one candidate to a later one, until the winner: as a flow they take far fewer
    unknowns than there are signatures.

    Parameters
    ----------
    tallies : Tallies
    order : tuple of int
        Two at least.

    References
    ----------
    Magrino, Rivest, Shen, Wagner: Computing the margin of victory in IRV elections (2011), section 4.
    """

    tallies: Tallies
    order: tuple[int, ...]

    @cached_property
    def signatures(self) -> tuple[npt.NDArray[np.uint8], Counts, Counts]:
        """The different signatures, which of them each ballot has, and how many ballots have each."""
        rounds = [self.tallies.choices(set_of(self.order[gone:])) for gone in range(len(self.order) - 1)]
        return distinct(np.stack(rounds, axis=1), self.tallies.profile.counts)

    @cached_property
    def passes(self) -> tuple[tuple[int, int], ...]:
        """From where to where in the order an added ballot may pass: -1 is before the first.

        It never stands with whoever goes next, unless they are the winner: to go on at once is as good.
        """
        last = len(self.order) - 1
        sources = (-1, *range(1, last))
        return tuple(
            (source, target)
            for source in sources
            for target in range(source + 1, last + 1)
            if target == last or target > source + 1
        )

    @cached_property
    def program(self) -> Program:
        """The fewest ballots to remove of each signature, and to add along each pass.

        In each round, everybody left must lead whoever goes: by nothing where the latter comes later in the tie
        order, else by one. No more ballots are added than removed, nor leave a candidate than have come there.

        That takes no more than 0, 1, 2, ... first choices, in turn. Where there are fewer ballots, the last unknown
        is how many to invent, each for more than all ballots there are: no program is infeasible.
        """
        kinds, _, numbers = self.signatures
        order, ballots = np.array(self.order), self.tallies.profile.ballots
        rounds, rivals = np.triu_indices(len(order), 1)
        goes, leads = order[rounds], order[rivals]
        removed = (kinds[:, rounds] == goes).astype(np.int64).T - (kinds[:, rounds] == leads).T
        source, target = np.array(self.passes).T
        has_come = source < rounds[:, None]
        added = (has_come & (target == rivals[:, None])).astype(np.int64)
        added -= has_come & (target == rounds[:, None])
        stops = np.arange(1, len(order) - 1)[:, None]
        stay = (target == stops).astype(np.int64) - (source == stops)
        start = np.concatenate([np.ones_like(numbers), -(source == -1).astype(np.int64), [1]])
        goals = np.pad(np.concatenate([removed, added], axis=1), ((0, 0), (0, 1)))
        through = np.pad(stay, ((0, 0), (len(numbers), 1)))
        staircase = len(rounds)
        return Program(
            cost=np.concatenate(
                [np.ones_like(numbers), np.zeros_like(source), [1 + min(ballots, staircase)]]
            ),
            matrix=np.concatenate([goals, start[None], through]),
            least=np.concatenate(
                [(goes < leads) + removed @ numbers, np.zeros(1 + len(stops), dtype=np.int64)]
            ),
            most=np.concatenate(
                [numbers, np.full_like(source, max(ballots, staircase)), [max(0, staircase - ballots)]]
            ),
        )

    @property
    def bound(self) -> int:
        """No fewer ballots than this bring the ending about, whatever goes before."""
        return self.program.bound

    def replacement(self) -> Replacement | None:
        """Return the fewest replacements for an ending that holds all candidates; None where there are too few."""
        kinds, which, _ = self.signatures
        removed, added, (invented,) = np.split(
            self.program.solve(), [len(kinds), len(kinds) + len(self.passes)]
        )
        if invented:
            return None
        taken = spread(removed, which, self.tallies.profile.counts)
        flow = dict(zip(self.passes, added.tolist(), strict=True))
        return Replacement.by(self.tallies.profile, taken, self._rankings(flow, int(removed.sum())))

    def _rankings(self, flow: dict[tuple[int, int], int], ballots: int) -> list[tuple[tuple[int, ...], int]]:
        """Return rankings that pass along the flow and then to the winner, and how many ballots of each."""
        come: dict[int, list[tuple[tuple[int, ...], int]]] = {-1: [((), ballots)]}
        rankings = []
        for place in range(-1, len(self.order)):
            for ranking, waiting in come.get(place, []):
                left = waiting
                for (source, target), free in flow.items():
                    moved = min(left, free) if source == place else 0
                    if moved:
                        come.setdefault(target, []).append(((*ranking, self.order[target]), moved))
                        flow[source, target] -= moved
                        left -= moved
                if left:
                    rest = tuple(one for one in reversed(self.order) if one not in ranking)
                    rankings.append(((*ranking, *rest), left))
        return rankings
