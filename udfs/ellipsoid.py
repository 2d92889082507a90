"""Duels of all pairs, stretched so that their answers lie in a smaller ball: less noise for each of them.

The answers of one ballot to all duels are a flow on the complete graph. It is the sum of a gradient, which
differences of the candidates' own scores make up, and of a curl, which is orthogonal to it. Every complete ranking
has the same gradient norm, (m**2 - 1) / 3 squared, and the same curl norm, (m - 1)(m - 2) / 6 squared, but
gradients have m - 1 dimensions and curls the other (m - 1)(m - 2) / 2. Weighting the curl by (m + 1)**(1/4) makes
the largest variance of a margin least: it tends to a third of that of the plain ball.

References
----------
Jiang, Lim, Yao, Ye: Statistical ranking and combinatorial Hodge theory (2011), section 4. Nikolov, Talwar, Zhang:
The geometry of differential privacy (2013): noise that fits the answers' shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import isqrt
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from udfs.contests import Contest, Duels
from udfs.errors import SpecError

Number = TypeVar("Number", bound=np.number[Any])

_GRADIENT = 256
"""The weight of gradients: the curls' is rounded to a whole number beside it, which costs 1e-5 of the variance."""


@dataclass(frozen=True)
class Ellipsoid:
    """The weights of gradients and of curls.

    Parameters
    ----------
    candidates : int
        At least two.

    Examples
    --------
    >>> ellipsoid, duels = Ellipsoid(3), Duels.of_all(3)
    >>> stretched = ellipsoid.stretch(duels.encode(np.array([[0, 1, 2]], dtype=np.uint8)))
    >>> int((stretched**2).sum()) == ellipsoid.squared_norm
    True
    >>> np.rint(ellipsoid.undo(stretched.T)).T
    array([[1., 1., 1.]])
    """

    candidates: int

    @classmethod
    def of(cls, contest: Contest) -> Ellipsoid:
        """Return the ellipsoid for the duels of all pairs.

        Raises
        ------
        SpecError
            For any other contest.
        """
        if isinstance(contest, Duels) and contest.pairs:
            found = cls(1 + max(contest.pairs[-1]))
            if found.duels == contest:
                return found
        raise SpecError("ellipsoid", "is for the duels of all pairs, in order", type(contest).__name__)

    @cached_property
    def curl(self) -> int:
        """The weight of curls, where gradients have 256: 256 (m + 1)**(1/4), rounded down."""
        return isqrt(isqrt((self.candidates + 1) * _GRADIENT**4))

    @property
    def label(self) -> str:
        """The weights."""
        return f"ellipsoid gradient={_GRADIENT} curl={self.curl}"

    @property
    def duels(self) -> Duels:
        """What it stretches the answers to."""
        return Duels.of_all(self.candidates)

    @cached_property
    def _pairs(self) -> npt.NDArray[np.intp]:
        """The first and the second of each pair: shape (2, pairs)."""
        return np.array(list(combinations(range(self.candidates), 2)), dtype=np.intp).T

    @property
    def squared_norm(self) -> int:
        """The largest square of the norm of a stretched answer: that of every complete ranking.

        A ballot that ties some candidates is the middle of two complete rankings, which break its ties in opposite
        orders, and so is its stretched answer of theirs: its norm is no larger.
        """
        m = self.candidates
        gradient, both = m * (m * m - 1) // 3, m * m * (m - 1) // 2
        return m * (_GRADIENT**2 * gradient + self.curl**2 * (both - gradient))

    @property
    def variance(self) -> float:
        """The variance of a margin where each entry of a stretched answer has variance 1.

        Gradients are 2 / m of each pair's direction: the projection on them has trace m - 1 over m (m - 1) / 2 pairs.
        """
        m = self.candidates
        return (2 / m / _GRADIENT**2 + (1 - 2 / m) / self.curl**2) / m**2

    def stretch(self, answers: npt.NDArray[np.signedinteger]) -> npt.NDArray[np.int64]:
        """Return m (256 gradient + curl weight * curl) of answers to all duels, in whole numbers.

        Parameters
        ----------
        answers : ndarray of signed integers, shape (rows, pairs)

        Returns
        -------
        ndarray of int64, shape (rows, pairs), Fortran order
        """
        pairs = answers.T.astype(np.int64)
        pairs *= self.candidates * self.curl
        pairs += (_GRADIENT - self.curl) * self._differences(answers.T)
        return pairs.T

    def undo(self, stretched: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the answers, or sums of them: the inverse of `stretch`, but pairs are the first axis.

        Parameters
        ----------
        stretched : ndarray of float64, shape (pairs, ...)
        """
        m = self.candidates
        gradient = self._differences(stretched) / m
        answers: npt.NDArray[np.float64] = gradient / _GRADIENT + (stretched - gradient) / self.curl
        return answers / m

    def _differences(self, flows: npt.NDArray[Number]) -> npt.NDArray[Any]:
        """Return m times the gradient of flows: what leaves the first of each pair less what leaves the second.

        From the sums of m rows, so that no matrix of pairs by pairs is formed.
        """
        first, second = self._pairs
        leaving = np.zeros((self.candidates, *flows.shape[1:]), dtype=np.result_type(flows, np.int64))
        for one, other, flow in zip(first, second, flows, strict=True):
            leaving[one] += flow
            leaving[other] -= flow
        gradient: npt.NDArray[Any] = leaving[first] - leaving[second]
        return gradient
