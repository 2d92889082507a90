"""Some attributes of an estimated table, among those who answered all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from jobs.survey.reconstruct import Covariance, Gradients, TableEstimate
from udfs.design import Shares


@dataclass(frozen=True)
class Margin:
    """Some attributes of a table, among those who answered all of them.

    Parameters
    ----------
    table : TableEstimate
    of : tuple of str
        Attributes of the table, in the order wanted.
    missing : tuple of bool
        Whether the last cell of each is that of missing answers.
    """

    table: TableEstimate
    of: tuple[str, ...]
    missing: tuple[bool, ...]

    @cached_property
    def raw(self) -> Shares:
        """Unbiased shares of all cells, those of missing answers included."""
        return self.take(self.table.shares)

    @cached_property
    def raw_variances(self) -> Shares:
        """The variances of `raw`."""
        if len(self.of) == len(self.table.shape):
            return self.take(self.table.cell_variances())
        unit = np.eye(self.raw.size).reshape(-1, *self.raw.shape)
        variances = [self.table.variance(self.lift(one)) for one in unit]
        return np.array(variances).reshape(self.raw.shape)

    @cached_property
    def answered(self) -> float:
        """The share of those who answered all: one less that of all others."""
        return 1.0 - float(self.raw[self._others].sum())

    @cached_property
    def answered_error(self) -> float:
        """The standard error of `answered`."""
        return (
            math.sqrt(self.table.variance(self.lift(np.negative(self._others, dtype=np.float64))))
            if any(self.missing)
            else 0.0
        )

    @cached_property
    def proportions(self) -> Shares:
        """Shares among those who answered all: they sum to one; NaN where too few seem to have answered."""
        if not self.answered > 2 * self.answered_error:  # also where either is NaN
            return np.full(self._answered_shape, np.nan)
        return self.raw[self._answers] / self.answered

    def gradient(self, by_proportions: Gradients, by_answered: float = 0.0) -> Gradients:
        """Return a gradient by the table's shares from one by `proportions` and by `answered`."""
        if not any(self.missing):
            return self.lift(by_proportions)
        # Whoever did not answer makes the share of those who did smaller, and so all proportions larger.
        by_others = float((by_proportions * self.proportions).sum()) / self.answered - by_answered
        return self.lift(self._pad(by_proportions / self.answered) + by_others * self._others)

    def variance(self, by_proportions: Gradients, by_answered: float = 0.0) -> float:
        """Return the delta method's variance of a function of `proportions` and `answered`."""
        return self.table.variance(self.gradient(by_proportions, by_answered))

    def variances(self) -> Shares:
        """Return the variances of `proportions`, cell by cell."""
        if not any(self.missing):
            return self.raw_variances
        unit = np.eye(self.proportions.size).reshape(-1, *self.proportions.shape)
        return np.array([self.variance(one) for one in unit]).reshape(self.proportions.shape)

    def raw_covariance(self) -> Covariance:
        """Return the covariance of all raw shares of one attribute: float64, shape (cells, cells)."""
        return self.table.covariance(np.stack([self.lift(one) for one in np.eye(self.raw.size)]))

    def covariance_at(self, proportions: Shares) -> Covariance:
        """Return the covariance of `proportions` times the number of reports, were these the true ones.

        The share of those who answered, and all other cells, are taken as they are estimated.
        """
        shares = self.table.shares.copy()
        answers_first = np.moveaxis(shares, self._dimensions, range(len(self.of)))
        inside = answers_first[self._answers]
        others = inside.sum(axis=tuple(range(len(self.of))), keepdims=True)
        inside[...] = proportions.reshape(*proportions.shape, *(1,) * (shares.ndim - len(self.of))) * others
        unit = np.eye(proportions.size)
        if any(self.missing):
            unit = (unit - proportions.ravel()[:, None]) / self.answered
        lifted = [self.lift(self._pad(one.reshape(proportions.shape))) for one in unit]
        flat = np.stack(lifted).reshape(len(lifted), -1)
        covariance: Covariance = flat @ self.table.covariance_at(shares) @ flat.T
        return covariance

    @property
    def _dimensions(self) -> tuple[int, ...]:
        return tuple(self.table.attributes.index(name) for name in self.of)

    @property
    def _answers(self) -> tuple[slice, ...]:
        return tuple(slice(None, -1) if missing else slice(None) for missing in self.missing)

    @cached_property
    def _others(self) -> npt.NDArray[np.bool_]:
        """Where the margin's cells are not of answers to all."""
        others = np.ones(self.raw.shape, dtype=np.bool_)
        others[self._answers] = False
        return others

    @property
    def _answered_shape(self) -> tuple[int, ...]:
        return self.raw[self._answers].shape

    def take(self, table: Shares) -> Shares:
        """Return the margin of a table of shares."""
        others = tuple(set(range(table.ndim)) - set(self._dimensions))
        kept = sorted(self._dimensions)
        return np.transpose(table.sum(axis=others), [kept.index(one) for one in self._dimensions])

    def _pad(self, inner: Gradients) -> Gradients:
        """Return a gradient by all cells from one by those of answers."""
        padded = np.zeros(self.raw.shape)
        padded[self._answers] = inner
        return padded

    def lift(self, gradient: Gradients) -> Gradients:
        """Return a gradient by the whole table's cells from one by the margin's."""
        kept = sorted(self._dimensions)
        ordered = np.transpose(gradient, [self._dimensions.index(one) for one in kept])
        spread = ordered.reshape([cells if one in kept else 1 for one, cells in enumerate(self.table.shape)])
        return np.broadcast_to(spread, self.table.shape)
