from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.statistics import (
    FALSE_ALARM,
    MISS,
    UnlikelyError,
    acceptance,
    assert_law,
    miss_probability,
    normal_sample_size,
    sample_size,
)
from udfs.draws import RowDraws
from udfs.streams import Secret

KEEP, KEEP_OF_MUTANT = (1 / (1 + math.exp(-epsilon)) for epsilon in (1.0, 1.1))


def test_epsilon_1_against_1_1_takes_76337_draws_by_the_normal_approximation():
    assert normal_sample_size(KEEP, KEEP_OF_MUTANT) == 76_337


def test_exact_regions_take_15_draws_more_than_the_normal_approximation():
    assert sample_size([KEEP], [KEEP_OF_MUTANT]) == 76_352


def test_a_sample_size_keeps_both_error_rates():
    draws = sample_size([KEEP], [KEEP_OF_MUTANT])
    assert miss_probability(draws, KEEP, KEEP_OF_MUTANT, FALSE_ALARM) <= MISS


@pytest.mark.parametrize("probability", [Fraction(1, 2), Fraction(1, 7), Fraction(999, 1000)])
@pytest.mark.parametrize("draws", [1, 10, 200])
def test_a_region_is_the_smallest_that_keeps_the_false_alarm_rate(draws, probability):
    def chance(counts):
        return sum(math.comb(draws, n) * probability**n * (1 - probability) ** (draws - n) for n in counts)

    half = Fraction(1, 200)
    least, most = acceptance(draws, float(probability), 0.01)
    assert chance(range(least)) <= half < chance(range(least + 1))
    assert chance(range(most + 1, draws + 1)) <= half < chance(range(most, draws + 1))


@pytest.mark.parametrize("probability", [0, 1])
def test_what_is_certain_leaves_no_room(probability):
    assert acceptance(1000, probability, FALSE_ALARM) == (1000 * probability, 1000 * probability)


def test_a_failure_prints_the_secret_that_brings_it_back():
    def count_never(secret, draws):
        return np.array([0])

    with pytest.raises(UnlikelyError, match="11" * 32):
        assert_law(count_never, [0.5], [0.6], Secret(b"\x11" * 32))


def test_a_sample_is_drawn_afresh_each_time():
    seen = set()

    def count_heads(secret, draws):
        seen.add(secret.reveal())
        return np.array([np.count_nonzero(RowDraws(secret.key("coin"), draws).words(0) >> np.uint64(63))])

    for _ in range(3):
        assert_law(count_heads, [0.5], [0.6])
    assert len(seen) == 3
