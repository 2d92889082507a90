"""Workers with ten skills each, made once and kept in the system's temporary folder."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SKILLS = [f"skill_{number}" for number in range(10)]
DEPTH, BINS = 6, 10
_ROWS_PER_GROUP = 2_500


def workforce(rows: int) -> Path:
    """Return a folder of one file of workers: ten skills from 0 to 1, each by a beta law of its own."""
    folder = Path(tempfile.gettempdir()) / "canvass-benchmarks" / f"skills-{rows}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "part-000.parquet"
    if not path.exists():
        generator = np.random.default_rng(20261201)
        columns = {name: generator.beta(2, 2 + place / 2, rows) for place, name in enumerate(SKILLS)}
        pq.write_table(pa.table(columns), folder / "making", row_group_size=_ROWS_PER_GROUP)
        (folder / "making").rename(path)
    return folder


def tree_spec(rows: int, bits: int) -> dict[str, Any]:
    """Return the spec of their tree: a twentieth of them may collude, and a fiftieth be missing."""
    return {
        "job": "skills",
        "population": {"path": str(workforce(rows)), "name": "benchmark"},
        "skills": {"dimensions": SKILLS, "bins": BINS, "depth": DEPTH},
        "privacy": {"epsilon": 2, "collusion": rows // 20, "dropout": rows // 50},
        "keys": {"holders": 3, "threshold": 2, "bits": bits},
    }
