"""Many attributes that share an epsilon: the whole job, in a process of its own."""

from __future__ import annotations

import argparse
import json

from benchmarks.data import many_attributes


def main() -> None:
    """Run the job once and print seconds and peaks as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int)
    parser.add_argument("scheme", choices=["split", "sample"])
    parser.add_argument("--attributes", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()

    from benchmarks.timed import timed_job

    path = many_attributes(arguments.rows, arguments.attributes)
    spec = {
        "population": {"path": str(path), "name": "benchmark"},
        "attributes": {f"a{place}": {"categories": list(range(6))} for place in range(arguments.attributes)},
        "budget": {"epsilon": 2, "scheme": arguments.scheme},
    }
    print(json.dumps(timed_job(spec, arguments.workers)))


if __name__ == "__main__":
    main()
