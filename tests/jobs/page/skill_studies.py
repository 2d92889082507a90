"""Result documents of studies of a tree's error, with all that their page may meet."""

from __future__ import annotations

import math
from typing import Any

from tests.jobs.page.documents import HOSTILE

BASE = {"workers": 10_000, "depth": 5, "bins": 10, "epsilon": 1.0}
SIZES = [
    *((n, 5, 10, 1.0) for n in (1000, 10_000, 100_000)),
    *((10_000, h, 10, 1.0) for h in (2, 10)),
    *((10_000, 5, bins, 1.0) for bins in (4, 20)),
    *((10_000, 5, 10, epsilon) for epsilon in (0.1, 10.0)),
]
NOISE = {"shares": 1.1, "central": 1.0, "exact": 0.0}


def law(mechanism: str, size: tuple[int, int, int, float]) -> float:
    """The raw leaf error that is measured, and expected, at a point."""
    n, depth, _, epsilon = size
    return NOISE[mechanism] * 2**depth * 5 / (n * epsilon)


def _measured(mean: float, off: float = 0.0) -> dict[str, Any]:
    error = mean / 20
    return {
        "mean": mean * (1 + off),
        "standard_error": error,
        "interval": [mean * (1 + off) - 2 * error, mean * (1 + off) + 2 * error],
    }


def _point(mechanism: str, size: tuple[int, int, int, float]) -> dict[str, Any]:
    n, depth, bins, epsilon = size
    raw = law(mechanism, size)
    alike = mechanism == "shares" and bins == 10 and (depth, n * epsilon) == (5, 1000.0)
    return {
        "mechanism": mechanism,
        "workers": n,
        "depth": depth,
        "bins": bins,
        "epsilon": epsilon,
        "beta": NOISE[mechanism],
        "raw": _measured(raw, 0.05),
        "consistent": _measured(0.8 * raw, -0.05),
        "predicted": {"raw": raw, "consistent": 0.8 * raw},
        "reference": {"raw": [0.166, 0.166], "consistent": [0.14, 0.15]} if alike else None,
        "medians": [
            {
                "level": depth - row,
                "epsilon": 0.3 * epsilon / depth,
                "workers": n / 2**row,
                "rank_error": _measured(min(0.5, (1 + 30 * NOISE[mechanism] / epsilon) / (n / 2**row))),
            }
            for row in range(depth)
        ],
    }


def skills_study(**more: Any) -> dict[str, Any]:
    """Return a study whose raw leaf errors are 5 beta 2^h / (n epsilon), and consistent ones four fifths."""
    own = [(20_000, 6, 10, epsilon) for epsilon in (0.1, 1.0, 10.0)]
    result = {
        "replications": 20,
        "seed": 2026,
        "mechanisms": list(NOISE),
        "base": BASE,
        "dimensions": ["python", "sql", "welding"],
        "counts_share": "0.7",
        "allocation": "quadtree",
        "beta": 10 / 9,
        "points": [_point(mechanism, size) for mechanism in NOISE for size in SIZES],
        "own": {
            "workers": 20_000,
            "depth": 6,
            "bins": 10,
            "min_count": 0,
            "points": [_point(mechanism, size) | {"reference": None} for mechanism in NOISE for size in own],
        },
        "references": {
            "leaves": [
                {"depth": 5, "workers_epsilon": 1000, "raw": [0.166, 0.166], "consistent": [0.14, 0.14]},
                {"depth": 10, "workers_epsilon": 10_000, "raw": [0.63, 0.75], "consistent": None},
                {"depth": 7, "workers_epsilon": 10_000, "raw": [0.1, 0.1], "consistent": None},
            ],
            "medians": [
                {"workers_epsilon": 3.0, "rank_error": 0.19},
                {"workers_epsilon": 300.0, "rank_error": 0.006},
            ],
        },
        **more,
    }
    return {
        "job": "skills",
        "version": "0.1.0",
        "spec": {"job": "skills"},
        "population": {"name": "workers", "rows": 20_000, "fingerprint": "31ac1eff223b8183" * 4},
        "privacy": {
            "model": "none",
            "basis": "a study on public data: nothing is protected",
            "epsilon": None,
            "spent_before": 0.0,
            "spent_after": 0.0,
            "limit": None,
        },
        "roles": "embedded",
        "result": {"study": result},
        "seconds": {"prepare": 0.9, "level 0": 1.5, "replicate": 21.4},
    }


def least() -> dict[str, Any]:
    """Return a study of one size and of exact trees alone, of nodes that need a least count."""
    made = skills_study()
    found = made["result"]["study"]
    found["points"] = [one for one in found["points"] if one["mechanism"] == "exact" and _at_base(one)]
    found["own"]["points"] = [one for one in found["own"]["points"] if one["mechanism"] == "exact"]
    found["own"]["min_count"] = 40
    for one in found["own"]["points"]:
        one["predicted"] = {"raw": None, "consistent": None}
    return made


def _at_base(one: dict[str, Any]) -> bool:
    return all(math.isclose(one[name], value) for name, value in BASE.items())


def hostile_skills_study() -> dict[str, Any]:
    """Return a study whose every text tries to be something else."""
    made = skills_study(counts_share=HOSTILE[3], allocation=HOSTILE[4], seed=HOSTILE[0])
    found = made["result"]["study"]
    found["dimensions"] = list(HOSTILE)
    found["points"] += [found["points"][0] | {"mechanism": HOSTILE[1]}, {"mechanism": HOSTILE[2]}]
    made["population"]["name"] = HOSTILE[8]
    return made
