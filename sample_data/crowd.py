"""The sample's workers: kinds of people with ten skills, and the k-d tree of the shipped spec without noise.

The tree is grown here from the rows themselves, with rational arithmetic and nothing of the project, so that
the project can be held against it.
"""

import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.random import Generator
from numpy.typing import NDArray

SPEC = Path(__file__).resolve().parent / "skills.toml"

SKILLS = (
    "python", "sql", "statistics", "design", "photography",
    "writing", "translation", "carpentry", "driving", "first_aid",
)  # fmt: skip
COMMON, SPREAD = 200, 200
"""A skill that is not special to a kind lies about 0.2, and every skill within 0.2 of its kind's centre."""
COURSE = 500
"""Everybody took the same course of first aid."""


@dataclass(frozen=True)
class Kind:
    """Workers who are good at the same things.

    Attributes
    ----------
    name : str
        What they are called.
    workers : int
        How many there are.
    centres : dict of str to int
        The centres of the skills they differ in from others, in thousandths.
    certified : str, optional
        The skill in which the best tenth of them hold a certificate: it counts as exactly 1.0.
    step : int
        Their scores are whole numbers of so many thousandths.
    """

    name: str
    workers: int
    centres: dict[str, int]
    certified: str | None = None
    step: int = 1

    def centre(self, skill: str) -> int:
        """Return the centre of one of their skills, in thousandths: half of them lie on either side."""
        return COURSE if skill == "first_aid" else self.centres.get(skill, COMMON)

    def scores(self, skill: str) -> NDArray[np.int64]:
        """Return one skill's scores in thousandths, in rising order.

        They are dealt out and not drawn: the quantiles of the symmetric triangular law about the centre.
        """
        if skill == "first_aid":
            return np.full(self.workers, COURSE)
        levels = (np.arange(self.workers) + 0.5) / self.workers
        tails = 1 - np.sqrt(2 * np.minimum(levels, 1 - levels))
        scores = self.centre(skill) + SPREAD * np.copysign(tails, levels - 0.5)
        dealt = np.rint(scores / self.step).astype(np.int64) * self.step
        if skill == self.certified:
            dealt[self.workers - self.workers // 10 :] = 1000
        return dealt


KINDS = (
    Kind("programmers", 3000, {"python": 800, "sql": 650, "statistics": 400, "writing": 350}, "python"),
    Kind("analysts", 2500, {"statistics": 800, "sql": 700, "python": 550, "writing": 400}, "statistics"),
    Kind("designers", 2500, {"design": 800, "photography": 600, "writing": 400}, "design"),
    Kind("photographers", 1500, {"photography": 800, "design": 500, "driving": 500}, "photography"),
    Kind("translators", 3000, {"translation": 800, "writing": 700, "driving": 300}, "translation"),
    Kind("builders", 2500, {"carpentry": 800, "driving": 600}, "carpentry"),
    Kind("drivers", 1500, {"driving": 800, "carpentry": 350, "translation": 350}, "driving"),
    Kind("generalists", 2500, dict.fromkeys(SKILLS[:-1], 500)),
    Kind("newcomers", 1000, {}, step=100),  # they rate themselves, in tenths
)
WORKERS = sum(kind.workers for kind in KINDS)


def worker_table(rng: Generator) -> pa.Table:
    """Return one row for each worker, in shuffled order: a unique id, and every skill from 0 to 1.

    Within a kind each skill is dealt out by itself.
    """
    order = rng.permutation(WORKERS)
    ids = [f"W-{number:05d}" for number in rng.permutation(WORKERS) + 1]
    scores = {
        skill: np.concatenate([rng.permutation(kind.scores(skill)) for kind in KINDS]) for skill in SKILLS
    }
    return pa.table({"worker": ids} | {skill: scores[skill][order] / 1000 for skill in SKILLS})


def worker_truth(table: pa.Table) -> dict[str, Any]:
    """Return what was planted of the workers, and what their rows come to."""
    thousandths = {skill: np.rint(table[skill].to_numpy() * 1000).astype(np.int64) for skill in SKILLS}
    return {
        "rows": table.num_rows,
        "kinds": [
            {
                "name": kind.name,
                "workers": kind.workers,
                "centres": {skill: kind.centre(skill) / 1000 for skill in SKILLS},
                "certified": kind.certified,
            }
            for kind in KINDS
        ],
        "skills": {
            skill: {
                "mean": int(scores.sum()) / (1000 * table.num_rows),
                "median": float(np.median(scores)) / 1000,
                "least": int(scores.min()) / 1000,
                "most": int(scores.max()) / 1000,
                "at_one": int((scores == 1000).sum()),
                "in_tenths": int((scores % 100 == 0).sum()),
            }
            for skill, scores in thousandths.items()
        },
        "tree": exact_tree(table, tomllib.loads(SPEC.read_text(encoding="utf-8"))["skills"]),
    }


def exact_tree(table: pa.Table, spec: dict[str, Any]) -> dict[str, Any]:
    """Return the tree that a spec asks for, as it is without noise: the splits and counts of all nodes.

    Nodes are numbered from the root, 1, to the children 2v and 2v + 1 of node v; a worker at a split goes to
    the right. A float means the decimal it prints as.
    """
    dimensions, depth, bins = spec["dimensions"], spec["depth"], spec["bins"]
    low, high = (Fraction(str(end)) for end in spec["domain"])
    members = {1: np.arange(table.num_rows)}
    boxes = {1: dict.fromkeys(dimensions, (low, high))}
    splits = []
    for node in range(1, 2**depth):
        dimension = dimensions[(node.bit_length() - 1) % len(dimensions)]
        low, high = boxes[node][dimension]
        values = table[dimension].to_numpy()[members[node]]
        split = binned_median(values, low, high, bins)
        splits.append({"id": node, "dimension": dimension, "split": split, "count": len(values)})
        for child, inside, box in (
            (2 * node, values < split, (low, Fraction(str(split)))),
            (2 * node + 1, values >= split, (Fraction(str(split)), high)),
        ):
            members[child], boxes[child] = members[node][inside], boxes[node] | {dimension: box}
    leaves = [{"id": leaf, "count": len(members[leaf])} for leaf in range(2**depth, 2 ** (depth + 1))]
    return {"splits": splits, "leaves": leaves}


def binned_median(values: NDArray[np.float64], low: Fraction, high: Fraction, bins: int) -> float:
    """Return the median that is read off equal bins from `low` to `high`, in proportion within its bin.

    Examples
    --------
    >>> binned_median(np.array([0.1, 0.3, 0.6, 0.7]), Fraction(0), Fraction(1), 2)
    0.5
    """
    edges = [low + (high - low) * place / bins for place in range(bins + 1)]
    below = [int((values < float(edge)).sum()) for edge in edges[:-1]] + [len(values)]
    middle = Fraction(len(values), 2)
    for place in range(bins):
        inside = below[place + 1] - below[place]
        if inside and below[place + 1] >= middle:
            part = (middle - below[place]) / inside
            return float(edges[place] + (edges[place + 1] - edges[place]) * part)
    return float((low + high) / 2)
