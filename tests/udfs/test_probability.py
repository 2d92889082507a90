from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.laws import exp_below
from udfs.errors import SpecError
from udfs.exact import exp_bounds
from udfs.probability import parse_probability, privacy_of_law

F = Fraction
THREE_TO_ONE = ((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)))

NO_PROBABILITIES = [
    True,
    -0.1,
    1.1,
    2,
    -1,
    math.nan,
    math.inf,
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("Infinity"),
    Decimal("1e-999999999"),
    Decimal("1e999999999"),
    "",
    "a",
    "1/0",
    "1/ ",
    "/2",
    "7/6",
    "-1/6",
    "1e-3",
    "nan",
    "1/2/3",
    "1_0/20",
    ".",
    "1" * 101 + "/2",
    "٣/٤",
    None,
    [0.5],
]


@pytest.mark.parametrize("value", NO_PROBABILITIES, ids=lambda value: repr(value)[:20])
def test_what_is_no_probability_is_refused_by_option(value):
    with pytest.raises(SpecError, match="must be a probability") as caught:
        parse_probability(value, "collected.p")
    assert caught.value.where == "collected.p"
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (0, F(0)),
        (1, F(1)),
        (0.1, F(1, 10)),
        (1e-05, F(1, 10**5)),
        (np.float64(0.1), F(1, 10)),
        (Decimal("0.25"), F(1, 4)),
        (F(1, 3), F(1, 3)),
        ("1/3", F(1, 3)),
        (" 1 / 3 ", F(1, 3)),
        (".25", F(1, 4)),
        ("0.250", F(1, 4)),
        ("1", F(1)),
    ],
)
def test_a_probability_is_the_number_it_is_written_as(value, exact):
    assert parse_probability(value, "p") == exact


@given(st.integers(1, 10**18), st.integers(1, 10**18))
def test_an_epsilon_is_the_least_of_twelve_digits_that_bounds_the_ratio(a, b):
    below = max(a, b) + 1
    rows = ((F(a, below), F(b, below)), (1 - F(a, below), 1 - F(b, below)))
    if a == b:
        assert privacy_of_law(rows) == 0
        return
    ratio = max(max(row) / min(row) for row in rows)
    epsilon = privacy_of_law(rows)
    assert len(epsilon.as_tuple().digits) <= 12
    assert exp_below(epsilon) >= ratio
    a_digit_less = epsilon - Decimal((0, (1,), epsilon.adjusted() - 11))
    assert exp_bounds(a_digit_less)[1] < ratio


def test_an_epsilon_rounded_to_the_nearest_digit_would_fall_short():
    rows = ((F(5, 6), F(1, 6)), (F(1, 6), F(5, 6)))  # ln 5 = 1.60943791243410...
    assert exp_below(Decimal("1.60943791243")) < 5
    assert privacy_of_law(rows) == Decimal("1.60943791244")


def test_the_epsilon_of_a_ratio_near_one_is_not_lost():
    tiny = F(1, 10**30)
    rows = ((F(1, 2), F(1, 2) + tiny), (F(1, 2), F(1, 2) - tiny))
    assert float(privacy_of_law(rows)) == pytest.approx(2e-30, rel=1e-11)
    assert privacy_of_law(rows) >= Decimal("2e-30")


def test_a_row_of_zeros_gives_nothing_away():
    assert privacy_of_law(((F(0), F(0)), *THREE_TO_ONE)) == privacy_of_law(THREE_TO_ONE)
