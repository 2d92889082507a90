"""Exact privacy, checked in integers with nothing of the product's own arithmetic.

e**epsilon is summed from its Taylor series in fractions: all terms are positive, so a part of them is a
lower bound. A law is a matrix of fractions, one row a report and one column an answer; where many reports
share a row it stands once, and `times` says how many there are.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations, product, repeat
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from udfs.laplace import LaplaceMechanism
from udfs.optimized_unary import OptimizedUnaryEncoding
from udfs.randomized_response import RandomizedResponse
from udfs.randomizer import Randomizer
from udfs.subset_selection import SubsetSelection

Law: TypeAlias = Sequence[Sequence[Fraction]]

LN_2, LN_3 = "0.6931471805599453", "1.09861228866811"
EPSILONS = tuple(map(Decimal, ["1e-6", "0.001", "0.1", "0.5", LN_2, 1, LN_3, 2, 5, 10, 20, 30, 44]))


@cache
def exp_below(exponent: Decimal) -> Fraction:
    """Return a fraction below e**exponent, by less than one part in 2**500, for a positive exponent to 50."""
    x, unit = Fraction(exponent), 1 << 600
    total = term = unit
    order = 0
    while term:
        order += 1
        term = term * x.numerator // (x.denominator * order)
        total += term
    return Fraction(total, unit)


def assert_private(
    law: Law, ideal: Law, epsilon: Decimal, times: Sequence[int] | None = None, words: int = 2
) -> None:
    """Fail unless a law is exactly epsilon-private and close to the ideal one.

    Columns sum to one; no probability is zero; no two of a row are further apart than e**epsilon; and each
    is within so many words of the ideal, each 2**-64.
    """
    scale = math.lcm(*{p.denominator for row in law for p in row})
    weights = [[p.numerator * (scale // p.denominator) for p in row] for row in law]
    for column in zip(*weights, strict=True):
        assert sum(map(operator.mul, column, times or repeat(1))) == scale, "a column does not sum to one"
    bound = exp_below(epsilon)
    for row in weights:
        assert min(row) > 0, "a report betrays an answer"
        assert max(row) * bound.denominator <= min(row) * bound.numerator, "a ratio exceeds e**epsilon"
    for row, ideal_row in zip(weights, ideal, strict=True):
        for weight, p in zip(row, ideal_row, strict=True):
            distance = abs(weight * p.denominator - p.numerator * scale)
            assert distance << 64 <= words * scale * p.denominator, "a probability is far from the ideal"


def response_law(cells: int, favour: Fraction) -> Law:
    """Return the matrix of randomized response whose diagonal is `favour` times the rest."""
    lie = 1 / (cells - 1 + favour)
    truth = favour * lie
    return [[truth if u == v else lie for v in range(cells)] for u in range(cells)]


def ideal_truth(cells: int, size: int, epsilon: Decimal) -> Fraction:
    """Return the probability that a set holds the truth, before it is rounded to a word."""
    favour = Fraction(size, cells - size) * exp_below(epsilon)
    return favour / (1 + favour)


def subset_law(cells: int, size: int, truth: Fraction) -> Law:
    """Return the matrix of subset selection, sets in lexical order, that holds the truth so often."""
    inside, outside = set_probabilities(cells, size, truth)
    return [[inside if v in one else outside for v in range(cells)] for one in sets(cells, size)]


def subset_law_of_two(cells: int, size: int, truth: Fraction) -> tuple[Law, list[int]]:
    """Return the rows of two answers' columns that differ, and how many sets share each.

    Sets hold both answers, the first, the second, or neither; by symmetry any two answers will do.
    """
    inside, outside = set_probabilities(cells, size, truth)
    rows = [(inside, inside), (inside, outside), (outside, inside), (outside, outside)]
    times = [math.comb(cells - 2, size - held) if size >= held else 0 for held in (2, 1, 1, 0)]
    return rows, times


def set_probabilities(cells: int, size: int, truth: Fraction) -> tuple[Fraction, Fraction]:
    """Return the probability of one set with the truth inside, and of one with it outside."""
    return truth / math.comb(cells - 1, size - 1), (1 - truth) / math.comb(cells - 1, size)


def sets(cells: int, size: int) -> list[tuple[int, ...]]:
    """Return all sets of `size` cells, in lexical order."""
    return list(combinations(range(cells), size))


def unary_law(cells: int, truth: Fraction, lie: Fraction) -> Law:
    """Return the matrix of unary encoding, sets as `every_set` orders them, with these chances of a bit."""
    return [
        [
            math.prod(
                (p if bit else 1 - p) for bit, p in zip(held, chances(v, cells, truth, lie), strict=True)
            )
            for v in range(cells)
        ]
        for held in every_set(cells)
    ]


def chances(answer: int, cells: int, truth: Fraction, lie: Fraction) -> list[Fraction]:
    """Return the chance of each bit of one answer's report."""
    return [truth if cell == answer else lie for cell in range(cells)]


def every_set(cells: int) -> list[tuple[int, ...]]:
    """Return all sets of cells, as bits."""
    return list(product((0, 1), repeat=cells))


def law_and_supports(design: Randomizer) -> tuple[Law, npt.NDArray[np.int64]]:
    """Return a design's matrix, and a row of ones and zeros a report: the cells that it supports."""
    if isinstance(design, RandomizedResponse | LaplaceMechanism):
        return design.law, np.eye(design.cells, dtype=np.int64)
    if isinstance(design, OptimizedUnaryEncoding):
        law = unary_law(design.cells, design.support_if_true, design.support_if_false)
        return law, np.array(every_set(design.cells), dtype=np.int64)
    assert isinstance(design, SubsetSelection)
    held = sets(design.cells, design.size)
    supports = np.array([[cell in one for cell in range(design.cells)] for one in held], dtype=np.int64)
    return subset_law(design.cells, design.size, design.support_if_true), supports
