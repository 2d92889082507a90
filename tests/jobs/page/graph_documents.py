"""Documents of graphs and of their studies, made by the job itself in this process."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.jobs.graph.circle import Circle
from tests.jobs.page.documents import HOSTILE


@cache
def _made(**privacy: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        circle = Circle(Path(folder))
        circle.given |= {"privacy": privacy}
        if privacy.get("mechanism") != "discrete-laplace":
            circle.given["release"] = {"graph": True}
        return circle.run()[0]


def graph(**privacy: Any) -> dict[str, Any]:
    """Return the document of a graph of forty nodes."""
    document: dict[str, Any] = _made(**({"epsilon": 3} | privacy))
    return document


@cache
def _studied() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        circle = Circle(Path(folder))
        circle.given["population"]["public"] = True
        circle.given["study"] = {"epsilons": [1, 2, 4], "replications": 3}
        return circle.run()[0]


def study() -> dict[str, Any]:
    """Return the document of a study."""
    document: dict[str, Any] = _studied()
    return document


def large(nodes: int = 5000) -> dict[str, Any]:
    """Return the document of many nodes."""
    generator = np.random.Generator(np.random.PCG64(2))
    result = graph()["result"] | {"nodes": nodes, "ids": [f"n{number}" for number in range(nodes)]}
    for kind in ("degrees", "triangles"):
        values = np.sort(generator.normal(5, 8, nodes)).tolist()
        result |= {kind: result[kind] | {"estimates": values, "standard_errors": [2.0] * nodes}}
    return graph() | {"result": result}


def hostile() -> dict[str, Any]:
    """Return the document of nodes whose names are markup."""
    result = graph()["result"]
    return graph() | {
        "population": {"name": HOSTILE[0]},
        "result": result | {"ids": [HOSTILE[number % len(HOSTILE)] for number in range(result["nodes"])]},
    }


GRAPHS = {
    "local": graph,
    "central": lambda: graph(mechanism="discrete-laplace"),
    "large": large,
    "hostile": hostile,
}
