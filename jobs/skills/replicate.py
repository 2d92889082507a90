"""Trees whose truth is known, grown again and again: what a study does on a worker.

A population is made anew wherever it is needed, as it follows from the seed; so what travels are errors alone. Draws
are numpy's, and public: the populations of a study are.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from jobs.skills.budget import LevelBudget
from jobs.skills.consistency import consistent
from jobs.skills.tree import LevelQuestion, Shape, Tree, grow
from udfs.design import Counts
from udfs.noise_shares import two_sided_variance
from udfs.tree_cells import Numbers, TreeCells

_STEPS_A_TASK = 1e8
"""About so many steps, of a row through a cut or of a counter, a task takes: some seconds' work."""


@dataclass(frozen=True)
class Point:
    """A tree of one size, and what is added to its counters.

    Attributes
    ----------
    mechanism : str
    shape : Shape
    workers : int
    epsilon : Decimal
        Of the whole tree, for one worker more or less.
    budget : tuple of LevelBudget
        Root first.
    beta : Fraction
        How many times the noise that is due is added; 0 adds none.
    """

    mechanism: str
    shape: Shape
    workers: int
    epsilon: Decimal
    budget: tuple[LevelBudget, ...]
    beta: Fraction

    @property
    def label(self) -> str:
        """All that its noise depends on."""
        return f"{self.mechanism} {self.shape} {self.workers} {self.budget} {self.beta}"

    def variance(self, level: int) -> float:
        """Return the variance of a level's counts."""
        return two_sided_variance(self.budget[self.shape.depth - level].counts, self.beta)


@dataclass(frozen=True)
class Errors:
    """How far one tree is from the truth.

    Attributes
    ----------
    raw, consistent : float
        The sum over leaves of what their counts are off by, by the number of workers.
    ranks : tuple of float or None
        Of each level that is split, root first: how far the share of a node's true workers that go left is from a
        half, on average over its nodes; None where no node has workers.
    """

    raw: float
    consistent: float
    ranks: tuple[float | None, ...]


Found = dict[tuple[int, int], Errors]
"""Errors, by the place of a point and the number of a replication."""


class Growing:
    """A tree that grows on noisy counters, beside the true ones of the nodes that it makes.

    Parameters
    ----------
    point : Point
    seed : int
        Public: the noise follows from it, and from the point and the replication.
    replication : int

    Attributes
    ----------
    question : LevelQuestion or None
        What is to be answered next; None where the tree is done.
    """

    def __init__(self, point: Point, seed: int, replication: int) -> None:
        digest = int.from_bytes(hashlib.sha256(point.label.encode()).digest()[:16], "big")
        self._point, self._noise = point, np.random.default_rng([seed, digest, replication])
        self._growing: Generator[LevelQuestion, Counts, Tree] = grow(point.shape)
        self._true: list[int] = []
        self._tree: Tree | None = None
        self.question: LevelQuestion | None = next(self._growing)

    def answer(self, counters: Counts) -> None:
        """Take the true counters of the level that was asked for, and add noise to what the tree sees of them."""
        if self.question is None:
            raise TypeError("this tree is done")
        nodes = self.question.cells.nodes
        budget = self._point.budget[self._point.shape.depth - self.question.level]
        self._true += counters[:nodes].tolist()
        counts, bins = np.split(counters, [nodes])
        noisy = [counts + self._drawn(budget.counts, nodes)]
        if budget.median is not None:
            noisy.append(bins + self._drawn(budget.median, len(bins)))
        try:
            self.question = self._growing.send(np.concatenate(noisy))
        except StopIteration as stop:
            self.question, self._tree = None, stop.value

    def _drawn(self, epsilon: Decimal, counters: int) -> Counts:
        """Draw the noise of some counters: the sum of all shares is negative binomial, less another."""
        if not self._point.beta:
            return np.zeros(counters, dtype=np.int64)
        success = -math.expm1(-float(epsilon))
        more, less = self._noise.negative_binomial(float(self._point.beta), success, (2, counters))
        noise: Counts = more - less
        return noise

    def errors(self) -> Errors:
        """Return how far the tree is from the truth, when it is done."""
        if self._tree is None:
            raise TypeError("this tree still grows")
        nodes, true = self._tree.nodes, np.array(self._true, dtype=np.int64)
        counts = np.array([node.count for node in nodes], dtype=np.int64)
        levels = np.array([node.level for node in nodes])
        leaf = np.array([node.split is None for node in nodes])
        better = counts.astype(np.float64)
        if self._point.beta:
            variances = np.array(
                [self._point.variance(level) for level in range(self._point.shape.depth + 1)]
            )
            better, _ = consistent(self._tree.parents, counts, variances[levels])
        whole = max(int(true[0]), 1)
        return Errors(
            raw=float(np.abs(counts - true)[leaf].sum() / whole),
            consistent=float(np.abs(better - true)[leaf].sum() / whole),
            ranks=tuple(self._ranks(levels, leaf, true)),
        )

    def _ranks(self, levels: Counts, leaf: npt.NDArray[np.bool_], true: Counts) -> Iterator[float | None]:
        """Yield the mean rank error of each level that is split. Children stand in their parents' order."""
        for level in range(self._point.shape.depth, 0, -1):
            here = true[(levels == level) & ~leaf]
            left = true[levels == level - 1][::2]
            known = here > 0
            yield float(np.abs(left[known] / here[known] - 0.5).mean()) if known.any() else None


def join(found: Iterable[Found]) -> Found:
    """Put what was found together: of none, nothing."""
    return {key: errors for one in found for key, errors in one.items()}


def replications_a_task(point: Point) -> int:
    """Return how many replications one task makes: as many as take it some seconds, and one at least."""
    depth, bins = point.shape.depth, point.shape.bins
    steps = point.workers * (depth + 1) * (depth + 2) / 2 + 200 * 2**depth * (bins + 10)
    return max(1, int(_STEPS_A_TASK / steps))


@dataclass(frozen=True)
class Replicate:
    """Grows trees on uniform populations, and says how far they are from the truth. Runs on a worker.

    Parameters
    ----------
    points : tuple of Point
    seed : int
        Public: populations and all noise follow from it.
    """

    points: tuple[Point, ...]
    seed: int

    def __call__(self, unit: tuple[int, range]) -> Found:
        """Return the errors of some replications of the point in one place."""
        place, replications = unit
        point = self.points[place]
        found: Found = {}
        for replication in replications:
            skills = uniform_skills(point.shape, point.workers, (self.seed, replication))
            growing = Growing(point, self.seed, replication)
            while growing.question is not None:
                growing.answer(growing.question.cells.count(skills))
            found[place, replication] = growing.errors()
        return found


def uniform_skills(shape: Shape, workers: int, seed: Sequence[int]) -> Numbers:
    """Return skills that are uniform and independent, of the dimensions that a tree cuts.

    Trees of different depths and mechanisms share populations of one size: they differ by what they make of them.

    Returns
    -------
    ndarray of float64, shape (workers, dimensions that are cut)
    """
    low, high = shape.domain
    columns = min(len(shape.dimensions), max(shape.depth, 1))
    drawn = np.random.default_rng([*seed, workers]).random((columns, workers))
    return np.minimum(low + (high - low) * drawn, high).T


@dataclass(frozen=True)
class CountedIn:
    """A tally of skills that are no secret: the true counters of a level of one of many trees.

    Parameters
    ----------
    cells : TreeCells
    """

    cells: TreeCells

    def zeros(self) -> Counts:
        """Return the counters of nobody."""
        return np.zeros(self.cells.counters, dtype=np.int64)

    def tally(self, reports: Sequence[npt.NDArray[np.generic]]) -> Counts:
        """Return the counters of a block's skills: the one ask's reports are skills as they are."""
        return self.cells.count(reports[0].astype(np.float64, copy=False))
