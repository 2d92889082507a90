"""Result documents of skills, with all that their page may meet: of made-up workers and public chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.jobs.page.documents import HOSTILE

NAMES = [
    *("welding", "first aid", "python", "carpentry", "french", "driving", "cooking", "sewing", "accounting"),
    *("plumbing", "surveying", "teaching"),
]


def skills(
    names: list[Any],
    depth: int,
    workers: int = 4000,
    noise: float = 12.0,
    min_count: float = -1e9,
    **more: Any,
) -> dict[str, Any]:
    """Return a document with a tree of this depth, cut at noisy medians."""
    chance = np.random.default_rng(20080615 + depth + len(names))
    points = chance.beta(*chance.uniform(1.2, 4.0, (2, len(names))), (workers, len(names)))
    nodes: list[dict[str, Any]] = []
    _grow(nodes, chance, points, names, depth, {str(name): [0.0, 1.0] for name in names}, 1, noise, min_count)
    nodes.sort(key=lambda node: node["id"])
    budget = [
        {
            "level": level,
            "counts": 0.35 * 1.26 ** (depth - level) / 4,
            "median": 0.025 if level else None,
        }
        for level in range(depth, -1, -1)
    ]
    result = {
        "nodes": nodes,
        "leaves": [node for node in nodes if node["children"] is None],
        "contributions": workers - 3,
        "participants": workers,
        "workers": workers,
        "participant": "worker",
        "collusion": 40,
        "dropout": 20,
        "beta": 1.0153,
        "delta": 3.2e-19,
        "holders": {
            **{"number": 4, "threshold": 2, "where": "mailbox"},
            **{"answered": [1, 3], "declined": [4], "wrong": [2]},
        },
        "keys": {"key_id": "31ac1eff223b8183" * 4, "bits": 2048},
        "budget": budget,
        "ciphertexts": {
            "per_participant": depth + 1,
            "bytes_per_participant": 512 * (depth + 1),
            "by_level": [1] * (depth + 1),
            "slots": [97, *[93] * depth],
            "width": [21, *[22] * depth],
        },
        "dimensions": list(names),
        "domain": [0.0, 1.0],
        "bins": 10,
        "depth": depth,
        "min_count": 0,
        "allocation": "quadtree",
        "counts_share": 0.7,
        **more,
    }
    return {
        "job": "skills",
        "version": "0.1.0",
        "spec": {
            "job": "skills",
            "skills": {"dimensions": [str(name) for name in names], "depth": depth},
            "privacy": {"epsilon": "1", "neighbours": "replace"},
        },
        "population": {"name": "Volunteers 2026", "rows": workers, "fingerprint": "31ac1eff223b8183" * 4},
        "privacy": {
            "model": "distributed",
            "neighbours": "replace",
            "basis": "drawn by this job",
            "covers": "all that key-holders open",
            "epsilon": 1.0,
            "epsilon_replace": 1.0,
            "epsilon_add_or_remove": 0.5,
            "spent_before": 0.5,
            "spent_after": 1.5,
            "limit": 4.0,
        },
        "roles": "embedded",
        "result": result,
        "seconds": {"prepare": 0.91, "ask": 3.25 * (depth + 1)},
    }


def _grow(
    nodes: list[dict[str, Any]],
    chance: np.random.Generator,
    points: Any,
    names: list[Any],
    level: int,
    box: dict[str, list[float]],
    number: int,
    noise: float,
    min_count: float,
) -> float:
    """Add a node with all below it; return how many are counted in it once counts agree."""
    true, error = len(points), noise
    counted = round(true + chance.normal(0, error))
    node: dict[str, Any] = {
        "id": number, "level": level, "parent": number // 2 or None, "children": None, "dimension": None,
        "split": None, "box": {name: list(ends) for name, ends in box.items()}, "count": counted,
        "standard_error": error, "consistent_standard_error": 0.71 * error, "histogram": None,
    }  # fmt: skip
    nodes.append(node)
    if level == 0 or counted < min_count:
        node["consistent_count"] = float(true + chance.normal(0, 0.7 * error))
        return float(node["consistent_count"])
    place = (number.bit_length() - 1) % len(names)
    name, column = str(names[place]), points[:, place]
    low, high = box[name]
    split = float(np.clip(np.median(column) if true else (low + high) / 2, low, high))
    bins = np.histogram(column, 10, (low, high))[0] if low < high else np.zeros(10)
    node |= {"dimension": names[place], "split": split, "children": [2 * number, 2 * number + 1]}
    node["histogram"] = [int(one) for one in np.rint(bins + chance.normal(0, noise, 10))]
    right = column >= split
    halves = ((points[~right], [low, split], 2 * number), (points[right], [split, high], 2 * number + 1))
    node["consistent_count"] = sum(
        _grow(nodes, chance, part, names, level - 1, {**box, name: ends}, child, noise, min_count)
        for part, ends, child in halves
    )
    return float(node["consistent_count"])


def plane() -> dict[str, Any]:
    """Return a tree of two dimensions: its leaves lie beside each other."""
    return skills(NAMES[:2], 4)


def three() -> dict[str, Any]:
    return skills(NAMES[:3], 6, workers=20000, noise=25.0)


def line() -> dict[str, Any]:
    """Return a tree of one dimension."""
    return skills(NAMES[:1], 5)


def stump() -> dict[str, Any]:
    """Return a tree that is cut once."""
    return skills(NAMES[:3], 1)


def root() -> dict[str, Any]:
    """Return a tree that is not cut at all."""
    return skills(NAMES[:3], 0)


def deep(dimensions: int = 12, depth: int = 10, **more: Any) -> dict[str, Any]:
    """Return a tree of 1,024 leaves."""
    return skills(NAMES[:dimensions], depth, **{"workers": 50000, **more})


def ended() -> dict[str, Any]:
    """Return a tree whose branches end where a count is low, in a trial by short keys."""
    made = skills(NAMES[:2], 6, workers=900, noise=25.0, min_count=75.0)
    made["result"] |= {
        "min_count": 75,
        "holders": {
            **{"number": 1, "threshold": 1, "where": "trial"},
            **{"answered": [1], "declined": [], "wrong": []},
        },
        "keys": {"key_id": "ab" * 32, "bits": 512},
        "participant": "block",
        "collusion": 0,
        "dropout": 0,
    }
    return made


def noisy() -> dict[str, Any]:
    """Return a tree of so little budget that there is nothing but noise."""
    return skills(NAMES[:4], 5, workers=30, noise=4000.0)


def hostile_skills() -> dict[str, Any]:
    made = skills(HOSTILE, 5)
    made["population"]["name"] = HOSTILE[8] + HOSTILE[3]
    made["privacy"] |= {"neighbours": HOSTILE[8], "model": HOSTILE[0]}
    made["result"]["holders"]["where"] = HOSTILE[0]
    made["result"]["keys"]["key_id"] = HOSTILE[0]
    made["result"] |= {"allocation": HOSTILE[0], "participant": HOSTILE[8], "counts_share": HOSTILE[1]}
    made["version"] = HOSTILE[0]
    return made


TREES = {
    "plane": plane,
    "three": three,
    "line": line,
    "stump": stump,
    "root": root,
    "deep": deep,
    "deep-plane": lambda: deep(2),
    "ended": ended,
    "noisy": noisy,
    "hostile-skills": hostile_skills,
}
