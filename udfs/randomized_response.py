"""Randomized response over k cells: the truth with one probability, each other cell with another.

References
----------
papers/randomized-response, equations 8 and 19: the design matrix with the largest diagonal that
epsilon allows, e**eps / (k - 1 + e**eps) on it and 1 / (k - 1 + e**eps) off it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from udfs.design import sum_factors
from udfs.draws import Draws, Lane
from udfs.exact import WORD, truth_threshold
from udfs.randomizer import Codes, PureRandomizer, Shares, code_dtype
from udfs.reports import CodeReports
from udfs.uniform import uniform_digits


@dataclass(frozen=True)
class RandomizedResponse(CodeReports, PureRandomizer):
    """Randomized response over `cells` cells.

    The truth is reported with probability `truth / 2**64`, an integer rounded down so that the ratio of
    any two probabilities of one report stays within e**epsilon; what is left falls on the other cells
    in exactly equal parts.

    Privacy: each answer is epsilon-private in the local model, exactly. Cost: one word a row, and
    another for one row in 2**64 / cells.

    Parameters
    ----------
    cells : int
        At least two.
    epsilon : Decimal
        Positive and finite.

    Examples
    --------
    >>> from udfs.draws import fresh_draws
    >>> design = RandomizedResponse(cells=6, epsilon=2.0)
    >>> answer, draws = np.array([3], dtype=np.uint8), fresh_draws(1)  # a respondent's own device
    >>> 0 <= design.randomize(answer, draws)[0] < 6
    np.True_
    """

    mechanism: ClassVar[str] = "randomized-response"

    @cached_property
    def truth(self) -> int:
        """The probability of a truthful report, over 2**64."""
        return truth_threshold(Fraction(1, self.cells - 1), self.epsilon)

    @property
    def support_if_true(self) -> Fraction:
        """The diagonal of the design matrix."""
        return Fraction(self.truth, WORD)

    @property
    def support_if_false(self) -> Fraction:
        """The entries off the diagonal: no integers over 2**64, but equal parts of one."""
        return Fraction(WORD - self.truth, WORD * (self.cells - 1))

    @property
    def largest_ratio(self) -> Fraction:
        """The ratio of a diagonal entry to another of its row."""
        return self.support_if_true / self.support_if_false

    @property
    def label(self) -> str:
        """The mechanism and all its parameters."""
        return f"{self.mechanism} cells={self.cells} epsilon={self.epsilon.normalize()} truth={self.truth}"

    def thresholds(self) -> dict[str, int]:
        """Return the probability of a truthful report, over 2**64."""
        return {"truth": self.truth}

    @property
    def law(self) -> tuple[tuple[Fraction, ...], ...]:
        """The design matrix: row u, column v is the probability of report u for answer v."""
        p, q = self.support_if_true, self.support_if_false
        return tuple(tuple(p if u == v else q for v in range(self.cells)) for u in range(self.cells))

    @property
    def features(self) -> int:
        """How many reports there are: one a cell."""
        return self.cells

    def observe(self, shares: Shares, axis: int = 0) -> Shares:
        """Return the expected shares of reports, `q sum(shares) + (p - q) shares`, along one axis."""
        everyone = shares.sum(axis=axis, keepdims=True)
        observed: Shares = float(self.support_if_false) * everyone + self.slope * shares
        return observed

    def reconstruct(self, observed: Shares, axis: int = 0) -> Shares:
        """Return unbiased shares, `(observed - q sum(observed)) / (p - q)`, along one axis."""
        everyone = observed.sum(axis=axis, keepdims=True)
        shares: Shares = (observed - float(self.support_if_false) * everyone) / self.slope
        return shares

    def reconstruct_squares(self, observed: Shares, axis: int = 0) -> Shares:
        """Return the mean square of single reports' own estimates along one axis."""
        q, everyone = float(self.support_if_false), observed.sum(axis=axis, keepdims=True)
        squares: Shares = ((1 - 2 * q) * observed + q * q * everyone) / self.slope**2
        return squares

    def reconstruct_square_sums(
        self, observed: Shares, shape: tuple[int, ...], kept: Sequence[int]
    ) -> Shares:
        """Return the mean square of single reports' own estimates of sums of cells, along the first axis.

        A report's estimate of a sum of m cells is `(1 - m q) / (p - q)` where it is one of these, and
        `-m q / (p - q)` elsewhere.
        """
        sums = sum_factors(observed, shape, kept)
        lies = float(self.support_if_false) * (self.cells // len(sums))
        squares: Shares = ((1 - 2 * lies) * sums + lies**2 * sums.sum(axis=0)) / self.slope**2
        return squares

    def pull_back(self, gradient: Shares, axis: int = 0) -> Shares:
        """Return what `reconstruct` makes of a gradient: the design is symmetric, its own transpose."""
        return self.reconstruct(gradient, axis)

    def randomize(self, answers: Codes, draws: Draws) -> Codes:
        """Turn a block of truthful answers into reports.

        Parameters
        ----------
        answers : ndarray of unsigned integers, shape (rows,)
            Each below `cells`.
        draws : Draws
            One source for the block.

        Returns
        -------
        ndarray of unsigned integers, shape (rows,)
            Each below `cells`.

        Notes
        -----
        Runs where the answers are: on a worker, or on a respondent's device. A word w below
        `(cells - 1) lie` moves the answer on by `w // lie + 1` places around the circle of cells, where
        `lie` is the whole part of a lie's probability; a word at the top keeps it. The fewer than
        `cells - 1` words between, which do not divide evenly, lie by an exactly uniform second draw.
        """
        dtype = code_dtype(self.cells)
        stay = self.cells - 1
        lie, uneven = divmod(WORD - self.truth, stay)
        words = draws.words(0)
        places = words // np.uint64(lie) if lie else np.full(len(words), stay, dtype=np.uint64)
        np.minimum(places, np.uint64(stay), out=places)
        moved = places.astype(dtype)
        if uneven:
            between = np.subtract(words, np.uint64(stay * lie), out=places) < np.uint64(uneven)
            if between.any():
                moved[between] = uniform_digits(Lane(draws, 1, 2), [stay])[0][between]
        moved += dtype.type(1)
        moved += answers.astype(dtype, copy=False)
        reports: Codes = np.minimum(moved, moved - dtype.type(self.cells))
        return reports

    def joint_support(self, shares: Shares) -> npt.NDArray[np.float64]:
        """Return zeros: a report names one cell."""
        return np.zeros((self.cells, self.cells))
