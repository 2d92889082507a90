"""Result documents of studies, with all that their page may meet."""

from __future__ import annotations

from typing import Any

from tests.jobs.page.documents import HOSTILE

EPSILONS = [0.5, 1.0, 2.0, 4.0]
MECHANISMS = ["randomized-response", "laplace"]


def study(
    attributes: dict[str, list[Any]],
    statistics: list[tuple[str, list[str], float]],
    epsilons: list[float] = EPSILONS,
    mechanisms: list[str] = MECHANISMS,
) -> dict[str, Any]:
    """Return a study whose k-th mechanism has k + 1 times the noise of the first; no two numbers agree."""
    quantities: list[dict[str, Any]] = [
        {"kind": "proportion", "of": [name], "category": category}
        for name, categories in attributes.items()
        for category in categories
    ]
    truth = [
        2 * (k + 1) / (len(categories) * (len(categories) + 1))
        for categories in attributes.values()
        for k in range(len(categories))
    ]
    quantities += [{"kind": kind, "of": of} for kind, of, _ in statistics]
    truth += [value for *_, value in statistics]
    spec = {name: {"categories": one, "epsilon": None, "missing": "none"} for name, one in attributes.items()}
    return {
        "job": "survey",
        "version": "0.1.0",
        "spec": {"job": "survey", "attributes": spec},
        "population": {"name": "biomarkers", "rows": 248, "fingerprint": "31ac1eff223b8183" * 4},
        "privacy": {
            "model": "none",
            "basis": "a study on public data: nothing is protected",
            "epsilon": None,
            "spent_before": 4.0,
            "spent_after": 4.0,
            "limit": None,
        },
        "roles": "embedded",
        "result": {
            "study": {
                "replications": 200,
                "seed": 2016,
                "respondents": 248,
                "quantities": quantities,
                "truth": truth,
                "points": [
                    _point(attributes, truth, epsilon, mechanism, 1.0 + place)
                    for epsilon in epsilons
                    for place, mechanism in enumerate(mechanisms)
                ],
                "theorems": [
                    _check(name, len(categories), theorem, epsilon)
                    for epsilon in epsilons
                    for name, categories in attributes.items()
                    for theorem in (2 if len(categories) == 2 else 4, 3)
                ],
            }
        },
        "seconds": {"prepare": 1.9, "ask": 8.98},
    }


def _point(
    attributes: dict[str, list[Any]], truth: list[float], epsilon: float, mechanism: str, times: float
) -> dict[str, Any]:
    error = [times * 0.11 * (1 + k / 10) * (1 + abs(value)) / epsilon for k, value in enumerate(truth)]
    return {
        "epsilon": epsilon,
        "mechanism": mechanism,
        "true_epsilon": dict.fromkeys(attributes, epsilon * (1 if times == 1 else 0.95)),
        "finite": [200 for _ in truth],
        "mean": [value + size / 7 for value, size in zip(truth, error, strict=True)],
        "empirical_standard_error": error,
        "predicted_standard_error": [1.1 * size for size in error],
        "mean_estimated_standard_error": [0.9 * size for size in error],
        "root_mean_squared_error": [1.01 * size for size in error],
        "guess": {
            name: {
                "right": [0.2 + 0.01 * k + epsilon / (20 * times) for k in range(len(categories))],
                "mean_right": 0.3 + epsilon / (20 * times),
                "mean_error": 0.7 - epsilon / (20 * times),
            }
            for name, categories in attributes.items()
        },
    }


def _check(name: str, cells: int, theorem: int, epsilon: float) -> dict[str, Any]:
    exceptions = [cells - 1] if theorem == 4 and epsilon < 1 else []
    return {
        "epsilon": epsilon,
        "attribute": name,
        "theorem": theorem,
        "randomized_response": 0.7 - epsilon / 20,
        "laplace": 0.72 - epsilon / 40,
        "holds_on_average": True,
        "holds_for_every_cell": not exceptions,
        "cells_where_not": exceptions,
    }


def rich_study() -> dict[str, Any]:
    """Return a study with two attributes and two statistics, one not always estimable, and huge errors."""
    made = study(
        {"ldl": ["<70", "70-99", "100-129", ">=130"], "smokes": ["no", "yes"]},
        [("entropy", ["ldl"], 1.846), ("chi-square", ["ldl", "smokes"], 252.09)],
    )
    points = made["result"]["study"]["points"]
    for column in ("mean", "empirical_standard_error", "root_mean_squared_error"):
        points[1][column][-1] = None
    points[1]["finite"][-1] = 0
    points[3]["finite"][-1] = 150
    points[1]["predicted_standard_error"][-1] = 271712.4
    points[3]["mean_estimated_standard_error"][-1] = 9.176e-14
    for k in range(4):
        points[1]["empirical_standard_error"][k] = 5.8
        points[1]["root_mean_squared_error"][k] = 5.9
    return made


def hostile_study() -> dict[str, Any]:
    """Return a study whose every text tries to be something else, of four mechanisms and many categories."""
    many = [f"category {k}" for k in range(24)]
    made = study(
        {HOSTILE[0]: HOSTILE, HOSTILE[3]: many},
        [(HOSTILE[8], [HOSTILE[2], HOSTILE[0]], -3.5), ("pearson", [HOSTILE[0], HOSTILE[4]], 0.2)],
        epsilons=[0.01, 1.0, 30.0],
        mechanisms=["randomized-response", "laplace", HOSTILE[1], HOSTILE[8]],
    )
    made["population"]["name"] = HOSTILE[8] + HOSTILE[3]
    made["version"] = HOSTILE[0]
    return made
