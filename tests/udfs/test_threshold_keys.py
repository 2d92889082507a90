from __future__ import annotations

import math
import pickle
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.keys import TOY, Dealt, fresh_words, shared_by_hand
from udfs.errors import ProtocolError, SpecError
from udfs.streams import byte_stream
from udfs.threshold import KeyShare, ThresholdKey, deal
from udfs.threshold_keys import deal_with_factors, lagrange_at_zero, product_of_powers, uniform_below

DEALT = Dealt(holders=4, threshold=2)
KEY = DEALT.key
ORDER = KEY.n * (DEALT.p - 1) * (DEALT.q - 1) // 4
TOY_ORDER = 77 * 15


@pytest.mark.parametrize(("holders", "threshold"), [(1, 1), (2, 1), (2, 2), (5, 3), (7, 7), (30, 16)])
def test_a_dealt_key_and_its_shares_pass_their_checks(holders, threshold):
    key, shares = deal(holders, threshold, 128, fresh_words())
    key.check()
    assert [share.holder for share in shares] == list(range(1, holders + 1))
    assert (key.bits, key.holders, key.threshold, len(key.verification)) == (128, holders, threshold, holders)
    for share in shares:
        share.check()


def test_a_key_is_a_function_of_the_random_bytes():
    dealt = [deal(3, 2, 64, byte_stream(bytes([seed]) * 32)) for seed in (0, 0, 1)]
    assert dealt[0] == dealt[1] != dealt[2]
    assert dealt[0][0].key_id == dealt[1][0].key_id != dealt[2][0].key_id


def test_factors_that_come_out_equal_are_drawn_again():
    low, high = bytes(2), b"\x1f\xff"
    drawn = iter([low, low, high])
    words = fresh_words()
    key, _ = deal(1, 1, 32, lambda size: next(drawn, None) or words(size))
    assert math.isqrt(key.n) ** 2 != key.n


@pytest.mark.parametrize(("holders", "threshold"), [(0, 0), (3, 0), (3, 4), (3, -1)])
def test_a_threshold_of_other_holders_is_refused(holders, threshold):
    with pytest.raises(SpecError) as caught:
        deal(holders, threshold, 64, fresh_words())
    assert (caught.value.where, caught.value.got) == ("threshold", f"{threshold} of {holders} holders")


@pytest.mark.parametrize("bits", [-2, 0, 30, 65])
def test_a_length_that_no_two_safe_primes_have_is_refused(bits):
    with pytest.raises(SpecError, match="bits: "):
        deal(3, 2, bits, fresh_words())


@pytest.mark.parametrize(
    ("p", "q", "holders"),
    [
        (11, 17, 2),  # (17 - 1)/2 is no prime
        (11, 21, 2),
        (11, 11, 2),
        (11, 23, 2),  # 11 divides 23 - 1: multiples of it are no secret
        (7, 11, 3),  # 3 divides the order: holder 3's share would tell d modulo 3
    ],
)
def test_factors_that_make_no_key_are_refused(p, q, holders):
    with pytest.raises(SpecError, match="factors: must be distinct safe primes"):
        deal_with_factors(p, q, holders, 2, fresh_words())


def _scripted(*drawn):
    """Return bytes that are written down, and after them those of 2: the root of a generator of squares."""
    numbers = iter(drawn)
    return lambda size: next(numbers, 2).to_bytes(size, "big")


def test_a_single_share_of_two_is_uniform_whatever_the_secret():
    # Every coefficient once: each holder's share is every number modulo n m once.
    seen: dict[int, Counter[int]] = {1: Counter(), 2: Counter()}
    for coefficient in range(TOY_ORDER):
        for share in deal_with_factors(*TOY, 2, 2, _scripted(coefficient))[1]:
            seen[share.holder][share.secret] += 1
    assert seen[1] == seen[2] == Counter(range(1, TOY_ORDER + 1))


def test_v_generates_all_squares():
    key, _ = deal_with_factors(*TOY, 2, 2, fresh_words())
    squares = {root**2 % 77**2 for root in range(77**2) if math.gcd(root, 77) == 1}
    assert {pow(key.v, exponent, 77**2) for exponent in range(TOY_ORDER)} == squares
    assert len(squares) == TOY_ORDER


@pytest.mark.parametrize(
    "root", [1, pow(2, 3, 77**2), pow(2, 5, 77**2), pow(2, 7, 77**2), pow(2, 11, 77**2), 7, 22]
)
def test_the_square_of_a_number_that_does_not_generate_all_squares_is_passed_over(root):
    assert deal_with_factors(*TOY, 2, 2, _scripted(0, root))[0].v == 4
    assert deal_with_factors(*TOY, 2, 2, _scripted(0, 2 * 13))[0].v == 26**2


def _verification(key, change):
    return replace(key, verification=tuple(change(list(key.verification))))


BROKEN_KEYS = {
    "a lower threshold": replace(KEY, threshold=1),
    "a threshold above the holders": replace(KEY, threshold=5),
    "no threshold": replace(KEY, threshold=0),
    "more holders": replace(KEY, holders=5),
    "fewer holders": replace(KEY, holders=3),
    "an even n": replace(KEY, n=KEY.n + 1),
    "a small factor": replace(KEY, n=3 * KEY.n),
    "another n": replace(KEY, n=KEY.n + 2 * math.factorial(4)),
    "n = 0": replace(KEY, n=0),
    "a negative n": replace(KEY, n=-KEY.n),
    "n = 1": replace(KEY, n=1),
    "v = 0": replace(KEY, v=0),
    "v beyond n^2": replace(KEY, v=KEY.n_squared + 4),
    "v with a factor of n": replace(KEY, v=DEALT.p),
    "a zero": _verification(KEY, lambda ones: [0, *ones[1:]]),
    "a changed one": _verification(KEY, lambda ones: [*ones[:3], ones[3] * 4 % KEY.n_squared]),
    "two swapped": _verification(KEY, lambda ones: [ones[1], ones[0], *ones[2:]]),
    "all one": _verification(KEY, lambda ones: [1] * 4),
    "a factor of n that is a holder's number": shared_by_hand(*TOY, [540, 100], holders=7)[0],
    "a sharing of another secret": shared_by_hand(*TOY, [541, 100], holders=2)[0],
}


@pytest.mark.parametrize("name", BROKEN_KEYS)
def test_numbers_that_make_no_key_are_refused(name):
    with pytest.raises(ProtocolError, match=r"^public key: "):
        BROKEN_KEYS[name].check()


def test_every_number_of_a_key_is_in_its_id():
    others = [
        replace(KEY, n=KEY.n + 2),
        replace(KEY, holders=5),
        replace(KEY, threshold=3),
        replace(KEY, v=KEY.v + 1),
        _verification(KEY, lambda ones: [*ones[:3], ones[3] + 1]),
        _verification(KEY, lambda ones: ones[:3]),
        _verification(KEY, lambda ones: [ones[1], ones[0], *ones[2:]]),
    ]
    ids = {key.key_id for key in (KEY, *others)}
    assert len(ids) == 1 + len(others)
    assert all(len(key_id) == 64 and int(key_id, 16) for key_id in ids)
    assert ThresholdKey(KEY.n, 4, 2, KEY.v, KEY.verification).key_id == KEY.key_id


@pytest.mark.parametrize(
    ("holder", "secret"),
    [
        (2, DEALT.shares[0].secret),
        (1, DEALT.shares[0].secret + 1),
        (1, 0),
        (1, -1),
        (0, 5),
        (5, 5),
        (1, KEY.n_squared),
        (1, DEALT.shares[0].secret + 5 * ORDER),  # the same power, but longer than its mask provides for
    ],
)
def test_a_share_that_is_not_its_holders_is_refused(holder, secret):
    with pytest.raises(ProtocolError, match="must fit its verification key") as caught:
        KeyShare(KEY, holder, secret).check()
    assert secret < 10 or str(secret) not in str(caught.value)


def test_a_share_prints_without_its_secret_and_does_not_travel():
    share = DEALT.shares[0]
    assert str(share.secret) not in repr(share)
    assert f"{share.secret:x}" not in repr(share)
    with pytest.raises(TypeError, match="does not travel"):
        pickle.dumps(share)
    assert pickle.loads(pickle.dumps(KEY)) == KEY


@given(st.sets(st.integers(1, 100), min_size=1, max_size=12).map(sorted), st.data())
def test_lagranges_coefficients_give_any_polynomial_at_zero(holders, data):
    polynomial = data.draw(st.lists(st.integers(), min_size=len(holders), max_size=len(holders)))
    denominator, coefficients = lagrange_at_zero(holders)
    values = [sum(a * i**k for k, a in enumerate(polynomial)) for i in holders]
    assert (
        sum(x * value for x, value in zip(coefficients, values, strict=True)) == denominator * polynomial[0]
    )
    assert math.gcd(denominator, *coefficients) == 1
    assert math.factorial(100) % denominator == 0


def test_the_common_denominator_is_far_shorter_than_the_factorial_of_the_holders():
    denominator, coefficients = lagrange_at_zero(range(2, 101, 2))
    assert (
        max(abs(x).bit_length() for x in (denominator, *coefficients)) * 5 < math.factorial(100).bit_length()
    )


@given(st.lists(st.tuples(st.integers(1, 76), st.integers(-(2**40), 2**40)), max_size=5))
def test_a_product_of_powers_is_one(pairs):
    units = [(base, exponent) for base, exponent in pairs if math.gcd(base, 77) == 1]
    expected = math.prod(pow(base, exponent, 77**2) for base, exponent in units) % 77**2
    assert product_of_powers(*zip(*units, strict=True), 77**2) == expected if units else True


@pytest.mark.parametrize("bound", [1, 2, 3, 6, 97, 128, 129, 255, 256])
def test_every_number_below_a_bound_comes_of_as_many_bytes(bound):
    counts: Counter[int] = Counter()
    for byte in range(256):
        drawn = iter([bytes([byte])])
        try:
            counts[uniform_below(bound, lambda size, drawn=drawn: next(drawn)[:size])] += 1
        except StopIteration:  # it was passed over
            continue
    assert sorted(counts) == list(range(bound))
    assert len(set(counts.values())) == 1
    assert 2 * counts.total() > 256
