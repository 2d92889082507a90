from __future__ import annotations

import math

import gmpy2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.libraries import BITS, FLAT, SQUARE, Platform, new_secret, some_items
from udfs.draws import RowDraws, fresh_draws
from udfs.errors import SchemaError, SpecError
from udfs.paillier_messages import pack, unpack
from udfs.paillier_shape import PaillierShape
from udfs.simultaneous_powers import InterleavedPowers, StoredPowers
from udfs.streams import SECRET_BYTES, Secret


@given(st.integers(1, 30), st.integers(1, 80), st.binary(min_size=SECRET_BYTES, max_size=SECRET_BYTES))
def test_every_worker_gets_its_item(items, item_bytes, secret_bytes):
    secret = Secret(secret_bytes)
    found = some_items(items, item_bytes, secret)
    place = secret.key("place")[0] % items
    assert Platform(found).get([place, items - 1], RowDraws(secret.key("get"), 2)) == [
        found[place],
        found[-1],
    ]


@pytest.mark.parametrize(
    "size", [FLAT, SQUARE, (1, 1), (1, 100), (2, 1), (4, 1), (5, 15), (7, 16), (16, 1), (17, 3)]
)
def test_every_place_is_served(size):
    secret = new_secret()
    items = some_items(*size, secret)
    assert Platform(items).get(range(len(items)), RowDraws(secret.key("get"), len(items))) == items


def test_keys_of_2048_bits():
    secret = new_secret()
    for size in ((5, 255), (2, 600)):
        items = some_items(*size, secret)
        assert Platform(items, 2048).get([1], RowDraws(secret.key(str(size)), 1)) == [items[1]]


@pytest.mark.parametrize(
    "item", [bytes(33), b"a" + bytes(32), bytes(32) + b"z", b"\xff" * 33, bytes(15) + b"b" * 18]
)
def test_zeros_at_either_end_come_back(item):
    for items in ([item], [item, b"\xff" * 33], [b"\xff" * 33] * 8 + [item]):
        assert Platform(items).get([items.index(item)], fresh_draws(1)) == [item]


def test_an_index_outside_is_refused_before_anything_is_drawn():
    """Case P01 of the field."""

    class Untouched:
        def __len__(self):
            return 1

        def words(self, index):
            raise AssertionError("drawn")

    items = [b"a0", b"a1", b"a2", b"a3", b"a4"]
    platform = Platform(items)
    assert platform.get([0, 4], fresh_draws(2)) == [b"a0", b"a4"]
    for place in (-1, 5, 6, 2.0, True, None, "2", 2**63):
        with pytest.raises(SpecError, match="places must be integers from 0 to 4"):
            platform.retrieval.query(np.array([place]), Untouched())


def test_an_index_outside_is_refused_for_the_other_workers_too_and_not_told():
    with pytest.raises(SpecError, match="1 of 3 outside") as caught:
        Platform([b"item"] * 77).retrieval.query(np.array([1, 7654, 2]), fresh_draws(3))
    assert "7654" not in str(caught.value)


def test_there_must_be_draws_for_each_worker():
    with pytest.raises(SpecError, match="3 workers, 2 draws"):
        Platform([b"item"] * 7).retrieval.query(np.array([1, 2, 3]), fresh_draws(2))


def test_libraries_that_are_none_are_refused():
    retrieval = Platform([b"one", b"two"]).retrieval
    for items in ([b"one"], [b"one", b"two", b"six"], [b"one", b"three"], [b"one", b""], []):
        with pytest.raises(SchemaError, match="must have 2 items of 3 bytes each"):
            retrieval.library(items)
    for items, item_bytes in ((0, 5), (5, 0)):
        with pytest.raises(SpecError, match="at least one item"):
            PaillierShape(items, item_bytes)
    with pytest.raises(SpecError, match="multiple of 16"):
        PaillierShape(5, 5, bits=1000)


def naive(retrieval, library, message):
    """Answer as the paper's formula says, power by power."""
    shape = retrieval.shape
    n, selectors = unpack(message, shape.selectors, shape.bits, "here")
    square, rows, columns = n**2, selectors[: shape.rows], selectors[shape.rows :]
    chunks = [[[int.from_bytes(bytes(c), "little") for c in item] for item in row] for row in library]
    answers = []
    for j in range(shape.chunks):
        if not columns:
            exponents = [[row[0][j] for row in chunks]]
        else:
            inner = [
                math.prod(gmpy2.powmod(c, item[j], square) for c, item in zip(columns, row, strict=True))
                % square
                for row in chunks
            ]
            exponents = [[a % n for a in inner], [a // n for a in inner]]
        answers += [
            math.prod(gmpy2.powmod(c, x, square) for c, x in zip(rows, each, strict=True)) % square
            for each in exponents
        ]
    return pack(n, answers, shape.bits)


@pytest.mark.parametrize("size", [FLAT, SQUARE])
def test_answers_are_what_the_formula_says(size):
    secret = new_secret()
    platform = Platform(some_items(*size, secret))
    sent = platform.retrieval.query(np.array([2, 1]), RowDraws(secret.key("get"), 2)).sent
    expected = [naive(platform.retrieval, platform.library, message) for message in sent]
    np.testing.assert_array_equal(platform.answer(sent), expected)


@pytest.mark.parametrize("size", [(9, 70), (60, 33)])
def test_any_cut_into_blocks_gives_the_same_bytes(size):
    secret = new_secret()
    platform = Platform(some_items(*size, secret))
    combine = platform.retrieval.combine
    sent = platform.retrieval.query(np.array([0, 8]), RowDraws(secret.key("get"), 2)).sent
    whole = platform.answer(sent)
    rows = len(platform.library)
    for cuts in ([1], [rows - 1], [0, 3, 3], range(1, rows), [rows]):
        np.testing.assert_array_equal(platform.answer(sent, cuts), whole)
    a, b, c = (platform.retrieval.answer(platform.library[i : i + 1], i, sent) for i in range(3))
    np.testing.assert_array_equal(combine([combine([a, b]), c]), combine([a, combine([b, c])]))
    np.testing.assert_array_equal(combine([c, a, b]), combine([a, b, c]))
    np.testing.assert_array_equal(combine([a]), a)


@pytest.mark.parametrize("size", [FLAT, SQUARE])
def test_every_item_is_touched_whatever_is_asked(size):
    """Each byte of each item changes the answer; the decoded item changes where it is the one asked for."""
    secret = new_secret()
    items = some_items(*size, secret)
    platform = Platform(items)
    query = platform.retrieval.query(np.arange(len(items)), RowDraws(secret.key("get"), len(items)))
    before = platform.answer(query.sent)
    for changed, item in enumerate(items):
        altered = [*items]
        altered[changed] = bytes([item[0] ^ 1]) + item[1:-1] + bytes([item[-1] ^ 128])
        platform.library = platform.retrieval.library(altered)
        answers = platform.answer(query.sent)
        ciphertext = BITS // 4
        parts = np.split(
            before[:, BITS // 8 :] != answers[:, BITS // 8 :], answers.shape[1] // ciphertext, axis=1
        )
        assert len(parts) == platform.retrieval.shape.answers
        assert all(parts[j].any(axis=1).all() for j in (0, -1))
        assert platform.decode(query.kept, answers) == altered


@pytest.mark.parametrize("size", [FLAT, SQUARE])
def test_the_same_powers_are_taken_whatever_is_asked(size, monkeypatch):
    platform = Platform(some_items(*size, new_secret()))
    taken = []
    for powers in (InterleavedPowers, StoredPowers):
        monkeypatch.setattr(
            powers,
            "product",
            lambda self, exponents, product=powers.product: (
                taken.append(exponents.shape) or product(self, exponents)
            ),
        )
    shapes = []
    for place in range(size[0]):
        taken.clear()
        platform.answer(platform.retrieval.query(np.array([place]), fresh_draws(1)).sent)
        shapes.append([*taken])
    assert shapes == [shapes[0]] * size[0]
