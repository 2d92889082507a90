from __future__ import annotations

import numpy as np
import pytest

from tests.udfs import graphs
from udfs import smooth_sensitivity
from udfs.smooth_sensitivity import SEQUENCE, TriangleSensitivity

DISTANCES = np.arange(13)


def fresh_generator():
    """Return a generator whose seed is printed where a test fails."""
    seed = np.random.SeedSequence().entropy
    print("the seed was", seed)
    return np.random.default_rng(seed)


def some(nodes, most=1024):
    """Return all graphs of few nodes, and so many of more."""
    every = 1 << len(graphs.pairs_of(nodes))
    return range(every) if every <= most else fresh_generator().integers(0, every, most).tolist()


def product(links, nodes):
    return TriangleSensitivity.of(links, nodes).local(DISTANCES)


def assert_brute_force(local, nodes, of):
    """Fail unless a function finds the largest local sensitivities that there are within the distances."""
    within = graphs.sensitivities_within(nodes, len(DISTANCES))[:, :, 0]
    for graph in of:
        found = local(graphs.links_of(graph, nodes), nodes)
        assert found.tolist() == within[:, graph].tolist(), f"graph {graph} of {nodes} nodes"


@pytest.mark.parametrize("nodes", range(2, 7))
def test_sensitivities_at_a_distance_are_the_largest_of_all_graphs_there(nodes):
    assert_brute_force(product, nodes, some(nodes))


@pytest.mark.parametrize("nodes", range(2, 7))
def test_numbers_at_each_node_are_three_times_as_sensitive_as_their_total(nodes):
    total, sequence = graphs.sensitivities_within(nodes, len(DISTANCES)).transpose(2, 0, 1)
    assert np.array_equal(sequence, SEQUENCE * total)
    assert total.max() == nodes - 2 == TriangleSensitivity.of(np.zeros((0, 2), dtype=np.int64), nodes).largest


def published(links, nodes, pairs="all", ends="one of two", most=2, odd=0):
    """Return the published formula over all pairs, from a dense matrix; or a mutant of it."""
    linked = np.zeros((nodes, nodes), dtype=np.int64)
    linked[links[:, 0], links[:, 1]] = linked[links[:, 1], links[:, 0]] = 1
    found = np.zeros(len(DISTANCES), dtype=np.int64)
    for i, j in graphs.pairs_of(nodes):
        both = int(linked[i] @ linked[j])
        others = [k for k in range(nodes) if k not in (i, j)] if ends == "one of two" else range(nodes)
        one = int((linked[i] + linked[j] == 1)[others].sum())
        if both or pairs == "all":
            reached = both + (DISTANCES + np.minimum(DISTANCES, one) + odd) // 2
            found = np.maximum(found, np.minimum(reached, nodes - most))
    return found


MUTANTS = {
    "pairs with a common neighbour alone": {"pairs": "some"},
    "the link between both counts": {"ends": "all"},
    "no node is left out": {"most": 0},
    "half a change is enough": {"odd": 1},
}


def test_the_published_formula_is_right_and_its_mutants_are_caught():
    assert_brute_force(published, 5, range(1 << 10))
    for mutant in MUTANTS.values():
        with pytest.raises(AssertionError, match="of 5 nodes"):
            assert_brute_force(lambda *args, mutant=mutant: published(*args, **mutant), 5, range(1 << 10))


@pytest.mark.parametrize("links", [0, 1, 10, 40, 100, 150, 180, 190])
@pytest.mark.parametrize("products", [20, 500, 1 << 18])
def test_blocks_of_any_size_find_what_the_published_formula_does(links, products, monkeypatch):
    monkeypatch.setattr(smooth_sensitivity, "_BLOCK_PRODUCTS", products)
    nodes, generator = 20, fresh_generator()
    chosen = np.array(graphs.pairs_of(nodes))[generator.permutation(190)[:links]]
    assert product(chosen, nodes).tolist() == published(chosen, nodes).tolist()
    if links:
        hub = np.array(sorted({*map(tuple, chosen), *((0, k) for k in range(1, nodes))}))
        assert product(hub, nodes).tolist() == published(hub, nodes).tolist()


def test_neither_the_order_of_links_nor_that_of_their_ends_matters():
    generator = fresh_generator()
    links = np.array(graphs.pairs_of(40))[generator.permutation(780)[:200]]
    other = np.where(generator.random(200)[:, None] < 0.5, links, links[:, ::-1])[generator.permutation(200)]
    assert product(links, 40).tolist() == product(other, 40).tolist()


@pytest.mark.parametrize("beta", [0.001, 0.5, 3.0])
@pytest.mark.parametrize("nodes", [3, 5])
def test_the_smooth_bound_is_the_least_one_that_is_smooth(beta, nodes):
    every = [graphs.links_of(graph, nodes) for graph in range(1 << len(graphs.pairs_of(nodes)))]
    bounds = np.array([TriangleSensitivity.of(links, nodes).smooth(beta) for links in every])
    within = graphs.sensitivities_within(nodes, 2 * nodes)[:, :, 0]
    least = (np.exp(-beta * np.arange(2 * nodes))[:, None] * within).max(axis=0)
    assert bounds == pytest.approx(least, rel=1e-14)
    assert (bounds >= within[0]).all()
    assert (bounds[graphs.neighbours(nodes)] <= np.exp(beta) * bounds * (1 + 1e-14)).all()


def test_extreme_graphs_have_the_bounds_that_are_plain():
    none, every = np.zeros((0, 2), dtype=np.int64), np.array(graphs.pairs_of(10))
    assert TriangleSensitivity.of(every, 10).local(DISTANCES).tolist() == [8] * 13
    assert TriangleSensitivity.of(every, 10).smooth(0.1) == 8
    empty = TriangleSensitivity.of(none, 10)
    assert empty.local(np.array([0, 1, 2, 15, 16, 17, 1000])).tolist() == [0, 0, 1, 7, 8, 8, 8]
    assert empty.smooth(1.0) == pytest.approx(np.exp(-2))


@pytest.mark.parametrize("nodes", [0, 1, 2])
def test_without_three_nodes_nothing_ever_changes(nodes):
    links = np.array(graphs.pairs_of(nodes), dtype=np.int64).reshape(-1, 2)
    for one in (links, links[:0]):
        sensitivity = TriangleSensitivity.of(one, nodes)
        assert sensitivity.local(DISTANCES).tolist() == [0] * 13
        assert sensitivity.smooth(0.5) == sensitivity.largest == 0


def test_a_hub_of_many_nodes_is_seen():
    nodes = 3000
    star = np.stack([np.zeros(nodes - 1, dtype=np.int64), np.arange(1, nodes)], axis=1)
    far = TriangleSensitivity.of(star[: nodes // 10], nodes)
    assert far.local(np.array([0, 1, 100])).tolist() == [1, 1, 100]
    assert TriangleSensitivity.of(star, nodes).local(np.array([0, nodes])).tolist() == [1, nodes - 2]
