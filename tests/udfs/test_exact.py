from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.laws import EPSILONS, exp_below
from tests.vectors import load
from udfs.errors import SpecError
from udfs.exact import WORD, exp_bounds, max_ratio, parse_epsilon, truth_threshold

REFUSED = {case["id"]: case for case in load("survey_field_cases")}["R05"]["input"]["epsilon_each"]
NOT_FINITE = [kind(text) for kind in (float, Decimal) for text in ("nan", "inf", "-inf")]
ODDS = [Fraction(1), Fraction(1, 2), Fraction(1, 63), Fraction(3, 9), Fraction(1, 10**6)]

decimals = st.decimals("1e-6", "50", allow_nan=False, places=12)


@pytest.mark.parametrize(
    "value", [*REFUSED, *NOT_FINITE, 0, 0.0, Decimal("-1e-30"), False, 1j, [1.0]], ids=repr
)
def test_what_is_no_positive_finite_number_is_no_epsilon(value):
    with pytest.raises(SpecError, match="must be a positive finite number") as caught:
        parse_epsilon(value, "attributes.ldl.epsilon")
    assert caught.value.where == "attributes.ldl.epsilon"
    assert str(value) in caught.value.got


@pytest.mark.parametrize(
    ("value", "decimal"),
    [
        (1, "1"),
        (0.1, "0.1"),
        (1e308, "1E+308"),
        (Decimal("0.30"), "0.30"),
        (5e-324, "5E-324"),
        (np.float64(0.1), "0.1"),
    ],
)
def test_epsilon_is_the_decimal_it_prints_as(value, decimal):
    assert parse_epsilon(value) == Decimal(decimal)


def test_epsilon_is_an_integer_of_many_digits():
    assert parse_epsilon(10**400) == Decimal("1e400")


@pytest.mark.parametrize("slip", [10**4000, Decimal("1e9999999"), Decimal("1e-9999")])
def test_epsilon_beyond_all_reason_is_refused(slip):
    with pytest.raises(SpecError):
        parse_epsilon(slip)


@pytest.mark.parametrize("exponent", EPSILONS)
def test_the_bounds_of_the_exponential_enclose_its_series(exponent):
    lower, upper = exp_bounds(exponent)
    assert lower < exp_below(exponent) < upper
    assert upper - lower <= 3 * lower / 10**79


@given(exponent=decimals)
def test_the_bounds_enclose_the_series_of_any_exponent(exponent):
    lower, upper = exp_bounds(exponent)
    assert lower < exp_below(exponent) < upper


@pytest.mark.parametrize("exponent", [Decimal(0), Decimal("1e-70"), Decimal("1e-90"), Decimal("1e-9999")])
def test_the_bounds_enclose_exponentials_next_to_one(exponent):
    lower, upper = exp_bounds(exponent)
    assert lower < 1 + Fraction(exponent) < upper


@pytest.mark.parametrize("exponent", EPSILONS)
def test_the_bounds_of_a_negative_exponent_are_reciprocal(exponent):
    lower, upper = exp_bounds(-exponent)
    assert lower * exp_below(exponent) < 1 < upper * exp_below(exponent)


@pytest.mark.parametrize("epsilon", [Decimal(200), Decimal(201), Decimal("1e308"), Decimal("1e999999")])
def test_an_epsilon_beyond_a_word_counts_as_200(epsilon):
    assert max_ratio(epsilon) == exp_bounds(Decimal(200))[0]


@given(epsilon=decimals, odds=st.sampled_from(ODDS) | st.fractions("1/1000000", 1000))
def test_a_threshold_is_the_ideal_probability_rounded_down_to_a_word(epsilon, odds):
    context = Context(prec=120)
    favour = context.multiply(context.exp(epsilon), context.divide(odds.numerator, odds.denominator))
    ideal = context.divide(favour, context.add(1, favour))
    distance = Fraction(ideal) - Fraction(truth_threshold(odds, epsilon), WORD)
    assert 0 < distance < Fraction(1, WORD) or truth_threshold(odds, epsilon) == WORD - 1


@pytest.mark.parametrize("odds", ODDS)
def test_a_threshold_grows_with_epsilon(odds):
    thresholds = [truth_threshold(odds, epsilon) for epsilon in EPSILONS]
    assert thresholds == sorted(set(thresholds))


@pytest.mark.parametrize("epsilon", [Decimal(100), Decimal(710), Decimal("1e308")])
def test_a_threshold_leaves_one_word_to_the_lie_at_any_epsilon(epsilon):
    assert truth_threshold(Fraction(1, 2), epsilon) == WORD - 1


def test_a_threshold_leaves_one_word_to_the_truth_at_any_odds():
    assert truth_threshold(Fraction(1, 1 << 80), Decimal("0.1")) == 1


@pytest.mark.parametrize(("others", "keep"), [(1, 0.75), (3, 0.5)])
def test_ln_3_keeps_three_of_four_between_two_and_half_between_four(others, keep):
    assert truth_threshold(Fraction(1, others), Decimal("1.09861228866811")) / WORD == pytest.approx(
        keep, abs=1e-14
    )


def test_the_series_is_below_the_exponential_of_the_standard_library():
    for epsilon in EPSILONS:
        assert float(exp_below(epsilon)) == pytest.approx(math.exp(epsilon), rel=1e-15)
        assert exp_below(epsilon) < Fraction(Context(prec=200).exp(epsilon))
