"""A circle of friends: nodes and links in Parquet files, some of them noted twice or the other way round."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cluster.reduce import SerialEngine
from tests.jobs.house import House
from udfs.errors import ClusterError

NODES, LINKS = 40, 120


class Circle(House):
    """At an epsilon so large that reports are the truth, unless a test says otherwise."""

    def __init__(self, root: Path, nodes: int = NODES, links: int = LINKS) -> None:
        super().__init__(root)
        self.nodes = root / "nodes"
        self.given = {
            "job": "graph",
            "population": {
                "path": str(self.people),
                "nodes": str(self.nodes),
                "id": "node",
                "source": "a",
                "target": "b",
                "name": "circle",
            },
            "output": {"path": str(self.out)},
            "privacy": {"epsilon": 60},
        }
        generator = np.random.Generator(np.random.PCG64(8))
        pairs = np.stack(np.triu_indices(nodes - 3, 1), axis=1)  # the last three have no links
        self.links = np.sort(pairs[generator.permutation(len(pairs))[:links]], axis=1)
        self.names = np.array([f"n{number:02d}" for number in range(nodes)])
        self.settle()

    def settle(self, files: int = 3, noted: Any = None) -> None:
        """Write the nodes, shuffled, and the links dealt out to files; a third of these are the other way round."""
        noted = self.links if noted is None else noted
        turned = np.where((np.arange(len(noted)) % 3 == 0)[:, None], noted[:, ::-1], noted)
        self.write(
            *(
                {"a": self.names[own[:, 0]], "b": self.names[own[:, 1]]}
                for own in np.array_split(turned, files)
            )
        )
        self.know(self.names[::-1])

    def know(self, names: Any) -> None:
        """Write the nodes, in place of those that are there."""
        shutil.rmtree(self.nodes, ignore_errors=True)
        self.nodes.mkdir(parents=True)
        pq.write_table(pa.table({"node": names}), self.nodes / "nodes.parquet")

    @property
    def matrix(self) -> Any:
        """The matrix of links."""
        matrix = np.zeros((len(self.names), len(self.names)), dtype=np.int64)
        matrix[self.links[:, 0], self.links[:, 1]] = 1
        return matrix + matrix.T

    @property
    def triangles(self) -> Any:
        """The number of triangles at each node."""
        return np.diag(self.matrix @ self.matrix @ self.matrix) // 2

    def released(self) -> list[tuple[str, str]]:
        """Return the links of the rebuilt graph, in order."""
        table = pq.read_table(self.out / "reports")
        return sorted(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True))

    def footer(self) -> dict[str, Any]:
        """Return what a file of the rebuilt graph says of itself."""
        path = next((self.out / "reports").iterdir())
        found: dict[str, Any] = json.loads(pq.read_schema(path).metadata[b"canvass"])
        return found


class Counting(SerialEngine):
    """An engine that counts the tasks of each stage, and breaks down where one of them begins."""

    def __init__(self, cut: str | None = None) -> None:
        super().__init__()
        self.tasks: dict[str, int] = {}
        self._cut = cut

    def reduce(self, units: Any, chunk: Any, combine: Any, stage: str) -> Any:
        self.tasks[stage] = len(units)
        if stage == self._cut:
            raise ClusterError(stage, "the cluster must stay up", "it is gone")
        return super().reduce(units, chunk, combine, stage)
