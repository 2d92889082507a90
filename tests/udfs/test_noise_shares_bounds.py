from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, pairwise

import gmpy2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import hyp2f1

from tests.udfs.noise import sum_law
from udfs.errors import SpecError
from udfs.noise_shares import NoiseShare, noise_reach, privacy_when_short, two_sided_variance

FAILURE = Fraction(1, 1 << 64)


@pytest.mark.parametrize(
    ("epsilon", "parts", "shares"), [("1", 3, 3), ("1", 3, 5), ("0.1", 2, 3), ("5", 1, 1)]
)
def test_the_variance_is_that_of_the_exact_law(epsilon, parts, shares):
    law, unit = sum_law(NoiseShare(Decimal(epsilon), parts), shares)
    m = len(law) // 2
    exact = Fraction(sum((k - m) ** 2 * p for k, p in enumerate(law)), unit)
    beta = Fraction(shares, parts)
    assert two_sided_variance(Decimal(epsilon), beta) == pytest.approx(float(exact), rel=1e-12)
    assert float(exact) == pytest.approx(float(beta) / (2 * math.sinh(float(epsilon) / 2) ** 2), rel=1e-12)


REACHES = [
    ("1", 1, 1),
    ("0.1", 1, 1),
    ("1", 9, 10),
    ("1", 2, 3),
    ("0.2", 9, 10),
    ("0.2", 2, 3),
    ("0.5", 1, 6),
    ("8", 4, 5),
]


@pytest.mark.parametrize("counters", [1, 12277])
@pytest.mark.parametrize(("epsilon", "parts", "shares"), REACHES)
def test_the_reach_bounds_the_exact_tail_and_hardly_more(epsilon, parts, shares, counters):
    law, unit = sum_law(NoiseShare(Decimal(epsilon), parts), shares)
    m = len(law) // 2
    beyond = list(accumulate(reversed(law)))  # item j: P(Z >= m - j)
    allowed = FAILURE * unit / (2 * counters)
    least = next(t for t in range(m) if beyond[m - t - 1] <= allowed)  # P(Z > least) is allowed
    reach = noise_reach([Decimal(epsilon)], Fraction(shares, parts), counters)
    assert least <= reach <= 1.04 * least + 2


@pytest.mark.parametrize("beta", [1.01, 1.25, 2, 7, 1000])
@pytest.mark.parametrize("epsilon", ["0.003", "0.1", "1", "6"])
def test_the_reach_is_never_below_what_is_proved_and_hardly_above_the_best_that_is(epsilon, beta):
    """Against the bound [(1 - a) / (1 - a e**s)]**(beta - 1) [(1 - a) / (1 - a e**-s)]**beta e**(-s t), s by s."""
    rate, counters = float(epsilon), 100
    alpha, tilts = math.exp(-rate), rate * (1 - np.geomspace(1e-6, 1 - 1e-4, 20_000))
    up, down = (np.log((1 - alpha) / (1 - alpha * np.exp(side * tilts))) for side in (1, -1))
    proved = ((math.log(2 * counters) + 64 * math.log(2) + (beta - 1) * up + beta * down) / tilts).min()
    reach = noise_reach([Decimal(epsilon)], beta, counters)
    assert proved * (1 - 1e-6) <= reach <= 1.005 * proved + 1


@pytest.mark.parametrize("epsilon", ["0.0002", "0.003", "0.01", "0.5", "3", "20", "1000"])
@pytest.mark.parametrize("counters", [1, 100, 10**6])
def test_the_reach_of_whole_noise_is_the_least_that_its_tail_reaches_with_the_chance_allowed(
    epsilon, counters
):
    reach, rate = noise_reach([Decimal(epsilon)], 1, counters), min(Fraction(epsilon), 200)
    with gmpy2.context(precision=300):
        alpha = gmpy2.exp(-gmpy2.mpfr(rate.numerator) / rate.denominator)
        allowed = gmpy2.mpfr(2) ** -64 / (2 * counters)
        assert alpha**reach / (1 + alpha) <= allowed
        assert alpha ** (reach - 1) / (1 + alpha) > allowed


@given(
    st.lists(st.decimals("0.0002", "30", places=4), min_size=1, max_size=4),
    st.floats(1, 100),
    st.integers(1, 10**6),
    st.floats(1e-25, 0.1),
)
def test_the_reach_is_that_of_the_smallest_epsilon_and_below_the_plain_bound(
    epsilons, beta, counters, failure
):
    reach = noise_reach(epsilons, beta, counters, failure)
    assert reach == noise_reach([min(epsilons)], beta, counters, failure)
    plain = 2 / float(min(epsilons)) * (math.log(2 * counters / failure) + beta * math.log(4 / 3))
    assert noise_reach([min(epsilons)], 1, counters, failure) <= reach <= plain + 1
    assert noise_reach(epsilons, 2 * beta, counters, failure) >= reach
    assert noise_reach(epsilons, beta, 2 * counters, failure) >= reach


@pytest.mark.parametrize(
    ("beta", "counters", "failure"), [(0.9, 1, 0.1), (1, 0, 0.1), (1, 1, 0), (1, 1, 1), (math.nan, 1, 0.1)]
)
def test_a_reach_of_less_than_the_whole_noise_or_of_nothing_is_refused(beta, counters, failure):
    with pytest.raises(SpecError, match="noise reach"):
        noise_reach([Decimal(1)], beta, counters, failure)


@pytest.mark.parametrize(
    ("epsilon", "parts", "shares"), [("1", 10, 9), ("0.1", 4, 3), ("0.2", 2, 1), ("3", 5, 1), ("0.1", 10, 1)]
)
def test_the_epsilon_of_a_sum_with_too_few_shares_is_its_laws_steepest_step(epsilon, parts, shares):
    law, unit = sum_law(NoiseShare(Decimal(epsilon), parts), shares)
    m = len(law) // 2
    seen = [p for p in law[m:] if p << 60 > unit]
    steps = [math.log(Fraction(a, b)) for a, b in pairwise(seen)]
    assert max(steps) == steps[0]
    assert privacy_when_short(Decimal(epsilon), Fraction(shares, parts)) == pytest.approx(steps[0], rel=1e-9)


@pytest.mark.parametrize("shares", [10, 11, 15])
def test_the_law_of_enough_shares_is_nowhere_steeper_than_epsilon(shares):
    epsilon = Decimal("0.5")
    law, unit = sum_law(NoiseShare(epsilon, 10), shares)
    seen = [p for p in law[len(law) // 2 :] if p << 60 > unit]
    assert max(math.log(Fraction(a, b)) for a, b in pairwise(seen)) <= 0.5 + 1e-15
    assert privacy_when_short(epsilon, Fraction(shares, 10)) == 0.5


@pytest.mark.parametrize("beta", [0.01, 0.3, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("epsilon", [0.003, 0.1, 2.0])
def test_the_epsilon_when_short_is_that_of_the_hypergeometric_formula(epsilon, beta):
    z = math.exp(-2 * epsilon)
    ratio = hyp2f1(beta, beta, 1, z) / (beta * hyp2f1(beta, beta + 1, 2, z))
    assert privacy_when_short(Decimal(str(epsilon)), beta) == pytest.approx(
        epsilon + math.log(ratio), rel=1e-9
    )


def test_a_tenth_of_the_noise_missing_is_far_worse_than_a_tenth_more_epsilon():
    assert privacy_when_short(Decimal("0.003"), 0.9) / 0.003 == pytest.approx(2.78, abs=0.005)


@pytest.mark.parametrize("beta", [0, -1, math.nan])
def test_no_noise_at_all_gives_no_epsilon(beta):
    with pytest.raises(SpecError, match="some of the noise"):
        privacy_when_short(Decimal(1), beta)
