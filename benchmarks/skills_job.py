"""A whole private tree on an embedded cluster of two processes, with keys of its own."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from typing import Any


class Watched:
    """A population that notes when it is asked, and for how much."""

    def __init__(self, population: Any) -> None:
        self._population = population
        self.asked: list[tuple[float, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._population, name)

    def ask(self, asks: Sequence[Any], round_name: str) -> list[Any]:
        """Pass the question on."""
        slots = asks[0][1].slots
        level = {"level": int(round_name.removeprefix("level ")), "counters": slots.counters}
        self.asked.append((time.perf_counter(), level | {"ciphertexts": slots.ciphertexts}))
        return self._population.ask(asks, round_name)


class Timed:
    """A job that notes the seconds of each level until the next is asked: with its opening and its medians."""

    def __init__(self, job: Any) -> None:
        self._job = job
        self.levels: list[dict[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._job, name)

    def run(self, spec: Any, population: Any) -> dict[str, Any]:
        """Run the job."""
        watched = Watched(population)
        result = self._job.run(spec, watched)
        starts, levels = zip(*watched.asked, strict=True)
        ends = (*starts[1:], time.perf_counter())
        self.levels = [
            level | {"seconds": end - start} for level, start, end in zip(levels, starts, ends, strict=True)
        ]
        return result


def main() -> None:
    """Run the job once and print seconds, those of each level too, and peaks as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int)
    parser.add_argument("--bits", type=int, default=2048)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()

    from benchmarks.timed import timed_job
    from benchmarks.workforce import tree_spec
    from jobs.skills.job import Skills

    timed = Timed(Skills())
    found = timed_job(tree_spec(arguments.rows, arguments.bits), arguments.workers, timed)
    print(json.dumps(found | {"levels": timed.levels}))


if __name__ == "__main__":
    main()
