"""A refusal of links or nodes names file, column and a count of rows: no end of a link, and no id, in no log either."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.e2e.command import Canvass
from tests.e2e.remote import Remote
from tests.e2e.society import Society, write
from tests.e2e.test_messages import NUMBER, TELLTALES, TEXT, discreet

TELLING = f"somebody-{TEXT}"
"""Of a node that there is: nobody's business either, before there is a result."""


@pytest.fixture(autouse=True)
def nothing_in_the_cluster_s_logs(remote: Remote) -> Iterator[None]:
    yield
    assert not any(telltale in remote.logs() for telltale in (*TELLTALES, "somebody"))


@pytest.fixture(params=["embedded", "remote"])
def place(request: pytest.FixtureRequest, remote: Remote) -> list[str]:
    """The command's own cluster, and a remote one."""
    return ["--workers", "1"] if request.param == "embedded" else ["--scheduler", remote.address]


@pytest.fixture
def society(tmp_path: Path) -> Society:
    """A few nodes, some of which are linked; one has an id to look for."""
    society = Society(tmp_path / "society", nodes=30, links=20)
    write(society.root / "nodes", {"node": pa.array([*society.names, TELLING])})
    return society


def refused(one: Canvass, *parts: str, code: int = 2) -> None:
    """Check that a run is refused in one line, that tells this and of no id."""
    said = one.refusal(code=code)
    discreet(said, *parts)
    assert "somebody" not in said
    assert not any(path.is_file() and "jobs" in path.parts for path in one.state.rglob("*"))


def ends(*links: tuple[Any, Any], kind: pa.DataType | None = None) -> dict[str, Any]:
    """Return a table of links."""
    return {
        name: pa.array([link[side] for link in links], kind) for side, name in enumerate(("source", "target"))
    }


SOME, OTHER = "somebody-000001", "somebody-000002"
SPOILED: dict[str, tuple[dict[str, Any], str]] = {
    "unknown ends": (ends((SOME, TEXT), (TEXT, TEXT)), "1 ends that are no nodes in column 'source' of"),
    "unknown ends, by dictionary": (
        {name: column.dictionary_encode() for name, column in ends((SOME, TEXT), (OTHER, TEXT)).items()},
        "2 ends that are no nodes in column 'target' of",
    ),
    "a node with itself": (ends((TELLING, TELLING), (SOME, OTHER)), "1 links of a node with itself in column 'target' of"),
    "no end": (ends((None, TELLING), (TELLING, None), (None, SOME)), "2 missing answers in column 'source' of"),
    "numbers": (ends((NUMBER, NUMBER), (1, NUMBER)), "2 ends that are no nodes in column 'source' of"),
    "no text": (
        ends((b"\xff" + TEXT.encode(), SOME.encode()), kind=pa.binary()),
        "column 'source': must hold ids of nodes, as column 'node' does (text); got type binary",
    ),
    "text that is no text": (
        {name: column.cast(pa.string(), safe=False) for name, column in ends((b"\xff" + TEXT.encode(), SOME.encode()), kind=pa.binary()).items()},
        "1 ends that are no nodes in column 'source' of",
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", SPOILED)
def test_links_that_are_none_are_counted(tmp_path: Path, remote: Remote, society: Society, how: str) -> None:
    table, told = SPOILED[how]
    write(society.root / "links", *society.noted(), table)
    one = society.ask(tmp_path / "run", "--scheduler", remote.address)
    refused(one, told, f"{society.root}/links/3.parquet")


NODES: dict[str, tuple[Callable[[Society], Any], str]] = {
    "repeated": (lambda one: [TELLING, *one.names, TELLING], "2 rows whose id repeats in column 'node' of"),
    "missing": (lambda one: [None, TELLING, *one.names], "1 missing ids in column 'node' of"),
    "fewer": (lambda one: one.names[:0], "ends that are no nodes in column 'source' of"),
}


@pytest.mark.parametrize("how", NODES)
def test_nodes_that_are_not_in_order_are_counted(
    tmp_path: Path, place: list[str], society: Society, how: str
) -> None:
    nodes, told = NODES[how]
    write(society.root / "nodes", {"node": pa.array(nodes(society), pa.string())})
    refused(society.ask(tmp_path / "run", *place), told)


def test_a_corrupt_page_of_links_fails_the_job_without_a_word_of_what_is_in_it(
    tmp_path: Path, remote: Remote, society: Society
) -> None:
    write(society.root / "links", ends((TELLING, SOME)), use_dictionary=False, compression="none")
    file = society.root / "links" / "0.parquet"
    data = file.read_bytes()
    at = data.index(TELLING.encode())
    file.write_bytes(data[: at - 4] + b"\xff\xff\xff\x7f" + data[at:])
    one = society.ask(tmp_path / "run", "--scheduler", remote.address)
    refused(one, f"{file}: its rows must be readable", code=5)


def test_a_result_s_links_stand_in_no_log(tmp_path: Path, place: list[str], society: Society) -> None:
    one = society.ask(tmp_path / "run", *place)
    ended = one.run()
    assert ended.returncode == 0
    discreet(ended.stderr, "links: 1 task")
    assert "somebody" not in ended.stderr
    assert TELLING in (one.out / "result.json").read_text("utf-8")
    assert pq.read_table(one.out / "nodes.parquet")["id"].to_pylist()[-1] == TELLING
