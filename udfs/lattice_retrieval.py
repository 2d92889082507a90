"""Private retrieval by lattices: SimplePIR, by exact floating-point products.

The library is a matrix D of small numbers. A query for column j is A s + e + u 1_j modulo 2**32, with A
public, s a secret and e errors of the query's own: without s it cannot be told from uniform numbers (learning
with errors). The answer is D times the query, every row of it; a worker that knows s and the hint D A is left
with u D_j and errors too small to matter.

Departures from the paper: secrets are drawn as errors are, for which one product does where uniform ones take
three; an item may lie in several columns, asked for by as many queries of one get; and the platform sends 16
bits of each number of an answer and 24 of each of the hint, as what is left out is below the errors. See
`udfs.lattice_law` for parameters, security and the failure bound, and `udfs.lattice_shape` for where an item
lies.

References
----------
Henzinger, Hong, Corrigan-Gibbs, Meiklejohn, Vaikuntanathan: One server for the price of two: simple and fast
single-server private information retrieval (2023), section 4. Brakerski, Vaikuntanathan: Efficient fully
homomorphic encryption from (standard) LWE (2011), for numbers sent with fewer bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from udfs.draws import Draws, RowDraws
from udfs.errors import ProtocolError, SpecError
from udfs.laid_out import LaidOut
from udfs.lattice_law import ANSWER_BITS_CUT, DIMENSION, GAUSSIAN, HINT_BITS_CUT, scale
from udfs.lattice_shape import HINT_ENTRY_BYTES, Digits, Shape
from udfs.retrieval import Hint, Query, Rows, check_items, checked_places
from udfs.streams import derive_key

Numbers = npt.NDArray[np.uint32]

_NUMBER = np.dtype("<u4")
_WRITTEN_BYTES = 1 << 20
"""Items are written as digits so many bytes at a time: that takes up to 30 times as much room."""
_MATRIX_ROWS = 4096
"""Rows of A under one key: 16 MB."""
_INNER, _WIDE = 2048, 1024
"""A product's tiles, at most."""
_MANY, _ROWS, _MANY_ROWS = 32, 64, 256
"""Rows of a left tile, for few columns and for many: few read it but once, so it stays in the nearest cache, 1 MB
of float64; with many, a library for products rearranges the right tile for each left one, which pays by its rows."""


@dataclass(frozen=True)
class Kept:
    """What workers need to make out the answers to their queries.

    Attributes
    ----------
    secrets : ndarray of int16, shape (workers, spread, 1024)
    places : ndarray of int64, shape (workers,)
        Of the items.
    """

    secrets: npt.NDArray[np.int16] = field(repr=False)
    places: npt.NDArray[np.int64] = field(repr=False)


@dataclass(frozen=True)
class LatticeRetrieval(LaidOut[Shape]):
    """SimplePIR for one library.

    Privacy: computational; all that the platform sees of a worker is numbers that cannot be told from uniform
    ones, so long as no draws serve two gets. Cost: see `Shape.cost`; the platform multiplies every row with
    every query.

    Parameters
    ----------
    shape : Shape
    version : str
        The library's, from `version_of`. It is also the seed of the public matrix: nobody chooses that.

    Examples
    --------
    >>> from udfs.draws import fresh_draws
    >>> from udfs.lattice_shape import choose_shape
    >>> items = [b"plough", b"sow   ", b"reap  "]
    >>> shape = choose_shape(items=3, item_bytes=6, workers=2)
    >>> lattice = LatticeRetrieval.of(shape, items)
    >>> library = lattice.library(items)
    >>> hint = Hint(lattice.version, lattice.hint(library, 0))
    >>> query = lattice.query(np.array([2, 0]), fresh_draws(2))
    >>> [bytes(item) for item in lattice.decode(query.kept, lattice.answer(library, 0, query.sent), hint)]
    [b'reap  ', b'plough']
    """

    name = "lattice"

    @property
    def failure(self) -> Fraction:
        """A bound on the probability that any worker of the job decodes any wrong byte: below 2**-40."""
        return self.shape.failure

    def library(self, items: Sequence[bytes]) -> Digits:
        """Return the library's matrix D: int16, shape (rows, columns). Platform."""
        shape = self.shape
        check_items(items, shape.items, shape.item_bytes)
        library = np.empty((shape.rows, shape.columns), dtype=np.int16)
        some = shape.stack * max(1, _WRITTEN_BYTES // (shape.stack * shape.item_bytes))
        for first in range(0, shape.items, some):
            block = items[first : first + some]
            data = np.frombuffer(b"".join(block), dtype=np.uint8).reshape(len(block), -1)
            start, columns = first // shape.stack * shape.spread, -(-len(block) // shape.stack) * shape.spread
            digits = np.zeros((columns * shape.stack // shape.spread, shape.spread * shape.part), np.int16)
            digits[: len(block), : shape.item_digits] = shape.base.write(data)
            library[:, start : start + columns] = digits.reshape(columns, shape.rows).T
        return library

    def hint(self, rows: Digits, first: int) -> Rows:
        """Return D A of these rows, without its low bits: uint8, shape (rows, 1024, 3). Platform."""
        hint = np.zeros((len(rows), DIMENSION), dtype=_NUMBER)
        for start, matrix in self._matrix():
            hint += wrapped_product(rows[:, start : start + len(matrix)], matrix)
        return _rounded(hint, HINT_BITS_CUT)[..., None].view(np.uint8)[..., :HINT_ENTRY_BYTES]

    def query(self, places: npt.NDArray[np.integer], draws: Draws) -> Query:
        """Ask for the items at these places: `sent` is uint32, shape (workers, spread, columns). Workers.

        Words 0 to 3 of a worker's draws are a secret from which follows the key of its keystream for this
        get: secrets and errors are so many that each worker is worth a cipher of its own. The key belongs to
        the library and the place too: two queries with the same errors would give away their difference.
        """
        shape = self.shape
        kept, errors = self._drawn(places, draws)
        secrets = kept.secrets.reshape(-1, DIMENSION)
        sent = errors.astype(_NUMBER)
        for start, matrix in self._matrix():
            sent[:, start : start + len(matrix)] += wrapped_product(secrets, matrix.T)
        sent = sent.reshape(len(kept.places), shape.spread, shape.columns)
        ways = np.arange(shape.spread)
        columns = (kept.places // shape.stack * shape.spread)[:, None] + ways
        sent[np.arange(len(sent))[:, None], ways, columns] += np.uint32(scale(shape.base.modulus))
        return Query(sent, kept)

    def keep(self, places: npt.NDArray[np.integer], draws: Draws) -> Kept:
        """Return the secrets of queries for these places. Workers."""
        return self._drawn(places, draws)[0]

    def _drawn(self, places: npt.NDArray[np.integer], draws: Draws) -> tuple[Kept, npt.NDArray[np.int16]]:
        """Return secrets, and errors: int16, shape (workers spread, columns)."""
        shape = self.shape
        places = checked_places(places, shape.items)
        workers, drawn = len(places), shape.spread * (DIMENSION + shape.columns)
        if len(draws) != workers:
            raise SpecError(
                "retrieval", "each worker must have draws", f"{workers} workers, {len(draws)} draws"
            )
        words = np.stack([draws.words(index) for index in range(4)], axis=1)
        numbers = np.empty((workers, drawn), dtype=np.int16)
        for worker, (secret, place) in enumerate(zip(words, places.tolist(), strict=True)):
            key = derive_key(secret.tobytes(), "lattice query", self.version, str(place))
            numbers[worker] = GAUSSIAN.draw(RowDraws(key, drawn))
        numbers = numbers.reshape(workers * shape.spread, DIMENSION + shape.columns)
        secrets = numbers[:, :DIMENSION].reshape(workers, shape.spread, DIMENSION).copy()
        return Kept(secrets, places), numbers[:, DIMENSION:]

    def answer(self, rows: Digits, first: int, sent: Rows) -> Rows:
        """Return D times each query, less its low bits: uint16, shape (workers, spread, rows of the block).

        Platform: every row and every column is multiplied, whatever is asked.
        """
        spread, columns = self.shape.spread, self.shape.columns
        if sent.ndim != 3 or sent.shape[1:] != (spread, columns) or sent.dtype != _NUMBER:
            raise ProtocolError(
                "lattice query",
                f"must be uint32 of shape (workers, {spread}, {columns})",
                f"{sent.dtype} of shape {sent.shape}",
            )
        answers = wrapped_product(rows, sent.reshape(-1, columns).T).T
        return _rounded(answers, ANSWER_BITS_CUT).astype(np.uint16).reshape(len(sent), spread, len(rows))

    def combine(self, parts: Sequence[Rows]) -> Rows:
        """Put the answers of adjoining blocks of rows, in their order, side by side."""
        return np.concatenate(parts, axis=2)

    def decode(self, kept: Any, answers: Rows, hint: Hint) -> npt.NDArray[np.uint8]:
        """Make out each worker's item: uint8, shape (workers, item_bytes). Workers.

        Wrong with a probability below 2**-40 in a whole job (`failure`): the item's own checksum would tell.
        """
        shape, workers = self.shape, len(kept.places)
        hint.check(self.version)
        expected = (shape.rows, DIMENSION, HINT_ENTRY_BYTES), (workers, shape.spread, shape.rows)
        if (hint.rows.shape, answers.shape) != expected:
            raise ProtocolError(
                "lattice answer",
                f"hint and answers must have shapes {expected[0]} and {expected[1]}",
                f"{hint.rows.shape} and {answers.shape}",
                "combine those of all blocks of the library, in their order",
            )
        whole = np.zeros((shape.rows, DIMENSION, _NUMBER.itemsize), dtype=np.uint8)
        whole[..., -HINT_ENTRY_BYTES:] = hint.rows
        masks = wrapped_product(kept.secrets.reshape(-1, DIMENSION), whole.view(_NUMBER)[..., 0].T)
        left = (answers.astype(_NUMBER) << np.uint32(ANSWER_BITS_CUT)) - masks.reshape(answers.shape)
        step = scale(shape.base.modulus)
        digits = (left.view(np.int32).astype(np.int64) + step // 2) // step
        own = (kept.places % shape.stack * shape.part)[:, None] + np.arange(shape.part)
        digits = np.take_along_axis(digits, own[:, None, :], axis=2).reshape(
            workers, shape.spread * shape.part
        )
        return shape.base.read(digits[:, : shape.item_digits], shape.item_bytes)

    def _matrix(self) -> Iterator[tuple[int, Numbers]]:
        """Give the public matrix A, a row for each column of D, by blocks: uint32, shape (rows, 1024)."""
        for start in range(0, self.shape.columns, _MATRIX_ROWS):
            rows = min(_MATRIX_ROWS, self.shape.columns - start)
            key = derive_key(bytes.fromhex(self.version), "lattice matrix", str(start))
            yield start, RowDraws(key, rows * DIMENSION // 2).words(0).view(_NUMBER).reshape(rows, DIMENSION)


def wrapped_product(small: npt.NDArray[np.int16], numbers: Numbers) -> Numbers:
    """Return the product of two matrices modulo 2**32, by float64 products that are exact.

    Parameters
    ----------
    small : ndarray of int16, shape (rows, inner)
        At most 511 in absolute value.
    numbers : ndarray of uint32, shape (inner, wide)

    Returns
    -------
    ndarray of uint32, shape (rows, wide)

    Notes
    -----
    Numbers are centred: at most 2**31 in absolute value. A sum of 2048 products is at most 511 2**31 2048 <
    2**51, and so is any part of it: all of them are integers that float64 holds exactly, up to 2**53, in
    whatever order and with whatever fused steps a library adds them up. So one product does for 32 bits,
    where halves of 16 bits would take two.

    Examples
    --------
    >>> wrapped_product(np.array([[-1, 2]], dtype=np.int16), np.array([[1], [2**31]], dtype=np.uint32))
    array([[4294967295]], dtype=uint32)
    """
    rows, inner = small.shape
    wide = numbers.shape[1]
    product = np.zeros((rows, wide), dtype=_NUMBER)
    height = _ROWS if wide < _MANY else _MANY_ROWS
    room = np.empty((min(rows, height), min(inner, _INNER)))
    for across in range(0, wide, _WIDE):
        for start in range(0, inner, _INNER):
            tile = numbers[start : start + _INNER, across : across + _WIDE]
            right = tile.view(np.int32).astype(np.float64)
            for row in range(0, rows, height):
                block = small[row : row + height, start : start + _INNER]
                left = room[: block.shape[0], : block.shape[1]]
                np.copyto(left, block)
                product[row : row + height, across : across + _WIDE] += (
                    (left @ right).astype(np.int64).astype(_NUMBER)
                )
    return product


def _rounded(numbers: Numbers, bits: int) -> Numbers:
    """Return numbers modulo 2**32 without so many low bits, rounded to the nearest."""
    return (numbers + np.uint32(1 << bits - 1)) >> np.uint32(bits)
