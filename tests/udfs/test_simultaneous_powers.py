from __future__ import annotations

import math
import secrets

import gmpy2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.keys import LONG
from udfs.simultaneous_powers import SimultaneousPowers, digit_bits, products

N = (2**127 - 1) * (2**89 - 1)
TOY = 7 * 11


def fresh_random():
    """Return a source of random numbers; a failing test shows its seed."""
    seed = secrets.randbits(128)
    print("seed", seed)
    return np.random.default_rng(seed)


def by_definition(bases, exponents, n):
    numbers = [int.from_bytes(row.tobytes(), "little") for row in exponents]
    powers = (gmpy2.powmod(base, number, n * n) for base, number in zip(bases, numbers, strict=True))
    return math.prod(powers) % n**2


def units(n):
    return st.integers(1, n * n - 1).filter(lambda base: math.gcd(base, n) == 1)


@st.composite
def settings(draw):
    n = draw(st.sampled_from([TOY, N]))
    bases = draw(st.lists(units(n), max_size=6))
    size = draw(st.integers(1, 40))
    byte = st.one_of(st.sampled_from([0, 1, 128, 255]), st.integers(0, 255))
    lists = draw(st.lists(st.lists(byte, min_size=len(bases) * size, max_size=len(bases) * size), max_size=3))
    return n, bases, [np.array(each, dtype=np.uint8).reshape(len(bases), size) for each in lists], size


@given(settings())
def test_products_are_what_their_definition_says(setting):
    n, bases, lists, size = setting
    powers = SimultaneousPowers(bases, n, size)
    assert [powers.product(exponents) for exponents in lists] == [
        by_definition(bases, exponents, n) for exponents in lists
    ]


@pytest.mark.parametrize("bases", [1, 9, 70])
def test_products_are_the_same_whatever_the_length_of_digits(bases):
    """From 5 bits to 10 of 2048."""
    n, random = LONG[0], fresh_random()
    numbers = [int.from_bytes(random.bytes(255), "big") for _ in range(bases)]
    exponents = random.integers(0, 256, (bases, 256), dtype=np.uint8)
    assert SimultaneousPowers(numbers, n, 256).product(exponents) == by_definition(numbers, exponents, n)


def test_every_unit_with_every_exponent_of_one_byte():
    for base in (unit for unit in range(1, TOY**2, 97) if math.gcd(unit, TOY) == 1):
        powers = SimultaneousPowers([base], TOY, 1)
        found = [powers.product(np.array([[exponent]], dtype=np.uint8)) for exponent in range(256)]
        assert found == [pow(base, exponent, TOY**2) for exponent in range(256)]


def test_products_of_parts_multiply_to_that_of_all_bases():
    random = fresh_random()
    bases, exponents = list(range(2, 12)), random.integers(0, 256, (10, 20), dtype=np.uint8)
    parts = [
        SimultaneousPowers(bases[part], N, 20).product(exponents[part])
        for part in (slice(0, 3), slice(3, 3), slice(3, 10))
    ]
    assert math.prod(parts) % N**2 == SimultaneousPowers(bases, N, 20).product(exponents)


def test_the_product_of_no_powers_is_1():
    assert SimultaneousPowers([], N, 5).product(np.zeros((0, 5), dtype=np.uint8)) == 1
    assert SimultaneousPowers([2, 3], N, 5).product(np.zeros((2, 5), dtype=np.uint8)) == 1


@pytest.mark.parametrize(
    "exponents", [np.zeros((2, 4), np.uint8), np.zeros((3, 5), np.uint8), np.zeros((2, 5), np.int8)]
)
def test_exponents_of_another_shape_or_type_are_refused(exponents):
    with pytest.raises(ValueError, match=r"must be uint8 of shape \(2, 5\)"):
        SimultaneousPowers([2, 3], N, 5).product(exponents)


@pytest.mark.parametrize("bases", [8, 64])
def test_no_more_products_are_taken_than_are_stated(bases, monkeypatch):
    """Counts them, by numbers that count; a factor below n is none of these."""
    taken = []

    class Counting(int):
        def __mod__(self, modulus):
            return Counting(int(self) % int(modulus))

        def __mul__(self, other):
            taken.append(1 if isinstance(other, Counting) else 0.6)
            return Counting(int(self) * int(other))

    monkeypatch.setattr("udfs.simultaneous_powers.mpz", Counting)
    n, random, lists = 2**127 - 1, fresh_random(), 3
    powers = SimultaneousPowers(range(2, 2 + bases), n, 32)
    for _ in range(lists):
        powers.product(random.integers(0, 256, (bases, 32), dtype=np.uint8))
    assert 0.9 * products(bases, lists, 256) < sum(taken) <= products(bases, lists, 256)


def test_many_bases_take_longer_digits():
    widths = [digit_bits(bases, 2048) for bases in range(1, 2000)]
    assert widths == sorted(widths)
    assert digit_bits(0, 8) == 1
