"""What every randomizer gives, and the estimate that all pure frequency protocols share.

A randomizer is *pure* when a report supports a category with one probability p where it is the truth
and with one probability q where it is not. Its estimate, variance and intervals follow from p and q.

References
----------
Wang, Blocki, Li, Jha: Locally differentially private protocols for frequency estimation (2017),
equation 2 and theorem 2.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.design import Counts, Design, Estimate, Shares
from udfs.draws import Draws
from udfs.errors import SpecError
from udfs.exact import max_ratio, parse_epsilon

__all__ = ["Codes", "Counts", "Estimate", "PureRandomizer", "Randomizer", "Shares", "code_dtype"]

Codes: TypeAlias = npt.NDArray[np.unsignedinteger]


_LEAST_SLOPE = Fraction(1, 10**12)
"""Where the truth is less likelier than this, estimates would be noise, and floats could not tell."""


def code_dtype(codes: int) -> np.dtype[np.unsignedinteger]:
    """Return the smallest unsigned type that holds twice the number of codes.

    Twice, so that a code can be turned round the circle of codes without leaving the type.
    """
    return np.dtype(
        next(kind for kind in (np.uint8, np.uint16, np.uint32) if 2 * codes <= np.iinfo(kind).max)
    )


@dataclass(frozen=True)
class Randomizer(Design):
    """A local randomizer of one answer among cells 0 to cells - 1.

    Parameters
    ----------
    cells : int
        At least two.
    epsilon : Decimal
        The privacy of one answer against any other: positive and finite.

    Raises
    ------
    SpecError
        For fewer than two cells, an epsilon that is none, or one so small that nothing can be estimated.
    """

    cells: int
    epsilon: Decimal

    mechanism: ClassVar[str]
    draws: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters, and the guarantee with rational arithmetic."""
        object.__setattr__(self, "epsilon", parse_epsilon(self.epsilon))
        if isinstance(self.cells, bool) or not isinstance(self.cells, int) or self.cells < 2:
            raise SpecError(self.mechanism, "needs at least two cells", str(self.cells))
        self.check_design()
        if self.largest_ratio > max_ratio(self.epsilon):
            raise AssertionError(f"{self.label}: the law exceeds epsilon")

    def __getstate__(self) -> dict[str, Any]:
        """Return the parameters alone: what follows from them does not travel."""
        return {"cells": self.cells, "epsilon": self.epsilon}

    @abstractmethod
    def check_design(self) -> None:
        """Refuse a design that cannot be inverted."""

    @property
    @abstractmethod
    def largest_ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two answers."""

    @property
    def true_epsilon(self) -> Decimal:
        """What one answer really gives away: epsilon, or less where the mechanism does not use it up."""
        return self.epsilon

    @property
    @abstractmethod
    def label(self) -> str:
        """The mechanism and all its parameters: part of the keys of its draws."""

    @abstractmethod
    def thresholds(self) -> dict[str, int]:
        """Return the integers that fix the law, as a report file's footer names them."""

    @abstractmethod
    def randomize(self, answers: Codes, draws: Draws) -> npt.NDArray[np.generic]:
        """Turn a block of truthful answers into reports."""

    def zeros(self) -> Counts:
        """Return the sum of no reports: int64, shape (cells,)."""
        return np.zeros(self.cells, dtype=np.int64)

    @abstractmethod
    def tally(self, reports: npt.NDArray[np.generic]) -> Counts:
        """Add a block of reports up: int64, shape (cells,)."""

    @abstractmethod
    def report_type(self, labels: Sequence[str | int | float | bool | None]) -> pa.DataType:
        """Return the Arrow type of a column of reports over cells of these labels."""

    @abstractmethod
    def to_arrow(
        self, reports: npt.NDArray[np.generic], labels: Sequence[str | int | float | bool | None]
    ) -> pa.Array:
        """Return a block of reports as a column."""


@dataclass(frozen=True)
class PureRandomizer(Randomizer):
    """A pure frequency protocol: a report's own unbiased estimate is `(support - q) / (p - q)`."""

    def check_design(self) -> None:
        """Refuse a p that is hardly above q.

        Raises
        ------
        SpecError
        """
        if self.support_if_true - self.support_if_false < _LEAST_SLOPE:
            raise SpecError(
                self.mechanism, "its design must be invertible", f"epsilon {self.epsilon}", "give more"
            )

    @property
    @abstractmethod
    def support_if_true(self) -> Fraction:
        """The probability p that a report supports its true cell."""

    @property
    @abstractmethod
    def support_if_false(self) -> Fraction:
        """The probability q that a report supports a given other cell."""

    @property
    def slope(self) -> float:
        """What an answer adds to the support of its cell: p - q, subtracted before it is rounded."""
        return float(self.support_if_true - self.support_if_false)

    @abstractmethod
    def joint_support(self, shares: Shares) -> npt.NDArray[np.float64]:
        """Return the probability that a report supports two cells at once, given true shares.

        Shape (cells, cells); the diagonal means nothing.
        """

    @cached_property
    def pair_moments(self) -> tuple[float, float, float, float]:
        """The four values of E[x_i x_j | answer] of a single report's own estimate x.

        Of one cell where it is the answer and where it is not, and of two where the answer is one of them and
        where it is neither.
        """
        p, q = float(self.support_if_true), float(self.support_if_false)
        first = np.eye(self.cells)[0]
        one_of_two, neither = (float(self.joint_support(shares)[0, 1]) for shares in (first, 0.0 * first))
        pairs = (p * (1 - 2 * q) + q * q, q * (1 - q), one_of_two - p * q, neither - q * q)
        own, other, with_one, with_none = (pair / self.slope**2 for pair in pairs)
        return own, other, with_one, with_none

    def second_moments(self) -> npt.NDArray[np.float64]:
        """Return E[x x' | answer] of a single report's own estimate x: shape (cells, cells, cells)."""
        q, slope = float(self.support_if_false), self.slope
        answers = np.eye(self.cells)
        observed = q + slope * answers
        together = np.stack([self.joint_support(answer) for answer in answers])
        cell = np.arange(self.cells)
        together[:, cell, cell] = observed
        centred = together - q * (observed[:, :, None] + observed[:, None, :]) + q * q
        moments: npt.NDArray[np.float64] = centred / slope**2
        return moments

    def dispersion(self, observed: Shares) -> npt.NDArray[np.float64]:
        """Return the covariance of single reports' own estimates, where reports have these features.

        That two cells are supported at once is as likely as the shares say.
        """
        supports = observed[: self.cells]
        joint = self.joint_support(self.reconstruct(observed))
        np.fill_diagonal(joint, supports)
        spread: npt.NDArray[np.float64] = (joint - np.outer(supports, supports)) / self.slope**2
        return spread
