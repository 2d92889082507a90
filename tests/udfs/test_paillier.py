from __future__ import annotations

import hashlib
import itertools
import math
import pickle

import gmpy2
import numpy as np
import phe
import pytest
from gmpy2 import mpz
from hypothesis import given
from hypothesis import strategies as st

from udfs.errors import ProtocolError, SpecError
from udfs.paillier import Encryptor, check_ciphertext, encryptor, phe_number, randomizer_base
from udfs.safe_primes import safe_prime


def stream(seed):
    """Return a source of random bytes that gives the same ones for the same seed."""
    counter = itertools.count()
    return lambda size: hashlib.shake_256(f"{seed}/{next(counter)}".encode()).digest(size)


P, Q = safe_prime(256, stream("p")), safe_prime(256, stream("q"))
N = P * Q
PUBLIC = phe.PaillierPublicKey(N)
PRIVATE = phe.PaillierPrivateKey(PUBLIC, P, Q)
WORDS = encryptor(N).exponent_words

signed = st.integers(-(N // 2), N // 2)
within_a_third = st.integers(-(N // 3 - 1), N // 3 - 1)
word = st.one_of(st.sampled_from([0, 1, 255, 256, 2**64 - 1]), st.integers(0, 2**64 - 1))
exponent = st.lists(word, min_size=WORDS, max_size=WORDS)


def fresh(rows, words=WORDS):
    return np.random.default_rng().integers(0, 2**64, (rows, words), dtype=np.uint64)


def encrypt(*plaintexts):
    return encryptor(N).encrypt(plaintexts, fresh(len(plaintexts)))


def decrypt(c):
    """Decrypt by phe, to plaintexts up to n/2 in absolute value: its own decoding stops at n/3."""
    raw = PRIVATE.raw_decrypt(int(c))
    return raw - N if raw > N // 2 else raw


@given(signed, exponent)
def test_a_ciphertext_is_what_its_definition_says(plaintext, words):
    a = sum(one << 64 * place for place, one in enumerate(words))
    hs = gmpy2.powmod(randomizer_base(N), N, N**2)
    (c,) = encryptor(N).encrypt([plaintext], np.array([words], dtype=np.uint64))
    assert c == (1 + N * (plaintext % N)) * gmpy2.powmod(hs, a, N**2) % N**2


@given(st.lists(within_a_third, min_size=1, max_size=5))
def test_phe_decrypts_to_the_same_numbers(plaintexts):
    assert [PRIVATE.decrypt(phe_number(PUBLIC, c)) for c in encrypt(*plaintexts)] == plaintexts


@given(st.lists(st.integers(-(N // 20), N // 20), min_size=1, max_size=9))
def test_the_product_decrypts_to_the_sum(plaintexts):
    product = math.prod(encrypt(*plaintexts)) % N**2
    assert PRIVATE.decrypt(phe_number(PUBLIC, product)) == sum(plaintexts)


@pytest.mark.parametrize("plaintext", [N // 2, -(N // 2), N // 2 - 1, 0, -1, 2**53 + 1, mpz(5), np.int64(-7)])
def test_every_whole_number_up_to_half_of_the_modulus_comes_back(plaintext):
    (c,) = encrypt(plaintext)
    assert decrypt(c) == plaintext


def test_counts_above_two_to_the_53_are_exact():
    large = 9007199254740993
    one, two = encrypt(large, large)
    assert PRIVATE.decrypt(phe_number(PUBLIC, one)) == 9007199254740993
    assert PRIVATE.decrypt(phe_number(PUBLIC, one * two % N**2)) == 18014398509481986


def test_keys_of_2048_bits():
    p, q = (int(gmpy2.next_prime(3 << 1022 | int.from_bytes(stream(seed)(100)))) for seed in "pq")
    key, plaintexts = encryptor(p * q), [2**2000 + 1, -(2**2000) - 3, 2**53 + 1]
    assert key.exponent_words == 16
    public = phe.PaillierPublicKey(p * q)
    private = phe.PaillierPrivateKey(public, p, q)
    ciphertexts = key.encrypt(plaintexts, fresh(3, 16))
    assert [private.decrypt(phe_number(public, c)) for c in ciphertexts] == plaintexts
    assert private.decrypt(phe_number(public, math.prod(ciphertexts) % (p * q) ** 2)) == sum(plaintexts)


@pytest.mark.parametrize(("bits", "words"), [(32, 1), (128, 1), (130, 2), (256, 2), (512, 4)])
def test_exponents_have_at_least_half_as_many_bits_as_the_modulus(bits, words):
    n = safe_prime(bits // 2, stream("p")) * safe_prime(bits // 2, stream("q"))
    assert Encryptor(n).exponent_words == words
    assert 64 * words >= bits / 2


def test_the_randomizer_base_is_chosen_by_a_hash_of_the_modulus():
    digest = hashlib.shake_256(N.to_bytes(64, "big")).digest(80)
    assert randomizer_base(N) == -(int.from_bytes(digest, "big") ** 2) % N


def test_the_randomizer_base_generates_all_numbers_of_jacobi_symbol_1():
    h, order = randomizer_base(N), 2 * (P // 2) * (Q // 2)
    assert gmpy2.jacobi(h, N) == 1
    assert gmpy2.powmod(h, order, N) == 1
    assert all(gmpy2.powmod(h, order // factor, N) != 1 for factor in (2, P // 2, Q // 2))


def test_the_same_words_give_the_same_ciphertexts_and_others_give_others():
    words = fresh(2)
    once = encryptor(N).encrypt([3, -4], words)
    assert once == encryptor(N).encrypt([3, -4], words.copy())
    assert once[0] == encryptor(N).encrypt([3], words[:1])[0]
    words[0, -1] ^= np.uint64(1 << 63)
    changed = encryptor(N).encrypt([3, -4], words)
    assert changed[0] != once[0]
    assert changed[1] == once[1]


def test_words_need_not_lie_side_by_side():
    words = fresh(3)
    assert encryptor(N).encrypt([1, 2, 3], np.asfortranarray(words)) == encryptor(N).encrypt([1, 2, 3], words)


def test_nothing_is_encrypted_to_nothing():
    assert encryptor(N).encrypt([], fresh(0)) == []


def test_an_encryptor_is_made_once_and_travels_without_its_table():
    pickled = pickle.dumps(encryptor(N))
    assert len(pickled) < 500
    assert pickle.loads(pickled) is encryptor(N)


@pytest.mark.parametrize("plaintext", [0.9**40, 1.0, "3", [3], N // 2 + 1, -(N // 2) - 1, N, 10**400])
def test_what_would_not_come_back_is_refused_and_not_told(plaintext):
    with pytest.raises(SpecError, match="whole number below half of the modulus") as caught:
        encrypt(plaintext)
    assert str(plaintext) not in str(caught.value)


@pytest.mark.parametrize(
    "exponents",
    [
        fresh(1),
        fresh(2, WORDS - 1),
        fresh(2, WORDS + 1),
        fresh(2).astype(np.int64),
        fresh(2).astype(np.float64),
        fresh(2)[0],
    ],
)
def test_exponents_of_another_shape_or_type_are_refused(exponents):
    with pytest.raises(ValueError, match="must be uint64 of shape"):
        encryptor(N).encrypt([1, 2], exponents)


def test_a_modulus_with_a_small_factor_is_refused():
    met = [n for n in range(9, 2000, 2) if math.gcd(int(randomizer_base(n)), n) > 1]
    assert met
    for n in (2 * P, *met[:5]):
        with pytest.raises(ProtocolError, match="two large primes"):
            Encryptor(n)


@pytest.mark.parametrize("c", [0, 34969, 34980, 11, 17, -1, "abc", None, 3.0, True, b"\x01", mpz(22)])
def test_what_is_no_ciphertext_is_refused_by_its_place(c):
    with pytest.raises(ProtocolError, match=r"row 3 of part-0: must be a ciphertext, a unit modulo n\^2"):
        check_ciphertext(c, 11 * 17, "row 3 of part-0")
    with pytest.raises(ProtocolError):
        phe_number(phe.PaillierPublicKey(11 * 17), c)


@pytest.mark.parametrize("c", [1, 2, 34968, mpz(34968)])
def test_every_unit_in_the_range_is_a_ciphertext(c):
    public = phe.PaillierPublicKey(11 * 17)
    check_ciphertext(c, 11 * 17, "here")
    assert phe.PaillierPrivateKey(public, 11, 17).raw_decrypt(
        phe_number(public, c).ciphertext(False)
    ) in range(187)


def test_phe_adds_to_its_own_numbers():
    (c,) = encrypt(-41)
    assert PRIVATE.decrypt(phe_number(PUBLIC, c) + PUBLIC.encrypt(83)) == 42
    assert phe_number(PUBLIC, c).ciphertext(be_secure=False) == c
