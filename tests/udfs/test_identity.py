from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import algorithms
from cryptography.hazmat.primitives.cmac import CMAC
from hypothesis import given
from hypothesis import strategies as st

from tests.statistics import UnlikelyError, assert_law
from tests.vectors import load
from udfs.identity import IdColumn, id_blocks, id_kind, spread
from udfs.streams import Secret

KEY = bytes(range(32))
SECRET = Secret(KEY)
CMAC_VECTORS = load("aes256_cmac")
TEXT_TYPES = [pa.string(), pa.large_string(), pa.string_view()]

texts = st.lists(st.text(max_size=70), max_size=12)


def cmac(text, key=KEY):
    """Return a text's tag by another implementation, as two words."""
    code = CMAC(algorithms.AES(key))
    code.update(text.encode())
    return np.frombuffer(code.finalize(), dtype="<u8").tolist()


def text_from(messages):
    """Return bytes as a column of text, valid or not."""
    column = pa.array(messages, pa.large_binary())
    return pa.Array.from_buffers(pa.large_string(), len(column), column.buffers())


def test_text_blocks_are_the_aes_256_cmac_of_nist():
    message = bytes.fromhex(CMAC_VECTORS["message"])
    column = text_from([message[: vector["bytes"]] for vector in CMAC_VECTORS["vectors"]])
    tags = id_blocks(column, bytes.fromhex(CMAC_VECTORS["key"]))
    assert [tag.tobytes().hex() for tag in tags] == [vector["tag"] for vector in CMAC_VECTORS["vectors"]]


@given(texts=texts, key=st.binary(min_size=32, max_size=32))
def test_text_blocks_are_the_cmac_of_another_implementation(texts, key):
    assert id_blocks(pa.array(texts, pa.string()), key).tolist() == [cmac(text, key) for text in texts]


@pytest.mark.parametrize("length", [*range(50), 255, 256, 257, 1000])
def test_text_blocks_are_right_at_every_length(length):
    column = ["x" * length, "y", "z" * 31, "", "ü" * length]
    assert id_blocks(pa.array(column), KEY).tolist() == [cmac(text) for text in column]


@given(texts=texts, data=st.data(), arrow_type=st.sampled_from(TEXT_TYPES))
def test_text_blocks_of_a_slice_are_a_slice_of_the_blocks(texts, data, arrow_type):
    start = data.draw(st.integers(0, len(texts)))
    length = data.draw(st.integers(0, len(texts) - start))
    part = IdColumn("id", "text").plain(pa.array(texts, arrow_type).slice(start, length))
    assert id_blocks(part, KEY).tolist() == [cmac(text) for text in texts[start : start + length]]


def test_texts_that_differ_in_their_end_alone_have_different_blocks():
    column = ["", "\0", "\0\0", "a", "a\0", "a" * 15, "a" * 15 + "\x80", "a" * 16, "a" * 17, "a" * 32]
    assert len(np.unique(id_blocks(pa.array(column), KEY), axis=0)) == len(column)


def test_other_keys_give_texts_other_blocks_and_integers_the_same():
    column = pa.array(["a", "b"])
    assert not np.isin(id_blocks(column, KEY), id_blocks(column, bytes(32))).any()
    numbers = pa.array([1, 2])
    assert id_blocks(numbers, KEY).tolist() == id_blocks(numbers, bytes(32)).tolist()


INT64, UINT64 = st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**64 - 1)


@given(ids=st.lists(INT64), start=st.integers(0, 3))
def test_an_integer_is_its_own_block(ids, start):
    blocks = id_blocks(pa.array(ids, pa.int64()).slice(start), KEY)
    assert blocks.dtype == np.uint64
    assert blocks.tolist() == [[number % 2**64, 0] for number in ids[start:]]


@given(ids=st.lists(UINT64), start=st.integers(0, 3))
def test_an_unsigned_integer_is_its_own_block(ids, start):
    blocks = id_blocks(pa.array(ids, pa.uint64()).slice(start), KEY)
    assert blocks.tolist() == [[number, 0] for number in ids[start:]]


@pytest.mark.parametrize("arrow_type", [pa.int64(), pa.uint64(), pa.string(), pa.large_string()])
def test_no_ids_have_no_blocks(arrow_type):
    assert id_blocks(pa.array([], arrow_type), KEY).shape == (0, 2)


SIGNED = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32()]


def coded(arrow_type):
    return pa.dictionary(pa.int32(), arrow_type)


@pytest.mark.parametrize(
    ("arrow_types", "kind"),
    [
        *[([one], "integer") for one in SIGNED],
        *[([one], "text") for one in TEXT_TYPES],
        ([pa.uint64()], "unsigned"),
        ([pa.int8(), pa.uint32()], "integer"),
        ([pa.int64(), pa.uint64()], "text"),
        ([pa.int64(), pa.string()], "text"),
        ([pa.uint64(), coded(pa.string())], "text"),
        ([pa.string(), pa.large_string(), coded(pa.string())], "text"),
        ([coded(pa.int64()), pa.int16()], "integer"),
        ([pa.null()], "integer"),
        ([pa.null(), pa.string()], "text"),
        ([pa.null(), pa.uint64()], "unsigned"),
        ([], "integer"),
        *[([one], None) for one in (pa.float64(), pa.bool_(), pa.binary(), pa.date32(), pa.list_(pa.int8()))],
        ([pa.int64(), pa.float64()], None),
        ([coded(pa.float64())], None),
        ([pa.null(), pa.decimal128(5, 0)], None),
    ],
)
def test_ids_are_read_in_the_one_way_that_fits_all_files(arrow_types, kind):
    assert id_kind(arrow_types) == id_kind(reversed(arrow_types)) == kind


@pytest.mark.parametrize("arrow_type", [*SIGNED, coded(pa.int16()), coded(pa.int64())], ids=str)
def test_integer_ids_are_the_same_in_columns_of_any_type(arrow_type):
    column = pa.array([5, 0, 100, 5]).cast(getattr(arrow_type, "value_type", arrow_type))
    column = column.dictionary_encode().cast(arrow_type) if pa.types.is_dictionary(arrow_type) else column
    ids = IdColumn("id", "integer")
    assert ids.plain(column).type == ids.arrow_type == pa.int64()
    assert ids.blocks(column, SECRET).tolist() == [[5, 0], [0, 0], [100, 0], [5, 0]]


@pytest.mark.parametrize(
    "column",
    [
        *[pa.array(["7", "-1", "7"], arrow_type) for arrow_type in TEXT_TYPES],
        pa.array(["7", "-1", "7"]).dictionary_encode(),
        pa.array(["0", "7", "-1", "7"]).dictionary_encode().slice(1),
        pa.array([7, -1, 7], pa.int8()),
        pa.array([7, -1, 7]).dictionary_encode(),
    ],
    ids=lambda column: str(column.type),
)
def test_text_ids_are_the_same_in_columns_of_any_type(column):
    ids = IdColumn("id", "text")
    key = SECRET.key("ids")
    assert ids.plain(column).type == ids.arrow_type == pa.string()
    assert ids.blocks(column, SECRET).tolist() == [cmac(text, key) for text in ("7", "-1", "7")]


def test_unsigned_ids_beyond_the_signed_ones_keep_all_their_bits():
    ids = IdColumn("id", "unsigned")
    column = pa.array([2**64 - 1, 2**63, 0], pa.uint64())
    assert ids.blocks(column, SECRET).tolist() == [[2**64 - 1, 0], [2**63, 0], [0, 0]]
    assert ids.plain(column).type == ids.arrow_type == pa.uint64()


def unspread(number, key):
    """Undo `spread` for one number, in plain integers."""
    number = unshift(number, 31)
    for shift, factor in ((27, 0x94D049BB133111EB), (30, 0xBF58476D1CE4E5B9)):
        number = unshift(number * pow(factor, -1, 2**64) % 2**64, shift)
    return number ^ int.from_bytes(key[:8], "little")


def unshift(number, shift):
    """Undo `number ^ (number >> shift)` on 64 bits."""
    whole = number
    for _ in range(64 // shift):
        whole = number ^ (whole >> shift)
    return whole


@given(halves=st.lists(UINT64, min_size=1), key=st.binary(min_size=8, max_size=32))
def test_spreading_can_be_undone_so_that_equal_fingerprints_are_equal_ids(halves, key):
    mixed = spread(np.array(halves, dtype=np.uint64), key)
    assert [unspread(number, key) for number in mixed.tolist()] == halves


def test_spreading_leaves_the_ids_as_they_are():
    halves = np.arange(5, dtype=np.uint64)
    spread(halves, KEY)
    assert halves.tolist() == list(range(5))


@pytest.mark.parametrize(("first", "step"), list(product([0, 2**63], [1, 1000, 2**32, 2**40])))
def test_ids_in_sequence_fall_evenly_into_buckets(first, step):
    def count_buckets(mix):
        def sample(secret, draws):
            ids = np.uint64(first) + np.arange(draws, dtype=np.uint64) * np.uint64(step)
            return np.bincount((mix(ids, secret.key("spread")) >> np.uint64(60)).astype(int), minlength=16)

        return sample

    law, mutant = [1 / 16] * 16, [1 / 8] * 8 + [0] * 8
    assert_law(count_buckets(spread), law, mutant)
    with pytest.raises(UnlikelyError):
        assert_law(count_buckets(lambda ids, key: ids), law, mutant)
