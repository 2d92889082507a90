"""Encrypted sums on one core: counters a second against phe, and additions against bare gmpy2."""

from __future__ import annotations

import argparse
import json
import os
import time

import gmpy2
import numpy as np
import phe

from benchmarks.measure import best_seconds, pin_to_one_core
from benchmarks.workforce import SKILLS, tree_spec
from jobs.catalogue import load
from jobs.skills.levels import Crowd, level_sum
from jobs.skills.spec import SkillsSpec
from jobs.skills.tree import grow
from udfs.ciphertexts import product, to_arrow
from udfs.draws import fresh_draws
from udfs.encrypted_sum import EncryptedSum
from udfs.paillier import encryptor

PARTICIPANTS, ADDITIONS, REPEATS = 100_000, 10_000, 3
PEER_ENCRYPTIONS = 48


def largest_level(answers: np.ndarray, n: int) -> EncryptedSum:
    """Return the private sum of the last level with histograms: it has the most counters of a tree."""
    spec = load(tree_spec(PARTICIPANTS, n.bit_length()) | {"output": {"path": "out"}})[1]
    assert isinstance(spec, SkillsSpec)
    growing = grow(spec.shape)
    question = next(growing)
    while question.level > 1:
        question = growing.send(question.cells.count(answers))
    return level_sum(spec, Crowd.of(spec, PARTICIPANTS, 1), question, "benchmark", n)


def random_numbers(count: int, bits: int) -> list[gmpy2.mpz]:
    """Return numbers of so many random bits."""
    return [gmpy2.mpz.from_bytes(os.urandom(bits // 8), "little") for _ in range(count)]


def main() -> None:
    """Print rates and sizes as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("bits", type=int)
    parser.add_argument("workers", type=int)
    arguments = parser.parse_args()
    bits, workers = arguments.bits, arguments.workers
    pin_to_one_core()

    public_key = phe.generate_paillier_keypair(n_length=bits)[0]
    n = public_key.n
    started = time.perf_counter()
    cipher = encryptor(n)
    table = time.perf_counter() - started
    answers = np.asfortranarray(np.random.default_rng().random((workers, len(SKILLS))))
    mechanism = largest_level(answers, n)
    chunks, counters = mechanism.slots.ciphertexts, mechanism.cells.counters

    def whole() -> None:
        for _ in mechanism.randomize(answers, fresh_draws(workers)):
            pass

    plaintexts = [int(number) for number in random_numbers(workers, bits - 8)]
    exponents = np.random.default_rng().integers(0, 2**64, (workers, cipher.exponent_words), dtype=np.uint64)
    few = plaintexts[:PEER_ENCRYPTIONS]
    seconds = {
        "phe, a counter a ciphertext": best_seconds(lambda: [public_key.encrypt(1) for _ in few], REPEATS)
        / len(few),
        "phe, counters packed": best_seconds(lambda: [public_key.encrypt(one) for one in few], REPEATS)
        / (len(few) * counters / chunks),
        "here, encryption alone": best_seconds(lambda: cipher.encrypt(plaintexts, exponents), REPEATS)
        / (workers * counters / chunks),
        "here: cells, noise, packing and encryption": best_seconds(whole, REPEATS) / (workers * counters),
    }

    terms, n_squared = random_numbers(ADDITIONS, 2 * bits - 8), gmpy2.mpz(n) ** 2
    column = to_arrow(terms, n)

    def bare() -> gmpy2.mpz:
        total = gmpy2.mpz(1)
        for term in terms:
            total = total * term % n_squared
        return total

    assert product(column, n) == bare()
    turns = [(best_seconds(bare, 1), best_seconds(lambda: product(column, n), 1)) for _ in range(7)]
    print(
        json.dumps(
            {
                "rates": {name: 1 / each for name, each in seconds.items()},
                "counters": counters,
                "ciphertexts": chunks,
                "slots": mechanism.slots.per_ciphertext,
                "width": mechanism.slots.width,
                "table_seconds": table,
                "bare": min(one for one, _ in turns) / ADDITIONS,
                "added": min(one for _, one in turns) / ADDITIONS,
            }
        )
    )


if __name__ == "__main__":
    main()
