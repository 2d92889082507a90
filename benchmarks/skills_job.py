"""A whole private tree on an embedded cluster of two processes, with keys of its own."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any


def main() -> None:
    """Run the job once and print seconds, those of each level too, and peaks as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int)
    parser.add_argument("--bits", type=int, default=2048)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()

    from benchmarks.timed import timed_job
    from benchmarks.workforce import tree_spec
    from jobs.skills import job

    levels: list[dict[str, Any]] = []
    ask = job._Growing._ask

    def timed_ask(self: Any, question: Any) -> Any:
        started = time.perf_counter()
        counters = ask(self, question)
        seconds = time.perf_counter() - started
        levels.append(
            {
                "level": question.level,
                "counters": question.cells.counters,
                "ciphertexts": self._ciphertexts[-1],
                "seconds": seconds,
            }
        )
        return counters

    job._Growing._ask = timed_ask
    found = timed_job(tree_spec(arguments.rows, arguments.bits), arguments.workers)
    print(json.dumps(found | {"levels": levels}))


if __name__ == "__main__":
    main()
