"""One question over several columns: their product cell, or all their cells side by side."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from udfs.categories import CategoryQuestion, Reading
from udfs.draws import Draws, Lane
from udfs.errors import SpecError
from udfs.lookup import Category
from udfs.randomizer import Codes, code_dtype

LARGEST_PRODUCT = 1 << 20
"""A product of more cells than this hides every answer among too many others."""


@dataclass(frozen=True)
class SeveralQuestions(ABC):
    """Several questions that are answered with one report.

    Parameters
    ----------
    name : str
        Of the column of reports.
    parts : tuple of CategoryQuestion
        On different columns.
    """

    name: str
    parts: tuple[CategoryQuestion, ...]

    def __post_init__(self) -> None:
        """Check that columns differ."""
        if len({part.column for part in self.parts}) != len(self.parts) or len(self.parts) < 2:
            raise SpecError(self.name, "needs two or more attributes, all different", f"{len(self.parts)}")

    @property
    def shape(self) -> tuple[int, ...]:
        """The cells of every question."""
        return tuple(part.cells for part in self.parts)

    @property
    def label(self) -> str:
        """The question and all that bears on its answers."""
        return f"{type(self).__name__} {self.name!r}: {'; '.join(part.label for part in self.parts)}"

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The labels of the reports' codes."""

    @property
    def imputes(self) -> bool:
        """Whether a missing answer to one of them becomes a uniform one."""
        return any(part.imputes for part in self.parts)

    def read(self, block: pa.RecordBatch) -> Reading:
        """Return a block's answers, and how many rows cannot be asked, column by column."""
        readings = [part.read(block) for part in self.parts]
        faults = {fault: rows for reading in readings for fault, rows in reading.faults.items()}
        if faults:
            return Reading(np.empty(0, dtype=np.uint8), faults)
        return Reading(self._together([reading.codes for reading in readings], self._widths), {})

    def impute(self, codes: Codes, draws: Draws) -> Codes:
        """Give a uniform answer to each question that was not answered and asks for it."""
        apart = self._apart(codes)
        for place, part in enumerate(self.parts):
            if part.imputes:
                apart[place] = part.impute(apart[place], Lane(draws, place, len(self.parts)))
        return self._together(apart, self.shape)

    @property
    def _widths(self) -> tuple[int, ...]:
        """The codes that `read` tells apart: a missing answer that will be imputed is still one of them."""
        return tuple(part.cells + part.imputes for part in self.parts)

    @abstractmethod
    def _together(self, codes: Sequence[Codes], widths: tuple[int, ...]) -> Codes:
        """Return one array of the questions' codes."""

    @abstractmethod
    def _apart(self, codes: Codes) -> list[Codes]:
        """Return the questions' codes from one array of codes that were read."""


@dataclass(frozen=True)
class ProductQuestion(SeveralQuestions):
    """In which cell of the product of these questions is your answer?

    The last question's cell runs fastest.

    Examples
    --------
    >>> smokes, drinks = CategoryQuestion("smokes", ("no", "yes")), CategoryQuestion("drinks", ("no", "yes"))
    >>> ProductQuestion("both", (smokes, drinks)).labels
    ('["no", "no"]', '["no", "yes"]', '["yes", "no"]', '["yes", "yes"]')
    """

    def __post_init__(self) -> None:
        """Check that the product is not too large."""
        super().__post_init__()
        cells = math.prod(self._widths)
        if cells > LARGEST_PRODUCT:
            raise SpecError(self.name, f"a product must have {LARGEST_PRODUCT:,} cells at most", f"{cells:,}")

    @property
    def cells(self) -> int:
        """How many cells an answer can be in."""
        return math.prod(self.shape)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the cells: JSON lists of the questions' labels."""
        lists: list[list[Category | None]] = [[]]
        for part in self.parts:
            lists = [[*before, label] for before in lists for label in part.labels]
        return tuple(json.dumps(one, ensure_ascii=False) for one in lists)

    def _together(self, codes: Sequence[Codes], widths: tuple[int, ...]) -> Codes:
        dtype = code_dtype(math.prod(widths))
        cells = codes[0].astype(dtype)
        for code, width in zip(codes[1:], widths[1:], strict=True):
            cells *= dtype.type(width)
            cells += code.astype(dtype, copy=False)
        return cells

    def _apart(self, codes: Codes) -> list[Codes]:
        apart = []
        for width in reversed(self._widths):
            codes, code = np.divmod(codes, codes.dtype.type(width))
            apart.append(code)
        return apart[::-1]


@dataclass(frozen=True)
class SideBySide(SeveralQuestions):
    """All these questions, of which a respondent reports on one.

    Codes have the shape (rows, questions). A report's code runs through the cells of the first question, then
    of the second, and so on.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the reports: JSON lists of a column and one of its labels."""
        return tuple(
            json.dumps([part.column, label], ensure_ascii=False)
            for part in self.parts
            for label in part.labels
        )

    def _together(self, codes: Sequence[Codes], widths: tuple[int, ...]) -> Codes:
        return np.column_stack([code.astype(code_dtype(max(widths)), copy=False) for code in codes])

    def _apart(self, codes: Codes) -> list[Codes]:
        return list(codes.T)
