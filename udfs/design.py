"""Designs: how answers and reports hang together, as estimation sees it.

A report is tallied as *features*: which of a few codes it is, or which cells it supports. A design says
what features to expect of each answer (`observe`), and undoes that without bias (`reconstruct`). All work
along one axis of a table, so that a table of many attributes is reconstructed axis by axis and the Kronecker
product of their design matrices is never formed.

References
----------
papers/randomized-response, equations 4, 16 to 18 and 22: lambda = P pi, pi = P^-1 lambda, and the dispersion
matrix of the estimate.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from udfs.errors import SpecError

Counts: TypeAlias = npt.NDArray[np.int64]
Shares: TypeAlias = npt.NDArray[np.float64]

_LEAST_SINGULAR_VALUE = 1e-9
"""A design closer to a singular one than this gives noise, and floats could not tell."""


@dataclass(frozen=True)
class Estimate:
    """Unbiased shares of the cells, and their covariance.

    Attributes
    ----------
    shares : ndarray of float64, shape (cells,)
        Single ones may be negative or above one. They sum to one, but where reports are sets that differ in
        size: there only their expectation does. NaN-free; empty where `reports` is 0.
    covariance : ndarray of float64, shape (cells, cells)
        Unbiased; of order 1/(n - 1). Respondents are a simple random sample: their sampling is included.
    reports : int
        How many reports were added up.
    """

    shares: Shares
    covariance: npt.NDArray[np.float64]
    reports: int


class Design(ABC):
    """What estimation needs to know of how reports were made."""

    cells: int

    @property
    @abstractmethod
    def features(self) -> int:
        """How many features a report is tallied as."""

    @property
    def one_code(self) -> bool:
        """Whether a report has exactly one feature: it is one of a few codes, not a set of cells."""
        return True

    def forget(self, observed: Any, axis: int = 0) -> Any:
        """Return features of the other axes alone, of all reports, whatever they say along this one."""
        return observed.sum(axis=axis)

    @abstractmethod
    def observe(self, shares: Shares, axis: int = 0) -> Shares:
        """Return the expected features of these true shares: cells to features along one axis."""

    @abstractmethod
    def reconstruct(self, observed: Shares, axis: int = 0) -> Shares:
        """Return unbiased shares from observed features: features to cells along one axis.

        A left inverse of `observe`: post-processing of reports.
        """

    @abstractmethod
    def pull_back(self, gradient: Shares, axis: int = 0) -> Shares:
        """Return the transpose of `reconstruct`: a gradient by cells becomes one by features along an axis."""

    @abstractmethod
    def reconstruct_squares(self, observed: Shares, axis: int = 0) -> Shares:
        """Return the mean square of single reports' own estimates: features to cells along one axis."""

    @abstractmethod
    def reconstruct_square_sums(
        self, observed: Shares, shape: tuple[int, ...], kept: Sequence[int]
    ) -> Shares:
        """Return the mean square of single reports' own estimates of sums of cells, along the first axis.

        Parameters
        ----------
        observed : ndarray of float64, shape (features, ...)
        shape : tuple of int
            What the cells are the product of.
        kept : sequence of int
            The factors that are kept, in order; cells are summed over all others.

        Returns
        -------
        ndarray of float64, shape (sums, ...)
            `reconstruct_squares` where all factors are kept.
        """

    @abstractmethod
    def second_moments(self) -> npt.NDArray[np.float64]:
        """Return E[x x' | answer] of a single report's own estimate x: shape (cells, cells, cells).

        Entry [v, i, j] is the expectation of x_i x_j where the answer is cell v; E[x_i | v] is 1 where i is
        v and 0 elsewhere.
        """

    @abstractmethod
    def zeros(self) -> Counts:
        """Return the sum of no reports: int64."""

    @abstractmethod
    def tally(self, reports: npt.NDArray[np.generic]) -> Counts:
        """Add a block of reports up: int64, how many report each code or support each cell."""

    @abstractmethod
    def dispersion(self, observed: Shares) -> npt.NDArray[np.float64]:
        """Return the covariance of single reports' own estimates, where reports have these features."""

    def estimate(self, counts: Counts, reports: int) -> Estimate:
        """Turn what `tally` added up of so many reports into unbiased shares with their unbiased covariance.

        Returns
        -------
        Estimate
            The covariance is the `dispersion` of what was observed over `reports - 1` (equation 18); NaN for
            a single report.
        """
        if reports == 0:
            return Estimate(np.empty(0), np.empty((0, 0)), 0)
        observed = (counts if self.one_code else np.append(counts, reports)) / reports
        scale = 1.0 / (reports - 1) if reports > 1 else np.nan
        return Estimate(self.reconstruct(observed), self.dispersion(observed) * scale, reports)

    def variances(self, shares: Shares, axis: int = 0) -> Shares:
        """Return the variances of the estimates times the number of reports, at these true shares.

        The diagonal of `predicted_covariance`, which is not formed.
        """
        return self.reconstruct_squares(self.observe(shares, axis), axis) - shares**2

    def predicted_covariance(self, shares: Shares) -> npt.NDArray[np.float64]:
        """Return the covariance of the estimate times the number of reports, at these true shares.

        Sampling of respondents is included: `diag(shares) - shares shares'` as noise goes to nothing.
        """
        return self.dispersion(self.observe(shares))


class MatrixDesign(Design):
    """A design by its matrix: a report is one of a few codes.

    Subclasses give `law`; the matrix may have more reports than cells, and must have full column rank.
    """

    @property
    @abstractmethod
    def law(self) -> tuple[tuple[Fraction, ...], ...]:
        """The design matrix: row u, column v is the probability of report u for answer v."""

    @property
    def features(self) -> int:
        """How many reports there are."""
        return len(self.law)

    @cached_property
    def matrix(self) -> npt.NDArray[np.float64]:
        """The design matrix P: float64, shape (reports, cells)."""
        return np.array([[float(p) for p in row] for row in self.law])

    @cached_property
    def inverse(self) -> npt.NDArray[np.float64]:
        """The (left) inverse of P: float64, shape (cells, reports)."""
        reports, cells = self.matrix.shape
        if reports == cells:
            return np.asarray(np.linalg.inv(self.matrix), dtype=np.float64)
        weighted = self.matrix / self.matrix.mean(axis=1, keepdims=True)
        return np.asarray(np.linalg.solve(self.matrix.T @ weighted, weighted.T), dtype=np.float64)

    def check_inverse(self, where: str) -> None:
        """Raise a SpecError where the matrix cannot be inverted, or hardly."""
        if not self._least_singular_value >= _LEAST_SINGULAR_VALUE:
            raise SpecError(
                where, "its design must be invertible", "reports that hardly depend on the answer"
            )

    @property
    def _least_singular_value(self) -> float:
        """The smallest singular value of P; where P is square, by the inverse's norm: at most sqrt(cells) less."""
        if self.features != self.cells:
            return (
                float(np.linalg.svd(self.matrix, compute_uv=False)[-1]) if self.features > self.cells else 0.0
            )
        try:
            return 1.0 / float(np.linalg.norm(self.inverse))
        except np.linalg.LinAlgError:
            return 0.0

    def check_law(self, where: str) -> None:
        """Refuse a matrix that cannot be inverted, or is none of probabilities.

        Raises
        ------
        SpecError
        """
        self.check_inverse(where)
        if any(not 0 <= p <= 1 for row in self.law for p in row):
            raise SpecError(where, "every entry of a design must be a probability", "one outside [0, 1]")
        scale = math.lcm(*{p.denominator for row in self.law for p in row})
        weights = [[p.numerator * (scale // p.denominator) for p in row] for row in self.law]
        if any(sum(column) != scale for column in zip(*weights, strict=True)):
            raise SpecError(where, "every column of a design must sum to one, exactly", "another sum")

    def observe(self, shares: Shares, axis: int = 0) -> Shares:
        """Return lambda = P pi along one axis."""
        return along(self.matrix, shares, axis)

    def reconstruct(self, observed: Shares, axis: int = 0) -> Shares:
        """Return pi = P^-1 lambda along one axis."""
        return along(self.inverse, observed, axis)

    def pull_back(self, gradient: Shares, axis: int = 0) -> Shares:
        """Return P^-T times a gradient along one axis."""
        return along(self.inverse.T, gradient, axis)

    def reconstruct_squares(self, observed: Shares, axis: int = 0) -> Shares:
        """Return the squares of P^-1's entries times observed shares along one axis."""
        return along(self.inverse**2, observed, axis)

    def reconstruct_square_sums(
        self, observed: Shares, shape: tuple[int, ...], kept: Sequence[int]
    ) -> Shares:
        """Return the squares of sums of P^-1's rows times observed shares along the first axis."""
        scores = sum_factors(self.inverse, shape, kept)
        return along(scores**2, observed, 0)

    def second_moments(self) -> npt.NDArray[np.float64]:
        """Return P^-1 diag(P_v) P^-T for every answer v."""
        moments: npt.NDArray[np.float64] = np.einsum("iu,uv,ju->vij", self.inverse, self.matrix, self.inverse)
        return moments

    def dispersion(self, observed: Shares) -> npt.NDArray[np.float64]:
        """Return `P^-1 (diag(lambda) - lambda lambda') P^-T` of the shares lambda of reports (equation 18)."""
        shares = self.inverse @ observed
        spread: npt.NDArray[np.float64] = (self.inverse * observed) @ self.inverse.T - np.outer(
            shares, shares
        )
        return spread

    def zeros(self) -> Counts:
        """Return the sum of no reports: int64, shape (reports,)."""
        return np.zeros(self.features, dtype=np.int64)

    def tally(self, reports: npt.NDArray[np.generic]) -> Counts:
        """Count each report: int64, shape (reports,)."""
        return np.bincount(reports.astype(np.intp), minlength=self.features).astype(np.int64)


def sum_factors(table: Shares, shape: tuple[int, ...], kept: Sequence[int]) -> Shares:
    """Sum the first axis of a table, a product of these factors, over the factors that are not kept.

    Examples
    --------
    >>> sum_factors(np.arange(6), (2, 3), [1])
    array([3, 5, 7])
    """
    others = tuple(place for place in range(len(shape)) if place not in kept)
    summed: Shares = table.reshape(*shape, *table.shape[1:]).sum(axis=others)
    return summed.reshape(-1, *table.shape[1:])


def along(matrix: npt.NDArray[np.float64], table: Shares, axis: int) -> Shares:
    """Multiply a matrix into one axis of a table.

    Examples
    --------
    >>> along(np.array([[1.0, 1.0]]), np.ones((3, 2)), axis=1)
    array([[2.],
           [2.],
           [2.]])
    """
    return np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
