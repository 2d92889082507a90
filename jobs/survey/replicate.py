"""Replications of a survey of a public population: what a study does on a worker.

Respondents are held as the cells that anybody is in, with their numbers, and laid out a block at a time. So a
worker holds these cells, one block of answers and reports, and the sums; never everybody at once.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from jobs.survey.inquiry import Estimates, Inquiry
from jobs.survey.spec import SurveySpec
from jobs.survey.statistics import estimate_statistic
from udfs.asking import Ask
from udfs.draws import RowDraws
from udfs.randomizer import Codes, Counts
from udfs.streams import Secret
from udfs.tables import CrossTable

Values = npt.NDArray[np.float64]

BLOCK_ROWS = 1 << 16
"""Respondents that are asked at a time. Their draws depend on it."""
REPLICATIONS_A_TASK = 50
"""At most, of one point of the grid: where there are few respondents, estimating takes the time."""
_NUMBERS_A_TASK = 1 << 27
"""So many answers, times the cells of their attributes, a task deals with at most: a few seconds' work."""


@dataclass(frozen=True)
class Truth:
    """What a public population answers: the cells of all attributes together that anybody is in.

    Attributes
    ----------
    codes : tuple of ndarray of unsigned integers, shape (cells,)
        Each attribute's code in these cells.
    counts : ndarray of int64, shape (cells,)
        How many are in each.
    """

    codes: tuple[Codes, ...]
    counts: Counts

    @property
    def rows(self) -> int:
        """How many respondents there are."""
        return int(self.counts.sum())

    def blocks(self) -> Iterator[tuple[Codes, ...]]:
        """Yield everybody's answers to each attribute, `BLOCK_ROWS` at a time, cell after cell."""
        ends = np.cumsum(self.counts)
        for start in range(0, self.rows, BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, self.rows)
            first, last = np.searchsorted(ends, [start, stop - 1], side="right")
            cells = slice(first, last + 1)
            times = np.diff(np.minimum(ends[cells], stop), prepend=start)
            yield tuple(np.repeat(codes[cells], times) for codes in self.codes)

    def table(self, places: Sequence[int], shape: Sequence[int]) -> Values:
        """Return the true shares of some attributes' cells together: float64, of `shape`."""
        cells = np.ravel_multi_index([self.codes[place] for place in places], tuple(shape))
        counts = np.bincount(cells, self.counts, math.prod(shape))  # floats count exactly up to 2**53
        return counts.reshape(shape) / self.rows

    def shares(self, attribute: int, cells: int) -> Values:
        """Return the true shares of one attribute's cells."""
        return self.table((attribute,), (cells,))


@dataclass(frozen=True)
class Point:
    """One point of the grid.

    Attributes
    ----------
    epsilon : Decimal
    mechanism : str
    spec : SurveySpec
        The survey at this point.
    """

    epsilon: Decimal
    mechanism: str
    spec: SurveySpec


@dataclass(frozen=True)
class Moments:
    """Sums over replications, by point of the grid: a commutative monoid under `add_moments`.

    Attributes
    ----------
    sums : dict of int to ndarray of float64, shape (5, quantities)
        How many replications have a finite estimate, these estimates' deviations from the truth and the
        squares of those; how many have a finite predicted variance, and these variances.
    """

    sums: dict[int, Values]

    @classmethod
    def of(cls, place: int, deviations: Values, variances: Values) -> Moments:
        """Return the sums of one replication of the point in this place of the grid."""
        told, valued = np.isfinite(deviations), np.isfinite(variances)
        deviations, variances = np.where(told, deviations, 0.0), np.where(valued, variances, 0.0)
        return cls({place: np.array([told, deviations, deviations**2, valued, variances])})


def add_moments(found: Iterable[Moments]) -> Moments:
    """Add sums of replications up."""
    sums: dict[int, Values] = {}
    for one in found:
        for place, values in one.sums.items():
            sums[place] = sums[place] + values if place in sums else values
    return Moments(sums)


def replications_a_task(spec: SurveySpec, rows: int) -> int:
    """Return how many replications one task makes: as many as take it a few seconds, and one at least."""
    cells = [spec.question(name).cells for name in spec.attributes]
    tables = [math.prod(spec.question(name).cells for name in one.of) for one in spec.statistics]
    return min(max(1, _NUMBERS_A_TASK // (rows * sum(cells) + sum(tables) + 1)), REPLICATIONS_A_TASK)


def quantities(estimates: Estimates) -> tuple[Values, Values]:
    """Return all that a study follows, and the predicted variance of each: proportions, then statistics."""
    values: list[float] = []
    variances: list[float] = []
    for name in estimates.spec.attributes:
        margin = estimates.margin([name])
        values.extend(margin.proportions)
        variances.extend(margin.variances())
    for statistic in estimates.spec.statistics:
        found = estimate_statistic(
            statistic.kind, estimates.margin(statistic.of), estimates.spec.scores(statistic)
        )
        values.append(found.estimate)
        variances.append(found.standard_error**2)
    return np.array(values), np.array(variances)


@dataclass(frozen=True)
class Replicate:
    """Asks everybody again, some times, at one point of the grid, and adds the outcomes up. Runs on a worker.

    Parameters
    ----------
    points : tuple of Point
    truth : Truth
    expected : tuple of ndarray of float64, shape (quantities,)
        The true quantities, at each point.
    seed : int
        Public: coins follow from it, the question, the mechanism, the replication and the block.
    """

    points: tuple[Point, ...]
    truth: Truth
    expected: tuple[Values, ...]
    seed: int

    def __call__(self, unit: tuple[int, range]) -> Moments:
        """Return the sums of some replications of the point in one place of the grid."""
        place, replications = unit
        inquiry = Inquiry(self.points[place].spec)
        asks, tallies, rows = inquiry.asks, inquiry.tallies, self.truth.rows
        secret = Secret(hashlib.sha256(f"dask-canvass study {self.seed}".encode()).digest())
        moments = Moments({})
        for replication in replications:
            whole, _ = inquiry.estimates(self._ask(asks, tallies, secret, replication), rows)
            values, variances = quantities(whole)
            own = Moments.of(place, values - self.expected[place], variances)
            moments = add_moments([moments, own])
        return moments

    def _ask(
        self, asks: Sequence[Ask], tallies: Sequence[CrossTable], secret: Secret, replication: int
    ) -> list[Any]:
        """Return the sum of everybody's reports to each ask, then each tally of them together."""
        sums = [*(mechanism.zeros() for _, mechanism in asks), *(tally.zeros() for tally in tallies)]
        for number, block in enumerate(self.truth.blocks()):
            reports = []
            for (question, mechanism), answers in zip(asks, block, strict=True):
                labels = (question.label, mechanism.label, str(replication), str(number))
                draws = RowDraws(secret.key("study", *labels), len(answers))
                reports.append(mechanism.randomize(answers, draws))
            own = [mechanism.tally(one) for (_, mechanism), one in zip(asks, reports, strict=True)]
            together = [tally.tally(reports) for tally in tallies]
            sums = [so_far + one for so_far, one in zip(sums, [*own, *together], strict=True)]
        return sums
