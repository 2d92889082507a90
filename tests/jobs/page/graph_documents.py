"""Documents of graphs and of their studies, made by the job itself in this process."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from jobs.graph.estimate import report_variance
from tests.jobs.graph.circle import NODES, Circle
from tests.jobs.page.documents import HOSTILE

Document = dict[str, Any]
KINDS = ("edges", "degrees", "triangles")


@cache
def _made(nodes: int, kinds: tuple[str, ...], privacy: str) -> Document:
    with tempfile.TemporaryDirectory() as folder:
        circle = Circle(Path(folder))
        if nodes < NODES:
            circle.names = circle.names[:nodes]
            circle.links = circle.links[circle.links[:, 1] < nodes]
            circle.settle(files=1)
        circle.given |= {
            "privacy": json.loads(privacy),
            "statistics": [{"kind": kind} for kind in kinds],
            "release": {"graph": "discrete-laplace" not in privacy},
        }
        document: Document = circle.run()[0]
        return document


def graph(nodes: int = NODES, kinds: tuple[str, ...] = KINDS, **privacy: Any) -> Document:
    """Return the document of a graph: of forty nodes, or of the first few of them."""
    return copy.deepcopy(_made(nodes, kinds, json.dumps({"epsilon": 3} | privacy)))


def central(**more: Any) -> Document:
    """Return the document of a trusted holder."""
    return graph(mechanism="discrete-laplace", **more)


@cache
def _studied() -> Document:
    with tempfile.TemporaryDirectory() as folder:
        circle = Circle(Path(folder))
        circle.given["population"]["public"] = True
        circle.given["study"] = {"epsilons": [1, 2, 4], "replications": 3}
        document: Document = circle.run()[0]
        return document


def study() -> Document:
    """Return the document of a study."""
    return copy.deepcopy(_studied())


def least_study() -> Document:
    """Return the document of a study of one mechanism at one epsilon, once: it has no intervals."""
    document = study()
    found = document["result"]["study"]
    found |= {"mechanisms": ["laplace"], "epsilons": [2.0], "replications": 1}
    found["points"] = [
        one for one in found["points"] if (one["mechanism"], one["epsilon"]) == ("laplace", 2.0)
    ]
    for one in found["points"]:
        one["mean_error"]["interval"] = one["median_error"]["interval"] = None
    return document


def hostile_study() -> Document:
    """Return the document of a study whose graph and whose unknown mechanism have names that are markup."""
    document = study()
    document["population"]["name"] = "".join(HOSTILE)
    found = document["result"]["study"]
    found["mechanisms"].append(HOSTILE[0])
    found["points"].append(found["points"][0] | {"mechanism": HOSTILE[0], "way": HOSTILE[8]})
    return document


def large(nodes: int = 20_000) -> Document:
    """Return the document of many nodes, whose estimates lie where reports put them."""
    generator = np.random.Generator(np.random.PCG64(2))
    document = graph()
    lie = document["result"]["lie"]
    error = float(((nodes - 1) * report_variance(lie)) ** 0.5)
    ones = generator.poisson(20, nodes) + generator.binomial(nodes - 1, lie, nodes)
    degrees = (ones - (nodes - 1) * lie) / (1 - 2 * lie)
    triangles = generator.normal(40, 1000, nodes)
    document["result"] |= {
        "nodes": nodes,
        "pairs": nodes * (nodes - 1) // 2,
        "ids": [f"n{number}" for number in range(nodes)],
        "degrees": {"estimates": degrees.tolist(), "standard_errors": [error] * nodes},
        "triangles": document["result"]["triangles"]
        | {"estimates": triangles.tolist(), "standard_errors": [1000.0] * nodes},
    }
    return document


def hostile() -> Document:
    """Return the document of nodes whose names are markup, and of numbers as large as they get."""
    document = graph()
    result = document["result"]
    document["population"]["name"] = HOSTILE[0]
    result["ids"] = [HOSTILE[number % len(HOSTILE)] for number in range(result["nodes"])]
    result["self_loops"] = result["reports"] = HOSTILE[8]
    result["graph"] = "javascript:alert(1)//" + HOSTILE[8]
    result["triangles"]["estimates"][:3] = [1e99, -1e99, 1e9]
    document["privacy"] |= {"limit": 10.0, "spent_before": 2.5, "spent_after": 5.5}
    return document


def spoilt() -> Document:
    """Return the document of numbers some of which are missing, and some no numbers that JSON has."""
    document = graph()
    for kind, key in (("degrees", "estimates"), ("triangles", "standard_errors")):
        own = document["result"][kind][key]
        own[:5] = [None, float("nan"), float("inf"), -float("inf"), "7"]
    document["result"]["edges"]["standard_errors"] = float("nan")
    document["result"]["ids"][3] = None
    return document


def unprotected() -> Document:
    """Return the document of reports at an infinite epsilon, which are the truth."""
    document = graph(epsilon=60)
    document["privacy"]["epsilon"] = None
    document["result"]["lie"] = 0.0
    return document


GRAPHS: dict[str, Callable[[], Document]] = {
    "local": graph,
    "laplace": lambda: graph(mechanism="laplace", epsilon=1),
    "central": central,
    "degrees": lambda: graph(kinds=("degrees",)),
    "triangles": lambda: central(kinds=("triangles",)),
    "edges": lambda: graph(kinds=("edges",)),
    "nobody": lambda: graph(nodes=0),
    "one": lambda: graph(nodes=1),
    "two": lambda: graph(nodes=2),
    "few": lambda: central(nodes=2),
    "unprotected": unprotected,
    "spoilt": spoilt,
    "large": large,
    "hostile": hostile,
}
STUDIES: dict[str, Callable[[], Document]] = {
    "study": study,
    "least": least_study,
    "hostile-study": hostile_study,
}
