"""Two samples, two chances: how many are carriers, and how many cheat.

With one sample, a design must take it that its instructions were followed. Two independent samples that are
given different chances leave one equation more, and it estimates the cheaters. Both models here divide the
population in three:

- a share a says yes, whatever the cards say: carriers who follow the instructions;
- a share b says yes with its sample's chance q_i: others who follow the instructions;
- a share g = 1 - a - b says no, whatever the cards say: cheaters.

So lambda_i = a + b q_i for the share of yes in sample i, and (a, b, g) are linear in the two shares. The
models differ in what q_i is and in whom they take the cheaters for. Two parameters fit two shares exactly:
the data cannot tell whether the model holds.

References
----------
Clark, Desharnais: Honest answers to embarrassing questions: detecting cheating in the randomized response
model (1998). Moshagen, Musch, Erdfelder: A stochastic lie detector (2012).
"""

from __future__ import annotations

import math
from dataclasses import InitVar, dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from udfs.design import Shares
from udfs.errors import SpecError
from udfs.probability import parse_probability, privacy_of_law

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """The reports of one sample.

    Parameters
    ----------
    p : Fraction
        The chance that its respondents were given, from 0 to 1.
    yes : int
        How many said yes.
    reports : int
        How many reported: at least two, for one report has no standard error.
    where : str
        The table that an error names; not kept.

    Raises
    ------
    SpecError
    """

    p: Fraction
    yes: int
    reports: int
    where: InitVar[str] = "collected"

    def __post_init__(self, where: str) -> None:
        """Check the chance and the counts."""
        object.__setattr__(self, "p", parse_probability(self.p, f"{where}.p"))
        if self.reports < 2:
            raise SpecError(where, "each of the two samples needs at least two reports", str(self.reports))
        if not 0 <= self.yes <= self.reports:
            raise SpecError(where, "the reports of yes must be some of all reports", "a count beyond them")

    @property
    def share(self) -> Fraction:
        """The share of yes, exactly."""
        return Fraction(self.yes, self.reports)

    @property
    def variance(self) -> float:
        """The unbiased variance of `share`."""
        return float(self.share * (1 - self.share)) / (self.reports - 1)


@dataclass(frozen=True)
class WaldTest:
    """Whether an estimate is above zero by more than chance.

    Attributes
    ----------
    z : float
        The estimate over its standard error; NaN where that is zero, for it then says nothing.
    p_value : float
        Of a z so large or larger if the true value is zero: one-sided, because it cannot be below.
    """

    z: float
    p_value: float


@dataclass(frozen=True)
class TwoSampleEstimate:
    """What two samples say of carriers and of cheaters.

    Attributes
    ----------
    model : str
    names : tuple of str
        Of the estimates; the last are the cheaters, as a share of all.
    values : ndarray of float64, shape (3,)
        As they come out, so that they may be negative or above one: see `outside`.
    covariance : ndarray of float64, shape (3, 3)
        Of rank two. Exact and unbiased for linear estimates, by the delta method for ratios; each sample's
        variance divides by one less than its reports.
    reports : int
        Of both samples.
    epsilon : Decimal
        The privacy of one answer under the instructions.
    """

    model: str
    names: tuple[str, str, str]
    values: Shares
    covariance: Matrix
    reports: int
    epsilon: Decimal

    @property
    def standard_errors(self) -> Shares:
        """The root of the covariance's diagonal: float64, shape (3,)."""
        return np.sqrt(np.diagonal(self.covariance))

    @property
    def outside(self) -> tuple[str, ...]:
        """The names of the estimates that are no shares: below 0 or above 1."""
        return tuple(n for n, value in zip(self.names, self.values, strict=True) if value < 0 or value > 1)

    @property
    def cheating(self) -> WaldTest:
        """The test of "nobody cheats", on the share of cheaters: linear in the reports under both models."""
        error = float(self.standard_errors[-1])
        z = float(self.values[-1]) / error if error else math.nan
        return WaldTest(z, math.erfc(z / math.sqrt(2)) / 2)


def cheater_detection(first: Sample, second: Sample, where: str = "collected") -> TwoSampleEstimate:
    """Estimate the cheater detection model of Clark and Desharnais.

    Respondents of sample i are told to say yes with probability p_i, else the truth; cheaters say no. With
    honest carriers pi, honest others beta and cheaters gamma, lambda_i = pi + beta p_i. Cheaters may be
    carriers or not, so that the share of carriers lies between pi and pi + gamma.

    Parameters
    ----------
    first, second : Sample
        Independent, of the same population, with different chances of a forced yes.
    where : str
        The table that an error names.

    Returns
    -------
    TwoSampleEstimate
        `honest carriers`, `honest others` and `cheaters`: unbiased.

    Raises
    ------
    SpecError
        Where both samples have the same chance.

    Notes
    -----
    Privacy: epsilon is infinite, for a no is never an honest carrier's.

    Examples
    --------
    >>> found = cheater_detection(Sample(Fraction(1, 4), 400, 1000), Sample(Fraction(3, 4), 600, 1000))
    >>> found.values.round(3), found.standard_errors.round(3)
    (array([0.3, 0.4, 0.3]), array([0.025, 0.044, 0.025]))
    """
    groups, covariance = _three_groups(first, second, first.p, second.p, where)
    return TwoSampleEstimate(
        "cheater-detection",
        ("honest carriers", "honest others", "cheaters"),
        np.array(groups, dtype=np.float64),
        covariance,
        first.reports + second.reports,
        _privacy(first.p, second.p),
    )


def stochastic_lie_detector(first: Sample, second: Sample, where: str = "collected") -> TwoSampleEstimate:
    """Estimate the stochastic lie detector of Moshagen, Musch and Erdfelder.

    Carriers are told to say yes and do so with probability t, else no; others say no with probability p_i in
    sample i, else yes, as in Mangat's design. With a share pi of carriers,
    lambda_i = pi t + (1 - pi)(1 - p_i). All cheaters, pi (1 - t) of the population, are carriers.

    Parameters
    ----------
    first, second : Sample
        Independent, of the same population, with different chances.
    where : str
        The table that an error names.

    Returns
    -------
    TwoSampleEstimate
        `carriers` pi and `cheaters` pi (1 - t), unbiased, and `truthful` t, a ratio: consistent, by the
        delta method, NaN where no carriers are estimated, and worth little where pi is near 0.

    Raises
    ------
    SpecError
        Where both samples have the same chance.

    Notes
    -----
    Privacy: epsilon is infinite, for a no is never the report of a carrier who follows the instructions.

    Examples
    --------
    >>> found = stochastic_lie_detector(Sample(Fraction(2, 12), 373, 564), Sample(Fraction(10, 12), 398, 692))
    >>> found.names, found.values.round(4)
    (('carriers', 'truthful', 'cheaters'), array([0.8707, 0.6358, 0.3171]))
    """
    chances = 1 - first.p, 1 - second.p
    (honest, others, cheaters), covariance = _three_groups(first, second, *chances, where)
    carriers = 1 - others
    truthful, over = (float(honest / carriers), float(1 / carriers)) if carriers else (math.nan, math.nan)
    gradient = np.array([[0.0, -1.0, 0.0], [over, truthful * over, 0.0], [0.0, 0.0, 1.0]])
    return TwoSampleEstimate(
        "stochastic-lie-detector",
        ("carriers", "truthful", "cheaters"),
        np.array([float(carriers), truthful, float(cheaters)]),
        gradient @ covariance @ gradient.T,
        first.reports + second.reports,
        _privacy(*chances),
    )


def _three_groups(
    first: Sample, second: Sample, q_first: Fraction, q_second: Fraction, where: str
) -> tuple[tuple[Fraction, Fraction, Fraction], Matrix]:
    """Return (a, b, g) of lambda_i = a + b q_i, exactly, and their covariance: both unbiased."""
    if first.p == second.p:
        raise SpecError(f"{where}.p", "the two samples must have different chances", f"{first.p} in both")
    apart = q_second - q_first
    b = (second.share - first.share) / apart
    a = first.share - b * q_first
    by_sample = np.array(
        [
            [q_second / apart, -q_first / apart],
            [-1 / apart, 1 / apart],
            [(1 - q_second) / apart, (q_first - 1) / apart],
        ],
        dtype=np.float64,
    )
    variances = np.array([first.variance, second.variance])
    return (a, b, 1 - a - b), by_sample * variances @ by_sample.T


def _privacy(*chances: Fraction) -> Decimal:
    """Return the epsilon of whoever follows the instructions, in whichever sample."""
    return max(privacy_of_law(((1 - q, Fraction(0)), (q, Fraction(1)))) for q in chances)
