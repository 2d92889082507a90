"""Items: the tasks of a leaf as bytes that say where they end and whether they are whole.

All items of a library are padded to one length, and a retrieval protocol may fail to decode one, seldom but
silently. So an item carries the length of its body and a checksum: padding is told from payloads that end in
zeros, and a wrong byte is found out. A worker who finds one out never fetches again: a second get would tell the
platform whose item it was that failed.

An item is a header of 28 bytes, a body and zeros. The header is the version (32 bits), the body's length
(64 bits) and the first 16 bytes of the SHA-256 of both with the body. The body is the tasks, one after another: is
the id an integer (8 bits), the bytes of id and payload (32 bits each), the id as text in UTF-8, the payload. Numbers
are little-endian.

The checksum finds what has gone wrong by chance. It is no signature: whoever makes items makes checksums.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import TypeAlias

from udfs.errors import ProtocolError, SchemaError

Task: TypeAlias = tuple[str | int, bytes]
"""A task's id and its payload."""

_VERSION = 1
_START = struct.Struct("<IQ")
_CHECKSUM_BYTES = 16
_TASK = struct.Struct("<?II")

HEADER_BYTES = _START.size + _CHECKSUM_BYTES
"""What an item takes besides its tasks."""

TASK_BYTES = _TASK.size
"""What a task takes in an item besides its id, as text in UTF-8, and its payload."""


def pack_item(tasks: Sequence[Task]) -> bytes:
    r"""Return tasks as an item, not padded yet.

    Parameters
    ----------
    tasks : sequence of (str or int, bytes)
        Their ids and payloads, in order; there may be none.

    Returns
    -------
    bytes
        `HEADER_BYTES`, and for each task `TASK_BYTES`, its id and its payload.

    Raises
    ------
    SchemaError
        For an id or a payload of 4 GiB or more.

    Examples
    --------
    >>> item = pack_item([("T-1", b"draw a map"), (7, bytes(2))])
    >>> len(item), unpack_item(item + bytes(10), "leaf 9")
    (62, [('T-1', b'draw a map'), (7, b'\x00\x00')])
    """
    parts = []
    for name, payload in tasks:
        text = str(name).encode()
        try:
            parts += [_TASK.pack(isinstance(name, int), len(text), len(payload)), text, payload]
        except struct.error:
            size = f"{len(text):,} and {len(payload):,} bytes"
            raise SchemaError("tasks", "an id and a payload must each be below 4 GiB", size) from None
    body = b"".join(parts)
    start = _START.pack(_VERSION, len(body))
    return b"".join([start, _checksum(start, body), body])


def unpack_item(data: bytes, where: str) -> list[Task]:
    """Return the tasks of an item, padded or not.

    Parameters
    ----------
    data : bytes
    where : str
        Whose item it is.

    Returns
    -------
    list of (str or int, bytes)

    Raises
    ------
    ProtocolError
        Naming `where`, for anything that `pack_item` and `pad` have not made; it says nothing of the bytes.
    """
    remedy = "do not fetch it again: that would tell whose item it is"
    if len(data) < HEADER_BYTES:
        must = f"an item has {HEADER_BYTES} bytes at least"
        raise ProtocolError(where, must, f"{len(data)} bytes", remedy)
    start, (version, length) = data[: _START.size], _START.unpack_from(data)
    end = HEADER_BYTES + length
    body = data[HEADER_BYTES:end]
    if version != _VERSION:
        raise ProtocolError(where, f"must be an item of version {_VERSION}", "another", remedy)
    if end > len(data) or _checksum(start, body) != data[_START.size : HEADER_BYTES]:
        raise ProtocolError(where, "must have the checksum of what it holds", "another", remedy)
    if data.count(0, end) != len(data) - end:
        raise ProtocolError(where, "must be padded with zeros", "others", remedy)
    try:
        return _tasks(body)
    except (struct.error, ValueError):
        raise ProtocolError(where, "must hold whole tasks", "others", remedy) from None


def _tasks(body: bytes) -> list[Task]:
    """Return the tasks of a body; ValueError or struct.error where it holds others than whole ones."""
    tasks: list[Task] = []
    at = 0
    while at < len(body):
        is_integer, name_bytes, payload_bytes = _TASK.unpack_from(body, at)
        middle = at + TASK_BYTES + name_bytes
        text = body[at + TASK_BYTES : middle].decode()
        at = middle + payload_bytes
        if at > len(body):
            raise ValueError
        tasks.append((int(text) if is_integer else text, body[middle:at]))
    return tasks


def pad(items: Sequence[bytes]) -> tuple[int, list[bytes]]:
    r"""Return items of one length: that of the longest, and the items with zeros after them.

    Parameters
    ----------
    items : sequence of bytes
        Of `pack_item`.

    Returns
    -------
    item_bytes : int
        0 where there are no items.
    padded : list of bytes

    Examples
    --------
    >>> pad([b"abc", b"", b"z"])
    (3, [b'abc', b'\x00\x00\x00', b'z\x00\x00'])
    """
    item_bytes = max(map(len, items), default=0)
    return item_bytes, [item.ljust(item_bytes, b"\0") for item in items]


def _checksum(start: bytes, body: bytes) -> bytes:
    return hashlib.sha256(start + body).digest()[:_CHECKSUM_BYTES]
