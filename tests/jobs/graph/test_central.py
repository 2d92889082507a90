"""Statistics of a graph for a trusted holder: the truth with noise for the global sensitivity."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest

from jobs.graph.central import central_statistics
from jobs.graph.spec import GraphSpec, Kind
from jobs.population import Population
from tests.jobs.graph.circle import LINKS, NODES, Circle
from tests.statistics import UnlikelyError, assert_law
from udfs.discrete_laplace import DiscreteLaplace
from udfs.identity import IdColumn
from udfs.link_question import LinkQuestion, ids_to_bytes
from udfs.streams import Secret


@pytest.fixture
def circle(tmp_path: Path) -> Circle:
    return Circle(tmp_path)


def test_a_trusted_holder_adds_noise_for_the_sensitivity(circle: Circle) -> None:
    circle.given["privacy"] = {"epsilon": 3, "mechanism": "discrete-laplace"}
    document, _ = circle.run()
    result = document["result"]
    assert document["privacy"]["model"] == "central"
    assert "seconds" not in document
    for kind, sensitivity, count in (
        ("edges", 1, 1),
        ("degrees", 2, NODES),
        ("triangles", 3 * (NODES - 2), NODES),
    ):
        alpha = np.exp(-1 / sensitivity)  # a third of epsilon each
        error = np.sqrt(2 * alpha) / (1 - alpha)
        assert np.atleast_1d(result[kind]["standard_errors"]) == pytest.approx([error] * count)
        assert np.all(np.mod(result[kind]["estimates"], 1) == 0)
    assert circle.charges() == ["charged"]


def test_without_noise_to_speak_of_a_trusted_holder_tells_the_truth(circle: Circle) -> None:
    circle.given["privacy"] = {"epsilon": 60_000, "mechanism": "discrete-laplace"}
    circle.settle(noted=np.concatenate([circle.links, circle.links]))
    result = circle.run()[0]["result"]
    assert result["edges"]["estimates"] == LINKS
    assert result["degrees"]["estimates"] == circle.matrix.sum(axis=1).tolist()
    assert result["triangles"]["estimates"] == circle.triangles.tolist()


def test_the_total_of_triangles_is_a_third_of_all_with_the_errors_of_all(circle: Circle) -> None:
    circle.given["privacy"] = {"epsilon": 3, "mechanism": "discrete-laplace"}
    found = circle.run()[0]["result"]["triangles"]
    assert found["total"]["estimates"] == pytest.approx(sum(found["estimates"]) / 3)
    assert found["total"]["standard_errors"] == pytest.approx(np.linalg.norm(found["standard_errors"]) / 3)


def test_a_node_with_itself_is_no_link_of_a_trusted_holder_either(circle: Circle) -> None:
    circle.given["privacy"] = {"epsilon": 60_000, "mechanism": "discrete-laplace"}
    circle.given["population"]["self_loops"] = "drop"
    loops = np.repeat(np.arange(5)[:, None], 2, axis=1)
    circle.settle(noted=np.concatenate([circle.links, loops]))
    result = circle.run()[0]["result"]
    assert result["edges"]["estimates"] == LINKS
    assert result["degrees"]["estimates"] == circle.matrix.sum(axis=1).tolist()


@pytest.mark.parametrize("epsilon", [0.1, 1, 2])
@pytest.mark.parametrize("kinds", [("edges",), ("edges", "degrees"), ("edges", "degrees", "triangles")])
def test_the_parts_of_epsilon_are_never_more_than_it(
    circle: Circle, epsilon: float, kinds: tuple[str, ...]
) -> None:
    circle.given["privacy"] = {"epsilon": epsilon, "mechanism": "discrete-laplace"}
    circle.given["statistics"] = [{"kind": kind} for kind in kinds]
    spec = circle.spec()
    assert isinstance(spec, GraphSpec)
    whole, parts = Fraction(spec.privacy.epsilon), len(kinds) * Fraction(spec.share)
    assert whole * (1 - Fraction(1, 10**26)) < parts <= whole


class Holder:
    """Stands in for a population without links, with a secret of its own."""

    def __init__(self, secret: Secret) -> None:
        self.driver_key = secret.key

    def ask(self, asked: Any, stage: str) -> list[Any]:
        return [mechanism.zeros() for _, mechanism in asked]


def law_of(rate: float) -> list[float]:
    """Return how likely noise is 0, how likely 1 or -1, and how likely that of two numbers is the same."""
    law = np.exp(-rate * np.abs(np.arange(-200, 201)))
    law /= law.sum()
    return [law[200], law[199] + law[201], law @ law]


Draw = Callable[..., Any]
MUTANTS: dict[str, Callable[[Draw], Draw]] = {
    "twice the noise": lambda draw: lambda *args: 2 * draw(*args),
    "twice the epsilon": lambda draw: (
        lambda law, *args: draw(DiscreteLaplace(2 * law.epsilon, law.sensitivity), *args)
    ),
    "one noise for all nodes": lambda draw: lambda law, numbers, stream: draw(law, 1, stream),
}


@pytest.mark.parametrize(("kind", "sensitivity"), [("edges", 1), ("degrees", 2), ("triangles", 3)])
def test_noise_follows_its_law_and_is_another_one_for_each_node(
    circle: Circle, monkeypatch: pytest.MonkeyPatch, kind: Kind, sensitivity: int
) -> None:
    circle.given["privacy"] = {"epsilon": 2, "mechanism": "discrete-laplace"}
    circle.given["statistics"] = [{"kind": kind}]
    spec, ids = cast(GraphSpec, circle.spec()), pa.array(["ada", "bo", "cy"])
    question = LinkQuestion("a", "b", IdColumn("node", "text"), lambda: ids_to_bytes(ids), "three")

    def sample(secret: Secret, draws: int) -> Any:
        noise = []
        for number in range(draws):
            holder = cast(Population, Holder(Secret(secret.key(str(number)))))
            result = central_statistics(spec, holder, holder, question, ids)
            noise.append(np.atleast_1d(result[kind]["estimates"]))
        first, last = np.array(noise).T[[0, -1]]
        return [np.sum(one) for one in (first == 0, np.abs(first) == 1, first == last)][:events]

    events = 2 if kind == "edges" else 3
    rate = 2 / sensitivity
    law, other = law_of(rate)[:events], law_of(2 * rate)[:events]
    assert_law(sample, law, other)
    for name, mutant in MUTANTS.items():
        if name != "one noise for all nodes" or kind != "edges":
            with monkeypatch.context() as patch:
                patch.setattr(DiscreteLaplace, "draw", mutant(DiscreteLaplace.draw))
                with pytest.raises(UnlikelyError):
                    assert_law(sample, law, other)
