"""Columns that stand beside reports and are no secret: strata, groups, weights, covariates.

They are read, never drawn for and never written. A job asks for them only where the data was collected
elsewhere, and so shows nothing of them that its spec does not name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.categories import MISSING, Reading
from udfs.design import Counts
from udfs.draws import Draws
from udfs.errors import SchemaError
from udfs.lookup import Category, Lookup, can_hold_answers
from udfs.randomizer import Codes
from udfs.tables import WEIGHT_RANGE

LARGEST_NUMBER = 1e100
"""Of larger ones no squares can be added up."""


@dataclass(frozen=True)
class AsideQuestion(ABC):
    """What stands in a column that is no secret.

    Parameters
    ----------
    column : str
    """

    column: str
    missing: ClassVar[str] = "none"
    imputes: ClassVar[bool] = False
    labels: ClassVar[tuple[Category | None, ...]] = ()

    @property
    def name(self) -> str:
        """The question's name: its column's."""
        return self.column

    @property
    def parts(self) -> tuple[Self, ...]:
        """Itself: it reads one column."""
        return (self,)

    @property
    @abstractmethod
    def label(self) -> str:
        """The question and all that bears on what is read."""

    @abstractmethod
    def check_type(self, arrow_type: pa.DataType, where: str) -> None:
        """Refuse a column that cannot hold what is asked for."""

    @abstractmethod
    def read(self, block: pa.RecordBatch) -> Reading:
        """Return what a block holds, and how many rows hold nothing that can be."""

    def impute(self, codes: Codes, draws: Draws) -> Codes:
        """Return what was read: nothing is drawn."""
        return codes


@dataclass(frozen=True)
class NumberQuestion(AsideQuestion):
    """What number stands in this column?

    Parameters
    ----------
    column : str
    weights : bool
        Whether the numbers are weights: from 0 up, and neither tiny nor huge.
    """

    weights: bool = False

    @property
    def label(self) -> str:
        """The question."""
        return f"number {self.column!r} weights={self.weights}"

    def check_type(self, arrow_type: pa.DataType, where: str) -> None:
        """Refuse a column that holds no numbers."""
        if not (
            pa.types.is_integer(arrow_type)
            or pa.types.is_floating(arrow_type)
            or pa.types.is_decimal(arrow_type)
        ):
            raise SchemaError(f"{where}, column {self.column!r}", "must hold numbers", f"type {arrow_type}")

    def read(self, block: pa.RecordBatch) -> Reading:
        """Return a block's numbers as float64, and how many rows hold none that can be."""
        column, faults = block.column(self.column), {}
        numbers = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        if column.null_count:
            faults[self.column, MISSING] = column.null_count
        finite = np.abs(numbers) <= LARGEST_NUMBER  # NaN is not
        beyond = int(np.count_nonzero(~finite)) - column.null_count
        if beyond:
            faults[self.column, "numbers that are not finite, or beyond 1e100"] = beyond
        if self.weights:
            wrong = finite & (numbers != 0) & ~((numbers >= 1 / WEIGHT_RANGE) & (numbers <= WEIGHT_RANGE))
            if wrong.any():
                what = "weights below 0, or beyond what can be added up exactly"
                faults[self.column, what] = int(np.count_nonzero(wrong))
        return Reading(numbers, faults)


@dataclass(frozen=True)
class LevelQuestion(AsideQuestion):
    """Which of its known values stands in this column?

    Parameters
    ----------
    column : str
    levels : tuple of str, of numbers or of bool
        All different; one will do.
    """

    levels: tuple[Category, ...]

    @property
    def label(self) -> str:
        """The question."""
        return f"level {self.column!r} {self.levels!r}"

    def check_type(self, arrow_type: pa.DataType, where: str) -> None:
        """Refuse a column that holds nothing to tell apart."""
        check_level_type(self.column, arrow_type, where)

    def read(self, block: pa.RecordBatch) -> Reading:
        """Return a block's levels as codes, and how many rows hold none."""
        column, faults = block.column(self.column), {}
        codes = Lookup(self.levels, column.type).codes(column)
        for what, code in ((MISSING, len(self.levels)), ("values that are no level", len(self.levels) + 1)):
            if rows := int(np.count_nonzero(codes == code)):
                faults[self.column, what] = rows
        return Reading(codes, faults)


def check_level_type(column: str, arrow_type: pa.DataType, where: str) -> None:
    """Refuse a type of column that holds no levels.

    Raises
    ------
    SchemaError
    """
    values = arrow_type.value_type if pa.types.is_dictionary(arrow_type) else arrow_type
    if not can_hold_answers(values):
        raise SchemaError(
            f"{where}, column {column!r}", "must hold text, numbers or truth values", f"type {arrow_type}"
        )


@dataclass(frozen=True)
class Aside:
    """The mechanism that only reads a column which is no secret; it is added up by tallies alone."""

    draws: ClassVar[bool] = False
    label: ClassVar[str] = "aside"

    def randomize(self, answers: Codes, draws: Draws) -> npt.NDArray[np.generic]:
        """Return the values as they are."""
        return answers

    def zeros(self) -> Counts:
        """Return the sum of nothing."""
        return np.zeros(0, dtype=np.int64)

    def tally(self, reports: npt.NDArray[np.generic]) -> Counts:
        """Add nothing up."""
        return self.zeros()

    def thresholds(self) -> dict[str, int]:
        """Return nothing: no report is made."""
        return {}

    def report_type(self, labels: Sequence[Category | None]) -> pa.DataType:
        """Refuse: what is no secret is not written again."""
        raise NotImplementedError("asides are not written")

    def to_arrow(self, reports: npt.NDArray[np.generic], labels: Sequence[Category | None]) -> pa.Array:
        """Refuse: what is no secret is not written again."""
        raise NotImplementedError("asides are not written")
