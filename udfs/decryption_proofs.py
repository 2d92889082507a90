"""Proofs that a partial decryption is right: one secret exponent stands behind two powers.

A holder shows, for a ciphertext c and its partial decryption c_i, that log_(c^4) c_i^2 = log_v v_i = Delta s_i,
and nothing else of s_i (Chaum and Pedersen's proof among squares modulo n^2, where the group's order is secret).
The base v and the verification key v_i are the public key's, never what a prover sends.

Security
--------
- Sound, as the squares modulo n^2 are cyclic of order n p' q': two answers to challenges e and e' fix the
  logarithm where e - e' is no multiple of a factor of that order, which a challenge of 256 bits cannot be where p'
  and q' are longer (a key of at least 520 bits; shorter ones are for tests). c_i itself is shown but for a factor
  of order 2, and only even powers of it are ever used.
- Zero-knowledge: the mask r is 512 bits longer than any Delta s_i; with challenges of 256 bits, z = r + e Delta s_i
  is within 2^-256 of a law that does not depend on s_i. A mask sized by less leaks the share.
- The challenge hashes everything that the verifier's equations use, the whole public key included, behind a
  label of its own and with a length fixed by the key for each number (random oracle; Fiat and Shamir 1986, the
  strong form of Bernhard, Pereira and Warinschi 2012: a weaker hash lets statements be chosen after challenges).
- Masks are hashed from the share, the statement and fresh bytes. Bytes that come twice, as in a job that goes on
  after a crash, do not put one mask behind two challenges, which would give the share away.

References
----------
Chaum, Pedersen (1992), Wallet databases with observers. Shoup (2000), Practical threshold signatures.
Fouque, Poupard, Stern (2000), Sharing decryption in the context of voting or lotteries.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gmpy2
from gmpy2 import mpz

from udfs.safe_primes import RandomBytes

CHALLENGE_BITS = 256
_EXCESS_BITS = 512
_FRESH_BYTES = 32


@dataclass(frozen=True)
class Statement:
    """What is shown: log_(c^4) of the partial decryption's square = log_v of the verification key.

    Parameters
    ----------
    key_id : str
        A hash of the whole public key: n, the holders, the threshold, v and every v_i.
    modulus : int
        n^2.
    base, verification : int
        v and v_i of the public key.
    holder : int
    exponent_bits : int
        No shorter than Delta s_i.
    ciphertext, partial : int
        c and c_i: units modulo n^2, which the caller has checked.
    """

    key_id: str
    modulus: int
    base: int
    verification: int
    holder: int
    exponent_bits: int
    ciphertext: int
    partial: int

    @cached_property
    def fourth_power(self) -> Any:
        """The ciphertext's fourth power: a square's square, so that signs and roots of unity are gone."""
        return gmpy2.powmod(mpz(self.ciphertext), 4, self.modulus)

    @property
    def mask_bits(self) -> int:
        """How many bits hide an answer's secret part."""
        return self.exponent_bits + _EXCESS_BITS

    @property
    def encoded(self) -> bytes:
        """The statement as bytes: each number at the length that the key fixes."""
        return b"".join(
            (
                b"dask-canvass/1 partial decryption",
                bytes.fromhex(self.key_id),
                self.holder.to_bytes(8, "big"),
                *(
                    self.fixed(number)
                    for number in (self.base, self.verification, self.ciphertext, self.partial)
                ),
            )
        )

    def fixed(self, number: Any) -> bytes:
        """Return a number below the modulus at the modulus's length."""
        return int(number).to_bytes((self.modulus.bit_length() + 7) // 8, "big")

    def challenge(self, first: Any, second: Any) -> int:
        """Return e = H(statement, a, b): 256 bits."""
        digest = hashlib.sha256(self.encoded + self.fixed(first) + self.fixed(second)).digest()
        return int.from_bytes(digest, "big")


def prove(statement: Statement, exponent: int, random_bytes: RandomBytes) -> tuple[int, int]:
    """Return a proof (e, z) that one exponent is both logarithms.

    Parameters
    ----------
    statement : Statement
    exponent : int
        Delta s_i: the secret.
    random_bytes : callable
        The source of randomness: 32 bytes are read.

    Returns
    -------
    tuple of int
        The challenge e and the answer z = r + e Delta s_i.

    Notes
    -----
    Cost: two exponentiations modulo n^2 (`powmod_sec`) with some 2 |n| + 512 bits.
    """
    seed = (
        statement.encoded
        + exponent.to_bytes((statement.exponent_bits + 7) // 8, "big")
        + random_bytes(_FRESH_BYTES)
    )
    masked = hashlib.shake_256(b"mask of " + seed).digest((statement.mask_bits + 7) // 8)
    mask = mpz.from_bytes(masked) % (1 << statement.mask_bits)
    e = statement.challenge(
        gmpy2.powmod_sec(statement.fourth_power, mask, statement.modulus),
        gmpy2.powmod_sec(mpz(statement.base), mask, statement.modulus),
    )
    return e, int(mask + e * mpz(exponent))


def proves(proof: tuple[int, int], statement: Statement) -> bool:
    """Return whether a proof shows its statement: H(statement, c^(4z) c_i^(-2e), v^z v_i^(-e)) = e.

    Notes
    -----
    Cost: two long exponentiations modulo n^2 and two of 256 bits. All that is seen is public.
    """
    e, z = proof
    # What is longer than proofs are would only cost time.
    if not (0 <= e < 1 << CHALLENGE_BITS and 0 <= z < 1 << statement.mask_bits + 1):
        return False
    n_squared = statement.modulus
    first = gmpy2.powmod(statement.fourth_power, z, n_squared) * gmpy2.powmod(
        mpz(statement.partial), -2 * e, n_squared
    )
    second = gmpy2.powmod(mpz(statement.base), z, n_squared) * gmpy2.powmod(
        mpz(statement.verification), -e, n_squared
    )
    return statement.challenge(first % n_squared, second % n_squared) == e
