"""The lattice protocol's server on one core, against a bare product of the same numbers and memory itself; and its workers."""

from __future__ import annotations

import argparse
import json
import os

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import time

import numpy as np

from benchmarks.measure import best_seconds, pin_to_one_core
from udfs.draws import fresh_draws
from udfs.lattice_retrieval import LatticeRetrieval
from udfs.lattice_shape import choose_shape
from udfs.retrieval import Hint

BATCHES, REPEATS, WORKERS = (1, 4, 16, 64, 256), 3, 64


def opened(
    items: int, item_bytes: int, workers: int, spread: int | None
) -> tuple[LatticeRetrieval, np.ndarray]:
    """Return a library of random items with its protocol."""
    shape = choose_shape(items, item_bytes, workers=workers, most_spread=spread)
    rows = np.random.default_rng().integers(0, 256, (items, item_bytes), dtype=np.uint8)
    data = [row.tobytes() for row in rows]
    retrieval = LatticeRetrieval(shape, LatticeRetrieval.version_of(shape, data))
    return retrieval, retrieval.library(data)


def server(items: int, item_bytes: int) -> dict[str, object]:
    """Return seconds of a query by batch size, of the bare product, and of reading the same numbers once."""
    retrieval, library = opened(items, item_bytes, 1, 1)
    queries = np.random.default_rng().integers(
        0, 1 << 32, (max(BATCHES), 1, library.shape[1]), dtype=np.uint32
    )
    wide, one = library.astype(np.int32).view(np.uint32), queries[0, 0].copy()
    return {
        "library_bytes": items * item_bytes,
        "rows": library.shape[0],
        "columns": library.shape[1],
        "product": best_seconds(lambda: wide @ one, REPEATS),
        "read": best_seconds(wide.sum, REPEATS),
        "queries": {
            size: best_seconds(lambda size=size: retrieval.answer(library, 0, queries[:size]), REPEATS) / size
            for size in BATCHES
        },
    }


def workers(items: int, item_bytes: int) -> dict[str, object]:
    """Return the seconds of a worker's query and of making out its item, and of the server's for each."""
    retrieval, library = opened(items, item_bytes, 10**6, None)
    places = np.arange(WORKERS) % items
    started = time.perf_counter()
    hint = Hint(retrieval.version, retrieval.hint(library, 0))
    hinted = time.perf_counter()
    query = retrieval.query(places, fresh_draws(WORKERS))
    asked = time.perf_counter()
    answers = retrieval.answer(library, 0, query.sent)
    answered = time.perf_counter()
    retrieval.decode(query.kept, answers, hint)
    decoded = time.perf_counter()
    cost = retrieval.cost
    return {
        "hint_s": hinted - started,
        "query_s": (asked - hinted) / WORKERS,
        "answer_s": (answered - asked) / WORKERS,
        "decode_s": (decoded - answered) / WORKERS,
        "hint_bytes": cost.hint_bytes,
        "get_bytes": cost.upload_bytes + cost.download_bytes,
    }


def main() -> None:
    """Print seconds and sizes as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("side", choices=("server", "workers"))
    parser.add_argument("items", type=int)
    parser.add_argument("item_bytes", type=int)
    arguments = parser.parse_args()
    pin_to_one_core()
    print(
        json.dumps(
            {"server": server, "workers": workers}[arguments.side](arguments.items, arguments.item_bytes)
        )
    )


if __name__ == "__main__":
    main()
