"""Ciphertexts as columns, and their sums: what the cluster multiplies without being able to read it.

Where it runs: blocks and combine. It sees ciphertexts alone. Under one key the product of Paillier
ciphertexts modulo n^2 is a ciphertext of the sum of the plaintexts (`udfs.paillier`).

A changed bit that leaves a number within the range makes another ciphertext, and nothing but a checksum can
tell: what is written as JSON carries one. A column of ciphertexts is as safe as the file it lies in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import gmpy2
import numpy as np
import pyarrow as pa
from gmpy2 import mpz

from udfs.errors import ProtocolError
from udfs.hexadecimal import number_from_hex
from udfs.paillier import check_ciphertext

_WHOLE = {int, type(mpz())}


def ciphertext_type(n: int) -> pa.DataType:
    """Return the type of a column of ciphertexts: as many bytes as n^2 takes, the highest first.

    Examples
    --------
    >>> ciphertext_type(11 * 17)
    FixedSizeBinaryType(fixed_size_binary[2])
    """
    return pa.binary(((n * n).bit_length() + 7) // 8)


def to_arrow(values: Sequence[int], n: int) -> pa.FixedSizeBinaryArray:
    """Return ciphertexts under n as a column.

    Raises
    ------
    ProtocolError
        For a number beyond the range of ciphertexts.
    """
    _check_range(values, n, "ciphertexts")
    kind = ciphertext_type(n)
    data = b"".join([mpz(value).to_bytes(kind.byte_width, "big") for value in values])
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(values), [None, pa.py_buffer(data)])


def from_arrow(array: pa.Array, n: int, where: str) -> list[mpz]:
    """Read a column of ciphertexts under n.

    Parameters
    ----------
    array : pyarrow.Array
    n : int
    where : str
        The partition: file, rows, column.

    Returns
    -------
    list of mpz
        All from 1 to n^2 - 1. That they are units modulo n^2 is for `product` to see, at once.

    Raises
    ------
    ProtocolError
        For a column of another type, missing values and numbers beyond the range.
    """
    kind = ciphertext_type(n)
    if array.type != kind:
        raise ProtocolError(where, f"must be ciphertexts of type {kind}", str(array.type))
    if array.null_count:
        raise ProtocolError(where, "must have no missing ciphertexts", f"{array.null_count} of {len(array)}")
    if not len(array):
        return []
    width = kind.byte_width
    rows = np.frombuffer(array.buffers()[1], dtype=f"V{width}", count=len(array), offset=array.offset * width)
    values = [mpz.from_bytes(row) for row in rows.tolist()]
    _check_range(values, n, where)
    return values


def product(ciphertexts: Iterable[int] | pa.Array, n: int, where: str = "ciphertexts") -> mpz:
    """Add plaintexts up: multiply ciphertexts modulo n^2; of none, 1.

    Parameters
    ----------
    ciphertexts : iterable of int, or pyarrow.Array
    n : int
    where : str, optional
        The partition: file, rows, column.

    Returns
    -------
    mpz

    Raises
    ------
    ProtocolError
        Naming the row that holds no ciphertext.

    Notes
    -----
    The product is a unit if and only if all are, so one greatest common divisor stands for them all.
    """
    if isinstance(ciphertexts, pa.Array):
        values = from_arrow(ciphertexts, n, where)
    else:
        values = list(ciphertexts)
        _check_range(values, n, where)
    total, square = mpz(1), mpz(n) ** 2
    for value in values:
        total = total * value % square
    if gmpy2.gcd(total, n) != 1:
        _check_each(values, n, where)
    return total


def _check_range(values: Sequence[Any], n: int, where: str) -> None:
    """Refuse, by its row, the first that is no number in the range of ciphertexts."""
    square = mpz(n) ** 2
    if not (set(map(type, values)) <= _WHOLE and all(0 < value < square for value in values)):
        _check_each(values, n, where)


def _check_each(values: Sequence[Any], n: int, where: str) -> None:
    """Refuse, by its row, the first that is no ciphertext."""
    for row, value in enumerate(values):
        check_ciphertext(value, n, f"{where}, row {row}")


@dataclass(frozen=True)
class CiphertextSum:
    """Sums of contributions under one key: a commutative monoid under `+`.

    Parameters
    ----------
    key_id : str
        Whose key it is: ciphertexts do not tell.
    n : int
        The public modulus.
    values : tuple of int
        The product of the contributions' first ciphertexts, of their second, and so on.
    contributions : int
        How many there are.
    """

    key_id: str
    n: int
    values: tuple[int, ...]
    contributions: int

    @classmethod
    def none(cls, key_id: str, n: int, ciphertexts: int) -> CiphertextSum:
        """Return the sum of no contributions of so many ciphertexts: neutral."""
        return cls(key_id, n, (1,) * ciphertexts, 0)

    def __add__(self, other: CiphertextSum) -> CiphertextSum:
        """Multiply the ciphertexts modulo n^2, and add the contributions up.

        Raises
        ------
        ProtocolError
            For sums under two keys, or of contributions of two lengths.
        """
        if not isinstance(other, CiphertextSum):
            return NotImplemented
        if (self.key_id, self.n) != (other.key_id, other.n):
            raise ProtocolError(
                "ciphertexts",
                "must be under one key to be added",
                f"keys {self.key_id} and {other.key_id}" + " of two moduli" * (self.n != other.n),
                "encrypt all contributions under one key",
            )
        if len(self.values) != len(other.values):
            raise ProtocolError(
                "ciphertexts",
                "every contribution must have as many",
                f"{len(self.values)} and {len(other.values)}",
            )
        square = mpz(self.n) ** 2
        values = (int(mpz(a) * b % square) for a, b in zip(self.values, other.values, strict=True))
        return CiphertextSum(self.key_id, self.n, tuple(values), self.contributions + other.contributions)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values, numbers in hexadecimal, with a checksum."""
        fields = {
            "key_id": self.key_id,
            "n": f"{self.n:x}",
            "values": [f"{value:x}" for value in self.values],
            "contributions": self.contributions,
        }
        return {**fields, "sha256": _checksum(fields)}

    @classmethod
    def from_json(cls, found: Any, where: str = "ciphertexts") -> CiphertextSum:
        """Return what `to_json` wrote.

        Raises
        ------
        ProtocolError
            Naming `where`, for anything else: a changed bit, or a number that is no ciphertext.
        """
        match found:
            case {
                "key_id": str(key_id),
                "n": str(n),
                "values": list(values),
                "contributions": int(contributions),
                **rest,
            }:
                fields = {"key_id": key_id, "n": n, "values": values, "contributions": contributions}
                if rest != {"sha256": _checksum(fields)}:
                    raise ProtocolError(where, "must have the checksum of what it holds", "another")
                numbers = [number_from_hex(value, where) for value in (n, *values)]
                _check_each(numbers[1:], numbers[0], where)
                return cls(key_id, numbers[0], tuple(numbers[1:]), contributions)
        raise ProtocolError(where, "must be a sum of ciphertexts", type(found).__name__)


def _checksum(fields: dict[str, Any]) -> str:
    """Return the SHA-256 of JSON in one way to write it."""
    return hashlib.sha256(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
