from __future__ import annotations

import hashlib
import itertools

import gmpy2
import pytest

from udfs.errors import SpecError
from udfs.safe_primes import LEAST_BITS, safe_prime


def stream(seed):
    """Return a source of random bytes that gives the same ones for the same seed."""
    counter = itertools.count()
    return lambda size: hashlib.shake_256(f"{seed}/{next(counter)}".encode()).digest(size)


def is_prime(number):
    return number > 1 and all(number % factor for factor in range(2, int(number**0.5) + 1))


def first_safe_prime(bits, words):
    """Search as `safe_prime` does, one number after the other and without a sieve."""
    while True:
        drawn = int.from_bytes(words((bits + 7) // 8), "big") % (1 << bits - 3)
        start = 3 << bits - 3 | drawn | 1
        for half in range(start, min(start + bits * bits // 4 * 2, 1 << bits - 1), 2):
            if is_prime(half) and is_prime(2 * half + 1):
                return 2 * half + 1


@pytest.mark.parametrize("bits", range(LEAST_BITS, LEAST_BITS + 8))
def test_the_sieve_passes_no_safe_prime_over(bits):
    for seed in range(20):
        assert safe_prime(bits, stream(seed)) == first_safe_prime(bits, stream(seed)), seed


@pytest.mark.parametrize("bits", [64, 255, 512])
def test_a_safe_prime_and_its_half_are_primes_of_that_many_bits(bits):
    p = safe_prime(bits, stream(bits))
    assert isinstance(p, int)
    assert p.bit_length() == bits
    assert gmpy2.is_prime(p)
    assert gmpy2.is_prime(p // 2)


@pytest.mark.parametrize("bits", [LEAST_BITS, 17, 64])
def test_a_product_of_two_has_twice_as_many_bits(bits):
    for seed in range(20):
        p, q = safe_prime(bits, stream(seed)), safe_prime(bits, stream(-seed - 1))
        assert (p * q).bit_length() == 2 * bits, seed


def test_a_safe_prime_is_a_function_of_the_random_bytes():
    assert safe_prime(128, stream("one")) == safe_prime(128, stream("one"))
    assert safe_prime(128, stream("one")) != safe_prime(128, stream("another"))


def test_so_few_bits_that_there_may_be_no_two_are_refused():
    with pytest.raises(SpecError, match="at least 16 bits; got 15"):
        safe_prime(LEAST_BITS - 1, stream(0))
