"""What is refused."""

from __future__ import annotations

import numpy as np
import pytest
from gmpy2 import mpz

from tests.udfs.keys import fresh_words
from tests.udfs.libraries import BITS, FLAT, SQUARE, Platform, asked, new_secret, some_items
from udfs.draws import fresh_draws
from udfs.errors import ProtocolError
from udfs.paillier_messages import in_bytes, pack, unpack


@pytest.mark.parametrize("size", [FLAT, SQUARE])
def test_a_hint_of_another_library_is_refused(size):
    platform, query = asked(size)
    answers = platform.answer(query.sent)
    platform.hint = Platform(some_items(*size, new_secret())).hint
    with pytest.raises(ProtocolError, match="must belong to version"):
        platform.decode(query.kept, answers)


def test_there_is_no_hint_to_download():
    platform, _ = asked()
    assert platform.hint.rows.shape == (3, 0)
    assert platform.retrieval.cost.hint_bytes == platform.hint.rows.nbytes == 0


def test_answers_to_others_are_refused():
    platform, query = asked()
    answers = platform.answer(query.sent)
    with pytest.raises(ProtocolError, match="answer 0: must be under the worker's own key"):
        platform.decode(query.kept, answers[::-1])
    with pytest.raises(ProtocolError, match="1 for 2"):
        platform.decode(query.kept, answers[:1])
    with pytest.raises(ProtocolError, match="its parts must answer one query"):
        platform.retrieval.combine([answers, answers[::-1]])


@pytest.mark.parametrize("size", [FLAT, SQUARE])
def test_a_ciphertext_of_anything_but_a_chunk_is_refused(size):
    platform, query = asked(size)
    shape = platform.retrieval.shape
    answers = platform.answer(query.sent)
    key = query.kept[1]
    (larger,) = key.encrypt([mpz(256) ** shape.chunk_bytes], fresh_words())
    if shape.columns > 1:
        high, low = divmod(larger, key.n)
        larger, following = key.encrypt([low, high], fresh_words())
    n, ciphertexts = unpack(answers[1], shape.answers, BITS, "here")
    ciphertexts[0] = larger
    if shape.columns > 1:
        ciphertexts[1] = following
    answers[1] = pack(n, ciphertexts, BITS)
    with pytest.raises(ProtocolError, match="answer 1: must hold the chunks of an item"):
        platform.decode(query.kept, answers)


def test_a_digit_pair_that_is_no_ciphertext_is_refused():
    platform, query = asked()
    shape = platform.retrieval.shape
    key = query.kept[0]
    answers = platform.answer(query.sent)
    answers[0] = pack(key.n, key.encrypt([0] * shape.answers, fresh_words()), BITS)
    with pytest.raises(ProtocolError, match="answer 0: must be a ciphertext"):
        platform.decode(query.kept, answers)


def test_other_bytes_behind_an_item_are_refused():
    items = [b"x" * 31] * 2
    platform = Platform(items)
    query = platform.retrieval.query(np.array([1]), fresh_draws(1))
    assert platform.library.shape == (2, 1, 3, 11)
    platform.library[1, 0, 2, 10] = 7
    with pytest.raises(ProtocolError, match="must hold zeros behind an item"):
        platform.decode(query.kept, platform.answer(query.sent))


def spoiled(message, how):
    size = BITS // 8
    message = message.copy()
    if how == "short":
        return message[:, :-1]
    if how == "long":
        return np.concatenate([message, message[:, :1]], axis=1)
    if how == "another type":
        return message.astype(np.int16)
    if how == "even n":
        message[1, 0] &= 254
    elif how == "short n":
        message[1, size - 1] = 1
    elif how == "zero":
        message[1, size : 3 * size] = 0
    elif how == "beyond n^2":
        message[1, size : 3 * size] = 255
    elif how == "no unit":
        n = int.from_bytes(message[1, :size].tobytes(), "little")
        message[1, size : 3 * size] = in_bytes([n], 2 * size)[0]
    return message


@pytest.mark.parametrize(
    ("how", "must"),
    [
        ("short", "must have [0-9]+ bytes"),
        ("long", "must have [0-9]+ bytes"),
        ("another type", "must have [0-9]+ bytes"),
        ("even n", "odd modulus"),
        ("short n", "odd modulus of 128 bits; got 121 bits"),
        ("zero", "must be a ciphertext"),
        ("beyond n\\^2", "must be a ciphertext"),
        ("no unit", "must be a ciphertext"),
    ],
)
def test_spoiled_messages_are_refused_on_both_sides(how, must):
    platform, query = asked()
    answers, how = platform.answer(query.sent), how.replace("\\", "")
    with pytest.raises(ProtocolError, match=f"query [01]: .*{must}"):
        platform.answer(spoiled(query.sent, how))
    with pytest.raises(ProtocolError, match=f"answer [01]: .*{must}"):
        platform.decode(query.kept, spoiled(answers, how))
    with pytest.raises(ProtocolError, match=f"answer [01]: .*{must}"):
        platform.retrieval.combine([answers, spoiled(answers, how)])
