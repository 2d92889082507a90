"""The Laplace mechanism over k ordered cells: noise is added to the place of the truth, and cut to a cell.

References
----------
papers/randomized-response, equations 9 to 11 for two cells, 20 and 21 for more: noise of scale
(k - 1) / epsilon, cut half way between places (where equation 20 prints lambda it means epsilon).
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from udfs.design import MatrixDesign
from udfs.draws import Draws
from udfs.exact import WORD, exp_bounds, max_ratio
from udfs.randomizer import Codes, Randomizer, code_dtype
from udfs.reports import CodeReports

_DIGITS = Context(prec=80)
_DIGITS_TOLD = Context(prec=12, rounding=ROUND_CEILING)
_LEAST_EXPONENT = Decimal(-200)
"""e**-200 is far below 2**-64: rounded up to a word, it is 1."""


@dataclass(frozen=True)
class LaplaceMechanism(CodeReports, MatrixDesign, Randomizer):
    """The Laplace mechanism over `cells` cells, as a design matrix.

    The place of a report is that of the truth plus noise; places beyond the ends are reported as the ends.
    The noise is drawn as a whole number: it passes d - 1/2 with probability `tails[d - 1] / 2**64`, on
    either side. So no number ever depends on the truth by its digits, as floating point noise does.

    Privacy: each answer is epsilon-private in the local model, exactly. That is more than it needs: what
    one answer really gives away is `true_epsilon`, with two cells ln(2 e**(epsilon / 2) - 1). Cost: one
    word a row.

    Parameters
    ----------
    cells : int
        At least two, in their natural order.
    epsilon : Decimal
        Positive and finite: the noise has the scale (cells - 1) / epsilon.

    Examples
    --------
    >>> from udfs.draws import fresh_draws
    >>> design = LaplaceMechanism(cells=2, epsilon=1.0)
    >>> round(float(design.law[0][0]), 6), round(design.true_epsilon, 6)
    (0.696735, Decimal('0.831797'))
    >>> 0 <= design.randomize(np.array([1], dtype=np.uint8), fresh_draws(1))[0] < 2
    np.True_
    """

    mechanism: ClassVar[str] = "laplace"

    @cached_property
    def tails(self) -> tuple[int, ...]:
        """The probability, over 2**64, of noise beyond d - 1/2 on one side, for d from 1 to cells - 1."""
        return laplace_tails(self.cells, self.epsilon)

    @cached_property
    def rises(self) -> tuple[int, ...]:
        """The noise's distribution function, over 2**64, from 3/2 - cells in whole steps to cells - 3/2."""
        return (*reversed(self.tails), *(WORD - tail for tail in self.tails))

    @cached_property
    def _steps(self) -> tuple[int, ...]:
        """The probabilities over 2**64 of noise in whole steps, from 2 - cells to cells - 2."""
        return tuple(after - before for before, after in pairwise(self.rises))

    @cached_property
    def law(self) -> tuple[tuple[Fraction, ...], ...]:
        """The design matrix: row u, column v is the probability of report u for answer v.

        All rows but the first and the last are parts of one sequence. Every column sums to one: its entries are
        the steps of one distribution function, from 0 to 1.
        """
        last = self.cells - 1
        ends, steps = ([Fraction(one, WORD) for one in many] for many in (self.rises[last::-1], self._steps))
        between = [tuple(steps[last - 1 + u - v] for v in range(self.cells)) for u in range(1, last)]
        return (tuple(ends), *between, tuple(reversed(ends)))

    @property
    def features(self) -> int:
        """How many reports there are: one a cell."""
        return self.cells

    @cached_property
    def matrix(self) -> npt.NDArray[np.float64]:
        """The design matrix P: float64, shape (cells, cells); each entry is the nearest to that of the law."""
        last = self.cells - 1
        ends, steps = (np.array([one / WORD for one in many]) for many in (self.rises[last::-1], self._steps))
        rows = sliding_window_view(steps[::-1], self.cells)[::-1] if last > 1 else np.empty((0, 2))
        return np.vstack([ends, rows, ends[::-1]])

    def check_design(self) -> None:
        """Refuse a matrix that cannot be inverted: from three cells on, an epsilon below about cells / 11 000.

        Raises
        ------
        SpecError
        """
        self.check_inverse(self.mechanism)

    @cached_property
    def largest_ratio(self) -> Fraction:
        """The largest ratio of two entries of one row: every row between the ends has the middle step."""
        ends = Fraction(self.rises[self.cells - 1], self.rises[0])
        between = Fraction(max(self._steps), min(self._steps))
        return max(ends, between) if self.cells > 2 else ends

    @cached_property
    def true_epsilon(self) -> Decimal:
        """The logarithm of the largest ratio, rounded up to 12 digits: what one answer really gives away."""
        ratio = self.largest_ratio
        logarithm = _DIGITS.ln(_DIGITS.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))
        above = _DIGITS_TOLD.plus(logarithm)
        while max_ratio(above) < ratio:
            above = _DIGITS_TOLD.next_plus(above)
        return above

    @property
    def label(self) -> str:
        """The mechanism, its parameters, and a digest of what follows from them."""
        digest = hashlib.sha256(",".join(map(str, self.tails)).encode()).hexdigest()[:16]
        return f"{self.mechanism} cells={self.cells} epsilon={self.epsilon.normalize()} tails={digest}"

    def thresholds(self) -> dict[str, int]:
        """Return the tails of the noise, over 2**64, by the place they begin half a place before."""
        return {f"tail_{place}": tail for place, tail in enumerate(self.tails, start=1)}

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
        Runs where the answers are: on a worker, or on a respondent's device. The noise is how many values of
        its distribution function a word reaches, less cells - 1: the inverse of that function, exactly.
        """
        rises = np.array(self.rises, dtype=np.uint64)
        noise = np.searchsorted(rises, draws.words(0), side="right") - (self.cells - 1)
        places = np.clip(answers.astype(np.int64) + noise, 0, self.cells - 1)
        reports: Codes = places.astype(code_dtype(self.cells))
        return reports


def laplace_tails(cells: int, epsilon: Decimal) -> tuple[int, ...]:
    """Return the tails of Laplace noise of scale (cells - 1) / epsilon, as integers over 2**64.

    Parameters
    ----------
    cells : int
        At least two.
    epsilon : Decimal
        Positive.

    Returns
    -------
    tuple of int
        Item d - 1 is `e**(-(d - 1/2) epsilon / (cells - 1)) / 2`, the probability of noise beyond d - 1/2,
        rounded up to an integer; strictly decreasing, none zero.

    Notes
    -----
    Rounding up takes from the truth and gives to the ends. Between the ends, a report's probability is
    the difference of two tails, and rounding could take from it. So it is kept at `least` or above: the
    largest entry of such a row, that of the truth, over e**epsilon. That moves only tails that are about
    as thin as a word, where every cell between must be given its one: with up to 64 cells, above epsilon 44.

    Examples
    --------
    >>> [round(tail / 2**64, 6) for tail in laplace_tails(3, Decimal(2))]
    [0.303265, 0.111565]
    """
    half_places = [
        _DIGITS.multiply(epsilon, _DIGITS.divide(1 - 2 * place, 2 * (cells - 1))) for place in range(1, cells)
    ]
    ideal = [math.ceil(WORD * exp_bounds(max(exponent, _LEAST_EXPONENT))[1] / 2) for exponent in half_places]
    least = max(1, math.ceil((WORD - 2 * ideal[0]) / max_ratio(epsilon)))
    tails = [ideal[-1]]
    for tail in reversed(ideal[:-1]):
        tails.append(max(tail, tails[-1] + least))
    return tuple(reversed(tails))
