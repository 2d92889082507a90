"""What sums of signed directions say of a contest: unbiased scores, their errors, and how large these can be.

A report to a vector x, read as z = B s V with its sign s and direction V, has E[z] = x: of the Gaussian direction,
s tells the side of x with expectation |x| / (kappa r), and E[sign<V, x> V] = E|V_1| x / |x|. So B = kappa r / E|V_1|.
The entries of z have E[z_j**2] = B**2 E[V_1**2] whatever x is: kappa**2 r**2 pi / 2.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from udfs.contests import Contest, Duels, EveryFirstChoice, FirstChoice, Points
from udfs.design import Counts
from udfs.directions import ROWS_AT_ONCE, UNIT, Directions, in_blocks, moments
from udfs.ellipsoid import Ellipsoid
from udfs.errors import SpecError
from udfs.score_noise import Noise, ScoreEstimate
from udfs.streams import WORD_TYPE
from udfs.turns import Turn

REPORT = np.dtype([("name", WORD_TYPE, (2,)), ("positive", np.bool_)])
"""What tells a row's public direction (`udfs.directions.row_names`), and the side of it that was reported."""
Reports: TypeAlias = npt.NDArray[Any]
"""Of `REPORT`, shape (rows,)."""

SUBGAUSSIAN = 1.333
"""C of E exp(<report - x, u>) <= exp((C kappa r |u|)**2 / 2) for every vector u, in any dimension.

With t = B <u, x> / |x| and rho = |x| / (kappa r), the logarithm of the left side is (B |u|)**2 / 2
+ log(1 + rho erf(t / sqrt 2)) - t rho sqrt(2 / pi): the largest C over all t and rho is 1.33208.
"""

MOST_SUMMED = 4096
"""Contests of so many entries are added up entry by entry; of longer ones, entries are when they are asked for."""


@dataclass(frozen=True, eq=False)
class Readout:
    """Which entries of the answer that was asked add up to each score of a contest.

    Attributes
    ----------
    entries : ndarray of int, shape (scores, terms)
    signs : ndarray of int, shape (scores, terms) or (terms,)
        Each 1 or -1.
    """

    entries: npt.NDArray[np.intp]
    signs: npt.NDArray[np.int64]


@lru_cache(maxsize=64)
def readout(asked: Contest, contest: Contest) -> Readout | None:
    """Return how answers to one contest answer another; None where they do not.

    Every contest answers itself, duels any of their pairs either way round, and first choices in every set those
    in each of them and the duels of any pair.

    Examples
    --------
    >>> readout(Duels.of_all(3), Duels(((2, 0),))).signs
    array([[-1]])
    """
    one = np.array([1])
    match asked, contest:
        case _ if asked == contest:
            return Readout(np.arange(asked.dimension)[:, None], one)
        case Duels(), Duels(pairs):
            entries = {pair: (entry, 1) for entry, pair in enumerate(asked.pairs)}
            entries |= {(second, first): (entry, -sign) for (first, second), (entry, sign) in entries.items()}
            if pairs and set(pairs) <= set(entries):
                found = np.array([entries[pair] for pair in pairs])
                return Readout(found[:, :1], found[:, 1:])
        case EveryFirstChoice(candidates), FirstChoice(active):
            if len(active) > 1 and list(active) == sorted({*active} & {*range(candidates)}):
                return Readout(np.array(asked.entries(contest))[:, None], one)
        case EveryFirstChoice(candidates), Duels(pairs):
            if (
                pairs
                and all(first != second for first, second in pairs)
                and {*sum(pairs, ())} <= {*range(candidates)}
            ):
                terms = [list(asked.entries(FirstChoice((min(pair), max(pair))))) for pair in pairs]
                flips = [1 if first < second else -1 for first, second in pairs]
                return Readout(np.array(terms), np.array(flips)[:, None] * np.array([1, -1]))
    return None


class BallScores(ABC):
    """What the ball randomizer's sums say."""

    contest: Contest
    seed: bytes
    turn: Turn
    transform: Ellipsoid | None

    @property
    @abstractmethod
    def squared_norm(self) -> int:
        """The square of r."""

    @property
    @abstractmethod
    def slope(self) -> Fraction:
        """The expectation of the reported sign of a longest answer on its own side: 1 / kappa."""

    def answers(self, contest: Contest) -> bool:
        """Return whether reports answer a contest."""
        return readout(self.contest, contest) is not None

    def _readout(self, contest: Contest) -> Readout:
        """Return how reports answer a contest.

        Raises
        ------
        SpecError
        """
        found = readout(self.contest, contest)
        if found is None:
            raise SpecError(
                "contest", f"reports answer {type(self.contest).__name__}", type(contest).__name__
            )
        return found

    def coordinates(self, contest: Contest) -> tuple[int, ...]:
        """Return the coordinates that an estimate needs: an ellipsoid's margins need all of them."""
        if self.transform is not None:
            return tuple(range(self.contest.dimension))
        return tuple(np.unique(self._readout(contest).entries).tolist())

    def asked(self, contest: Contest, counts: Counts) -> npt.NDArray[np.int64]:
        """Return how many ballots were asked: int64, shape (1,), as each report tells of all entries at once."""
        return counts[-1:]

    def fewest(self, contest: Contest, counts: Counts) -> int:
        """Return how many ballots were asked: each report tells of all entries at once."""
        return int(counts[-1])

    def _spread(self, found: Readout) -> float:
        """Return E[z**2] of a single report's own estimate z of a score."""
        size = float(self.squared_norm / self.slope**2) * moments()[1] / moments()[0] ** 2
        stretched = self.transform.variance if self.transform is not None else 1.0
        terms: int = found.entries.shape[1]
        return size * stretched * terms

    def estimate(self, contest: Contest, counts: Counts, ballots: int) -> ScoreEstimate:
        """Return unbiased scores of all ballots.

        Parameters
        ----------
        contest : Contest
            One that `answers`.
        counts : ndarray of int64
            What `DirectionSums` of `coordinates(contest)` added up, or of all coordinates.
        ballots : int
            All there are, whether they were asked or not.

        Returns
        -------
        ScoreEstimate
            Scores are unbiased given how many were asked, f of all ballots. The variance of one is
            ballots**2 / asked (E[z**2] - f mean(x**2) - (1 - f) mean(x)**2): the randomizer's, and that of who is
            asked. Of first choices x**2 is x; otherwise mean(x)**2, estimated without bias, stands for mean(x**2),
            which is no less: standard errors are exact or a little too large.
        """
        found, asked = self._readout(contest), int(counts[-1])
        if not asked:
            nothing = np.zeros(contest.dimension)
            return ScoreEstimate(nothing, np.full(contest.dimension, np.inf))
        scale = math.sqrt(self.squared_norm) / float(self.slope) / moments()[0] / UNIT
        sums = scale * counts[:-1] / asked
        if self.transform is not None:
            sums = self.transform.undo(sums)
        everything = len(sums) == self.contest.dimension
        places = found.entries if everything else np.searchsorted(self.coordinates(contest), found.entries)
        means = (sums[places] * found.signs).sum(axis=1)
        spread = self._spread(found)
        squared = np.clip(means**2 - spread / asked, 0, largest_entry(contest) ** 2)
        squares = np.clip(means, 0, 1) if isinstance(contest, FirstChoice) else squared
        share = asked / ballots
        variances = (spread - share * squares - (1 - share) * squared) / asked
        return ScoreEstimate(
            ballots * (means + contest.centre) / contest.scale,
            ballots * np.sqrt(np.maximum(variances, 0)) / contest.scale,
        )

    def noise(self, contest: Contest, ballots: int, asked: int = 0) -> Noise:
        """Return the errors of scores, whatever the ballots are, where so many are asked, or as can be expected.

        The variance is at most ballots E[z**2] over the share that is asked. The sub-Gaussian parameter is the
        randomizer's, and where not everybody is asked also that of a sample without replacement (Hoeffding 1963,
        theorem 4): half of the range of an entry, or of a difference over the square root of 2.
        """
        found = self._readout(contest)
        share = asked / ballots if asked else float(self.turn.share)
        variance = ballots / share * self._spread(found) / contest.scale**2
        duels = isinstance(contest, Duels)
        ratio = (SUBGAUSSIAN * moments()[0]) ** 2 / moments()[1]
        sampled = 0.0 if share == 1 else ballots / share * sampling_range(contest) ** 2 / contest.scale**2
        return Noise(
            score=variance,
            gap=variance if duels else 2 * variance,
            reach=math.inf,
            subgaussian=math.sqrt(ratio * variance + sampled),
        )


@dataclass(frozen=True)
class DirectionSums:
    """Sums some coordinates of signed directions: a `udfs.asking.Tally` of one ask.

    Sums are of whole numbers, `udfs.directions.UNIT` a deviation, and exact up to 8 * 10**10 reports.

    Parameters
    ----------
    ball : BallScores
        What made the reports.
    coordinates : tuple of int
        Ascending: those that its estimate of a contest needs, for one.
    """

    ball: BallScores
    coordinates: tuple[int, ...]

    def zeros(self) -> Counts:
        """Return the sum of no reports: int64, shape (coordinates + 1,)."""
        return np.zeros(len(self.coordinates) + 1, dtype=np.int64)

    def tally(self, reports: Sequence[Reports]) -> Counts:
        """Return the sums of a block's signed directions, and last how many reports there are.

        Parameters
        ----------
        reports : sequence of one ndarray of `REPORT`

        Returns
        -------
        ndarray of int64, shape (coordinates + 1,)
        """
        (block,) = reports
        sums = self.zeros()
        sums[-1] = len(block)
        blocks = list(in_blocks(self.coordinates))
        for start in range(0, len(block), ROWS_AT_ONCE):
            rows = block[start : start + ROWS_AT_ONCE]
            directions = Directions(self.ball.seed, rows["name"])
            signs = np.where(rows["positive"], 1, -1)
            for places, counter, pieces in blocks:
                sums[places] += (directions.four(counter) @ signs)[pieces]
        return sums


def largest_entry(contest: Contest) -> float:
    """Return the largest absolute value of an entry of an answer, less the centre."""
    if not isinstance(contest, Points):
        return 1.0
    weights = [float(weight * contest.scale) for weight in contest.weights]
    return max(weights[0] - contest.centre, contest.centre - weights[-1])


def sampling_range(contest: Contest) -> float:
    """Return what bounds half of an entry's range, and half of a difference's over the square root of 2."""
    if isinstance(contest, Duels):
        return 1.0
    if not isinstance(contest, Points):
        return math.sqrt(0.5)
    return float((contest.weights[0] - contest.weights[-1]) * contest.scale) * math.sqrt(0.5)
