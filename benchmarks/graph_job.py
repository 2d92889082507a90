"""A whole graph job on an embedded cluster of two processes: every statistic, and a rebuilt graph."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

from benchmarks.network import written

EPSILON = 2


class Watched:
    """A population that notes how long each stage takes, and how many bytes its pairs' reports have."""

    def __init__(self, population: Any, noted: dict[str, float]) -> None:
        self._population, self._noted = population, noted

    def __getattr__(self, name: str) -> Any:
        return getattr(self._population, name)

    def other(self, *arguments: Any) -> Watched:
        """Return the table of links, whose stages are noted too."""
        return Watched(self._population.other(*arguments), self._noted)

    def collect_pairs(self, *arguments: Any) -> Any:
        """Pass the question on."""
        reports = self._timed("reports", self._population.collect_pairs, *arguments)
        self._noted["report_bytes"] = sum(len(tile.rows) * tile.row_bytes for tile in reports.tiles)
        return reports

    def reduce(self, *arguments: Any) -> Any:
        """Pass the work on: that of common neighbours is the only one."""
        return self._timed("sums", self._population.reduce, *arguments)

    def write(self, *arguments: Any) -> Any:
        """Pass the rebuilt graph on."""
        return self._timed("release", self._population.write, *arguments)

    def _timed(self, stage: str, work: Callable[..., Any], *arguments: Any) -> Any:
        started = time.perf_counter()
        result = work(*arguments)
        self._noted[stage] = time.perf_counter() - started
        return result


class Noted:
    """A job that keeps its result, and what its population notes."""

    def __init__(self, job: Any) -> None:
        self._job = job
        self.noted: dict[str, float] = {}
        self.result: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._job, name)

    def run(self, spec: Any, population: Any) -> dict[str, Any]:
        """Run the job."""
        self.result = self._job.run(spec, Watched(population, self.noted))
        return self.result


def main() -> None:
    """Run the job once and print seconds, those of each stage too, peaks and sizes as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("nodes", type=int)
    parser.add_argument("links", type=int)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()

    from benchmarks.timed import timed_job
    from jobs.graph.job import Graph

    job = Noted(Graph())
    spec = {
        "job": "graph",
        "population": written(arguments.nodes, arguments.links),
        "privacy": {"epsilon": EPSILON},
        "release": {"graph": True},
    }
    found = timed_job(spec, arguments.workers, job)
    print(json.dumps(found | job.noted | {"released": job.result["released"]["links"]}))


if __name__ == "__main__":
    main()
