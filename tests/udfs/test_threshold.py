from __future__ import annotations

import os
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.udfs.keys import LONG, TOY, Dealt, fresh_words, shared_by_hand
from udfs.errors import ProtocolError
from udfs.threshold import (
    Opened,
    PartialDecryption,
    combine,
    partially_decrypt,
    put_together,
    verify,
)

DEALT = Dealt(holders=4, threshold=2)
KEY = DEALT.key
OTHER = Dealt(holders=4, threshold=2)
LARGEST = KEY.n // 16
"""So that four of them are below n/3, as far as phe decodes."""
PLAINTEXTS = (5, -(2**53) - 1)
CIPHERTEXTS = DEALT.encrypt(*PLAINTEXTS)
PARTIALS = [partially_decrypt(share, CIPHERTEXTS, DEALT.words) for share in DEALT.shares]


@pytest.mark.parametrize(("holders", "threshold"), [(1, 1), (3, 2), (4, 3), (3, 3), (3, 1)])
def test_any_t_of_n_holders_open_the_same_and_t_minus_1_open_nothing(holders, threshold):
    dealt = Dealt(holders, threshold)
    plaintexts = (0, 1, -1, 2**53 + 1, -(2**53) - 1, dealt.key.n // 2, -(dealt.key.n // 2))
    ciphertexts = dealt.encrypt(*plaintexts)
    partials = [partially_decrypt(share, ciphertexts, dealt.words) for share in dealt.shares]
    for some in combinations(reversed(partials), threshold):
        opened = combine(dealt.key, ciphertexts, some)
        assert opened == Opened(plaintexts, tuple(partial.holder for partial in some), ())
    for few in combinations(partials, threshold - 1):
        with pytest.raises(ProtocolError) as caught:
            combine(dealt.key, ciphertexts, few)
        assert caught.value.got == f"{threshold - 1} of {threshold}"
    assert combine(dealt.key, ciphertexts, partials).plaintexts == plaintexts


@given(
    st.lists(st.integers(-LARGEST, LARGEST), min_size=1, max_size=4),
    st.sets(st.integers(0, 3), min_size=2),
)
@example([LARGEST] * 4, {0, 3})
@example([-LARGEST] * 4, {1, 2})
def test_holders_open_a_sum_as_phe_does_with_the_factors(summands, holders):
    total = DEALT.public_key.encrypt(summands[0])
    for summand in summands[1:]:
        total += DEALT.public_key.encrypt(summand)
    aggregate = [total.ciphertext(be_secure=False)]
    partials = [partially_decrypt(DEALT.shares[holder], aggregate, os.urandom) for holder in holders]
    assert (
        combine(KEY, aggregate, partials).plaintexts
        == (DEALT.private_key.decrypt(total),)
        == (sum(summands),)
    )


def test_a_key_of_2048_bits_opens_what_a_shorter_one_does():
    dealt = Dealt(holders=3, threshold=2, factors=LONG)
    ciphertexts = dealt.encrypt(*PLAINTEXTS)
    partials = [partially_decrypt(share, ciphertexts, dealt.words) for share in dealt.shares[1:]]
    assert dealt.key.bits == 2048
    assert combine(dealt.key, ciphertexts, partials).plaintexts == PLAINTEXTS


def test_a_hundred_holders_open_what_fewer_do():
    dealt = Dealt(holders=100, threshold=51)
    ciphertexts = dealt.encrypt(*PLAINTEXTS)
    partials = [partially_decrypt(share, ciphertexts, dealt.words) for share in dealt.shares[-51:]]
    assert combine(dealt.key, ciphertexts, partials).plaintexts == PLAINTEXTS


def test_no_ciphertexts_give_no_plaintexts():
    partials = [partially_decrypt(share, [], DEALT.words) for share in DEALT.shares]
    assert combine(KEY, [], partials) == Opened((), (1, 2), ())


def test_values_are_a_function_of_the_share_and_proofs_are_not():
    again = partially_decrypt(DEALT.shares[1], CIPHERTEXTS, DEALT.words)
    assert again.values == PARTIALS[1].values
    assert not set(again.proofs) & set(PARTIALS[1].proofs)
    verify(KEY, CIPHERTEXTS, again)


def test_the_same_bytes_twice_do_not_put_one_mask_behind_two_challenges():
    (e, z), (other_e, other_z) = partially_decrypt(DEALT.shares[0], CIPHERTEXTS, bytes).proofs
    assert (z - other_z) % (e - other_e) != 0  # else the quotient is Delta s_i


@pytest.mark.parametrize("holders", [1, 3, 100])
def test_masks_are_512_bits_longer_than_any_exponent_whatever_the_threshold(holders):
    dealt = Dealt(holders, threshold=1)
    partial = partially_decrypt(dealt.shares[0], dealt.encrypt(*PLAINTEXTS[:1] * 20), dealt.words)
    exponent_bits = dealt.key.n_squared.bit_length() + dealt.key.delta.bit_length()
    # By chance all 20 are this much shorter once in 2^(20 * 32).
    assert max(z for _, z in partial.proofs).bit_length() > exponent_bits + 512 - 32


def _with_value(place, value):
    return lambda good: replace(
        good, values=(*good.values[:place], value(good.values[place]), *good.values[place + 1 :])
    )


def _with_proof(change):
    return lambda good: replace(good, proofs=(good.proofs[0], change(*good.proofs[1])))


FORGERIES = {
    "another plaintext": _with_value(0, lambda value: value * (1 + KEY.n) % KEY.n_squared),
    "another value in the range": _with_value(1, lambda value: value + 1),
    "the negative value": _with_value(1, lambda value: KEY.n_squared - value),
    "zero": _with_value(0, lambda value: 0),
    "n^2": _with_value(0, lambda value: KEY.n_squared),
    "a multiple of p": _with_value(1, lambda value: DEALT.p * 3),
    "a value above n^2": _with_value(1, lambda value: value + KEY.n_squared),
    "a negative number": _with_value(1, lambda value: value - KEY.n_squared),
    "another holder's values": lambda good: replace(good, values=PARTIALS[2].values),
    "another holder's all": lambda good: replace(PARTIALS[2], holder=2),
    "values in another order": lambda good: replace(good, values=good.values[::-1]),
    "values and proofs in another order": lambda good: replace(
        good, values=good.values[::-1], proofs=good.proofs[::-1]
    ),
    "proofs in another order": lambda good: replace(good, proofs=good.proofs[::-1]),
    "another challenge": _with_proof(lambda e, z: (e + 1, z)),
    "another answer": _with_proof(lambda e, z: (e, z + 1)),
    "no answer": _with_proof(lambda e, z: (0, 0)),
    "an answer plus the group's order": _with_proof(
        lambda e, z: (e, z + (DEALT.p - 1) * (DEALT.q - 1) * KEY.n << 2048)
    ),
    "a negative answer": _with_proof(lambda e, z: (e, z - ((DEALT.p - 1) * (DEALT.q - 1) * KEY.n << 1024))),
    "a longer challenge": _with_proof(lambda e, z: (e + (1 << 256), z)),
    "a value too few": lambda good: replace(good, values=good.values[1:]),
    "a proof too few": lambda good: replace(good, proofs=good.proofs[1:]),
    "a value too many": lambda good: PartialDecryption(
        good.key_id, 2, (*good.values, good.values[0]), (*good.proofs, good.proofs[0])
    ),
    "another key's name": lambda good: replace(good, key_id=OTHER.key.key_id),
    "another key's partial decryption": lambda good: partially_decrypt(
        OTHER.shares[1], OTHER.encrypt(*PLAINTEXTS), DEALT.words
    ),
    "another sum's partial decryption": lambda good: partially_decrypt(
        DEALT.shares[1], [c * c % KEY.n_squared for c in CIPHERTEXTS], DEALT.words
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_named_and_the_rest_suffice(name):
    forged = FORGERIES[name](PARTIALS[1])
    with pytest.raises(ProtocolError) as caught:
        verify(KEY, CIPHERTEXTS, forged)
    assert caught.value.where == "holder 2"
    opened = combine(KEY, CIPHERTEXTS, [PARTIALS[0], forged, *PARTIALS[2:]])
    assert opened == Opened(PLAINTEXTS, (1, 3), (2,))
    with pytest.raises(ProtocolError, match="1 of 2; holder 2 gave") as caught:
        combine(KEY, CIPHERTEXTS, [PARTIALS[0], forged])
    assert str(forged.values[0]) not in str(caught.value)


@pytest.mark.parametrize("holder", [0, -1, 5])
def test_a_holder_that_is_none_is_refused(holder):
    with pytest.raises(ProtocolError, match="must be one of 4 holders"):
        verify(KEY, CIPHERTEXTS, replace(PARTIALS[1], holder=holder))


def test_a_proof_by_the_provers_own_verification_key_is_refused():
    exponent = KEY.delta * 12345
    own_key = replace(KEY, verification=(pow(KEY.v, exponent, KEY.n_squared),) * 4)
    own_share = replace(DEALT.shares[1], key=own_key, secret=12345)
    forged = partially_decrypt(own_share, CIPHERTEXTS, DEALT.words)
    verify(own_key, CIPHERTEXTS, forged)  # it would do where the prover's key is believed
    with pytest.raises(
        ProtocolError, match=r"^holder 2: must prove what it gives; got a wrong proof of ciphertext 1"
    ):
        verify(KEY, CIPHERTEXTS, replace(forged, key_id=KEY.key_id))


def test_a_proof_of_the_right_statement_by_another_exponent_is_refused():
    forged = partially_decrypt(replace(DEALT.shares[1], secret=12345), CIPHERTEXTS, DEALT.words)
    with pytest.raises(ProtocolError, match="wrong proof of ciphertext 1"):
        verify(KEY, CIPHERTEXTS, forged)


def test_one_holder_twice_is_refused():
    with pytest.raises(ProtocolError, match="distinct holders; got holders 1, 1, 2"):
        combine(KEY, CIPHERTEXTS, [PARTIALS[0], PARTIALS[1], PARTIALS[0]])


NO_CIPHERTEXTS = [0, KEY.n_squared, KEY.n_squared + 7, -1, KEY.n, DEALT.p, 3 * DEALT.q, "12", 3.0, True, None]


@pytest.mark.parametrize("ciphertext", NO_CIPHERTEXTS, ids=str)
def test_a_number_that_is_no_ciphertext_is_never_raised_to_a_share(ciphertext):
    ciphertexts = [CIPHERTEXTS[0], ciphertext]
    for refuse in (
        lambda: partially_decrypt(DEALT.shares[0], ciphertexts, DEALT.words),
        lambda: verify(KEY, ciphertexts, PARTIALS[0]),
        lambda: combine(KEY, ciphertexts, PARTIALS),
    ):
        with pytest.raises(ProtocolError) as caught:
            refuse()
        assert caught.value.where == "ciphertext 2"


def test_shares_of_no_decryption_exponent_open_nothing():
    key, shares = shared_by_hand(
        *TOY, [541, 100], holders=2
    )  # f(0) = 541 is neither 0 modulo 15 nor 1 modulo 77
    ciphertexts = [key.public_key.raw_encrypt(5, r_value=2)]
    partials = [partially_decrypt(share, ciphertexts, fresh_words()) for share in shares]
    with pytest.raises(ProtocolError, match="must give plaintexts"):
        combine(key, ciphertexts, partials)


def test_a_partial_decryption_is_the_same_after_json():
    for partial in PARTIALS:
        assert PartialDecryption.from_json(partial.to_json()) == partial


GOOD = PARTIALS[0].to_json()
NO_PARTIALS = {
    "nothing": None,
    "a list": [GOOD],
    "no holder": {name: value for name, value in GOOD.items() if name != "holder"},
    "a truth value for a holder": GOOD | {"holder": True},
    "a text for a holder": GOOD | {"holder": "1"},
    "a short key id": GOOD | {"key_id": "abc"},
    "a number for a value": GOOD | {"values": [5, 6]},
    "no hexadecimal digits": GOOD | {"values": ["0x5", "6"]},
    "underscores": GOOD | {"values": ["5_5", "6"]},
    "a negative number": GOOD | {"values": ["-5", "6"]},
    "an empty text": GOOD | {"values": ["", "6"]},
    "a proof of three": GOOD | {"proofs": [["1", "2", "3"], ["1", "2"]]},
    "a proof that is no list": GOOD | {"proofs": ["12", "34"]},
    "a number in a proof": GOOD | {"proofs": [[1, 2], [3, 4]]},
}


@pytest.mark.parametrize("name", NO_PARTIALS)
def test_json_of_anything_else_is_no_partial_decryption(name):
    with pytest.raises(ProtocolError, match=r"^holder-2\.json: "):
        PartialDecryption.from_json(NO_PARTIALS[name], "holder-2.json")


def test_parts_that_were_verified_are_put_together_to_what_all_that_verify_first_open() -> None:
    parts = PARTIALS[: KEY.threshold]
    assert put_together(KEY, parts) == combine(KEY, CIPHERTEXTS, parts)
