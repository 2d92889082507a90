"""The sample's tasks: what they ask of workers, what they say, and who could do them.

Who could do them, and which leaves of the workers' tree they meet, is found here by comparing numbers and with nothing of
the project, so that the project can be held against it.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.random import Generator
from numpy.typing import NDArray

SKILLS = ("python", "translation", "carpentry", "design")
LEAST_BYTES, MOST_BYTES = 200, 2000
PADDED_IN, MOST_ZEROS = 25, 8
"""One in so many payloads ends in zero bytes, up to so many, as tools leave them."""
WORDS = (
    "after", "and", "any", "bring", "by", "call", "check", "clean", "count", "draw", "each", "every", "fit", "for", "from",
    "give", "keep", "leave", "list", "make", "mark", "measure", "note", "once", "one", "page", "part", "plan", "read", "room",
    "send", "set", "show", "sort", "table", "take", "the", "them", "three", "to", "two", "until", "use", "what", "when", "with",
)  # fmt: skip

Ends = tuple[int | None, int | None]


@dataclass(frozen=True)
class Chore:
    """Tasks that ask for the same.

    Attributes
    ----------
    name : str
        What they are called.
    tasks : int
        How many there are.
    asks : dict of str to (int or None, int or None)
        From how much of a skill to how much, in thousandths; None where it does not matter.
    slack : int
        Each bound of each task is wider by up to so many thousandths.
    """

    name: str
    tasks: int
    asks: dict[str, Ends]
    slack: int = 50

    def bounds(self, skill: str, rng: Generator) -> tuple[list[float | None], list[float | None]]:
        """Return the lower and the upper bounds of all of them."""
        low, high = self.asks.get(skill, (None, None))
        wider = rng.integers(0, self.slack, (2, self.tasks), endpoint=True)
        return (
            [None if low is None else max(0, low - by) / 1000 for by in wider[0].tolist()],
            [None if high is None else min(1000, high + by) / 1000 for by in wider[1].tolist()],
        )


def _around(**centres: int) -> dict[str, Ends]:
    """Return what workers about a centre of all four skills have; 200 where nothing is said."""
    return {skill: (centres.get(skill, 200) - 100, centres.get(skill, 200) + 100) for skill in SKILLS}


CHORES = (
    Chore("scripts", 84, {"python": (600, None)}),
    Chore("data repairs", 60, {"python": (450, 700), "design": (None, 400)}),
    Chore("translations", 74, {"translation": (600, None)}),
    Chore("subtitles", 40, _around(translation=800)),
    Chore("shelves", 70, {"carpentry": (600, None)}),
    Chore("stage sets", 30, _around(carpentry=800)),
    Chore("posters", 70, {"design": (600, None)}),
    Chore("captions", 40, _around(design=500)),
    Chore("odd jobs", 50, dict.fromkeys(SKILLS, (350, 650))),
    Chore("deliveries", 30, _around(translation=350, carpentry=350)),
    Chore("first steps", 20, dict.fromkeys(SKILLS, (None, 300))),
    Chore("opinions", 16, {}),
    *(Chore(f"{skill} audits", 3, {skill: (1000, 1000)}, slack=0) for skill in SKILLS),
    Chore("talking robots", 4, {"python": (900, None), "carpentry": (900, None)}),
)
TASKS = sum(chore.tasks for chore in CHORES)


def task_table(rng: Generator) -> pa.Table:
    """Return one row for each task, in shuffled order: a unique id, the payload, and a box of four skills."""
    order = rng.permutation(TASKS)
    ids = [f"T-{number:03d}" for number in rng.permutation(TASKS) + 1]
    names = np.repeat([chore.name for chore in CHORES], [chore.tasks for chore in CHORES])
    columns: dict[str, pa.Array] = {
        "task": pa.array(ids),
        "payload": pa.array(_payloads(names[order].tolist(), rng)),
    }
    for skill in SKILLS:
        low, high = zip(*(chore.bounds(skill, rng) for chore in CHORES), strict=True)
        for end, bounds in (("low", low), ("high", high)):
            ends = pa.array([bound for chore in bounds for bound in chore], pa.float64())
            columns[f"{skill}_{end}"] = ends.take(pa.array(order))
    return pa.table(columns)


def _payloads(names: list[str], rng: Generator) -> list[bytes]:
    """Return what tasks say, as JSON: from the least to the most bytes, as many of each ratio to the next."""
    sizes = np.rint(np.geomspace(LEAST_BYTES, MOST_BYTES, TASKS)).astype(np.int64)
    zeros = np.where(np.arange(TASKS) % PADDED_IN == 0, rng.integers(1, MOST_ZEROS, TASKS, endpoint=True), 0)
    payloads = []
    for name, size, padding in zip(names, rng.permutation(sizes), rng.permutation(zeros), strict=True):
        minutes, pounds = 5 * int(rng.integers(1, 24)), rng.integers(2, 90)
        task = {"title": name.capitalize(), "minutes": minutes, "pay": f"£{pounds}", "brief": ""}
        left = int(size - padding) - len(_written(task))
        task["brief"] = " ".join(rng.choice(WORDS, left).tolist())[:left]
        payloads.append(_written(task) + bytes(int(padding)))
    return payloads


def _written(task: dict[str, Any]) -> bytes:
    return json.dumps(task, ensure_ascii=False).encode()


def task_truth(tasks: pa.Table, workers: pa.Table, tree: dict[str, Any]) -> dict[str, Any]:
    """Return what was planted of the tasks, who could do them, and which leaves of a tree they meet.

    Parameters
    ----------
    tasks, workers : pyarrow.Table
    tree : dict
        Of `sample_data.crowd.exact_tree`.
    """
    low, high = _boxes(tasks)
    skills = np.stack([workers[skill].to_numpy() for skill in SKILLS])
    able = np.array(
        [
            int(((skills >= least[:, None]) & (skills <= most[:, None])).all(axis=0).sum())
            for least, most in zip(low, high, strict=True)
        ]
    )
    payloads = tasks["payload"].to_pylist()
    sizes = np.array([len(payload) for payload in payloads])
    titles = [json.loads(payload.rstrip(b"\0"))["title"].lower() for payload in payloads]
    leaves = {}
    for leaf, (first, end) in leaf_boxes(tree).items():
        # A leaf ends below its upper end, but at the domain's, which belongs to it.
        below = np.where(end < 1, low < end, low <= end)
        met = (below & (high >= first)).all(axis=1)
        leaves[leaf] = {"id": leaf, "tasks": int(met.sum()), "bytes": int(sizes[met].sum())}
    return {
        "rows": tasks.num_rows,
        "chores": [
            {
                "name": chore.name,
                "tasks": titles.count(chore.name),
                "able_least": int(able[[title == chore.name for title in titles]].min()),
                "able_most": int(able[[title == chore.name for title in titles]].max()),
            }
            for chore in CHORES
        ],
        "payloads": {
            "bytes": int(sizes.sum()),
            "least": int(sizes.min()),
            "most": int(sizes.max()),
            "end_in_zeros": sum(payload.endswith(b"\0") for payload in payloads),
        },
        "for_nobody": int((able == 0).sum()),
        "leaves": list(leaves.values()),
    }


def _boxes(tasks: pa.Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the tasks' bounds, shape (tasks, skills); one that is missing is the end of all skills."""
    ends = {"low": 0.0, "high": 1.0}
    low, high = (
        np.stack([tasks[f"{skill}_{end}"].fill_null(value).to_numpy() for skill in SKILLS], axis=1)
        for end, value in ends.items()
    )
    return low, high


def leaf_boxes(tree: dict[str, Any]) -> dict[int, NDArray[np.float64]]:
    """Return the boxes of a tree's leaves by their numbers: lower and upper ends, shape (2, skills)."""
    boxes = {1: np.array([[0.0] * len(SKILLS), [1.0] * len(SKILLS)])}
    for node in tree["splits"]:
        box, place = boxes.pop(node["id"]), SKILLS.index(node["dimension"])
        left, right = box.copy(), box.copy()
        left[1, place] = right[0, place] = node["split"]
        boxes |= {2 * node["id"]: left, 2 * node["id"] + 1: right}
    return dict(sorted(boxes.items()))
