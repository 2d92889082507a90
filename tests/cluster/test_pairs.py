"""Pairs give the same reports whoever asks them, however tiles are grouped, and however often workers die."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cluster.engine import DaskEngine
from cluster.pairs import AskTiles
from cluster.population import ClusterPopulation
from cluster.reduce import Engine
from tests.cluster.deaths import die
from tests.cluster.populations import populate, write
from udfs.errors import SchemaError
from udfs.identity import IdColumn
from udfs.link_question import LinkQuestion, ids_to_bytes
from udfs.link_response import LinkResponse
from udfs.links import tiles

NODES, BAND = 60, 16
NAMES = pa.array([f"n{number:02d}" for number in range(NODES)])
LINKS = [
    (one, other) for one in range(NODES) for other in range(one + 1, NODES) if (7 * one + other) % 11 == 0
]
RESPONSE = LinkResponse.of("randomized-response", Decimal(3))


def population(
    root: Path, links: list[tuple[int, int]], files: int = 3, engine: Engine | None = None
) -> ClusterPopulation:
    tables = [
        {"a": [NAMES[one].as_py() for one, _ in own], "b": [NAMES[other].as_py() for _, other in own]}
        for own in (links[file::files] for file in range(files))
    ]
    nodes = populate(root, write(root / "nodes", [{"id": NAMES}]), "id", engine)
    write(root / "links", tables)
    return nodes.other(str(root / "links"), "population.path")


def ask(links: ClusterPopulation, name: str = "links", response: LinkResponse = RESPONSE) -> Any:
    """Return all bits of the reports, and their sums."""
    with links.room() as put:
        question = LinkQuestion("a", "b", IdColumn("id", "text"), put(ids_to_bytes(NAMES)), "sixty names")
        found = links.collect_pairs(question, response, tiles(NODES, BAND), NODES, name, put)
        assert found.tiles == tiles(NODES, BAND)
        bits = [load().tobytes() for load in found.bits]
    assert sum(found.ones) * 2 == found.degrees.sum()
    return bits, found.ones, found.degrees.tolist()


def test_reports_do_not_depend_on_who_asks_or_how_tiles_and_rows_are_cut(
    tmp_path: Path, engine: DaskEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = ask(population(tmp_path / "alone", LINKS))
    assert alone == ask(population(tmp_path / "cut", LINKS[::-1] + LINKS[:9], files=7))
    monkeypatch.setattr("udfs.links.PAIRS_A_TASK", 200)
    assert alone == ask(population(tmp_path / "small", LINKS))
    assert alone == ask(population(tmp_path / "spread", LINKS, engine=engine))


@dataclass(frozen=True)
class DyingTiles:
    """Asks tiles; the first time, for one task, its process dies when all is done but told."""

    chunk: Any
    grave: Path

    def __call__(self, own: Any) -> Any:
        found = self.chunk(own)
        if own[0].rows.start == BAND and not self.grave.exists():
            self.grave.touch()
            die()
        return found


@dataclass(frozen=True)
class Mortal:
    """An engine one of whose workers dies."""

    engine: Engine
    grave: Path

    def reduce(self, units: Any, chunk: Any, combine: Any, stage: str) -> Any:
        if isinstance(chunk, AskTiles):
            chunk = DyingTiles(chunk, self.grave)
        return self.engine.reduce(units, chunk, combine, stage)

    def say(self, text: str) -> None:
        self.engine.say(text)


def test_a_dead_worker_changes_no_report(
    tmp_path: Path, engine: DaskEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = ask(population(tmp_path / "alone", LINKS))
    monkeypatch.setattr("udfs.links.PAIRS_A_TASK", 200)
    mortal = Mortal(engine, tmp_path / "grave")
    assert alone == ask(population(tmp_path / "disturbed", LINKS, engine=mortal))
    assert mortal.grave.exists()


def test_rounds_mechanisms_and_links_draw_apart(tmp_path: Path) -> None:
    links = population(tmp_path / "all", LINKS)
    reports = [
        ask(links),
        ask(links, "another round"),
        ask(links, response=LinkResponse.of("laplace", Decimal("4.3"))),
        ask(population(tmp_path / "less", LINKS[1:])),
    ]
    first = [np.frombuffer(bits[0], dtype=np.uint8) for bits, _, _ in reports]
    for place, one in enumerate(first):
        for other in first[place + 1 :]:
            assert np.bitwise_count(one ^ other).sum() > 5


def test_links_that_change_after_they_were_looked_through_are_refused(tmp_path: Path) -> None:
    links = population(tmp_path, LINKS)
    ask(links)
    (label,) = links.digests
    links.digests[label] = dict.fromkeys(links.digests[label], "0" * 64)
    with pytest.raises(SchemaError, match="must hold the rows that were looked through"):
        ask(links)


def test_tables_are_written_whole_and_as_often_as_one_likes(tmp_path: Path, engine: DaskEngine) -> None:
    for place, own in enumerate((None, engine)):
        links = population(tmp_path / str(place), LINKS, engine=own)
        for _ in range(2):
            assert links.write([3, 0, 5], squares, "write") == 8
        folder = links.staging.folder("reports")
        assert sorted(links.files) == [f"part-{number:05d}.parquet" for number in range(3)]
        assert {name: folder.size(name) for name in links.files} == {
            name: one.size for name, one in links.files.items()
        }
        assert sorted(name for name in folder.names() if name.endswith(".json")) == [
            f"{name}.json" for name in sorted(links.files)
        ]


def squares(rows: int) -> pa.Table:
    return pa.table({"square": pa.array([number**2 for number in range(rows)], pa.int64())})
