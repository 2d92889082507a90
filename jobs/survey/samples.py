"""Samples of reports as tables of features, and the axes these tables have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from udfs.design import Design, Shares
from udfs.tables import WEIGHT_UNIT, SparseCounts


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

    def variances(self, size: float, second: Any, products: Any, exact: Any) -> Any:
        """Return variances or covariances of what this sample estimates.

        Parameters
        ----------
        size : float
            How many there are in the population; infinite where they were drawn with replacement.
        second : ndarray of float64
            Mean products of single reports' own estimates.
        products : ndarray of float64
            What of these is no spread: products of their means.
        exact : ndarray of float64
            What `second` would be if nothing hid the answers.
        """
        spread = (second - products) / self.degrees
        if math.isinf(size):
            return spread
        return spread * (1 - self.reports / size) + (second - exact) / size


def total_of(table: Any, axes: Sequence[Axis]) -> Any:
    """Return how many reports a table of features holds."""
    for axis in reversed(axes):
        table = axis.design.forget(table, axis=table.ndim - 1)
    return table
