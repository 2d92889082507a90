"""Multicovers: the fewest ballots whose replacement raises several margins at once, each by its need."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jobs.election.margins.margin import Counts, Replacement, distinct, raising, spread
from jobs.election.margins.programs import Program
from udfs.profile import Profile


@dataclass(frozen=True)
class Cover:
    """What it takes for a challenger to bring another outcome about.

    Parameters
    ----------
    challenger : int
    needs : ndarray of int64, shape (goals,)
        By how much each goal must be raised: all above 0, one at least.
    most : int
        As much as one ballot can raise a goal.
    gains : callable
        What each ballot raises each goal by, if replaced by the best for the challenger: no negative numbers,
        shape (rows, goals).
    """

    challenger: int
    needs: Counts
    most: int
    gains: Callable[[], npt.NDArray[np.int8]]

    @property
    def bound(self) -> int:
        """As many ballots as the largest need takes at least."""
        return -(-int(self.needs.max()) // self.most)


def fewest_covering(profile: Profile, winner: int | None, covers: Iterable[Cover]) -> Replacement:
    """Return the smallest replacement that achieves all goals of one of the covers.

    Covers are taken in the order of their bounds, and an integer program is solved only where a linear one does
    not show that it cannot be better than the best so far. At worst, all ballots are replaced.
    """
    first, *_ = in_order = sorted(covers, key=lambda cover: cover.bound)
    challenger, taken = first.challenger, profile.counts
    for cover in in_order:
        if cover.bound >= taken.sum():
            break
        kinds, which, numbers = distinct(cover.gains().astype(np.uint8), profile.counts)
        program = Program(np.ones_like(numbers), kinds.T.astype(np.int64), cover.needs, numbers)
        if program.bound < taken.sum():
            chosen = program.solve()
            if chosen.sum() < taken.sum():
                challenger, taken = cover.challenger, spread(chosen, which, profile.counts)
    return Replacement.by(
        profile, taken, [(raising(challenger, winner, profile.candidates), int(taken.sum()))]
    )
