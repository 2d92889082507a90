"""A whole job of private retrieval on an embedded cluster of two processes: a tree of 1,024 leaves, tasks for each."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DEPTH, SKILL, TASKS_A_LEAF, PAYLOAD_BYTES = 10, "skill", 8, 580


def grown(depth: int) -> dict[str, Any]:
    """Return a tree that cuts one skill into equal parts."""
    nodes = []
    for node in range(1, 2 << depth):
        level = node.bit_length() - 1
        width = 2.0**-level
        low = (node - (1 << level)) * width
        cut = level < depth
        nodes.append(
            {
                "id": node,
                "children": [2 * node, 2 * node + 1] if cut else None,
                "dimension": SKILL if cut else None,
                "split": low + width / 2 if cut else None,
                "box": {SKILL: [low, low + width]},
                "consistent_count": 1.0,
            }
        )
    return {"job": "skills", "result": {"dimensions": [SKILL], "domain": [0.0, 1.0], "nodes": nodes}}


def written(rows: int) -> dict[str, Any]:
    """Write workers, tasks and the tree where they are not there, and return the job's spec without its retrieval."""
    folder = Path(tempfile.gettempdir()) / "canvass-benchmarks" / f"assign-{rows}"
    if not (folder / "tree.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        generator = np.random.default_rng(20261201)
        ids = pa.array(range(rows))
        pq.write_table(pa.table({"worker": ids, SKILL: generator.random(rows)}), folder / "workers.parquet")
        tasks = TASKS_A_LEAF << DEPTH
        places = (np.arange(tasks) + 0.5) / tasks
        payloads = [generator.bytes(PAYLOAD_BYTES) for _ in range(tasks)]
        columns = {"task": range(tasks), "payload": payloads, f"{SKILL}_low": places, f"{SKILL}_high": places}
        pq.write_table(
            pa.table({name: pa.array(column) for name, column in columns.items()}), folder / "tasks.parquet"
        )
        (folder / "tree.json").write_text(json.dumps(grown(DEPTH)), encoding="utf-8")
    return {
        "job": "assign",
        "population": {"path": str(folder / "workers.parquet"), "id": "worker", "name": "benchmark"},
        "tasks": {"path": str(folder / "tasks.parquet"), "id": "task", "payload": "payload"},
        "tree": {"path": str(folder / "tree.json")},
    }


class Noted:
    """A job that keeps its result."""

    def __init__(self, job: Any) -> None:
        self._job = job
        self.result: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._job, name)

    def run(self, spec: Any, population: Any) -> dict[str, Any]:
        """Run the job."""
        self.result = self._job.run(spec, population)
        return self.result


def main() -> None:
    """Run the job once and print seconds, peaks, and what was sent as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int)
    parser.add_argument("protocol")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()

    from benchmarks.timed import timed_job
    from jobs.assign.job import Assign

    noted = Noted(Assign())
    spec = written(arguments.rows) | {"retrieval": {"protocol": arguments.protocol}}
    found = timed_job(spec, arguments.workers, noted)
    kept = (
        "bytes_up",
        "bytes_down",
        "item_bytes",
        "library_bytes",
        "received",
        "undecoded",
        "server_bytes_per_second",
    )
    print(json.dumps(found | {key: noted.result[key] for key in kept}))


if __name__ == "__main__":
    main()
