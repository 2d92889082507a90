"""Answers that nothing hides: strata and samples beside reports, and the truth of a public population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from udfs.design import Counts, Design, Shares, sum_factors


@dataclass(frozen=True)
class PlainAnswers(Design):
    """The design whose reports are the answers themselves. It protects nobody: epsilon is infinite.

    Parameters
    ----------
    cells : int
    name : str
        What it is said to be: reports of a design whose law is not known are taken as they are, too.

    Examples
    --------
    >>> PlainAnswers(2).estimate(np.array([30, 10]), 40).shares
    array([0.75, 0.25])
    """

    cells: int
    name: str = "plain"

    @property
    def label(self) -> str:
        """The design."""
        return f"{self.name} cells={self.cells}"

    @property
    def features(self) -> int:
        """As many as cells."""
        return self.cells

    def observe(self, shares: Shares, axis: int = 0) -> Shares:
        """Return the shares."""
        return shares

    def reconstruct(self, observed: Shares, axis: int = 0) -> Shares:
        """Return what was observed."""
        return observed

    def pull_back(self, gradient: Shares, axis: int = 0) -> Shares:
        """Return the gradient."""
        return gradient

    def reconstruct_squares(self, observed: Shares, axis: int = 0) -> Shares:
        """Return what was observed: a single estimate is 0 or 1."""
        return observed

    def reconstruct_square_sums(
        self, observed: Shares, shape: tuple[int, ...], kept: Sequence[int]
    ) -> Shares:
        """Return sums of what was observed: a single estimate is 0 or 1."""
        return sum_factors(observed, shape, kept)

    def second_moments(self) -> npt.NDArray[np.float64]:
        """Return 1 at [v, v, v], else 0."""
        moments = np.zeros((self.cells,) * 3)
        np.einsum("iii->i", moments)[:] = 1.0
        return moments

    def zeros(self) -> Counts:
        """Return the sum of no reports."""
        return np.zeros(self.cells, dtype=np.int64)

    def tally(self, reports: npt.NDArray[np.generic]) -> Counts:
        """Count each cell."""
        return np.bincount(reports.astype(np.intp), minlength=self.cells).astype(np.int64)

    def dispersion(self, observed: Shares) -> npt.NDArray[np.float64]:
        """Return the covariance of single answers: sampling's alone."""
        return np.diag(observed) - np.outer(observed, observed)
