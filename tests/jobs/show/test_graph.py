"""What a terminal shows of graphs, their plans and their studies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cluster.dataset import open_dataset
from jobs.catalogue import load
from jobs.show import show_plan, show_result
from tests.jobs.graph.circle import Circle
from tests.jobs.page.graph_documents import graph, study


def shown(capsys: pytest.CaptureFixture[str], document: dict[str, Any]) -> str:
    show_result(document, "out/circle", stored=False)
    return capsys.readouterr().out


def test_totals_and_the_nodes_with_the_most_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    document = graph()
    text, result = shown(capsys, document), document["result"]
    best = max(range(40), key=lambda place: result["degrees"]["estimates"][place])
    assert result["ids"][best] in text
    assert "30 more nodes: see nodes.parquet" in text
    assert "at most e^3 times as likely as otherwise" in " ".join(text.split())
    assert "Each unordered pair of nodes reported once" in text
    assert "epsilon spent on each link: 3" in text
    assert "out/circle/reports/" in text


def test_a_trusted_holder_s_result_speaks_of_what_is_published(capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(shown(capsys, graph(mechanism="discrete-laplace")).split())
    assert "all that is published is at most e^3 times" in text
    assert "merged" not in text
    assert "reports/" not in text


def test_a_study_shows_every_mechanism(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, study())
    for words in ("randomized response", "Laplace noise", "global sensitivity", "smooth sensitivity", "zero"):
        assert words in text
    assert " m " in text


def test_what_hardly_tells_anything_leaves_room_for_names(capsys: pytest.CaptureFixture[str]) -> None:
    document = graph()
    triangles = document["result"]["triangles"]
    for key in ("estimates", "standard_errors"):
        triangles[key] = [1e27 * value for value in triangles[key]]
    document["result"]["released"]["links"] = 1
    text = shown(capsys, document)
    assert "…" not in text
    assert document["result"]["ids"][0].rstrip("0123456789") in text
    assert "A rebuilt graph of 1 link may be" in text


@pytest.mark.parametrize("studied", [False, True])
def test_a_plan_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str], studied: bool) -> None:
    circle = Circle(tmp_path)
    circle.given["privacy"]["epsilon"] = 2
    if studied:
        circle.given["population"]["public"] = True
        circle.given["study"] = {"epsilons": [1], "replications": 2}
    job, spec = load(circle.given)
    show_plan("graph", job.plan(spec, open_dataset(str(circle.nodes))))
    text = capsys.readouterr().out
    assert ("std. error" in text) is not studied
    assert "epsilon" in text
    assert ": 40 nodes in 1 task" in text


def test_a_plan_tells_what_is_known_beforehand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    circle = Circle(tmp_path)
    circle.given |= {"privacy": {"epsilon": 2}, "release": {"graph": True}}
    job, spec = load(circle.given)
    show_plan("graph", job.plan(spec, open_dataset(str(circle.nodes))))
    text = capsys.readouterr().out
    assert "≤" in next(line for line in text.splitlines() if line.strip().startswith("triangles"))
    assert "≤" not in next(line for line in text.splitlines() if line.strip().startswith("degrees"))
    assert "writes" not in text, "how many links there will be is not known"


def test_next_to_nothing_is_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    document = graph()
    document["result"]["degrees"]["estimates"] = [-5.4e-20] * 40
    assert "e-20" not in shown(capsys, document)
