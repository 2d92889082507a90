"""Optimized unary encoding: every cell's bit is reported on its own, a true one as a fair coin.

References
----------
Wang, Blocki, Li, Jha: Locally differentially private protocols for frequency estimation (2017),
section 5.1: of all pairs of bit probabilities that epsilon allows, p = 1/2 and q = 1 / (e**eps + 1) have
the least variance where shares are small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from udfs.draws import Draws
from udfs.exact import WORD, max_ratio
from udfs.randomizer import Codes, Shares
from udfs.reports import SetRandomizer


@dataclass(frozen=True)
class OptimizedUnaryEncoding(SetRandomizer):
    """Optimized unary encoding over `cells` cells.

    A report is a set of cells of any size: it holds the true cell with probability 1/2, and each other
    one, independently, with probability `lie / 2**64`, an integer rounded up so that the ratio of any two
    probabilities of one report, (1 - q) / q, stays within e**epsilon.

    Privacy: each answer is epsilon-private in the local model, exactly. Cost: one word a cell and row.

    Parameters
    ----------
    cells : int
        At least two.
    epsilon : Decimal
        Positive and finite.

    Examples
    --------
    >>> from udfs.draws import fresh_draws
    >>> design = OptimizedUnaryEncoding(cells=12, epsilon=1.0)
    >>> round(float(design.support_if_false), 6)
    0.268941
    >>> design.randomize(np.array([5], dtype=np.uint8), fresh_draws(1)).shape
    (1, 12)
    """

    mechanism: ClassVar[str] = "optimized-unary"

    @cached_property
    def lie(self) -> int:
        """The probability that a report holds a given cell that is not true, over 2**64."""
        return math.ceil(WORD / (1 + max_ratio(self.epsilon)))

    @property
    def size(self) -> None:
        """None: sets have any size."""
        return

    @property
    def support_if_true(self) -> Fraction:
        """The probability that a report holds its true cell."""
        return Fraction(1, 2)

    @property
    def support_if_false(self) -> Fraction:
        """The probability that a report holds a given other cell."""
        return Fraction(self.lie, WORD)

    @property
    def largest_ratio(self) -> Fraction:
        """The ratio of a set with this answer and without that to one where it is the other way round."""
        return Fraction(WORD - self.lie, self.lie)

    @property
    def label(self) -> str:
        """The mechanism and all its parameters."""
        return f"{self.mechanism} cells={self.cells} epsilon={self.epsilon.normalize()} lie={self.lie}"

    def thresholds(self) -> dict[str, int]:
        """Return the probabilities, over 2**64, that a set holds the true cell and a given other one."""
        return {"truth": WORD // 2, "lie": self.lie}

    def randomize(self, answers: Codes, draws: Draws) -> npt.NDArray[np.bool_]:
        """Turn a block of truthful answers into reports.

        Parameters
        ----------
        answers : ndarray of unsigned integers, shape (rows,)
            Each below `cells`.
        draws : Draws
            One source for the block.

        Returns
        -------
        ndarray of bool, shape (rows, cells)
            The cells in each row's set.

        Notes
        -----
        Runs where the answers are: on a worker, or on a respondent's device. Word c of a row decides on
        cell c: it is in the set where the word is below the probability.
        """
        truth, lie = np.uint64(WORD // 2), np.uint64(self.lie)
        columns = np.empty((self.cells, len(answers)), dtype=np.bool_)
        for cell, column in enumerate(columns):
            np.less(draws.words(cell), np.where(answers == cell, truth, lie), out=column)
        reports: npt.NDArray[np.bool_] = columns.T
        return reports

    def joint_support(self, shares: Shares) -> npt.NDArray[np.float64]:
        """Return the probability that a set holds two cells at once, given true shares."""
        q = float(self.support_if_false)
        either = shares[:, None] + shares[None, :]
        joint: npt.NDArray[np.float64] = q * q + either * (q * self.slope)
        return joint
