"""Safe primes: p = 2p' + 1 with p' prime as well, which the keys of threshold decryption need."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import gmpy2
import numpy as np
import numpy.typing as npt

from udfs.errors import SpecError

RandomBytes: TypeAlias = Callable[[int], bytes]
"""A source of randomness: returns so many random bytes."""

LEAST_BITS = 16
"""Of fewer bits there may be no two safe primes to choose from."""

_ROUNDS = 64


def safe_prime(bits: int, random_bytes: RandomBytes) -> int:
    """Draw a safe prime by sieving windows of candidates behind random starts.

    Parameters
    ----------
    bits : int
        Its length, at least `LEAST_BITS`. The two highest bits are set, so that a product of two such
        primes has exactly twice as many.
    random_bytes : callable
        The source of randomness. The prime is a function of what it returns.

    Returns
    -------
    int
        p, where p and p' = (p - 1) / 2 pass Baillie-PSW and 40 Miller-Rabin rounds.

    Raises
    ------
    SpecError
        Where `bits` is too small.

    Notes
    -----
    Of a window, the first safe prime is taken: one that follows a long gap is taken more often, which
    costs a few bits of entropy of hundreds (Brandt and Damgard 1992). Nothing here is constant-time: keys are
    dealt where nobody else computes.

    Cost: one in some 190,000 odd numbers p' gives a safe prime at 1024 bits; the sieve leaves one in 200 of
    them for Fermat's test, and all but a few go there. About half a second on one core.

    References
    ----------
    Brandt, Damgard (1992), On generation of probable primes by incremental search. Wiener (2003), Safe
    prime generation with a combined sieve.

    Examples
    --------
    >>> safe_prime(16, lambda size: bytes(size))
    49223
    """
    if bits < LEAST_BITS:
        raise SpecError("bits", f"a safe prime must have at least {LEAST_BITS} bits", str(bits))
    while True:
        drawn = gmpy2.mpz.from_bytes(random_bytes((bits + 7) // 8)) % (1 << bits - 3)
        start = 3 << bits - 3 | drawn | 1
        for offset in _survivors(start, bits):
            pair = (start + 2 * int(offset), 2 * (start + 2 * int(offset)) + 1)
            if all(gmpy2.powmod(2, prime - 1, prime) == 1 for prime in pair) and all(
                gmpy2.is_prime(prime, _ROUNDS) for prime in pair
            ):
                return int(pair[1])


def _survivors(start: gmpy2.mpz, bits: int) -> npt.NDArray[np.intp]:
    """Return every k of a window for which no small prime divides start + 2k or 2(start + 2k) + 1."""
    standing = np.ones(min(bits * bits // 4, ((1 << bits - 1) - int(start) + 1) // 2), dtype=np.bool_)
    primes = _odd_primes(bits * bits // 2)  # below all candidates
    rest = np.zeros_like(primes)
    for byte in start.to_bytes((bits + 7) // 8):
        rest = ((rest << 8) | byte) % primes
    # start + 2k = 0 and 2 start + 4k + 1 = 0, modulo an odd prime: 1/2 is (prime + 1)/2.
    half = (primes + 1) // 2
    first = (primes - rest) * half % primes
    second = (first - half * half) % primes
    for prime, *offsets in zip(primes.tolist(), first.tolist(), second.tolist(), strict=True):
        for offset in offsets:
            standing[offset::prime] = False
    return np.flatnonzero(standing)


@cache
def _odd_primes(below: int) -> npt.NDArray[np.int64]:
    """Return the odd primes below a bound by the sieve of Eratosthenes."""
    standing = np.ones(below, dtype=np.bool_)
    standing[:2] = False
    standing[4::2] = False
    for factor in range(3, int(gmpy2.isqrt(below)) + 1, 2):
        standing[factor * factor :: factor] = False
    return np.flatnonzero(standing)[1:]
