"""What the platform sees."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import gmpy2
import numpy as np
import pytest

from tests.statistics import assert_law
from tests.udfs.libraries import FLAT, SQUARE, Platform, new_secret, selectors_of, some_items
from udfs.draws import Lane, RowDraws, fresh_draws


@pytest.mark.parametrize("size", [FLAT, SQUARE, (1, 5)])
def test_selectors_are_encryptions_of_unit_vectors(size):
    platform = Platform(some_items(*size, new_secret()))
    shape = platform.retrieval.shape
    query = platform.retrieval.query(np.arange(shape.items), fresh_draws(shape.items))
    for place, (key, (n, selectors)) in enumerate(
        zip(query.kept, selectors_of(platform, query.sent), strict=True)
    ):
        assert n == key.n
        expected = np.zeros(shape.selectors, dtype=int)
        expected[place // shape.columns] = 1
        if shape.columns > 1:
            expected[shape.rows + place % shape.columns] = 1
        assert key.decrypt(selectors) == expected.tolist()


def test_no_ciphertext_and_no_key_serves_twice():
    """Over workers, gets and places: all are units modulo n^2 of a key of their own."""
    platform = Platform(some_items(*SQUARE, new_secret()))
    draws = fresh_draws(20)
    gets = [Lane(draws, get, 3) for get in range(3)]
    seen = [
        found
        for lane in gets
        for places in (np.zeros(20, dtype=int), np.full(20, 9))
        for found in selectors_of(platform, platform.retrieval.query(places, lane).sent)
    ]
    assert len({n for n, _ in seen}) == len(seen) == 120
    ciphertexts = [c for _, selectors in seen for c in selectors]
    assert len(set(ciphertexts)) == len(ciphertexts)
    assert all(gmpy2.gcd(c, n) == 1 for n, selectors in seen for c in selectors)


def test_randomizers_are_the_same_for_no_two_selectors():
    """c / (1 + n)^bit is r^n: its remainder modulo n tells r apart whatever the bit is."""
    platform = Platform(some_items(*SQUARE, new_secret()))
    draws = fresh_draws(30)
    remainders = [
        c % n
        for places in (np.zeros(30, dtype=int), np.full(30, 5))
        for n, selectors in selectors_of(platform, platform.retrieval.query(places, draws).sent)
        for c in selectors
    ]
    assert len(set(remainders)) == len(remainders)


@pytest.mark.parametrize("place", [0, 10])
def test_selectors_have_either_jacobi_symbol_alike_whatever_they_hide(place):
    """What a platform can compute of them without the factors of n; without r^n it would always be 1."""
    platform = Platform(some_items(*SQUARE, new_secret()))
    shape = platform.retrieval.shape

    def sample(secret, draws):
        sent = platform.retrieval.query(np.full(draws, place), RowDraws(secret.key("get"), draws)).sent
        symbols = [[gmpy2.jacobi(c, n) == 1 for c in found] for n, found in selectors_of(platform, sent)]
        return np.sum([[*each, all(each[: shape.rows])] for each in symbols], axis=0)

    half = Fraction(1, 2)
    assert_law(sample, [half] * shape.selectors + [half**shape.rows], [1] * (shape.selectors + 1))


def test_queries_are_functions_of_their_words_place_and_library():
    items = some_items(*SQUARE, new_secret())
    platform, secret = Platform(items), new_secret()
    query = partial(platform.retrieval.query, draws=RowDraws(secret.key("get"), 2))
    sent = query(np.array([1, 2])).sent
    np.testing.assert_array_equal(sent, query(np.array([1, 2])).sent)
    other_place = query(np.array([1, 3])).sent
    np.testing.assert_array_equal(sent[0], other_place[0])
    other_library = Platform([*items[1:], items[0]]).retrieval.query(
        np.array([1, 2]), RowDraws(secret.key("get"), 2)
    )
    other_words = platform.retrieval.query(np.array([1, 2]), RowDraws(secret.key("next get"), 2))
    for one, another in (
        (sent[1], other_place[1]),
        (sent[0], other_library.sent[0]),
        (sent[0], other_words.sent[0]),
    ):
        (n, _), (m, _) = selectors_of(platform, [one, another])
        assert gmpy2.gcd(n, m) == 1


def test_what_workers_keep_is_not_printed():
    query = Platform([b"item"] * 5).retrieval.query(np.array([3]), fresh_draws(1))
    assert str(query.kept[0].p) not in repr(query) + repr(query.kept)
