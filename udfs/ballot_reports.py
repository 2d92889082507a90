"""Reports on ballots that are here already: what their files say of them, and how they are read and added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.ball import Ball
from udfs.ballots import BallotQuestion
from udfs.categories import MISSING, Reading
from udfs.choice import SampledChoice
from udfs.collected import IMPOSSIBLE, OnlyReads
from udfs.draws import Draws
from udfs.errors import SchemaError
from udfs.lookup import Category
from udfs.randomizer import Codes, Counts


class BallotReports(Protocol):
    """A mechanism whose reports can be read again."""

    @property
    def label(self) -> str:
        """The mechanism and all its parameters."""
        ...

    def zeros(self) -> Counts:
        """Return the sum of no reports."""
        ...

    def tally(self, reports: npt.NDArray[np.generic]) -> Counts:
        """Add a block of reports up."""
        ...

    def report_type(self, labels: Sequence[Category | None]) -> pa.DataType:
        """Return the type of a column of reports."""
        ...

    def from_arrow(self, column: pa.Array) -> tuple[npt.NDArray[np.generic], int]:
        """Return what a column holds, and how many of its rows hold no report that can be."""
        ...

    def collected(self, found: npt.NDArray[np.generic], draws: Draws) -> npt.NDArray[np.generic]:
        """Return the reports, with what public draws add to them."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return all parameters as JSON has them."""
        ...


BallotMechanism: TypeAlias = Ball | SampledChoice
"""The mechanisms of ballots."""
MECHANISMS: dict[str, type[BallotMechanism]] = {kind.mechanism: kind for kind in get_args(BallotMechanism)}
"""By their names in footers."""


@dataclass(frozen=True)
class ReportColumn:
    """A column of reports, or of one part of them.

    Parameters
    ----------
    column : str
    expected : pyarrow.DataType
    """

    column: str
    expected: pa.DataType
    missing: ClassVar[str] = "none"

    def check_type(self, arrow_type: pa.DataType, where: str) -> None:
        """Refuse a column that cannot hold reports.

        Raises
        ------
        SchemaError
            Names `where`, the column and its type.
        """
        if arrow_type != self.expected:
            raise SchemaError(
                f"{where}, column {self.column!r}", f"must hold reports as {self.expected}", str(arrow_type)
            )


@dataclass(frozen=True)
class CollectedBallots:
    """The question whose answers are reports.

    Parameters
    ----------
    name : str
        Of their column, where it is one.
    reports : BallotReports
        What made them.
    """

    name: str
    reports: BallotReports
    imputes: ClassVar[bool] = False
    labels: ClassVar[tuple[Category | None, ...]] = ()

    @property
    def parts(self) -> tuple[ReportColumn, ...]:
        """The column of the reports, or those of their parts."""
        kind = self.reports.report_type(())
        if pa.types.is_struct(kind):
            return tuple(ReportColumn(part.name, part.type) for part in kind)
        return (ReportColumn(self.name, kind),)

    @property
    def label(self) -> str:
        """The question, and what made the reports."""
        return f"collected {self.name!r} {self.reports.label}"

    def read(self, block: pa.RecordBatch) -> Reading:
        """Return what a block holds, and how many rows hold no report that can be."""
        names = [part.column for part in self.parts]
        columns = [block.column(name) for name in names]
        nulls = {
            (name, MISSING): one.null_count
            for name, one in zip(names, columns, strict=True)
            if one.null_count
        }
        if nulls:
            return Reading(np.empty(0, dtype=np.uint8), nulls)
        whole = pa.types.is_struct(self.reports.report_type(()))
        column = pa.StructArray.from_arrays(columns, names) if whole else columns[0]
        found, impossible = self.reports.from_arrow(column)
        return Reading(found, {(names[-1], IMPOSSIBLE): impossible} if impossible else {})

    def impute(self, codes: Codes, draws: Draws) -> Codes:
        """Return the reports: nobody is asked again."""
        return codes


@dataclass(frozen=True)
class CollectedScores(OnlyReads):
    """The mechanism that only reads reports on ballots."""

    reports: BallotReports

    def randomize(self, answers: npt.NDArray[np.generic], draws: Draws) -> npt.NDArray[np.generic]:
        """Return the reports as they are, with what public draws add to them."""
        return self.reports.collected(answers, draws)

    def zeros(self) -> Counts:
        """Return the sum of no reports."""
        return self.reports.zeros()

    def tally(self, reports: npt.NDArray[np.generic]) -> Counts:
        """Add a block of reports up."""
        return self.reports.tally(reports)


def describe_ballots(question: BallotQuestion, columns: Mapping[str, BallotReports]) -> dict[str, Any]:
    """Return what a reader must know to tally files of reports on ballots, as JSON values."""
    return {
        "candidates": list(question.candidates),
        "invalid": question.invalid,
        "shared": question.shared,
        "columns": {name: reports.describe() for name, reports in columns.items()},
    }


def reports_of(entry: dict[str, Any]) -> dict[str, BallotMechanism]:
    """Return what made the reports of each column.

    Raises
    ------
    SchemaError
        For a description that is none of this project's.
    """
    columns = entry.get("columns")
    try:
        if not isinstance(columns, dict) or not columns:
            raise TypeError
        return {name: MECHANISMS[one["mechanism"]].from_description(one) for name, one in columns.items()}
    except SchemaError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise SchemaError(
            "collected", "needs footers that say how reports were made", type(error).__name__
        ) from None
