"""A whole private election on an embedded cluster of two processes."""

from __future__ import annotations

import argparse
import json


def main() -> None:
    """Run the job once and print seconds, peaks and the winner as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int)
    parser.add_argument("rule")
    parser.add_argument("model")
    parser.add_argument("randomizer")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()

    from benchmarks.electorate import CANDIDATES, electorate
    from benchmarks.timed import timed_job

    spec = {
        "job": "election",
        "population": {"path": str(electorate(arguments.rows)), "ranking": "ranking", "name": "benchmark"},
        "election": {"candidates": CANDIDATES, "rule": arguments.rule},
        "privacy": {"model": arguments.model, "epsilon": 1, "randomizer": arguments.randomizer},
    }
    print(json.dumps(timed_job(spec, arguments.workers)))


if __name__ == "__main__":
    main()
