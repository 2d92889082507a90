"""Result documents of studies of decisive margins, with all that their page may meet."""

from __future__ import annotations

from typing import Any

from tests.jobs.page.documents import HOSTILE

BALLOTS, CANDIDATES, EPSILONS = [1000, 4000, 16000], [3, 4, 6], [0.5, 1.0, 2.0]
BASE = {"ballots": 4000, "candidates": 4, "epsilon": 1.0}
SIZES = [
    *((n, 4, 1.0) for n in BALLOTS),
    *((4000, m, 1.0) for m in (3, 6)),
    *((4000, 4, epsilon) for epsilon in (0.5, 2.0)),
]


def _family(name: str, margin: float | None, top: int) -> dict[str, Any]:
    tried = [max(1, top // 4), max(2, top // 2), max(3, top)]
    return {
        "family": name,
        "largest_tried": top,
        "margin": margin,
        "low": None if margin is None else margin / 1.25,
        "high": None if margin is None else margin * 1.5,
        "margins": tried,
        "right": [61, 80, 97],
        "tried": [100, 100, 100],
    }


def _point(rule: str, model: str, size: tuple[int, int, float]) -> dict[str, Any]:
    n, m, epsilon = size
    if model == "central":
        scale, families = 1.0, [_family("packing", 4.0 / epsilon, 20)]
    else:
        scale = (n**0.5) * (1.0 if model == "interactive" else m)
        families = [_family("random", scale / epsilon, int(8 * scale))]
        if rule != "plurality":
            reached = None if n < 2000 else 1.5 * scale / epsilon
            families.append(_family("two-way", reached, n // 10))
    return {
        "rule": rule,
        "model": model,
        "ballots": n,
        "candidates": m,
        "epsilon": epsilon,
        "measured": families[-1]["margin"],
        "interval": [families[-1]["low"], families[-1]["high"]],
        "family": families[-1]["family"],
        "reached": families[-1]["margin"] is not None,
        "bound": 6.0 / epsilon if model == "central" else 4 * scale / epsilon,
        "paper": 12.0 / epsilon if model == "central" else 9 * scale / epsilon,
        "lower": 1.0 if model == "central" else n**0.5 / epsilon,
        "lower_is": "a bound" if model == "central" else "a rate, but for a constant",
        "families": families,
    }


def _claim(source: str, rule: str, holds: bool = True) -> dict[str, Any]:
    return {
        "source": source,
        "claim": f"what is said in {source}",
        "rule": rule,
        "size": "6 records",
        "profiles": 36,
        "holding": 36 if holds else 35,
        "holds": holds,
        "claimed_margin": 1.5,
        "found_margin": 2 if holds else 1,
    }


def study(rules: tuple[str, ...] = ("plurality", "condorcet"), **more: Any) -> dict[str, Any]:
    """Return a study whose margins are 4 / epsilon centrally, m sqrt(n) / epsilon in one round, without m in rounds."""
    models = ["central", "local", "interactive"]
    pairs = [
        (rule, model) for rule in rules for model in models if (rule, model) != ("plurality", "interactive")
    ]
    slopes = {"central": 0.0, "local": 0.5, "interactive": 0.5}
    result = {
        "replications": 100,
        "electorates": 4,
        "seed": 2026,
        "failure_probability": 0.05,
        "base": BASE,
        "rules": list(rules),
        "models": models,
        "points": [_point(rule, model, size) for rule, model in pairs for size in SIZES],
        "growth": [
            {"rule": rule, "model": model}
            | {size: dict.fromkeys(("measured", "bound", "paper"), slopes[model]) for size in BASE}
            for rule, model in pairs
        ],
        "claims": [_claim("E.3", "condorcet"), _claim("E.3", "maximin"), _claim("A.7", "stv")],
        "own": {
            "rule": "stv",
            "ballots": 30000,
            "candidates": 6,
            "outcome": "Ana Muñoz",
            "margin": 1726,
            "points": [
                {
                    "model": model,
                    "epsilon": epsilon,
                    "right": 79,
                    "tried": 100,
                    "share": 0.79,
                    "interval": [0.70, 0.86],
                    "bound": 5000.0,
                    "paper": 9000.0,
                }
                for model in models
                for epsilon in EPSILONS
            ],
        },
        **more,
    }
    return {
        "job": "election",
        "version": "0.1.0",
        "spec": {"job": "election"},
        "population": {"name": "ballots", "rows": 30000, "fingerprint": "31ac1eff223b8183" * 4},
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
        "seconds": {"prepare": 0.9, "ask": 211.4},
    }


def failing() -> dict[str, Any]:
    """Return a study one of whose claims does not hold, and whose own election nobody wins."""
    made = study(claims=[_claim("E.3", "condorcet"), _claim("B.1", "stv", holds=False)])
    made["result"]["study"]["own"]["outcome"] = None
    return made


def hostile_election_study() -> dict[str, Any]:
    """Return a study whose every text tries to be something else."""
    made = study()
    found = made["result"]["study"]
    for place, one in enumerate(found["claims"]):
        one |= {"source": HOSTILE[place], "claim": HOSTILE[3], "rule": HOSTILE[4], "size": HOSTILE[0]}
    for point in found["points"]:
        for family in point["families"]:
            family["family"] = HOSTILE[0]
    found["own"] |= {"outcome": HOSTILE[8], "rule": HOSTILE[0]}
    found["points"].append(found["points"][0] | {"rule": HOSTILE[1], "model": HOSTILE[2]})
    made["population"]["name"] = HOSTILE[2]
    found["seed"] = HOSTILE[0]
    return made
