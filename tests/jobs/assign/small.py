"""Small instances: tasks that meet some leaves, and the best that can be done with them, by trying all."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array


@st.composite
def instances(draw, most_tasks=7, most_leaves=4, everywhere=False):
    """Return which tasks meet which leaves, some perhaps none, and the tasks' sizes."""
    leaves = draw(st.integers(1, most_leaves))
    row = (
        st.just([True] * leaves) if everywhere else st.lists(st.booleans(), min_size=leaves, max_size=leaves)
    )
    meets = np.array(draw(st.lists(row, max_size=most_tasks)), dtype=bool).reshape(-1, leaves)
    sizes = draw(st.lists(st.integers(1, 30), min_size=len(meets), max_size=len(meets)))
    return csr_array(meets), np.array(sizes, dtype=np.int64)


def loads_of(places, sizes, leaves):
    """Return how much each leaf holds."""
    loads = [0] * leaves
    for place, size in zip(places.tolist(), sizes.tolist(), strict=True):
        if place >= 0:
            loads[place] += size
    return loads


def optimum(meets, sizes):
    """Return the least load of the fullest leaf over all ways to place the tasks."""
    ways = {(0,) * meets.shape[1]}
    for row, size in zip(meets.toarray(), sizes.tolist(), strict=True):
        ways = {
            (*way[:leaf], way[leaf] + size, *way[leaf + 1 :]) for way in ways for leaf in np.flatnonzero(row)
        } or ways
    return min(map(max, ways))


def heaviest_set(meets, sizes):
    """Return the greatest of w(S)/|S|, rounded up, over all sets of leaves: the linear programme's optimum."""
    rows, leaves = meets.toarray(), range(meets.shape[1])
    return max(
        -(
            -sum(
                size
                for row, size in zip(rows, sizes.tolist(), strict=True)
                if row.any() and inside(row, some)
            )
            // number
        )
        for number in range(1, len(leaves) + 1)
        for some in combinations(leaves, number)
    )


def inside(row, some):
    """Tell whether a task meets no leaf but some."""
    return set(np.flatnonzero(row).tolist()) <= set(some)
