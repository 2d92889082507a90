"""What reports by subset selection say of all ballots, when some of the voters were asked.

Who is asked is a simple random sample without replacement, given how many are. A ballot's expected answer y
is 1 or 0 for a candidate, or between where the answer is drawn by chance; a report's own estimate x of it is
unbiased. Then the mean of x over n reports estimates the mean of y over all N ballots with the variance

    (E x**2 - (1 - f) E y**2 - f (E y)**2) / n,    f = (N - n) / (N - 1)

of which f falls from 1, where one is asked, to 0 where all are.

References
----------
Cochran: Sampling Techniques (1977), theorems 2.2 and 2.4; Hoeffding: Probability inequalities for sums of
bounded random variables (1963), section 6, for tails without replacement.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from udfs.score_noise import Noise, ScoreEstimate
from udfs.subset_selection import SubsetSelection

Floats = npt.NDArray[np.float64]


def standard_errors(square: Floats, known: Floats, mean: Floats, asked: Floats, ballots: int) -> Floats:
    """Return the standard errors of sums over all ballots.

    Parameters
    ----------
    square, mean : ndarray of float64
        The means of x**2 and of x over the reports.
    known : ndarray of float64
        At most the mean of y**2.
    asked : ndarray of float64
        How many reports there are: infinite errors where there are none, or one of several voters'.
    ballots : int

    Notes
    -----
    The square of the mean of x is too large by its own variance, so that the divisor n - f makes the square
    of the standard error unbiased where `known` is.
    """
    f = (ballots - asked) / max(ballots - 1, 1)
    spread = np.maximum(square - (1 - f) * known - f * mean**2, 0.0)
    freedom = asked - f
    with np.errstate(divide="ignore", invalid="ignore"):
        errors: Floats = np.where(
            freedom > 0, ballots * np.sqrt(spread / freedom), np.inf if ballots else 0.0
        )
    return errors


def estimate_sums(
    design: SubsetSelection, counts: npt.NDArray[np.int64], ballots: int, last: bool
) -> ScoreEstimate:
    """Return how many ballots answer each candidate of a contest, those that draw their answer in parts.

    Parameters
    ----------
    design : SubsetSelection
        Of the contest's candidates.
    counts : ndarray of int64, shape (candidates + 1,)
        How many reports hold each, and how many reports there are.
    ballots : int
        How many ballots there are in all.
    last : bool
        Whether who stands last was asked.

    Notes
    -----
    The mean of y**2 cannot be told from reports, and is bounded from below. Ballots without a single first,
    a share b of all, give b/k to each of the k candidates, so that b is at most k times the least share, and
    E y**2 = E y - b (k - 1)/k**2. Of tied last places (E y)**2 is the bound.
    """
    supports, asked = counts[:-1].astype(np.float64), counts[-1:].astype(np.float64)
    if not counts[-1]:
        nothing = np.zeros(design.cells)
        return ScoreEstimate(nothing, np.full(design.cells, np.inf if ballots else 0.0))
    observed = np.append(supports, asked) / asked
    shares, squares = design.reconstruct(observed), design.reconstruct_squares(observed)
    if last:
        known = shares**2
    else:
        drawn = np.clip(design.cells * shares.min(), 0.0, 1.0)
        known = shares - drawn * (design.cells - 1) / design.cells**2
    return ScoreEstimate(ballots * shares, standard_errors(squares, known, shares, asked, ballots))


def estimate_margins(design: SubsetSelection, counts: npt.NDArray[np.int64], ballots: int) -> ScoreEstimate:
    """Return by how many ballots the first of each pair leads.

    Parameters
    ----------
    design : SubsetSelection
        Of two cells.
    counts : ndarray of int64, shape (pairs, 3)
        How many reports name the first and the second of each pair, and how many there are.
    ballots : int

    Notes
    -----
    x is +-1/slope, y is 1, -1 or, of ballots that place both alike, 0: E y**2 is at least the margin's share.
    """
    first, second, asked = counts.T.astype(np.float64)
    margins = (first - second) / (np.maximum(asked, 1.0) * design.slope)
    square = np.full(len(margins), design.slope**-2.0)
    known = np.minimum(np.abs(margins), 1.0)
    return ScoreEstimate(ballots * margins, standard_errors(square, known, margins, asked, ballots))


@dataclass(frozen=True)
class AnswerNoise:
    """The noise of a contest's sums by subset selection, whatever the ballots are.

    Parameters
    ----------
    design : SubsetSelection
    last : bool
        Whether who stands last was asked.
    """

    design: SubsetSelection
    last: bool

    def of(self, asked: float, ballots: int) -> Noise:
        """Return the noise of sums over all ballots where so many voters, at least one, are asked.

        Notes
        -----
        A difference of two answers is between -1 and 1, so that drawn with replacement its mean square is at most
        1 more: that is `replaced`, which tails need where not everybody is asked.
        """
        f = (ballots - asked) / max(ballots - 1, 1)
        times = ballots**2 / asked
        reach = (1 / self.design.slope + 1) * ballots / asked
        replaced = times * (1 - f) if asked < ballots else 0.0
        return Noise(times * self._score(f), times * self._gap(f), reach, replaced=replaced)

    def _score(self, f: float) -> float:
        """Return n times the largest variance of one candidate's share.

        E x**2 is linear in y, so that E x**2 - (1 - f) y**2 of one ballot is concave; the largest of its mean
        over ballots less f (E y)**2 has two neighbouring values of y.
        """
        own, other, _, _ = self.design.pair_moments
        cells = self.design.cells
        by_chance = [1 / tied for tied in range(cells, 1, -1)] if self.last else [1 / cells]
        answers = [0.0, *by_chance, 1.0]
        values = [other + (own - other) * y - (1 - f) * y * y for y in answers]
        largest = 0.0
        for place, low in enumerate(answers[:-1]):
            high = answers[place + 1]
            slope = (values[place + 1] - values[place]) / (high - low)
            turn = slope / (2 * f) if f else math.copysign(math.inf, slope)
            mean = min(max(turn, low), high)
            largest = max(largest, values[place] + slope * (mean - low) - f * mean * mean)
        return largest

    def _gap(self, f: float) -> float:
        """Return n times the largest variance of the difference of two candidates' shares.

        The mean of y is 0, as supporters of both are as many, and the rest is linear in the ballots' shares:
        all are of the kind with the most. Two who stand last together are a kind with y = 0.
        """
        own, other, with_one, with_none = self.design.pair_moments
        cells = self.design.cells
        of_either, of_neither = own + other - 2 * with_one, 2 * (other - with_none)
        if self.last:
            kinds = [of_either]
        else:
            kinds = [of_either - (1 - f), (2 * of_either + (cells - 2) * of_neither) / cells]
        return max([*kinds, of_neither] if cells > 2 else kinds)


def joined(estimates: Sequence[ScoreEstimate]) -> ScoreEstimate:
    """Return estimates one after the other."""
    scores = np.concatenate([one.scores for one in estimates])
    return ScoreEstimate(scores, np.concatenate([one.standard_errors for one in estimates]))


def largest_noise(kinds: Collection[tuple[SubsetSelection, float]], last: bool, ballots: int) -> Noise:
    """Return the noise that no contest of these kinds exceeds, each a design and how many are asked."""
    if not ballots:
        return Noise(0.0, 0.0, 0.0)
    noises = [AnswerNoise(design, last).of(asked, ballots) for design, asked in kinds]
    parts = zip(*((one.score, one.gap, one.reach, one.replaced) for one in noises), strict=True)
    score, gap, reach, replaced = map(max, parts)
    return Noise(score, gap, reach, replaced=replaced)
