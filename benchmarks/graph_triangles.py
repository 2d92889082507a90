"""True triangles of networks on one core, and how sensitive their number is."""

from __future__ import annotations

import argparse
import hashlib
import json
import os

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import numpy as np

from benchmarks.measure import in_turns, pin_to_one_core
from udfs.smooth_sensitivity import TriangleSensitivity
from udfs.triangles import triangles

ROUNDS, BETA = 7, 0.1


def main() -> None:
    """Print counts and processor seconds of one network as JSON: of triangles, and of a smooth bound."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path", help="An array of links, as .npy.")
    parser.add_argument("nodes", type=int)
    arguments = parser.parse_args()
    links, nodes = np.load(arguments.path), arguments.nodes
    pin_to_one_core()
    counts = triangles(links, nodes)
    found = in_turns({"triangles": lambda: triangles(links, nodes)}, ROUNDS)
    found |= in_turns({"smooth": lambda: TriangleSensitivity.of(links, nodes).smooth(BETA)}, 2)
    digest = hashlib.sha256(counts.astype("<i8").tobytes()).hexdigest()
    print(json.dumps({"total": int(counts.sum()) // 3, "counts": digest, **found}))


if __name__ == "__main__":
    main()
