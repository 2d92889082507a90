from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from udfs.score_noise import Noise

POSITIVE = st.floats(1e-3, 1e6)


@given(POSITIVE, POSITIVE, st.integers(1, 10**6), st.floats(1e-9, 0.5))
def test_bernsteins_tail_is_met_with_equality(variance, reach, events, failure):
    t = Noise(variance, variance, reach).deviation(events, failure)
    assert 2 * events * math.exp(-(t**2) / (2 * (variance + reach * t / 3))) == pytest.approx(
        failure, rel=1e-6
    )


@given(POSITIVE, st.integers(1, 10**6), st.floats(1e-9, 0.5))
def test_the_sub_gaussian_tail_is_met_with_equality(sigma, events, failure):
    t = Noise(sigma**2, 2 * sigma**2, math.inf, sigma).deviation(events, failure)
    assert 2 * events * math.exp(-(t**2) / (2 * sigma**2)) == pytest.approx(failure, rel=1e-6)


@given(POSITIVE, POSITIVE, POSITIVE)
def test_the_smaller_of_two_tails_is_taken(variance, reach, sigma):
    both = Noise(variance, variance, reach, sigma).deviation(3, 0.05)
    alone = [
        Noise(variance, variance, reach).deviation(3, 0.05),
        Noise(variance, variance, math.inf, sigma).deviation(3, 0.05),
    ]
    assert both == min(alone)


def test_a_difference_has_the_tail_of_its_own_variance():
    noise = Noise(4.0, 8.0, 3.0)
    assert noise.deviation(2, 0.05, gap=True) == Noise(8.0, 8.0, 3.0).deviation(2, 0.05)
    assert noise.deviation(2, 0.05, gap=True) > noise.deviation(2, 0.05)
    ball = Noise(4.0, 8.0, math.inf, 2.5)
    assert ball.deviation(2, 0.05, gap=True) == pytest.approx(math.sqrt(2) * ball.deviation(2, 0.05))
    duels = Noise(4.0, 4.0, math.inf, 2.5)
    assert duels.deviation(2, 0.05, gap=True) == duels.deviation(2, 0.05)


def test_without_a_tail_nothing_is_promised():
    assert Noise(1.0, 1.0, math.inf).deviation(1, 0.05) == math.inf


def test_of_no_events_none_fails_and_without_noise_none_deviates():
    assert Noise(5.0, 5.0, 1.0).deviation(0, 0.05) == 0.0
    assert Noise(0.0, 0.0, 0.0).deviation(7, 0.05) == 0.0


@pytest.mark.parametrize("draws", [1, 10, 1000])
@pytest.mark.parametrize("chance", [0.01, 0.5, 0.97])
@pytest.mark.parametrize("failure", [0.3, 0.05, 1e-6])
def test_sums_of_bits_deviate_no_more_often(draws, chance, failure):
    noise = Noise(draws * chance * (1 - chance), 0.0, max(chance, 1 - chance))
    t, mean = noise.deviation(1, failure), draws * chance
    outside = binom.cdf(math.ceil(mean - t) - 1, draws, chance) + binom.sf(
        math.floor(mean + t), draws, chance
    )
    assert outside <= failure
