"""The whole survey job in a process of its own: wall time beyond cluster start, and every process's peak."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data import CATEGORIES, population


def peak_bytes() -> int:
    """Return the most memory this process has held since it was executed, in bytes."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


def main() -> None:
    """Run the job once and print seconds and peaks as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int)
    parser.add_argument("column", choices=["code", "level"])
    parser.add_argument("--id", choices=["number", "shuffled"])
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()

    from cluster.backend import Backend
    from cluster.session import ClusterOptions, DaskEngine, open_engine
    from jobs.catalogue import load
    from jobs.ledger import Ledger
    from jobs.lifecycle import run_job

    found: dict[str, float] = {}

    @contextlib.contextmanager
    def timed_engine() -> Iterator[DaskEngine]:
        with open_engine(ClusterOptions(workers=arguments.workers)) as engine:
            found["ready"] = time.perf_counter()
            yield engine
            found["asked"] = time.perf_counter()
            peaks = engine._client.run(peak_bytes)
            found["worker_peak_bytes"] = max(peaks.values())
        found["closed"] = time.perf_counter()

    path = population(arguments.rows)
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        spec = {
            "job": "survey",
            "population": {"path": str(path), "name": "benchmark"}
            | ({"id": arguments.id} if arguments.id else {}),
            "output": {"path": str(home / "out")},
            "attributes": {
                arguments.column: {
                    "categories": CATEGORIES if arguments.column == "level" else list(range(6)),
                    "epsilon": 2,
                }
            },
        }
        job, checked = load(spec)
        run_job(job, checked, Backend(timed_engine), Ledger.at(None, home), home)
        ended = time.perf_counter()
    print(
        json.dumps(
            {
                "seconds": found["asked"] - found["ready"] + ended - found["closed"],
                "worker_peak_bytes": found["worker_peak_bytes"],
                "driver_peak_bytes": peak_bytes(),
            }
        )
    )


if __name__ == "__main__":
    main()
