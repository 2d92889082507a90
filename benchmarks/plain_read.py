"""One process that reads a column with pyarrow and counts its values: what a job without privacy takes."""

from __future__ import annotations

import json
import sys
import time

import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.data import population


def main() -> None:
    """Print the seconds of one read and count as JSON; the files are in the page cache."""
    rows, column, threads = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "threads"
    files = sorted(population(rows).glob("*.parquet"))
    started = time.perf_counter()
    table = pq.read_table(files, columns=[column], use_threads=threads)
    pc.value_counts(table.column(0))
    print(json.dumps({"seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    main()
