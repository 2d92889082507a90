"""Products of powers of the same bases under many lists of exponents, modulo n^2.

Where it runs: on the platform, in blocks. It sees ciphertexts, and exponents that are no secret: its time
depends on the exponents.

Methods, with an exponent cut into w-bit digits. For many lists (`StoredPowers`), each base c is raised once
to the powers c^(2^(w i)); then

    prod_j c_j^(x_j) = prod over digits d of (the product of all c_j^(2^(w i)) whose digit is d)^d,

so every power is multiplied into the bucket of its digit, and the buckets are raised to their digits at once
by two running products. A digit of a base costs one product whatever its w bits are, and a list 2^(w + 1)
more; there are no squarings, as these have been done once for all lists. For few lists (`InterleavedPowers`)
storing does not pay: each base's powers up to c^(2^w - 1) are stored, and a list takes one digit of all bases
after another, from the highest, with squarings between them that serve all bases.

References
----------
Brickell, Gordon, McCurley, Wilson (1992), Fast exponentiation with precomputation (stored powers and
buckets). Pippenger (1976), On the evaluation of powers and related problems. Straus (1964), Addition chains
of vectors (interleaving).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import gmpy2
import numpy as np
import numpy.typing as npt
from gmpy2 import mpz

_WIDEST = 16
_HALF_LENGTH = 0.6
"""What a product with a factor below n takes of one with a factor below n^2, measured at 2048 bits."""


class Powers(Protocol):
    """Bases, and their powers' products."""

    def product(self, exponents: npt.NDArray[np.uint8]) -> mpz:
        """Return the product of the bases' powers modulo n^2: the same as by any other method.

        Parameters
        ----------
        exponents : ndarray of uint8, shape (bases, exponent_bytes)
            The lowest byte first.

        Returns
        -------
        mpz
        """
        ...


def simultaneous_powers(bases: Sequence[int], n: int, exponent_bytes: int, lists: int) -> Powers:
    """Return what takes products of powers of units modulo n^2 in the least time, for so many lists of exponents.

    Parameters
    ----------
    bases : sequence of int
        Units modulo n^2; there may be none.
    n : int
        Odd, above 1.
    exponent_bytes : int
        The length of every exponent.
    lists : int
        It may be used for more or fewer, in more time.

    Examples
    --------
    >>> powers = simultaneous_powers([2, 3], 35, exponent_bytes=1, lists=1)
    >>> powers.product(np.array([[5], [2]], dtype=np.uint8)) == 2**5 * 3**2
    True
    """
    size, bits = len(bases), 8 * exponent_bytes
    if interleaved_products(size, lists, bits) < stored_products(size, lists, bits):
        return InterleavedPowers(bases, n, exponent_bytes, interleaved_digit_bits(size, lists, bits))
    return StoredPowers(bases, n, exponent_bytes)


class InterleavedPowers:
    """Products of powers of units modulo n^2, for few lists of exponents: see `simultaneous_powers`.

    Notes
    -----
    Cost, at 2048 bits and exponents of as many: 10 ms a list for squarings, and 2 ms for each base in it, where
    one power by itself takes 9 ms.
    """

    def __init__(self, bases: Sequence[int], n: int, exponent_bytes: int, width: int) -> None:
        self._square, self._shape, self._width = mpz(n) ** 2, (len(bases), exponent_bytes), width
        self._tables = [self._table(mpz(base)) for base in bases]

    def _table(self, base: mpz) -> list[mpz]:
        """Return a base's powers by digit."""
        table = [mpz(1), base]
        while len(table) < 1 << self._width:
            table.append(table[-1] * base % self._square)
        return table

    def product(self, exponents: npt.NDArray[np.uint8]) -> mpz:
        """Return the product of the bases' powers modulo n^2."""
        total, square = mpz(1), self._square
        for digits in _in_digits(exponents, self._shape, self._width).T[::-1].tolist():
            for _ in range(self._width):
                total = total * total % square
            for table, digit in zip(self._tables, digits, strict=True):
                if digit:
                    total = total * table[digit] % square
        return total


class StoredPowers:
    """Products of powers of units modulo n^2, for many lists of exponents: see `simultaneous_powers`.

    Notes
    -----
    Modulo n^2 a power g is t (1 + n u) with t = g mod n and u = (g div n) / t mod n, and (1 + n u)(1 + n u')
    is 1 + n (u + u'). So buckets multiply the t, numbers of half the length, and add the u up, as in
    `udfs.paillier`.

    Cost, at 2048 bits and exponents of as many: 12 ms a base, once, and .2 MB of stored powers; then .6 to 1
    ms a base and list.
    """

    def __init__(self, bases: Sequence[int], n: int, exponent_bytes: int) -> None:
        self._n, self._square = mpz(n), mpz(n) ** 2
        self._shape = (len(bases), exponent_bytes)
        self._width = digit_bits(len(bases), 8 * exponent_bytes)
        self._digits = -(-8 * exponent_bytes // self._width)
        self._stored = [power for base in bases for power in self._powers(mpz(base))]

    def _powers(self, power: mpz) -> list[tuple[mpz, mpz]]:
        """Return (t, u) of a base's powers, one for each digit of an exponent, the lowest first."""
        stored = []
        for _ in range(self._digits):
            above, below = gmpy2.f_divmod(power, self._n)
            stored.append((below, above * gmpy2.invert(below, self._n) % self._n))
            for _ in range(self._width):
                power = power * power % self._square
        return stored

    def product(self, exponents: npt.NDArray[np.uint8]) -> mpz:
        """Return the product of the bases' powers modulo n^2."""
        digits = _in_digits(exponents, self._shape, self._width).reshape(-1)
        square = self._square
        products, sums = [mpz(1)] * (1 << self._width), [mpz(0)] * (1 << self._width)
        places = np.flatnonzero(digits)
        for digit, place in zip(digits[places].tolist(), places.tolist(), strict=True):
            t, u = self._stored[place]
            products[digit] = products[digit] * t % square
            sums[digit] += u
        # prod_d b_d^d is the product, over d from the highest to 1, of all running products of b from d up.
        total, added, running, running_sum = mpz(1), mpz(0), mpz(1), mpz(0)
        for bucket, bucket_sum in zip(products[:0:-1], sums[:0:-1], strict=True):
            running = running * bucket % square
            running_sum += bucket_sum
            total = total * running % square
            added += running_sum
        return total * (1 + self._n * (added % self._n)) % square


def _in_digits(exponents: npt.NDArray[np.uint8], shape: tuple[int, int], width: int) -> npt.NDArray[np.intp]:
    """Return all digits, each exponent's lowest first: shape (bases, digits)."""
    if exponents.shape != shape or exponents.dtype != np.uint8:
        raise ValueError(
            f"exponents must be uint8 of shape {shape}; got {exponents.dtype}, {exponents.shape}"
        )
    digits = -(-8 * shape[1] // width)
    bits = np.zeros((len(exponents), digits * width), dtype=np.uint8)
    bits[:, : 8 * shape[1]] = np.unpackbits(exponents, axis=1, bitorder="little")
    return (bits.reshape(len(exponents), digits, width) @ (1 << np.arange(width))).astype(np.intp)


def digit_bits(bases: int, bits: int) -> int:
    """Return how many bits a digit should have for stored powers, so that a list of exponents takes the least time.

    Examples
    --------
    >>> [digit_bits(bases, 2048) for bases in (1, 8, 64, 512)]
    [5, 7, 9, 12]
    """
    return min(range(1, _WIDEST + 1), key=lambda width: _list_products(bases, bits, width))


def interleaved_digit_bits(bases: int, lists: int, bits: int) -> int:
    """Return how many bits a digit should have for interleaved powers, so that so many lists take the least time.

    Examples
    --------
    >>> [interleaved_digit_bits(8, lists, 2048) for lists in (1, 2, 8)]
    [6, 7, 8]
    """
    return min(range(1, _WIDEST + 1), key=lambda width: _interleaved_products(bases, lists, bits, width))


def products(bases: int, lists: int, bits: int) -> int:
    """Return how many products modulo n^2 `simultaneous_powers` takes for so many lists of exponents, at most.

    Those with a factor below n count for less, as they take less time. At 2048 bits one takes some 5 us.

    Examples
    --------
    >>> products(8, 320, 2048), products(8, 2, 2048)
    (548376, 9798)
    """
    return min(stored_products(bases, lists, bits), interleaved_products(bases, lists, bits))


def stored_products(bases: int, lists: int, bits: int) -> int:
    """Return how many products `StoredPowers` takes."""
    width = digit_bits(bases, bits)
    return bases * width * -(-bits // width) + math.ceil(lists * _list_products(bases, bits, width))


def interleaved_products(bases: int, lists: int, bits: int) -> int:
    """Return how many products `InterleavedPowers` takes."""
    return _interleaved_products(bases, lists, bits, interleaved_digit_bits(bases, lists, bits))


def _list_products(bases: int, bits: int, width: int) -> float:
    """Return how many products one list takes: one for each digit of each base, and two for each bucket."""
    return _HALF_LENGTH * bases * -(-bits // width) + 2 * (1 << width)


def _interleaved_products(bases: int, lists: int, bits: int, width: int) -> int:
    """Return how many products there are: the tables', and in each list one for each digit's bit and each base's digit."""
    return bases * ((1 << width) - 2) + lists * -(-bits // width) * (width + bases)
