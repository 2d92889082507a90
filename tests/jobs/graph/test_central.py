"""Statistics of a graph for a trusted holder: the truth with noise for the global sensitivity."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

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
