"""Keys of threshold Paillier: the public key, the holders' shares, and the dealer that makes them.

See `udfs.threshold` for the method, what it guards against and its sources.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, NoReturn

import gmpy2
import phe
from gmpy2 import mpz

from udfs.errors import ProtocolError, SpecError
from udfs.paillier import check_ciphertext
from udfs.safe_primes import LEAST_BITS, RandomBytes, safe_prime


@dataclass(frozen=True)
class ThresholdKey:
    """The public key, and what partial decryptions are checked against.

    Parameters
    ----------
    n : int
    holders, threshold : int
        N and T.
    v : int
        A generator of the squares modulo n^2.
    verification : tuple of int
        v_i = v^(Delta s_i) modulo n^2, holder 1's first.
    """

    n: int
    holders: int
    threshold: int
    v: int
    verification: tuple[int, ...]

    @cached_property
    def key_id(self) -> str:
        """SHA-256 of all fields, each at a fixed length: 64 hexadecimal digits."""
        length = (self.n_squared.bit_length() + 7) // 8
        numbers = (self.holders, self.threshold, length, len(self.verification))
        return hashlib.sha256(
            b"dask-canvass/1 threshold key"
            + b"".join(number.to_bytes(8, "big") for number in numbers)
            + b"".join(number.to_bytes(length, "big") for number in (self.n, self.v, *self.verification))
        ).hexdigest()

    @property
    def bits(self) -> int:
        """The length of n."""
        return self.n.bit_length()

    @cached_property
    def n_squared(self) -> int:
        """What ciphertexts are taken modulo."""
        return self.n * self.n

    @cached_property
    def delta(self) -> int:
        """N!, which makes Lagrange's coefficients whole."""
        return math.factorial(self.holders)

    @property
    def public_key(self) -> phe.PaillierPublicKey:
        """The key as `phe` has it: whoever encrypts with that library can, under this key."""
        return phe.PaillierPublicKey(self.n)

    def check(self) -> None:
        """Refuse numbers that are no key, or whose holders' shares do not belong together.

        The T-th differences of shares on a polynomial of degree T - 1 are 0, and v^(Delta f(0)) is v^(Delta d),
        which is 1 modulo n: then any T holders open the same.

        Raises
        ------
        ProtocolError
        """
        n, n_squared, where = self.n, self.n_squared, "public key"
        if not 1 <= self.threshold <= self.holders == len(self.verification):
            raise ProtocolError(
                where,
                "must name a threshold of its holders and a verification key of each",
                f"{self.threshold} of {self.holders}, {len(self.verification)} verification keys",
            )
        if n <= self.holders or gmpy2.gcd(n, 2 * self.delta) != 1:
            raise ProtocolError(where, "n must be a product of two large primes", f"{self.bits} bits")
        for number in (self.v, *self.verification):
            check_ciphertext(number, n, where)
        ratios = [(mpz(number), mpz(1)) for number in self.verification]
        for _ in range(self.threshold):
            ratios = [
                (above * lower % n_squared, below * upper % n_squared)
                for (upper, lower), (above, below) in pairwise(ratios)
            ]
        _, exponents = lagrange_at_zero(range(1, self.threshold + 1))
        at_zero = product_of_powers(self.verification[: self.threshold], exponents, n_squared)
        if any(upper != lower for upper, lower in ratios) or at_zero % n != 1 or at_zero == 1:
            raise ProtocolError(
                where, "its verification keys must be of one sharing", f"key {self.key_id[:12]}"
            )


@dataclass(frozen=True)
class KeyShare:
    """One holder's secret. It prints without it, and it cannot be pickled: it travels as its owner's file alone.

    Parameters
    ----------
    key : ThresholdKey
    holder : int
        From 1 to N.
    secret : int
        s_i, from 1 to nm.
    """

    key: ThresholdKey
    holder: int
    secret: int = field(repr=False)

    def check(self) -> None:
        """Refuse a share that is not this holder's: v^(Delta s_i) is v_i.

        Raises
        ------
        ProtocolError
        """
        key = self.key
        if (
            not 1 <= self.holder <= key.holders
            or not 0 < self.secret < key.n_squared
            or gmpy2.powmod_sec(mpz(key.v), key.delta * mpz(self.secret), key.n_squared)
            != key.verification[self.holder - 1]
        ):
            raise ProtocolError(
                f"share of holder {self.holder}", "must fit its verification key", f"key {key.key_id[:12]}"
            )

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled."""
        raise TypeError("a key share does not travel; hand over the path of its file")


def deal(
    holders: int, threshold: int, bits: int, random_bytes: RandomBytes
) -> tuple[ThresholdKey, tuple[KeyShare, ...]]:
    """Make a key and its holders' shares; the factors are forgotten.

    Parameters
    ----------
    holders, threshold : int
        N and T.
    bits : int
        The length of n: even; 2048 and more for real use.
    random_bytes : callable
        The source of randomness. The key is a function of what it returns.

    Returns
    -------
    (ThresholdKey, tuple of KeyShare)

    Raises
    ------
    SpecError

    Notes
    -----
    Cost: two safe primes, and N exponentiations modulo n^2.
    """
    if bits % 2 or bits < 2 * LEAST_BITS:
        raise SpecError("bits", f"must be an even number of at least {2 * LEAST_BITS}", str(bits))
    _check_threshold(holders, threshold)
    p = q = safe_prime(bits // 2, random_bytes)
    while p == q:
        q = safe_prime(bits // 2, random_bytes)
    return deal_with_factors(p, q, holders, threshold, random_bytes)


def deal_with_factors(
    p: int, q: int, holders: int, threshold: int, random_bytes: RandomBytes
) -> tuple[ThresholdKey, tuple[KeyShare, ...]]:
    """Make a key of given factors, and its holders' shares: see `deal`.

    Raises
    ------
    SpecError
        Unless p and q are distinct safe primes with p' and q' above N, and pq has no factor in common with
        (p - 1)(q - 1).
    """
    _check_threshold(holders, threshold)
    n, m = mpz(p) * q, mpz((p - 1) // 2) * ((q - 1) // 2)
    factors = (p, q, (p - 1) // 2, (q - 1) // 2)
    if not (all(map(gmpy2.is_prime, factors)) and len(set(factors)) == 4 and min(factors) > holders):
        raise SpecError(
            "factors",
            f"must be distinct safe primes p with (p - 1)/2 above {holders}",
            f"{n.bit_length()} bits",
        )
    order = n * m
    coefficients = [m * gmpy2.invert(m, n)] + [
        uniform_below(order, random_bytes) for _ in range(threshold - 1)
    ]
    secrets = []
    for holder in range(1, holders + 1):
        secret = mpz(0)
        for coefficient in reversed(coefficients):
            secret = (secret * holder + coefficient) % order
        secrets.append(secret or order)  # exponents in constant time are positive
    n_squared, delta = n * n, math.factorial(holders)
    v = _generator_of_squares(n, [order // factor for factor in factors], random_bytes)
    verification = tuple(int(gmpy2.powmod_sec(v, delta * secret, n_squared)) for secret in secrets)
    key = ThresholdKey(int(n), holders, threshold, int(v), verification)
    return key, tuple(KeyShare(key, i, int(secret)) for i, secret in enumerate(secrets, start=1))


def lagrange_at_zero(holders: Sequence[int]) -> tuple[int, list[int]]:
    """Return D_S and D_S lambda_i: f(0) = sum lambda_i f(i) for all f of degree below the number of holders.

    D_S is the least number that makes all of them whole.

    Examples
    --------
    >>> lagrange_at_zero([1, 2, 4])
    (3, [8, -6, 1])
    """
    coefficients = [math.prod(Fraction(j, j - i) for j in holders if j != i) for i in holders]
    denominator = math.lcm(*(coefficient.denominator for coefficient in coefficients))
    return denominator, [int(coefficient * denominator) for coefficient in coefficients]


def uniform_below(bound: int, random_bytes: RandomBytes) -> int:
    """Return a uniform number from 0 to bound - 1: whatever lies above is drawn again.

    Examples
    --------
    >>> uniform_below(6, lambda size: bytes([5]) * size)
    5
    """
    bits = (bound - 1).bit_length()
    while True:
        drawn = int.from_bytes(random_bytes((bits + 7) // 8), "big") % (1 << bits)
        if drawn < bound:
            return drawn


def product_of_powers(bases: Sequence[int], exponents: Sequence[int], modulus: int) -> Any:
    """Return the product of powers of units, with public exponents of either sign.

    Squarings are shared by all powers (Straus 1964), and there is one inversion.
    """
    sides = []
    for sign in (1, -1):
        powers = [(mpz(base), sign * x) for base, x in zip(bases, exponents, strict=True) if sign * x > 0]
        product = mpz(1)
        for bit in reversed(range(max((x.bit_length() for _, x in powers), default=0))):
            product = product * product % modulus
            for base, x in powers:
                if x >> bit & 1:
                    product = product * base % modulus
        sides.append(product)
    return sides[0] * gmpy2.invert(sides[1], modulus) % modulus


def _check_threshold(holders: int, threshold: int) -> None:
    """Refuse a threshold that is none of so many holders."""
    if not 1 <= threshold <= holders:
        raise SpecError(
            "threshold", "must be from 1 to the number of holders", f"{threshold} of {holders} holders"
        )


def _generator_of_squares(n: Any, cofactors: Sequence[Any], random_bytes: RandomBytes) -> Any:
    """Draw a square modulo n^2 whose order is the whole group's: none of these powers of it is 1."""
    while True:
        root = mpz(uniform_below(int(n * n), random_bytes))
        v = root * root % (n * n)
        if gmpy2.gcd(root, n) == 1 and all(
            gmpy2.powmod_sec(v, cofactor, n * n) != 1 for cofactor in cofactors
        ):
            return v
