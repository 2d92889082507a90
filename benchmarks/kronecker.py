"""A table of many attributes of four levels: axis by axis, against the dense Kronecker product."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.measure import best_seconds
from jobs.survey.reconstruct import Axis, TableEstimate
from udfs.randomized_response import RandomizedResponse
from udfs.tables import CrossTable

LEVELS, EPSILON, REPORTS = 4, 2, 1_000_000


def reports_of(attributes: int) -> list[np.ndarray]:
    """Return a million reports to each attribute."""
    generator = np.random.default_rng(20260803)
    return [generator.integers(0, LEVELS, REPORTS).astype(np.uint8) for _ in range(attributes)]


def ours(counts: Any, attributes: int) -> dict[tuple[int, ...], np.ndarray]:
    """Return the whole table, and the standard errors of all its one-way and two-way margins."""
    axes = [
        Axis((str(place),), (LEVELS,), RandomizedResponse(LEVELS, EPSILON)) for place in range(attributes)
    ]
    whole = TableEstimate.of(counts, axes)
    found: dict[tuple[int, ...], np.ndarray] = {(): whole.shares}
    by_axis = counts
    for of in margins(attributes):
        others = tuple(set(range(attributes)) - set(of))
        margin = TableEstimate.of(by_axis.sum(axis=others), [axes[place] for place in of])
        found[of] = np.sqrt(margin.cell_variances())
    return found


def dense(counts: np.ndarray, attributes: int) -> dict[tuple[int, ...], np.ndarray]:
    """Return the same by the product matrix and the whole dispersion matrix."""
    inverse = np.linalg.inv(np.array(RandomizedResponse(LEVELS, EPSILON).law, dtype=np.float64))
    product = reduce(np.kron, [inverse] * attributes)
    observed = counts.ravel() / counts.sum()
    shares = product @ observed
    dispersion = (product * observed) @ product.T - np.outer(shares, shares)
    dispersion /= counts.sum() - 1
    found: dict[tuple[int, ...], np.ndarray] = {(): shares.reshape(counts.shape)}
    cells = np.arange(counts.size).reshape(counts.shape)
    for of in margins(attributes):
        moved = np.moveaxis(cells, of, range(len(of))).reshape(LEVELS ** len(of), -1)
        variances = [dispersion[np.ix_(inside, inside)].sum() for inside in moved]
        found[of] = np.sqrt(np.array(variances)).reshape((LEVELS,) * len(of))
    return found


def margins(attributes: int) -> list[tuple[int, ...]]:
    """Return all one-way and two-way margins."""
    return [of for ways in (1, 2) for of in combinations(range(attributes), ways)]


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what work gives, and the seconds it took."""
    started = time.perf_counter()
    return work(), time.perf_counter() - started


def main() -> None:
    """Print seconds as JSON: of 12 attributes, and of as many as the dense product is given."""
    fits, attributes = int(sys.argv[1]), 12
    small = CrossTable(tuple(range(fits)), (LEVELS,) * fits).tally(reports_of(fits))
    theirs, dense_seconds = timed(lambda: dense(small, fits))
    mine = ours(small, fits)
    for of, values in theirs.items():
        np.testing.assert_allclose(mine[of], values, rtol=1e-6, atol=1e-12)
    large, tally_seconds = timed(
        lambda: CrossTable(tuple(range(attributes)), (LEVELS,) * attributes).tally(reports_of(attributes))
    )
    counts = large.dense().reshape((LEVELS,) * attributes)
    print(
        json.dumps(
            {
                "dense": dense_seconds,
                "ours": best_seconds(lambda: ours(small, fits), 3),
                "ours_12": best_seconds(lambda: ours(counts, attributes), 2),
                "tally_12": tally_seconds,
            }
        )
    )


if __name__ == "__main__":
    main()
