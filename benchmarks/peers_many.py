"""The peer's client and server for many attributes on the same data; needs nothing of this project."""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from multi_freq_ldpy.mdim_freq_est.RSpFD_solution import RSpFD_GRR_Aggregator_MI, RSpFD_GRR_Client
from multi_freq_ldpy.mdim_freq_est.SMP_solution import SMP_GRR_Aggregator_MI, SMP_GRR_Client
from multi_freq_ldpy.mdim_freq_est.SPL_solution import SPL_GRR_Aggregator_MI, SPL_GRR_Client

EPSILON, CELLS = 2.0, 6
SOLUTIONS = {
    "SPL": (SPL_GRR_Client, SPL_GRR_Aggregator_MI),
    "SMP": (SMP_GRR_Client, SMP_GRR_Aggregator_MI),
    "RS+FD": (RSpFD_GRR_Client, RSpFD_GRR_Aggregator_MI),
}


def main() -> None:
    """Print seconds of client and server for each solution as JSON, reading the file included."""
    path = sys.argv[1]
    seconds = {}
    for name, (client, server) in SOLUTIONS.items():
        client([0, 0], [CELLS] * 2, 2, EPSILON)  # compiled before it is timed
        started = time.perf_counter()
        answers = np.load(path)
        attributes = answers.shape[1]
        sizes = [CELLS] * attributes
        reports = [client(row, sizes, attributes, EPSILON) for row in answers]
        server(reports, sizes, attributes, EPSILON)
        seconds[name] = time.perf_counter() - started
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
