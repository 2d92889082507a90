"""Integer programs, solved in floats and vouched for in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, linprog, milp
from scipy.sparse import csr_array

from jobs.election.margins.margin import Counts, inexact

_FRACTION_BITS = 40
"""Of a dual price: low enough for sums of thousands of them in 64 bits."""
_LARGEST_PRICE = 16
_WITHIN = 1e-6
"""HiGHS's own tolerance."""


@dataclass(frozen=True, eq=False)
class Program:
    """Minimise cost x subject to matrix x >= least and 0 <= x <= most.

    Parameters
    ----------
    cost : ndarray of int64, shape (unknowns,)
        Small whole numbers, none below 0.
    matrix : ndarray of int64, shape (rows, unknowns)
        Small whole numbers.
    least : ndarray of int64, shape (rows,)
    most : ndarray of int64, shape (unknowns,)
        `matrix @ x >= least` can be achieved.

    Examples
    --------
    >>> halves = Program(np.ones(2, int), 2 * np.eye(2, dtype=int), np.array([3, 3]), np.array([5, 5]))
    >>> halves.bound, halves.solve()
    (3, array([2, 2]))
    """

    cost: Counts
    matrix: Counts
    least: Counts
    most: Counts

    @cached_property
    def _relaxed(self) -> OptimizeResult:
        """The solver's answer where x need not be whole."""
        found = linprog(
            self.cost,
            A_ub=csr_array(-self.matrix),
            b_ub=-self.least,
            bounds=np.stack([np.zeros_like(self.most), self.most], axis=1),
            method="highs-ds",
        )
        if found.status != 0:
            raise inexact()
        return found

    @cached_property
    def bound(self) -> int:
        """A lower bound on the least cost: by linear programming, rounded up.

        The solver only proposes dual prices; whatever they are, if not negative, prices y prove the bound
        y least + sum over unknowns of min(0, cost - y matrix) most, which is evaluated in whole numbers.
        """
        if (self.least <= 0).all():
            return 0
        prices = np.clip(-self._relaxed.ineqlin.marginals, 0, _LARGEST_PRICE)
        prices = np.rint(np.ldexp(prices, _FRACTION_BITS)).astype(np.int64)
        reduced = (self.cost << _FRACTION_BITS) - prices @ self.matrix
        short = np.flatnonzero(reduced < 0)
        proved = _dot(prices, self.least) + _dot(reduced[short], self.most[short])
        return max(0, -(-proved >> _FRACTION_BITS))

    def solve(self) -> Counts:
        """Return whole numbers x of least cost: int64, shape (unknowns,).

        That they fulfil all conditions is checked in whole numbers. That none cost less is proved by `bound` where
        they cost no more, as most do, and else is HiGHS's word: its own bound, less its tolerance, must round up
        to their cost. There is no gap and no limit of time.

        Raises
        ------
        JobError
            If either fails.
        """
        x = _whole(self._relaxed.x)
        if self._fulfilled(x) and self.cost @ x <= self.bound:
            return x
        found = milp(
            self.cost,
            constraints=LinearConstraint(csr_array(self.matrix), lb=self.least),
            bounds=Bounds(0, self.most),
            integrality=np.ones_like(self.cost),
            options={"mip_rel_gap": 0},
        )
        if found.status != 0:
            raise inexact()
        x = _whole(found.x)
        cost = int(self.cost @ x)
        if not self._fulfilled(x) or (cost > self.bound and cost >= found.mip_dual_bound + 1 - _WITHIN):
            raise inexact()
        return x

    def _fulfilled(self, x: Counts) -> bool:
        """Return whether whole numbers fulfil all conditions."""
        return bool((x >= 0).all() and (x <= self.most).all() and (self.matrix @ x >= self.least).all())


def _whole(x: npt.NDArray[np.float64]) -> Counts:
    """Return the nearest whole numbers."""
    return np.rint(x).astype(np.int64)


def _dot(one: Counts, other: Counts) -> int:
    """Return an inner product that cannot overflow."""
    return sum(map(int.__mul__, one.tolist(), other.tolist()))
