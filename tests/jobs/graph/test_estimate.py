"""Estimates and their variances, over all reports there can be, and in simulation."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from jobs.graph.estimate import (
    LinkSums,
    Noise,
    degree_estimates,
    edge_estimate,
    triangle_estimates,
    triangle_variances,
)
from jobs.graph.replicate import sums_of
from udfs.link_response import LinkResponse
from udfs.links import Tile
from udfs.streams import Secret
from udfs.triangles import degrees_of, triangles_of

LIE = Fraction(1, 5)
GRAPHS = {
    "a triangle": (3, [(0, 1), (0, 2), (1, 2)]),
    "nothing": (4, []),
    "a triangle and a tail": (4, [(0, 1), (0, 2), (1, 2), (2, 3)]),
    "all of four": (4, list(itertools.combinations(range(4), 2))),
    "a square with a roof": (5, [(0, 1), (1, 2), (2, 3), (0, 3), (0, 4), (1, 4)]),
}


def sums(matrix: Any) -> LinkSums:
    degrees = matrix.sum(axis=1)
    over, common = matrix @ degrees, matrix @ matrix
    np.fill_diagonal(common, 0)
    return LinkSums(degrees, over, matrix @ over, (common * matrix).sum(axis=1), (common**2).sum(axis=1))


def all_reports(nodes: int, links: list[tuple[int, int]]) -> Any:
    """Yield every matrix that can be reported, with its probability."""
    pairs = list(itertools.combinations(range(nodes), 2))
    for flips in itertools.product((0, 1), repeat=len(pairs)):
        matrix = np.zeros((nodes, nodes), dtype=np.int64)
        for pair, flip in zip(pairs, flips, strict=True):
            matrix[pair] = matrix[pair[::-1]] = int(pair in links) ^ flip
        yield matrix, float(LIE ** sum(flips) * (1 - LIE) ** (len(pairs) - sum(flips)))


@pytest.mark.parametrize("name", GRAPHS)
def test_over_all_reports_estimates_are_the_truth_and_their_variances_what_they_are(name: str) -> None:
    nodes, links = GRAPHS[name]
    noise = Noise(LIE)
    mean, square, variance = (np.zeros(2 * nodes + 2) for _ in range(3))
    for matrix, probability in all_reports(nodes, links):
        own = sums(matrix)
        triangles, degrees = triangle_estimates(noise, own), degree_estimates(noise, own.degrees)
        edges, edges_error = edge_estimate(noise, nodes, int(matrix.sum()) // 2)
        at, total = triangle_variances(noise, own)
        values = np.array([*triangles.at.values, triangles.total, *degrees.values, edges])
        mean += probability * values
        square += probability * values**2
        variance += probability * np.array([*at, total, *degrees.standard_errors**2, edges_error**2])
    table = np.array(links, dtype=np.int64).reshape(-1, 2)
    true = triangles_of(table, nodes)
    truth = [*true, true.sum() / 3, *degrees_of(table, nodes), len(links)]
    np.testing.assert_allclose(mean, truth, atol=1e-9)
    np.testing.assert_allclose(square - mean**2, variance, rtol=1e-9, atol=1e-9)


def test_in_simulation_estimates_are_off_as_their_standard_errors_say() -> None:
    """Means of squares over their expectation, of independent runs: within 6.2 standard errors of one."""
    nodes, runs, secret = 40, 1500, Secret.new()
    print("secret", secret.reveal().hex())
    response, tile = LinkResponse("randomized-response", Decimal("1.5")), Tile(range(nodes), range(nodes))
    links = np.argwhere(np.triu(np.random.default_rng(4).random((nodes, nodes)) < 0.15, 1))
    noise, at = Noise(response.lie), triangles_of(links, nodes)
    truth = {"degrees": degrees_of(links, nodes), "at": at, "total": at.sum() / 3, "edges": len(links)}
    scores: dict[str, list[Any]] = {name: [] for name in truth}
    spreads: dict[str, list[Any]] = {name: [] for name in truth}
    for run in range(runs):
        own = sums_of(response.report(tile.select(links), tile, secret.key(str(run))), nodes)
        triangles, degrees = triangle_estimates(noise, own), degree_estimates(noise, own.degrees)
        at_variance, total_variance = triangle_variances(noise, own)
        found = {
            "degrees": (degrees.values, degrees.standard_errors),
            "at": (triangles.at.values, np.sqrt(at_variance + 0j)),
            "total": (triangles.total, np.sqrt(total_variance + 0j)),
            "edges": edge_estimate(noise, nodes, int(own.degrees.sum()) // 2),
        }
        for name, (value, error) in found.items():
            scores[name].append(np.mean(value - truth[name]))
            spreads[name].append(np.mean((value - truth[name]) ** 2 - np.square(error)))
    for name in truth:
        for sample in (np.array(scores[name]), np.array(spreads[name])):
            assert abs(sample.mean()) < 6.2 * sample.std(ddof=1) / np.sqrt(runs), name
    wrong = np.array(spreads["total"]) + 0.4 * np.square(scores["total"])  # errors that are a fifth too small
    assert abs(wrong.mean()) > 6.2 * wrong.std(ddof=1) / np.sqrt(runs)


def test_standard_errors_are_those_of_an_empty_graph_at_least() -> None:
    noise = Noise(LIE)
    for matrix, _ in all_reports(4, []):
        found = triangle_estimates(noise, sums(matrix))
        assert (found.at.standard_errors**2 >= noise.variance**3 * 3 * (1 - 1e-12)).all()
        assert found.total_error**2 >= noise.variance**3 * 4 * (1 - 1e-12)


@pytest.mark.parametrize("nodes", [0, 1, 2])
def test_of_two_nodes_there_are_no_triangles(nodes: int) -> None:
    found = triangle_estimates(Noise(LIE), sums(np.zeros((nodes, nodes), dtype=np.int64)))
    assert found.at.values.tolist() == [0.0] * nodes
    assert found.total == 0.0
    assert len(degree_estimates(Noise(LIE), np.zeros(nodes, dtype=np.int64)).values) == nodes
    assert edge_estimate(Noise(LIE), 0, 0) == (0.0, 0.0)
