"""Populations of many million rows, made once and kept in the system's temporary folder."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CATEGORIES = ["<70", "70-99", "100-129", "130-159", "160-189", ">=190"]
ROWS_PER_FILE = 10_000_000
_SHARES = [0.06, 0.26, 0.42, 0.20, 0.05, 0.01]


def many_attributes(rows: int, attributes: int) -> Path:
    """Return a folder of one file with columns a0, a1, ... of codes 0 to 5 (int8), made where it is not there.

    Beside it lies the same as an array, under its name and `.npy`: for whoever reads no Parquet.
    """
    folder = Path(tempfile.gettempdir()) / "canvass-benchmarks" / f"{rows}x{attributes}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "part-000.parquet"
    if not path.exists():
        generator = np.random.default_rng(20260802)
        columns = {
            f"a{place}": generator.choice(len(CATEGORIES), rows, p=_SHARES).astype(np.int8)
            for place in range(attributes)
        }
        np.save(folder.with_suffix(".npy"), np.column_stack(list(columns.values())))
        pq.write_table(pa.table(columns), folder / "making", row_group_size=1 << 18)
        (folder / "making").rename(path)
    return folder


def population(rows: int) -> Path:
    """Return a folder of files of ten million rows, made where it is not there yet.

    Columns: `code` (int8) and `level` (text), the same answers; `number` (int64), ids in the order of the
    rows; `shuffled` (int64), the same ids in no order.
    """
    folder = Path(tempfile.gettempdir()) / "canvass-benchmarks" / f"{rows}"
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "whole").exists():
        generator = np.random.default_rng(20260801)
        shuffled = generator.permutation(rows)
        labels = pa.array(CATEGORIES)
        for place, start in enumerate(range(0, rows, ROWS_PER_FILE)):
            end = min(start + ROWS_PER_FILE, rows)
            codes = generator.choice(len(CATEGORIES), end - start, p=_SHARES).astype(np.int8)
            table = pa.table(
                {
                    "code": codes,
                    "level": labels.take(pa.array(codes)),
                    "number": np.arange(start, end),
                    "shuffled": shuffled[start:end],
                }
            )
            pq.write_table(table, folder / f"part-{place:03d}.parquet", row_group_size=1_000_000)
        (folder / "whole").touch()
    return folder
