from __future__ import annotations

import copy
import hashlib
import hmac
import pickle
import struct

import cloudpickle
import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given
from hypothesis import strategies as st

from tests.statistics import UnlikelyError, assert_law
from tests.udfs.scripted import ScriptedDraws
from tests.vectors import load
from udfs.draws import IdDraws, Lane, RowDraws, fresh_draws
from udfs.exact import WORD
from udfs.streams import BlockCipher, Secret, block_key, byte_stream

KEY = bytes(range(32))
ANSWERS = np.array([2, 0, 1, 2, 5], dtype=np.uint8)
SECRET = Secret(KEY)

id_rows = st.lists(
    st.tuples(*[st.integers(0, WORD - 1)] * 2, st.integers(0, 2**32 - 1)), min_size=1, max_size=20
)


def by_name(name):
    return [pytest.param(vector, id=vector.get("name")) for vector in load(name)["vectors"]]


def id_draws(rows, key=KEY):
    """Return draws of (first half, second half, answer) rows."""
    ids = np.array([row[:2] for row in rows], dtype=np.uint64).reshape(-1, 2)
    return IdDraws(key, ids, np.array([row[2] for row in rows], dtype=np.uint32))


@pytest.mark.parametrize("vector", by_name("chacha20"))
def test_row_words_are_the_chacha20_keystream_of_rfc_8439(vector):
    nonce = bytes.fromhex(vector["nonce"])
    draws = RowDraws(bytes.fromhex(vector["key"]), 8 * (vector["block"] + 1))
    stream = draws.words(int.from_bytes(nonce, "little")).tobytes()
    assert stream[64 * vector["block"] :].hex() == vector["keystream"]


@pytest.mark.parametrize("vector", by_name("chacha20"))
def test_the_cipher_itself_is_the_chacha20_of_rfc_8439(vector):
    nonce = vector["block"].to_bytes(4, "little") + bytes.fromhex(vector["nonce"])
    encryptor = Cipher(algorithms.ChaCha20(bytes.fromhex(vector["key"]), nonce), mode=None).encryptor()
    assert encryptor.update(bytes(64)).hex() == vector["keystream"]


@pytest.mark.parametrize("vector", by_name("aes256"))
def test_the_block_cipher_is_aes_256(vector):
    blocks = np.frombuffer(bytes.fromhex(vector["plaintext"]), dtype="<u8").reshape(-1, 2)
    encrypted = BlockCipher(bytes.fromhex(vector["key"])).encrypt(blocks)
    assert encrypted.shape == blocks.shape
    assert encrypted.tobytes().hex() == vector["ciphertext"]


def test_the_block_cipher_encrypts_no_blocks_to_none():
    assert BlockCipher(KEY).encrypt(np.empty((0, 2), dtype=np.uint64)).shape == (0, 2)


@pytest.mark.parametrize("vector", by_name("hkdf_sha256"))
def test_key_derivation_is_the_hkdf_of_rfc_5869(vector):
    secret, salt, info, key = (bytes.fromhex(vector[name]) for name in ("secret", "salt", "info", "key"))
    derivation = HKDF(algorithm=SHA256(), length=len(key), salt=salt or None, info=info)
    assert derivation.derive(secret) == key


@pytest.mark.parametrize("vector", by_name("hmac_sha256"))
def test_the_keyed_digest_is_the_hmac_of_rfc_4231(vector):
    key, message, tag = (bytes.fromhex(vector[name]) for name in ("key", "message", "tag"))
    assert hmac.digest(key, message, "sha256") == tag


@pytest.mark.parametrize("labels", [(), ("",), ("a", "bc"), ("category 'smokes'", "ü €")])
def test_a_key_is_hkdf_of_the_length_prefixed_labels(labels):
    info = b"dask-canvass/1"
    for label in labels:
        info += struct.pack(">I", len(label.encode())) + label.encode()
    pseudorandom = hmac.digest(bytes(32), KEY, hashlib.sha256)
    assert SECRET.key(*labels) == hmac.digest(pseudorandom, info + b"\x01", hashlib.sha256)


def test_no_two_lists_of_labels_share_a_key():
    lists = [
        (),
        ("",),
        ("", ""),
        ("abc",),
        ("a", "bc"),
        ("ab", "c"),
        ("a", "b", "c"),
        ("bc", "a"),
        ("abc", ""),
    ]
    assert len({SECRET.key(*labels) for labels in lists}) == len(lists)


def test_other_secrets_have_other_keys():
    assert Secret.new().reveal() != Secret.new().reveal()
    assert Secret.new().key("a") != Secret.new().key("a")
    assert Secret(KEY).key("a") == Secret(bytearray(KEY)).key("a")


@pytest.mark.parametrize("travel", [pickle.dumps, cloudpickle.dumps, copy.copy, copy.deepcopy])
def test_a_secret_does_not_travel(travel):
    with pytest.raises(TypeError, match="does not travel"):
        travel(SECRET)


def test_a_secret_does_not_travel_inside_of_something_else():
    with pytest.raises(TypeError, match="does not travel"):
        pickle.dumps({"nested": [SECRET]})


@pytest.mark.parametrize("show", [repr, str, "{}".format, "{0!r}".format])
def test_a_secret_prints_as_its_type(show):
    assert show(SECRET) == "Secret(...)"
    assert not hasattr(SECRET, "__dict__")


@pytest.mark.parametrize("length", [0, 16, 31, 33, 64])
def test_a_secret_of_another_length_is_refused_without_its_bytes(length):
    with pytest.raises(ValueError, match=f"32 bytes; got {length}"):
        Secret(bytes(length))


def test_the_same_key_gives_the_same_words_and_another_index_others():
    words = [RowDraws(KEY, 1000).words(index) for index in range(6)]
    assert len(np.unique(words)) == 6000
    draws = RowDraws(KEY, 1000)
    for index in (3, 0, 5, 0):
        assert (draws.words(index) == words[index]).all()
    assert (RowDraws(KEY, 10).words(2) == words[2][:10]).all()
    assert not np.isin(RowDraws(bytes(32), 1000).words(0), words).any()


def test_fresh_draws_are_never_the_same():
    assert len(np.unique([fresh_draws(5).words(0) for _ in range(10)])) == 50
    assert len(fresh_draws(0).words(0)) == len(fresh_draws(0)) == 0


def test_a_block_key_is_the_hmac_of_place_and_answers():
    message = struct.pack(">4Q", 3, 1, 4096, 1) + ANSWERS.tobytes()
    assert block_key(KEY, (3, 1, 4096), ANSWERS) == hmac.digest(KEY, message, "sha256")


def test_a_block_key_changes_with_key_place_type_and_any_single_answer():
    keys = [block_key(KEY, (0, 0, 0), ANSWERS), block_key(bytes(32), (0, 0, 0), ANSWERS)]
    keys += [block_key(KEY, place, ANSWERS) for place in [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 256)]]
    keys += [block_key(KEY, (0, 0, 0), ANSWERS.astype(kind)) for kind in (np.uint16, np.uint32)]
    for row in range(len(ANSWERS)):
        changed = ANSWERS.copy()
        changed[row] ^= 1
        keys.append(block_key(KEY, (0, 0, 0), changed))
    keys += [block_key(KEY, (0, 0, 0), ANSWERS[:-1]), block_key(KEY, (0, 0, 0), ANSWERS[::-1])]
    assert len(set(keys)) == len(keys)
    assert block_key(KEY, (0, 0, 0), ANSWERS.copy()) == keys[0]


@given(rows=id_rows, index=st.integers(0, 2**33 - 1))
def test_id_words_are_aes_of_id_answer_and_counter(rows, index):
    encryptor = Cipher(algorithms.AES(KEY), modes.ECB()).encryptor()
    blocks = [struct.pack("<2Q", one, two ^ (answer << 32 | index // 2)) for one, two, answer in rows]
    expected = [struct.unpack("<2Q", encryptor.update(block))[index % 2] for block in blocks]
    assert id_draws(rows).words(index).tolist() == expected


@given(rows=id_rows, data=st.data())
def test_id_words_depend_neither_on_order_nor_on_cuts(rows, data):
    order = data.draw(st.permutations(range(len(rows))))
    cut = data.draw(st.integers(0, len(rows)))
    shuffled = [rows[place] for place in order]
    parts = [id_draws(shuffled[:cut]), id_draws(shuffled[cut:])]
    for index in (0, 1, 2, 5, 0):
        whole = id_draws(rows).words(index)
        assert np.concatenate([part.words(index) for part in parts]).tolist() == whole[order].tolist()


def test_a_changed_answer_changes_the_words_of_its_row_alone():
    rows = [(respondent, 0, 1) for respondent in range(5)]
    changed = [*rows[:2], (2, 0, 0), *rows[3:]]
    for index in range(6):
        differ = id_draws(rows).words(index) != id_draws(changed).words(index)
        assert differ.tolist() == [False, False, True, False, False]


def test_all_words_of_all_ids_and_answers_are_different():
    rows = [(respondent, 0, answer) for respondent in range(50) for answer in range(4)]
    draws = id_draws(rows)
    assert len(np.unique([draws.words(index) for index in range(6)])) == 6 * len(rows)


def folded(answers):
    """Return the number that several answers are folded into: Horner's rule modulo 2**32."""
    number = 0
    for answer in answers:
        number = (number * 0x9E3779B1 + answer) % 2**32
    return number


def several_draws(rows, dtype=np.uint8, key=KEY):
    """Return draws of (first half, second half, answers) rows, several answers each."""
    ids = np.array([row[:2] for row in rows], dtype=np.uint64).reshape(-1, 2)
    return IdDraws(key, ids, np.array([row[2] for row in rows], dtype=dtype))


@given(data=st.data(), questions=st.integers(1, 5), index=st.integers(0, 9))
def test_id_words_to_several_questions_are_those_of_their_folded_answers(data, questions, index):
    answers = st.tuples(*[st.integers(0, 255)] * questions)
    rows = data.draw(st.lists(st.tuples(*[st.integers(0, WORD - 1)] * 2, answers), min_size=1, max_size=10))
    expected = id_draws([(*ids, folded(own)) for *ids, own in rows]).words(index)
    for dtype in (np.uint8, np.uint16, np.uint32):
        assert several_draws(rows, dtype).words(index).tolist() == expected.tolist()
    cut = data.draw(st.integers(0, len(rows) - 1))
    assert several_draws(rows[cut:]).words(index).tolist() == expected[cut:].tolist()


def test_a_single_column_of_answers_draws_what_the_answers_draw():
    rows = [(respondent, 7, respondent % 3) for respondent in range(30)]
    several = several_draws([(*ids, (answer,)) for *ids, answer in rows])
    for index in range(4):
        assert several.words(index).tolist() == id_draws(rows).words(index).tolist()


@pytest.mark.parametrize("shape", [(2,) * 12, (2, 3, 4, 5, 6), (16, 16, 16), (300, 300), (7, 40_000)])
def test_all_words_of_all_answers_to_several_questions_are_different(shape):
    """Whatever one respondent answers, and in whatever order, no two ways of answering share a word."""
    answers = np.indices(shape).reshape(len(shape), -1).T.astype(np.uint32)
    draws = IdDraws(KEY, np.tile(np.array([5, 0], dtype=np.uint64), (len(answers), 1)), answers)
    assert len(np.unique([draws.words(index) for index in range(4)])) == 4 * len(answers)


@given(answers=st.lists(st.integers(0, 255), min_size=1, max_size=30), data=st.data())
def test_changing_any_one_of_many_answers_changes_all_words_of_its_row_alone(answers, data):
    place = data.draw(st.integers(0, len(answers) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda answer: answer != answers[place]))
    changed = [*answers[:place], other, *answers[place + 1 :]]
    before, after = (several_draws([(1, 0, answers), (2, 0, second)]) for second in (answers, changed))
    for index in range(4):
        assert (before.words(index) != after.words(index)).tolist() == [False, True]


def test_id_draws_leave_the_ids_as_they_are():
    ids = np.array([[1, 2], [3, 4]], dtype=np.uint64)
    draws = IdDraws(KEY, ids, np.array([1, 2], dtype=np.uint8))
    draws.words(1)
    assert ids.tolist() == [[1, 2], [3, 4]]
    assert len(draws) == 2


@pytest.mark.parametrize("kind", ["rows", "ids"])
def test_two_words_of_a_row_are_independent_and_one_word_twice_is_not(kind):
    def source(secret, draws):
        ids = np.stack([np.arange(draws, dtype=np.uint64), np.zeros(draws, dtype=np.uint64)], axis=1)
        key = secret.key(kind)
        return RowDraws(key, draws) if kind == "rows" else IdDraws(key, ids, np.zeros(draws, dtype=np.uint8))

    def count_top_bits(indices):
        def sample(secret, draws):
            words = source(secret, draws)
            first, second = (words.words(index) >> np.uint64(62) for index in indices)
            return np.bincount((first * np.uint64(4) + second).astype(int), minlength=16)

        return sample

    law, mutant = [1 / 16] * 16, (np.eye(4) / 4).ravel().tolist()
    for indices in [(0, 1), (1, 2), (0, 2), (1, 3)]:
        assert_law(count_top_bits(indices), law, mutant)
    with pytest.raises(UnlikelyError):
        assert_law(count_top_bits((1, 1)), law, mutant)


@given(lanes=st.integers(1, 5), index=st.integers(0, 20))
def test_no_word_is_in_two_lanes_and_none_is_left_out(lanes, index):
    draws = ScriptedDraws({word: [word] for word in range(lanes * (index + 1))})
    words = [Lane(draws, lane, lanes).words(place)[0] for lane in range(lanes) for place in range(index + 1)]
    assert sorted(words) == list(range(lanes * (index + 1)))
    assert len(Lane(draws, 0, lanes)) == 1


def test_a_byte_stream_is_a_function_of_its_key_however_it_is_cut() -> None:
    whole, cut, other = (byte_stream(bytes([key]) * 32) for key in (1, 1, 2))
    expected = whole(100)
    assert cut(1) + cut(0) + cut(63) + cut(36) == expected
    assert other(100) != expected
