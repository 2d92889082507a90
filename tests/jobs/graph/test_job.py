"""The graph job, from Parquet to statistics and a rebuilt graph, in this process."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.graph import local
from tests.jobs.graph.circle import LINKS, NODES, Circle, Counting
from udfs.link_response import LinkResponse


@pytest.fixture
def circle(tmp_path: Path) -> Circle:
    return Circle(tmp_path)


def test_without_noise_to_speak_of_all_statistics_are_the_graph_s(circle: Circle) -> None:
    document, stored = circle.run()
    result = document["result"]
    assert not stored
    assert (result["nodes"], document["population"]["rows"], result["pairs"]) == (
        NODES,
        NODES,
        NODES * (NODES - 1) // 2,
    )
    assert result["ids"] == circle.names.tolist()
    assert result["edges"]["estimates"] == pytest.approx(LINKS)
    np.testing.assert_allclose(result["degrees"]["estimates"], circle.matrix.sum(axis=1), atol=1e-6)
    np.testing.assert_allclose(result["triangles"]["estimates"], circle.triangles, atol=1e-6)
    assert result["triangles"]["total"]["estimates"] == pytest.approx(circle.triangles.sum() / 3)
    assert result["graph"] is None
    assert "merged" in result["reports"]
    assert document["privacy"]["epsilon"] == document["privacy"]["spent_after"] == 60
    assert document["privacy"]["model"] == "local"
    assert [charge.question for charge in circle.ledger.charges("circle")] == ["link"]
    assert set(circle.files()) == {"result.json", "nodes.parquet", "report.html", "manifest.json"}
    assert not circle.secrets()


@pytest.mark.parametrize("mechanism", ["randomized-response", "laplace", "discrete-laplace"])
def test_no_time_is_told_as_reading_takes_the_longer_the_more_links_there_are(
    circle: Circle, mechanism: str
) -> None:
    circle.given["privacy"]["mechanism"] = mechanism
    document, _ = circle.run()
    assert not document.get("seconds")
    assert b'id="times"' not in circle.files()["report.html"]


def test_nodes_are_also_a_table(circle: Circle) -> None:
    result = circle.run()[0]["result"]
    table = pq.read_table(circle.out / "nodes.parquet")
    assert table["id"].to_pylist() == result["ids"]
    assert table["degree"].to_pylist() == result["degrees"]["estimates"]
    assert table["triangles_standard_error"].to_pylist() == result["triangles"]["standard_errors"]


@pytest.mark.parametrize("largest", [(1 << 63) - 1, (1 << 64) - 1])
def test_ids_as_large_as_integers_are_stay_what_they_are(circle: Circle, largest: int) -> None:
    """They are written when all is drawn and paid for."""
    circle.names = np.arange(largest - NODES + 1, largest + 1, dtype=np.uint64)
    circle.settle()
    assert circle.run()[0]["result"]["ids"] == circle.names.tolist()
    assert pq.read_table(circle.out / "nodes.parquet")["id"].to_pylist() == circle.names.tolist()


@pytest.mark.parametrize("band", [8, 16, 40, 1024])
def test_tiles_of_any_size_and_links_in_any_order_give_the_same_statistics(
    circle: Circle, band: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "BAND", band)
    monkeypatch.setattr("udfs.links.PAIRS_A_TASK", 50)
    twice = np.concatenate([circle.links, circle.links[::-1, ::-1], circle.links[5:9]])
    circle.settle(files=5, noted=twice)
    result = circle.run()[0]["result"]
    np.testing.assert_allclose(result["degrees"]["estimates"], circle.matrix.sum(axis=1), atol=1e-6)
    np.testing.assert_allclose(result["triangles"]["estimates"], circle.triangles, atol=1e-6)


def test_rounded_laplace_noise_is_charged_what_it_gives_away(circle: Circle) -> None:
    """With two answers, noise of parameter 4 flips as often as randomized response at ln(2 e**2 - 1)."""
    circle.given |= {"privacy": {"epsilon": 4, "mechanism": "laplace"}, "release": {"graph": True}}
    document, _ = circle.run()
    spent = document["privacy"]["epsilon"]
    assert spent == document["privacy"]["spent_after"] == pytest.approx(math.log(2 * math.exp(2) - 1))
    assert float(circle.footer()["epsilon"]) == pytest.approx(spent)
    (charge,) = circle.ledger.charges("circle")
    assert float(charge.epsilon) == pytest.approx(spent)
    lie = document["result"]["lie"]
    assert (1 - lie) / lie == pytest.approx(math.exp(spent))


def test_standard_errors_are_as_large_as_the_noise(circle: Circle) -> None:
    circle.given["privacy"]["epsilon"] = 2
    result = circle.run()[0]["result"]
    lie = float(LinkResponse.of("randomized-response", Decimal(2)).support_if_false)
    variance = lie * (1 - lie) / (1 - 2 * lie) ** 2
    assert result["lie"] == lie
    assert result["degrees"]["standard_errors"] == pytest.approx([((NODES - 1) * variance) ** 0.5] * NODES)
    assert result["edges"]["standard_errors"] == pytest.approx((result["pairs"] * variance) ** 0.5)
    off = (np.array(result["degrees"]["estimates"]) - circle.matrix.sum(axis=1)) / result["degrees"][
        "standard_errors"
    ]
    assert np.abs(off).max() < 8.5  # binomial: one node in forty passes that with probability 1e-9
    assert np.abs(off).max() > 0.1


@pytest.mark.parametrize("kinds", [["edges"], ["degrees"], ["triangles", "edges"]])
def test_only_what_is_wanted_is_told(circle: Circle, kinds: list[str]) -> None:
    circle.given["statistics"] = [{"kind": kind} for kind in kinds]
    engine = Counting()
    result = circle.run(engine)[0]["result"]
    assert {kind for kind in ("edges", "degrees", "triangles") if kind in result} == set(kinds)
    assert ("common neighbours" in engine.tasks) == ("triangles" in kinds)


@pytest.mark.parametrize("mechanism", ["randomized-response", "discrete-laplace"])
@pytest.mark.parametrize("nodes", [0, 1, 2, 5])
def test_a_graph_without_links_and_of_hardly_any_nodes(tmp_path: Path, mechanism: str, nodes: int) -> None:
    circle = Circle(tmp_path)
    circle.links, circle.names = circle.links[:0], circle.names[:nodes]
    circle.given["privacy"] = {"epsilon": 60, "mechanism": mechanism}
    circle.settle(files=1)
    result = circle.run()[0]["result"]
    assert len(result["degrees"]["estimates"]) == nodes
    np.testing.assert_allclose(result["triangles"]["total"]["estimates"], 0, atol=3)


def test_ids_may_be_numbers_and_links_name_them_as_text_or_otherwise(circle: Circle) -> None:
    circle.know(pa.array(range(NODES), pa.int32()))
    circle.write(
        {"a": pa.array(circle.links[:, 0], pa.int64()), "b": pa.array(circle.links[:, 1], pa.uint8())}
    )
    result = circle.run()[0]["result"]
    assert result["ids"] == list(range(NODES))
    np.testing.assert_allclose(result["degrees"]["estimates"], circle.matrix.sum(axis=1), atol=1e-6)


def test_a_node_with_itself_is_dropped_where_that_is_wanted(circle: Circle) -> None:
    circle.given["population"]["self_loops"] = "drop"
    loops = np.repeat(np.arange(5)[:, None], 2, axis=1)
    circle.settle(noted=np.concatenate([circle.links, loops]))
    result = circle.run()[0]["result"]
    assert result["edges"]["estimates"] == pytest.approx(LINKS)
    assert result["self_loops"] == "drop"


def test_what_is_published_tells_nothing_of_how_many_links_there_are(tmp_path: Path) -> None:
    """Not by their number of row groups either: the manifest has one digest of all."""
    manifests = []
    for place, links in enumerate((20, LINKS)):
        circle = Circle(tmp_path / str(place))
        circle.settle(files=place + 2, noted=circle.links[:links])
        circle.run()
        manifests.append(json.loads((circle.out / "manifest.json").read_text()))
    shapes = [{label: sorted(units) for label, units in one["digests"].items()} for one in manifests]
    assert [list(one.values()) for one in shapes] == [[["links"]], [["links"]]]
