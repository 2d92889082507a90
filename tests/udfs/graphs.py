"""Small graphs for tests: as lists of links, and as matrices."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st


@st.composite
def graphs(draw, most_nodes=9, least_nodes=0):
    """Return how many nodes there are, and links: int64, the lower end first, each once."""
    nodes = draw(st.integers(least_nodes, most_nodes))
    pairs = list(itertools.combinations(range(nodes), 2))
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return nodes, np.array(sorted(chosen), dtype=np.int64).reshape(-1, 2)


def matrix_of(nodes, links):
    """Return the symmetric matrix of links: int64."""
    matrix = np.zeros((nodes, nodes), dtype=np.int64)
    for one, other in links.tolist():
        matrix[one, other] = matrix[other, one] = 1
    return matrix
