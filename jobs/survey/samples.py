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
    """The reports of one stratum's respondents, or of those of them who are in a group, as a table of features.

    Attributes
    ----------
    observed : ndarray of float64
        The mean of the features, weighted where there are weights.
    squares : ndarray of float64
        Their mean weighted by the squares of the weights; where there are none, `observed`.
    reports : int
        How many reports there are; with weights, of a weight above 0.
    effective : float
        Kish's effective number of them, (sum of w)**2 / (sum of w**2).
    weight : float
        The sum of the weights; where there are none, `reports`.
    stratum : int
        How many respondents the stratum has, in whatever group.
    factor : float
        What variances are multiplied by: n / (n - 1) of the stratum's n makes them unbiased. NaN where they
        cannot be told.
    """

    observed: Shares
    squares: Shares
    reports: int
    effective: float
    weight: float
    stratum: int
    factor: float

    @classmethod
    def of(
        cls, counts: Any, axes: Sequence[Axis], lost: int | None = None, stratum: Sample | None = None
    ) -> Sample:
        """Return the sample that a `udfs.tables.CrossTable` counted over these axes.

        Parameters
        ----------
        counts : ndarray or SparseCounts
        axes : sequence of Axis
        lost : int, optional
            Variances divide by the number of reports less this: 1, the default, makes them unbiased, 0 maximum
            likelihood's. The default with weights is 0: the linearised variance sum (w x)**2 / (sum w)**2.
        stratum : Sample, optional
            The stratum of which these are a group's.
        """
        shape = tuple(axis.design.features for axis in axes)
        if isinstance(counts, SparseCounts):
            counts = counts.dense()
        layers = counts.reshape(-1, *shape)
        totals = [int(total_of(layer, axes)) for layer in layers]
        number = totals[0] if stratum is None else stratum.stratum
        lost = int(len(layers) == 1) if lost is None else lost
        told = number > 1 or (
            number == 1 and not lost and len(layers) == 1
        )  # of one weight there is no spread
        factor = number / (number - lost) if told else math.nan
        if not all(totals):
            empty = np.full(shape, np.nan)
            return cls(empty, empty, totals[0], math.nan, 0.0, number, factor)
        means = [(layer / total).astype(np.float64) for layer, total in zip(layers, totals, strict=True)]
        if len(layers) == 1:
            return cls(means[0], means[0], totals[0], float(totals[0]), float(totals[0]), number, factor)
        effective = totals[1] ** 2 / (totals[2] * WEIGHT_UNIT)
        return cls(means[1], means[2], totals[0], effective, totals[1] / WEIGHT_UNIT, number, factor)

    @classmethod
    def expected(cls, observed: Shares, reports: int = 1) -> Sample:
        """Return the sample whose features are as expected; of one report, variances are not divided."""
        factor = reports / (reports - 1) if reports > 1 else 1.0
        return cls(observed, observed, reports, float(reports), float(reports), reports, factor)

    def variances(self, size: float, second: Any, products: Any, between: Any, exact: Any) -> Any:
        """Return variances or covariances of what this sample adds to estimates, were it all of the population.

        Parameters
        ----------
        size : float
            How many the stratum has in the population; infinite where they were drawn with replacement.
        second : ndarray of float64
            Mean products of single reports' own estimates, weighted by squared weights.
        products : ndarray of float64
            What of these is no spread about the estimates of the whole population.
        between : ndarray of float64
            Products of what this sample's own estimates are off from these: no spread within the stratum.
        exact : ndarray of float64
            What `second` would be if nothing hid the answers.

        References
        ----------
        Saerndal, Swensson, Wretman: Model assisted survey sampling (1992), results 5.7.1 and 5.8.1: linearised
        variances of ratios, of domains and in strata.
        """
        spread = self.factor * ((second - products) / self.effective - between / self.stratum)
        if math.isinf(size):
            return spread
        asked = self.stratum / size
        return spread * (1 - asked) + asked * (second - exact) / self.effective


def total_of(table: Any, axes: Sequence[Axis]) -> Any:
    """Return how many reports a table of features holds."""
    for axis in reversed(axes):
        table = axis.design.forget(table, axis=table.ndim - 1)
    return table
