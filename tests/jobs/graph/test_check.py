"""Graphs and specs that are refused: before anything is charged, and by count."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from jobs.graph import check
from tests.jobs.graph.circle import NODES, Circle
from tests.jobs.house import Unusable
from udfs.errors import SchemaError, SpecError


@pytest.fixture
def circle(tmp_path: Path) -> Circle:
    return Circle(tmp_path)


def _noted(*rows: tuple[Any, Any]) -> Callable[[Circle], None]:
    def note(circle: Circle) -> None:
        source, target = zip(*rows, strict=True)
        circle.write({"a": pa.array(source, pa.string()), "b": pa.array(target, pa.string())})

    return note


@pytest.mark.parametrize(
    ("spoil", "match"),
    [
        (_noted(("n01", "n99"), ("n02", "n98")), "2 ends that are no nodes in column 'b'"),
        (_noted(("n01", "n01")), "1 links of a node with itself in column 'b'"),
        (_noted((None, "n01")), "1 missing answers in column 'a'"),
        (lambda circle: circle.know(["n01", "n01", "n02"]), "2 rows whose id repeats in column 'node'"),
        (lambda circle: circle.know(["n01", None]), "1 missing ids in column 'node'"),
        (lambda circle: circle.know([1.5, 2.5]), "ids must be text or integers"),
        (lambda circle: circle.know([1, 2]), "must hold ids of nodes"),
        (lambda circle: circle.given["population"].update(source="c"), "must have one column 'c'"),
    ],
)
def test_links_that_are_not_in_order_are_refused_by_count(
    circle: Circle, spoil: Callable[[Circle], Any], match: str
) -> None:
    spoil(circle)
    with pytest.raises(SchemaError, match=match) as refused:
        circle.run()
    assert "respondent" not in str(refused.value)
    assert (circle.files(), circle.charges()) == ({}, [])


@pytest.mark.parametrize(
    ("table", "values", "match"),
    [
        ("privacy", {"epsilon": 0}, r"privacy\.epsilon"),
        ("privacy", {"epsilon": 1, "mechanism": "guess"}, r"privacy\.mechanism"),
        ("population", {"target": "a"}, r"population\.target"),
        ("population", {"nodes": "nowhere"}, r"population\.nodes: must name a Parquet file"),
        ("population", {"path": "nowhere"}, r"population\.path: must name a Parquet file"),
        ("population", {"self_loops": "keep"}, r"population\.self_loops"),
        ("release", {"graphs": True}, r"release\.graphs"),
        ("study", {"epsilons": [1], "replications": 2}, "its population must be public"),
    ],
)
def test_a_spec_that_cannot_be_is_refused(
    circle: Circle, table: str, values: dict[str, Any], match: str
) -> None:
    circle.given.setdefault(table, {}).update(values)
    with pytest.raises(SpecError, match=match):
        circle.run(Unusable())
    assert circle.files() == {}


def test_what_goes_together_is_checked(circle: Circle) -> None:
    circle.given["privacy"]["mechanism"] = "discrete-laplace"
    circle.given["release"] = {"graph": True}
    with pytest.raises(SpecError, match="is rebuilt from pairs' own reports"):
        circle.spec()
    circle.given["privacy"]["mechanism"], circle.given["statistics"] = "laplace", []
    circle.spec()
    circle.given["release"] = {"graph": False}
    with pytest.raises(SpecError, match="something must be wanted"):
        circle.spec()
    circle.given["release"], circle.given["output"]["reports"] = {"graph": True}, False
    with pytest.raises(SpecError, match=r"release\.graph: is written to reports/"):
        circle.spec()
    circle.given["output"]["reports"], circle.given["population"]["public"] = True, True
    circle.given["study"] = {"epsilons": [1], "replications": 2}
    with pytest.raises(SpecError, match=r"release\.graph: is of no study"):
        circle.spec()
    circle.given["statistics"] = [{"kind": "edges"}, {"kind": "edges"}]
    with pytest.raises(SpecError, match="each kind must stand once"):
        circle.spec()


@pytest.mark.parametrize("mechanism", ["randomized-response", "laplace", "discrete-laplace"])
def test_an_epsilon_too_small_for_its_mechanism_is_refused(circle: Circle, mechanism: str) -> None:
    circle.given["privacy"] = {"epsilon": 1e-12, "mechanism": mechanism}
    with pytest.raises(SpecError, match=r"must be (invertible|at least 2\*\*-40 of the sensitivity)"):
        circle.run(Unusable())
    assert (circle.files(), circle.charges()) == ({}, [])


def test_more_nodes_than_sums_can_hold_are_refused(circle: Circle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "MOST_NODES", NODES)
    circle.run()
    monkeypatch.setattr(check, "MOST_NODES", NODES - 1)
    with pytest.raises(SpecError, match=r"population\.nodes: must name at most 39 nodes; got 40"):
        circle.run(Unusable())


def test_an_output_among_the_links_is_refused(circle: Circle) -> None:
    circle.given["output"]["path"] = str(circle.people)
    with pytest.raises(SpecError, match=r"output\.path: must lie apart from the links' files"):
        circle.run(Unusable())
