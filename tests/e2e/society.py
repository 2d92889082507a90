"""A society of some thousand nodes: several bands, so that there are tiles of all kinds, and links in several files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from tests.e2e import halting
from tests.e2e.command import Canvass, wait_until, workers_of

NODES, LINKS, FILES = 2100, 9000, 3
STAGES = ("links", "common neighbours", "release")
PUBLISHED = ["manifest.json", "nodes.parquet", "report.html", "reports", "result.json"]


class Society:
    """Nodes and links in files; who is linked is drawn anew each time.

    Attributes
    ----------
    names : ndarray of str, shape (nodes,)
        In order.
    links : ndarray of int64, shape (links, 2)
        Of different nodes, each once, the lower number first, and in no order.
    """

    def __init__(self, root: Path, nodes: int = NODES, links: int = LINKS) -> None:
        self.root = root
        self.names = np.array([f"somebody-{number:06d}" for number in range(nodes)])
        generator = np.random.default_rng()
        pairs = np.unique(np.sort(generator.integers(0, nodes, (2 * links, 2)), axis=1), axis=0)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        self.links = pairs[generator.permutation(len(pairs))[:links]]
        write(root / "nodes", {"node": self.names[::-1]})
        write(root / "links", *self.noted())

    def noted(self, files: int = FILES) -> list[dict[str, Any]]:
        """Return the links by the names of their ends, dealt out to files; every third the other way round."""
        turned = np.where((np.arange(len(self.links)) % 3 == 0)[:, None], self.links[:, ::-1], self.links)
        own = np.array_split(self.names[turned], files)
        return [{"source": ends[:, 0], "target": ends[:, 1]} for ends in own]

    @property
    def degrees(self) -> npt.NDArray[np.int64]:
        """How many links each node has: int64, shape (nodes,)."""
        return np.bincount(self.links.reshape(-1), minlength=len(self.names)).astype(np.int64)

    def ask(self, root: Path, *options: str, place: str = "", **privacy: Any) -> Canvass:
        """Return the command, elsewhere, over this society: here, or what was copied to another place."""
        one = Canvass(root, *options)
        where = place or str(self.root)
        one.tables = {
            "job": "graph",
            "population": {
                "path": f"{where}/links",
                "nodes": f"{where}/nodes",
                "id": "node",
                "name": "society",
            },
            "output": {"path": "out"},
            "privacy": {"epsilon": 2} | privacy,
            "release": {"graph": privacy.get("mechanism") != "discrete-laplace"},
            "cluster": {},
        }
        return one


def write(folder: Path, *tables: dict[str, Any], **options: Any) -> None:
    """Write a file a table."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, table in enumerate(tables):
        pq.write_table(pa.table(table), folder / f"{number}.parquet", **options)


class Halted:
    """A run whose processes all stand still, in a stage of which they have been given a part."""

    def __init__(self, one: Canvass, stage: str) -> None:
        command, gate = one.command, one.root / "gate"
        for word in ("", "reached", "begun"):
            (halting.beside(gate, word) if word else gate).unlink(missing_ok=True)
        one.command = [sys.executable, halting.__file__, stage, str(gate)]
        self.run = one.start()
        one.command = command
        wait_until(halting.beside(gate, "reached").exists, self.run)
        self.workers: list[psutil.Process] = workers_of(self.run)
        for worker in self.workers:
            worker.suspend()
        gate.touch()
        wait_until(halting.beside(gate, "begun").exists, self.run)


def rooms(one: Canvass) -> dict[Path, list[bytes]]:
    """Return the rooms of an unfinished run, each with the arrays that lie in it, in no order of theirs."""
    folders = sorted(one.out.glob(".canvass-*/rooms/*"))
    return {folder: sorted(path.read_bytes() for path in folder.glob("*.npy")) for folder in folders}


def charged(one: Canvass) -> list[tuple[str, str, str]]:
    """Return what stands in the ledger."""
    return [(charge.question, str(charge.epsilon), charge.status) for charge in one.charges()]
