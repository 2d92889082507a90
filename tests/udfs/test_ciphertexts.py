from __future__ import annotations

import copy
import hashlib
import json
import math
import pickle
from functools import reduce
from operator import add

import numpy as np
import phe
import pyarrow as pa
import pytest
from gmpy2 import mpz
from hypothesis import given
from hypothesis import strategies as st

from udfs.ciphertexts import CiphertextSum, ciphertext_type, from_arrow, product, to_arrow
from udfs.errors import ProtocolError
from udfs.paillier import encryptor

P, Q = (1 << 255) - 31, (1 << 255) - 19  # primes: sums need no safe ones
N = P * Q
PRIVATE = phe.PaillierPrivateKey(phe.PaillierPublicKey(N), P, Q)
ANOTHER_N = P * ((1 << 256) - 189)
TOY = 11 * 17
BAD_TOYS = [0, 34969, 34980, 11, 17, -1, "abc", 3.0, None]

number = st.one_of(st.integers(1, N * N - 1), st.integers(0, 2 * 509).map(lambda bits: 1 << bits))
numbers = st.lists(number, max_size=8)
plaintexts = st.lists(st.integers(-(2**60), 2**60), min_size=2, max_size=2)


def encrypt(*plaintexts, n=N):
    key = encryptor(n)
    words = np.random.default_rng().integers(0, 2**64, (len(plaintexts), key.exponent_words), dtype=np.uint64)
    return key.encrypt(plaintexts, words)


def decrypt(c):
    raw = PRIVATE.raw_decrypt(int(c))
    return raw - N if raw > N // 2 else raw


def contribution(plaintexts, key_id="K", n=N):
    return CiphertextSum(key_id, n, tuple(map(int, encrypt(*plaintexts, n=n))), 1)


@given(numbers)
def test_a_column_gives_back_what_it_was_made_of(values):
    array = to_arrow(values, N)
    array.validate(full=True)
    assert array.type == ciphertext_type(N) == pa.binary(128)
    assert from_arrow(array, N, "here") == values


@given(st.lists(number, min_size=1, max_size=8), st.data())
def test_a_slice_of_a_column_gives_its_own_rows(values, data):
    start = data.draw(st.integers(0, len(values)))
    stop = data.draw(st.integers(start, len(values)))
    assert from_arrow(to_arrow(values, N)[start:stop], N, "here") == values[start:stop]


def test_the_highest_byte_comes_first():
    assert to_arrow([256, mpz(34968)], TOY).to_pylist() == [b"\x01\x00", b"\x88\x98"]


def test_a_column_built_by_arrow_is_read():
    assert from_arrow(pa.array([b"\x01\x00", b"\x88\x98"], pa.binary(2)), TOY, "here") == [256, 34968]


def test_a_column_that_is_none_of_ciphertexts_under_the_key_is_refused_by_its_place():
    for array in (pa.array(["abc"]), pa.array([b"abc"], pa.binary(3)), pa.array([b"ab"]), pa.array([3])):
        with pytest.raises(
            ProtocolError, match=r"part-0: must be ciphertexts of type fixed_size_binary\[2\]"
        ):
            from_arrow(array, TOY, "part-0")
    with pytest.raises(ProtocolError, match="part-0: must have no missing ciphertexts; got 1 of 2"):
        product(pa.array([b"\x01\x00", None], pa.binary(2)), TOY, "part-0")


@pytest.mark.parametrize("bad", [0, 34969, 34980, 2**16 - 1])
def test_a_number_beyond_the_range_is_refused_by_its_row(bad):
    array = pa.array([b"\x01\x00", bad.to_bytes(2, "big")], pa.binary(2))
    for read in (from_arrow, product):
        with pytest.raises(ProtocolError, match=r"part-0, row 1: .*beyond the range"):
            read(array, TOY, "part-0")
    with pytest.raises(ProtocolError, match=r"row 1: .*beyond the range"):
        to_arrow([256, bad], TOY)


@given(numbers.filter(lambda values: all(math.gcd(value, N) == 1 for value in values)))
def test_the_product_of_a_column_is_that_of_its_numbers(values):
    right = math.prod(values) % N**2
    assert product(to_arrow(values, N), N) == product(values, N) == product(map(mpz, values), N) == right


@pytest.mark.parametrize("bad", BAD_TOYS)
def test_what_is_no_ciphertext_is_not_multiplied_and_named_by_its_row(bad):
    with pytest.raises(ProtocolError, match="part-0, row 2: must be a ciphertext"):
        product([1, 34968, bad, 5], TOY, "part-0")


@pytest.mark.parametrize("bad", [11, 17, 22])
def test_a_number_that_is_no_unit_is_found_in_a_column(bad):
    with pytest.raises(ProtocolError, match=r"part-0, row 2: .*shares a factor"):
        product(to_arrow([1, 34968, bad, 5], TOY), TOY, "part-0")


@given(st.lists(st.integers(-(2**60), 2**60), max_size=6), st.integers(0, 6))
def test_any_cutting_into_blocks_adds_up_to_the_same(values, cut):
    ciphertexts = encrypt(*values)
    whole = product(ciphertexts, N)
    assert product([product(ciphertexts[:cut], N), product(to_arrow(ciphertexts[cut:], N), N)], N) == whole
    assert decrypt(whole) == sum(values)


@given(st.lists(plaintexts, min_size=1, max_size=5))
def test_a_sum_decrypts_to_the_sum_of_contributions(rows):
    total = reduce(add, map(contribution, rows))
    assert [decrypt(c) for c in total.values] == [sum(column) for column in zip(*rows, strict=True)]
    assert total.contributions == len(rows)
    assert all(type(c) is int for c in total.values)


@given(plaintexts, plaintexts, plaintexts)
def test_sums_add_up_in_any_order_and_none_is_neutral(a, b, c):
    a, b, c = map(contribution, (a, b, c))
    none = CiphertextSum.none("K", N, 2)
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + none == none + a == a
    assert none + none == none


def test_the_sum_of_no_contributions_opens_to_zeros():
    none = CiphertextSum.none("K", N, 3)
    assert [decrypt(c) for c in none.values] == [0, 0, 0]
    assert none.contributions == 0


def test_sums_under_two_keys_are_not_added():
    of_k = contribution([3, 4], "K")
    for of_l in (contribution([3, 4], "L"), contribution([3, 4], "L", ANOTHER_N)):
        with pytest.raises(ProtocolError, match="one key to be added; got keys K and L"):
            of_k + of_l
    with pytest.raises(ProtocolError, match="keys K and K of two moduli"):
        of_k + contribution([3, 4], "K", ANOTHER_N)


def test_contributions_of_two_lengths_are_not_added():
    with pytest.raises(ProtocolError, match="every contribution must have as many; got 2 and 3"):
        contribution([1, 2]) + CiphertextSum.none("K", N, 3)


@pytest.mark.parametrize("other", ["abc", 1, None, (1, 1)])
def test_what_is_no_sum_is_not_added(other):
    with pytest.raises(TypeError):
        contribution([3, 4]) + other


@given(plaintexts)
def test_a_sum_travels(values):
    total = contribution(values)
    assert pickle.loads(pickle.dumps(total)) == total
    assert CiphertextSum.from_json(json.loads(json.dumps(total.to_json()))) == total


def test_a_changed_bit_of_a_stored_ciphertext_is_refused():
    written = contribution([3, 4]).to_json()
    for bit in (0, 17, 500):
        changed = copy.deepcopy(written)
        changed["values"][1] = f"{int(written['values'][1], 16) ^ 1 << bit:x}"
        with pytest.raises(ProtocolError, match=r"round-1\.json: must have the checksum"):
            CiphertextSum.from_json(changed, "round-1.json")


@pytest.mark.parametrize(
    "change", [{"key_id": "L"}, {"n": "bb"}, {"contributions": 2}, {"sha256": "00"}, {"more": 1}]
)
def test_any_other_change_is_refused_as_well(change):
    with pytest.raises(ProtocolError, match="must have the checksum"):
        CiphertextSum.from_json(contribution([3, 4]).to_json() | change)


@pytest.mark.parametrize("bad", [0, 34969, 34980, 11, 17])
def test_a_stored_number_that_is_no_ciphertext_is_refused_with_the_right_checksum(bad):
    written = CiphertextSum("K", TOY, (1, bad), 1).to_json()
    with pytest.raises(ProtocolError, match=r"round-1\.json, row 1: must be a ciphertext"):
        CiphertextSum.from_json(written, "round-1.json")


@pytest.mark.parametrize("values", [(1, 34968), (), (2,)])
def test_what_is_in_the_range_is_read(values):
    total = CiphertextSum("K", TOY, values, 1)
    assert CiphertextSum.from_json(total.to_json()) == total


def with_checksum(value):
    text = f'{{"contributions":1,"key_id":"K","n":"bb","values":[{json.dumps(value)}]}}'
    return json.loads(text) | {"sha256": hashlib.sha256(text.encode()).hexdigest()}


@pytest.mark.parametrize("value", ["-1", "0x1", "1_0", " 1", "F", "", "abcxyz", 1, None])
def test_numbers_that_are_none_are_refused_with_the_right_checksum(value):
    assert CiphertextSum.from_json(with_checksum("abc")) == CiphertextSum("K", TOY, (0xABC,), 1)
    with pytest.raises(ProtocolError, match="here: must have its numbers in hexadecimal"):
        CiphertextSum.from_json(with_checksum(value), "here")


@pytest.mark.parametrize("found", [None, "abc", [], {}, {"key_id": "K"}])
def test_what_is_no_written_sum_is_refused(found):
    with pytest.raises(ProtocolError, match="here: must be a sum of ciphertexts"):
        CiphertextSum.from_json(found, "here")


@pytest.mark.parametrize("field", ["key_id", "n", "values", "contributions"])
def test_a_field_of_another_type_is_refused(field):
    with pytest.raises(ProtocolError, match="must be a sum of ciphertexts"):
        CiphertextSum.from_json(contribution([3, 4]).to_json() | {field: None})
