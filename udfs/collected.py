"""Reports that are here already: the columns hold what a design made of answers, and nothing is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.categories import MISSING, UNDECLARED, CategoryQuestion, Reading
from udfs.design import Counts, Design
from udfs.draws import Draws
from udfs.errors import SchemaError
from udfs.lookup import Category
from udfs.randomizer import Codes, Randomizer

IMPOSSIBLE = "reports that its mechanism does not make"


@dataclass(frozen=True)
class CollectedReports:
    """The question whose answers are the codes that were reported.

    Parameters
    ----------
    asked : CategoryQuestion
        The reports that can be; a null is one of them where missing reports are a category.
    design : str
        The label of the design they were made with.
    """

    asked: CategoryQuestion
    design: str
    missing: ClassVar[str] = "none"
    imputes: ClassVar[bool] = False

    @property
    def column(self) -> str:
        """The column that holds the reports."""
        return self.asked.column

    @property
    def name(self) -> str:
        """The question's name: its column's."""
        return self.asked.column

    @property
    def parts(self) -> tuple[CollectedReports, ...]:
        """Itself: it reads one column."""
        return (self,)

    @property
    def label(self) -> str:
        """The question and the design."""
        return f"collected {self.asked.label} {self.design}"

    @property
    def labels(self) -> tuple[Category | None, ...]:
        """The labels of the reports."""
        return self.asked.labels

    def check_type(self, arrow_type: pa.DataType, where: str) -> None:
        """Refuse a column that cannot hold reports."""
        self.asked.check_type(arrow_type, where)

    def read(self, block: pa.RecordBatch) -> Reading:
        """Return a block's reports, and how many rows hold none that can be."""
        answers, faults = self.asked.encode(block.column(self.column)), {}
        if answers.missing and self.asked.missing != "category":
            faults[self.column, MISSING] = answers.missing
        if answers.undeclared:
            faults[self.column, UNDECLARED] = answers.undeclared
        return Reading(answers.codes, faults)

    def impute(self, codes: Codes, draws: Draws) -> Codes:
        """Return the reports: nobody is asked again."""
        return codes


@dataclass(frozen=True)
class CollectedSets(CollectedReports):
    """The question whose answers are the sets of cells that were reported, a bit a cell.

    Parameters
    ----------
    randomizer : Randomizer
        What made them.
    """

    randomizer: Randomizer

    def check_type(self, arrow_type: pa.DataType, where: str) -> None:
        """Refuse a column that cannot hold reports.

        Raises
        ------
        SchemaError
            Names `where`, the column and its type.
        """
        expected = self.randomizer.report_type(self.labels)
        if arrow_type != expected:
            raise SchemaError(
                f"{where}, column {self.column!r}", f"must hold reports as {expected}", str(arrow_type)
            )

    def read(self, block: pa.RecordBatch) -> Reading:
        """Return a block's sets, and how many rows hold none that can be."""
        column = block.column(self.column)
        if column.null_count:
            return Reading(np.empty(0, dtype=np.uint8), {(self.column, MISSING): column.null_count})
        width = column.type.byte_width
        flat = np.frombuffer(column.buffers()[1], dtype=np.uint8, count=(column.offset + len(column)) * width)
        packed = flat.reshape(-1, width)[column.offset :]
        sets = np.unpackbits(packed, axis=1, count=self.randomizer.cells, bitorder="little").view(np.bool_)
        members = np.count_nonzero(sets, axis=1)
        wrong = np.bitwise_count(packed).sum(axis=1) != members  # bits beyond the last cell
        wrong |= members != self.randomizer.thresholds().get("size", members)
        faults = {(self.column, IMPOSSIBLE): int(np.count_nonzero(wrong))} if wrong.any() else {}
        return Reading(sets, faults)


class OnlyReads:
    """What mechanisms share that make no reports, and so write none: they read those that are here already."""

    draws: ClassVar[bool] = False
    label: ClassVar[str] = "collected"

    def thresholds(self) -> dict[str, int]:
        """Return nothing: no report is made here."""
        return {}

    def report_type(self, labels: Sequence[Category | None]) -> pa.DataType:
        """Refuse: reports that were collected are not written again."""
        raise NotImplementedError("collected reports are where they are")

    def to_arrow(self, reports: npt.NDArray[np.generic], labels: Sequence[Category | None]) -> pa.Array:
        """Refuse: reports that were collected are not written again."""
        raise NotImplementedError("collected reports are where they are")


@dataclass(frozen=True)
class Collected(OnlyReads):
    """The mechanism that only reads: reports in, the same reports out."""

    design: Design

    def randomize(self, answers: Codes, draws: Draws) -> npt.NDArray[np.generic]:
        """Return the reports as they are."""
        return answers

    def zeros(self) -> Counts:
        """Return the sum of no reports."""
        return self.design.zeros()

    def tally(self, reports: npt.NDArray[np.generic]) -> Counts:
        """Add a block of reports up."""
        return self.design.tally(reports)
