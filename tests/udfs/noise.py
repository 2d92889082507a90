"""Exact laws of sums of noise shares."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import accumulate

import gmpy2

from tests.udfs.laws import exp_below
from udfs.negative_binomial import UNIT
from udfs.noise_shares import NoiseShare


def weights_of(share: NoiseShare) -> list[int]:
    """Return the probabilities of G = 0, 1, ... as integers over 2**128."""
    return [int(p * UNIT) for p in share.probabilities]


def tails_of(share: NoiseShare) -> list[int]:
    """Return P(G >= 1), P(G >= 2), ... as `draw` has them, over 2**128."""
    return [UNIT - below for below in accumulate(weights_of(share)[:-1])]


def convolve(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """Multiply two polynomials with non-negative coefficients exactly: as two integers in a large base."""
    size = (max(a).bit_length() + max(b).bit_length() + len(a).bit_length()) // 8 + 1
    one, other = (
        gmpy2.mpz(int.from_bytes(b"".join(c.to_bytes(size, "little") for c in p), "little")) for p in (a, b)
    )
    terms = len(a) + len(b) - 1
    data = int(one * other).to_bytes(size * terms, "little")
    return [int.from_bytes(data[size * k : size * (k + 1)], "little") for k in range(terms)]


def difference_law(
    weights: Sequence[int], shares: int, weights_below: Sequence[int] | None = None
) -> tuple[list[int], int]:
    """Return the law of the sum of so many G1 - G2, and its unit: item m + x is P(x), for x from -m to m."""
    up, down = [1], [1]
    for _ in range(shares):
        up, down = convolve(up, weights), convolve(down, weights_below or weights)
    return convolve(up, down[::-1]), sum(weights) ** shares * sum(weights_below or weights) ** shares


@cache
def sum_law(share: NoiseShare, shares: int) -> tuple[list[int], int]:
    """Return the law of the sum of so many shares, as `difference_law` does."""
    return difference_law(weights_of(share), shares)


def two_sided_law(epsilon: Decimal, reach: int, unit: int) -> tuple[list[int], int]:
    """Return the two-sided geometric law from -reach to reach, and what lies beyond: over `unit`."""
    bits = 500
    alpha = int((1 << bits) / exp_below(epsilon))
    side = [unit * ((1 << bits) - alpha) // ((1 << bits) + alpha)]
    for _ in range(reach):
        side.append(side[-1] * alpha >> bits)
    beyond = 2 * side[-1] * alpha // ((1 << bits) - alpha)
    return [*side[:0:-1], *side], beyond


def assert_whole_noise(law: Sequence[int], unit: int, epsilon: Decimal, bound: Fraction) -> None:
    """Fail unless a law is the two-sided geometric one, within a total variation distance."""
    assert sum(law) == unit
    ideal, beyond = two_sided_law(epsilon, len(law) // 2, unit)
    distance = Fraction(sum(abs(p - q) for p, q in zip(law, ideal, strict=True)) + beyond, 2 * unit)
    rounded = Fraction(2 * len(law), unit)
    assert distance <= bound + rounded, "a law is far from the two-sided geometric one"
