"""Published cases of encrypted sums that came out wrong elsewhere: those that a threshold key must get right."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

from tests.udfs.keys import Dealt, fresh_words, shared_by_hand
from tests.vectors import load
from udfs.errors import ProtocolError
from udfs.threshold import PartialDecryption, combine, partially_decrypt
from udfs.threshold_keys import lagrange_at_zero

CASES = {case["id"]: case for case in load("skills_field_cases")}
DEALT = Dealt(holders=3, threshold=2)
OTHER = Dealt(holders=3, threshold=2)


def _opened(ciphertexts, dealt=DEALT):
    partials = [partially_decrypt(share, ciphertexts, dealt.words) for share in dealt.shares]
    return combine(dealt.key, ciphertexts, partials).plaintexts


def test_k02_counts_beyond_what_floats_tell_apart_are_opened_exactly():
    case = CASES["K02"]
    assert _opened(DEALT.encrypt(*case["input"]["A"]["encrypt"])) == (case["expect"]["A"],)
    summands = DEALT.encrypt(*case["input"]["B"]["sum_of"])
    assert _opened([math.prod(summands) % DEALT.key.n_squared]) == (case["expect"]["B"],)
    assert case["expect"]["A"] != case["must_not"]["A"]


def test_k02_a_number_with_a_hidden_exponent_is_no_ciphertext():
    number = DEALT.public_key.encrypt(0.9)
    assert number.exponent < 0
    with pytest.raises(ProtocolError, match="must be a ciphertext"):
        partially_decrypt(DEALT.shares[0], [number], DEALT.words)


def test_k05_what_holders_of_another_key_give_opens_nothing():
    ciphertexts = DEALT.encrypt(3)
    theirs = [
        c % OTHER.key.n**2 for c in ciphertexts
    ]  # what is in range for them, whichever modulus is larger
    partials = [partially_decrypt(share, theirs, OTHER.words) for share in OTHER.shares]
    with pytest.raises(ProtocolError) as caught:
        combine(DEALT.key, ciphertexts, partials)
    assert caught.value.got.startswith("0 of 2; holder 1 gave one under key " + OTHER.key.key_id[:12])
    renamed = [replace(partial, key_id=DEALT.key.key_id) for partial in partials]
    with pytest.raises(ProtocolError, match="0 of 2; holder 1 gave a"):
        combine(DEALT.key, ciphertexts, renamed)


def test_k05_an_entry_that_is_none_is_named():
    with pytest.raises(ProtocolError, match=r"^ciphertext 2: must be a ciphertext"):
        partially_decrypt(DEALT.shares[0], [*DEALT.encrypt(3), "abc"], DEALT.words)


@pytest.mark.parametrize("name", ["all", "few"])
def test_k06_lagrange_gives_the_published_numbers(name):
    case = CASES["K06"]["input"]
    holders, values = zip(*case[name], strict=True)
    denominator, coefficients = lagrange_at_zero(holders)
    total = sum(x * value for x, value in zip(coefficients, values, strict=True))
    secret = total * pow(denominator, -1, case["modulus"]) % case["modulus"]
    # With too few it is a wrong number, and nothing about it looks wrong: only the threshold in the key tells.
    assert secret == (CASES["K06"]["expect"]["all"] if name == "all" else CASES["K06"]["must_not"]["few"])


def test_k06_too_few_shares_are_refused_and_more_do_no_harm():
    dealt = Dealt(holders=4, threshold=CASES["K06"]["input"]["threshold"])
    ciphertexts = dealt.encrypt(CASES["K06"]["expect"]["all"])
    partials = [partially_decrypt(share, ciphertexts, dealt.words) for share in dealt.shares]
    for number in range(5):
        for some in combinations(partials, number):
            if number >= 3:
                assert combine(dealt.key, ciphertexts, some).plaintexts == (42,)
            else:
                with pytest.raises(ProtocolError, match=f"3 of 4 holders; got {number} of 3"):
                    combine(dealt.key, ciphertexts, some)


@pytest.mark.parametrize("place", range(8))
def test_k08_ciphertexts_out_of_range_are_refused_and_the_last_in_range_opens(place):
    case = CASES["K08"]["input"]["A"]
    p, q, ciphertext = case["p"], case["q"], case["c"][place]
    n, m = p * q, (p - 1) * (q - 1) // 4
    key, shares = shared_by_hand(p, q, [m * pow(m, -1, n), 23], holders=2)
    words = fresh_words()
    if CASES["K08"]["expect"]["A"][place] == "refuse":
        with pytest.raises(ProtocolError, match=r"^ciphertext 1: "):
            partially_decrypt(shares[0], [ciphertext], words)
    else:  # -1 = (-1)^n is an encryption of 0
        partials = [partially_decrypt(share, [ciphertext], words) for share in shares]
        assert combine(key, [ciphertext], partials).plaintexts == (0,)


def _toy():
    """Return the key of the published partial decryptions: its polynomial is found by trying all."""
    case = CASES["K08"]["input"]["C"]
    p, q = case["p"], case["q"]
    n, m = p * q, (p - 1) * (q - 1) // 4
    exponent = 2 * math.factorial(case["holders"])
    secret = m * pow(m, -1, n)
    for slope in range(n * m):
        if pow(case["c"], exponent * (secret + slope), n**2) == case["partials"]["1"]:
            return shared_by_hand(p, q, [secret, slope], case["holders"])
    raise AssertionError("no key gives these partial decryptions")


def test_k08_a_partial_decryption_that_is_one_off_is_named():
    case = CASES["K08"]["input"]["C"]
    key, shares = _toy()
    words = fresh_words()
    ciphertexts = [case["c"]]
    good = [partially_decrypt(share, ciphertexts, words) for share in shares]
    assert good[0].values == (case["partials"]["1"],)
    assert good[1].values == (case["partials"]["2"] - 1,)
    forged = PartialDecryption(key.key_id, 2, (case["partials"]["2"],), good[1].proofs)
    with pytest.raises(ProtocolError, match="1 of 2; holder 2 gave a wrong proof of ciphertext 1"):
        combine(key, ciphertexts, [good[0], forged])
    opened = combine(key, ciphertexts, [good[0], forged, good[2]])
    assert (opened.plaintexts, opened.holders, opened.wrong) == ((10,), (1, 3), (2,))


def test_k08_the_same_numbers_put_together_unproved_give_the_published_nonsense():
    case = CASES["K08"]["input"]["C"]
    n = case["p"] * case["q"]
    delta = math.factorial(case["holders"])
    combined = (
        pow(case["partials"]["1"], 4 * delta, n**2) * pow(case["partials"]["2"], -2 * delta, n**2) % n**2
    )
    assert Fraction(combined - 1, n).denominator == 1
    assert (combined - 1) // n * pow(4 * delta**2, -1, n) % n == CASES["K08"]["must_not"]["C"]
