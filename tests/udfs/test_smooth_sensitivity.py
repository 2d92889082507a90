from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.udfs.graphs import graphs, matrix_of
from udfs.smooth_sensitivity import pair_profile, smooth_noise
from udfs.triangles import triangles_of


def worst_change(matrix) -> int:
    """Return by how much one link can change the triangles of a graph: the most common neighbours of a pair."""
    common = matrix @ matrix
    return max((int(common[pair]) for pair in itertools.combinations(range(len(matrix)), 2)), default=0)


def within(matrix, distance: int) -> int:
    """Return the worst change in any graph that so many changes of links make, by making all of them."""
    pairs = list(itertools.combinations(range(len(matrix)), 2))
    worst = 0
    for number in range(min(distance, len(pairs)) + 1):
        for changed in itertools.combinations(pairs, number):
            other = matrix.copy()
            for one, two in changed:
                other[one, two] = other[two, one] = 1 - other[one, two]
            worst = max(worst, worst_change(other))
    return worst


@settings(max_examples=60, deadline=None)
@given(graphs(most_nodes=5, least_nodes=2), st.integers(0, 3))
def test_local_sensitivity_at_a_distance_is_the_worst_of_all_graphs_as_near(graph, distance) -> None:
    nodes, links = graph
    assert pair_profile(links, nodes).local_sensitivity(distance) == within(matrix_of(nodes, links), distance)


@given(graphs(most_nodes=12, least_nodes=3), st.floats(0.001, 3))
def test_smooth_sensitivity_is_the_greatest_discounted_one(graph, beta) -> None:
    nodes, links = graph
    profile = pair_profile(links, nodes)
    expected = max(math.exp(-beta * s) * profile.local_sensitivity(s) for s in range(3 * nodes))
    assert profile.smooth_sensitivity(beta) == pytest.approx(expected)


@settings(max_examples=60, deadline=None)
@given(graphs(most_nodes=8, least_nodes=3), st.floats(0.01, 2), st.data())
def test_it_changes_by_no_more_than_e_to_beta_from_a_graph_to_its_neighbour(graph, beta, data) -> None:
    nodes, links = graph
    one, other = sorted(data.draw(st.sampled_from(list(itertools.combinations(range(nodes), 2)))))
    matrix = matrix_of(nodes, links)
    matrix[one, other] = 1 - matrix[one, other]
    changed = np.argwhere(np.triu(matrix))
    here, there = (pair_profile(own, nodes).smooth_sensitivity(beta) for own in (links, changed))
    assert here <= there * math.exp(beta) * (1 + 1e-12)
    assert there <= here * math.exp(beta) * (1 + 1e-12)


@given(graphs(most_nodes=9, least_nodes=3), st.data())
def test_one_link_changes_the_triangles_of_all_nodes_by_three_times_its_common_neighbours(
    graph, data
) -> None:
    nodes, links = graph
    one, other = data.draw(st.sampled_from(list(itertools.combinations(range(nodes), 2))))
    matrix = matrix_of(nodes, links)
    common = int((matrix @ matrix)[one, other])
    before = triangles_of(links, nodes)
    matrix[one, other] = matrix[other, one] = 1 - matrix[one, other]
    after = triangles_of(np.argwhere(np.triu(matrix)), nodes)
    assert np.abs(after - before).sum() == 3 * common


def test_cauchy_noise_is_private_at_this_beta_and_at_no_greater_one() -> None:
    """The worst outcome of `outputs` numbers whose scales differ by e**beta, and which are moved by one scale together."""
    epsilon, outputs = 1.0, 20
    noise = smooth_noise(epsilon, outputs)
    grid = np.concatenate([-np.logspace(-3, 6, 4000)[::-1], [0.0], np.logspace(-3, 6, 4000)])

    def loss(beta: float, moved: float) -> float:
        """Return the most that one number's log-likelihood changes."""
        here = np.log(1 / noise.scale / (1 + (grid / noise.scale) ** 2))
        scale = noise.scale * math.exp(beta)
        there = np.log(1 / scale / (1 + ((grid - moved) / scale) ** 2))
        return float(np.abs(here - there).max())

    # All numbers get another scale, and one is moved by the whole sensitivity.
    total = (outputs - 1) * loss(noise.beta, 0.0) + loss(noise.beta, 1.0)
    assert total <= epsilon
    naive = smooth_noise(epsilon, 1).beta
    assert (outputs - 1) * loss(naive, 0.0) + loss(naive, 1.0) > epsilon


def test_an_empty_graph_and_no_nodes_have_no_pairs_to_close() -> None:
    none = np.empty((0, 2), dtype=np.int64)
    assert pair_profile(none, 0).local_sensitivity(3) == 0
    assert pair_profile(none, 5).local_sensitivity(0) == 0
    assert pair_profile(none, 5).local_sensitivity(2) == 1
