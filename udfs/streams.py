"""Keyed random words: every draw of a job is a function of its secret and of where it belongs.

A distributed engine runs a lost task again. Were the second run to draw afresh, an observer would
hold two reports of one answer and the guarantee would be gone. So a draw is read from a keystream
whose key says what is drawn, and a task that runs twice gives the same bytes twice.

Two kinds of draws, both one 64-bit word a row:

- `RowDraws`, for rows without an id: the ChaCha20 keystream of a key that belongs to one block of
  rows *and to the answers in it*, so one set of coins never meets two sets of answers;
- `IdDraws`, for respondents with an id: AES-256 of (id, answer, counter) under a key that belongs to
  the question, so reports do not depend on how rows are cut or ordered. The answer in the block makes
  a changed answer draw new coins.

References
----------
RFC 8439 (ChaCha20), FIPS 197 (AES), RFC 5869 (HKDF), RFC 2104 (HMAC).
"""

from __future__ import annotations

import hmac
import os
from typing import NoReturn, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

Words: TypeAlias = npt.NDArray[np.uint64]

SECRET_BYTES = 32

_WORD = np.dtype("<u8")


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
        info = b"".join(len(part).to_bytes(4, "big") + part for part in (label.encode() for label in labels))
        return HKDF(algorithm=SHA256(), length=32, salt=None, info=b"dask-canvass/1" + info).derive(
            self._secret_bytes
        )

    def reveal(self) -> bytes:
        """Return the bytes, to be written where only the owner reads."""
        return self._secret_bytes

    def __repr__(self) -> str:
        """Return the type's name and nothing of the secret."""
        return "Secret(...)"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled."""
        raise TypeError("a secret does not travel; hand over the path of its file")


class Draws(Protocol):
    """A source of independent uniform 64-bit words, `words(0)`, `words(1)`, ..., each one a row."""

    def __len__(self) -> int:
        """Return the number of rows."""
        ...

    def words(self, index: int) -> Words:
        """Return the rows' `index`-th words: uint64, shape (rows,)."""
        ...


class RowDraws:
    """Draws of a block of rows that have no id (ChaCha20, RFC 8439).

    Parameters
    ----------
    key : bytes
        32 bytes that belong to this block and the answers in it: see `block_key`.
    rows : int
        The rows of the block.

    Notes
    -----
    Word `index` of row r is bytes 8r to 8r + 8 of the keystream with nonce `index`: seekable.

    Examples
    --------
    >>> RowDraws(bytes(32), 3).words(0).dtype
    dtype('uint64')
    """

    def __init__(self, key: bytes, rows: int) -> None:
        self._cipher_key, self._rows = key, rows

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._rows

    def words(self, index: int) -> Words:
        """Return the rows' `index`-th words: uint64, shape (rows,)."""
        nonce = bytes(4) + index.to_bytes(12, "little")
        stream = np.zeros(self._rows, dtype=_WORD)
        encryptor = Cipher(algorithms.ChaCha20(self._cipher_key, nonce), mode=None).encryptor()
        if self._rows:
            encryptor.update_into(stream.view(np.uint8).data, stream.view(np.uint8).data)
        return stream


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
        room = np.empty(blocks.size + 2, dtype=_WORD)  # update_into wants a block to spare
        if blocks.size:
            self._encryptor.update_into(blocks.view(np.uint8).reshape(-1).data, room.view(np.uint8).data)
        return room[: blocks.size].reshape(-1, 2)


class IdDraws:
    """Draws of respondents with a unique id (AES-256, FIPS 197; one block gives two words).

    Parameters
    ----------
    key : bytes
        The question's 32-byte key.
    ids : ndarray of uint64, shape (rows, 2)
        The respondents' 128-bit id blocks: see `udfs.identity`.
    answers : ndarray of unsigned integers, shape (rows,) or (rows, questions)
        The truthful answers, mixed in as a second line of defence; several are folded into one number.

    Notes
    -----
    The plaintext block is the id block with (answer: 32 bits, counter: 32 bits) added without carry
    to its second half: distinct for distinct (id, answer, counter), as integer ids leave that half
    zero and text ids fill all 128 bits with a keyed hash. AES is a permutation, so distinct blocks
    give distinct outputs; that law differs from uniform words by less than rows**2 / 2**129.
    """

    def __init__(self, key: bytes, ids: Words, answers: npt.NDArray[np.unsignedinteger]) -> None:
        self._cipher = BlockCipher(key)
        self._ids = ids
        self._answers = _folded(answers) << np.uint64(32)
        self._counter = -1
        self._pair: Words = np.empty((0, 2), dtype=_WORD)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._ids)

    def words(self, index: int) -> Words:
        """Return the rows' `index`-th words: uint64, shape (rows,)."""
        counter, half = divmod(index, 2)
        if counter != self._counter:
            blocks = np.empty((len(self), 2), dtype=_WORD)
            blocks[:, 0] = self._ids[:, 0]
            np.bitwise_xor(self._ids[:, 1], self._answers | np.uint64(counter), out=blocks[:, 1])
            self._pair, self._counter = self._cipher.encrypt(blocks), counter
        return self._pair[:, half]


def _folded(answers: npt.NDArray[np.unsignedinteger]) -> Words:
    """Return a number below 2**32 for each row's answers: a single one itself.

    The multiplier is odd, so changing any one of several answers always changes the number.
    """
    if answers.ndim == 1:
        return answers.astype(np.uint64)
    folded = np.zeros(len(answers), dtype=np.uint64)
    for column in answers.T:
        folded = (folded * np.uint64(0x9E3779B1) + column) & np.uint64(0xFFFFFFFF)
    return folded


class Lane:
    """Words of a source that no other lane of it reads.

    A lane takes every word whose index leaves it as remainder; a randomizer that draws for two
    purposes gives each its own.
    """

    def __init__(self, draws: Draws, lane: int, lanes: int) -> None:
        self._draws, self._lane, self._lanes = draws, lane, lanes

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._draws)

    def words(self, index: int) -> Words:
        """Return the rows' `index`-th words of this lane: uint64, shape (rows,)."""
        return self._draws.words(self._lane + self._lanes * index)


def fresh_draws(rows: int) -> RowDraws:
    """Return draws under a key of their own from the operating system: what a respondent's device uses.

    Examples
    --------
    >>> len(fresh_draws(1))
    1
    """
    return RowDraws(os.urandom(32), rows)
