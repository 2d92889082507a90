from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.libraries import FLAT, SQUARE, asked
from udfs.paillier_messages import message_bytes
from udfs.paillier_retrieval import PaillierRetrieval
from udfs.paillier_shape import PaillierShape


@pytest.mark.parametrize("size", [FLAT, SQUARE, (1, 1), (60, 70)])
def test_messages_have_the_stated_length(size):
    platform, query = asked(size, workers=1)
    cost = platform.retrieval.cost
    assert query.sent.shape == (1, cost.upload_bytes)
    assert platform.answer(query.sent).shape == (1, cost.download_bytes)
    assert platform.retrieval.failure == Fraction(0)
    assert platform.retrieval.name == "paillier"


@given(st.integers(1, 300), st.integers(1, 5000))
def test_no_number_of_columns_has_fewer_bytes_to_transfer(items, item_bytes):
    shape = PaillierShape(items, item_bytes)

    def transferred(columns):
        rows, chunks = -(-items // columns), -(-item_bytes // 255)
        ciphertexts = rows + chunks if columns == 1 else rows + columns + 2 * chunks
        return message_bytes(ciphertexts, 2048) + 256

    cost = shape.cost
    assert cost.upload_bytes + cost.download_bytes == min(map(transferred, range(1, items + 1)))
    assert shape.rows * shape.columns >= items > (shape.rows - 1) * shape.columns
    assert shape.chunks * shape.chunk_bytes >= item_bytes > (shape.chunks - 1) * shape.chunk_bytes
    assert 8 * shape.chunk_bytes < 2048


def test_versions_tell_items_and_shapes_apart():
    def version(items, bits):
        return PaillierRetrieval.version_of(PaillierShape(len(items), len(items[0]), bits), items)

    versions = {
        version(items, bits)
        for items in ([b"ab", b"cd"], [b"abcd"], [b"a", b"b", b"c", b"d"], [b"cd", b"ab"])
        for bits in (128, 256)
    }
    assert len(versions) == 8
