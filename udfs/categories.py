"""The question of a survey: in which category is your answer?

A column may hold its answers as text, integers, floats, truth values or a dictionary of these, and
differently from file to file: see `udfs.lookup`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.draws import Draws
from udfs.errors import SchemaError, SpecError
from udfs.lookup import Category, Lookup, can_hold_answers
from udfs.randomizer import Codes
from udfs.uniform import uniform_digits

Missing: TypeAlias = Literal["none", "category", "random"]
Undeclared: TypeAlias = Literal["refuse", "missing"]


@dataclass(frozen=True)
class Answers:
    """One block's answers as cells, and how many could not be taken as they are.

    Attributes
    ----------
    codes : ndarray of unsigned integers, shape (rows,)
        The category's place in the question, or `len(categories)` where the answer is missing.
    missing : int
        Rows without an answer.
    undeclared : int
        Rows whose answer is none of the categories; they count as missing where the question says so.
    """

    codes: Codes
    missing: int
    undeclared: int


@dataclass(frozen=True)
class Reading:
    """What a question finds in a block of rows.

    Attributes
    ----------
    codes : ndarray, shape (rows,) or (rows, columns)
        The answers.
    faults : dict of (str, str) to int
        How many rows cannot be asked, by column and what is wrong with them; where there are any, codes
        mean nothing.
    """

    codes: npt.NDArray[Any]
    faults: dict[tuple[str, str], int]


MISSING, UNDECLARED = "missing answers", "answers outside the categories"


@dataclass(frozen=True)
class CategoryQuestion:
    """In which of these categories is your answer?

    Parameters
    ----------
    column : str
        The column that holds the answers.
    categories : tuple of str, of numbers or of bool
        All of one kind, all different.
    missing : {"none", "category", "random"}
        A missing answer is a fault, is one more cell after the categories, or is a uniform answer.
    undeclared : {"refuse", "missing"}
        An answer outside the categories is a fault, or is missing.

    Examples
    --------
    >>> question = CategoryQuestion("smokes", ("no", "yes"), missing="category")
    >>> question.cells
    3
    >>> question.encode(pa.array(["yes", None, "no"])).codes
    array([1, 2, 0], dtype=uint8)
    """

    column: str
    categories: tuple[Category, ...]
    missing: Missing = "none"
    undeclared: Undeclared = "refuse"
    _lookups: dict[pa.DataType, Lookup] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check that the categories are of one kind and all different."""
        where = f"attributes.{self.column}.categories"
        kinds = {_kind(category) for category in self.categories}
        if len(kinds) != 1:
            found = ", ".join(sorted(kinds)) or "none"
            raise SpecError(where, "categories must be all text, all numbers or all truth values", found)
        if any(isinstance(category, float) and not math.isfinite(category) for category in self.categories):
            raise SpecError(where, "a number that is a category must be finite", str(self.categories))
        if len(set(self.categories)) != len(self.categories):
            twice = sorted({str(one) for one in self.categories if self.categories.count(one) > 1})
            raise SpecError(where, "each category must stand once", f"{', '.join(twice)} twice")
        if self.cells < 2:
            raise SpecError(where, "a question needs two categories", f"{self.cells}")
        if self.undeclared == "missing" and self.missing == "none":
            raise SpecError(
                f"attributes.{self.column}.undeclared",
                'an answer can be "missing" only where missing answers are provided for',
                'missing = "none"',
                'set missing = "category" or "random"',
            )

    @property
    def name(self) -> str:
        """The question's name: its column's."""
        return self.column

    @property
    def parts(self) -> tuple[CategoryQuestion, ...]:
        """Itself: the question reads one column."""
        return (self,)

    @property
    def imputes(self) -> bool:
        """Whether a missing answer becomes a uniform one."""
        return self.missing == "random"

    @property
    def cells(self) -> int:
        """How many cells an answer can be in."""
        return len(self.categories) + (self.missing == "category")

    @property
    def labels(self) -> tuple[Category | None, ...]:
        """The cells' labels; None is the cell of those who did not answer."""
        return (*self.categories, None) if self.missing == "category" else self.categories

    @property
    def label(self) -> str:
        """The question and all that bears on its answers: part of the keys of its draws."""
        return f"category {self.column!r} {self.categories!r} missing={self.missing}"

    def check_type(self, arrow_type: pa.DataType, where: str) -> None:
        """Refuse a column that cannot hold any of the categories.

        Raises
        ------
        SchemaError
            Names `where`, the column and its type.
        """
        values = arrow_type.value_type if pa.types.is_dictionary(arrow_type) else arrow_type
        if pa.types.is_null(values):
            return
        if not can_hold_answers(values) or not self._lookup(values).holds:
            raise SchemaError(
                f"{where}, column {self.column!r}",
                f"must hold categories such as {self.categories[0]!r}",
                f"type {arrow_type}",
                "correct the categories, or the column",
            )
        if not self._lookup(values).distinct:
            raise SchemaError(
                f"{where}, column {self.column!r}",
                "must tell all categories apart",
                f"two that are one value of type {arrow_type}",
                "correct the categories, or the column",
            )

    def encode(self, column: pa.Array) -> Answers:
        """Return a block's answers as cells.

        Parameters
        ----------
        column : pyarrow.Array
            One block of the question's column.

        Returns
        -------
        Answers
        """
        outside = len(self.categories) + 1
        codes = self._lookup(column.type).codes(column)
        faults = np.count_nonzero(codes >= outside - 1)
        undeclared = int(np.count_nonzero(codes == outside)) if faults else 0
        if undeclared:
            codes = np.minimum(codes, codes.dtype.type(outside - 1))
        return Answers(codes, int(faults) - undeclared, undeclared)

    def read(self, block: pa.RecordBatch) -> Reading:
        """Return a block's answers, and how many rows cannot be asked."""
        answers, faults = self.encode(block.column(self.column)), {}
        if answers.missing and self.missing == "none":
            faults[self.column, MISSING] = answers.missing
        if answers.undeclared and self.undeclared == "refuse":
            faults[self.column, UNDECLARED] = answers.undeclared
        return Reading(answers.codes, faults)

    def impute(self, codes: Codes, draws: Draws) -> Codes:
        """Give a uniform answer to those who gave none, to be randomized like any other.

        A uniform *report* would not do: it breaks epsilon for every design that is not symmetric.
        """
        blank = codes == len(self.categories)
        if not blank.any():
            return codes
        uniform = uniform_digits(draws, [len(self.categories)])[0].astype(codes.dtype)
        return np.where(blank, uniform, codes)

    def _lookup(self, arrow_type: pa.DataType) -> Lookup:
        """Return the look-up of a type of column, made once."""
        if arrow_type not in self._lookups:
            self._lookups[arrow_type] = Lookup(self.categories, arrow_type)
        return self._lookups[arrow_type]


def _kind(category: Category) -> str:
    """Return text, number or truth value."""
    if isinstance(category, bool):
        return "truth values"
    return "text" if isinstance(category, str) else "numbers"
