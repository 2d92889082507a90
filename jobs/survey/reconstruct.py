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
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from udfs.design import Design, Shares
from udfs.tables import WEIGHT_UNIT, SparseCounts

Gradients: TypeAlias = npt.NDArray[np.float64]
Covariance: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """One ask's axis of a table.

    Parameters
    ----------
    attributes : tuple of str
        One, or the several whose product cell is randomized at once.
    shape : tuple of int
        The cells of each attribute, that of missing answers included; their product is the design's cells.
    design : Design
    """

    attributes: tuple[str, ...]
    shape: tuple[int, ...]
    design: Design


@dataclass(frozen=True)
class Sample:
    """The reports of one sample of respondents, as a table of features.

    Attributes
    ----------
    observed : ndarray of float64
        The mean of the features, weighted where there are weights.
    squares : ndarray of float64
        Their mean weighted by the squares of the weights; where there are none, `observed`.
    reports : int
        How many reports there are.
    degrees : float
        What variances divide by: `reports - 1`, or with weights Kish's effective size,
        (sum of w)**2 / (sum of w**2). NaN where it is none.
    weight : float
        The sum of the weights.
    """

    observed: Shares
    squares: Shares
    reports: int
    degrees: float
    weight: float

    @classmethod
    def of(cls, counts: Any, axes: Sequence[Axis], lost: int = 1) -> Sample:
        """Return the sample that a `udfs.tables.CrossTable` counted over these axes.

        Variances divide by the number of reports less `lost`: 1 makes them unbiased, 0 maximum likelihood's.
        """
        shape = tuple(axis.design.features for axis in axes)
        if isinstance(counts, SparseCounts):
            counts = counts.dense()
        layers = counts.reshape(-1, *shape)
        totals = [int(total_of(layer, axes)) for layer in layers]
        if not all(totals):
            empty = np.full(shape, np.nan)
            return cls(empty, empty, totals[0], math.nan, 0.0)
        means = [(layer / total).astype(np.float64) for layer, total in zip(layers, totals, strict=True)]
        if len(layers) == 1:
            degrees = totals[0] - lost or math.nan
            return cls(means[0], means[0], totals[0], degrees, float(totals[0]))
        degrees = totals[1] ** 2 / (totals[2] * WEIGHT_UNIT)
        return cls(means[1], means[2], totals[0], degrees, totals[1] / WEIGHT_UNIT)


def total_of(table: Any, axes: Sequence[Axis]) -> Any:
    """Return how many reports a table of features holds."""
    for axis in reversed(axes):
        table = axis.design.forget(table, axis=table.ndim - 1)
    return table


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
    def _parts(self) -> list[tuple[float, Sample, float]]:
        """Each stratum's share, sample and size; those of no share are left out, as are their NaN."""
        sizes = self.sizes or (math.inf,) * len(self.samples)
        parts = zip(self.strata.tolist(), self.samples, sizes, strict=True)
        return [part for part in parts if part[0] != 0]

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
        stacked = gradients.reshape(len(gradients), *(axis.design.cells for axis in self.axes))
        whole = np.zeros((len(gradients), len(gradients)))
        for share, sample, size in self._parts:
            whole += share**2 * self._sample_covariance(sample, stacked, size)
        return whole

    def _sample_covariance(self, sample: Sample, gradients: Gradients, size: float) -> Covariance:
        second, first = self._moments(sample.squares, gradients)
        shares = self._reconstruct(sample.observed)
        flat = gradients.reshape(len(gradients), -1)
        mean = flat @ shares.ravel()
        spread = second - np.outer(first, mean) - np.outer(mean, first) + np.outer(mean, mean)
        if math.isinf(size):
            return spread / sample.degrees
        noise = second - (flat * shares.ravel()) @ flat.T
        return spread / sample.degrees * (1 - sample.reports / size) + noise / size

    def variance(self, gradient: Gradients) -> float:
        """Return the variance of a linear function of the shares, by its gradient: of `shape`."""
        return max(float(self.covariance(gradient[None])[0, 0]), 0.0)

    def cell_variances(self) -> Shares:
        """Return the variances of all shares: float64, of `shape`; as fast as the shares themselves."""
        whole = np.zeros(tuple(axis.design.cells for axis in self.axes))
        for share, sample, size in self._parts:
            second, first = sample.squares, self._reconstruct(sample.squares)
            for number, axis in enumerate(self.axes):
                second = axis.design.reconstruct_squares(second, number)
            shares = self._reconstruct(sample.observed)
            spread = (second - 2 * first * shares + shares**2) / sample.degrees
            if not math.isinf(size):
                spread = spread * (1 - sample.reports / size) + (second - shares) / size
            whole += share**2 * spread
        variances: Shares = np.maximum(whole, 0.0).reshape(self.shape)
        return variances

    def report_range(self, gradient: Gradients) -> tuple[float, float]:
        """Return the least and the greatest estimate of a linear function that one report can make."""
        scores = gradient.reshape(tuple(axis.design.cells for axis in self.axes))
        for number, axis in enumerate(self.axes):
            scores = axis.design.pull_back(scores, number)
        if all(axis.design.one_code for axis in self.axes):
            return float(scores.min()), float(scores.max())
        *cells, constant = scores.ravel()  # a set's score: the constant, and one for each cell in it
        return float(constant + min(0.0, *cells)), float(constant + max(0.0, *cells))

    def covariance_at(self, shares: Shares) -> Covariance:
        """Return the covariance of all shares times the number of reports, were these the true ones.

        Parameters
        ----------
        shares : ndarray of float64, of `shape`

        Returns
        -------
        ndarray of float64, shape (cells, cells)
            For small tables: it is dense.
        """
        expected = shares.reshape(tuple(axis.design.cells for axis in self.axes))
        for number, axis in enumerate(self.axes):
            expected = axis.design.observe(expected, number)
        unit = np.eye(shares.size).reshape(shares.size, *(axis.design.cells for axis in self.axes))
        second, _ = self._moments(expected, unit)
        covariance: Covariance = second - np.outer(shares, shares)
        return covariance

    def _reconstruct(self, observed: Shares) -> Shares:
        """Return shares of the designs' cells from means of features."""
        for number, axis in enumerate(self.axes):
            observed = axis.design.reconstruct(observed, number)
        return observed

    def _moments(self, observed: Shares, gradients: Gradients) -> tuple[Covariance, Shares]:
        """Return the second and first moments of single reports' own estimates of linear functions."""
        if all(axis.design.one_code for axis in self.axes):
            scores = gradients
            for number, axis in enumerate(self.axes):
                scores = axis.design.pull_back(scores, number + 1)
            flat = scores.reshape(len(scores), -1)
            weighted = flat * observed.ravel()
            return weighted @ flat.T, weighted.sum(axis=1)
        # Reports that are sets have too many values to score one by one; given the answers they are
        # independent, so their second moments are products, of what holds of every report (the constant
        # feature: the sum of the shares is only one in expectation) and of what each answer adds.
        moments = observed
        for number, axis in enumerate(self.axes):
            constant = np.expand_dims(axis.design.forget(moments, number), number)
            moments = np.concatenate([axis.design.reconstruct(moments, number), constant], axis=number)
        moments = moments[..., None, None]
        for axis in self.axes:  # (features left, past, past) -> (features left, past x cells, past x cells)
            cells, past = axis.design.cells, moments.shape[-1]
            moments = np.einsum("v...ij,vkl->...ikjl", moments, _second_moments(axis.design))
            moments = moments.reshape(*moments.shape[:-4], past * cells, past * cells)
        flat = gradients.reshape(len(gradients), -1)
        return flat @ moments @ flat.T, flat @ self._reconstruct(observed).ravel()


def _second_moments(design: Design) -> npt.NDArray[np.float64]:
    """Return what each answer adds to the second moments of a report's estimates, and last what all share."""
    moments, cell = design.second_moments(), np.eye(design.cells, dtype=np.bool_)
    elsewhere = ~(cell[:, :, None] | cell[:, None, :])  # [v, i, j]: the answer v is neither i nor j
    elsewhere |= ~elsewhere.any(axis=0)  # of two cells, every answer is one of them
    shared = moments.mean(axis=0, where=elsewhere)
    return np.concatenate([moments - shared, shared[None]])
