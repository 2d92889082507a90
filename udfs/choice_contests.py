"""The contests of which every voter is asked one: a list of sets of candidates, with weights."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from udfs.contests import Contest, Duels, EveryFirstChoice, FirstChoice, Places, Points, members
from udfs.draws import Draws
from udfs.errors import SpecError
from udfs.streams import derive_key
from udfs.uniform import uniform_digits

Contests = tuple[tuple[int, ...], ...]

_MOST_WEIGHT = 1 << 40


def every_set(candidates: int) -> Contests:
    """Return all sets of two candidates or more, in the order of `EveryFirstChoice`.

    Examples
    --------
    >>> every_set(3)
    ((0, 1), (0, 2), (1, 2), (0, 1, 2))
    """
    return tuple(members(one) for one in EveryFirstChoice(candidates).sets)


def every_pair(candidates: int) -> Contests:
    """Return all pairs of candidates, in the order of `Duels.of_all`."""
    return Duels.of_all(candidates).pairs


@dataclass(frozen=True)
class WeightedContests:
    """Sets of candidates, numbered from 0, each drawn with probability proportional to its weight.

    Parameters
    ----------
    candidates : int
    contests : tuple of tuple of int
        Different sets of at least two candidates, each in ascending order.
    weights : tuple of int
        Positive, one a contest; their sum is at most 2**40.
    """

    candidates: int
    contests: Contests
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse contests that cannot be asked."""
        where = "contests"
        for contest in self.contests:
            ascending = all(low < high for low, high in pairwise((-1, *contest, self.candidates)))
            if len(contest) < 2 or not ascending:
                raise SpecError(
                    where, f"each is two or more of {self.candidates} in ascending order", f"{contest}"
                )
        if not self.contests or len(set(self.contests)) < len(self.contests):
            raise SpecError(where, "there must be some, all different", f"{len(self.contests)}")
        if len(self.weights) != len(self.contests):
            raise SpecError(
                where, "each needs a weight", f"{len(self.contests)} and {len(self.weights)} weights"
            )
        if min(self.weights) < 1 or self.total > _MOST_WEIGHT:
            raise SpecError(
                where, "weights must be positive, and 2**40 in all at most", f"{self.total} in all"
            )

    @cached_property
    def total(self) -> int:
        """The sum of the weights."""
        return sum(self.weights)

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many candidates each contest has: int64, shape (contests,)."""
        return np.array([len(contest) for contest in self.contests], dtype=np.int64)

    @cached_property
    def widest(self) -> int:
        """The most candidates of a contest."""
        return int(self.sizes.max())

    @cached_property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Where each contest's counts start, one a candidate and one more, and at the end where they stop."""
        return np.append(0, np.cumsum(self.sizes + 1))

    @cached_property
    def by_position(self) -> npt.NDArray[np.uint8]:
        """Who stands at each position of each contest, 0 beyond the last: uint8, shape (widest, contests)."""
        table = np.zeros((self.widest, len(self.contests)), dtype=np.uint8)
        for number, contest in enumerate(self.contests):
            table[: len(contest), number] = contest
        return table

    @cached_property
    def numbers(self) -> dict[tuple[int, ...], int]:
        """The number of each contest."""
        return {contest: number for number, contest in enumerate(self.contests)}

    @property
    def digest(self) -> str:
        """The SHA-256 of all contests and their weights."""
        return hashlib.sha256(json.dumps([self.candidates, self.contests, self.weights]).encode()).hexdigest()

    def draw(self, draws: Draws, seed: bytes) -> npt.NDArray[np.int32]:
        """Return a contest for every row, by public draws: int32, shape (rows,)."""
        if len(self.contests) == 1:
            return np.zeros(len(draws), dtype=np.int32)
        digit = uniform_digits(draws.public(derive_key(seed, "contest")), [self.total])[0]
        if self.total > len(self.contests):
            ends = np.cumsum(np.array(self.weights, dtype=np.uint64))
            digit = np.searchsorted(ends, digit, side="right").astype(np.uint64)
        return digit.astype(np.int32)

    def places(
        self, ballots: Places, numbers: npt.NDArray[np.int32], rows: npt.NDArray[np.intp], size: int
    ) -> Places:
        """Return the places of the candidates of some rows' contests, all of one size: shape (size, some).

        Parameters
        ----------
        ballots : ndarray of uint8, shape (rows, candidates)
        numbers : ndarray of int32, shape (rows,)
            The rows' contests.
        rows : ndarray of int, shape (some,)
        size : int
        """
        columns, contests = ballots.T.reshape(-1), numbers[rows]
        places = np.empty((size, len(rows)), dtype=np.uint8)
        for place, candidates in zip(places, self.by_position, strict=False):
            where = candidates[contests].astype(np.intp)
            where *= len(ballots)
            where += rows
            np.take(columns, where, out=place, mode="clip")  # all are within; other modes copy
        return places

    def describe(self) -> dict[str, Any]:
        """Return the contests as JSON has them, by name where the list has one."""
        m, contests = self.candidates, len(self.contests)
        named: str | list[list[int]] = [list(contest) for contest in self.contests]
        if contests == (1 << m) - m - 1 and self.contests == every_set(m):
            named = "every"
        elif contests == m * (m - 1) // 2 and self.contests == every_pair(m):
            named = "pairs"
        equal = self.total == contests
        return {"candidates": m, "contests": named, "weights": "equal" if equal else list(self.weights)}

    @classmethod
    def from_description(cls, description: dict[str, Any]) -> WeightedContests:
        """Return what `describe` described."""
        m, named = description["candidates"], description["contests"]
        if named == "every":
            contests = every_set(m)
        elif named == "pairs":
            contests = every_pair(m)
        else:
            contests = tuple(map(tuple, named))
        weights = description["weights"]
        return cls(m, contests, (1,) * len(contests) if weights == "equal" else tuple(weights))


def parts_of(contest: Contest, candidates: int, last: bool) -> Sequence[tuple[int, ...]]:
    """Return the sets among which first, or last, places tell a contest's sums; none where none do."""
    if last:
        veto = isinstance(contest, Points) and len(set(contest.weights[:-1])) == 1
        return (tuple(range(candidates)),) if veto and contest.dimension == candidates else ()
    if isinstance(contest, FirstChoice):
        return (contest.active,)
    if isinstance(contest, Duels):
        return tuple((min(pair), max(pair)) for pair in contest.pairs)
    if isinstance(contest, EveryFirstChoice):
        return every_set(contest.candidates)
    return ()
