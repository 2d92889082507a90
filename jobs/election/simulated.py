"""Voters held in memory, who answer in this process under coins of a public seed: for studies on public ballots.

What they are asked and how they answer is what voters on a cluster are asked and answer: the same questions, the
same randomizers, the same estimates. Only their ballots are here already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from udfs.asking import Ask, Tally
from udfs.contests import Places
from udfs.draws import Numbered, RowDraws
from udfs.profile import Profile
from udfs.streams import derive_key

BLOCK_ROWS = 1 << 16
"""Ballots that are asked at a time. Their draws depend on it."""

Reports = npt.NDArray[np.generic]


@dataclass
class SimulatedVoters:
    """The voters of a profile: as much of a `jobs.population.Population` as an election asks for.

    Nothing is protected: whoever knows the key knows all coins.

    Parameters
    ----------
    profile : Profile
    key : bytes
        32 bytes of a public seed, of which voters' own coins are made: another key for every election.
    first : int
        The number of the first voter. Public draws follow from a mechanism's seed and the voters' numbers, so
        that elections whose voters have other numbers draw afresh under one mechanism.
    """

    profile: Profile
    key: bytes
    first: int = 0
    _kept: dict[str, list[Reports]] = field(default_factory=dict, repr=False)

    @property
    def rows(self) -> int:
        """How many ballots there are."""
        return self.profile.ballots

    def ask(self, asks: Sequence[Ask], round_name: str, tallies: Sequence[Tally] = ()) -> list[Any]:
        """Return the sum of reports to each ask, then each tally of them together."""
        return self._ask(asks, round_name, tallies, keep=False)

    def collect(self, asks: Sequence[Ask], round_name: str, tallies: Sequence[Tally] = ()) -> list[Any]:
        """Ask, and keep the reports, by the names of the questions."""
        return self._ask(asks, round_name, tallies, keep=True)

    def collected(self) -> SimulatedReports:
        """Return the reports that `collect` kept: a population of their own."""
        return SimulatedReports(self._kept)

    def _ask(self, asks: Sequence[Ask], round_name: str, tallies: Sequence[Tally], keep: bool) -> list[Any]:
        self._kept = {question.name: [] for question, _ in asks} if keep else self._kept
        summed = _Sums(asks, tallies)
        for start, places in self._blocks():
            standing = Numbered(self.first + start, len(places))
            reports = []
            for question, mechanism in asks:
                key = derive_key(self.key, round_name, question.name, mechanism.label, str(start))
                reports.append(mechanism.randomize(places, RowDraws(key, len(places), standing)))
                if keep:
                    self._kept[question.name].append(reports[-1])
            summed.add(reports)
        return summed.sums

    def _blocks(self) -> Iterator[tuple[int, Places]]:
        """Yield where a block starts and its ballots, kind after kind, columns contiguous."""
        ends = np.cumsum(self.profile.counts)
        for start in range(0, self.rows, BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, self.rows)
            first, last = np.searchsorted(ends, [start, stop - 1], side="right")
            kinds = slice(first, last + 1)
            times = np.diff(np.minimum(ends[kinds], stop), prepend=start)
            yield start, np.repeat(self.profile.places[kinds].T, times, axis=1).T


@dataclass
class SimulatedReports:
    """Reports that simulated voters made, to be added up again."""

    kept: dict[str, list[Reports]]

    def ask(self, asks: Sequence[Ask], round_name: str, tallies: Sequence[Tally] = ()) -> list[Any]:
        """Return the sum of the reports to each ask, then each tally of them together."""
        summed = _Sums(asks, tallies)
        for blocks in zip(*(self.kept[question.name] for question, _ in asks), strict=True):
            summed.add(blocks)
        return summed.sums


class _Sums:
    """The sum of reports to each ask, and of tallies of them together, block by block."""

    def __init__(self, asks: Sequence[Ask], tallies: Sequence[Tally]) -> None:
        self._mechanisms, self._tallies = [mechanism for _, mechanism in asks], tallies
        self.sums: list[Any] = [one.zeros() for one in self._mechanisms] + [one.zeros() for one in tallies]

    def add(self, reports: Sequence[Reports]) -> None:
        """Add a block."""
        own = [one.tally(block) for one, block in zip(self._mechanisms, reports, strict=True)]
        together = [tally.tally(reports) for tally in self._tallies]
        self.sums = [so_far + one for so_far, one in zip(self.sums, [*own, *together], strict=True)]
