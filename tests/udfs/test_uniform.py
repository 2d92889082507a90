"""Uniform digits are exact: shown at every boundary, with words that the test writes down."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.statistics import UnlikelyError, assert_law
from tests.udfs.scripted import ScriptedDraws
from udfs.draws import RowDraws
from udfs.exact import WORD
from udfs.uniform import uniform_digits

RADICES = [[2], [3], [6, 6], [5, 4, 3, 2, 1], [1], [1, 7, 1], [1 << 40], [(1 << 40) - 1], [1000, 1000, 1000]]

one_word_of_radices = st.lists(st.integers(1, 1000), min_size=1, max_size=4)


def digits_of(number, radices):
    """Return a number's digits, the first radix fastest."""
    digits = []
    for radix in radices:
        digits.append(number % radix)
        number //= radix
    return digits


def drawn(words, radices):
    """Return the digits of each row, drawn from written words."""
    return np.transpose(uniform_digits(ScriptedDraws(words), radices)).tolist()


@pytest.mark.parametrize("radices", [[2], [6, 6], [5, 4, 3, 2, 1], [3, 1, 7]])
def test_a_run_of_words_gives_every_combination_equally_often(radices):
    together = math.prod(radices)
    rows = drawn({0: range(3 * together)}, radices)
    assert sorted(rows) == sorted([list(one) for one in product(*map(range, radices))] * 3)


@given(radices=one_word_of_radices, words=st.lists(st.integers(0, WORD - (1 << 41)), min_size=1))
def test_digits_are_those_of_the_word_in_mixed_radix(radices, words):
    together = math.prod(radices)
    assert drawn({0: words}, radices) == [digits_of(word % together, radices) for word in words]


@pytest.mark.parametrize("radices", RADICES, ids=str)
def test_the_words_that_are_taken_are_a_whole_number_of_turns(radices):
    together = math.prod(radices)
    end = WORD - WORD % together
    taken = [0, together - 1, together, end - together, end - 1]
    draws = ScriptedDraws({0: taken})
    digits = uniform_digits(draws, radices)
    assert np.transpose(digits).tolist() == [digits_of(word % together, radices) for word in taken]
    assert draws.read == [0]


@pytest.mark.parametrize("radices", [one for one in RADICES if WORD % math.prod(one)], ids=str)
def test_the_first_word_beyond_and_the_last_of_all_are_drawn_again(radices):
    together = math.prod(radices)
    end = WORD - WORD % together
    words = {0: [5, end, WORD - 1, end, end - 1], 1: [99, 4, WORD - 1, end, 99], 2: [99, 99, 1, end, 99]}
    words[3] = [99, 99, 99, end - 1, 99]
    numbers = [5, 4, 1, end - 1, end - 1]
    assert drawn(words, radices) == [digits_of(number % together, radices) for number in numbers]


@pytest.mark.parametrize("radices", [[2], [1 << 40], [4, 8], [1]], ids=str)
def test_where_the_radices_divide_all_words_none_is_drawn_again(radices):
    assert drawn({0: [WORD - 1]}, radices) == [digits_of((WORD - 1) % math.prod(radices), radices)]


def test_radices_beyond_one_word_read_a_lane_each():
    radices = [(1 << 40) - 1, 1000, 1000, 1000, 1000, 10]
    first, second, third = radices[:1], radices[1:5], radices[5:]
    end = WORD - WORD % first[0]
    rows = drawn({0: [11, end], 1: [22, 222], 2: [33, 333], 3: [99, 44]}, radices)
    assert rows == [
        digits_of(11, first) + digits_of(22, second) + digits_of(33, third),
        digits_of(44, first) + digits_of(222, second) + digits_of(333, third),
    ]


@pytest.mark.parametrize(
    ("radices", "words"),
    [([1 << 20, 1 << 20], 1), ([1 << 20, (1 << 20) + 1], 2), ([1 << 40, 1], 1), ([1 << 40, 2], 2)],
)
def test_digits_share_a_word_up_to_a_product_of_2_to_the_40(radices, words):
    draws = ScriptedDraws({0: [0], 1: [0]})
    uniform_digits(draws, radices)
    assert len(set(draws.read)) == words


def test_no_radices_give_no_digits_and_no_rows_give_empty_ones():
    assert uniform_digits(RowDraws(bytes(32), 3), []) == []
    assert [digit.tolist() for digit in uniform_digits(RowDraws(bytes(32), 0), [6, 1 << 39])] == [[], []]


def test_two_digits_are_uniform_and_independent():
    def count_pairs(digits_of_draws):
        def sample(secret, draws):
            first, second = digits_of_draws(RowDraws(secret.key("digits"), draws))
            return np.bincount((first * np.uint64(6) + second).astype(int), minlength=36)

        return sample

    def digit_twice(draws):
        return uniform_digits(draws, [6]) * 2

    law, mutant = [1 / 36] * 36, (np.eye(6) / 6).ravel().tolist()
    assert_law(count_pairs(lambda draws: uniform_digits(draws, [6, 6])), law, mutant)
    assert_law(count_pairs(lambda draws: uniform_digits(draws, [6, 1 << 40, 6])[::2]), law, mutant)
    with pytest.raises(UnlikelyError):
        assert_law(count_pairs(digit_twice), law, mutant)
