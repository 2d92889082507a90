"""Paillier encryption under a public modulus n: fast, and a function of the plaintext and given random words.

Where it runs: wherever answers are. It sees plaintexts, and knows n alone. A ciphertext of P is

    c = (1 + n)^P hs^a mod n^2,    hs = h^n mod n^2,    h = -x^2 mod n,    x = SHAKE256(n) mod n,

with a secret uniform exponent a of half as many bits as n, in whole words. The product of ciphertexts modulo
n^2 is one of the sum of their plaintexts. `phe` decrypts them with the factors of n, `udfs.threshold` with
shares of the key.

Security
--------
Ciphertexts tell nothing of plaintexts to whoever cannot decrypt (indistinguishable under chosen plaintexts),
if:

- deciding composite residuosity is hard: telling n-th powers modulo n^2 from other numbers (Paillier 1999);
- n = pq with safe primes p and q, so that both are 3 modulo 4 and gcd(p - 1, q - 1) = 2: then, but for a
  negligible share of x, h generates all that has Jacobi symbol 1, and hs^a with a of full length hides as
  well as r^n does (Damgard, Jurik and Nielsen 2010);
- powers h^a modulo n with exponents of half length cannot be told from those of full length. For a random
  base modulo a product of two primes this follows from the hardness of factoring (Goldreich and Rosen 2003);
  of h, minus a random square, it is assumed. It carries over to hs^a, which h^a modulo n determines, as
  (y + kn)^n = y^n modulo n^2. Exponents are never shorter;
- x is as good as random: SHAKE256 stands for a random oracle, so that nobody has chosen it;
- exponents are secret, uniform, independent, *and one exponent never meets two plaintexts*: the quotient of
  two such ciphertexts is (1 + n)^(P - P'), from which anybody reads P - P'. Words must belong to the
  plaintext as well, as those of `udfs.draws` do.

It is malleable on purpose; who opens a ciphertext must know what went into it.

What is constant-time: that the same products are done for every exponent and plaintext, one a table row,
whatever the digits. What is not: which entry of a row is read (the processor's caches show it to others on
the same machine) and gmpy2's arithmetic, whose time depends a little on the numbers, most where a digit is 0.
Plaintexts and exponents are meant to be handled on a machine whose other users are trusted with them. Memory
is not wiped.

References
----------
Paillier (1999), Public-key cryptosystems based on composite degree residuosity classes.
Damgard, Jurik, Nielsen (2010), A generalization of Paillier's public-key system with applications to
electronic voting.
Goldreich, Rosen (2003), On the security of modular exponentiation with application to the construction of
pseudorandom generators.
Brickell, Gordon, McCurley, Wilson (1992), Fast exponentiation with precomputation (the table).
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Sequence
from functools import lru_cache

import gmpy2
import numpy as np
import phe
from gmpy2 import mpz

from udfs.errors import ProtocolError, SpecError
from udfs.streams import WORD_TYPE, Words

_DIGIT_BITS = 8
_WORD_BITS = 64


class Encryptor:
    """Encrypts under one modulus, by a table of powers of its randomizer base: see `encryptor`.

    Parameters
    ----------
    n : int
        The public modulus.

    Attributes
    ----------
    n : int
    exponent_words : int
        How many uint64 words one ciphertext's secret exponent takes: 16 at 2048 bits.

    Raises
    ------
    ProtocolError
        Where n is even or shares a factor with x: no modulus of two large primes does.

    Notes
    -----
    hs^a is a product of powers hs^(d 2^(8 i)), one for each byte d of a. Modulo n^2 a power g is

        g = t (1 + n u),    t = g mod n,    u = (g div n) / t mod n,

    and (1 + n u)(1 + n u') = 1 + n (u + u'). So only the t are multiplied, numbers of half the length, which
    takes two thirds of the time; the u add up, and the plaintext with them: the ciphertext is
    (t t' ...) (1 + n (P + u + u' + ...)) mod n^2.

    Cost at 2048 bits: a table of 128 x 256 pairs, 30 MB, made in .4 s; .5 ms a ciphertext. Digits of 10 bits
    would take 98 MB and 1.3 s to save a sixth of that.
    """

    def __init__(self, n: int) -> None:
        self.n = int(n)
        self.exponent_words = _exponent_words(self.n.bit_length())
        self._modulus = mpz(self.n)
        self._square = self._modulus**2
        base = randomizer_base(self.n)
        if self.n % 2 == 0 or gmpy2.gcd(base, self._modulus) != 1:
            raise ProtocolError("n", "must be a product of two large primes", "a number with a small factor")
        self._table = self._powers(gmpy2.powmod(base, self._modulus, self._square))

    def __reduce__(self) -> tuple[Callable[[int], Encryptor], tuple[int]]:
        """Travel as the modulus: the table is made where it is used."""
        return encryptor, (self.n,)

    def _powers(self, base: mpz) -> list[list[tuple[mpz, mpz]]]:
        """Return (t, u) of base^(d 2^(8 i)): row i, entry d."""
        n, square = self._modulus, self._square
        table = []
        inverse = gmpy2.invert(base, n)
        for _ in range(self.exponent_words * _WORD_BITS // _DIGIT_BITS):
            row, power, inverse_power = [], mpz(1), mpz(1)
            for _ in range(1 << _DIGIT_BITS):
                above, below = gmpy2.f_divmod(power, n)
                row.append((below, above * inverse_power % n))
                power, inverse_power = power * base % square, inverse_power * inverse % n
            table.append(row)
            base, inverse = power, inverse_power
        return table

    def encrypt(self, plaintexts: Sequence[int], exponents: Words) -> list[mpz]:
        """Encrypt whole numbers: the same ciphertexts for the same arguments.

        Parameters
        ----------
        plaintexts : sequence of int, length rows
            Signed, below n/2 in absolute value.
        exponents : ndarray of uint64, shape (rows, exponent_words)
            Secret and uniform; the lowest word first. A row belongs to its plaintext and to no other.

        Returns
        -------
        list of mpz

        Raises
        ------
        SpecError
            For a plaintext that is no whole number, or too large to be told from another one.
        """
        shape = (len(plaintexts), self.exponent_words)
        if exponents.shape != shape or exponents.dtype != WORD_TYPE:
            raise ValueError(
                f"exponents must be uint64 of shape {shape}; got {exponents.dtype}, {exponents.shape}"
            )
        digits = np.ascontiguousarray(exponents, dtype=WORD_TYPE).view(np.uint8)
        return [
            self._encrypt(self._checked(plaintext), row.tobytes())
            for plaintext, row in zip(plaintexts, digits, strict=True)
        ]

    def _encrypt(self, plaintext: int, digits: bytes) -> mpz:
        """Return (1 + n)^plaintext hs^exponent modulo n^2, of the exponent's bytes."""
        n, square = self._modulus, self._square
        product, added = mpz(1), mpz(plaintext)
        for row, digit in zip(self._table, digits, strict=True):
            t, u = row[digit]
            product = product * t % square
            added += u
        return product * (1 + n * (added % n)) % square

    def _checked(self, plaintext: int) -> int:
        """Return a plaintext that decryption gives back; messages tell nothing of any other."""
        must = "must be a whole number below half of the modulus in absolute value"
        try:
            whole = operator.index(plaintext)
        except TypeError:
            raise SpecError("plaintext", must, type(plaintext).__name__) from None
        if 2 * abs(whole) >= self.n:
            raise SpecError("plaintext", must, "one beyond", "take a longer key or fewer slots")
        return whole


@lru_cache(maxsize=2)
def encryptor(n: int) -> Encryptor:
    """Return the encryptor of a modulus: its table, 30 MB at 2048 bits, is made once a process."""
    return Encryptor(n)


def randomizer_base(n: int) -> mpz:
    """Return h = -x^2 mod n, x = SHAKE256(n) mod n: a number of Jacobi symbol 1 that nobody has chosen.

    n is hashed as the fewest bytes that hold it, highest first. The hash is 16 bytes longer than n, so that x
    is within 2^-128 of uniform.
    """
    size = (n.bit_length() + 7) // 8
    x = int.from_bytes(hashlib.shake_256(n.to_bytes(size, "big")).digest(size + 16), "big") % n
    return mpz(-x * x % n)


def products_per_ciphertext(bits: int) -> int:
    """Return how many products modulo n^2 take as long as an encryption under n of so many bits.

    One for each byte of the exponent, of which a quarter is saved as one of the factors is half as long.

    Examples
    --------
    >>> products_per_ciphertext(2048)
    96
    """
    return 3 * _exponent_words(bits) * _WORD_BITS // (4 * _DIGIT_BITS)


def _exponent_words(bits: int) -> int:
    """Return how many words hold half as many bits."""
    return -(-bits // (2 * _WORD_BITS))


def check_ciphertext(c: object, n: int, where: str) -> None:
    """Refuse whatever is no ciphertext under n: a unit modulo n^2, from 1 to n^2 - 1.

    Raises
    ------
    ProtocolError
        Naming `where`.

    Examples
    --------
    >>> check_ciphertext(187, 187, "row 3 of part-0.parquet")
    Traceback (most recent call last):
    udfs.errors.ProtocolError: row 3 of part-0.parquet: must be a ciphertext, a unit modulo n^2; got ...
    """
    must = "must be a ciphertext, a unit modulo n^2"
    if isinstance(c, bool) or not isinstance(c, int | mpz):
        raise ProtocolError(where, must, type(c).__name__)
    if not 0 < c < n * n:
        raise ProtocolError(where, must, "a number beyond the range from 1 to n^2 - 1")
    if gmpy2.gcd(c, n) != 1:
        raise ProtocolError(where, must, "a number that shares a factor with n")


def phe_number(public_key: phe.PaillierPublicKey, c: int) -> phe.EncryptedNumber:
    """Return a ciphertext as one of `phe`'s: whoever knows the factors of n can read it with that library.

    No job needs it. The `ciphertext()` of what is returned would multiply randomness in;
    `ciphertext(be_secure=False)` gives the number as it is.

    Raises
    ------
    ProtocolError
        For a number that is no ciphertext under the key.
    """
    check_ciphertext(c, public_key.n, "ciphertext")
    return phe.EncryptedNumber(public_key, int(c), 0)
