from __future__ import annotations

import math
from collections import Counter
from itertools import product

import gmpy2
import phe
import pytest
from gmpy2 import mpz

from tests.udfs.keys import TOY, fresh_words
from udfs.errors import SpecError
from udfs.worker_keys import WorkerKey, worker_key

BITS = 512


def scripted(*answers):
    """Return a source that gives these numbers, one a call, the highest byte first."""
    numbers = iter(answers)
    return lambda size: next(numbers).to_bytes(size, "big")


def private(key):
    return phe.PaillierPrivateKey(phe.PaillierPublicKey(int(key.n)), int(key.p), int(key.q))


@pytest.mark.parametrize("plaintext", [0, 1, 50])
def test_ciphertexts_have_exactly_the_law_of_their_definition(plaintext):
    p, q = TOY
    key, n = WorkerKey(mpz(p), mpz(q)), p * q
    found = Counter(
        key.encrypt([plaintext], scripted(x, y))[0] for x, y in product(range(p - 1), range(q - 1))
    )
    units = [r for r in range(n) if math.gcd(r, n) == 1]
    assert found == Counter((1 + n) ** plaintext * r**n % n**2 for r in units)


def test_every_plaintext_comes_back():
    p, q = TOY
    key = WorkerKey(mpz(p), mpz(q))
    assert key.decrypt(key.encrypt(range(p * q), fresh_words())) == list(range(p * q))


def test_phe_reads_our_ciphertexts_and_we_read_those_of_phe():
    words = fresh_words()
    key = worker_key(BITS, words)
    plaintexts = [0, 1, 2**53 + 1, int(key.n) - 1]
    assert [private(key).raw_decrypt(int(c)) for c in key.encrypt(plaintexts, words)] == plaintexts
    theirs = [phe.PaillierPublicKey(int(key.n)).raw_encrypt(plaintext) for plaintext in plaintexts]
    assert key.decrypt(theirs) == plaintexts


def test_products_decrypt_to_sums():
    words = fresh_words()
    key = worker_key(BITS, words)
    one, other = key.encrypt([5, key.n - 3], words)
    assert key.decrypt([one * other % key.n**2, gmpy2.powmod(one, 7, key.n**2)]) == [2, 35]


@pytest.mark.parametrize("bits", [64, 80, 512, 1024])
def test_a_key_has_two_primes_and_all_of_its_bits(bits):
    key = worker_key(bits, fresh_words())
    assert key.n.bit_length() == bits
    assert key.p.bit_length() == key.q.bit_length() == bits // 2
    assert gmpy2.is_prime(key.p, 40)
    assert gmpy2.is_prime(key.q, 40)
    assert key.p != key.q
    assert math.gcd(key.n, (key.p - 1) * (key.q - 1)) == 1


def test_the_same_bytes_give_the_same_key_and_others_another():
    drawn = [3 << 250 | 12345, 3 << 250 | 67890]
    key = worker_key(BITS, scripted(*drawn))
    assert key == worker_key(BITS, scripted(*drawn))
    assert key.p == gmpy2.next_prime(3 << 254 | drawn[0])
    assert key.n != worker_key(BITS, scripted(drawn[0], 3 << 250 | 99999)).n


def test_a_prime_that_is_too_long_or_met_before_is_drawn_again():
    above_all = 2**32 - 1
    key = worker_key(64, scripted(above_all, 5, 5, above_all, 5, 1000))
    assert key.p == gmpy2.next_prime(3 << 30 | 5)
    assert key.q == gmpy2.next_prime(3 << 30 | 1000)


@pytest.mark.parametrize("bits", [0, -16, 48, 72, 2047])
def test_lengths_of_no_key_are_refused(bits):
    with pytest.raises(SpecError, match="multiple of 16"):
        worker_key(bits, fresh_words())


def test_a_key_prints_without_its_factors():
    key = worker_key(64, fresh_words())
    assert str(key.p) not in repr(key)
    assert str(key.q) not in repr(key)


def test_the_same_bytes_give_the_same_ciphertexts_and_no_two_are_equal():
    key = worker_key(BITS, fresh_words())
    zeros = key.encrypt([0] * 30, fresh_words())
    assert len(set(zeros)) == 30
    assert key.encrypt([4, 5], scripted(1, 2, 3, 4)) == key.encrypt([4, 5], scripted(1, 2, 3, 4))
