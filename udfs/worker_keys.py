"""A worker's own Paillier key: whoever knows the factors of n encrypts and decrypts by them, and alone.

Where it runs: workers. Others see n and ciphertexts.

A ciphertext of P is (1 + n)^P r^n modulo n^2 with r uniform among the units modulo n. The owner draws it
modulo p^2 and q^2: there the n-th powers are x^p, x uniform from 1 to p - 1, and x^q. That is exactly the law
of Paillier's definition, so that ciphertexts tell nothing to whoever cannot factor n if deciding composite
residuosity is hard, and nothing else is assumed: neither safe primes nor short exponents nor a hash, which
`udfs.paillier` needs as it knows n alone. Nor does it take a table, which would not pay for some hundred
ciphertexts a key.

Powers with p and q in the exponent are taken in constant time (`powmod_sec`). What else is done with them is
not, the making of primes least of all, nor is any memory wiped: a worker's machine is its own.

References
----------
Paillier (1999), Public-key cryptosystems based on composite degree residuosity classes: scheme 1, and section
7 for decryption by Chinese remainders.
NIST SP 800-57 part 1, revision 5, table 2: n of 2048 bits is estimated at 112 bits of security, 3072 at 128.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import gmpy2
from gmpy2 import mpz

from udfs.errors import SpecError
from udfs.safe_primes import RandomBytes

LEAST_BITS = 64
_SPARE_BYTES = 16


@dataclass(frozen=True)
class WorkerKey:
    """A worker's key: it prints without its factors.

    Parameters
    ----------
    p, q : mpz
        Distinct odd primes of the same length, of which neither is twice the other or more: then n has no
        factor in common with (p - 1)(q - 1).
    """

    p: mpz = field(repr=False)
    q: mpz = field(repr=False)

    @cached_property
    def n(self) -> mpz:
        """The public modulus."""
        return self.p * self.q

    @cached_property
    def _sides(self) -> tuple[tuple[mpz, mpz, mpz], ...]:
        """(p, p^2, (-q)^-1 mod p), and the same of q."""
        return tuple((a, a * a, gmpy2.invert(-b, a)) for a, b in ((self.p, self.q), (self.q, self.p)))

    @cached_property
    def _joints(self) -> tuple[mpz, mpz]:
        """(q^-1 mod p, q^-2 mod p^2), which put remainders together."""
        return gmpy2.invert(self.q, self.p), gmpy2.invert(self.q**2, self.p**2)

    def encrypt(self, plaintexts: Iterable[int], stream: RandomBytes) -> list[mpz]:
        """Encrypt numbers from 0 to n - 1: the same ciphertexts for the same random bytes.

        Parameters
        ----------
        plaintexts : iterable of int
        stream : callable
            A source of uniform random bytes which serve no other plaintexts. 16 more are drawn than x is
            long: it is within 2^-128 of uniform.

        Returns
        -------
        list of mpz

        Notes
        -----
        Cost: two powers modulo p^2 and q^2, together 3.2 ms at 2048 bits.
        """
        n, square, q_squared = self.n, self.n**2, self.q**2
        ciphertexts = []
        for plaintext in plaintexts:
            of_p, of_q = (
                gmpy2.powmod_sec(_below(prime - 1, stream) + 1, prime, prime_squared)
                for prime, prime_squared, _ in self._sides
            )
            power = of_q + q_squared * ((of_p - of_q) * self._joints[1] % self.p**2)
            ciphertexts.append((1 + n * plaintext) * power % square)
        return ciphertexts

    def decrypt(self, ciphertexts: Iterable[int]) -> list[mpz]:
        """Return the plaintexts, from 0 to n - 1, of ciphertexts under n.

        Notes
        -----
        c^(p - 1) is 1 + (p - 1) P n modulo p^2, so with L(a) = (a - 1) / p it is L = -P q modulo p.
        """
        plaintexts = []
        for c in ciphertexts:
            of_p, of_q = (
                (gmpy2.powmod_sec(mpz(c), prime - 1, prime_squared) - 1) // prime * scale % prime
                for prime, prime_squared, scale in self._sides
            )
            plaintexts.append(of_q + self.q * ((of_p - of_q) * self._joints[0] % self.p))
        return plaintexts


def worker_key(bits: int, stream: RandomBytes) -> WorkerKey:
    """Make a key: a function of random bytes.

    Parameters
    ----------
    bits : int
        The length of n: a multiple of 16; 2048 and more for real use.
    stream : callable
        A source of uniform random bytes which serve nothing else.

    Raises
    ------
    SpecError

    Notes
    -----
    Each prime is the first one after a random start, by Baillie-PSW and further Miller-Rabin rounds: one that
    follows a long gap is taken more often, which costs a few bits of entropy of hundreds (Brandt and Damgard
    1992). Its two highest bits are set, so that n has all of its bits. Cost: 30 ms at 2048 bits.
    """
    check_bits(bits)
    p = q = _prime(bits // 2, stream)
    while p == q:
        q = _prime(bits // 2, stream)
    return WorkerKey(p, q)


def check_bits(bits: int) -> None:
    """Refuse a length that no key has.

    Raises
    ------
    SpecError
    """
    if bits % 16 or bits < LEAST_BITS:
        raise SpecError("bits", f"must be a multiple of 16, {LEAST_BITS} or more", str(bits))


def _prime(bits: int, stream: RandomBytes) -> mpz:
    """Draw a prime of so many bits, of which the two highest are set."""
    while True:
        start = mpz.from_bytes(stream(bits // 8)) | 3 << bits - 2
        prime = gmpy2.next_prime(start)
        if prime.bit_length() == bits:
            return prime


def _below(bound: mpz, stream: RandomBytes) -> mpz:
    """Draw a number below a bound, within 2^-128 of uniform."""
    return mpz.from_bytes(stream((bound.bit_length() + 7) // 8 + _SPARE_BYTES)) % bound
