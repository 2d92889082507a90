"""The plan of a graph, held against what a run does and how good it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.dataset import open_dataset
from jobs.catalogue import load
from tests.jobs.graph.circle import Circle, Counting


@pytest.fixture
def circle(tmp_path: Path) -> Circle:
    return Circle(tmp_path)


@pytest.mark.parametrize(
    ("mechanism", "studied", "readings"),
    [("laplace", False, 1 + 5), ("discrete-laplace", False, 1 + 1), ("laplace", True, 1 + 1)],
)
def test_the_plan_says_how_many_tasks_there_are_and_how_often_links_are_read(
    circle: Circle, monkeypatch: pytest.MonkeyPatch, mechanism: str, studied: bool, readings: int
) -> None:
    if studied:
        circle.given["population"]["public"] = True
        circle.given["study"] = {"epsilons": [1], "replications": 2}
    for module in ("local", "plan"):
        monkeypatch.setattr(f"jobs.graph.{module}.BAND", 8)
    monkeypatch.setattr("udfs.links.PAIRS_A_TASK", 150)
    circle.given["privacy"] = {"epsilon": 2, "mechanism": mechanism}
    job, spec = load(circle.given)
    planned = job.plan(spec, open_dataset(str(circle.nodes)))
    engine = Counting()
    circle.run(engine)
    assert {one["name"]: one["tasks"] for one in planned["stages"]}.items() <= engine.tasks.items()
    assert planned["bytes"]["read"] == readings * sum(planned["bytes"]["read_by_column"].values()) > 0


@pytest.mark.parametrize("mechanism", ["randomized-response", "laplace", "discrete-laplace"])
def test_the_plan_of_a_graph_says_the_standard_errors_that_come_out(circle: Circle, mechanism: str) -> None:
    circle.given["privacy"] = {"epsilon": 2, "mechanism": mechanism}
    job, spec = load(circle.given)
    planned = job.plan(spec, open_dataset(str(circle.nodes)))["predicted"]["standard_errors"]
    result = circle.run()[0]["result"]
    assert planned["edges"] == pytest.approx(result["edges"]["standard_errors"])
    assert planned["degrees"] == pytest.approx(result["degrees"]["standard_errors"][0])
    assert planned["triangles"] <= min(result["triangles"]["standard_errors"]) * (1 + 1e-9)
