"""Keys for tests: fresh ones from a seed that is printed, and small ones written down by hand."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import phe

from udfs.safe_primes import safe_prime
from udfs.streams import byte_stream
from udfs.threshold import KeyShare, ThresholdKey
from udfs.threshold_keys import deal_with_factors

BITS = 512
TOY = (7, 11)
"""n = 77: every power can be listed."""
LONG = (
    int(
        "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b139b22514a08798e3404dd"
        "ef9519b3cd3a431b302b0a6df25f14374fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed"
        "ee386bfb5a899fa5ae9f24117c4b1fe649286651ece65381ffffffffffffffff",
        16,
    ),
    int(
        "eeaf0ab9adb38dd69c33f80afa8fc5e86072618775ff3c0b9ea2314c9c256576d674df7496ea81d3383b4813d692c6e0"
        "e0d5d8e250b98be48e495c1d6089dad15dc7d7b46154d6b6ce8ef4ad69b15d4982559b297bcf1885c529f566660e57ec"
        "68edbc3c05726cc02fd4cbf4976eaa9afd5138fe8376435b9fc61d2fc0eb06e3",
        16,
    ),
)
"""Published safe primes of 1024 bits: RFC 2409, section 6.2, and RFC 5054, appendix A."""


def fresh_words() -> Callable[[int], bytes]:
    """Return a source of randomness; a failing test shows its seed."""
    seed = os.urandom(32)
    print("seed", seed.hex())
    return byte_stream(seed)


class Dealt:
    """A key with all that its dealer knows."""

    def __init__(self, holders: int, threshold: int, bits: int = BITS, factors: Any = None) -> None:
        self.words = fresh_words()
        self.p, self.q = factors or (safe_prime(bits // 2, self.words), safe_prime(bits // 2, self.words))
        self.key, self.shares = deal_with_factors(self.p, self.q, holders, threshold, self.words)
        self.public_key = self.key.public_key
        self.private_key = phe.PaillierPrivateKey(self.public_key, self.p, self.q)

    def encrypt(self, *plaintexts: int) -> list[int]:
        """Encrypt by phe."""
        return [self.public_key.raw_encrypt(plaintext % self.key.n) for plaintext in plaintexts]


def shared_by_hand(
    p: int, q: int, polynomial: Sequence[int], holders: int
) -> tuple[ThresholdKey, tuple[KeyShare, ...]]:
    """Return a key whose holders have the values of a polynomial: no dealer would make it."""
    n, threshold = p * q, len(polynomial)
    order = n * (p - 1) * (q - 1) // 4
    secrets = [sum(a * i**k for k, a in enumerate(polynomial)) % order for i in range(1, holders + 1)]
    v = next(root**2 % n**2 for root in range(2, n) if math.gcd(root, n) == 1)
    delta = math.factorial(holders)
    key = ThresholdKey(n, holders, threshold, v, tuple(pow(v, delta * secret, n**2) for secret in secrets))
    return key, tuple(KeyShare(key, i, secret) for i, secret in enumerate(secrets, start=1))
