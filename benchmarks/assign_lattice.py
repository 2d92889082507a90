"""The lattice protocol's platform on one core, against bare products of the same numbers and memory itself; and its workers."""

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

BATCHES, REPEATS = (1, 4, 16, 64, 256), 3
WORKERS = {1: 10, 64: 3}
"""How many ask together, and how often: one worker alone takes but milliseconds."""
FLOAT_ROWS = 16_384
"""Of so many rows the products in float64 are taken, 8 bytes an entry, and scaled up to all: more do not fit everywhere."""


def opened(
    items: int, item_bytes: int, workers: int, spread: int | None
) -> tuple[LatticeRetrieval, np.ndarray, np.ndarray]:
    """Return the protocol of a library of random items, its matrix, and the items."""
    shape = choose_shape(items, item_bytes, workers=workers, most_spread=spread)
    rows = np.random.default_rng().integers(0, 256, (items, item_bytes), dtype=np.uint8)
    data = [row.tobytes() for row in rows]
    retrieval = LatticeRetrieval.of(shape, data)
    return retrieval, retrieval.library(data), rows


def server(items: int, item_bytes: int) -> dict[str, object]:
    """Return seconds of a query by batch size, of bare products, and of reading the same numbers once."""
    retrieval, library, _ = opened(items, item_bytes, 1, 1)
    queries = np.random.default_rng().integers(
        0, 1 << 32, (max(BATCHES), 1, library.shape[1]), dtype=np.uint32
    )
    return {
        "library_bytes": items * item_bytes,
        "rows": library.shape[0],
        "columns": library.shape[1],
        **bare(library, queries[:, 0]),
        "queries": {
            size: best_seconds(lambda size=size: retrieval.answer(library, 0, queries[:size]), REPEATS) / size
            for size in BATCHES
        },
    }


def bare(library: np.ndarray, queries: np.ndarray) -> dict[str, float]:
    """Return seconds of numpy's own products of the same matrix, by type and by query, and of one pass over it."""
    words, one = library.astype(np.int32).view(np.uint32), queries[0].copy()
    floats, vectors = library[:FLOAT_ROWS].astype(np.float64), queries.T.astype(np.float64, order="C")
    whole, column = len(library) / len(floats), vectors[:, 0].copy()
    return {
        "matmul": best_seconds(lambda: words @ one, REPEATS),
        "einsum": best_seconds(lambda: np.einsum("ij,j->i", words, one), REPEATS),
        "float": whole * best_seconds(lambda: floats @ column, REPEATS),
        "floats": whole * best_seconds(lambda: floats @ vectors, REPEATS) / len(queries),
        "read": best_seconds(words.view(np.uint64).sum, REPEATS),
    }


def workers(items: int, item_bytes: int) -> dict[str, object]:
    """Return the seconds of a query, of its answer and of making out its item: of one worker alone, and of many together."""
    retrieval, library, rows = opened(items, item_bytes, 10**6, None)
    started = time.perf_counter()
    hint = Hint(retrieval.version, retrieval.hint(library, 0))
    cost = retrieval.cost
    found: dict[str, object] = {
        "hint_s": time.perf_counter() - started,
        "hint_bytes": cost.hint_bytes,
        "get_bytes": cost.upload_bytes + cost.download_bytes,
    }
    retrieval.query(np.zeros(1, dtype=np.int64), fresh_draws(1))  # tables that every process makes once
    for count, repeats in WORKERS.items():
        times = []
        for _ in range(repeats):
            places = np.random.default_rng().integers(0, items, count)
            start = time.perf_counter()
            query = retrieval.query(places, fresh_draws(count))
            asked = time.perf_counter()
            answers = retrieval.answer(library, 0, query.sent)
            answered = time.perf_counter()
            fetched = retrieval.decode(query.kept, answers, hint)
            times.append((asked - start, answered - asked, time.perf_counter() - answered))
            assert np.array_equal(fetched, rows[places])
        found[str(count)] = [min(taken) / count for taken in zip(*times, strict=True)]
    return found


def main() -> None:
    """Print seconds and sizes as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("side", choices=("server", "workers"))
    parser.add_argument("items", type=int)
    parser.add_argument("item_bytes", type=int)
    arguments = parser.parse_args()
    pin_to_one_core()
    measured = {"server": server, "workers": workers}[arguments.side]
    print(json.dumps(measured(arguments.items, arguments.item_bytes)))


if __name__ == "__main__":
    main()
