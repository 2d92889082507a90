"""Keyed random words: every draw is a function of a key and of where it belongs.

A distributed engine runs a lost task again. Were the second run to draw afresh, an observer would
hold two reports of one answer and the guarantee would be gone. So a draw is read from a keystream
whose key says what is drawn, and a task that runs twice gives the same bytes twice.

Two kinds of secret draws, both one 64-bit word a row:

- `RowDraws`, for rows without an id: the ChaCha20 keystream of a key that belongs to one block of
  rows *and to the answers in it*, so one set of coins never meets two sets of answers;
- `IdDraws`, for respondents with an id: AES-256 of (id, answer, counter) under a key that belongs to
  the question, so reports do not depend on how rows are cut or ordered. The answer in the block makes
  a changed answer draw new coins.

A block that answers as one respondent, by a steward, draws one row of words which none of its rows shares.

Public draws, which anybody can repeat, come from a published seed and from where rows stand.

References
----------
RFC 8439 (ChaCha20), FIPS 197 (AES).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import NoReturn, Protocol

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from udfs.folding import folded
from udfs.streams import WORD_TYPE, BlockCipher, Words, derive_key


class Draws(Protocol):
    """A source of independent uniform 64-bit words, `words(0)`, `words(1)`, ..., each one a row."""

    def __len__(self) -> int:
        """Return the number of rows."""
        ...

    def words(self, index: int) -> Words:
        """Return the rows' `index`-th words: uint64, shape (rows,)."""
        ...

    def public(self, seed: bytes) -> Draws:
        """Return draws that anybody can repeat: of a published seed and where rows stand, never of answers."""
        ...

    def whole(self) -> Draws:
        """Return draws of one row, the block as one respondent: they share no word with any row's."""
        ...


class Standing(Protocol):
    """Where the rows of a block stand in a population: by their ids, or by their numbers."""

    def __len__(self) -> int:
        """Return the number of rows."""
        ...

    def blocks(self, key: bytes) -> Words:
        """Return what tells rows apart: uint64, shape (rows, 2); text is hashed under a key."""
        ...


@dataclass(frozen=True)
class Numbered:
    """Rows that are told apart by their numbers in the whole population.

    Parameters
    ----------
    first : int
        The number of the first row.
    rows : int
    """

    first: int
    rows: int

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.rows

    def blocks(self, key: bytes) -> Words:
        """Return (number, 0) of every row: uint64, shape (rows, 2)."""
        blocks = np.zeros((self.rows, 2), dtype=WORD_TYPE)
        blocks[:, 0] = np.arange(self.first, self.first + self.rows, dtype=WORD_TYPE)
        return blocks


class PublicDraws:
    """Draws that are no secret: of a published seed, and of where rows stand (AES-256, as `IdDraws`).

    Privacy: they depend on no answer, so a report's law given all of them is what must be private.

    Parameters
    ----------
    standing : Standing
    """

    def __init__(self, standing: Standing) -> None:
        self._standing = standing

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._standing)

    def words(self, index: int) -> NoReturn:
        """Refuse: without a secret, nothing is drawn that could protect an answer."""
        raise TypeError("these rows have public draws alone")

    def public(self, seed: bytes) -> IdDraws:
        """Return the draws under a published seed of 32 bytes."""
        blocks = self._standing.blocks(derive_key(seed, "standing"))
        return IdDraws(derive_key(seed, "public draws"), blocks, np.zeros(len(self), dtype=np.uint8))

    def whole(self) -> NoReturn:
        """Refuse: without a secret, nothing is drawn that could protect a block."""
        raise TypeError("these rows have public draws alone")


class _OfBlock:
    """Secret draws of a block, which may draw as one respondent, and has public draws if it stands somewhere."""

    _block_secret: bytes | None
    _standing: Standing | None

    def public(self, seed: bytes) -> Draws:
        """Return draws that anybody can repeat: of a published seed and where rows stand."""
        if self._standing is None:
            raise TypeError("public draws are of rows that stand somewhere")
        return PublicDraws(self._standing).public(seed)

    def whole(self) -> RowDraws:
        """Return the draws of the block as one respondent, under a key of their own."""
        if self._block_secret is None:
            raise TypeError("a block draws as one respondent under a secret of its own")
        return RowDraws(derive_key(self._block_secret, "whole"), 1)


class RowDraws(_OfBlock):
    """Draws of a block of rows that have no id (ChaCha20, RFC 8439).

    Parameters
    ----------
    key : bytes
        32 bytes that belong to this block and the answers in it: see `block_key`.
    rows : int
        The rows of the block.
    standing : Standing, optional
        Where they stand, for public draws.

    Notes
    -----
    Word `index` of row r is bytes 8r to 8r + 8 of the keystream with nonce `index`: seekable.

    Examples
    --------
    >>> RowDraws(bytes(32), 3).words(0).dtype
    dtype('uint64')
    """

    def __init__(self, key: bytes, rows: int, standing: Standing | None = None) -> None:
        self._cipher_key, self._block_secret, self._rows, self._standing = key, key, rows, standing

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._rows

    def words(self, index: int) -> Words:
        """Return the rows' `index`-th words: uint64, shape (rows,)."""
        nonce = bytes(4) + index.to_bytes(12, "little")
        stream = np.zeros(self._rows, dtype=WORD_TYPE)
        encryptor = Cipher(algorithms.ChaCha20(self._cipher_key, nonce), mode=None).encryptor()
        if self._rows:
            encryptor.update_into(stream.view(np.uint8).data, stream.view(np.uint8).data)
        return stream


class IdDraws(_OfBlock):
    """Draws of respondents with a unique id (AES-256, FIPS 197; one block gives two words).

    Parameters
    ----------
    key : bytes
        The question's 32-byte key.
    ids : ndarray of uint64, shape (rows, 2)
        The respondents' 128-bit id blocks: see `udfs.identity`.
    answers : ndarray of unsigned integers or of float64, shape (rows,) or (rows, questions)
        The truthful answers, mixed in as a second line of defence: each row's are folded into 32 bits.
    standing : Standing, optional
        Where they stand, for public draws.
    block_secret : bytes, optional
        32 bytes that belong to this block and the answers in it, for its draws as one respondent.

    Notes
    -----
    The plaintext block is the id block with (answer: 32 bits, counter: 32 bits) added without carry
    to its second half: distinct for distinct (id, answer, counter), as integer ids leave that half
    zero and text ids fill all 128 bits with a keyed hash. AES is a permutation, so distinct blocks
    give distinct outputs; that law differs from uniform words by less than rows**2 / 2**129.
    """

    def __init__(
        self,
        key: bytes,
        ids: Words,
        answers: npt.NDArray[np.unsignedinteger | np.float64],
        standing: Standing | None = None,
        block_secret: bytes | None = None,
    ) -> None:
        self._cipher, self._standing, self._block_secret = BlockCipher(key), standing, block_secret
        self._ids, self._answers = ids, folded(answers) << np.uint64(32)
        self._counter = -1
        self._pair: Words = np.empty((0, 2), dtype=WORD_TYPE)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._ids)

    def words(self, index: int) -> Words:
        """Return the rows' `index`-th words: uint64, shape (rows,)."""
        counter, half = divmod(index, 2)
        if counter != self._counter:
            blocks = np.empty((len(self), 2), dtype=WORD_TYPE)
            blocks[:, 0] = self._ids[:, 0]
            np.bitwise_xor(self._ids[:, 1], self._answers | np.uint64(counter), out=blocks[:, 1])
            self._pair, self._counter = self._cipher.encrypt(blocks), counter
        return self._pair[:, half]


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

    def public(self, seed: bytes) -> Draws:
        """Return the source's public draws: they have no lanes."""
        return self._draws.public(seed)

    def whole(self) -> Lane:
        """Return this lane of the source's draws as one respondent."""
        return Lane(self._draws.whole(), self._lane, self._lanes)


class Some:
    """The words of some rows of a source.

    Parameters
    ----------
    draws : Draws
    rows : ndarray of int, shape (some,)
    """

    def __init__(self, draws: Draws, rows: npt.NDArray[np.intp]) -> None:
        self._draws, self._rows = draws, rows

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def words(self, index: int) -> Words:
        """Return these rows' `index`-th words: uint64, shape (rows,)."""
        return self._draws.words(index)[self._rows]

    def public(self, seed: bytes) -> Draws:
        """Return these rows' public draws."""
        return Some(self._draws.public(seed), self._rows)

    def whole(self) -> NoReturn:
        """Refuse: the block's draws as one respondent belong to all of its rows."""
        raise TypeError("some rows are no block, to draw as one respondent")


def fresh_draws(rows: int, standing: Standing | None = None) -> RowDraws:
    """Return draws under a key of their own from the operating system: what a respondent's device uses.

    Examples
    --------
    >>> len(fresh_draws(1))
    1
    """
    return RowDraws(os.urandom(32), rows, standing)
