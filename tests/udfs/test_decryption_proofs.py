from __future__ import annotations

from dataclasses import fields, replace

import pytest
from gmpy2 import mpz

from tests.udfs.keys import Dealt
from udfs.decryption_proofs import CHALLENGE_BITS, Statement, prove, proves

DEALT = Dealt(holders=2, threshold=2)
KEY = DEALT.key
EXPONENT = KEY.delta * DEALT.shares[0].secret
CIPHERTEXT, FOREIGN = DEALT.encrypt(5, 6)
STATEMENT = Statement(
    key_id=KEY.key_id,
    modulus=KEY.n_squared,
    base=KEY.v,
    verification=KEY.verification[0],
    holder=1,
    exponent_bits=KEY.n_squared.bit_length() + KEY.delta.bit_length(),
    ciphertext=CIPHERTEXT,
    partial=int(pow(mpz(CIPHERTEXT), 2 * EXPONENT, KEY.n_squared)),
)
OTHERS = {
    "key_id": "0" * 64,
    "base": FOREIGN,
    "verification": KEY.verification[1],
    "holder": 2,
    "ciphertext": FOREIGN,
    "partial": FOREIGN,
}


def test_a_proof_of_the_share_is_right():
    proof = prove(STATEMENT, EXPONENT, DEALT.words)
    assert proves(proof, STATEMENT)
    assert proof[0].bit_length() > CHALLENGE_BITS - 64


@pytest.mark.parametrize("name", OTHERS)
def test_a_proof_is_of_its_statement_alone(name):
    proof = prove(STATEMENT, EXPONENT, DEALT.words)
    assert not proves(proof, replace(STATEMENT, **{name: OTHERS[name]}))


def test_the_challenge_hashes_all_that_is_said_and_sent():
    challenges = {STATEMENT.challenge(3, 4), STATEMENT.challenge(4, 3), STATEMENT.challenge(3, 5)}
    challenges |= {replace(STATEMENT, **{name: other}).challenge(3, 4) for name, other in OTHERS.items()}
    assert len(challenges) == 3 + len(OTHERS)
    lengths = {field.name for field in fields(Statement)} - set(OTHERS)
    assert lengths == {"modulus", "exponent_bits"}  # the key id stands for both


def test_numbers_that_read_the_same_one_after_another_are_hashed_apart():
    assert STATEMENT.challenge(1, 0x0203) != STATEMENT.challenge(0x0102, 3)


def test_a_wrong_exponent_cannot_be_proved():
    assert not proves(prove(STATEMENT, EXPONENT + 1, DEALT.words), STATEMENT)


def test_an_answer_that_is_simulated_for_a_challenge_of_ones_own_is_refused():
    # For any (e, z) there are a and b that fit; but then they hash to another e.
    for e in range(20):
        assert not proves((e, 1 << STATEMENT.mask_bits - 1), STATEMENT)


def test_the_mask_depends_on_the_fresh_bytes_the_share_and_the_statement():
    def mask(statement, exponent, byte):
        e, z = prove(statement, exponent, lambda size: bytes([byte]) * size)
        return z - e * exponent

    masks = {
        mask(STATEMENT, EXPONENT, 0),
        mask(STATEMENT, EXPONENT, 1),
        mask(STATEMENT, EXPONENT + 1, 0),
        mask(replace(STATEMENT, ciphertext=FOREIGN), EXPONENT, 0),
    }
    assert len(masks) == 4
    assert mask(STATEMENT, EXPONENT, 0) in masks
    assert all(0 <= one < 1 << STATEMENT.exponent_bits + 512 for one in masks)


def test_32_fresh_bytes_are_read_for_each_proof():
    sizes = []
    prove(STATEMENT, EXPONENT, lambda size: sizes.append(size) or bytes(size))
    assert sizes == [32]
