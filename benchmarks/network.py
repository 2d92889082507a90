"""Networks whose nodes have few links or many, made once and kept in the system's temporary folder."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

SHIPPED = Path(__file__).resolve().parent.parent / "sample_data"
DENSE = 0.5
"""The share of a dense network's pairs that are linked."""

_POWER = -2 / 3
"""The node of rank r has about r**(-2/3) times as many links as the first: a power law of degrees with exponent 2.5."""


def skewed(nodes: int, links: int) -> npt.NDArray[np.int64]:
    """Return so many distinct links, whose ends are drawn by the law of Chung and Lu: int64, shape (links, 2)."""
    generator = np.random.default_rng(20261202)
    weights = np.cumsum(np.arange(1, nodes + 1) ** _POWER)
    found = np.empty(0, dtype=np.int64)
    while len(found) < links:
        ends = np.searchsorted(weights, generator.random((2, links)) * weights[-1])
        low, high = ends.min(axis=0), ends.max(axis=0)
        found = np.unique(np.concatenate([found, (low * nodes + high)[low < high]]))
    return np.stack(np.divmod(generator.permutation(found)[:links], nodes), axis=1)


def dense(nodes: int) -> npt.NDArray[np.int64]:
    """Return the links of a network of which half of all pairs are linked: int64, shape (links, 2)."""
    linked = np.random.default_rng(20261203).random((nodes, nodes)) < DENSE
    return np.argwhere(np.triu(linked, 1))


def shipped() -> tuple[npt.NDArray[np.int64], int]:
    """Return the links of the network in sample_data, by numbers of nodes, and how many nodes there are."""
    ids = pq.read_table(SHIPPED / "nodes")["node"].to_pylist()
    number = {one: place for place, one in enumerate(ids)}
    links = pq.read_table(SHIPPED / "links")
    ends = [[number[one] for one in links[name].to_pylist()] for name in ("source", "target")]
    pairs = np.sort(np.array(ends).T, axis=1)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    return np.unique(pairs, axis=0), len(ids)


def written(nodes: int, links: int) -> dict[str, Any]:
    """Write nodes and skewed links where they are not there, and return a spec's population."""
    folder = Path(tempfile.gettempdir()) / "canvass-benchmarks" / f"network-{nodes}-{links}"
    if not (folder / "links.parquet").exists():
        folder.mkdir(parents=True, exist_ok=True)
        source, target = skewed(nodes, links).T
        pq.write_table(pa.table({"node": np.arange(nodes)}), folder / "nodes.parquet")
        pq.write_table(pa.table({"source": source, "target": target}), folder / "making")
        (folder / "making").rename(folder / "links.parquet")
    return {
        "path": str(folder / "links.parquet"),
        "nodes": str(folder / "nodes.parquet"),
        "id": "node",
        "name": "benchmark",
    }
