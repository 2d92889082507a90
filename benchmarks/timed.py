"""A whole job on an embedded cluster: wall time beyond cluster start, and every process's peak."""

from __future__ import annotations

import contextlib
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cluster.backend import Backend
from cluster.engine import DaskEngine
from cluster.session import ClusterOptions, open_engine
from jobs.catalogue import load
from jobs.ledger import Ledger
from jobs.lifecycle import run_job


def peak_bytes() -> int:
    """Return the most memory this process has held since it was executed, in bytes."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


def timed_job(spec: dict[str, Any], workers: int, instead: Any = None) -> dict[str, float]:
    """Run a job into a folder that is thrown away; or, instead of it, one that does the same and takes notes.

    Returns
    -------
    dict
        `estimated`, from the first task to the estimates; `seconds`, to the committed output, without the
        cluster's start and end; `seconds_with_start`; `worker_cpu_seconds`, what all workers' processors were busy
        until the estimates; `worker_peak_bytes` and `driver_peak_bytes`.
    """
    found: dict[str, float] = {}

    @contextlib.contextmanager
    def timed_engine() -> Iterator[DaskEngine]:
        with open_engine(ClusterOptions(workers=workers)) as engine:
            before = sum(engine._client.run(time.process_time).values())
            found["ready"] = time.perf_counter()
            yield engine
            found["asked"] = time.perf_counter()
            found["worker_cpu_seconds"] = sum(engine._client.run(time.process_time).values()) - before
            peaks = engine._client.run(peak_bytes)
            found["worker_peak_bytes"] = max(peaks.values())
        found["closed"] = time.perf_counter()

    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        job, checked = load({"job": "survey", "output": {"path": str(home / "out")}} | spec)
        started = time.perf_counter()
        run_job(instead or job, checked, Backend(timed_engine), Ledger.at(None, home), home)
        ended = time.perf_counter()
    return {
        "estimated": found["asked"] - found["ready"],
        "seconds": found["asked"] - found["ready"] + ended - found["closed"],
        "seconds_with_start": ended - started,
        "worker_cpu_seconds": found["worker_cpu_seconds"],
        "worker_peak_bytes": found["worker_peak_bytes"],
        "driver_peak_bytes": peak_bytes(),
    }
