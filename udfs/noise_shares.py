"""Shares of two-sided geometric noise: each participant adds its own, and no one knows their sum.

The two-sided geometric law, P(x) = (1 - a) / (1 + a) a**abs(x) with a = e**-epsilon, is that of the difference
of two geometric numbers, and a geometric number is the sum of as many negative binomial ones as one likes. So a
sum of integers that at least `parts` participants add a `NoiseShare` to is epsilon-private for a change of
one, whoever they are and however many more there are; what colluding participants know of their own shares
is no help, as long as `parts` others remain.

References
----------
papers/private-skills, definition of noise-shares. Ghosh, Roughgarden, Sundararajan: Universally utility-maximizing
privacy mechanisms (2012), for the geometric mechanism. Goryczka, Xiong: A comprehensive comparison of multiparty
secure additions with differential privacy (2017), for its division into shares. Harrison, Manurangsi: Infinitely
divisible noise for differential privacy (2025), for the law of any number of shares: "generalized discrete Laplace".
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from udfs.draws import Draws
from udfs.errors import SpecError
from udfs.exact import parse_epsilon
from udfs.negative_binomial import SMALLEST_EPSILON, UNIT, Thresholds, draw_positive, thresholds

_LARGEST_RATE = 200.0
"""Beyond this, e**-epsilon is nothing: bounds are taken at this epsilon, and are the larger for it."""


@dataclass(frozen=True)
class NoiseShare:
    """One participant's share of the noise of a sum: G1 - G2, both negative binomial of size 1 / parts.

    P(G = k) = Gamma(k + r) / (k! Gamma(r)) (1 - a)**r a**k with r = 1 / parts and a = e**-epsilon.

    Privacy: the sum of shares of any `parts` participants is two-sided geometric, within as many times
    `total_variation`. So a counter that at least so many add theirs to is epsilon-private for a change by one of
    what one of them adds besides; one who has nothing to add adds a share nevertheless. Cost: two words a row,
    and almost never two more.

    Parameters
    ----------
    epsilon : Decimal
        At least `SMALLEST_EPSILON`.
    parts : int
        How many shares make the whole noise, at least one: participants less those who may collude, less
        those who may drop out.

    Examples
    --------
    >>> from udfs.draws import fresh_draws
    >>> NoiseShare(Decimal("0.5"), parts=1000).draw(fresh_draws(3)).dtype
    dtype('int64')
    """

    epsilon: Decimal
    parts: int

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "epsilon", _checked(self.epsilon))
        if isinstance(self.parts, bool) or not isinstance(self.parts, int) or self.parts < 1:
            raise SpecError(
                "noise share",
                "at least one participant must be left whose noise counts",
                f"{self.parts}",
                "let fewer collude or drop out, or ask more",
            )

    @property
    def _table(self) -> Thresholds:
        """The law of G1 and of G2."""
        return thresholds(self.epsilon, self.parts)

    @property
    def label(self) -> str:
        """The law, its parameters, and a digest of the thresholds that follow from them."""
        digest = hashlib.sha256(self._table.numbers.tobytes()).hexdigest()[:16]
        return f"noise share epsilon={self.epsilon.normalize()} parts={self.parts} thresholds={digest}"

    @property
    def probabilities(self) -> tuple[Fraction, ...]:
        """The probabilities with which `draw` finds G = 0, 1, ...: exact, their sum is one."""
        tails = [UNIT, *((high << 64) + low for high, low in reversed(self._table.numbers.tolist())), 0]
        return tuple(Fraction(above - below, UNIT) for above, below in pairwise(tails))

    @property
    def total_variation(self) -> Fraction:
        """A bound on the total variation distance between the law of a drawn share and the ideal one.

        Notes
        -----
        A threshold is at most the ideal tail P(G >= k) over 2**128, and less by d_k < (1 + 2**-19) 2**-128 (see
        `thresholds`); behind the last of K thresholds all of the tail is missing, which is less than that too. A
        probability falls short by d_k - d_(k + 1) at most, so in all by the sum of d_1, ..., d_(K + 1) at most:
        less than (K + 2) 2**-128, for each of G1 and G2. Distances add up over shares. Noise within a
        distance t of a law that is epsilon-private is (epsilon, (1 + e**epsilon) t)-private.
        """
        return Fraction(2 * (len(self._table.high) + 2), UNIT)

    def draw(self, draws: Draws) -> npt.NDArray[np.int64]:
        """Draw a share for every row.

        Parameters
        ----------
        draws : Draws
            Words 0 and 1 are read for G1 and G2; 2 and 3, which hardly ever matter, only where these do not decide.

        Returns
        -------
        ndarray of int64, shape (rows,)
            Almost all 0 where `parts` is large.

        Notes
        -----
        Runs where the answers are: on a worker, or on a participant's device.
        """
        shares = np.zeros(len(draws), dtype=np.int64)
        rows, sizes = draw_positive(self._table, draws, upper=0, lower=2)
        shares[rows] = sizes
        rows, sizes = draw_positive(self._table, draws, upper=1, lower=3)
        shares[rows] -= sizes
        return shares


def two_sided_variance(epsilon: Decimal | float, beta: Fraction | float = 1) -> float:
    """Return the variance of the noise of a sum: beta 2a / (1 - a)**2, where a = e**-epsilon.

    Parameters
    ----------
    epsilon : Decimal or float
    beta : Fraction or float
        How many times the whole noise is in the sum: contributions over `NoiseShare.parts`.

    Examples
    --------
    >>> round(two_sided_variance(0.1), 2)
    199.83
    """
    rate = min(float(epsilon), _LARGEST_RATE)
    return float(beta) * 2 * math.exp(-rate) / math.expm1(-rate) ** 2


def noise_reach(
    epsilons: Collection[Decimal], beta: Fraction | float, counters: int, failure: float = 2.0**-64
) -> int:
    """Return a t such that the noise of every counter lies within -t and t, but with probability `failure`.

    Parameters
    ----------
    epsilons : collection of Decimal
        The counters' epsilons: the smallest decides.
    beta : Fraction or float
        How many times the whole noise is in a counter: contributions over `NoiseShare.parts`. At least 1.
    counters : int
        How many there are in all, whatever their epsilons.
    failure : float
        In (0, 1).

    Returns
    -------
    int

    Raises
    ------
    SpecError

    Notes
    -----
    The union bound over counters and sides. Noise Z = G1 - G2 of size beta is a geometric number H plus
    W = Z - H, where P(H >= m) <= e**(-s m) for any s <= epsilon. So P(Z >= t) <= e**(-s t) E e**(s W), and that is
    [(1 - a) / (1 - a e**s)]**(beta - 1) [(1 - a) / (1 - a e**-s)]**beta for s < epsilon: any s will do, and
    the best of a grid is taken. For beta = 1 it is s = epsilon, and the exact tail a**t / (1 + a). Proved for noise
    that reaches t, and promised for noise that exceeds t: that is more than floats round away.

    Examples
    --------
    >>> noise_reach([Decimal("0.01")], 1, 100), noise_reach([Decimal("0.01")], Fraction(10, 9), 100)
    (4898, 4969)
    """
    if not (beta >= 1 and counters >= 1 and 0 < failure < 1):
        raise SpecError(
            "noise reach",
            "needs the whole noise, a counter, and a probability of failure between 0 and 1",
            f"{float(beta):g} of the noise, {counters} counters, failure {failure:g}",
        )
    rate = min(float(min(map(_checked, epsilons))), _LARGEST_RATE)
    nats = math.log(2 * counters / failure)
    tilts = [rate] if beta == 1 else [rate / (1 + 2.0 ** (step / 4)) for step in range(-60, 41)]
    return math.ceil(min((nats + _rest(tilt, rate, float(beta))) / tilt for tilt in tilts))


def privacy_when_short(epsilon: Decimal, beta: Fraction | float) -> float:
    """Return the epsilon that a sum gives where only a part of the whole noise is in it: for planning dropout.

    A job opens no such sum, as it refuses one of fewer contributions than were planned for. This says what would
    remain if more participants than planned colluded or left their share out, and so how large to plan.

    Parameters
    ----------
    epsilon : Decimal
        What the whole noise gives.
    beta : Fraction or float
        Honest contributions over `NoiseShare.parts`; positive.

    Returns
    -------
    float
        `epsilon` itself from beta = 1 on; far more than epsilon / beta where beta is less and epsilon is small.
        Within one part in 10**9.

    Notes
    -----
    The law of noise of size beta < 1 falls most steeply between 0 and 1: by
    P(0) / P(1) = e**epsilon F(b, b; 1; a**2) / (b F(b, b + 1; 2; a**2)), with b for beta and Gauss's F. These are the
    sums of g_k**2 a**2k and of g_k g_(k + 1) a**2k, where g_k = Gamma(k + b) / (k! Gamma(b)). Their difference is
    summed by itself, so that nothing cancels.

    Examples
    --------
    >>> round(privacy_when_short(Decimal("0.003"), 0.9) / 0.003, 2)
    2.78
    """
    rate = float(_checked(epsilon))
    if not beta > 0:
        raise SpecError("noise shares", "some of the noise must be in a sum", f"{float(beta):g} of it")
    if beta >= 1:
        return rate
    steps = np.arange(math.ceil(24 / rate) + 2, dtype=np.float64)
    sizes = np.cumprod(np.concatenate([[1.0], (steps + float(beta)) / (steps + 1)]))
    weights = sizes[:-1] * np.exp(-2 * rate * steps)
    steeper = (1 - float(beta)) * (weights * sizes[:-1] / (steps + 1)).sum()
    return rate + math.log1p(steeper / (weights * sizes[1:]).sum())


def _rest(tilt: float, rate: float, beta: float) -> float:
    """Return ln E e**(tilt W), where W and a geometric number make up noise of size beta: see `noise_reach`."""

    def log_less(exponent: float) -> float:
        return math.log(-math.expm1(-exponent))

    up = (beta - 1) * (log_less(rate) - log_less(rate - tilt)) if beta > 1 else 0.0
    return up + beta * (log_less(rate) - log_less(rate + tilt))


def _checked(epsilon: object) -> Decimal:
    """Return epsilon as an exact decimal that a table can be made for."""
    exact = parse_epsilon(epsilon)
    if exact < SMALLEST_EPSILON:
        raise SpecError(
            "noise share",
            f"the epsilon of one counter must be at least {SMALLEST_EPSILON}",
            f"{exact}",
            "give a larger epsilon, or ask fewer levels",
        )
    return exact
