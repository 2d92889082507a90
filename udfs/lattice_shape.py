"""How a library lies in a matrix of small numbers: the shape that lets a worker send and receive least.

A worker downloads 3 KB of hint for every row once, and in each get it sends 4 bytes for every column, and
receives 2 bytes for every row. So items that are long against their number lie in several columns, each of
which is asked for by a query of its own in the same get; short ones lie several to a column, and come
together. Bytes become digits to an odd base, a few bytes at a time, and digits are centred: they are the
smaller, and so may the base be the larger.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

from udfs.errors import SpecError
from udfs.lattice_law import ANSWER_BITS_CUT, DIMENSION, HINT_BITS_CUT, element_failure, most_columns
from udfs.retrieval import Cost, check_size

Digits = npt.NDArray[np.int16]

FAILURE = Fraction(1, 2**40)
"""A job's decoding fails anywhere with less than this probability."""

MODULI = range(17, 1024, 2)
"""Entries are at most 511, so that products are exact: see `udfs.lattice_retrieval.wrapped_product`.

The smallest serves libraries of billions of columns.
"""

QUERY_ENTRY_BYTES = 4
ANSWER_ENTRY_BYTES = 4 - ANSWER_BITS_CUT // 8
HINT_ENTRY_BYTES = 4 - HINT_BITS_CUT // 8


@dataclass(frozen=True)
class Base:
    """A way to write groups of bytes as centred digits.

    Attributes
    ----------
    modulus : int
        Odd: digits are from -(modulus - 1) / 2 to (modulus - 1) / 2.
    group_bytes, group_digits : int
        So many bytes, at most 8, are written as so many digits.
    """

    modulus: int
    group_bytes: int
    group_digits: int

    def digits(self, size: int) -> int:
        """Return how many digits so many bytes take."""
        return -(-size // self.group_bytes) * self.group_digits

    def write(self, data: npt.NDArray[np.uint8]) -> Digits:
        """Return the digits of rows of bytes: uint8, shape (rows, bytes), to int16, shape (rows, digits)."""
        rows, size = data.shape
        groups = -(-size // self.group_bytes)
        padded = np.zeros((rows, groups * self.group_bytes), dtype=np.uint8)
        padded[:, :size] = data
        words = np.zeros((rows, groups, 8), dtype=np.uint8)
        words[:, :, : self.group_bytes] = padded.reshape(rows, groups, self.group_bytes)
        numbers = words.view("<u8")[:, :, 0]
        digits = np.empty((rows, groups, self.group_digits), dtype=np.int16)
        for place in range(self.group_digits - 1):
            rest = numbers // np.uint64(self.modulus)
            digits[:, :, place] = numbers - rest * np.uint64(self.modulus)
            numbers = rest
        digits[:, :, -1] = numbers
        digits -= self.modulus // 2
        return digits.reshape(rows, -1)

    def read(self, digits: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.uint8]:
        """Return the bytes of rows of digits, so many of each: what `write` was given.

        Digits that no bytes have, from failed decoding, give some bytes.
        """
        groups = -(-size // self.group_bytes)
        raised = (digits + self.modulus // 2).astype(np.uint64).reshape(-1, groups, self.group_digits)
        numbers = np.zeros(raised.shape[:2], dtype="<u8")
        for place in reversed(range(self.group_digits)):
            numbers = numbers * np.uint64(self.modulus) + raised[:, :, place]
        data = numbers.astype("<u8")[:, :, None].view(np.uint8)[:, :, : self.group_bytes]
        return np.ascontiguousarray(data.reshape(-1, groups * self.group_bytes)[:, :size])


@lru_cache(maxsize=1)
def bases() -> tuple[Base, ...]:
    """Return the bases worth considering: the larger the modulus, the more bits a digit holds.

    Examples
    --------
    >>> [base.modulus for base in bases()][-4:]
    [257, 567, 647, 777]
    """
    found = []
    for group_bytes, group_digits in product(range(1, 9), range(1, 17)):
        enough = [modulus for modulus in MODULI if modulus**group_digits >= 256**group_bytes]
        if enough:
            found.append(Base(enough[0], group_bytes, group_digits))
    best = list[Base]()
    for base in sorted(found, key=lambda one: (one.modulus, one.group_digits)):
        if not best or base.group_bytes * best[-1].group_digits > best[-1].group_bytes * base.group_digits:
            best.append(base)
    return tuple(best)


@dataclass(frozen=True)
class Shape:
    """How a library lies in its matrix, and what it is asked for.

    Attributes
    ----------
    items, item_bytes : int
        The library's size.
    gets, workers : int
        How many gets each worker makes, and how many workers there are: they decide the `failure`.
    base : Base
    stack : int
        How many items lie below each other in one column.
    spread : int
        How many columns one item lies in, and queries a get has. One of the two is 1.
    """

    items: int
    item_bytes: int
    gets: int
    workers: int
    base: Base
    stack: int = 1
    spread: int = 1

    def __post_init__(self) -> None:
        """Check the parameters."""
        _check(self.items, self.item_bytes, self.gets, self.workers)
        if min(self.stack, self.spread) != 1:
            raise SpecError(
                "lattice retrieval",
                "either items lie below each other, or each lies in several columns",
                f"{self.stack} below each other, {self.spread} columns each",
            )
        if not self.failure < FAILURE:
            raise SpecError(
                "lattice retrieval",
                "decoding must fail with a probability below 2**-40",
                f"{self.columns} columns of numbers modulo {self.base.modulus}",
                "let choose_shape choose",
            )

    @property
    def item_digits(self) -> int:
        """How many digits an item has."""
        return self.base.digits(self.item_bytes)

    @property
    def part(self) -> int:
        """How many of them lie in one column."""
        return -(-self.item_digits // self.spread)

    @property
    def rows(self) -> int:
        """The matrix's rows."""
        return self.stack * self.part

    @property
    def columns(self) -> int:
        """The matrix's columns."""
        return -(-self.items // self.stack) * self.spread

    @property
    def failure(self) -> Fraction:
        """A bound on the probability that any digit of any get of any worker is decoded wrongly."""
        return self.item_digits * self.gets * self.workers * element_failure(self.columns, self.base.modulus)

    @property
    def cost(self) -> Cost:
        """What a worker sends and receives; products are of two numbers modulo 2**32."""
        return Cost(
            hint_bytes=HINT_ENTRY_BYTES * DIMENSION * self.rows,
            upload_bytes=QUERY_ENTRY_BYTES * self.columns * self.spread,
            download_bytes=ANSWER_ENTRY_BYTES * self.rows * self.spread,
            products=self.rows * self.columns * self.spread,
        )

    def __str__(self) -> str:
        """Return what decides where each byte lies."""
        return (
            f"{self.items} items of {self.item_bytes} bytes modulo {self.base.modulus}"
            f" stack={self.stack} spread={self.spread}"
        )


def choose_shape(
    items: int, item_bytes: int, gets: int = 1, workers: int = 1, most_spread: int | None = None
) -> Shape:
    """Return the shape for which a worker sends and receives least, hint and all gets together.

    Parameters
    ----------
    items, item_bytes : int
        The library's size.
    gets, workers : int
        Decoding fails for none of these, but with a probability below 2**-40.
    most_spread : int, optional
        The most columns that an item may lie in: the platform's work grows with it. Any number by default.

    Raises
    ------
    SpecError

    Examples
    --------
    >>> shape = choose_shape(items=4096, item_bytes=50_000, workers=10**6)
    >>> shape.rows, shape.columns, shape.cost.bytes_per_worker(1) < 4096 * 50_000 / 14
    (2942, 69632, True)
    """
    _check(items, item_bytes, gets, workers)
    found = [_shape_of(base, items, item_bytes, gets, workers, most_spread) for base in bases()]
    shapes = [shape for shape in found if shape is not None]
    if not shapes:
        raise SpecError(
            "lattice retrieval", "some shape must decode surely enough", f"{workers} workers, {gets} gets"
        )
    return min(shapes, key=lambda shape: (shape.cost.bytes_per_worker(gets), shape.cost.products))


def _shape_of(
    base: Base, items: int, item_bytes: int, gets: int, workers: int, most_spread: int | None
) -> Shape | None:
    """Return the cheapest shape with this base, or None where none decodes surely enough."""
    digits = base.digits(item_bytes)
    limit = most_columns(base.modulus, FAILURE / (digits * gets * workers))
    if limit == 0:
        return None
    hint, upload, download = HINT_ENTRY_BYTES * DIMENSION, QUERY_ENTRY_BYTES * gets, ANSWER_ENTRY_BYTES * gets
    # With more items to a column than `highest` the hint alone, and with an item in more columns than `widest`
    # the queries alone, would cost more than all does with the fewest items to a column.
    lowest = -(-items // limit)
    cost = hint * lowest * digits + upload * -(-items // lowest) + download * lowest * digits
    highest, widest = min(items, cost // (hint * digits)), math.isqrt(cost // (upload * items))
    # All is least about the stack whose columns are sent with as many bytes as its rows come with: a quarter more at twice it.
    highest = max(lowest, min(highest, 2 * math.isqrt(upload * items // ((hint + download) * digits)) + 8))
    widest = min(digits, limit // items, widest, widest if most_spread is None else most_spread)
    stacks, spreads = np.arange(lowest, highest + 1, dtype=np.int64), np.arange(2, widest + 1, dtype=np.int64)
    stack = np.concatenate([stacks, np.ones_like(spreads)])
    spread = np.concatenate([np.ones_like(stacks), spreads])
    rows, columns = stack * -(-digits // spread), -(-items // stack) * spread
    least = int(np.argmin(hint * rows + spread * (upload * columns + download * rows)))
    return Shape(items, item_bytes, gets, workers, base, int(stack[least]), int(spread[least]))


def _check(items: int, item_bytes: int, gets: int, workers: int) -> None:
    """Refuse a library or a job of nothing."""
    check_size(items, item_bytes)
    if gets < 1 or workers < 1:
        raise SpecError(
            "lattice retrieval", "needs at least one worker and one get", f"{workers} workers, {gets} gets"
        )
