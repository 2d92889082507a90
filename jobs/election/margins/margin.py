"""A margin of victory and its witness: which ballots to replace, and by which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from jobs.election.count import conduct, exact_answers
from jobs.election.rules.rule import Rule
from udfs.errors import JobError
from udfs.profile import Profile

Counts = npt.NDArray[np.int64]

_WORD_BITS = 64


@dataclass(frozen=True, eq=False)
class Replacement:
    """Some ballots of a profile, and as many others in their stead."""

    removed: Profile
    added: Profile

    @property
    def ballots(self) -> int:
        """How many."""
        return self.removed.ballots

    @classmethod
    def by(
        cls, profile: Profile, taken: Counts, rankings: Sequence[tuple[Sequence[int], int]]
    ) -> Replacement:
        """Return the replacement of so many ballots of each kind by complete rankings and their numbers."""
        places = np.zeros((len(rankings), profile.candidates), dtype=np.uint8)
        for row, (ranking, _) in zip(places, rankings, strict=True):
            row[list(ranking)] = np.arange(profile.candidates)
        numbers = np.array([number for _, number in rankings], dtype=np.int64)
        return cls(Profile.of(profile.places, taken), Profile.of(places, numbers))

    def applied_to(self, profile: Profile) -> Profile:
        """Return the profile after the replacement; refuse one of ballots that are not there."""
        less = Profile.of(
            np.concatenate([profile.places, self.removed.places]),
            np.concatenate([profile.counts, -self.removed.counts]),
        )
        # a number below 0 is dropped by Profile.of, so that too many ballots are left
        whole = less.ballots == profile.ballots - self.removed.ballots
        if not whole or self.removed.ballots != self.added.ballots:
            raise inexact()
        return less + self.added


@dataclass(frozen=True)
class Margin:
    """A margin of victory.

    Attributes
    ----------
    outcome : int or None
        The winner's number, or nobody.
    margin : int
        The least number of ballots to replace for another outcome; 0 where there is no other.
    witness : Replacement or None
        So many replacements that bring one about; None where the margin is 0.
    """

    outcome: int | None
    margin: int
    witness: Replacement | None = field(default=None, compare=False, repr=False)


def outcome(rule: Rule, profile: Profile) -> int | None:
    """Return what the rule makes of the ballots as they are: the winner's number, or None."""
    return conduct(rule.count(), exact_answers(profile))[0]


def inexact() -> JobError:
    """Return the error of a margin that cannot be vouched for. It holds no number: all are raw data."""
    return JobError(
        "margin of victory", "must be exact, and the solver's answer did not stand in whole numbers"
    )


def raising(challenger: int, winner: int | None, candidates: int) -> tuple[int, ...]:
    """Return the ranking that serves a challenger best: they are first, and the winner is last."""
    others = [candidate for candidate in range(candidates) if candidate not in (challenger, winner)]
    return (challenger, *others) if winner is None else (challenger, *others, winner)


def spread(wanted: Counts, kinds: npt.NDArray[np.integer], counts: Counts) -> Counts:
    """Return how many ballots of each row to take for so many of each kind: int64, shape (rows,).

    Examples
    --------
    >>> spread(np.array([4, 1]), np.array([0, 1, 0]), np.array([3, 2, 5]))
    array([3, 1, 1])
    """
    order = np.argsort(kinds, kind="stable")
    ordered = kinds[order]
    before = np.cumsum(counts[order]) - counts[order]
    earlier_kinds = before[np.searchsorted(ordered, ordered)]
    taken = np.zeros_like(counts)
    taken[order] = np.clip(wanted[ordered] - (before - earlier_kinds), 0, counts[order])
    return taken


def in_turn(wanted: int | Counts, numbers: Counts) -> Counts:
    """Return how many to take of each entry along the last axis, the first entries first.

    Examples
    --------
    >>> in_turn(4, np.array([3, 2, 5]))
    array([3, 1, 0])
    """
    return np.clip(wanted - (np.cumsum(numbers, axis=-1) - numbers), 0, numbers)


def numbers_of(kinds: npt.NDArray[np.integer], counts: Counts, different: int) -> Counts:
    """Return how many ballots there are of each kind below `different`: int64, shape (different,)."""
    numbers = np.zeros(different, dtype=np.int64)
    np.add.at(numbers, kinds, counts)
    return numbers


def distinct(rows: npt.NDArray[np.uint8], counts: Counts) -> tuple[npt.NDArray[np.uint8], Counts, Counts]:
    """Return the different rows, which of them each row is, and how many ballots each stands for."""
    _, first, which = np.unique(_keys(rows), return_index=True, return_inverse=True)
    return rows[first], which, numbers_of(which, counts, len(first))


def _keys(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.generic]:
    """Return a number for each row where they fit into 64 bits, else its bytes."""
    bits, columns = int(rows.max()).bit_length(), rows.shape[1]
    if bits * columns > _WORD_BITS:
        whole: npt.NDArray[np.generic] = np.ascontiguousarray(rows).view(np.dtype((np.void, columns)))[:, 0]
        return whole
    keys = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        keys = (keys << np.uint64(bits)) | column
    return keys
