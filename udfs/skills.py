"""The question of a tree of skills: how much of each skill have you got?

Each skill is a number in a column of its own. Numbers are read so that those that people write are told
apart as written: .29 is not below .29 because a file holds it in 32 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.categories import MISSING, Reading
from udfs.draws import Draws
from udfs.errors import SchemaError, SpecError
from udfs.randomizer import Codes

NOT_NUMBERS, OUTSIDE = "values that are not numbers", "values outside the domain"

_LARGEST_END = 2.0**53
"""Below it float64 holds every integer, so that one within a domain is read as it is."""


@dataclass(frozen=True)
class SkillColumn:
    """A column that holds one skill.

    Parameters
    ----------
    column : str
    """

    column: str
    missing: ClassVar[str] = "none"

    def check_type(self, arrow_type: pa.DataType, where: str) -> None:
        """Refuse a column that holds no numbers.

        Raises
        ------
        SchemaError
            Names `where`, the column and its type.
        """
        kinds = (pa.types.is_floating, pa.types.is_integer, pa.types.is_decimal)
        if not any(is_kind(arrow_type) for is_kind in kinds):
            raise SchemaError(
                f"{where}, column {self.column!r}",
                "must hold numbers",
                f"type {arrow_type}",
                "correct the dimensions, or the column",
            )


@dataclass(frozen=True)
class SkillsQuestion:
    """How much of each skill have you got?

    Parameters
    ----------
    columns : tuple of str
        One a skill, all different.
    domain : tuple of float
        The least and the greatest number that can be one, both included; of all columns.

    Examples
    --------
    >>> question = SkillsQuestion(("python", "sql"), (0.0, 1.0))
    >>> question.read(pa.record_batch({"python": [0.29, 1.0], "sql": [0, 1]})).codes
    array([[0.29, 0.  ],
           [1.  , 1.  ]])
    >>> question.read(pa.record_batch({"python": [0.29, 1.5], "sql": [None, 1]})).faults
    {('python', 'values outside the domain'): 1, ('sql', 'missing answers'): 1}
    """

    columns: tuple[str, ...]
    domain: tuple[float, float]
    name: ClassVar[str] = "skills"
    labels: ClassVar[tuple[()]] = ()
    imputes: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check that the columns can be told apart, and that the domain holds numbers."""
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise SpecError(
                "skills.dimensions", "needs at least one column, all different", f"{self.columns}"
            )
        low, high = self.domain
        if not -_LARGEST_END < low < high < _LARGEST_END:
            must = "must be a lower and a higher number, both between -2**53 and 2**53"
            raise SpecError("skills.domain", must, f"{low} and {high}")

    @property
    def parts(self) -> tuple[SkillColumn, ...]:
        """The columns that hold the skills."""
        return tuple(map(SkillColumn, self.columns))

    @property
    def label(self) -> str:
        """The question and all that bears on its answers: part of the keys of its draws."""
        low, high = map(float, self.domain)
        return f"skills {self.columns!r} domain=[{low!r}, {high!r}]"

    def read(self, block: pa.RecordBatch) -> Reading:
        """Return a block's skills as numbers, and how many cannot be asked.

        Parameters
        ----------
        block : pyarrow.RecordBatch
            With the question's columns, whose types were checked.

        Returns
        -------
        Reading
            Its codes are float64, shape (rows, columns), a column's all side by side; zero has no sign. A row
            counts once for each column with a fault.
        """
        codes = np.empty((block.num_rows, len(self.columns)), dtype=np.float64, order="F")
        faults = {}
        for place, name in enumerate(self.columns):
            column = block.column(name)
            numbers = codes[:, place]
            np.add(_numbers(column), 0.0, out=numbers)  # -0.0 becomes 0.0
            for what, rows in self._faults(numbers, column.null_count).items():
                if rows:
                    faults[name, what] = rows
        return Reading(codes, faults)

    def impute(self, codes: Codes, draws: Draws) -> Codes:
        """Return the skills: none are missing."""
        return codes

    def _faults(self, numbers: npt.NDArray[np.float64], missing: int) -> dict[str, int]:
        """Return how many rows cannot be asked, by what is wrong with them; NaN where they are missing."""
        low, high = self.domain
        inside = int(np.count_nonzero((numbers >= low) & (numbers <= high)))
        if inside == len(numbers):
            return {}
        nowhere = int(np.count_nonzero(np.isnan(numbers)))
        return {MISSING: missing, NOT_NUMBERS: nowhere - missing, OUTSIDE: len(numbers) - inside - nowhere}


def _numbers(column: pa.Array) -> npt.NDArray[np.float64]:
    """Return a column's numbers as float64, NaN where one is missing.

    Decimals and 32-bit floats mean the decimal that they print as, and are read from it: this keeps their
    order, and rounds correctly, which Arrow's cast of decimals does not. Others are read as what they are.
    """
    if pa.types.is_decimal(column.type) or pa.types.is_float32(column.type):
        column = column.cast(pa.string())
    numbers: npt.NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers
