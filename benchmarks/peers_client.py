"""The peers' clients on the same work, in their own environment; needs nothing of this project."""

from __future__ import annotations

import json
import os
import time

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from pure_ldp.frequency_oracles.direct_encoding import DEClient

CELLS, EPSILON, ROWS, REPEATS = 6, 2.0, 200_000, 5


def main() -> None:
    """Print reports a second as JSON: the best of several runs, after compilation."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    answers = (np.arange(ROWS) % CELLS).tolist()
    one_based = [answer + 1 for answer in answers]
    client = DEClient(epsilon=EPSILON, d=CELLS)
    GRR_Client(0, CELLS, EPSILON)
    best: dict[str, float] = {}
    for _ in range(REPEATS):
        started = time.perf_counter()
        [GRR_Client(answer, CELLS, EPSILON) for answer in answers]
        middle = time.perf_counter()
        [client.privatise(answer) for answer in one_based]
        ended = time.perf_counter()
        for name, seconds in (
            ("multi-freq-ldpy GRR client", middle - started),
            ("pure-ldp DE client", ended - middle),
        ):
            best[name] = max(best.get(name, 0.0), ROWS / seconds)
    print(json.dumps(best))


if __name__ == "__main__":
    main()
