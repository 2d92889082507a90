"""Tables of reports by exact laws, for tests of what is computed from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from jobs.survey.margin import Margin
from jobs.survey.reconstruct import Axis, TableEstimate
from sample_data.make import BIOMARKERS
from udfs.design import Counts, MatrixDesign, Shares

IDENTITY = math.inf
EVERY_KIND = ("entropy", "mutual-information", "chi-square", "g-squared", "pearson")
"""Of the statistics with a standard error."""

BIOMARKER_SHARES = BIOMARKERS / BIOMARKERS.sum()
INSIDE = 0.7 * BIOMARKER_SHARES + 0.3 / BIOMARKERS.size
"""The biomarkers' table, and one like it that has no empty cells."""


@dataclass(frozen=True)
class Response(MatrixDesign):
    """Randomized response by its definition; at infinite epsilon the truth itself."""

    cells: int
    epsilon: float

    @cached_property
    def truth(self) -> Fraction:
        if math.isinf(self.epsilon):
            return Fraction(1)
        ratio = Fraction(math.exp(self.epsilon))
        return ratio / (self.cells - 1 + ratio)

    @cached_property
    def lie(self) -> Fraction:
        return (1 - self.truth) / (self.cells - 1)

    @cached_property
    def law(self) -> tuple[tuple[Fraction, ...], ...]:
        cells = range(self.cells)
        return tuple(tuple(self.truth if u == v else self.lie for v in cells) for u in cells)


@dataclass(frozen=True)
class Survey:
    """Two attributes, asked of respondents whose shares are known.

    Parameters
    ----------
    shares : ndarray of float64, shape (rows, columns)
        Among those who answer.
    epsilon : float
        Of both questions together.
    joint : bool
        Whether the product cell is randomized at once.
    missing : float
        The share of those who do not answer each question, whatever the other and their answer.
    """

    shares: Shares
    epsilon: float
    joint: bool = False
    missing: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        return ("a", "b", "c")[: self.shares.ndim]

    @property
    def cells(self) -> Shares:
        """The shares of all cells, those of missing answers last."""
        if not self.missing:
            return self.shares
        answered = 1 - self.missing
        rows, columns = self.shares.sum(axis=1), self.shares.sum(axis=0)
        return np.block(
            [
                [self.shares * answered**2, rows[:, None] * answered * self.missing],
                [columns[None, :] * answered * self.missing, np.array([[self.missing**2]])],
            ]
        )

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        shape = self.cells.shape
        if self.joint:
            return (Axis(self.names, shape, Response(math.prod(shape), self.epsilon)),)
        share = self.epsilon / len(shape)
        return tuple(
            Axis((name,), (cells,), Response(cells, share))
            for name, cells in zip(self.names, shape, strict=True)
        )

    def law(self) -> Shares:
        """Return the probability of each table cell of reports."""
        expected = self.cells.reshape([axis.design.cells for axis in self.axes])
        for number, axis in enumerate(self.axes):
            expected = axis.design.observe(expected, number)
        return expected

    def draw(self, rng: np.random.Generator, reports: int, times: int) -> Counts:
        """Draw tables of reports: int64, shape (times, *features)."""
        law = self.law()
        return rng.multinomial(reports, law.ravel() / law.sum(), size=times).reshape(times, *law.shape)

    def margin(self, counts: Counts, of: Sequence[str] | None = None) -> Margin:
        """Return what a table of reports says."""
        names = tuple(of or self.names)
        return Margin(TableEstimate.of(counts, self.axes), names, (self.missing > 0,) * len(names))

    def predicted(self, reports: int) -> Margin:
        """Return the margin of a table of reports that is as expected, to whole reports."""
        return self.margin(np.rint(self.law() * reports).astype(np.int64))


def fresh_rng() -> tuple[np.random.Generator, int]:
    """Return a generator of fresh entropy, and the seed that a failure prints."""
    seed = np.random.SeedSequence().entropy
    assert isinstance(seed, int)
    return np.random.default_rng(seed), seed


def independent(rows: int, columns: int) -> Shares:
    """Return a table whose margins rise in equal steps and have no dependence."""
    first, second = (np.arange(1.0, cells + 1) for cells in (rows, columns))
    return np.outer(first / first.sum(), second / second.sum())


def exact(counts: Counts) -> Margin:
    """Return the margin of answers that came as they are."""
    return Survey(counts / counts.sum(), IDENTITY).margin(counts)
