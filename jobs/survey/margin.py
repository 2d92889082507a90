"""Some attributes of an estimated table, among those who answered all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from jobs.survey.reconstruct import Gradients, TableEstimate
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
        return self._ordered(self.table.sum_variances(self.of))

    @cached_property
    def answered(self) -> float:
        """The share of those who answered all: one less that of all others."""
        return 1.0 - float(self.raw[self._others].sum())

    @cached_property
    def answered_error(self) -> float:
        """The standard error of `answered`."""
        if not any(self.missing):
            return 0.0
        return math.sqrt(self.table.variance(self.lift(-self._others.astype(np.float64))))

    @cached_property
    def covariances_with_answered(self) -> Shares:
        """The covariances of `raw` with `answered`."""
        return self.take(self.table.covariances_with(self.lift(-self._others.astype(np.float64))))

    @cached_property
    def proportions(self) -> Shares:
        """Shares among those who answered all: they sum to one; NaN where too few seem to have answered."""
        if not self.answered > 2 * self.answered_error:  # also where either is NaN
            return np.full(self._answered_shape, np.nan)
        return self.raw[self._answers] / self.answered

    def gradient(self, by_proportions: Gradients, by_answered: float = 0.0) -> Gradients:
        """Return a gradient by the table's shares from one by `proportions` and by `answered`; or a stack of them."""
        return self._gradient_at(self.proportions, by_proportions, by_answered)

    def _gradient_at(
        self, proportions: Shares, by_proportions: Gradients, by_answered: float = 0.0
    ) -> Gradients:
        if not any(self.missing):
            return self.lift(by_proportions)
        # Whoever did not answer makes the share of those who did smaller, and so all proportions larger.
        inner = tuple(range(-len(self.of), 0))
        by_others = (by_proportions * proportions).sum(
            axis=inner, keepdims=True
        ) / self.answered - by_answered
        return self.lift(self._pad(by_proportions / self.answered) + by_others * self._others)

    def variance(self, by_proportions: Gradients, by_answered: float = 0.0) -> float:
        """Return the delta method's variance of a function of `proportions` and `answered`."""
        return self.table.variance(self.gradient(by_proportions, by_answered))

    def variances(self) -> Shares:
        """Return the variances of `proportions`, cell by cell."""
        if not any(self.missing):
            return self.raw_variances
        # Of a ratio p = share / answered: the variance of (share - p answered) / answered.
        proportions = self.proportions
        together = self.covariances_with_answered[self._answers]
        spread = self.raw_variances[self._answers] - 2 * proportions * together
        variances: Shares = (
            np.maximum(spread + (proportions * self.answered_error) ** 2, 0.0) / self.answered**2
        )
        return variances

    def variances_at(self, proportions: Shares, by_proportions: Gradients) -> Shares:
        """Return variances of functions of `proportions` times the number of reports, were these the true ones.

        The share of those who answered, and all other cells, are taken as they are estimated.

        Parameters
        ----------
        proportions : ndarray of float64
        by_proportions : ndarray of float64, shape (functions, *shape of `proportions`)
            The functions' gradients.

        Returns
        -------
        ndarray of float64, shape (functions,)
        """
        shares = self.table.shares.copy()
        answers_first = np.moveaxis(shares, self._dimensions, range(len(self.of)))
        inside = answers_first[self._answers]
        others = inside.sum(axis=tuple(range(len(self.of))), keepdims=True)
        inside[...] = proportions.reshape(*proportions.shape, *(1,) * (shares.ndim - len(self.of))) * others
        return self.table.at(shares).variances(self._gradient_at(proportions, by_proportions))

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
        return self._ordered(table.sum(axis=others))

    def _ordered(self, table: Shares) -> Shares:
        """Return a table of the margin's attributes in their order, from one in the whole table's."""
        kept = sorted(self._dimensions)
        return np.transpose(table, [kept.index(one) for one in self._dimensions])

    def _pad(self, inner: Gradients) -> Gradients:
        """Return gradients by all cells from ones by those of answers."""
        padded = np.zeros((*inner.shape[: -len(self.of)], *self.raw.shape))
        where: tuple[Any, ...] = (..., *self._answers)
        padded[where] = inner
        return padded

    def lift(self, gradient: Gradients) -> Gradients:
        """Return gradients by the whole table's cells from ones by the margin's: one, or a stack."""
        kept, leading = sorted(self._dimensions), gradient.shape[: gradient.ndim - len(self.of)]
        order = [len(leading) + self._dimensions.index(one) for one in kept]
        ordered = np.transpose(gradient, [*range(len(leading)), *order])
        spread = [cells if one in kept else 1 for one, cells in enumerate(self.table.shape)]
        return np.broadcast_to(ordered.reshape(*leading, *spread), (*leading, *self.table.shape))
