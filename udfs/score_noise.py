"""What reports say of a sum over all ballots, and how far from the exact tally that can be.

References
----------
Boucheron, Lugosi, Massart: Concentration inequalities (2013), sections 2.3 (sub-Gaussian tails) and 2.8
(Bernstein's inequality).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class ScoreEstimate:
    """Unbiased sums over all ballots.

    Attributes
    ----------
    scores : ndarray of float64, shape (dimension,)
    standard_errors : ndarray of float64, shape (dimension,)
        About the exact tally of these ballots: of the randomizer, and of who is asked what. Infinite where
        nobody was asked.
    """

    scores: npt.NDArray[np.float64]
    standard_errors: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Noise:
    """The errors of summed answers about the exact tally, whatever the ballots are.

    Attributes
    ----------
    score : float
        The largest variance of one entry.
    gap : float
        The largest variance of the difference of two entries; of duels, whose entries are differences,
        `score`.
    reach : float
        The most that one ballot's report adds to the error of an entry, or of a difference; infinite where
        reports are unbounded.
    subgaussian : float, optional
        The sub-Gaussian parameter of an entry where it is proved: E exp(s error) is at most
        exp(s**2 subgaussian**2 / 2) for every s. A difference of two then has `sqrt(gap / score)` times that.
    replaced : float
        What more the variance of a difference would be at most, were those who are asked drawn with replacement.
        Bernstein's inequality is proved for that variance, which bounds the tails without replacement too
        (Hoeffding 1963, theorem 4).

    Examples
    --------
    >>> noise = Noise(score=100.0, gap=200.0, reach=math.inf, subgaussian=10.0)
    >>> round(noise.deviation(events=1, failure=0.05), 2)
    27.16
    """

    score: float
    gap: float
    reach: float
    subgaussian: float | None = None
    replaced: float = 0.0

    def deviation(self, events: int, failure: float, gap: bool = False) -> float:
        """Return a t that none of so many errors exceeds, but with probability `failure`.

        The union bound over two-sided tails, each at most 2 exp(-t**2 / (2 (variance + reach t / 3))) by
        Bernstein, or 2 exp(-t**2 / (2 subgaussian**2)): the smaller t of these.

        Parameters
        ----------
        events : int
            How many entries, or differences of two, must be close.
        failure : float
            In (0, 1).
        gap : bool
            Whether they are differences.

        Returns
        -------
        float
            Infinite where neither tail is known; 0 for no events.
        """
        if not events:
            return 0.0
        variance = self.gap if gap else self.score
        nats = math.log(2 * events / failure)
        lean = self.reach * nats / 3
        bernstein = lean + math.sqrt(lean**2 + 2 * (variance + self.replaced) * nats)
        if self.subgaussian is None:
            return bernstein
        stretch = math.sqrt(variance / self.score) if self.score else 1.0
        return min(bernstein, self.subgaussian * stretch * math.sqrt(2 * nats))
