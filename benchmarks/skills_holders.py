"""What key-holders and the driver do to open one ciphertext, on one core, by the number of holders."""

from __future__ import annotations

import argparse
import json
import os
import time

import gmpy2
import numpy as np

from benchmarks.measure import best_seconds, pin_to_one_core
from udfs.paillier import encryptor
from udfs.threshold import combine, deal, partially_decrypt, verify
from udfs.threshold_keys import lagrange_at_zero, product_of_powers

PLAINTEXT, REPEATS = 20_261_201, 3


def opening(holders: int, bits: int) -> dict[str, float]:
    """Return the seconds of every step where more than half of the holders are needed."""
    started = time.perf_counter()
    key, shares = deal(holders, holders // 2 + 1, bits, os.urandom)
    dealt = time.perf_counter() - started
    cipher = encryptor(key.n)
    exponents = np.frombuffer(os.urandom(8 * cipher.exponent_words), dtype=np.uint64).reshape(1, -1)
    ciphertexts = [int(one) for one in cipher.encrypt([PLAINTEXT], exponents)]
    partials = [partially_decrypt(share, ciphertexts, os.urandom) for share in shares[: key.threshold]]
    assert combine(key, ciphertexts, partials).plaintexts == (PLAINTEXT,)

    share, powers = shares[0], [partial.values[0] for partial in partials]
    exponent = int(2 * key.delta * share.secret)

    def put_together() -> None:
        coefficients = lagrange_at_zero([partial.holder for partial in partials])[1]
        product_of_powers(powers, [2 * one for one in coefficients], key.n_squared)

    return {
        "deal": dealt,
        "threshold": key.threshold,
        "power": best_seconds(lambda: gmpy2.powmod_sec(ciphertexts[0], exponent, key.n_squared), REPEATS),
        "part": best_seconds(lambda: partially_decrypt(share, ciphertexts, os.urandom), REPEATS),
        "verify": best_seconds(lambda: verify(key, ciphertexts, partials[0]), REPEATS),
        "combine": best_seconds(put_together, REPEATS),
        "open": best_seconds(lambda: combine(key, ciphertexts, partials), 1),
    }


def main() -> None:
    """Print the seconds as JSON, by holders."""
    parser = argparse.ArgumentParser()
    parser.add_argument("bits", type=int)
    parser.add_argument("holders", type=int, nargs="+")
    arguments = parser.parse_args()
    pin_to_one_core()
    print(json.dumps({holders: opening(holders, arguments.bits) for holders in arguments.holders}))


if __name__ == "__main__":
    main()
