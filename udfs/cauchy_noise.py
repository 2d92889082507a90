"""Cauchy noise in proportion to a smooth bound on the local sensitivity, in whole numbers and exactly.

A trusted holder publishes the whole numbers f + round(S Z / alpha): Z has the density 1 / (pi (1 + z**2)) in
each, and S is beta-smooth and at least the local sensitivity. What neighbours tell apart is two Cauchy laws
for each number, whose places differ by at most S in all and whose scales by a factor of e**beta at most.

The privacy lost by one number, the supremum of the log-ratio of two Cauchy densities at x and x' with scales
s and s', is arcosh(1 + ((x - x')**2 + (s - s')**2) / (2 s s')): the distance of the points (x, s) and (x',
s') in the hyperbolic half-plane. By the triangle inequality, a shift by c scales costs 2 arsinh(c / 2) <= c,
and a stretch by e**lambda costs abs(lambda), in each number. So d numbers lose alpha + d beta at most. A
density that is positive at 0 cannot do better than d beta for the stretch: the d-dimensional density at 0
grows by e**(d lambda). A beta for each number on its own is not private.

Cauchy noise has neither mean nor variance, and no mean absolute error: the median of its absolute value is
its scale.

References
----------
Nissim, Raskhodnikova, Smith: Smooth sensitivity and sampling in private data analysis (2007): noise with a
density in proportion to 1 / (1 + abs(z)**gamma) is private with alpha = epsilon / (2 (gamma + 1)) and beta =
alpha / d. For gamma = 2 that is epsilon / 6 and epsilon / (6 d): a third of what the distance above allows.
McCullagh: Moebius transformation and Cauchy parameter estimation (1996), for Cauchy laws as points of the
half-plane.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import gmpy2
import numpy as np
import numpy.typing as npt
from gmpy2 import mpz

from udfs.errors import SpecError
from udfs.exact import parse_epsilon
from udfs.safe_primes import RandomBytes
from udfs.streams import WORD_TYPE, Words

Numbers = npt.NDArray[np.int64]

LARGEST = 1 << 61
"""What is published is cut to this on either side, and lies within it without noise."""

_LARGEST_NOISE = 2 * LARGEST
"""Noise is cut to this. The sum is then cut as well, so that no cut tells what noise was added to."""

_LARGEST_EPSILON = 32.0
"""Beyond this hardly any noise is left: it is drawn for this epsilon, which is the more private."""

_ROOM = 1 - 2.0**-20
"""A part of epsilon that is kept for what floats round in alpha, in beta and in the smooth bound."""

_SMALLEST_BETA = 2.0**-25
"""What floats round in a smooth bound, by 2**-46 of it at most, stays within the room that is kept for it."""

_RELATIVE_ERROR = 2.0**-45
"""More than four roundings and a tangent err by, relative to what they find."""

_HALF_TURN = math.pi * 2.0**-64
_MAGNITUDE = (1 << 63) - 1


@dataclass(frozen=True)
class CauchyNoise:
    """What Cauchy noise makes a number of outputs epsilon-private with a smooth bound.

    Privacy: so many whole numbers, as `perturb` publishes them for S, are epsilon-private in the central
    model, where S is at least the local sensitivity, the sum of absolute changes, and beta-smooth. For a
    change of one link that is `TriangleSensitivity.smooth(beta)` for the number of triangles of a graph, and
    three times as much for the numbers at each node.

    Parameters
    ----------
    epsilon : Decimal
        Positive and finite.
    outputs : int
        d, how many numbers are published.

    Examples
    --------
    >>> one, many = CauchyNoise(Decimal(1), 1), CauchyNoise(Decimal(1), 100)
    >>> round(one.alpha, 3), round(one.beta, 3), round(many.alpha, 3), round(many.beta, 3)
    (1.042, 0.5, 0.5, 0.005)
    """

    epsilon: Decimal
    outputs: int

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "epsilon", parse_epsilon(self.epsilon))
        if isinstance(self.outputs, bool) or not isinstance(self.outputs, int) or self.outputs < 1:
            raise SpecError("outputs", "must be a whole number, one or more", f"{self.outputs!r}")
        if self.beta < _SMALLEST_BETA:
            raise SpecError(
                "epsilon",
                "must be at least 2**-24 for each number that is published with smooth sensitivity",
                f"{self.epsilon} for {self.outputs} numbers",
                "give a larger epsilon",
            )

    @property
    def _epsilon(self) -> float:
        """What of epsilon is spent before rounding."""
        return min(float(self.epsilon), _LARGEST_EPSILON) * _ROOM

    @cached_property
    def beta(self) -> float:
        """How smooth the bound must be: epsilon / (2 d)."""
        return self._epsilon / (2 * self.outputs)

    @cached_property
    def alpha(self) -> float:
        """The bound over the scale of the noise: epsilon / 2, and about 2 sinh(epsilon / 2) for one output.

        Notes
        -----
        One output whose place moves by the smaller S, and whose scale by a factor of e**lambda, loses
        arcosh(cosh(lambda) + alpha**2 e**-lambda / 2). That is convex in e**lambda, so the most at 0 or at
        beta: solved for alpha, the smaller of 2 sinh(epsilon / 2) and sqrt(2 e**beta (cosh(epsilon) -
        cosh(beta))).
        """
        epsilon, beta = self._epsilon, self.beta
        if self.outputs > 1:
            return epsilon / 2
        stretched = 4 * math.exp(beta) * math.sinh((epsilon + beta) / 2) * math.sinh((epsilon - beta) / 2)
        return min(2 * math.sinh(epsilon / 2), math.sqrt(stretched))

    @property
    def label(self) -> str:
        """The law and its parameters."""
        return f"cauchy epsilon={self.epsilon.normalize()} outputs={self.outputs}"

    def scale(self, smooth: float) -> float:
        """Return the scale of the noise for a smooth bound, which is its median absolute value."""
        return smooth / self.alpha

    def perturb(self, truth: Numbers, smooth: float, stream: RandomBytes) -> Numbers:
        """Add noise to all outputs, for a smooth bound, which itself is not to be published.

        Parameters
        ----------
        truth : ndarray of int64, shape (outputs,)
            Within -2**61 and 2**61.
        smooth : float
            S; 0 where nothing ever changes.
        stream : callable
            A source of uniform random bytes that serve nothing else, such as `byte_stream` of a key: the
            noise is a function of it.

        Returns
        -------
        ndarray of int64, shape (outputs,)
            Within the same. The median of each is its truth.

        Notes
        -----
        Runs where the truth is: with the trusted holder.
        """
        noise = rounded_cauchy(self.scale(smooth), self.outputs, stream)
        published: Numbers = np.clip(truth + noise, -LARGEST, LARGEST)
        return published


def rounded_cauchy(scale: float, numbers: int, stream: RandomBytes) -> Numbers:
    """Draw Cauchy noise of a scale, rounded to whole numbers: independent for so many numbers, and exact.

    Parameters
    ----------
    scale : float
        From 0, which is no noise.
    numbers : int
    stream : callable
        A source of uniform random bytes.

    Returns
    -------
    ndarray of int64, shape (numbers,)
        Exactly the law of a real Cauchy number that is rounded to the nearest integer and cut to 2**62 on
        either side.

    Notes
    -----
    The first bit of a word is the sign; the others begin the digits of a number u, uniform up to 1/2, and the
    noise is scale cot(pi u) rounded. Floats give a bound on either side of it, over all u that begin with
    these digits. Where both round to one number it is that; else, once in 2**38 / scale numbers or so, more
    digits are drawn for it and more precision is taken.

    Floats that are not rounded would be another law altogether: their last digits depend on the truth.
    """
    if scale == 0:
        return np.zeros(numbers, dtype=np.int64)
    words = np.frombuffer(stream(WORD_TYPE.itemsize * numbers), dtype=WORD_TYPE)
    digits = words & np.uint64(_MAGNITUDE)
    least = np.floor(scale * _cotangent(digits + np.uint64(1)) * (1 - _RELATIVE_ERROR) + 0.5)
    most = np.floor(scale * _cotangent(digits) * (1 + _RELATIVE_ERROR) + 0.5)
    noise = np.minimum(least, _LARGEST_NOISE).astype(np.int64)
    for number in np.flatnonzero(least != most):
        noise[number] = _refined(scale, int(digits[number]), stream)
    return np.where(words > np.uint64(_MAGNITUDE), -noise, noise)


def _cotangent(digits: Words) -> npt.NDArray[np.float64]:
    """Return cot(pi u) of u = digits / 2**64, up to 1/2: infinite for 0."""
    steep = digits < np.uint64(1 << 62)
    rest = np.where(steep, digits, np.uint64(1 << 63) - digits)
    tangent = np.tan(_HALF_TURN * rest.astype(np.float64))
    with np.errstate(divide="ignore"):
        return np.where(steep, 1 / tangent, tangent)


def _refined(scale: float, digits: int, stream: RandomBytes) -> int:
    """Return scale cot(pi u) rounded and cut, for a u of these 64 bits and as many more as it takes."""
    bits = 64
    while True:
        bounds = []
        for end, rounding in ((digits + 1, gmpy2.RoundDown), (digits, gmpy2.RoundUp)):
            other_way = gmpy2.RoundUp if rounding == gmpy2.RoundDown else gmpy2.RoundDown
            with gmpy2.context(precision=2 * bits + 64, round=other_way):
                angle = gmpy2.const_pi() * gmpy2.mpfr(mpz(end)) / (mpz(1) << bits)
            with gmpy2.context(precision=2 * bits + 64, round=rounding):
                value = min(gmpy2.mpfr(_LARGEST_NOISE), scale * gmpy2.cot(angle) + 0.5)
            bounds.append(int(gmpy2.floor(value)))
        if bounds[0] == bounds[1]:
            return bounds[0]
        digits = digits << 64 | int.from_bytes(stream(8), "little")
        bits += 64
