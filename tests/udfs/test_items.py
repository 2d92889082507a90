"""Items give back the tasks that they were made of, say where they end, and tell when a byte is wrong."""

from __future__ import annotations

import hashlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.errors import ProtocolError, SchemaError
from udfs.items import HEADER_BYTES, TASK_BYTES, pack_item, pad, unpack_item

NAMES = st.one_of(st.text(max_size=20), st.integers(-(2**63), 2**64 - 1))
TASKS = st.lists(st.tuples(NAMES, st.binary(max_size=50)), max_size=6)
SAMPLE = [("T-1", b"draw a map\0\0"), (7, b""), ("é", b"\0"), (-7, bytes(range(256)))]


def made(body: bytes, version: int = 1, length: int | None = None) -> bytes:
    """Return an item by the description of its format: header, checksum, body."""
    start = struct.pack("<IQ", version, len(body) if length is None else length)
    return start + hashlib.sha256(start + body).digest()[:16] + body


@given(TASKS, st.integers(0, 40))
def test_tasks_come_back_whatever_they_hold_and_however_they_are_padded(tasks, zeros):
    assert unpack_item(pack_item(tasks) + bytes(zeros), "leaf 1") == tasks


@pytest.mark.parametrize("zeros", [0, 1, 2, 1000])
def test_zeros_at_a_payloads_end_are_told_from_padding(zeros):
    tasks = [("first", b"\0"), ("last", b"a" + bytes(zeros))]
    assert unpack_item(pack_item(tasks) + bytes(77), "leaf 1") == tasks


def test_an_integer_and_its_digits_are_two_ids():
    assert unpack_item(pack_item([(7, b"a"), ("7", b"b")]), "leaf 1") == [(7, b"a"), ("7", b"b")]


def test_an_item_without_tasks_is_a_header_and_has_none():
    assert len(pack_item([])) == HEADER_BYTES
    assert unpack_item(pack_item([]) + bytes(100), "leaf 1") == []


def test_the_bytes_are_those_of_the_format_and_their_number_is_known_beforehand():
    task = struct.pack("<BII", 0, 3, 2) + b"T-1" + b"ab" + struct.pack("<BII", 1, 2, 0) + b"-7"
    item = pack_item([("T-1", b"ab"), (-7, b"")])
    assert item == made(task)
    assert len(item) == HEADER_BYTES + 2 * TASK_BYTES + len("T-1ab-7")


def test_tasks_of_two_orders_are_two_items():
    assert pack_item(SAMPLE) != pack_item(SAMPLE[::-1])


@pytest.mark.parametrize("zeros", [0, 5])
def test_every_bit_that_changes_is_found_out(zeros):
    item = pack_item(SAMPLE) + bytes(zeros)
    for bit in range(8 * len(item)):
        wrong = bytearray(item)
        wrong[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ProtocolError, match=r"^leaf 5: .* Do not fetch it again"):
            unpack_item(bytes(wrong), "leaf 5")


def test_an_item_cut_short_is_refused_wherever_it_is_cut():
    item = pack_item(SAMPLE)
    for length in range(len(item)):
        with pytest.raises(ProtocolError, match=r"^leaf 5: "):
            unpack_item(item[:length], "leaf 5")


def test_an_item_all_zeros_is_no_item():
    with pytest.raises(ProtocolError, match="version 1"):
        unpack_item(bytes(100), "leaf 5")


def test_what_comes_after_the_body_is_zeros():
    assert unpack_item(made(b""), "leaf 5") == []
    with pytest.raises(ProtocolError, match="padded with zeros"):
        unpack_item(made(b"") + b"\0\1\0", "leaf 5")


def test_another_version_is_refused():
    with pytest.raises(ProtocolError, match="version 1"):
        unpack_item(made(b"", version=2), "leaf 5")


def test_a_length_beyond_the_item_is_refused_though_its_checksum_is_right():
    with pytest.raises(ProtocolError, match="checksum"):
        unpack_item(made(b"", length=1), "leaf 5")


@pytest.mark.parametrize(
    "body",
    [
        b"\0",
        struct.pack("<BII", 0, 0, 1),
        struct.pack("<BII", 0, 1, 0),
        struct.pack("<BII", 0, 2, 0) + b"a",
        struct.pack("<BII", 0, 1, 0) + b"\xff",
        struct.pack("<BII", 1, 1, 0) + b"a",
        struct.pack("<BII", 1, 0, 0),
        struct.pack("<BII", 1, 5000, 0) + b"1" * 5000,
    ],
    ids=[
        "half a head",
        "no payload",
        "no id",
        "half an id",
        "no text",
        "no integer",
        "no digits",
        "too many",
    ],
)
def test_a_body_of_other_than_whole_tasks_is_refused_though_its_checksum_is_right(body):
    with pytest.raises(ProtocolError, match="must hold whole tasks; got others"):
        unpack_item(made(body), "leaf 5")


def test_a_refusal_tells_no_byte_of_the_item():
    item = made(b"\0secret")
    with pytest.raises(ProtocolError) as caught:
        unpack_item(item, "leaf 5")
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_a_payload_of_4_gib_is_refused():
    class Long(bytes):
        def __len__(self):
            return 2**32

    with pytest.raises(SchemaError, match="below 4 GiB; got 1 and 4,294,967,296 bytes"):
        pack_item([("a", Long())])


@given(st.lists(TASKS, max_size=5))
def test_padded_items_are_of_one_length_and_hold_what_they_held(library):
    items = [pack_item(tasks) for tasks in library]
    item_bytes, padded = pad(items)
    assert item_bytes == max(map(len, items), default=0)
    assert {len(item) for item in padded} <= {item_bytes}
    assert [unpack_item(item, "leaf 1") for item in padded] == library


def test_the_longest_item_is_not_padded():
    assert pad([b"ab", b"abcd"])[1] == [b"ab\0\0", b"abcd"]
