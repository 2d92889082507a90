"""How a library is laid out for retrieval over Paillier encryption, and what that costs.

See `udfs.paillier_retrieval` for the protocol.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from udfs.paillier_messages import message_bytes
from udfs.retrieval import Cost, check_size
from udfs.simultaneous_powers import products
from udfs.worker_keys import check_bits


@dataclass(frozen=True)
class PaillierShape:
    """A matrix of items in rows and columns, each of them cut into chunks.

    Parameters
    ----------
    items, item_bytes : int
        How many items there are, and how long each of them is.
    bits : int, optional
        |n|, the length of every worker's modulus: a multiple of 16.

    Raises
    ------
    SpecError

    Examples
    --------
    >>> shape = PaillierShape(items=64, item_bytes=2000)
    >>> shape.columns, shape.rows, shape.chunks
    (8, 8, 8)
    >>> shape.cost
    Cost(hint_bytes=0, upload_bytes=8448, download_bytes=8448, products=163267)
    """

    items: int
    item_bytes: int
    bits: int = 2048

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_size(self.items, self.item_bytes)
        check_bits(self.bits)

    @property
    def chunks(self) -> int:
        """How many chunks an item is cut into: as few as plaintexts below n can hold."""
        return -(-self.item_bytes // ((self.bits - 1) // 8))

    @property
    def chunk_bytes(self) -> int:
        """How many bytes a chunk has: all the same, with zeros behind the item's last."""
        return -(-self.item_bytes // self.chunks)

    @property
    def columns(self) -> int:
        """How many items a row has: 1, or the root of their number, whichever has less to transfer.

        c + ceil(items / c) is least at c = ceil(sqrt(items)).
        """
        root = math.isqrt(self.items - 1) + 1
        recursive = root + -(-self.items // root) + 2 * self.chunks
        return root if recursive < self.items + self.chunks else 1

    @property
    def rows(self) -> int:
        """How many rows the matrix has."""
        return -(-self.items // self.columns)

    @property
    def selectors(self) -> int:
        """How many bits a worker encrypts: one for each row, and for each column where there are several."""
        return self.rows + (self.columns if self.columns > 1 else 0)

    @property
    def answers(self) -> int:
        """How many ciphertexts come back: one for each chunk, or for each digit of an encrypted one."""
        return self.chunks * (2 if self.columns > 1 else 1)

    @property
    def exponent_bytes(self) -> int:
        """The length of what rows' ciphertexts are raised to: of a chunk, or of a digit, which is below n."""
        return self.bits // 8 if self.columns > 1 else self.chunk_bytes

    @property
    def cost(self) -> Cost:
        """What one get costs; products are modulo n^2, where the library is one block."""
        work = products(self.rows, self.answers, 8 * self.exponent_bytes)
        if self.columns > 1:
            work += products(self.columns, self.rows * self.chunks, 8 * self.chunk_bytes)
        return Cost(
            hint_bytes=0,
            upload_bytes=message_bytes(self.selectors, self.bits),
            download_bytes=message_bytes(self.answers, self.bits),
            products=work,
        )

    def __str__(self) -> str:
        """Return the sizes in words: they tell versions of a library apart."""
        return (
            f"{self.bits} bits, {self.items} items of {self.item_bytes} bytes, "
            f"{self.rows} x {self.columns} x {self.chunks} x {self.chunk_bytes}"
        )
