"""The Paillier protocol's server on one core, against a loop of gmpy2 that takes each power by itself."""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from gmpy2 import mpz, powmod

from benchmarks.measure import pin_to_one_core
from udfs.draws import fresh_draws
from udfs.paillier_messages import unpack
from udfs.paillier_retrieval import PaillierRetrieval
from udfs.paillier_shape import PaillierShape


def naive(retrieval: PaillierRetrieval, library: np.ndarray, message: np.ndarray) -> list[mpz]:
    """Return what the protocol answers, power by power: the same ciphertexts."""
    shape = retrieval.shape
    n, selectors = unpack(message, shape.selectors, shape.bits, "query")
    square = n * n
    chunks = [
        [[mpz.from_bytes(chunk.tobytes(), "little") for chunk in item] for item in row] for row in library
    ]
    answers = [mpz(1)] * shape.answers
    for row, items in enumerate(chunks):
        for j in range(shape.chunks):
            if shape.columns == 1:
                digits = [items[0][j]]
            else:
                inner = mpz(1)
                for column, item in enumerate(items):
                    inner = inner * powmod(selectors[shape.rows + column], item[j], square) % square
                digits = [inner % n, inner // n]
            for digit, exponent in enumerate(digits):
                at = j * len(digits) + digit
                answers[at] = answers[at] * powmod(selectors[row], exponent, square) % square
    return answers


def main() -> None:
    """Print seconds of an answer, as JSON: both ways, or by the protocol alone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("items", type=int)
    parser.add_argument("item_bytes", type=int)
    parser.add_argument("--bits", type=int, default=2048)
    parser.add_argument(
        "--alone", action="store_true", help="without the loop, which takes long of many items"
    )
    arguments = parser.parse_args()
    pin_to_one_core()
    shape = PaillierShape(arguments.items, arguments.item_bytes, arguments.bits)
    generator = np.random.default_rng()
    items = [generator.bytes(arguments.item_bytes) for _ in range(arguments.items)]
    retrieval = PaillierRetrieval.of(shape, items)
    library = retrieval.library(items)
    started = time.perf_counter()
    query = retrieval.query(np.array([arguments.items // 2]), fresh_draws(1))
    asked = time.perf_counter()
    answers = retrieval.answer(library, 0, query.sent)
    answered = time.perf_counter()
    cost = retrieval.cost
    found = {
        "query_s": asked - started,
        "answer_s": answered - asked,
        "products": cost.products,
        "get_bytes": cost.upload_bytes + cost.download_bytes,
    }
    if not arguments.alone:
        started = time.perf_counter()
        expected = naive(retrieval, library, query.sent[0])
        found["naive_s"] = time.perf_counter() - started
        assert unpack(answers[0], shape.answers, shape.bits, "answer")[1] == expected
    print(json.dumps(found))


if __name__ == "__main__":
    main()
