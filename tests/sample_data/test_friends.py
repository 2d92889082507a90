"""The sample's graphs: what is shipped is what was planted, and the karate club is the one that everybody has."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.random import PCG64, Generator
from numpy.typing import NDArray

import sample_data
from sample_data import chores, crowd, friends, make

FOLDER = Path(next(iter(sample_data.__path__)))
TRUTH: dict[str, Any] = json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))
PLACES = {"links": ("links", "nodes"), "karate": ("karate/links", "karate/nodes")}
"""Where the links and the nodes of a graph lie, by its name in the truth."""


def shipped(name: str) -> friends.Graph:
    links, nodes = (pq.read_table(FOLDER / place) for place in PLACES[name])
    return friends.Graph(links, nodes)


def neighbours(links: list[tuple[Any, Any]], nodes: list[Any]) -> dict[Any, set[Any]]:
    near: dict[Any, set[Any]] = {node: set() for node in nodes}
    for source, target in links:
        near[source].add(target)
        near[target].add(source)
    return near


def corners(near: dict[Any, set[Any]]) -> list[int]:
    """Return every node's triangles: how many pairs of its neighbours are linked."""
    return [sum(b in near[a] for a, b in combinations(found, 2)) for found in near.values()]


def shipped_neighbours(name: str) -> dict[str, set[str]]:
    graph = shipped(name)
    links = [(link["source"], link["target"]) for link in graph.links.to_pylist()]
    return neighbours(links, sorted(graph.nodes["node"].to_pylist()))


def karate_matrix() -> NDArray[np.int64]:
    near = shipped_neighbours("karate")
    return np.array([[other in found for other in near] for found in near.values()]).astype(np.int64)


def karate_links() -> list[friends.Link]:
    return [(one - 1, other - 1) for one, others in friends.KARATE.items() for other in others]


def test_the_shipped_graphs_are_those_of_the_seed() -> None:
    rng = Generator(PCG64(make.SEED))
    for made in (make.response_table, make.biomarker_table, make.ballot_table):
        made(rng)
    crowd.worker_table(rng)
    chores.task_table(rng)
    assert shipped("links") == friends.friend_graph(rng)
    assert shipped("karate") == friends.karate_graph()


def test_the_same_seed_makes_the_same_graph_and_another_another() -> None:
    first, again, other = (friends.friend_graph(Generator(PCG64(seed))) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize("name", PLACES)
def test_the_planted_truth_is_that_of_the_shipped_graph(name: str) -> None:
    assert friends.graph_truth(shipped(name)) == TRUTH[name]


@pytest.mark.parametrize("name", PLACES)
def test_the_planted_degrees_and_triangles_are_those_that_neighbours_say(name: str) -> None:
    planted, near = TRUTH[name], shipped_neighbours(name)
    assert planted["degrees"] == [len(found) for found in near.values()]
    assert planted["triangles_at"] == corners(near)
    assert planted["nodes"] == len(near)
    assert 2 * planted["edges"] == sum(planted["degrees"])
    assert 3 * planted["triangles"] == sum(planted["triangles_at"])
    assert planted["isolated"] == planted["degrees"].count(0)


@pytest.mark.parametrize("name", PLACES)
def test_every_link_joins_two_of_the_nodes_and_none_is_there_twice(name: str) -> None:
    graph = shipped(name)
    assert graph.links.schema == pa.schema([("source", pa.string()), ("target", pa.string())])
    assert graph.nodes.schema == pa.schema([("node", pa.string())])
    nodes = set(graph.nodes["node"].to_pylist())
    pairs = {frozenset(link.values()) for link in graph.links.to_pylist()}
    assert len(nodes) == graph.nodes.num_rows
    assert len(pairs) == graph.links.num_rows == TRUTH[name]["edges"]
    assert all(len(pair) == 2 and pair <= nodes for pair in pairs)


def test_people_have_the_links_and_the_triangles_that_were_meant() -> None:
    planted = TRUTH["links"]
    assert (planted["nodes"], planted["edges"], planted["triangles"]) == (185, 684, friends.TRIANGLES)
    assert Counter(planted["degrees"]) == friends.DEGREES


def test_there_is_all_that_is_hard_about_links() -> None:
    """Some nodes have none, some that have many are in no triangle, and order says nothing."""
    planted, graph = TRUTH["links"], shipped("links")
    assert planted["isolated"] == 9
    several = zip(planted["degrees"], planted["triangles_at"], strict=True)
    assert sum(degree >= 5 and not triangles for degree, triangles in several) == 6
    forward = sum(link["source"] < link["target"] for link in graph.links.to_pylist())
    assert min(forward, 684 - forward) > 250
    for column in (*graph.links.columns, *graph.nodes.columns):
        ids = column.to_pylist()
        assert ids not in (sorted(ids), sorted(ids, reverse=True))
    assert abs(np.corrcoef(np.arange(185), planted["degrees"])[0, 1]) < 0.25


@pytest.mark.parametrize(("name", "figures"), [("links", (31, 81, 55, 11)), ("karate", (17, 18, 2, 10))])
def test_the_readme_tells_the_graph_s_figures(name: str, figures: tuple[int, ...]) -> None:
    planted, near = TRUTH[name], shipped_neighbours(name)
    triangles = planted["triangles_at"]
    common = max(len(one & other) for one, other in combinations(near.values(), 2))
    assert (max(planted["degrees"]), max(triangles), triangles.count(0), common) == figures
    sizes = (planted["nodes"], planted["edges"], planted["triangles"], planted["isolated"])
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert " | ".join(map(str, (*sizes, *figures))) in readme


def test_links_and_nodes_lie_in_files_that_spread_over_processes() -> None:
    rows = {
        place: [pq.read_metadata(path).num_rows for path in sorted((FOLDER / place).iterdir())]
        for places in PLACES.values()
        for place in places
    }
    assert rows == {"links": [171] * 4, "nodes": [37] * 5, "karate/links": [78], "karate/nodes": [34]}


def test_the_karate_club_has_the_published_figures() -> None:
    """Those of the Koblenz Network Collection, konect.cc/networks/ucidata-zachary."""
    matrix = karate_matrix()
    degrees = matrix.sum(axis=1)
    squared = matrix @ matrix
    common = squared[np.triu_indices(len(matrix), 1)]
    assert (len(matrix), degrees.sum() // 2, degrees.max()) == (34, 78, 17)
    assert (degrees * (degrees - 1) // 2).sum() == 528  # wedges
    assert (degrees * (degrees - 1) * (degrees - 2) // 6).sum() == 1764  # claws
    assert np.trace(squared @ matrix) // 6 == TRUTH["karate"]["triangles"] == 45
    assert (common * (common - 1) // 2).sum() // 2 == 154  # squares
    assert np.linalg.norm(matrix, 2) == pytest.approx(6.72570, abs=5e-6)
    source, target = np.nonzero(matrix)
    assert np.corrcoef(degrees[source], degrees[target])[0, 1] == pytest.approx(-0.475613, abs=5e-7)
    laplacian = np.linalg.eigvalsh(np.diag(degrees) - matrix)
    assert laplacian[1] == pytest.approx(0.468525, abs=5e-7)


def test_a_club_member_keeps_the_number_of_the_literature() -> None:
    near = shipped_neighbours("karate")
    assert list(near) == [f"M-{number:02d}" for number in range(1, 35)]
    assert [len(near[member]) for member in ("M-01", "M-12", "M-34")] == [16, 1, 17]
    assert "M-34" in near["M-23"]  # which the paper's drawing lacks


@pytest.mark.parametrize(
    "degrees", [[], [0, 0], [1, 1], [3, 3, 3, 3], [1, 2, 3, 0, 2, 2], TRUTH["karate"]["degrees"]]
)
def test_links_have_the_degrees_that_are_asked_for(degrees: list[int]) -> None:
    links = friends.linked(degrees)
    near = neighbours(links, list(range(len(degrees))))
    assert [len(found) for found in near.values()] == degrees
    assert 2 * len(links) == sum(degrees)
    assert all(one != other for one, other in links)


@pytest.mark.parametrize("triangles", [20, 45, 60])
def test_rewired_links_keep_all_degrees_and_have_the_triangles_that_are_asked_for(triangles: int) -> None:
    links = karate_links()
    before = list(links)
    for seed in range(5):
        new = friends.rewired(links, 34, triangles, Generator(PCG64(seed)))
        near = neighbours(new, list(range(34)))
        assert [len(found) for found in near.values()] == TRUTH["karate"]["degrees"]
        assert sum(corners(near)) == 3 * triangles
        assert len({frozenset(link) for link in new}) == len(new) == 78
    assert links == before


def test_rewired_links_are_not_those_that_were_there() -> None:
    degrees = np.repeat(list(friends.DEGREES), list(friends.DEGREES.values())).tolist()
    links = friends.linked(degrees)
    new = friends.rewired(links, friends.PEOPLE, friends.TRIANGLES, Generator(PCG64(7)))
    kept = {frozenset(link) for link in links} & {frozenset(link) for link in new}
    assert len(kept) < len(links) / 4
