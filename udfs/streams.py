"""Secrets, and the keys that are derived from them: every draw of a job is a function of its secret.

References
----------
FIPS 197 (AES), RFC 5869 (HKDF), RFC 2104 (HMAC).
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable
from typing import NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

Words: TypeAlias = npt.NDArray[np.uint64]

SECRET_BYTES = 32

WORD_TYPE = np.dtype("<u8")
"""How words lie in memory."""


class Secret:
    """The 32 bytes from which all keys of one job are derived.

    It prints as its type, and it cannot be pickled: a secret in a task graph would reach the
    scheduler. Workers read it from a file that its owner alone may read.

    Examples
    --------
    >>> Secret.new()
    Secret(...)
    """

    __slots__ = ("_secret_bytes",)

    def __init__(self, secret_bytes: bytes) -> None:
        if len(secret_bytes) != SECRET_BYTES:
            raise ValueError(f"a secret is {SECRET_BYTES} bytes; got {len(secret_bytes)}")
        self._secret_bytes = bytes(secret_bytes)

    @classmethod
    def new(cls) -> Secret:
        """Draw a secret from the operating system."""
        return cls(os.urandom(SECRET_BYTES))

    def key(self, *labels: str) -> bytes:
        """Derive the 32-byte key that belongs to these labels (HKDF-SHA256, RFC 5869).

        Labels are length-prefixed, so no two lists of labels share a key.
        """
        return derive_key(self._secret_bytes, *labels)

    def reveal(self) -> bytes:
        """Return the bytes, to be written where only the owner reads."""
        return self._secret_bytes

    def __repr__(self) -> str:
        """Return the type's name and nothing of the secret."""
        return "Secret(...)"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled."""
        raise TypeError("a secret does not travel; hand over the path of its file")


def derive_key(key: bytes, *labels: str) -> bytes:
    """Return the 32-byte key that belongs to these labels under another key (HKDF-SHA256, RFC 5869).

    Labels are length-prefixed, so no two lists of labels share a key.
    """
    info = b"".join(len(part).to_bytes(4, "big") + part for part in (label.encode() for label in labels))
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=b"dask-canvass/1" + info).derive(key)


def byte_stream(key: bytes) -> Callable[[int], bytes]:
    """Return a source of random bytes that is a function of a key: each call gives the next so many (ChaCha20).

    Parameters
    ----------
    key : bytes
        32 bytes that serve nothing else.

    Examples
    --------
    >>> len(byte_stream(bytes(32))(5))
    5
    """
    encryptor = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor()
    return lambda size: encryptor.update(bytes(size))


def block_key(key: bytes, place: tuple[int, ...], answers: npt.NDArray[np.generic]) -> bytes:
    """Return a key that belongs to one block and to the answers in it: their HMAC-SHA256.

    Parameters
    ----------
    key : bytes
        The question's key, from `Secret.key`.
    place : tuple of int
        Where the block stands: (file, row group, first row) in the manifest.
    answers : ndarray of unsigned integers, shape (rows,)
        The truthful answers that will be randomized.

    Returns
    -------
    bytes
        32 bytes. The same rows give the same key; other answers in the same place give another: draws
        under it, or under a key derived from it, never put one set of coins on two sets of answers.
    """
    where = b"".join(number.to_bytes(8, "big") for number in (*place, answers.itemsize))
    return hmac.digest(key, where + answers.tobytes(), "sha256")


class BlockCipher:
    """AES-256 on whole arrays of 128-bit blocks, each by itself (FIPS 197).

    Only for blocks that are distinct, or that a mode of operation made ready: equal blocks give equal
    outputs.

    Parameters
    ----------
    key : bytes
        32 bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305  modes are the callers'

    def encrypt(self, blocks: Words) -> Words:
        """Return each block's encryption: uint64, shape (blocks, 2), as the bytes lie."""
        room = np.empty(blocks.size + 2, dtype=WORD_TYPE)  # update_into wants a block to spare
        if blocks.size:
            self._encryptor.update_into(blocks.view(np.uint8).reshape(-1).data, room.view(np.uint8).data)
        return room[: blocks.size].reshape(-1, 2)
