from __future__ import annotations

import math
import secrets

import gmpy2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.keys import LONG
from udfs.simultaneous_powers import (
    InterleavedPowers,
    StoredPowers,
    digit_bits,
    interleaved_digit_bits,
    interleaved_products,
    products,
    simultaneous_powers,
    stored_products,
)

N = (2**127 - 1) * (2**89 - 1)
TOY = 7 * 11
FEW, MANY = 1, 1000
"""Lists: powers are interleaved for few, and stored for many."""


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


def test_powers_are_interleaved_for_few_lists_and_stored_for_many():
    assert isinstance(simultaneous_powers([2] * 8, N, 32, FEW), InterleavedPowers)
    assert isinstance(simultaneous_powers([2] * 8, N, 32, MANY), StoredPowers)


@given(settings(), st.sampled_from([FEW, MANY]))
def test_products_are_what_their_definition_says(setting, expected):
    n, bases, lists, size = setting
    powers = simultaneous_powers(bases, n, size, expected)
    assert [powers.product(exponents) for exponents in lists] == [
        by_definition(bases, exponents, n) for exponents in lists
    ]


@pytest.mark.parametrize("lists", [FEW, 5, MANY])
@pytest.mark.parametrize("bases", [1, 9, 70])
def test_products_are_the_same_whatever_the_length_of_digits(bases, lists):
    """From 5 bits to 10 of 2048."""
    n, random = LONG[0], fresh_random()
    numbers = [int.from_bytes(random.bytes(255), "big") for _ in range(bases)]
    exponents = random.integers(0, 256, (bases, 256), dtype=np.uint8)
    assert simultaneous_powers(numbers, n, 256, lists).product(exponents) == by_definition(
        numbers, exponents, n
    )


@pytest.mark.parametrize("lists", [FEW, MANY])
def test_every_unit_with_every_exponent_of_one_byte(lists):
    for base in (unit for unit in range(1, TOY**2, 97) if math.gcd(unit, TOY) == 1):
        powers = simultaneous_powers([base], TOY, 1, lists)
        found = [powers.product(np.array([[exponent]], dtype=np.uint8)) for exponent in range(256)]
        assert found == [pow(base, exponent, TOY**2) for exponent in range(256)]


@pytest.mark.parametrize("lists", [FEW, MANY])
def test_products_of_parts_multiply_to_that_of_all_bases(lists):
    random = fresh_random()
    bases, exponents = list(range(2, 12)), random.integers(0, 256, (10, 20), dtype=np.uint8)
    parts = [
        simultaneous_powers(bases[part], N, 20, lists).product(exponents[part])
        for part in (slice(0, 3), slice(3, 3), slice(3, 10))
    ]
    assert math.prod(parts) % N**2 == simultaneous_powers(bases, N, 20, lists).product(exponents)


@pytest.mark.parametrize("lists", [FEW, MANY])
def test_the_product_of_no_powers_is_1(lists):
    assert simultaneous_powers([], N, 5, lists).product(np.zeros((0, 5), dtype=np.uint8)) == 1
    assert simultaneous_powers([2, 3], N, 5, lists).product(np.zeros((2, 5), dtype=np.uint8)) == 1


@pytest.mark.parametrize(
    "exponents", [np.zeros((2, 4), np.uint8), np.zeros((3, 5), np.uint8), np.zeros((2, 5), np.int8)]
)
@pytest.mark.parametrize("lists", [FEW, MANY])
def test_exponents_of_another_shape_or_type_are_refused(exponents, lists):
    with pytest.raises(ValueError, match=r"must be uint8 of shape \(2, 5\)"):
        simultaneous_powers([2, 3], N, 5, lists).product(exponents)


@pytest.mark.parametrize("lists", [1, 3, 30])
@pytest.mark.parametrize("bases", [8, 64])
def test_no_more_products_are_taken_than_are_stated(bases, lists, monkeypatch):
    """Counts them, by numbers that count; a factor below n is none of these."""
    taken = []

    class Counting(int):
        def __mod__(self, modulus):
            return Counting(int(self) % int(modulus))

        def __mul__(self, other):
            taken.append(1 if isinstance(other, Counting) else 0.6)
            return Counting(int(self) * int(other))

    monkeypatch.setattr("udfs.simultaneous_powers.mpz", Counting)
    n, random = 2**127 - 1, fresh_random()
    powers = simultaneous_powers(range(2, 2 + bases), n, 32, lists)
    for _ in range(lists):
        powers.product(random.integers(0, 256, (bases, 32), dtype=np.uint8))
    assert 0.9 * products(bases, lists, 256) < sum(taken) <= products(bases, lists, 256)


def test_many_bases_take_longer_digits():
    widths = [digit_bits(bases, 2048) for bases in range(1, 2000)]
    assert widths == sorted(widths)
    assert digit_bits(0, 8) == 1


@pytest.mark.parametrize(("bases", "bits"), [(1, 8), (8, 2048), (64, 2040)])
def test_more_lists_never_take_fewer_products_nor_shorter_digits(bases, bits):
    counts = [products(bases, lists, bits) for lists in range(1, 60)]
    assert counts == sorted(counts)
    widths = [interleaved_digit_bits(bases, lists, bits) for lists in range(1, 60)]
    assert widths == sorted(widths)


def test_storing_pays_from_some_number_of_lists_on():
    fewer = [interleaved_products(8, lists, 2048) < stored_products(8, lists, 2048) for lists in range(1, 60)]
    assert fewer == sorted(fewer, reverse=True)
    assert fewer[0]
    assert not fewer[-1]
