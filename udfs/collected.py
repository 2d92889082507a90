"""Reports that are here already: the columns hold what a randomizer made, and nothing is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.categories import Answers, CategoryQuestion
from udfs.errors import SchemaError
from udfs.lookup import Category
from udfs.randomizer import Codes, Counts, PureRandomizer
from udfs.streams import Draws


@dataclass(frozen=True)
class CollectedReports:
    """The question whose answers are the reports of a randomizer.

    Parameters
    ----------
    asked : CategoryQuestion
        What respondents were asked; a null report is the cell of missing answers, where that is one.
    randomizer : PureRandomizer
        What they answered with.
    """

    asked: CategoryQuestion
    randomizer: PureRandomizer
    missing: ClassVar[str] = "none"
    undeclared: ClassVar[str] = "refuse"

    @property
    def column(self) -> str:
        """The column that holds the reports."""
        return self.asked.column

    @property
    def label(self) -> str:
        """The question and the design."""
        return f"collected {self.asked.label} {self.randomizer.label}"

    @property
    def labels(self) -> tuple[Category | None, ...]:
        """The cells' labels."""
        return self.asked.labels

    def check_type(self, arrow_type: pa.DataType, where: str) -> None:
        """Refuse a column that cannot hold reports.

        Raises
        ------
        SchemaError
            Names `where`, the column and its type.
        """
        expected = self.randomizer.report_type(self.labels)
        if pa.types.is_dictionary(expected):
            self.asked.check_type(arrow_type, where)
        elif arrow_type != expected:
            raise SchemaError(
                f"{where}, column {self.column!r}", f"must hold reports as {expected}", str(arrow_type)
            )

    def encode(self, column: pa.Array) -> Answers:
        """Return a block's reports, and how many are none."""
        if not pa.types.is_fixed_size_binary(column.type):
            answers = self.asked.encode(column)
            nulls = 0 if self.asked.missing == "category" else answers.missing
            return Answers(answers.codes, nulls, answers.undeclared)
        if column.null_count:
            return Answers(np.empty(0, dtype=np.uint8), column.null_count, 0)
        width = column.type.byte_width
        flat = np.frombuffer(column.buffers()[1], dtype=np.uint8, count=(column.offset + len(column)) * width)
        packed = flat.reshape(-1, width)[column.offset :]
        sets = np.unpackbits(packed, axis=1, count=self.randomizer.cells, bitorder="little").view(np.bool_)
        wrong = np.bitwise_count(packed).sum(axis=1) != self.randomizer.thresholds()["size"]
        wrong |= np.count_nonzero(sets, axis=1) != self.randomizer.thresholds()["size"]
        return Answers(sets, 0, int(np.count_nonzero(wrong)))  # type: ignore[arg-type]

    def impute(self, codes: Codes, draws: Draws) -> Codes:
        """Return the reports: nobody is asked again."""
        return codes


@dataclass(frozen=True)
class Collected:
    """The mechanism that only reads: reports in, the same reports out."""

    randomizer: PureRandomizer
    draws: ClassVar[bool] = False

    @property
    def label(self) -> str:
        """The design the reports were made with."""
        return f"collected {self.randomizer.label}"

    def randomize(self, answers: Codes, draws: Draws) -> npt.NDArray[np.generic]:
        """Return the reports as they are."""
        return answers

    def zeros(self) -> Counts:
        """Return the sum of no reports."""
        return self.randomizer.zeros()

    def tally(self, reports: npt.NDArray[np.generic]) -> Counts:
        """Add a block of reports up."""
        return self.randomizer.tally(reports)

    def thresholds(self) -> dict[str, int]:
        """Return the integers that fix the design's law."""
        return self.randomizer.thresholds()

    def report_type(self, labels: Sequence[Category | None]) -> pa.DataType:
        """Return the type of a column of reports."""
        return self.randomizer.report_type(labels)

    def to_arrow(self, reports: npt.NDArray[np.generic], labels: Sequence[Category | None]) -> pa.Array:
        """Return a block of reports as a column."""
        return self.randomizer.to_arrow(reports, labels)
