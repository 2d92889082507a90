"""People and results on an object store: the same bytes as on a disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster.output import Output
from tests.cluster.object_store import serve_bucket
from tests.e2e.command import Canvass
from tests.e2e.society import Society

COLOURS = {
    "colour": {"categories": ["red", "green"], "epsilon": 1},
    "size": {"categories": [1, 2, 3, 4, 5], "epsilon": 1, "mechanism": "subset-selection"},
}


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve_bucket(tmp_path_factory.mktemp("moto")) as bucket:
        yield bucket


@pytest.fixture
def secret(tmp_path: Path) -> str:
    """A file with a secret, so that two runs draw the same."""
    (tmp_path / "secret").touch(0o600)
    (tmp_path / "secret").write_bytes(bytes(range(32)))
    return str(tmp_path / "secret")


@pytest.fixture
def canvass(tmp_path: Path, bucket: str, secret: str) -> Canvass:
    """The command, with people here and, the same, in the bucket."""
    people = tmp_path / "people"
    people.mkdir()
    for file in range(3):
        rows = range(file * 1000, file * 1000 + 1000)
        columns = {
            "id": [f"p{n}" for n in rows],
            "colour": ["red", "green"] * 500,
            "size": [n % 5 + 1 for n in rows],
        }
        pq.write_table(pa.table(columns), people / f"{file}.parquet")
    fsspec.filesystem("s3").put(f"{people}/", f"{bucket}/people/", recursive=True)
    canvass = Canvass(tmp_path / "run", "--secret-file", secret, "--workers", "1")
    canvass.ask(str(people), COLOURS, id="id")
    return canvass


def test_an_object_store_gives_and_takes_the_same_bytes(canvass: Canvass, bucket: str) -> None:
    here = canvass.document()["result"], canvass.reports()
    canvass.ask(f"{bucket}/people", COLOURS, id="id")
    canvass.tables["output"] = {"path": f"{bucket}/out"}
    ended = canvass.run()
    assert ended.returncode == 0, ended.stderr
    there = Output(f"{bucket}/out").store
    assert json.loads(there.read("result.json"))["result"] == here[0]
    assert {name: there.read(f"reports/{name}") for name in here[1]} == here[1]
    reports = [f"reports/{name}" for name in here[1]]
    assert there.names() == ["manifest.json", "report.html", *reports, "result.json"]

    again = canvass.run()
    assert "Stored result: nothing was drawn or charged." in again.stdout
    assert len(canvass.charges()) == 2 * len(COLOURS)

    canvass.tables["population"]["path"] = f"{bucket}/people/*.parquet"
    canvass.tables["output"] = {"path": f"{bucket}/refused"}
    canvass.ask(f"{bucket}/people/*.parquet", {"colour": {"categories": ["red", "blue"], "epsilon": 1}})
    ended = canvass.run("--quiet")
    assert ended.returncode == 2
    assert (
        "500 answers outside the categories in column 'colour' of s3://population/people/0.parquet"
        in ended.stderr
    )
    assert not Output(f"{bucket}/refused").store.exists()
    assert len(canvass.charges()) == 2 * len(COLOURS)


def test_links_and_a_rebuilt_graph_on_an_object_store_are_those_on_a_disk(
    tmp_path: Path, bucket: str, secret: str
) -> None:
    society = Society(tmp_path / "society", nodes=1500, links=5000)
    options = ("--secret-file", secret, "--workers", "1")
    one = society.ask(tmp_path / "here", *options)
    here = one.document()["result"]
    fsspec.filesystem("s3").put(f"{society.root}/", f"{bucket}/society/", recursive=True)
    far = society.ask(tmp_path / "there", *options, place=f"{bucket}/society")
    far.tables["output"] = {"path": f"{bucket}/graph"}
    ended = far.run()
    assert ended.returncode == 0, ended.stderr
    there = Output(f"{bucket}/graph").store
    assert json.loads(there.read("result.json"))["result"] == here
    assert {name: there.read(f"reports/{name}") for name in one.reports()} == one.reports()
    assert there.read("nodes.parquet") == (one.out / "nodes.parquet").read_bytes()
    assert "Stored result: nothing was drawn or charged." in far.run().stdout
