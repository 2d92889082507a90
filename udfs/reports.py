"""The two kinds of reports, one code and a set of cells: how they are added up and how they are kept."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.design import Counts, Shares
from udfs.randomizer import PureRandomizer, code_dtype

_FEW_CELLS = 16
"""Up to here, counting the reports of each cell takes less time than sorting them into bins."""


class CodeReports:
    """What randomizers share whose reports are one cell each: kept as a dictionary column."""

    cells: int

    def tally(self, reports: npt.NDArray[np.generic]) -> Counts:
        """Count the reports of each cell: int64, shape (cells,)."""
        if self.cells > _FEW_CELLS:
            return np.bincount(reports.astype(np.intp), minlength=self.cells).astype(np.int64)
        counts = [np.count_nonzero(reports == cell) for cell in range(self.cells - 1)]
        return np.array([*counts, len(reports) - sum(counts)], dtype=np.int64)

    def report_type(self, labels: Sequence[str | int | float | bool | None]) -> pa.DataType:
        """Return a dictionary of the labels; a null label is a null report."""
        return pa.dictionary(pa.from_numpy_dtype(code_dtype(self.cells)), _label_array(labels).type)

    def to_arrow(
        self, reports: npt.NDArray[np.generic], labels: Sequence[str | int | float | bool | None]
    ) -> pa.Array:
        """Return a block of reports as a dictionary column; the cell of a null label is null."""
        mask = reports == len(labels) - 1 if labels[-1] is None else None
        return pa.DictionaryArray.from_arrays(pa.array(reports, mask=mask), _label_array(labels))


def _label_array(labels: Sequence[str | int | float | bool | None]) -> pa.Array:
    """Return the labels that are no null, as a dictionary's values."""
    return pa.array([label for label in labels if label is not None])


@dataclass(frozen=True)
class SetRandomizer(PureRandomizer):
    """A pure randomizer whose reports are sets of cells: bool, shape (rows, cells), kept as bit sets.

    Its features are the cells' supports, and last the constant 1: sets differ in size, so that how many
    reports there are, and in tables of several attributes what the margins are, is a feature of its own.
    """

    @property
    @abstractmethod
    def size(self) -> int | None:
        """How many cells a report holds; None where that differs."""

    @property
    def features(self) -> int:
        """One a cell, and the constant."""
        return self.cells + 1

    @property
    def one_code(self) -> bool:
        """No: a report is a set."""
        return False

    def forget(self, observed: Any, axis: int = 0) -> Any:
        """Return features of the other axes alone, of all reports: those that go with the constant."""
        return observed.take(-1, axis=axis)

    def observe(self, shares: Shares, axis: int = 0) -> Shares:
        """Return the expected supports and the constant: cells to features along one axis."""
        everyone = shares.sum(axis=axis, keepdims=True)
        supports = float(self.support_if_false) * everyone + self.slope * shares
        return np.concatenate([supports, everyone], axis=axis)

    def reconstruct(self, observed: Shares, axis: int = 0) -> Shares:
        """Return unbiased shares, `(support - q constant) / (p - q)`: features to cells along one axis."""
        supports, constant = np.split(observed, [self.cells], axis=axis)
        shares: Shares = (supports - float(self.support_if_false) * constant) / self.slope
        return shares

    def reconstruct_squares(self, observed: Shares, axis: int = 0) -> Shares:
        """Return the mean square of single reports' own estimates: features to cells along one axis."""
        q = float(self.support_if_false)
        supports, constant = np.split(observed, [self.cells], axis=axis)
        squares: Shares = ((1 - 2 * q) * supports + q * q * constant) / self.slope**2
        return squares

    def reconstruct_square_sums(
        self, observed: Shares, shape: tuple[int, ...], kept: Sequence[int]
    ) -> Shares:
        """Return the mean square of single cells' estimates; of sums, supports of cells together would tell."""
        if len(kept) < len(shape):
            raise NotImplementedError("a report that is a set is to one attribute")
        return self.reconstruct_squares(observed)

    def pull_back(self, gradient: Shares, axis: int = 0) -> Shares:
        """Return the transpose of `reconstruct`: a gradient by cells becomes one by features along an axis."""
        by_support = gradient / self.slope
        by_constant = -float(self.support_if_false) * by_support.sum(axis=axis, keepdims=True)
        return np.concatenate([by_support, by_constant], axis=axis)

    def tally(self, reports: npt.NDArray[np.generic]) -> Counts:
        """Count the sets that hold each cell: int64, shape (cells,)."""
        return np.array([np.count_nonzero(column) for column in reports.T], dtype=np.int64)

    def report_type(self, labels: Sequence[str | int | float | bool | None]) -> pa.DataType:
        """Return fixed-size binary: a set is a bit a cell, the first cell the lowest bit of the first byte."""
        return pa.binary(-(-self.cells // 8))

    def to_arrow(
        self, reports: npt.NDArray[np.generic], labels: Sequence[str | int | float | bool | None]
    ) -> pa.Array:
        """Return a block of reports as bit sets."""
        packed = np.zeros((len(reports), -(-self.cells // 8)), dtype=np.uint8)
        for cell, column in enumerate(reports.T):
            packed[:, cell // 8] |= column.view(np.uint8) << np.uint8(cell % 8)
        return pa.FixedSizeBinaryArray.from_buffers(
            self.report_type(labels), len(reports), [None, pa.py_buffer(packed)]
        )
