"""A rebuilt graph, as the job writes it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.graph import local
from jobs.graph.local import WriteTiles
from jobs.graph.rebuild import RebuiltSize
from tests.jobs.graph.circle import LINKS, NODES, Circle
from tests.jobs.house import Unusable
from udfs.identity import IdColumn
from udfs.link_question import LinkQuestion, ids_to_bytes
from udfs.link_release import LinkRelease
from udfs.link_response import LinkResponse
from udfs.links import Tile


@pytest.fixture
def circle(tmp_path: Path) -> Circle:
    return Circle(tmp_path)


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
