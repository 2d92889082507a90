"""Elections of many million ballots, made once and kept in the system's temporary folder."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CANDIDATES = [f"Candidate {letter}" for letter in "ABCDEFGHIJ"]
ROWS_PER_FILE = 1_000_000
_UTILITIES = np.linspace(1.2, 0.0, len(CANDIDATES))


def electorate(rows: int) -> Path:
    """Return a folder of complete rankings of ten candidates (list of text), a million to a file.

    Voters rank by utilities with Gumbel noise: the law of Plackett and Luce.
    """
    folder = Path(tempfile.gettempdir()) / "canvass-benchmarks" / f"election-{rows}"
    folder.mkdir(parents=True, exist_ok=True)
    if not folder.with_suffix(".whole").exists():
        generator = np.random.default_rng(20261130)
        names = pa.array(CANDIDATES)
        for place, start in enumerate(range(0, rows, ROWS_PER_FILE)):
            own = min(ROWS_PER_FILE, rows - start)
            orders = np.argsort(-_UTILITIES - generator.gumbel(size=(own, len(CANDIDATES))), axis=1)
            flat = names.take(pa.array(orders.ravel()))
            offsets = pa.array(np.arange(own + 1, dtype=np.int32) * len(CANDIDATES))
            table = pa.table({"ranking": pa.ListArray.from_arrays(offsets, flat)})
            pq.write_table(table, folder / f"part-{place:03d}.parquet", row_group_size=1 << 18)
        folder.with_suffix(".whole").touch()
    return folder
