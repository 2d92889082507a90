"""Subset selection: a report is a set of `size` cells that holds the truth more often than not.

References
----------
Ye, Barg: Optimal schemes for discrete distribution estimation under locally differential privacy
(2018), section III; Wang et al.: Mutual information optimally local private discrete distribution
estimation (2016). Of all known mechanisms it has the least variance at middle epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from udfs.draws import Draws, Lane
from udfs.exact import WORD, truth_threshold
from udfs.randomizer import Codes, Shares, code_dtype
from udfs.reports import SetRandomizer
from udfs.uniform import uniform_digits


@dataclass(frozen=True)
class SubsetSelection(SetRandomizer):
    """Subset selection over `cells` cells.

    With probability `truth / 2**64` the set holds the true cell and `size - 1` others, else `size` of
    the others; the others are chosen uniformly, exactly.

    Privacy: each answer is epsilon-private in the local model, exactly. Cost: one word a row to decide,
    and one more for every 14 cells or so to choose.

    Parameters
    ----------
    cells : int
        At least two.
    epsilon : Decimal
        Positive and finite.

    Examples
    --------
    >>> from udfs.draws import fresh_draws
    >>> design = SubsetSelection(cells=12, epsilon=1.0)
    >>> design.size
    3
    >>> int(design.randomize(np.array([5], dtype=np.uint8), fresh_draws(1)).sum())
    3
    """

    mechanism: ClassVar[str] = "subset-selection"

    @cached_property
    def size(self) -> int:
        """The cells in a report: the whole number near k / (e**eps + 1) of the least variance."""
        ideal = self.cells / (math.exp(min(float(self.epsilon), 700.0)) + 1)
        low = max(1, math.floor(ideal))
        return min((low, min(low + 1, self.cells - 1)), key=self._variance_of_size)

    def _variance_of_size(self, size: int) -> float:
        """Return the variance at equal shares, times the reports, of sets of this size."""
        favour, k = math.exp(min(float(self.epsilon), 700.0)), self.cells
        p = size / (size + (k - size) / favour)
        slope = p - (p * (size - 1) + (1 - p) * size) / (k - 1)
        observed = size / k
        return observed * (1 - observed) / slope**2 if slope else math.inf

    @cached_property
    def truth(self) -> int:
        """The probability that a report holds the truth, over 2**64."""
        return truth_threshold(Fraction(self.size, self.cells - self.size), self.epsilon)

    @property
    def support_if_true(self) -> Fraction:
        """The probability that a report holds its true cell."""
        return Fraction(self.truth, WORD)

    @property
    def support_if_false(self) -> Fraction:
        """The probability that a report holds a given other cell."""
        p, others = self.support_if_true, self.cells - 1
        return p * Fraction(self.size - 1, others) + (1 - p) * Fraction(self.size, others)

    @property
    def largest_ratio(self) -> Fraction:
        """The ratio of a set's probability with the truth inside to that with it outside."""
        inside = self.support_if_true / math.comb(self.cells - 1, self.size - 1)
        outside = (1 - self.support_if_true) / math.comb(self.cells - 1, self.size)
        return inside / outside

    @property
    def label(self) -> str:
        """The mechanism and all its parameters."""
        epsilon = self.epsilon.normalize()
        return f"{self.mechanism} cells={self.cells} epsilon={epsilon} size={self.size} truth={self.truth}"

    def thresholds(self) -> dict[str, int]:
        """Return the size of a set, and the probability over 2**64 that it holds the truth."""
        return {"size": self.size, "truth": self.truth}

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
            `size` cells of each row are in its set.

        Notes
        -----
        Runs where the answers are: on a worker, or on a respondent's device. The others are taken in
        turn, in the order of the cells without the truth; with m left to see and s still wanted, one is
        taken with probability s / m (Knuth's Algorithm S), by an exactly uniform digit below m.
        """
        others = self.cells - 1
        dtype = code_dtype(self.cells)
        truths = answers.astype(dtype, copy=False)
        holds = draws.words(0) < np.uint64(self.truth)
        wanted = dtype.type(self.size) - holds.astype(dtype)
        columns = np.empty((self.cells, len(answers)), dtype=np.bool_)
        before = holds
        for cell, digit in enumerate(uniform_digits(Lane(draws, 1, 2), list(range(others, 0, -1)))):
            taken = digit.astype(dtype) < wanted
            wanted -= taken.view(np.uint8)
            columns[cell] = (
                (taken & (truths > cell)) | (before & (truths < cell)) | (holds & (truths == cell))
            )
            before = taken
        columns[others] = (before & (truths < others)) | (holds & (truths == others))
        reports: npt.NDArray[np.bool_] = columns.T
        return reports

    def joint_support(self, shares: Shares) -> npt.NDArray[np.float64]:
        """Return the probability that a set holds two cells at once, given true shares."""
        p, k, w = float(self.support_if_true), self.cells, self.size
        with_one = p * (w - 1) / (k - 1)
        with_none = 0.0 if k == 2 else (p * (w - 1) * (w - 2) + (1 - p) * w * (w - 1)) / ((k - 1) * (k - 2))
        either = shares[:, None] + shares[None, :]
        joint: npt.NDArray[np.float64] = with_none + either * (with_one - with_none)
        return joint
