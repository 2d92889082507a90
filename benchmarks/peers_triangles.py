"""networkx's triangles of the same network; needs nothing of this project."""

from __future__ import annotations

import hashlib
import json
import sys
import time

import networkx as nx
import numpy as np

PATIENCE_S, ROUNDS = 5, 5


def main() -> None:
    """Print counts and the least processor seconds as JSON, without those that make the graph."""
    path, nodes = sys.argv[1], int(sys.argv[2])
    graph = nx.empty_graph(nodes)
    graph.add_edges_from(np.load(path).tolist())
    times = []
    while len(times) < ROUNDS and sum(times) < PATIENCE_S:
        started = time.process_time()
        counts = nx.triangles(graph)
        times.append(time.process_time() - started)
    ordered = np.array([counts[node] for node in range(nodes)], dtype="<i8")
    digest = hashlib.sha256(ordered.tobytes()).hexdigest()
    print(json.dumps({"counts": digest, "triangles": min(times)}))


if __name__ == "__main__":
    main()
