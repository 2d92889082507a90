"""Retrieval over Paillier encryption, by encrypted selection bits: papers/private-skills' PIR-get (XPIR).

Where it runs: workers ask and make out (`query`, `decode`), the platform answers. The library is a matrix of
items with some sqrt(items) rows and columns, an item cut into chunks of at most |n| - 1 bits. A worker sends
n, a bit for each column and a bit for each row, all 0 but those of its item, each encrypted under a key of
its own. For chunk j, L, the platform computes

    a_rj = prod_c column_c^(L_rcj) mod n^2    in each row r: an encryption of its chunk in the item's column;
    prod_r row_r^(digit of a_rj) mod n^2      for both digits to base n: encryptions of the item's row's.

So what comes back is twice encrypted, and four times as long as the item; the worker decrypts twice. Where
there are few items for their length, one column is less to transfer (`udfs.paillier_shape`): its bits are not
sent, a_rj is the chunk itself, and what comes back is twice as long.

Both are products of powers of the same numbers for all chunks (`udfs.simultaneous_powers`). Rows in different
blocks give products that are multiplied together: any cut gives the same bytes.

Cost, at 2048 bits and with several columns: 256 + 512 (rows + columns) bytes up, 256 + 1024 chunks bytes
down; with one column 256 + 512 items up, 256 + 512 chunks down. Where 64 items have 4,000 bytes and more, the
platform goes over 1.3 Mbit of them a second and core, eight times as fast as power by power; with 1,000 bytes
it is five times as fast, with 255 three times.

Security
--------
- The platform sees n and ciphertexts whose number depends on the library alone. It tells places apart only if
  it decides composite residuosity modulo the n of a worker (see `udfs.worker_keys`): estimated at 112 bits
  for |n| = 2048.
- Every query has a key and randomness of its own, derived from its words, place and library: no ciphertext
  serves two queries, and words that would by mistake serve two places give keys that have nothing to do with
  each other.
- `answer` multiplies powers of all ciphertexts whatever they hide. Its time depends on the items, which
  are the platform's own.
- A platform that alters items learns what it did from nothing but what workers do next: whoever makes out
  wrong bytes must not ask again. The library is no secret from workers, who may learn more of it than their
  item.

Nothing fails by chance: decoding is exact.

References
----------
Kushilevitz, Ostrovsky: Replication is not needed (1997), for the recursion. Stern: A new and efficient
all-or-nothing disclosure of secrets protocol (1998), over additively homomorphic encryption. Aguilar-Melchor,
Barrier, Fousse, Killijian: XPIR: private information retrieval for everyone (2016).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np
import numpy.typing as npt
from gmpy2 import mpz

from udfs.draws import Draws
from udfs.errors import ProtocolError, SpecError
from udfs.laid_out import LaidOut
from udfs.paillier import check_ciphertext
from udfs.paillier_messages import ByteRows, in_bytes, pack, unpack
from udfs.paillier_shape import PaillierShape
from udfs.retrieval import Hint, Query, check_items, checked_places
from udfs.simultaneous_powers import simultaneous_powers
from udfs.streams import byte_stream, derive_key
from udfs.worker_keys import WorkerKey, worker_key

_SEED_WORDS = 4


@dataclass(frozen=True)
class PaillierRetrieval(LaidOut[PaillierShape]):
    """Retrieval over Paillier encryption from one library: a `udfs.retrieval.Retrieval`.

    Parameters
    ----------
    shape : PaillierShape
    version : str
        The library's, from `version_of`.

    Examples
    --------
    >>> from udfs.draws import fresh_draws
    >>> leaves = [b"plumbing ", b"carpentry", b"design   "]
    >>> shape = PaillierShape(items=3, item_bytes=9, bits=256)
    >>> retrieval = PaillierRetrieval.of(shape, leaves)
    >>> library = retrieval.library(leaves)
    >>> hint = Hint(retrieval.version, retrieval.hint(library, 0))
    >>> query = retrieval.query(np.array([2, 0]), fresh_draws(2))
    >>> parts = [retrieval.answer(library[cut], cut.start, query.sent) for cut in (slice(0, 1), slice(1, 3))]
    >>> [row.tobytes() for row in retrieval.decode(query.kept, retrieval.combine(parts), hint)]
    [b'design   ', b'plumbing ']
    """

    name = "paillier"
    failure = Fraction(0)

    def library(self, items: Sequence[bytes]) -> ByteRows:
        """Return the library's matrix: uint8, shape (rows, columns, chunks, chunk_bytes), else zeros.

        Raises
        ------
        SchemaError
            Where items are not as many or as long as they should be.
        """
        shape = self.shape
        check_items(items, shape.items, shape.item_bytes)
        matrix = np.zeros((shape.rows * shape.columns, shape.chunks * shape.chunk_bytes), dtype=np.uint8)
        found = np.frombuffer(b"".join(items), dtype=np.uint8)
        matrix[: shape.items, : shape.item_bytes] = found.reshape(shape.items, shape.item_bytes)
        return matrix.reshape(shape.rows, shape.columns, shape.chunks, shape.chunk_bytes)

    def hint(self, rows: ByteRows, first: int) -> ByteRows:
        """Return nothing for each row: no hint is needed."""
        return np.zeros((len(rows), 0), dtype=np.uint8)

    def query(self, places: npt.NDArray[np.integer], draws: Draws) -> Query:
        """Ask for the items at these places, each under a new key of the worker's.

        Parameters
        ----------
        places : ndarray of int, shape (workers,)
        draws : Draws
            One row a worker, and of each get its own. Four words are read, and stretched by ChaCha20.

        Returns
        -------
        Query
            Sent: uint8, shape (workers, upload_bytes), of each worker n, the rows' bits and the columns'.
            Kept: a tuple of the workers' keys.

        Raises
        ------
        SpecError
            Where a place is outside of the library, before anything is drawn or encrypted.

        Notes
        -----
        Cost: 30 ms for a key of 2048 bits, and 3.2 ms for each bit.
        """
        shape, places = self.shape, checked_places(places, self.items)
        keys, sent = [], np.zeros((len(places), shape.cost.upload_bytes), dtype=np.uint8)
        for place, (key, stream), message in zip(
            places.tolist(), self._drawn(places, draws), sent, strict=True
        ):
            row, column = divmod(place, shape.columns)
            selectors = [0] * shape.selectors
            selectors[row] = 1
            if shape.columns > 1:
                selectors[shape.rows + column] = 1
            message[:] = pack(key.n, key.encrypt(selectors, stream), shape.bits)
            keys.append(key)
        return Query(sent, tuple(keys))

    def keep(self, places: npt.NDArray[np.integer], draws: Draws) -> tuple[WorkerKey, ...]:
        """Return the keys of queries for these places. Workers."""
        return tuple(key for key, _ in self._drawn(checked_places(places, self.items), draws))

    def _drawn(
        self, places: npt.NDArray[np.int64], draws: Draws
    ) -> Iterator[tuple[WorkerKey, Callable[[int], bytes]]]:
        """Yield each worker's key, and the stream that its ciphertexts' randomness comes from."""
        if len(draws) != len(places):
            raise SpecError(
                "retrieval", "each worker must have draws", f"{len(places)} workers, {len(draws)} draws"
            )
        seeds = np.stack([draws.words(index) for index in range(_SEED_WORDS)], axis=1)
        for place, seed in zip(places.tolist(), seeds, strict=True):
            stream = byte_stream(
                derive_key(seed.tobytes(), f"paillier {self.shape}", self.version, str(place))
            )
            yield worker_key(self.shape.bits, stream), stream

    def answer(self, rows: ByteRows, first: int, sent: ByteRows) -> ByteRows:
        """Return what a block of rows says to queries.

        Parameters
        ----------
        rows : ndarray of uint8, shape (rows of the block, columns, chunks, chunk_bytes)
        first : int
            Which row of the matrix the first one is.
        sent : ndarray of uint8, shape (workers, upload_bytes)

        Returns
        -------
        ndarray of uint8, shape (workers, download_bytes)
            Of each worker n and the products.

        Raises
        ------
        ProtocolError
            Where a query is none: of another length, or with numbers that are no ciphertexts under its n.

        Notes
        -----
        Each block takes powers of the columns' ciphertexts anew, up to 12 ms each at 2048 bits: few large
        blocks are best.
        """
        shape = self.shape
        answers = np.zeros((len(sent), shape.cost.download_bytes), dtype=np.uint8)
        for worker, (message, answer) in enumerate(zip(sent, answers, strict=True)):
            n, selectors = unpack(message, shape.selectors, shape.bits, f"query {worker}")
            exponents = self._exponents(rows, n, selectors[shape.rows :])
            bases = selectors[first : first + len(rows)]
            powers = simultaneous_powers(bases, n, shape.exponent_bytes, shape.answers)
            products = [powers.product(exponents[:, j]) for j in range(shape.answers)]
            answer[:] = pack(n, products, shape.bits)
        return answers

    def _exponents(self, rows: ByteRows, n: mpz, columns: Sequence[mpz]) -> ByteRows:
        """Return what the rows' ciphertexts are raised to: uint8, shape (rows, answers, exponent_bytes)."""
        shape = self.shape
        if shape.columns == 1:
            return rows[:, 0]
        powers = simultaneous_powers(columns, n, shape.chunk_bytes, len(rows) * shape.chunks)
        digits = [
            digit
            for row in rows
            for j in range(shape.chunks)
            for digit in reversed(divmod(powers.product(row[:, j]), n))
        ]
        return in_bytes(digits, shape.exponent_bytes).reshape(len(rows), shape.answers, shape.exponent_bytes)

    def combine(self, parts: Sequence[ByteRows]) -> ByteRows:
        """Multiply the answers of blocks: associative, and in any order.

        Raises
        ------
        ProtocolError
            Where they answer different queries.
        """
        return reduce(self._combined, parts)

    def _combined(self, left: ByteRows, right: ByteRows) -> ByteRows:
        """Return the products of two blocks' answers."""
        count, bits = self.shape.answers, self.shape.bits
        answers = np.empty_like(left)
        for worker, parts in enumerate(zip(left, right, strict=True)):
            where = f"answer {worker}"
            (n, ours), (other, theirs) = (unpack(part, count, bits, where) for part in parts)
            if n != other:
                raise ProtocolError(where, "its parts must answer one query", "parts under different keys")
            answers[worker] = pack(n, [a * b % n**2 for a, b in zip(ours, theirs, strict=True)], bits)
        return answers

    def decode(self, kept: Sequence[WorkerKey], answers: ByteRows, hint: Hint) -> ByteRows:
        """Decrypt each worker's item.

        Parameters
        ----------
        kept : sequence of WorkerKey, one a worker
        answers : ndarray of uint8, shape (workers, download_bytes)
        hint : Hint
            Of the same library; it holds nothing else.

        Returns
        -------
        ndarray of uint8, shape (workers, item_bytes)

        Raises
        ------
        ProtocolError
            Where the hint belongs to another library, or an answer is not under the worker's key or holds no
            item. A ciphertext of anything else mostly shows; that none is left, is for the item's own
            checksum.
        """
        shape = self.shape
        hint.check(self.version)
        if len(answers) != len(kept):
            raise ProtocolError("answers", "must be one for each query", f"{len(answers)} for {len(kept)}")
        items = np.zeros((len(kept), shape.chunks * shape.chunk_bytes), dtype=np.uint8)
        for worker, (key, message) in enumerate(zip(kept, answers, strict=True)):
            where = f"answer {worker}"
            n, ciphertexts = unpack(message, shape.answers, shape.bits, where)
            if n != key.n:
                raise ProtocolError(where, "must be under the worker's own key", "one under another")
            plaintexts = key.decrypt(ciphertexts)
            if shape.columns > 1:
                inner = [low + n * high for low, high in zip(plaintexts[::2], plaintexts[1::2], strict=True)]
                for ciphertext in inner:
                    check_ciphertext(ciphertext, n, where)
                plaintexts = key.decrypt(inner)
            if max(plaintexts).bit_length() > 8 * shape.chunk_bytes:
                raise ProtocolError(where, "must hold the chunks of an item", "larger numbers")
            items[worker] = in_bytes(plaintexts, shape.chunk_bytes).reshape(-1)
        if items[:, shape.item_bytes :].any():
            raise ProtocolError("answers", "must hold zeros behind an item", "other bytes")
        return items[:, : shape.item_bytes]
