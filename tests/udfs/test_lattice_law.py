from __future__ import annotations

import math
from bisect import bisect_left
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from tests.statistics import UnlikelyError, assert_law
from udfs.draws import RowDraws
from udfs.exact import exp_bounds
from udfs.lattice_law import GAUSSIAN, VARIANCE, Gaussian, element_failure, most_columns, scale

UNIT = 1 << 128


def ideal_tails(variance="40.96", reach=110):
    """Return rationals below and above P(X >= k), k = 1, 2, ..., of the ideal discrete Gaussian."""
    pairs = [
        exp_bounds(max(Decimal(-k * k) / (2 * Decimal(variance)), Decimal(-200))) for k in range(reach + 1)
    ]
    below, above = zip(*pairs, strict=True)
    rest = Fraction(1, 2**200)
    whole_below, whole_above = (side[0] + 2 * sum(side[1:]) for side in (below, above))
    tails_below = [sum(below[k:]) / (whole_above + 2 * rest) for k in range(1, reach)]
    return tails_below, [(sum(above[k:]) + rest) / whole_below for k in range(1, reach)]


def assert_close_below(tails):
    below, above = ideal_tails()
    for k, tail in enumerate(tails):
        assert tail <= below[k] * UNIT, "a tail exceeds the ideal one"
        assert above[k] * UNIT - tail < 1 + Fraction(1, 2**60), "a tail is far below the ideal one"
    assert above[len(tails)] * UNIT < 1 + Fraction(1, 2**60), "a tail is missing"


def test_every_tail_is_the_ideal_one_rounded_down():
    assert_close_below(GAUSSIAN.tails)


@pytest.mark.parametrize(
    "mutant",
    [
        [tail + 1 for tail in GAUSSIAN.tails],
        [tail >> 64 << 64 for tail in GAUSSIAN.tails],
        GAUSSIAN.tails[:-1],
    ],
)
def test_tails_rounded_up_of_64_bits_or_cut_short_are_caught(mutant):
    with pytest.raises(AssertionError, match="a tail"):
        assert_close_below(mutant)


def test_the_distance_from_the_ideal_law_is_within_its_bound():
    above = ideal_tails()[1]
    ideal = [Fraction(1, 2), *above]
    tails = [*(Fraction(tail, UNIT) for tail in GAUSSIAN.tails), *[Fraction(0)] * 20]
    short = [high - low for high, low in zip(ideal[1:], tails, strict=False)]
    assert sum(short) * 2 <= GAUSSIAN.total_variation < Fraction(1, 2**120)


class Scripted:
    """Draws of given 128-bit numbers."""

    def __init__(self, numbers):
        self._numbers = numbers

    def __len__(self):
        return len(self._numbers)

    def words(self, index):
        shift = (64, 0)[index]
        return np.array([(number >> shift) % 2**64 for number in self._numbers], dtype=np.uint64)


def test_a_draw_is_how_many_tails_exceed_the_number_and_the_complement_gives_its_negative():
    cuts = [cut for tail in GAUSSIAN.tails for cut in (tail, UNIT - tail)]
    numbers = sorted({0, UNIT - 1, *(cut + off for cut in cuts for off in (-(2**64), -1, 0, 1, 2**64))})
    numbers = [number for number in numbers if 0 <= number < UNIT]
    expected = [
        sum(number < tail for tail in GAUSSIAN.tails)
        - sum(UNIT - 1 - number < tail for tail in GAUSSIAN.tails)
        for number in numbers
    ]
    assert GAUSSIAN.draw(Scripted(numbers)).tolist() == expected
    complements = [UNIT - 1 - number for number in numbers]
    assert (-GAUSSIAN.draw(Scripted(complements))).tolist() == expected
    assert expected[0] == len(GAUSSIAN.tails) == -expected[-1]


def test_the_lower_half_is_read_only_where_the_upper_one_is_a_threshold():
    class Upper(Scripted):
        def words(self, index):
            assert index == 0, "the lower half was read"
            return super().words(index)

    cut = GAUSSIAN.tails[5]
    assert len(GAUSSIAN.draw(Upper([cut - 2**64, cut + 2**64, 12345 << 100]))) == 3
    with pytest.raises(AssertionError, match="was read"):
        GAUSSIAN.draw(Upper([cut]))


EDGES = (0, 1, -1, 4, -4, 10, -10, 20, -20)


def events_of(numbers):
    return np.array([np.count_nonzero(numbers >= edge) for edge in EDGES])


def law_of(tails):
    return [Fraction(tails[edge - 1] if edge > 0 else UNIT - tails[-edge], UNIT) for edge in EDGES]


def sampler(gaussian):
    return lambda secret, size: events_of(gaussian.draw(RowDraws(secret.key("gaussian"), size)))


class Other(Gaussian):
    """A Gaussian of another deviation."""

    def __init__(self, variance):
        self.tails = tuple(tail for tail in (int(one * UNIT) for one in ideal_tails(variance)[0]) if tail)


class OneSided(Gaussian):
    def draw(self, draws):
        return abs(super().draw(draws))


NARROWER, WIDER = Other("37"), Other("45")


@pytest.mark.parametrize("mutant", [NARROWER, WIDER])
def test_draws_follow_the_table_and_another_deviation_does_not(mutant):
    assert_law(sampler(GAUSSIAN), law_of(GAUSSIAN.tails), law_of(mutant.tails))
    with pytest.raises(UnlikelyError):
        assert_law(sampler(mutant), law_of(GAUSSIAN.tails), law_of(mutant.tails))
    with pytest.raises(UnlikelyError):
        assert_law(sampler(OneSided()), law_of(GAUSSIAN.tails), law_of(mutant.tails))


def largest_modulus(columns, acceptable):
    return bisect_left(range(4096), True, lo=3, key=lambda modulus: not acceptable(columns, modulus)) - 1


PUBLISHED = {13: 991, 14: 833, 15: 701, 16: 589, 17: 495, 18: 416, 19: 350, 20: 294, 21: 247}


@pytest.mark.parametrize("log_columns", PUBLISHED)
def test_the_bound_gives_the_published_moduli_and_rounding_costs_a_twentieth_of_them(log_columns):
    def unrounded(columns, modulus):
        return (
            2 * math.exp(-((2**32 // modulus / 2) ** 2) / (2 * 6.4**2 * columns * (modulus / 2) ** 2))
            <= 2**-40
        )

    def acceptable(columns, modulus):
        return element_failure(columns, modulus | 1) <= Fraction(1, 2**40)

    published = PUBLISHED[log_columns]
    assert largest_modulus(2**log_columns, unrounded) == published
    assert 0.95 * published < largest_modulus(2**log_columns, acceptable) <= published


def sum_tails(numbers):
    """Return P(S >= r) for r = 0, 1, ... of the sum of so many drawn numbers, exactly, over 2**(128 numbers)."""
    tails = [*reversed(GAUSSIAN.tails)]
    steps = [UNIT - tail for tail in GAUSSIAN.tails]
    ends = [0, *tails, *steps, UNIT]
    single = np.diff(np.array(ends, dtype=object))
    law = np.array([1], dtype=object)
    for _ in range(numbers):
        law = np.convolve(law, single)
    return np.cumsum(law[::-1])[::-1][len(law) // 2 :].tolist()


@pytest.mark.parametrize("numbers", [1, 2, 6])
def test_sums_of_drawn_numbers_are_sub_gaussian_and_of_a_tenth_less_variance_they_are_not(numbers):
    tails = sum_tails(numbers)
    reach = [r for r in range(1, len(tails)) if r * r < 300 * numbers * 40]

    def excess(variance):
        return sum(
            2 * Fraction(tails[r], UNIT**numbers)
            > 2 * exp_bounds(Decimal(-r * r) / (2 * numbers * Decimal(variance)))[1]
            for r in reach
        )

    assert excess("40.96") == 0
    assert excess("36.86") > 0


def test_the_bound_is_the_tail_of_the_errors_and_of_what_rounding_leaves():
    columns, modulus = 5000, 777
    room = (2**32 // 777) / 2 - 2**15
    variance = 6.4**2 * (5000 * 388**2 + 1024 * 2.0**14)
    assert float(element_failure(columns, modulus)) == pytest.approx(
        2 * math.exp(-(room**2) / (2 * variance))
    )
    assert element_failure(columns, modulus) >= Fraction(
        2 * math.exp(-(room**2) / (2 * variance))
    ) * Fraction(99, 100)
    assert element_failure(1 << 30, 777) == 1
    assert 0 < element_failure(1, 3) < Fraction(1, 2**250)


@pytest.mark.parametrize("modulus", [17, 257, 777])
def test_most_columns_are_those_with_one_more_of_which_decoding_is_not_sure_enough(modulus):
    failure = Fraction(1, 2**70)
    columns = most_columns(modulus, failure)
    assert element_failure(columns, modulus) < failure <= element_failure(columns + 1, modulus)


def test_no_column_is_few_enough_for_a_failure_that_no_modulus_can_keep():
    assert most_columns(777, Fraction(1, 2**400)) == 0


def test_a_scaled_entry_and_its_error_stay_within_the_modulus():
    assert all(
        (modulus * scale(modulus)) <= 2**32 < modulus * (scale(modulus) + 1) for modulus in range(3, 1024, 2)
    )
    assert float(VARIANCE) == 40.96
