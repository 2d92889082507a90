"""What a voting rule asks of ballots: first choices, points and duels, each a vector with one entry a candidate or pair.

A ballot is a row of *places*: how many candidates stand strictly above each. Candidates who share a rank share
a place, and so do all whom the ballot does not name, who stand last together: (0, 1, 2) ranks three in turn,
(1, 0, 1) names the second alone, and (0, 0, 0) is blank. Candidates are numbered in the tie order, best first.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from udfs.errors import SpecError

Places = npt.NDArray[np.uint8]
"""Ballots: uint8, shape (rows, candidates)."""

MOST_CANDIDATES = 255
"""A place is a byte."""
MOST_IN_EVERY_SET = 16
"""There are 2**m sets."""


class Contest(ABC):
    """A question about ballots whose answers, vectors of whole numbers, are added up over all ballots."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """How many entries an answer has."""

    @property
    @abstractmethod
    def squared_norm(self) -> int:
        """The largest square of the Euclidean norm of an answer, less `centre`."""

    @property
    def centre(self) -> int:
        """What every entry of a blank ballot's answer is."""
        return 0

    @property
    def scale(self) -> int:
        """So many times too large are the entries, so that all are whole."""
        return 1

    @abstractmethod
    def encode(self, places: Places) -> npt.NDArray[np.signedinteger]:
        """Return a block's answers: whole numbers, shape (rows, dimension)."""


@dataclass(frozen=True)
class FirstChoice(Contest):
    """Whom do you place first among these candidates?

    A ballot that has no single first among them, as it names none or several share the place, counts for none.

    Parameters
    ----------
    active : tuple of int
        In ascending order.

    Examples
    --------
    >>> FirstChoice((0, 2)).encode(np.array([[2, 0, 1], [0, 0, 0]], dtype=np.uint8))
    array([[0, 1],
           [0, 0]], dtype=int8)
    """

    active: tuple[int, ...]

    @property
    def dimension(self) -> int:
        """One entry an active candidate."""
        return len(self.active)

    @property
    def squared_norm(self) -> int:
        """One: at most one entry is 1."""
        return 1

    def choices(self, places: Places) -> npt.NDArray[np.uint8]:
        """Return whom each ballot places first, as a place in `active`; `len(active)` where that is nobody.

        Returns
        -------
        ndarray of uint8, shape (rows,)
        """
        best = places[:, self.active[0]].copy()
        first = np.zeros(len(places), dtype=np.uint8)
        shared = np.zeros(len(places), dtype=np.bool_)
        for place, candidate in enumerate(self.active[1:], 1):
            column = places[:, candidate]
            better, same = column < best, column == best
            first[better] = place
            shared = (shared | same) & ~better
            np.minimum(best, column, out=best)
        first[shared] = len(self.active)
        return first

    def encode(self, places: Places) -> npt.NDArray[np.int8]:
        """Return one-hot vectors, or zeros: int8, shape (rows, active)."""
        one_hot: npt.NDArray[np.bool_] = self.choices(places)[:, None] == np.arange(len(self.active))
        return one_hot.astype(np.int8)


@dataclass(frozen=True)
class Duels(Contest):
    """Whom of these two do you place higher? for some pairs of candidates.

    Parameters
    ----------
    pairs : tuple of (int, int)

    Examples
    --------
    >>> Duels(((0, 1), (0, 2))).encode(np.array([[1, 0, 1]], dtype=np.uint8))
    array([[-1,  0]], dtype=int8)
    """

    pairs: tuple[tuple[int, int], ...]

    @classmethod
    def of_all(cls, candidates: int) -> Duels:
        """Return the duels of all pairs, the lower number first."""
        return cls(tuple(combinations(range(candidates), 2)))

    @property
    def dimension(self) -> int:
        """One entry a pair."""
        return len(self.pairs)

    @property
    def squared_norm(self) -> int:
        """One a pair: each entry is 1, 0 or -1."""
        return len(self.pairs)

    def encode(self, places: Places) -> npt.NDArray[np.int8]:
        """Return 1 where the first of a pair stands higher, -1 where the second does: int8, shape (rows, pairs)."""
        answers = np.empty((len(self.pairs), len(places)), dtype=np.int8)
        for row, (one, other) in zip(answers, self.pairs, strict=True):
            first, second = places[:, one], places[:, other]
            np.subtract(first < second, first > second, out=row, dtype=np.int8)
        return answers.T


@dataclass(frozen=True)
class Points(Contest):
    """How many points does each candidate get for their place?

    Candidates who share a place get the average of its points, so that every ballot gives as many.

    Parameters
    ----------
    weights : tuple of int or Fraction
        Points by place, none above the one before it.

    Examples
    --------
    >>> borda = Points((2, 1, 0))
    >>> borda.scale, borda.encode(np.array([[0, 1, 1]], dtype=np.uint8))
    (2, array([[4, 1, 1]]))
    """

    weights: tuple[int | Fraction, ...]

    @property
    def dimension(self) -> int:
        """One entry a candidate."""
        return len(self.weights)

    @cached_property
    def _averages(self) -> tuple[tuple[Fraction, ...], ...]:
        """By place and by how many share it, their average points."""
        ends = [Fraction(0)]
        for weight in self.weights:
            ends.append(ends[-1] + weight)
        last = len(self.weights)
        return tuple(
            tuple((ends[place + size] - ends[place]) / size for size in range(1, last - place + 1))
            for place in range(last)
        )

    @cached_property
    def scale(self) -> int:
        """The least number that makes all averages whole."""
        return math.lcm(*{points.denominator for row in self._averages for points in row})

    @property
    def centre(self) -> int:
        """The average of all points."""
        return int(self._averages[0][-1] * self.scale)

    @cached_property
    def squared_norm(self) -> int:
        """That of a complete ballot, less the average."""
        return sum((int(weight * self.scale) - self.centre) ** 2 for weight in self.weights)

    @cached_property
    def _table(self) -> npt.NDArray[np.int64]:
        """The averages, times the scale: int64, shape (places, sizes + 1)."""
        last = len(self.weights)
        table = np.zeros((last, last + 1), dtype=np.int64)
        for place, row in enumerate(self._averages):
            table[place, 1 : len(row) + 1] = [int(points * self.scale) for points in row]
        return table

    def encode(self, places: Places) -> npt.NDArray[np.int64]:
        """Return the points of each candidate, times the scale: int64, shape (rows, candidates)."""
        sharing = np.zeros(places.shape, dtype=np.uint8, order="F")
        for candidate in range(self.dimension):
            sharing += places == places[:, [candidate]]
        points: npt.NDArray[np.int64] = self._table[places, sharing]
        return points


@dataclass(frozen=True)
class EveryFirstChoice(Contest):
    """Whom do you place first among each set of two candidates or more?

    A set is the whole number whose bits are its candidates; sets stand in ascending order, and the entries of
    a set are its candidates'. So large an answer is never laid out for a block: mechanisms look up what they
    need of it.

    Parameters
    ----------
    candidates : int
        At most 16.

    Examples
    --------
    >>> EveryFirstChoice(3).sets
    (3, 5, 6, 7)
    >>> EveryFirstChoice(3).entries(FirstChoice((0, 1, 2)))
    range(6, 9)
    """

    candidates: int

    def __post_init__(self) -> None:
        """Refuse so many candidates that their sets cannot be told apart."""
        if self.candidates > MOST_IN_EVERY_SET:
            raise SpecError(
                "election.candidates",
                f"at most {MOST_IN_EVERY_SET} can be asked about in every set at once",
                f"{self.candidates}",
                'ask in rounds: privacy.model = "interactive"',
            )

    @cached_property
    def sets(self) -> tuple[int, ...]:
        """All sets of two or more."""
        return tuple(one for one in range(1 << self.candidates) if one.bit_count() >= 2)

    @cached_property
    def _starts(self) -> dict[int, int]:
        """The first entry of every set."""
        starts, entry = {}, 0
        for one in self.sets:
            starts[one] = entry
            entry += one.bit_count()
        return starts

    @property
    def dimension(self) -> int:
        """Half of all pairs of a set and a candidate, less the sets of one: m 2**(m - 1) - m."""
        return (self.candidates << (self.candidates - 1)) - self.candidates

    @property
    def squared_norm(self) -> int:
        """One a set."""
        return len(self.sets)

    def entries(self, contest: FirstChoice) -> range:
        """Return where a set's entries are."""
        start = self._starts[sum(1 << candidate for candidate in contest.active)]
        return range(start, start + len(contest.active))

    def encode(self, places: Places) -> npt.NDArray[np.int8]:
        """Return all one-hot vectors side by side: for few rows alone."""
        return np.concatenate([FirstChoice(members(one)).encode(places) for one in self.sets], axis=1)


def members(one: int) -> tuple[int, ...]:
    """Return the candidates of a set.

    Examples
    --------
    >>> members(5)
    (0, 2)
    """
    return tuple(candidate for candidate in range(one.bit_length()) if one >> candidate & 1)
