"""True counts of links and triangles, against powers of the matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import udfs.triangles
from udfs.triangles import degrees_of, triangles


@st.composite
def graphs(draw):
    """Links in any order and with their ends in any order, of up to 30 nodes, and how many nodes there are."""
    nodes = draw(st.integers(0, 30))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    share = draw(st.sampled_from([0, 0.05, 0.3, 0.8, 1]))
    links = np.argwhere(np.triu(generator.random((nodes, nodes)) < share, 1))
    return generator.permuted(generator.permutation(links), axis=1), nodes


def matrix_of(links, nodes):
    matrix = np.zeros((nodes, nodes), dtype=np.int64)
    matrix[links[:, 0], links[:, 1]] = matrix[links[:, 1], links[:, 0]] = 1
    return matrix


def by_powers(links, nodes):
    matrix = matrix_of(links, nodes)
    return np.diag(matrix @ matrix @ matrix) // 2


@given(graphs())
def test_triangles_are_half_the_diagonal_of_the_third_power(graph):
    np.testing.assert_array_equal(triangles(*graph), by_powers(*graph), strict=True)


@pytest.mark.parametrize("a_path", [1e-9, 1, 20, 100, 1e9])
@given(graph=graphs())
def test_paths_and_products_count_the_same_wherever_one_ends(a_path, graph):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(udfs.triangles, "_A_PATH", a_path)
        np.testing.assert_array_equal(triangles(*graph), by_powers(*graph), strict=True)


@given(graphs())
def test_degrees_are_the_sums_of_rows(graph):
    np.testing.assert_array_equal(degrees_of(*graph), matrix_of(*graph).sum(axis=1), strict=True)


@pytest.mark.parametrize(("paths", "table"), [(1, 1), (1, 1 << 20), (20, 450), (1 << 20, 1)])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_blocks_of_nodes_make_no_difference(monkeypatch, paths, table, share):
    monkeypatch.setattr(udfs.triangles, "_PATHS", paths)
    monkeypatch.setattr(udfs.triangles, "_TABLE", table)
    monkeypatch.setattr(udfs.triangles, "_A_PATH", 1e-9)
    links = np.argwhere(np.triu(np.random.default_rng(5).random((150, 150)) < share, 1))
    np.testing.assert_array_equal(triangles(links, 150), by_powers(links, 150))


def test_a_complete_graph_has_all_triangles():
    links = np.argwhere(np.triu(np.ones((300, 300)), 1))
    assert set(triangles(links, 300)) == {299 * 298 // 2}


@pytest.mark.parametrize(("share", "fewest", "most"), [(0.5, 300, 400), (0.001, 0, 30)])
def test_only_the_dense_core_of_a_graph_is_multiplied(monkeypatch, share, fewest, most):
    sizes, by_products = [], udfs.triangles._by_products

    def noted(low, high, nodes):
        sizes.append(nodes)
        return by_products(low, high, nodes)

    monkeypatch.setattr(udfs.triangles, "_by_products", noted)
    core = np.argwhere(np.triu(np.random.default_rng(7).random((400, 400)) < share, 1))
    ring = np.stack([np.arange(10_000), np.roll(np.arange(10_000), 1)], axis=1) + 400
    found = triangles(np.concatenate([ring, core]), 10_400)
    np.testing.assert_array_equal(found[:400], by_powers(core, 400))
    assert not found[400:].any()
    assert fewest <= sizes[0] <= most


def test_a_hub_costs_no_more_than_its_links():
    hub, others = (
        50_000,
        np.delete(np.arange(100_001), 50_000),
    )  # links in the order of numbers have 2.5 * 10**9 paths
    spokes = np.stack([np.full(100_000, hub), others], axis=1)
    found = triangles(np.concatenate([spokes, [[1, 2], [2, 3]]]), 100_001)
    assert found[:5].tolist() == [0, 1, 2, 1, 0]
    assert found[hub] == 2
    assert found.sum() == 6
