"""A step of a logistic regression as a tally: what one round adds up of reports and covariates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from udfs.logistic import LogisticSums, Predictor, design_matrix, logistic_sums


@dataclass(frozen=True)
class LogisticTally:
    """Adds up log-likelihood, score and information of a logistic regression at given coefficients.

    Parameters
    ----------
    predictors : tuple of Numeric and Factor
        The asks after the first, in order.
    law : tuple of tuple of float
        Of the first ask's reports: (reports, 2).
    beta : tuple of float
    weight : int, optional
        The place of the ask that reads weights.
    """

    predictors: tuple[Predictor, ...]
    law: tuple[tuple[float, ...], ...]
    beta: tuple[float, ...]
    weight: int | None = None

    def zeros(self) -> LogisticSums:
        """Return the sums of no rows."""
        return LogisticSums.zeros(len(self.beta))

    def tally(self, reports: Sequence[npt.NDArray[np.generic]]) -> LogisticSums:
        """Return a block's sums."""
        outcome, *columns = reports[: len(self.predictors) + 1]
        features = design_matrix(self.predictors, columns, len(outcome))
        weights = None if self.weight is None else reports[self.weight].astype(np.float64)
        codes = outcome.astype(np.uint32)
        return logistic_sums(features, codes, np.array(self.law), np.array(self.beta), weights)
