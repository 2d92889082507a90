"""Exact privacy of a selection, for every epsilon at once: inequalities of polynomials in t = e**-epsilon."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import accumulate


def is_positive_everywhere(terms):
    """Tell whether a sum of `coefficient * t**exponent` is shown not to be negative for any t in [0, 1].

    The sum of the first coefficients, by ascending exponents, must never be negative: then every negative
    term is outweighed by positive ones of lower exponents, which are larger.
    """
    together = defaultdict(int)
    for coefficient, exponent in terms:
        together[exponent] += coefficient
    return min(accumulate(together[exponent] for exponent in sorted(together))) >= 0


def assert_private(one, other, outcomes, share=Fraction(1), budget=Fraction(1)):
    """Fail unless P(o | one) <= e**(budget epsilon) P(o | other), for all outcomes o and every epsilon.

    With t = e**-epsilon and the share c, P(o) is t**(c k) / (1 + (K - 1) t**(c k)), or 1 / (...) of a true o.
    """
    (winner, k), (other_winner, other_k) = one, other
    others, k, other_k = outcomes - 1, share * k, share * other_k
    for outcome in range(outcomes):
        mine, theirs = k * (outcome != winner), other_k * (outcome != other_winner)
        terms = [
            (1, theirs),
            (others, theirs + k),
            (-1, mine + budget),
            (-others, mine + other_k + budget),
        ]
        assert is_positive_everywhere(terms), "a ratio exceeds e**epsilon"
