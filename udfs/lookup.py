"""Categories as values of a column's own type, and a column's answers found among them.

The categories are turned into the column's type, never the answers into the categories': an answer is then
a look-up, and no failed conversion can put one in a message.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from udfs.randomizer import Codes, code_dtype

Category: TypeAlias = str | int | float | bool

_LARGEST_TABLE = 1 << 16
"""Integer categories that span at most this are looked up in a table, not hashed."""

_COMPARED_AS = {pa.string_view(): pa.large_string(), pa.float16(): pa.float32()}
"""Arrow hashes no columns of these types, but of others that hold the same values."""


class Lookup:
    """Finds the answers of a column of one type.

    A code is the category's place; the number of categories for a missing answer; one more for an answer
    that is none of them.

    Parameters
    ----------
    categories : tuple of str, of numbers or of bool
    arrow_type : pyarrow.DataType
        Of the column.

    Examples
    --------
    >>> Lookup((1, 2, 3), pa.float64()).codes(pa.array([1.0, None, 3.0, 4.0]))
    array([0, 3, 2, 4], dtype=uint8)
    """

    def __init__(self, categories: tuple[Category, ...], arrow_type: pa.DataType) -> None:
        dtype = code_dtype(len(categories) + 2)
        self._missing, self._undeclared = dtype.type(len(categories)), dtype.type(len(categories) + 1)
        self._entries: Lookup | None = None
        if pa.types.is_dictionary(arrow_type):
            self._entries, arrow_type = Lookup(categories, arrow_type.value_type), pa.null()
        as_type = [_as_type(category, arrow_type) for category in categories]
        held = [place for place, value in enumerate(as_type) if value is not None]
        self._places = np.array([*held, len(categories) + 1]).astype(dtype)
        self._values = pa.array([as_type[place] for place in held], _COMPARED_AS.get(arrow_type, arrow_type))
        self._table: Codes | None = None
        numbers = [value for value in as_type if isinstance(value, int)]
        if pa.types.is_integer(arrow_type) and numbers and max(numbers) - min(numbers) < _LARGEST_TABLE:
            self._least = min(numbers)
            self._table = np.full(max(numbers) - self._least + 2, self._undeclared)
            self._table[[number - self._least for number in numbers]] = self._places[:-1]
            self._in_order = bool((self._table[:-1] == np.arange(len(self._table) - 1)).all())

    @property
    def distinct(self) -> bool:
        """Whether no two of the categories are one value of the type."""
        return self._entries.distinct if self._entries else len(self._values.unique()) == len(self._values)

    @property
    def holds(self) -> int:
        """How many of the categories a column of the type can hold."""
        return self._entries.holds if self._entries else len(self._values)

    def codes(self, column: pa.Array) -> Codes:
        """Return a column's codes: unsigned integers, shape (rows,)."""
        if pa.types.is_null(column.type):
            return np.full(len(column), self._missing)
        if self._entries is not None:
            entries = np.append(self._entries.codes(column.dictionary), self._missing)
            return entries.take(_indices_or(column.indices, len(entries) - 1))
        if self._table is not None:
            codes = self._table_codes(column, self._table)
        else:
            answers = column.cast(self._values.type)
            if _is_float(column):
                answers = pc.add(answers, pa.scalar(0, answers.type))  # -0.0 is 0.0, and is hashed apart
            found = _indices_or(pc.index_in(answers, value_set=self._values), len(self._values))
            codes = self._places.take(found)
        absent = column.is_null(nan_is_null=True) if column.null_count or _is_float(column) else None
        return (
            codes if absent is None else np.where(absent.to_numpy(zero_copy_only=False), self._missing, codes)
        )

    def _table_codes(self, column: pa.Array, table: Codes) -> Codes:
        """Return the codes of integers, by a table of all numbers from the least category to the greatest."""
        end = column.offset + len(column)
        numbers = np.frombuffer(column.buffers()[1], dtype=column.type.to_pandas_dtype(), count=end)[
            column.offset :
        ]
        unsigned = numbers.view(np.dtype(f"u{numbers.itemsize}"))
        above_least = unsigned - unsigned.dtype.type(self._least % (1 << 8 * numbers.itemsize))
        if self._in_order and len(above_least) and above_least.max() < len(table) - 1:
            in_order: Codes = above_least.astype(table.dtype, copy=False)
            return in_order
        beyond = min(len(table) - 1, np.iinfo(unsigned.dtype).max)
        codes: Codes = table.take(np.minimum(above_least, unsigned.dtype.type(beyond)))
        return codes


def can_hold_answers(arrow_type: pa.DataType) -> bool:
    """Tell whether answers can stand in a column of this type, which is no dictionary."""
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


def _as_type(category: Category, arrow_type: pa.DataType) -> Category | None:
    """Return the category as a value of the type, or None where the type cannot hold it exactly."""
    if not can_hold_answers(arrow_type):
        return None
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
    try:
        if number is None or not math.isfinite(number):
            return None
        if pa.types.is_integer(arrow_type):
            return int(pa.scalar(int(number), arrow_type).as_py()) if number == int(number) else None
        with np.errstate(over="ignore"):
            nearest = np.dtype(arrow_type.to_pandas_dtype()).type(number)
    except (OverflowError, pa.ArrowInvalid):
        return None
    if np.isinf(nearest) or (isinstance(number, int) and int(nearest) != number):
        return None
    return float(nearest) + 0.0


def _prints_as(text: str, kind: type[int] | type[float]) -> bool:
    """Tell whether the text is how a number of this kind is printed."""
    try:
        return str(kind(text)) == text
    except ValueError:
        return False


def _is_float(column: pa.Array) -> bool:
    return bool(pa.types.is_floating(column.type))


def _indices_or(indices: pa.Array, absent: int) -> npt.NDArray[np.integer]:
    """Return indices as numbers, with `absent` in place of a null."""
    if indices.null_count:
        indices = pc.fill_null(indices.cast(pa.int64()), absent)
    places: npt.NDArray[np.integer] = indices.to_numpy(zero_copy_only=False)
    return places
