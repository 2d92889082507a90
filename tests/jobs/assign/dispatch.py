"""A dispatch: workers and tasks in Parquet files, and a tree of the workers written by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from tests.jobs.house import House

SKILLS = ("sawing", "sewing")
SPLITS = {1: ("sawing", 0.5), 2: ("sewing", 0.25), 3: ("sewing", 0.6), 6: ("sawing", 0.75)}
"""The cuts: five leaves, one of them deeper than the others."""
TASKS = 40


def grown(splits: dict[int, tuple[str, float]] | None = None, counts: float = 20.0) -> dict[str, Any]:
    """Return the document of a tree with these cuts."""
    cuts, nodes = SPLITS if splits is None else splits, []
    boxes = {1: {name: [0.0, 1.0] for name in SKILLS}}
    for node in sorted({1, *cuts, *(2 * one for one in cuts), *(2 * one + 1 for one in cuts)}):
        box = boxes[node]
        name, split = cuts.get(node, (None, None))
        if name is not None:
            boxes[2 * node] = box | {name: [box[name][0], split]}
            boxes[2 * node + 1] = box | {name: [split, box[name][1]]}
        nodes.append(
            {
                "id": node,
                "children": None if name is None else [2 * node, 2 * node + 1],
                "dimension": name,
                "split": split,
                "box": box,
                "consistent_count": counts,
            }
        )
    result = {"dimensions": list(SKILLS), "domain": [0.0, 1.0], "nodes": nodes}
    return {"job": "skills", "privacy": {"epsilon": 1.5}, "result": result}


class Dispatch(House):
    """Workers of two skills, some of them on the cuts, and tasks that ask for a little of each."""

    def __init__(self, root: Path, workers: int = 90) -> None:
        super().__init__(root)
        self.tasks, self.tree = root / "tasks", root / "tree.json"
        self.given = {
            "job": "assign",
            "population": {"path": str(self.people), "id": "worker", "name": "dispatch"},
            "output": {"path": str(self.out), "assignments": True},
            "tasks": {"path": str(self.tasks), "id": "task", "payload": "what"},
            "tree": {"path": str(self.tree)},
            "retrieval": {"protocol": "lattice", "bits": 512},
        }
        generator = np.random.Generator(np.random.PCG64(3))
        self.skills = np.round(generator.random((workers, len(SKILLS))), 2)
        self.skills[:4] = [[0.5, 0.25], [0.5, 0.6], [1.0, 1.0], [0.75, 0.6]]
        low = np.round(generator.random((TASKS, len(SKILLS))), 2)
        self.bounds = np.stack([low, np.minimum(1.0, low + 0.2)], axis=2)
        lengths = generator.integers(0, 30, TASKS)
        self.payloads = [generator.bytes(length) + bytes(length % 3) for length in lengths]
        self.ids = [f"task-{number}" for number in range(TASKS)]
        self.settle()

    def settle(self, files: int = 3) -> None:
        """Write workers, tasks and the tree."""
        own = [range(file, len(self.skills), files) for file in range(files)]
        self.write(*(self.workers(list(rows)) for rows in own))
        self.offer(self.task_table())
        self.grow(grown())

    def workers(self, rows: list[int]) -> dict[str, Any]:
        """Return the columns of some workers."""
        skills = {name: self.skills[rows, place] for place, name in enumerate(SKILLS)}
        return {"worker": pa.array(rows, pa.int64())} | skills

    def task_table(self) -> dict[str, Any]:
        """Return the columns of the tasks."""
        ends = {
            f"{name}_{end}": self.bounds[:, place, side]
            for place, name in enumerate(SKILLS)
            for side, end in enumerate(("low", "high"))
        }
        return {"task": self.ids, "what": pa.array(self.payloads, pa.binary())} | ends

    def offer(self, *parts: Any) -> None:
        """Write tables of tasks, in place of those that are there."""
        shutil.rmtree(self.tasks, ignore_errors=True)
        self.tasks.mkdir(parents=True)
        for number, part in enumerate(parts):
            pq.write_table(pa.table(part), self.tasks / f"{number}.parquet")

    def grow(self, document: Any) -> None:
        """Write the tree."""
        self.tree.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")

    def inside(self, box: dict[str, list[float]]) -> npt.NDArray[np.bool_]:
        """Return which workers are in a box: half-open, but closed at the domain's upper end."""
        held = np.ones(len(self.skills), dtype=bool)
        for place, name in enumerate(SKILLS):
            low, high = box[name]
            skill = self.skills[:, place]
            held &= (skill >= low) & ((skill < high) | (high == 1.0))
        return held

    def meets(self, box: dict[str, list[float]]) -> set[str]:
        """Return the ids of the tasks whose box shares a point with a leaf's."""
        found = np.ones(len(self.bounds), dtype=bool)
        for place, name in enumerate(SKILLS):
            low, high = box[name]
            found &= ((self.bounds[:, place, 0] < high) | (high == 1.0)) & (self.bounds[:, place, 1] >= low)
        return {self.ids[task] for task in np.flatnonzero(found)}

    def received(self) -> dict[Any, list[Any]]:
        """Return what each worker was written to have received."""
        rows = pq.read_table(self.out / "reports").to_pylist()
        assert len({row["worker"] for row in rows}) == len(rows)
        assert all(row["decoded"] for row in rows)
        return {row["worker"]: row["tasks"] for row in rows}

    def assert_everybody_received(self, leaves: list[dict[str, Any]]) -> None:
        """Check that each worker received the tasks of its leaf, each once, and no other."""
        received = self.received()
        assert set(received) == set(range(len(self.skills)))
        assert np.sum([self.inside(leaf["box"]) for leaf in leaves], axis=0).tolist() == [1] * len(
            self.skills
        )
        for leaf in leaves:
            wanted = sorted(self.meets(leaf["box"]))
            for worker in np.flatnonzero(self.inside(leaf["box"])).tolist():
                assert sorted(received[worker]) == wanted
