"""The whole survey job of one attribute, in a process of its own."""

from __future__ import annotations

import argparse
import json

from benchmarks.data import CATEGORIES, population


def main() -> None:
    """Run the job once and print seconds and peaks as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int)
    parser.add_argument("column", choices=["code", "level"])
    parser.add_argument("--id", choices=["number", "shuffled"])
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()

    from benchmarks.timed import timed_job

    path = population(arguments.rows)
    spec = {
        "population": {"path": str(path), "name": "benchmark"}
        | ({"id": arguments.id} if arguments.id else {}),
        "attributes": {
            arguments.column: {
                "categories": CATEGORIES if arguments.column == "level" else list(range(6)),
                "epsilon": 2,
            }
        },
    }
    print(json.dumps(timed_job(spec, arguments.workers)))


if __name__ == "__main__":
    main()
