"""Messages of retrieval over Paillier encryption: a modulus n, and ciphertexts under it.

Numbers have a fixed length, the lowest byte first: n has |n| / 8 bytes, a ciphertext twice as many.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from gmpy2 import mpz

from udfs.errors import ProtocolError
from udfs.paillier import check_ciphertext

ByteRows: TypeAlias = npt.NDArray[np.uint8]
"""Bytes, the last axis a number's or a message's."""


def message_bytes(ciphertexts: int, bits: int) -> int:
    """Return the length of a message of so many ciphertexts under a modulus of so many bits.

    Examples
    --------
    >>> message_bytes(16, 2048)
    8448
    """
    return bits // 8 * (1 + 2 * ciphertexts)


def pack(n: int, ciphertexts: Sequence[int], bits: int) -> ByteRows:
    """Return a message: uint8, shape (message_bytes,)."""
    return np.concatenate([in_bytes([n], bits // 8), in_bytes(ciphertexts, bits // 4)], axis=None)


def unpack(message: ByteRows, ciphertexts: int, bits: int, where: str) -> tuple[mpz, list[mpz]]:
    """Return n and so many ciphertexts under it.

    Raises
    ------
    ProtocolError
        Naming `where`, for a message of another length, and for numbers that are no modulus or no
        ciphertexts.
    """
    size = message_bytes(ciphertexts, bits)
    if message.dtype != np.uint8 or message.shape != (size,):
        raise ProtocolError(where, f"must have {size} bytes", f"{message.dtype} of shape {message.shape}")
    data, n_bytes = message.tobytes(), bits // 8
    n = mpz.from_bytes(data[:n_bytes], "little")
    if n.bit_length() != bits or n.is_even():
        raise ProtocolError(where, f"must have an odd modulus of {bits} bits", f"{n.bit_length()} bits")
    numbers = [
        mpz.from_bytes(data[start : start + 2 * n_bytes], "little")
        for start in range(n_bytes, size, 2 * n_bytes)
    ]
    for number in numbers:
        check_ciphertext(number, n, where)
    return n, numbers


def in_bytes(numbers: Sequence[int], size: int) -> ByteRows:
    """Return numbers at a fixed length, the lowest byte first: uint8, shape (numbers, size)."""
    data = b"".join(mpz(number).to_bytes(size, "little") for number in numbers)
    return np.frombuffer(data, dtype=np.uint8).reshape(len(numbers), size)
