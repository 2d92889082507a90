"""What one block of rows does when it is asked, and how two blocks' answers add up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.categories import Reading
from udfs.draws import Draws, Lane, Numbered, PublicDraws, Standing
from udfs.errors import SchemaError
from udfs.lookup import Category
from udfs.randomizer import Codes


class ColumnQuestion(Protocol):
    """What is read from one column."""

    @property
    def column(self) -> str:
        """The column that holds the answers."""
        ...

    @property
    def missing(self) -> str:
        """How a missing answer is handled: "none", "category" or "random"."""
        ...

    def check_type(self, arrow_type: pa.DataType, where: str) -> None:
        """Refuse a column that cannot hold answers."""
        ...


class Question(Protocol):
    """What is asked, and how a block of rows is read as truthful answers."""

    @property
    def name(self) -> str:
        """The question's name, and that of the column of reports to it."""
        ...

    @property
    def parts(self) -> tuple[ColumnQuestion, ...]:
        """The columns that hold the answers."""
        ...

    @property
    def label(self) -> str:
        """The question and all that bears on its answers."""
        ...

    @property
    def labels(self) -> tuple[Category | None, ...]:
        """The labels of the reports' codes."""
        ...

    @property
    def imputes(self) -> bool:
        """Whether a missing answer becomes a uniform one."""
        ...

    def read(self, block: pa.RecordBatch) -> Reading:
        """Return a block's answers, and how many rows cannot be asked."""
        ...

    def impute(self, codes: Codes, draws: Draws) -> Codes:
        """Give a uniform answer to those who gave none."""
        ...


class Mechanism(Protocol):
    """How answers become reports: a randomizer, or a design whose reports are here already."""

    @property
    def label(self) -> str:
        """The mechanism and all its parameters."""
        ...

    @property
    def draws(self) -> bool:
        """Whether it draws: a design that only reads reports needs no secret."""
        ...

    def randomize(self, answers: Any, draws: Draws) -> Any:
        """Turn a block of truthful answers into reports: an array, or what its own `tally` takes."""
        ...

    def zeros(self) -> Any:
        """Return the sum of no reports: anything that adds up by `+`."""
        ...

    def tally(self, reports: Any) -> Any:
        """Add a block of reports up."""
        ...

    def thresholds(self) -> dict[str, int]:
        """Return the integers that fix the law."""
        ...

    def report_type(self, labels: Sequence[Category | None]) -> pa.DataType:
        """Return the type of a column of reports."""
        ...

    def to_arrow(self, reports: Any, labels: Sequence[Category | None]) -> pa.Array:
        """Return a block of reports as a column."""
        ...


class Tally(Protocol):
    """What is added up of a block's reports to several asks."""

    def zeros(self) -> Any:
        """Return the sum of no reports."""
        ...

    def tally(self, reports: Sequence[npt.NDArray[np.generic]]) -> Any:
        """Return the sum of a block's reports, one array an ask: anything that adds up by `+`."""
        ...


Ask: TypeAlias = tuple[Question, Mechanism]
Fault: TypeAlias = tuple[str, str, str]
"""(file, column, what is wrong): counted, never shown."""

MISSING_IDS = "missing ids"

_MOST_FAULTS_NAMED = 5


@dataclass(frozen=True)
class Response:
    """What one block of rows gives back for one ask.

    Attributes
    ----------
    reports : optional
        What the mechanism made of the rows that are asked; None where the block has a fault, so that nothing is
        drawn from it.
    faults : dict of (str, str) to int
        How many rows cannot be asked, by column and what is wrong with them.
    answers : ndarray, optional
        What the question found in each row; None where the block has a fault.
    """

    reports: Any
    faults: dict[tuple[str, str], int]
    answers: npt.NDArray[np.generic] | None = None


def respond(
    ask: Ask, block: pa.RecordBatch, draws_of: Callable[[Codes], Draws], standing: Standing | None = None
) -> Response:
    """Ask one block of rows.

    Parameters
    ----------
    ask : Question and Mechanism
    block : pyarrow.RecordBatch
        With the question's columns.
    draws_of : callable
        Given the block's truthful answers, returns the draws that belong to them.
    standing : Standing, optional
        Where the rows stand: all that a mechanism may need which only reads.

    Returns
    -------
    Response

    Notes
    -----
    Runs where the answers are: on a worker, or on a respondent's device with a block of one row.
    """
    question, mechanism = ask
    answers = question.read(block)
    if answers.faults:
        return Response(None, answers.faults)
    codes = answers.codes
    if not mechanism.draws:
        public = PublicDraws(standing or Numbered(0, len(codes)))
        return Response(mechanism.randomize(codes, public), {}, codes)
    draws = draws_of(codes)
    if question.imputes:
        imputed = question.impute(codes, Lane(draws, 1, 2))
        return Response(mechanism.randomize(imputed, Lane(draws, 0, 2)), {}, codes)
    return Response(mechanism.randomize(codes, draws), {}, codes)


@dataclass(frozen=True)
class WrittenFile:
    """What a whole file is: bytes and SHA-256."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Partial:
    """The answers of some work units: a commutative monoid under `combine`.

    Attributes
    ----------
    counts : tuple
        A sum of reports for each ask, then one for each further tally: whatever adds up by `+`.
    rows : int
        How many rows were asked.
    faults : dict of Fault to int
        How many rows cannot be asked, by file, column and what is wrong.
    digests : dict of str to tuple of str
        Keyed digests of the answers of each work unit, one a question.
    repeats : tuple of int
        Fingerprints of ids that seem to stand twice; at most `MOST_REPEATS`.
    files : dict of str to WrittenFile
        The files of reports that were written.
    """

    counts: tuple[Any, ...]
    rows: int = 0
    faults: dict[Fault, int] = field(default_factory=dict)
    digests: dict[str, tuple[str, ...]] = field(default_factory=dict)
    repeats: tuple[int, ...] = ()
    files: dict[str, WrittenFile] = field(default_factory=dict)


MOST_REPEATS = 1000
"""So many repeated ids are told apart; of more, these are counted."""


def combine(partials: Iterable[Partial]) -> Partial:
    """Add partial answers up; of none, the neutral one."""
    counts: list[Any] = []
    rows, faults, repeats = 0, dict[Fault, int](), set[int]()
    digests, files = dict[str, tuple[str, ...]](), dict[str, WrittenFile]()
    for partial in partials:
        if not counts:
            counts = list(partial.counts)
        elif partial.counts:
            counts = [a + b for a, b in zip(counts, partial.counts, strict=True)]
        rows += partial.rows
        for fault, count in partial.faults.items():
            faults[fault] = faults.get(fault, 0) + count
        digests |= partial.digests
        files |= partial.files
        repeats |= set(partial.repeats)
    return Partial(tuple(counts), rows, faults, digests, tuple(sorted(repeats)[:MOST_REPEATS]), files)


def refusal(faults: dict[Fault, int]) -> SchemaError:
    """Name what cannot be asked by file, column and count."""
    named = [
        f"{count} {what} in column {column!r} of {file}"
        for (file, column, what), count in sorted(faults.items())[:_MOST_FAULTS_NAMED]
    ]
    rest = len(faults) - len(named)
    return SchemaError(
        "population",
        "every row must be one that can be asked",
        "; ".join(named) + (f"; and {rest} more columns of files" if rest else ""),
        "mend the data, or what the spec says of them",
    )
