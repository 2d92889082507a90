"""Statistics of a graph for a trusted holder: the truth with noise for the global sensitivity."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from jobs.graph.spec import GraphSpec
from tests.jobs.graph.circle import LINKS, NODES, Circle


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
