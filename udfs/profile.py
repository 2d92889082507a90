"""All ballots as they are: which there are, and how many of each. Raw data, for whoever may see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from udfs.contests import Contest, Places

_ROWS_AT_ONCE = 1 << 16
_WORD_BITS = 64


def _keys(places: Places) -> npt.NDArray[np.generic]:
    """Return a number for each ballot where all its places fit into 64 bits, else its bytes: what sorts ballots."""
    candidates = places.shape[1]
    bits = (candidates - 1).bit_length()
    if candidates * bits > _WORD_BITS:
        packed = np.ascontiguousarray(places).view(np.dtype((np.void, candidates)))
        whole: npt.NDArray[np.generic] = packed[:, 0]
        return whole
    keys = np.zeros(len(places), dtype=np.uint64)
    for column in places.T:
        keys = (keys << np.uint64(bits)) | column
    return keys


@dataclass(frozen=True, eq=False)
class Profile:
    """The different ballots and their numbers: a commutative monoid under `+`.

    Attributes
    ----------
    places : ndarray of uint8, shape (ballots, candidates)
        All different, in one order; see `udfs.contests`.
    counts : ndarray of int64, shape (ballots,)
        All above 0.

    Examples
    --------
    >>> two = Profile.of(np.array([[0, 1], [1, 0], [0, 1]], dtype=np.uint8))
    >>> (two + two).counts
    array([4, 2])
    """

    places: Places
    counts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, places: Places, counts: npt.NDArray[np.int64] | None = None) -> Profile:
        """Return the profile of ballots, each once or so many times."""
        if counts is None:
            counts = np.ones(len(places), dtype=np.int64)
        if not len(places):
            return cls(places, counts)
        keys = _keys(places)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        sums = np.add.reduceat(counts[order], starts)
        kept = sums > 0
        return cls(np.ascontiguousarray(places[order[starts[kept]]]), sums[kept])

    @property
    def candidates(self) -> int:
        """How many candidates there are."""
        return int(self.places.shape[1])

    @property
    def ballots(self) -> int:
        """How many ballots there are."""
        return int(self.counts.sum())

    def __add__(self, other: Profile) -> Profile:
        """Return both together."""
        return Profile.of(
            np.concatenate([self.places, other.places]), np.concatenate([self.counts, other.counts])
        )

    def score(self, contest: Contest) -> npt.NDArray[np.int64]:
        """Return the sum of all ballots' answers: int64, shape (dimension,), `contest.scale` times too large."""
        total = np.zeros(contest.dimension, dtype=np.int64)
        for start in range(0, len(self.places), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            total += self.counts[rows] @ contest.encode(self.places[rows]).astype(np.int64)
        return total


@dataclass(frozen=True)
class ProfileTally:
    """Gathers all ballots: a `udfs.asking.Tally` of one ask."""

    candidates: int

    def zeros(self) -> Profile:
        """Return no ballots."""
        return Profile(np.zeros((0, self.candidates), dtype=np.uint8), np.zeros(0, dtype=np.int64))

    def tally(self, reports: Sequence[npt.NDArray[np.generic]]) -> Profile:
        """Return the profile of a block."""
        (places,) = reports
        return Profile.of(places.astype(np.uint8, copy=False))
