"""The sample's graphs: synthetic people and which of them are linked, and Zachary's karate club.

The synthetic graph has the degrees and the number of triangles that were planted, exactly. Degrees and triangles
are counted here from the whole matrix and with nothing of the project, so that the project can be held against it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.random import Generator

DEGREES = {
    0: 9, 1: 13, 2: 15, 3: 14, 4: 13, 5: 14, 6: 14, 7: 12, 8: 13, 9: 11, 10: 10, 11: 9, 12: 9,
    13: 6, 14: 6, 15: 4, 16: 3, 17: 2, 18: 2, 20: 2, 22: 1, 24: 1, 26: 1, 31: 1,
}  # fmt: skip
"""How many people have so many links."""
PEOPLE = sum(DEGREES.values())
TRIANGLES = 440
TRADES_PER_LINK = 10
"""So often does a link change its ends before triangles are counted: nothing is left of how it began."""

# Who met whom outside the club's meetings (Zachary 1977): members by number, and those of a higher number.
KARATE = {
    1: (2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 18, 20, 22, 32), 2: (3, 4, 8, 14, 18, 20, 22, 31),
    3: (4, 8, 9, 10, 14, 28, 29, 33), 4: (8, 13, 14), 5: (7, 11), 6: (7, 11, 17), 7: (17,), 9: (31, 33, 34),
    10: (34,), 14: (34,), 15: (33, 34), 16: (33, 34), 19: (33, 34), 20: (34,), 21: (33, 34), 23: (33, 34),
    24: (26, 28, 30, 33, 34), 25: (26, 28, 32), 26: (32,), 27: (30, 34), 28: (34,), 29: (32, 34),
    30: (33, 34), 31: (33, 34), 32: (33, 34), 33: (34,),
}  # fmt: skip
MEMBERS = 34

Link = tuple[int, int]


@dataclass(frozen=True)
class Graph:
    """A graph as it is shipped.

    Attributes
    ----------
    links : pyarrow.Table
        Text columns `source` and `target`: one row for each link, in one of its two directions.
    nodes : pyarrow.Table
        A text column `node`: all ids, also those of nodes without links.
    """

    links: pa.Table
    nodes: pa.Table


def friend_graph(rng: Generator) -> Graph:
    """Return the synthetic people and their links, ids, rows and directions shuffled."""
    degrees = np.repeat(list(DEGREES), list(DEGREES.values())).tolist()
    links = rewired(linked(degrees), PEOPLE, TRIANGLES, rng)
    ids = np.array([f"P-{number:03d}" for number in rng.permutation(PEOPLE) + 1])
    source, target = rng.permuted(rng.permutation(links), axis=1).T
    return Graph(
        pa.table({"source": ids[source], "target": ids[target]}), pa.table({"node": rng.permutation(ids)})
    )


def karate_graph() -> Graph:
    """Return Zachary's karate club, in the order of its members' numbers."""
    ids = {number: f"M-{number:02d}" for number in range(1, MEMBERS + 1)}
    source, target = zip(*((ids[one], ids[other]) for one in KARATE for other in KARATE[one]), strict=True)
    return Graph(pa.table({"source": source, "target": target}), pa.table({"node": list(ids.values())}))


def linked(degrees: list[int]) -> list[Link]:
    """Return the links of a graph in which node i has ``degrees[i]`` of them.

    Whoever lacks most is linked to those who lack most after them (Havel 1955, Hakimi 1962).

    Examples
    --------
    >>> linked([1, 2, 1])
    [(1, 0), (1, 2)]
    """
    lacking = dict(enumerate(degrees))
    links = []
    while lacking:
        node = max(lacking, key=lambda one: lacking[one])
        number = lacking.pop(node)
        for other in sorted(lacking, key=lambda one: -lacking[one])[:number]:
            lacking[other] -= 1
            links.append((node, other))
    return links


def rewired(links: list[Link], nodes: int, triangles: int, rng: Generator) -> list[Link]:
    """Return links drawn anew, with the same degrees and so many triangles.

    Two links trade an end, a-b and c-d for a-d and c-b, again and again. At first every trade is made that
    yields no loop and no link twice; then only those that bring the number of triangles no farther away.
    """
    links, trades, mixing = list(links), 0, TRADES_PER_LINK * len(links)
    near: list[set[int]] = [set() for _ in range(nodes)]
    found = sum(_tie(near, *link) for link in links)
    while trades < mixing or found != triangles:
        first, second = rng.integers(len(links), size=2).tolist()
        a, b = links[first]
        c, d = links[second] if rng.integers(2) else links[second][::-1]
        if len({a, b, c, d}) < 4 or d in near[a] or b in near[c]:
            continue
        after = found + _trade(near, a, b, c, d)
        if trades >= mixing and abs(after - triangles) > abs(found - triangles):
            _trade(near, a, d, c, b)  # back again
            continue
        links[first], links[second] = (a, d), (c, b)
        found, trades = after, trades + 1
    return links


def _trade(near: list[set[int]], a: int, b: int, c: int, d: int) -> int:
    """Put the links a-d and c-b in the place of a-b and c-d, and return how many triangles more that makes."""
    return -_cut(near, a, b) - _cut(near, c, d) + _tie(near, a, d) + _tie(near, c, b)


def _tie(near: list[set[int]], one: int, other: int) -> int:
    """Link two nodes, and return how many triangles that makes."""
    near[one].add(other)
    near[other].add(one)
    return len(near[one] & near[other])


def _cut(near: list[set[int]], one: int, other: int) -> int:
    """Part two nodes, and return how many triangles that ends."""
    near[one].remove(other)
    near[other].remove(one)
    return len(near[one] & near[other])


def graph_truth(graph: Graph) -> dict[str, Any]:
    """Return what a graph comes to: its size, and every node's degree and triangles, in the order of ids."""
    places = {node: place for place, node in enumerate(sorted(graph.nodes["node"].to_pylist()))}
    matrix = np.zeros((len(places), len(places)), dtype=np.int64)
    for link in graph.links.to_pylist():
        source, target = places[link["source"]], places[link["target"]]
        matrix[source, target] = matrix[target, source] = 1
    degrees = matrix.sum(axis=1)
    corners = np.diagonal(matrix @ matrix @ matrix) // 2
    return {
        "nodes": len(places),
        "edges": int(degrees.sum()) // 2,
        "triangles": int(corners.sum()) // 3,
        "isolated": int((degrees == 0).sum()),
        "degrees": degrees.tolist(),
        "triangles_at": corners.tolist(),
    }
