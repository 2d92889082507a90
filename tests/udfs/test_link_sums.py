from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.graphs import graphs, matrix_of
from udfs.errors import SpecError
from udfs.link_sums import MOST_NODES, CommonNeighbours, LinkMatrix, TimesVector, add_up
from udfs.links import tiles


def laid_out(nodes, links, band):
    own = tiles(nodes, band)
    bits = tuple(tile.to_bits(tile.select(links)) for tile in own)
    return LinkMatrix(nodes, own, tuple(lambda one=one: one for one in bits))


@given(graphs(), st.integers(1, 10))
def test_blocks_are_those_of_the_matrix(graph, band) -> None:
    nodes, links = graph
    matrix, dense = laid_out(nodes, links, band), matrix_of(nodes, links)
    assert sum(map(len, matrix.bands)) == nodes
    for i, rows in enumerate(matrix.bands):
        for j, columns in enumerate(matrix.bands):
            expected = dense[rows.start : rows.stop, columns.start : columns.stop]
            assert (matrix.block(i, j) == expected).all()


@given(graphs(), st.integers(1, 10))
def test_sums_of_all_blocks_are_those_of_the_whole_matrix(graph, band) -> None:
    nodes, links = graph
    matrix, dense = laid_out(nodes, links, band), matrix_of(nodes, links)
    vector = np.arange(nodes, dtype=np.int64) * 3 + 1
    found = add_up((nodes,))(map(TimesVector(matrix, vector), matrix.blocks))
    assert found.tolist() == (dense @ vector).tolist()
    common = dense @ dense
    np.fill_diagonal(common, 0)
    sums = add_up((2, nodes))(map(CommonNeighbours(matrix), matrix.blocks))
    assert sums[0].tolist() == (common * dense).sum(axis=1).tolist()
    assert sums[1].tolist() == (common**2).sum(axis=1).tolist()
    assert (sums[0] // 2).tolist() == (np.diag(dense @ dense @ dense) // 2).tolist()


def test_of_no_parts_the_sum_is_zero() -> None:
    assert add_up((2, 3))([]).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_more_nodes_than_single_precision_counts_are_refused() -> None:
    with pytest.raises(SpecError, match="at most 16,777,215 nodes"):
        LinkMatrix(MOST_NODES + 1, (), ())
