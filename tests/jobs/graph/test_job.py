"""The graph job, from Parquet to statistics and a rebuilt graph, in this process."""

from __future__ import annotations

import json
import math
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster.reduce import SerialEngine
from jobs.graph import local
from jobs.graph.local import WriteTiles
from jobs.graph.rebuild import RebuiltSize
from tests.jobs.graph.circle import LINKS, NODES, Circle
from tests.jobs.house import Unusable
from udfs.errors import ClusterError, SchemaError
from udfs.identity import IdColumn
from udfs.link_question import LinkQuestion, ids_to_bytes
from udfs.link_release import LinkRelease
from udfs.link_response import LinkResponse
from udfs.links import Tile
from udfs.streams import Secret


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


def test_a_result_that_is_in_place_is_not_drawn_again(circle: Circle) -> None:
    circle.given |= {"privacy": {"epsilon": 1}, "release": {"graph": True}}
    document, _ = circle.run()
    before = circle.files()
    assert circle.run(Unusable()) == (document, True)
    assert circle.files() == before
    assert circle.charges() == ["charged"]


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
    monkeypatch.setattr("cluster.population.PAIRS_A_TASK", 50)
    twice = np.concatenate([circle.links, circle.links[::-1, ::-1], circle.links[5:9]])
    circle.settle(files=5, noted=twice)
    result = circle.run()[0]["result"]
    np.testing.assert_allclose(result["degrees"]["estimates"], circle.matrix.sum(axis=1), atol=1e-6)
    np.testing.assert_allclose(result["triangles"]["estimates"], circle.triangles, atol=1e-6)


def test_reports_do_not_depend_on_how_rows_are_cut_ordered_or_repeated(tmp_path: Path) -> None:
    """Under one secret: the nodes and their links are all that counts."""
    secret, found = Secret.new(), []
    for place, (files, order, repeats) in enumerate(((1, 1, 1), (4, -1, 1), (2, 1, 3))):
        circle = Circle(tmp_path / str(place))
        circle.given["privacy"]["epsilon"] = 2
        circle.given["release"] = {"graph": True}
        circle.settle(files, np.tile(circle.links[::order], (repeats, 1)))
        circle.know(circle.names[:: -order or 1])
        document, _ = circle.run(secret=secret)
        found.append((document["result"], circle.released()))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("mechanism", ["randomized-response", "discrete-laplace"])
@pytest.mark.parametrize(("links", "epsilon"), [(LINKS - 1, 1), (LINKS, 1.01)])
def test_one_link_more_or_another_epsilon_draws_other_coins(
    tmp_path: Path, mechanism: str, links: int, epsilon: float
) -> None:
    """Under one secret the difference of two reports would otherwise be the link, or a second look at it."""
    secret, found = Secret.new(), []
    for place, (noted, spent) in enumerate(((LINKS, 1), (links, epsilon))):
        circle = Circle(tmp_path / str(place))
        circle.given["privacy"] = {"epsilon": spent, "mechanism": mechanism}
        circle.settle(noted=circle.links[:noted])
        degrees = circle.run(secret=secret)[0]["result"]["degrees"]
        found.append(np.array(degrees["estimates"]) / degrees["standard_errors"])
    assert np.count_nonzero(np.abs(found[0] - found[1]) > 0.05) > NODES / 2


@pytest.mark.parametrize("mechanism", ["randomized-response", "discrete-laplace"])
def test_nodes_of_other_ids_draw_other_coins_though_their_numbers_are_the_same(
    tmp_path: Path, mechanism: str
) -> None:
    secret, found = Secret.new(), []
    for letter in ("n", "m"):
        circle = Circle(tmp_path / letter)
        circle.names = np.char.replace(circle.names, "n", letter)
        circle.given["privacy"] = {"epsilon": 1, "mechanism": mechanism}
        circle.settle()
        found.append(np.array(circle.run(secret=secret)[0]["result"]["degrees"]["estimates"]))
    assert np.count_nonzero(np.abs(found[0] - found[1]) > 1e-9) > NODES / 2


def test_each_tile_draws_links_of_its_own_for_a_rebuilt_graph() -> None:
    """Of tiles with the same rows, and of tiles with the same columns."""
    tiles = [
        Tile(range(row, row + 8), range(column, column + 8)) for row, column in ((0, 8), (0, 16), (8, 16))
    ]
    bits = np.full((8, 1), 255, dtype=np.uint8)
    names = pa.array(range(24))
    question = LinkQuestion("a", "b", IdColumn("node", "integer"), lambda: ids_to_bytes(names), "numbers")
    reports = {tile: (lambda: bits, LinkRelease(kept=20, added=0)) for tile in tiles}
    table = WriteTiles(question, reports, bytes(32), "{}")
    places = []
    for tile in tiles:
        ends = np.array(list(table((tile,)).to_pydict().values())).T
        places.append(frozenset(map(tuple, (ends - (tile.rows.start, tile.columns.start)).tolist())))
    assert [len(one) for one in places] == [20, 20, 20]
    assert len(set(places)) == 3


@pytest.mark.parametrize("band", [8, 24, 1024])
def test_a_rebuilt_graph_is_the_graph_where_there_is_no_noise(
    circle: Circle, monkeypatch: pytest.MonkeyPatch, band: int
) -> None:
    monkeypatch.setattr(local, "BAND", band)
    circle.given["release"] = {"graph": True}
    result = circle.run()[0]["result"]
    pairs = sorted((str(circle.names[one]), str(circle.names[other])) for one, other in circle.links.tolist())
    assert circle.released() == pairs
    assert (result["graph"], result["released"]["links"]) == ("reports", LINKS)
    assert circle.footer() == {
        "version": 1,
        "graph": "rebuilt from reports on pairs",
        "mechanism": "randomized-response",
        "epsilon": "60",
        "flip": LinkResponse.of("randomized-response", Decimal(60)).flip,
        "denominator": "2**64",
        "links": LINKS,
        "nodes": NODES,
    }


@pytest.mark.parametrize("band", [8, 1024])
@pytest.mark.parametrize("mechanism", ["randomized-response", "laplace"])
def test_a_rebuilt_graph_has_as_many_links_as_are_estimated(
    circle: Circle, monkeypatch: pytest.MonkeyPatch, mechanism: str, band: int
) -> None:
    monkeypatch.setattr(local, "BAND", band)
    circle.given |= {"privacy": {"epsilon": 1.5, "mechanism": mechanism}, "release": {"graph": True}}
    result = circle.run()[0]["result"]
    released = circle.released()
    expected = min(max(round(result["edges"]["estimates"]), 0), result["pairs"])
    assert len(released) == len(set(released)) == result["released"]["links"] == expected
    assert all(one < other for one, other in released)


@pytest.mark.parametrize("reported", [0, 30, 200, 780])
def test_what_is_said_of_a_rebuilt_graph_is_its_size(
    circle: Circle, monkeypatch: pytest.MonkeyPatch, reported: int
) -> None:
    """Of reports that are given: without one, with some or all of 780 pairs."""
    pairs = np.stack(np.triu_indices(NODES, 1), axis=1)[:reported]
    monkeypatch.setattr(LinkResponse, "report", lambda _, links, tile, key: tile.to_bits(tile.select(pairs)))
    circle.given |= {"privacy": {"epsilon": 2}, "release": {"graph": True}}
    said = circle.run()[0]["result"]["released"]
    size = RebuiltSize(780, reported, LinkResponse.of("randomized-response", Decimal(2)).support_if_true)
    assert said == {"links": size.links, "asked": size.links, "reported": size.kept, "cut": size.cut}
    assert size.cut == (reported in (0, 30, 780))
    given = {tuple(circle.names[one].tolist()) for one in pairs}
    assert len(given & set(circle.released())) == size.kept


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
    engine = _Counting()
    result = circle.run(engine)[0]["result"]
    assert {kind for kind in ("edges", "degrees", "triangles") if kind in result} == set(kinds)
    assert ("common neighbours" in engine.stages) == ("triangles" in kinds)


class _Counting(SerialEngine):
    """An engine that remembers its stages, and breaks down where one of them begins."""

    def __init__(self, cut: str | None = None) -> None:
        super().__init__()
        self.stages: list[str] = []
        self._cut = cut

    def reduce(self, units: Any, chunk: Any, combine: Any, stage: str) -> Any:
        self.stages.append(stage)
        if stage == self._cut:
            raise ClusterError(stage, "the cluster must stay up", "it is gone")
        return super().reduce(units, chunk, combine, stage)


@pytest.mark.parametrize("stage", ["links", "common neighbours", "release"])
def test_a_run_that_was_cut_off_draws_the_same_reports_again(tmp_path: Path, stage: str) -> None:
    secret = Secret.new()
    results = []
    for place, cut in enumerate((None, stage)):
        circle = Circle(tmp_path / str(place))
        circle.given |= {"privacy": {"epsilon": 1}, "release": {"graph": True}}
        if cut is not None:
            with pytest.raises(ClusterError, match="it is gone"):
                circle.run(_Counting(cut), secret=secret)
        results.append((circle.run(secret=secret)[0]["result"], circle.released()))
        assert circle.charges() == ["charged"]
        assert not list(circle.out.glob(".canvass-*"))
    assert results[0] == results[1]


def test_links_that_change_under_an_interrupted_run_are_refused(circle: Circle) -> None:
    circle.given["privacy"]["epsilon"] = 1
    sizes = {path: path.stat() for path in circle.people.iterdir()}
    with pytest.raises(ClusterError):
        circle.run(_Counting("common neighbours"))
    path = next(iter(sizes))
    data = path.read_bytes()
    at = data.index(b"n0")
    path.write_bytes(data[: at + 2] + bytes([data[at + 2] ^ 1]) + data[at + 3 :])
    os.utime(path, ns=(sizes[path].st_atime_ns, sizes[path].st_mtime_ns))
    with pytest.raises((SchemaError, ClusterError)):
        circle.run()


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


@pytest.mark.parametrize("nodes", [0, 1, 2])
def test_a_rebuilt_graph_without_links_is_a_table_too(tmp_path: Path, nodes: int) -> None:
    circle = Circle(tmp_path)
    circle.links, circle.names = circle.links[:0], circle.names[:nodes]
    circle.given["release"] = {"graph": True}
    circle.settle(files=1)
    document, _ = circle.run()
    table = pq.read_table(circle.out / document["result"]["graph"])
    assert (table.num_rows, table.column_names) == (0, ["a", "b"])
    assert circle.run(Unusable()) == (document, True)


def test_other_links_or_other_nodes_are_drawn_and_charged_anew(circle: Circle) -> None:
    """Of either table alone: a stored result is of both."""
    first = circle.run()[0]["result"]
    assert circle.run()[1]
    circle.write({"a": circle.names[:2], "b": circle.names[2:4]})
    second, stored = circle.run()
    assert not stored
    assert second["result"]["edges"] != first["edges"]
    circle.know(np.append(circle.names, "n99"))
    third, stored = circle.run()
    assert not stored
    assert third["result"]["nodes"] == NODES + 1
    assert circle.charges() == ["charged"] * 3


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
