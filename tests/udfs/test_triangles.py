from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.udfs.graphs import graphs, matrix_of
from udfs.triangles import degrees_of, triangles_of


@given(graphs(most_nodes=12))
def test_degrees_and_triangles_are_those_of_the_matrix(graph) -> None:
    nodes, links = graph
    dense = matrix_of(nodes, links)
    assert degrees_of(links, nodes).tolist() == dense.sum(axis=1).tolist()
    assert triangles_of(links, nodes).tolist() == (np.diag(dense @ dense @ dense) // 2).tolist()
    assert triangles_of(links[:, ::-1], nodes).tolist() == triangles_of(links, nodes).tolist()


@pytest.mark.parametrize("at_once", [1, 50, 1 << 22])
def test_few_paths_at_a_time_give_the_same(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(5)
    dense = np.triu(generator.random((60, 60)) < 0.4, 1)
    links = np.argwhere(dense)
    expected = triangles_of(links, 60)
    monkeypatch.setattr("udfs.triangles._PATHS_AT_ONCE", at_once)
    assert triangles_of(links, 60).tolist() == expected.tolist()


def test_a_library_counts_the_same() -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.gnm_random_graph(400, 4000, seed=3)
    links = np.array(graph.edges, dtype=np.int64)
    assert triangles_of(links, 400).tolist() == [networkx.triangles(graph)[node] for node in range(400)]
