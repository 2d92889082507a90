"""Respondents' ids as 128-bit blocks, and how repeated ids are found.

An integer id is its own block. A text id is hashed with AES-CMAC under a key of the job, one AES call
for the n-th 16 bytes of all ids at a time: a text of any length becomes 128 bits that nobody without
the key can steer, and two different texts share a block with probability 2**-128.

References
----------
RFC 4493 (AES-CMAC) and NIST SP 800-38B (with AES-256).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from udfs.errors import SchemaError
from udfs.streams import BlockCipher, Secret

Blocks: TypeAlias = npt.NDArray[np.uint64]
IdKind: TypeAlias = Literal["integer", "unsigned", "text"]

_AES_BLOCK = 16
_INSIDE = (np.tri(_AES_BLOCK + 1, _AES_BLOCK, -1, dtype=np.uint8) * np.uint8(255)).view("<u8")
"""Row n keeps the first n bytes of a block."""


def id_kind(arrow_types: Iterable[pa.DataType]) -> IdKind | None:
    """Return how ids of these types, one a file, are read; None where they cannot be.

    Text and integers together are read as text, and so are signed integers with 64-bit unsigned ones.

    Examples
    --------
    >>> id_kind([pa.int32(), pa.int64()]), id_kind([pa.int32(), pa.string()]), id_kind([pa.float64()])
    ('integer', 'text', None)
    """
    kinds = {_kind_of(one) for one in arrow_types}
    if None in kinds:
        return None
    kinds.discard("any")
    if len(kinds) > 1:
        return "text"
    return kinds.pop() if kinds else "integer"  # type: ignore[return-value]


def _kind_of(arrow_type: pa.DataType) -> IdKind | Literal["any"] | None:
    if pa.types.is_dictionary(arrow_type):
        return _kind_of(arrow_type.value_type)
    if pa.types.is_null(arrow_type):
        return "any"
    if pa.types.is_uint64(arrow_type):
        return "unsigned"
    if pa.types.is_integer(arrow_type):
        return "integer"
    text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return "text" if any(is_type(arrow_type) for is_type in text) else None


@dataclass(frozen=True)
class IdColumn:
    """The column of respondents' ids.

    Attributes
    ----------
    name : str
    kind : {"integer", "unsigned", "text"}
        How ids are read.
    checked : bool
        Whether ids that stand twice are refused.
    """

    name: str
    kind: IdKind
    checked: bool = True

    @classmethod
    def of(cls, name: str, arrow_types: Iterable[pa.DataType], checked: bool = True) -> IdColumn:
        """Return how a column is read that has these types, one a file.

        Raises
        ------
        SchemaError
            Where it can hold no ids.
        """
        types = dict.fromkeys(arrow_types)
        kind = id_kind(types)
        if kind is None:
            raise SchemaError(f"column {name!r}", "ids must be text or integers", ", ".join(map(str, types)))
        return cls(name, kind, checked)

    @property
    def arrow_type(self) -> pa.DataType:
        """The type of the ids that go along with reports."""
        return {"integer": pa.int64(), "unsigned": pa.uint64(), "text": pa.string()}[self.kind]

    def plain(self, column: pa.Array) -> pa.Array:
        """Return a block's ids in the one type they have in all files."""
        values = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        return values.cast(self.arrow_type)

    def blocks(self, column: pa.Array, secret: Secret) -> Blocks:
        """Return a block's ids as 128-bit blocks."""
        return id_blocks(self.plain(column), secret.key("ids"))

    def standing(self, column: pa.Array) -> IdStanding:
        """Return where a block's respondents stand: what public draws go by."""
        return IdStanding(self.plain(column))


@dataclass(frozen=True)
class IdStanding:
    """Rows that are told apart by their ids: a `udfs.draws.Standing`.

    Parameters
    ----------
    ids : pyarrow.Array
        int64, uint64 or text, without nulls.
    """

    ids: pa.Array

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.ids)

    def blocks(self, key: bytes) -> Blocks:
        """Return the ids' 128-bit blocks, texts hashed under a key: uint64, shape (rows, 2)."""
        return id_blocks(self.ids, key)


def id_blocks(ids: pa.Array, key: bytes) -> Blocks:
    """Return the 128-bit blocks of a block of ids.

    Parameters
    ----------
    ids : pyarrow.Array
        int64, uint64 or text, without nulls.
    key : bytes
        32 bytes, for text ids.

    Returns
    -------
    ndarray of uint64, shape (rows, 2)
        (id, 0) for an integer, as 64-bit two's complement; the AES-CMAC for a text.

    Examples
    --------
    >>> id_blocks(pa.array([7, -1]), bytes(32))
    array([[                   7,                    0],
           [18446744073709551615,                    0]], dtype=uint64)
    """
    if pa.types.is_integer(ids.type):
        blocks = np.zeros((len(ids), 2), dtype=np.uint64)
        blocks[:, 0] = ids.to_numpy().view(np.uint64)
        return blocks
    return _cmac(ids.cast(pa.large_string()), key)


def _cmac(texts: pa.Array, key: bytes) -> Blocks:
    """Return the AES-CMAC of each text (RFC 4493, section 2.4): uint64, shape (rows, 2), as bytes lie."""
    rows = len(texts)
    if not rows:
        return np.empty((0, 2), dtype=np.uint64)
    data, starts, lengths = _text_bytes(texts)
    cipher = BlockCipher(key)
    masks = _last_block_masks(cipher.encrypt(np.zeros((1, 2), dtype=np.uint64)).tobytes())

    # Longest first: the texts that have an n-th block are then a prefix of the rows, and those that
    # end with it are the end of that prefix.
    blocks_of = np.maximum(1, -(-lengths // _AES_BLOCK))
    alike = bool((blocks_of == blocks_of[0]).all())
    order = np.arange(rows) if alike else np.argsort(-blocks_of, kind="stable")
    if not alike:
        starts, lengths, blocks_of = starts[order], lengths[order], blocks_of[order]
    active_rows = np.searchsorted(-blocks_of, -np.arange(blocks_of[0] + 1), side="left").tolist()
    state = np.zeros((rows, 2), dtype=np.uint64)
    for position, (active, going_on) in enumerate(pairwise(active_rows)):
        part = data[starts[:active] + _AES_BLOCK * position].view("<u8")
        left = lengths[going_on:active] - _AES_BLOCK * position
        part[going_on:] &= _INSIDE.take(left, axis=0)
        part[going_on:] ^= masks.take(left, axis=0)
        part ^= state[:active]
        state[:active] = cipher.encrypt(part)
    if alike:
        return state
    tags = np.empty((rows, 2), dtype=np.uint64)
    tags[order] = state
    return tags


def _text_bytes(
    texts: pa.Array,
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return 16-byte windows of the texts' bytes, one from each byte on, with each text's start and length."""
    _, offset_buffer, data_buffer = texts.buffers()
    offsets = np.frombuffer(offset_buffer, dtype=np.int64, count=len(texts) + 1, offset=8 * texts.offset)
    padded = np.zeros(offsets[-1] - offsets[0] + _AES_BLOCK, dtype=np.uint8)
    if data_buffer is not None:
        padded[:-_AES_BLOCK] = np.frombuffer(data_buffer, dtype=np.uint8)[offsets[0] : offsets[-1]]
    windows = np.lib.stride_tricks.sliding_window_view(padded, _AES_BLOCK)
    return windows, offsets[:-1] - offsets[0], np.diff(offsets)


def _last_block_masks(zero_block: bytes) -> Blocks:
    """Return what CMAC adds to a last block of 0 to 16 bytes: padding and a subkey, uint64 (17, 2)."""
    subkey_1 = _double(zero_block)
    subkey_2 = _double(subkey_1)
    masks = np.tile(np.frombuffer(subkey_2, dtype=np.uint8), (_AES_BLOCK + 1, 1))
    masks[_AES_BLOCK] = np.frombuffer(subkey_1, dtype=np.uint8)
    masks[np.arange(_AES_BLOCK), np.arange(_AES_BLOCK)] ^= 0x80
    return masks.view("<u8")


def _double(block: bytes) -> bytes:
    """Multiply by x in GF(2**128), as CMAC makes its subkeys (RFC 4493, section 2.3)."""
    number = int.from_bytes(block, "big") << 1
    return ((number ^ 0x87 if number >> 128 else number) & ((1 << 128) - 1)).to_bytes(16, "big")


def spread(halves: npt.NDArray[np.uint64], key: bytes) -> npt.NDArray[np.uint64]:
    """Return the first halves of ids' blocks as fingerprints that fall evenly, whatever the ids are.

    They sort, and cut into buckets of equal size. The map is a bijection of 64 bits (xor with a key, then
    Stafford's variant 13 of the MurmurHash3 finalizer): equal fingerprints mean equal halves, and for
    integers equal ids.

    Parameters
    ----------
    halves : ndarray of uint64, shape (rows,)
        The first column of `id_blocks`.
    key : bytes
        At least 8 bytes: nobody who picks ids can fill one bucket.

    Returns
    -------
    ndarray of uint64, shape (rows,)
    """
    mixed = halves ^ np.uint64(int.from_bytes(key[:8], "little"))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return mixed
