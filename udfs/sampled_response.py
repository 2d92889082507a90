"""One attribute of several: each respondent reports on one, chosen by chance, with the whole epsilon.

References
----------
Nguyen et al.: Collecting and analyzing data from smart device users with local differential privacy
(2016), section III; Arcolezi et al.: Random sampling plus fake data (2021), the solution SMP.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.draws import Draws, Lane, Some
from udfs.exact import parse_epsilon
from udfs.lookup import Category
from udfs.randomized_response import RandomizedResponse
from udfs.randomizer import Codes, Counts, code_dtype
from udfs.uniform import uniform_digits


@dataclass(frozen=True)
class SampledResponse:
    """Randomized response on one attribute, chosen uniformly whatever the answers are.

    A report is a code: the cells of the first attribute come first, then those of the second, and so on.

    Privacy: epsilon-private for all answers together, exactly, as the choice depends on none of them and only
    one answer is reported on.

    Parameters
    ----------
    shape : tuple of int
        The cells of every attribute.
    epsilon : Decimal

    Examples
    --------
    >>> from udfs.draws import fresh_draws
    >>> design = SampledResponse((2, 3), Decimal(1))
    >>> bool(design.randomize(np.array([[1, 2]], dtype=np.uint8), fresh_draws(1))[0] < 5)
    True
    """

    shape: tuple[int, ...]
    epsilon: Decimal

    mechanism: ClassVar[str] = "sampled-response"
    draws: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check epsilon, and with it every attribute's design."""
        object.__setattr__(self, "epsilon", parse_epsilon(self.epsilon))
        _ = self.designs

    @cached_property
    def designs(self) -> tuple[RandomizedResponse, ...]:
        """Every attribute's randomized response."""
        return tuple(RandomizedResponse(cells, self.epsilon) for cells in self.shape)

    @property
    def starts(self) -> tuple[int, ...]:
        """The code of every attribute's first cell, and at the end the number of codes."""
        return (0, *np.cumsum(self.shape).tolist())

    @property
    def label(self) -> str:
        """The mechanism and all its parameters."""
        return f"{self.mechanism} {'; '.join(design.label for design in self.designs)}"

    def thresholds(self) -> dict[str, int]:
        """Return the probability of a truthful report for every attribute, over 2**64."""
        return {f"truth_{place}": design.truth for place, design in enumerate(self.designs)}

    def randomize(self, answers: Codes, draws: Draws) -> Codes:
        """Turn a block of truthful answers into reports.

        Parameters
        ----------
        answers : ndarray of unsigned integers, shape (rows, attributes)
        draws : Draws

        Returns
        -------
        ndarray of unsigned integers, shape (rows,)
        """
        dtype = code_dtype(self.starts[-1])
        turns = uniform_digits(Lane(draws, 0, 2), [len(self.shape)])[0]
        own = Lane(draws, 1, 2)
        reports = np.empty(len(answers), dtype=dtype)
        for place, design in enumerate(self.designs):
            rows = np.flatnonzero(turns == np.uint64(place))
            found = design.randomize(answers[rows, place], Some(own, rows))
            reports[rows] = found.astype(dtype) + dtype.type(self.starts[place])
        return reports

    def zeros(self) -> Counts:
        """Return the sum of no reports: int64, shape (codes,)."""
        return np.zeros(self.starts[-1], dtype=np.int64)

    def tally(self, reports: npt.NDArray[np.generic]) -> Counts:
        """Count each code: int64, shape (codes,)."""
        return np.bincount(reports.astype(np.intp), minlength=self.starts[-1]).astype(np.int64)

    def counts_of(self, place: int, counts: Counts) -> Counts:
        """Return the counts of one attribute's reports: int64, shape (cells,)."""
        return counts[self.starts[place] : self.starts[place + 1]]

    def report_type(self, labels: Sequence[Category | None]) -> pa.DataType:
        """Return a dictionary of the labels."""
        return pa.dictionary(pa.from_numpy_dtype(code_dtype(self.starts[-1])), pa.string())

    def to_arrow(self, reports: npt.NDArray[np.generic], labels: Sequence[Category | None]) -> pa.Array:
        """Return a block of reports as a dictionary column."""
        return pa.DictionaryArray.from_arrays(pa.array(reports), pa.array(labels, pa.string()))
