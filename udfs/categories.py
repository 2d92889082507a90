"""The question of a survey: in which category is your answer?

A column may hold its answers as text, integers, floats, truth values or a dictionary of these, and
differently from file to file. The categories are turned into the column's type, never the answers into
the categories': an answer is then a look-up, and no failed conversion can put one in a message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from udfs.errors import SchemaError, SpecError
from udfs.randomizer import Codes, code_dtype
from udfs.streams import Draws, uniform_digits

Category: TypeAlias = str | int | float | bool
Missing: TypeAlias = Literal["none", "category", "random"]
Undeclared: TypeAlias = Literal["refuse", "missing"]

_LARGEST_TABLE = 1 << 16
"""Integer categories that span at most this are looked up in a table, not hashed."""


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

    def __post_init__(self) -> None:
        """Check that the categories are of one kind and all different."""
        where = f"attributes.{self.column}.categories"
        kinds = {_kind(category) for category in self.categories}
        if len(kinds) != 1:
            found = ", ".join(sorted(kinds)) or "none"
            raise SpecError(where, "categories must be all text, all numbers or all truth values", found)
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
        if not _can_hold_categories(values) or not len(self._lookup(values)[1]):
            raise SchemaError(
                f"{where}, column {self.column!r}",
                f"must hold categories such as {self.categories[0]!r}",
                f"type {arrow_type}",
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
        codes = self._codes(column)
        faults = np.count_nonzero(codes >= outside - 1)
        undeclared = int(np.count_nonzero(codes == outside)) if faults else 0
        if undeclared:
            codes = np.minimum(codes, codes.dtype.type(outside - 1))
        return Answers(codes, int(faults) - undeclared, undeclared)

    def impute(self, codes: Codes, draws: Draws) -> Codes:
        """Give a uniform answer to those who gave none, to be randomized like any other.

        A uniform *report* would not do: it breaks epsilon for every design that is not symmetric.
        """
        blank = codes == len(self.categories)
        if not blank.any():
            return codes
        uniform = uniform_digits(draws, [len(self.categories)])[0].astype(codes.dtype)
        return np.where(blank, uniform, codes)

    def _codes(self, column: pa.Array) -> Codes:
        """Return codes with len(categories) for missing and one more for undeclared."""
        dtype = code_dtype(len(self.categories) + 2)
        missing, undeclared = dtype.type(len(self.categories)), dtype.type(len(self.categories) + 1)
        if pa.types.is_null(column.type):
            return np.full(len(column), missing)
        if pa.types.is_dictionary(column.type):
            entries = np.append(self._codes(column.dictionary), missing)
            return entries.take(_indices_or(column.indices, len(entries) - 1))
        places, lookup = self._lookup(column.type)
        if pa.types.is_integer(column.type):
            codes = _table_codes(column, places, lookup, undeclared)
            if codes is not None:
                return np.where(_null_mask(column), missing, codes) if column.null_count else codes
        found = _indices_or(pc.index_in(column, value_set=lookup), len(lookup))
        codes = np.append(places, undeclared).astype(dtype).take(found)
        absent = _null_mask(column)
        if pa.types.is_floating(column.type):
            absent |= pc.is_nan(column).to_numpy(zero_copy_only=False).astype(bool)
        return np.where(absent, missing, codes)

    def _lookup(self, arrow_type: pa.DataType) -> tuple[npt.NDArray[np.int64], pa.Array]:
        """Return which categories the type can hold, and these as an array of the type."""
        held = [(place, _as_type(category, arrow_type)) for place, category in enumerate(self.categories)]
        places = [place for place, value in held if value is not None]
        return np.array(places, dtype=np.int64), pa.array([v for _, v in held if v is not None], arrow_type)


def _kind(category: Category) -> str:
    """Return text, number or truth value."""
    if isinstance(category, bool):
        return "truth values"
    return "text" if isinstance(category, str) else "numbers"


def _can_hold_categories(arrow_type: pa.DataType) -> bool:
    """Tell whether answers can stand in a column of this type."""
    return any(
        is_type(arrow_type)
        for is_type in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_string_view,
            pa.types.is_integer,
            pa.types.is_floating,
            pa.types.is_boolean,
        )
    )


def _as_type(category: Category, arrow_type: pa.DataType) -> str | int | float | bool | None:
    """Return the category as a value of the type, or None where the type cannot hold it exactly."""
    if pa.types.is_boolean(arrow_type):
        return {True: True, False: False, "true": True, "false": False}.get(category)
    if pa.types.is_integer(arrow_type) or pa.types.is_floating(arrow_type):
        return _as_number(category, arrow_type)
    if isinstance(category, bool):
        return "true" if category else "false"
    return str(int(category)) if isinstance(category, float) and category.is_integer() else str(category)


def _as_number(category: Category, arrow_type: pa.DataType) -> int | float | None:
    """Return the category as a number of the type, or None where the type cannot hold it exactly."""
    if isinstance(category, str):
        number = next((kind(category) for kind in (int, float) if _prints_as(category, kind)), None)
    else:
        number = category
    if number is None or number != number:  # noqa: PLR0124  NaN is no category
        return None
    try:
        if pa.types.is_integer(arrow_type):
            return int(pa.scalar(int(number), arrow_type).as_py()) if number == int(number) else None
        nearest = np.dtype(arrow_type.to_pandas_dtype()).type(number)
    except (OverflowError, pa.ArrowInvalid):
        return None
    return float(nearest) if isinstance(number, float) or int(nearest) == int(number) else None


def _prints_as(text: str, kind: type[int] | type[float]) -> bool:
    """Tell whether the text is how a number of this kind is printed."""
    try:
        return str(kind(text)) == text
    except ValueError:
        return False


def _table_codes(
    column: pa.Array, places: npt.NDArray[np.int64], lookup: pa.Array, undeclared: np.unsignedinteger
) -> Codes | None:
    """Return the codes of integers by a table of all numbers between the categories, if these lie close."""
    numbers = _values_or_zero(column)
    least, greatest = min(lookup.to_pylist(), default=0), max(lookup.to_pylist(), default=0)
    if greatest - least >= _LARGEST_TABLE:
        return None
    table = np.full(greatest - least + 2, undeclared)
    table[lookup.to_numpy().astype(object).astype(np.int64) - least if len(lookup) else []] = places
    unsigned = numbers.view(np.dtype(f"u{numbers.itemsize}"))
    above_least = unsigned - unsigned.dtype.type(least % (1 << 8 * numbers.itemsize))
    beyond = min(greatest - least + 1, np.iinfo(unsigned.dtype).max)
    codes: Codes = table.take(np.minimum(above_least, unsigned.dtype.type(beyond)))
    return codes


def _values_or_zero(column: pa.Array) -> npt.NDArray[np.integer]:
    """Return the integers of a column, whatever lies under its nulls."""
    values = np.frombuffer(
        column.buffers()[1], dtype=column.type.to_pandas_dtype(), count=column.offset + len(column)
    )
    return values[column.offset :]


def _null_mask(column: pa.Array) -> npt.NDArray[np.bool_]:
    """Return where a column is null: bool, shape (rows,)."""
    mask: npt.NDArray[np.bool_] = column.is_null().to_numpy(zero_copy_only=False).astype(bool)
    return mask


def _indices_or(indices: pa.Array, absent: int) -> npt.NDArray[np.integer]:
    """Return indices as numbers, with `absent` in place of a null."""
    if indices.null_count:
        indices = pc.fill_null(indices.cast(pa.int64()), absent)
    places: npt.NDArray[np.integer] = indices.to_numpy(zero_copy_only=False)
    return places
