"""Tables of true shares from tables of reports, and the variance of whatever is computed from them.

Every design works along its own axis, so the Kronecker product of design matrices is never formed; and a
variance is that of one score a report, the gradient pulled back through the designs, so neither is the
dispersion matrix.

References
----------
papers/randomized-response, equations 17, 18, 22 to 24.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from jobs.survey.samples import Axis, Sample, total_of
from jobs.survey.set_moments import second_moments
from udfs.design import Shares

__all__ = ["Axis", "Covariance", "Gradients", "Sample", "TableEstimate", "total_of"]

Gradients: TypeAlias = npt.NDArray[np.float64]
Covariance: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TableEstimate:
    """Unbiased shares of the cells of a table, and the covariance of anything linear in them.

    Parameters
    ----------
    axes : tuple of Axis
    samples : tuple of Sample
        One a stratum; mostly one.
    strata : ndarray of float64, shape (samples,)
        The shares of the strata in the population.
    sizes : tuple of int, optional
        How many there are in each stratum of the population, for the finite-population correction.
    """

    axes: tuple[Axis, ...]
    samples: tuple[Sample, ...]
    strata: Shares
    sizes: tuple[int, ...] | None = None

    @classmethod
    def of(cls, counts: Any, axes: Sequence[Axis], size: int | None = None) -> TableEstimate:
        """Return the estimate from one sample of respondents."""
        sample = Sample.of(counts, axes)
        return cls(tuple(axes), (sample,), np.ones(1), None if size is None else (size,))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes, in the order of the dimensions of `shares`."""
        return tuple(name for axis in self.axes for name in axis.attributes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The cells of every attribute."""
        return tuple(cells for axis in self.axes for cells in axis.shape)

    @property
    def reports(self) -> int:
        """How many respondents reported."""
        return sum(sample.reports for sample in self.samples)

    @cached_property
    def shares(self) -> Shares:
        """Unbiased shares: float64, of `shape`; they sum to one, single ones may be negative."""
        whole: Shares = sum(
            (share * self._reconstruct(sample.observed) for share, sample, _ in self._parts), np.zeros(())
        )
        return whole.reshape(self.shape)

    @property
    def effective(self) -> float:
        """Kish's effective number of reports, of all strata together; NaN where there are none."""
        spread = sum(share**2 / sample.effective for share, sample, _ in self._parts)
        return 1.0 / spread if spread > 0 else math.nan

    @property
    def plain(self) -> bool:
        """Whether the reports are one sample without weights."""
        return len(self.samples) == 1 and self.samples[0].observed is self.samples[0].squares

    @property
    def asked(self) -> float:
        """The share of the population that reported, where its size is known."""
        return self.reports / sum(self.sizes) if self.sizes else 0.0

    @property
    def _parts(self) -> list[tuple[float, Sample, float]]:
        """Each stratum's share, sample and size; those of no share are left out, as are their NaN."""
        sizes = self.sizes or (math.inf,) * len(self.samples)
        parts = zip(self.strata.tolist(), self.samples, sizes, strict=True)
        return [part for part in parts if part[0] != 0]

    def at(self, shares: Shares) -> TableEstimate:
        """Return the table of a single report as it would be on average, were these the true shares.

        Its variances and covariances are those of the estimates times the number of reports.

        Parameters
        ----------
        shares : ndarray of float64, of `shape`
        """
        expected = shares.reshape(self._cells)
        for number, axis in enumerate(self.axes):
            expected = axis.design.observe(expected, number)
        return TableEstimate(self.axes, (Sample.expected(expected),), np.ones(1))

    @property
    def _cells(self) -> tuple[int, ...]:
        """The designs' cells: those of an axis's attributes are one dimension."""
        return tuple(axis.design.cells for axis in self.axes)

    def covariance(self, gradients: Gradients) -> Covariance:
        """Return the covariance of linear functions of the shares.

        Parameters
        ----------
        gradients : ndarray of float64, shape (functions, *shape)

        Returns
        -------
        ndarray of float64, shape (functions, functions)
            Respondents are a simple random sample within their stratum, drawn with replacement or, where
            `sizes` are given, without.
        """
        stacked = gradients.reshape(len(gradients), *self._cells)
        flat = stacked.reshape(len(gradients), -1)
        whole, mean = np.zeros((len(gradients), len(gradients))), flat @ self.shares.ravel()
        for share, sample, size in self._parts:
            if self._one_code:
                scores = self._scores(stacked)
                weighted = scores * sample.squares.ravel()
                second, first = weighted @ scores.T, weighted.sum(axis=1)
            else:
                second = flat @ second_moments(sample.squares, self.axes) @ flat.T
                first = flat @ self._reconstruct(sample.squares).ravel()
            products = np.outer(first, mean) + np.outer(mean, first) - np.outer(mean, mean)
            off = flat @ self._reconstruct(sample.observed).ravel() - mean
            exact = 0.0 if math.isinf(size) else (flat * self._reconstruct(sample.squares).ravel()) @ flat.T
            whole += share**2 * sample.variances(size, second, products, np.outer(off, off), exact)
        return whole

    def variances(self, gradients: Gradients) -> Shares:
        """Return the diagonal of `covariance`, for less: float64, shape (functions,)."""
        stacked = gradients.reshape(len(gradients), *self._cells)
        flat = stacked.reshape(len(gradients), -1)
        whole, mean = np.zeros(len(gradients)), flat @ self.shares.ravel()
        for share, sample, size in self._parts:
            if self._one_code:
                scores, squares = self._scores(stacked), sample.squares.ravel()
                second, first = np.square(scores) @ squares, scores @ squares
            else:
                second = ((flat @ second_moments(sample.squares, self.axes)) * flat).sum(axis=1)
                first = flat @ self._reconstruct(sample.squares).ravel()
            off = flat @ self._reconstruct(sample.observed).ravel() - mean
            exact = 0.0 if math.isinf(size) else flat**2 @ self._reconstruct(sample.squares).ravel()
            whole += share**2 * sample.variances(size, second, 2 * first * mean - mean**2, off**2, exact)
        return np.maximum(whole, 0.0)

    def variance(self, gradient: Gradients) -> float:
        """Return the variance of a linear function of the shares, by its gradient: of `shape`."""
        return float(self.variances(gradient[None])[0])

    def covariances_with(self, gradient: Gradients) -> Shares:
        """Return the covariance of every share with one linear function, by its gradient: both of `shape`.

        A report's own estimates of all shares, times its score, are reconstructed as shares are: axis by axis.
        """
        cells, shares = gradient.reshape(self._cells), self.shares.reshape(self._cells)
        whole, mean = np.zeros(self._cells), float((cells * shares).sum())
        for share, sample, size in self._parts:
            first = self._reconstruct(sample.squares)
            if self._one_code:
                scores = self._scores(cells[None]).reshape(sample.squares.shape)
                second = self._reconstruct(sample.squares * scores)
            else:
                second = (second_moments(sample.squares, self.axes) @ cells.ravel()).reshape(self._cells)
            own = self._reconstruct(sample.observed)
            first_of_all, own_mean = float((cells * first).sum()), float((cells * own).sum())
            products = first * mean + shares * (first_of_all - mean)
            between = (own - shares) * (own_mean - mean)
            whole += share**2 * sample.variances(size, second, products, between, cells * first)
        return whole.reshape(self.shape)

    def cell_variances(self) -> Shares:
        """Return the variances of all shares: float64, of `shape`; as fast as the shares themselves."""
        return self.sum_variances(self.attributes)

    def sum_variances(self, of: Collection[str]) -> Shares:
        """Return the variances of sums of shares: over all cells of the attributes that are not named.

        Parameters
        ----------
        of : collection of str
            In any order.

        Returns
        -------
        ndarray of float64
            A dimension for each attribute named, in the order of `attributes`.

        Notes
        -----
        Where every report is one code, its own estimate of a sum is a product over the axes, and so is its
        square: the cost is that of the shares. Tables of sets are small, and use their second moments.
        """
        others = tuple(place for place, name in enumerate(self.attributes) if name not in of)
        if others and not self._one_code:
            names = [name for name in self.attributes if name in of]
            shape = [cells for cells, name in zip(self.shape, self.attributes, strict=True) if name in names]
            unit = np.eye(math.prod(shape)).reshape(-1, *shape)
            spread = np.broadcast_to(
                np.expand_dims(unit, [1 + one for one in others]), (len(unit), *self.shape)
            )
            return self.variances(spread).reshape(shape)
        whole, shares = np.zeros(()), self.shares.sum(axis=others)
        for share, sample, size in self._parts:
            second = self._square_sums(sample.squares, of)
            first = self._reconstruct(sample.squares).reshape(self.shape).sum(axis=others)
            off = self._reconstruct(sample.observed).reshape(self.shape).sum(axis=others) - shares
            products = 2 * first * shares - shares**2
            whole = whole + share**2 * sample.variances(size, second, products, off**2, first)
        return np.maximum(whole, 0.0)

    def _square_sums(self, observed: Shares, of: Collection[str]) -> Shares:
        """Return the mean squares of single reports' own estimates of sums over attributes that are not named."""
        shape: list[int] = []
        for axis in self.axes:  # each axis is worked on as the first one, and goes to the end
            kept = [place for place, name in enumerate(axis.attributes) if name in of]
            if kept:
                squares = axis.design.reconstruct_square_sums(observed, axis.shape, kept)
                observed = np.moveaxis(squares, 0, -1)
                shape += [axis.shape[place] for place in kept]
            else:
                observed = axis.design.forget(observed)
        return observed.reshape(shape)

    @property
    def _one_code(self) -> bool:
        return all(axis.design.one_code for axis in self.axes)

    def _scores(self, gradients: Gradients) -> Gradients:
        """Return what single features add to linear functions: shape (functions, features of all axes)."""
        for number, axis in enumerate(self.axes, start=1):
            gradients = axis.design.pull_back(gradients, number)
        return gradients.reshape(len(gradients), -1)

    def _reconstruct(self, observed: Shares) -> Shares:
        """Return shares of the designs' cells from means of features."""
        for number, axis in enumerate(self.axes):
            observed = axis.design.reconstruct(observed, number)
        return observed
