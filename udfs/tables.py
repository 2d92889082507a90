"""Cross tables of reports: how often reports to several questions came together.

A statistic tallies only the table it needs. Tables are counted from a block's reports once these are there,
and add up like any other sum of reports; large ones are kept sparse, as most of their cells are empty.

Runs on a worker, on reports and on columns that are no secret: post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from udfs.design import Counts

Reports: TypeAlias = npt.NDArray[np.generic]
Limbs: TypeAlias = dict[int, npt.NDArray[np.float64] | None]
"""Digits of rows' values, by exponent; None stands for ones."""

LARGEST_DENSE = 1 << 16
"""Tables of more cells are kept sparse."""
LARGEST_TABLE = 1 << 27
"""Tables of more cells are refused: one of them takes a gigabyte on the driver."""

_WEIGHT_BITS = 96
WEIGHT_UNIT = 1 << _WEIGHT_BITS
"""Sums of weights are integers over this."""
WEIGHT_RANGE = 2.0**40
"""Weights lie between the inverse of this and this, or are 0."""

_FEATURES_AT_ONCE = 1 << 22
"""So many products of rows' features are held at a time: 32 MB."""

_LIMB_BITS = 32
_LIMBS = range(-_WEIGHT_BITS, 80, _LIMB_BITS)


@dataclass(frozen=True)
class SparseCounts:
    """Counts of the cells of a large table that are not empty: a commutative monoid.

    Parameters
    ----------
    runs : tuple of (cells, counts)
        int64 each; a cell may stand in several runs, which are merged as they grow.
    size : int
        The cells of the table.
    """

    runs: tuple[tuple[npt.NDArray[np.int64], Counts], ...]
    size: int

    @classmethod
    def of(cls, cells: npt.NDArray[np.integer], size: int) -> SparseCounts:
        """Count cells that are named once for each report."""
        named, counts = np.unique(cells, return_counts=True)
        return cls(((named.astype(np.int64), counts.astype(np.int64)),) if len(named) else (), size)

    @classmethod
    def of_dense(cls, counts: Counts) -> SparseCounts:
        """Keep the cells of a table that are not empty."""
        cells = np.flatnonzero(counts)
        return cls(((cells, counts.ravel()[cells]),) if len(cells) else (), counts.size)

    def __add__(self, other: SparseCounts) -> SparseCounts:
        """Add two tables of the same size; merge when most of it is in small runs."""
        runs = (*self.runs, *other.runs)
        lengths = [len(cells) for cells, _ in runs]
        summed = SparseCounts(runs, self.size)
        return summed.merged() if sum(lengths) > 2 * max(lengths, default=0) else summed

    def merged(self) -> SparseCounts:
        """Return the same counts with every cell once, in order."""
        if not self.runs:
            return self
        cells, place = np.unique(np.concatenate([run[0] for run in self.runs]), return_inverse=True)
        counts = np.zeros(len(cells), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([run[1] for run in self.runs]))
        return SparseCounts(((cells, counts),), self.size)

    def dense(self) -> Counts:
        """Return all cells' counts: int64, shape (size,)."""
        counts = np.zeros(self.size, dtype=np.int64)
        for cells, found in self.runs:
            counts[cells] += found  # a run names a cell once
        return counts


@dataclass(frozen=True)
class CrossTable:
    """Counts the reports to some asks of a round together.

    Parameters
    ----------
    places : tuple of int
        Which asks, by their place in the round.
    shape : tuple of int
        The features of each: see `udfs.design.Design.features`.
    weight : int, optional
        The place of the ask that reads weights. The table then holds three layers: counts of those above 0, sums
        of weights and sums of their squares, the last two in whole units of 2**-96.
    """

    places: tuple[int, ...]
    shape: tuple[int, ...]
    weight: int | None = None

    @property
    def size(self) -> int:
        """How many cells there are."""
        return math.prod(self.shape)

    def zeros(self) -> Any:
        """Return the table of no reports."""
        if self.weight is not None:
            return np.zeros((3, *self.shape), dtype=object)
        return SparseCounts((), self.size) if self._sparse else np.zeros(self.shape, dtype=np.int64)

    @property
    def _sparse(self) -> bool:
        return self.size > LARGEST_DENSE

    def tally(self, reports: Sequence[Reports]) -> Any:
        """Count a block.

        Parameters
        ----------
        reports : sequence of ndarray
            To every ask of the round: codes of shape (rows,), sets of shape (rows, cells), or weights.

        Returns
        -------
        ndarray or SparseCounts
            int64, of the table's shape; objects, (3, *shape), where it is weighted.
        """
        mine = [reports[place] for place in self.places]
        if self.weight is not None:
            weights = reports[self.weight].astype(np.float64)
            alone: Limbs = {0: (weights > 0).astype(np.float64)}
            return np.stack(
                [self._sums(mine, limbs) for limbs in (alone, _limbs(weights), _limbs(weights**2))]
            )
        if all(one.ndim == 1 for one in mine):
            cells = _cells(mine, self.shape)
            if self._sparse:
                return SparseCounts.of(cells, self.size)
            return np.bincount(cells, minlength=self.size).astype(np.int64).reshape(self.shape)
        counts = self._products(mine, None).astype(np.int64)
        return SparseCounts.of_dense(counts) if self._sparse else counts

    def _sums(self, mine: list[Reports], limbs: Limbs) -> Any:
        """Return exact sums of what limbs are of, by cell: objects, of the table's shape."""
        total: Any = np.zeros(self.shape, dtype=object)
        for exponent, limb in limbs.items():
            part: npt.NDArray[np.generic]
            if all(one.ndim == 1 for one in mine):
                part = np.bincount(_cells(mine, self.shape), limb, self.size).reshape(self.shape)
            else:
                part = self._products(mine, limb)
            total = total + part.astype(np.int64).astype(object) * (1 << exponent)
        return total

    def _products(self, mine: list[Reports], limb: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float64]:
        """Return the sum of products of features: exact, as every sum stays below 2**53."""
        weights = np.ones((len(mine[0]), 1)) if limb is None else limb[:, None]
        cut = min(range(len(self.shape)), key=lambda place: sum(self._widths(place)))
        whole = np.zeros(self._widths(cut))
        step = max(1, _FEATURES_AT_ONCE // sum(self._widths(cut)))
        for start in range(0, len(weights), step):
            rows = slice(start, start + step)
            features = [_features(one[rows], width) for one, width in zip(mine, self.shape, strict=True)]
            left, right = _joined([weights[rows], *features[:cut]]), _joined(features[cut:])
            whole += left.T @ right
        return whole.reshape(self.shape)

    def _widths(self, cut: int) -> tuple[int, int]:
        """Return the cells of the axes before this one, and of the others."""
        return math.prod(self.shape[:cut]), math.prod(self.shape[cut:])


def _cells(codes: list[Reports], shape: tuple[int, ...]) -> npt.NDArray[np.integer]:
    """Return each row's cell, the last question's code running fastest; in few bytes, so that it is quick."""
    size = math.prod(shape)
    dtype = np.dtype(np.uint16 if size <= 1 << 16 else np.uint32 if size <= 1 << 32 else np.int64)
    cells = codes[0].astype(dtype)
    for code, width in zip(codes[1:], shape[1:], strict=True):
        cells *= dtype.type(width)
        cells += code.astype(dtype, copy=False)
    return cells


def _features(reports: Reports, width: int) -> npt.NDArray[np.float64]:
    """Return a block's features: a one at each row's code, or its set and the constant 1."""
    features = np.zeros((len(reports), width))
    if reports.ndim == 1:
        features[np.arange(len(reports)), reports.astype(np.intp)] = 1.0
    else:
        features[:, :-1] = reports
        features[:, -1] = 1.0
    return features


def _joined(features: list[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """Return the products of each row's features, the last one's running fastest."""
    return reduce(lambda a, b: (a[:, :, None] * b[:, None, :]).reshape(len(a), -1), features)


def _limbs(values: npt.NDArray[np.float64]) -> Limbs:
    """Return values as digits of 32 bits, by exponent above the unit of 2**-96; what lies below is cut off.

    So many digits of a block add up without an error, and the sum does not depend on how rows are cut.
    """
    limbs: Limbs = {}
    rest = values
    for exponent in reversed(_LIMBS):
        digit = np.floor(np.ldexp(rest, -exponent))
        if digit.any():
            limbs[exponent + _WEIGHT_BITS] = digit
            rest = rest - np.ldexp(digit, exponent)
    return limbs
