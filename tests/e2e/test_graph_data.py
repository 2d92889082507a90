"""The same links give the same graph, however files hold them; what is none is refused before work."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster.engine import DaskEngine
from cluster.session import ClusterOptions, open_engine
from tests.e2e.remote import Remote
from tests.jobs.graph.circle import NODES, Circle
from tests.jobs.house import Unusable
from udfs.errors import SchemaError, SpecError

WORDS = pa.dictionary(pa.int32(), pa.string())
TEXTS = [pa.string(), pa.large_string(), WORDS, pa.dictionary(pa.int8(), pa.large_string())]
SIGNED = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.dictionary(pa.int8(), pa.int64())]  # fmt: skip
NUMBERS = [*SIGNED, pa.uint64(), pa.dictionary(pa.int16(), pa.uint64())]


@pytest.fixture(scope="module")
def engine(remote: Remote) -> Iterator[DaskEngine]:
    """The remote cluster's."""
    with open_engine(ClusterOptions(scheduler=remote.address)) as engine:
        yield engine


class Held(Circle):
    """A circle whose nodes are numbers, which files hold as one likes; its job runs on a cluster."""

    def __init__(self, root: Path, engine: DaskEngine) -> None:
        super().__init__(root)
        self.engine: Any = engine
        self.numbers = np.arange(NODES) + 3

    def column(self, numbers: Any, kind: pa.DataType) -> pa.Array:
        """Return numbers in a type, as that type prints them."""
        values = kind.value_type if pa.types.is_dictionary(kind) else kind
        plain = pa.array(numbers, pa.int64()).cast(values)
        return plain.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else plain

    def link(self, *kinds: pa.DataType) -> None:
        """Deal the links out to files, one a type."""
        self.write(
            *(
                {"a": self.column(self.numbers[own[:, 0]], kind), "b": self.column(self.numbers[own[:, 1]], kind)}
                for own, kind in zip(np.array_split(self.links, len(kinds)), kinds, strict=True)
            )
        )  # fmt: skip

    def assert_found(self) -> None:
        """Check that the graph is the one that was planted."""
        result = self.run(self.engine)[0]["result"]
        order = [result["ids"].index(type(result["ids"][0])(number)) for number in self.numbers]
        degrees = np.array(result["degrees"]["estimates"])[order]
        np.testing.assert_allclose(degrees, self.matrix.sum(axis=1), atol=1e-6)

    def refusal(self, match: str, error: type[Exception] = SchemaError, engine: Any = None) -> None:
        """Check that the job is refused and leaves nothing."""
        before = sorted(self.out.rglob("*"))
        with pytest.raises(error, match=match):
            self.run(engine or self.engine)
        assert (sorted(self.out.rglob("*")), self.charges(), self.secrets()) == (before, [], [])


@pytest.fixture
def held(tmp_path: Path, engine: DaskEngine) -> Held:
    return Held(tmp_path, engine)


@pytest.mark.parametrize("nodes", [*TEXTS, *NUMBERS], ids=str)
def test_ends_and_nodes_of_every_type_are_the_same_nodes(held: Held, nodes: pa.DataType) -> None:
    held.know(held.column(held.numbers, nodes))
    text = nodes in TEXTS
    held.link(*(TEXTS + NUMBERS if text else NUMBERS))
    held.assert_found()


def test_nodes_of_types_that_differ_are_read_as_text(held: Held) -> None:
    held.know(held.column(held.numbers[:20], pa.int16()))
    pq.write_table(pa.table({"node": held.column(held.numbers[20:], WORDS)}), held.nodes / "more.parquet")
    held.link(*TEXTS, *NUMBERS)
    held.assert_found()


@pytest.mark.parametrize(
    ("nodes", "kind", "beyond"),
    [
        (pa.int64(), pa.uint64(), 2**63 + 5),
        (pa.int8(), pa.uint64(), 2**64 - 1),
        (pa.uint64(), pa.int64(), -1),
        (pa.uint64(), pa.int8(), -128),
        (pa.int8(), pa.int64(), 1000),
        (pa.string(), pa.uint64(), 2**64 - 1),
    ],
    ids=str,
)
@pytest.mark.parametrize("in_dictionary", [False, True])
def test_a_number_that_no_node_can_have_is_no_node(
    held: Held, nodes: pa.DataType, kind: pa.DataType, beyond: int, in_dictionary: bool
) -> None:
    held.know(held.column(held.numbers, nodes))
    ends = {"a": pa.array([beyond, 3], kind), "b": pa.array([4, 5], kind)}
    held.write({name: one.dictionary_encode() for name, one in ends.items()} if in_dictionary else ends)
    held.refusal("1 ends that are no nodes in column 'a'")


def placed(held: Held, *names: str, **options: Any) -> None:
    """Deal the links out to files of these names."""
    shutil.rmtree(held.people)
    held.know(held.numbers)
    for name, own in zip(names, np.array_split(held.links, len(names)), strict=True):
        (held.people / name).parent.mkdir(parents=True, exist_ok=True)
        ends = held.numbers[own]
        pq.write_table(pa.table({"a": ends[:, 0], "b": ends[:, 1]}), held.people / name, **options)


@pytest.mark.parametrize("glob", ["", "/**/*.parquet", "/year=202[34]/*.parquet"])
def test_links_lie_in_folders_as_hive_names_them(held: Held, glob: str) -> None:
    placed(held, "year=2023/0.parquet", "year=2023/1.parquet", "year=2024/0.parquet", row_group_size=7)
    shutil.copytree(held.people / "year=2023", held.people / ".year=2022")
    (held.people / "year=2024" / "_SUCCESS").touch()
    held.given["population"]["path"] += glob
    held.assert_found()


def test_a_part_of_a_folder_s_name_is_no_column(held: Held) -> None:
    placed(held, "a=3/0.parquet", "a=4/0.parquet")
    for path in held.people.rglob("*.parquet"):
        pq.write_table(pq.read_table(path, partitioning=None).select(["b"]), path)
    held.refusal(r"a=3/0\.parquet: must have one column 'a'", engine=Unusable())


def test_files_and_row_groups_without_links_are_nothing(held: Held) -> None:
    placed(held, "1.parquet", "3.parquet")
    nothing = pa.table({"a": pa.array([], pa.int32()), "b": pa.array([], WORDS)})
    nothing = nothing.set_column(1, "b", pa.array([], pa.uint8()))
    pq.write_table(nothing, held.people / "0.parquet")
    with pq.ParquetWriter(held.people / "2.parquet", nothing.schema) as writer:
        writer.write_table(nothing)
        writer.write_table(pa.table({"a": [3, 3], "b": [4, 5]}, schema=nothing.schema))
        writer.write_table(nothing)
    held.links = np.unique(np.concatenate([held.links, [[0, 1], [0, 2]]]), axis=0)
    held.assert_found()


@pytest.mark.parametrize("nodes", [0, NODES])
@pytest.mark.parametrize("kind", [pa.int64(), pa.string(), WORDS, pa.null()], ids=str)
def test_files_without_any_link_are_a_graph_of_none(held: Held, nodes: int, kind: pa.DataType) -> None:
    held.numbers, held.links = held.numbers[:nodes], held.links[:0]
    held.know(held.column(held.numbers, pa.string()))
    held.write(*({name: pa.array([], kind) for name in ("a", "b")} for _ in range(2)))
    result = held.run(held.engine)[0]["result"]
    np.testing.assert_allclose(result["degrees"]["estimates"], [0] * nodes, atol=1e-6)


def test_other_columns_may_differ_and_those_of_links_may_be_anywhere(held: Held) -> None:
    placed(held, "0.parquet", "1.parquet")
    table = pq.read_table(held.people / "1.parquet")
    since = pa.array([{"a": 1}] * table.num_rows)
    pq.write_table(
        pa.table({"since": since, "b": table["b"].cast(pa.string()), "é": since, "a": table["a"].cast(pa.uint8())}),
        held.people / "1.parquet",
    )  # fmt: skip
    held.know(held.column(held.numbers, WORDS))
    held.assert_found()


@pytest.mark.parametrize(
    ("table", "match"),
    [
        (pa.table({"a": [3]}), r"1\.parquet: must have one column 'b'; got columns a"),
        (pa.table([[3], [4], [5]], ["a", "b", "b"]), r"1\.parquet: must have one column 'b'; got 2 of that name"),
        (pa.table({"a": ["3"], "b": [4]}), r"1\.parquet, column 'a': must hold ids of nodes, as column 'node' does \(integer\); got type string"),
        (pa.table({"a": [3.0], "b": [4]}), r"1\.parquet, column 'a': must hold ids of nodes.*; got type double"),
        (pa.table({"a": [[3]], "b": [4]}), r"1\.parquet, column 'a': must hold ids of nodes.*; got type list"),
        (pa.table({"a": pa.nulls(2), "b": [4, 5]}), r"2 missing answers in column 'a' of .*1\.parquet"),
    ],
)  # fmt: skip
def test_one_file_that_holds_no_links_refuses_all(held: Held, table: pa.Table, match: str) -> None:
    placed(held, "0.parquet", "2.parquet")
    pq.write_table(table, held.people / "1.parquet")
    held.refusal(match, engine=None if "missing" in match else Unusable())


@pytest.mark.parametrize(
    "where", ["people", "people/year=2023/out", "people/0.parquet/..", "nodes", "nodes/out", "."]
)
def test_results_may_not_lie_among_links_or_nodes_nor_these_among_results(held: Held, where: str) -> None:
    placed(held, "0.parquet")
    held.given["output"]["path"] = str(held.people.parent / where)
    held.refusal(r"output\.path: must lie apart", SpecError, Unusable())


def test_results_may_lie_beside_a_file_or_a_pattern(held: Held) -> None:
    placed(held, "0.parquet")
    held.given["population"] |= {"path": f"{held.people}/*.parquet", "nodes": f"{held.nodes}/nodes.parquet"}
    held.given["output"]["path"] = str(held.people / "out")
    held.assert_found()


def same(held: Held) -> None:
    held.given["population"] |= {"nodes": str(held.people), "id": "a"}


def within(held: Held) -> None:
    shutil.copytree(held.nodes, held.people / "nodes")
    held.given["population"] |= {"nodes": str(held.people / "nodes")}


def around(held: Held) -> None:
    held.given["population"] |= {"nodes": str(held.people.parent), "id": "a"}


ELSEWHERE = "population.nodes: must be other files than the links'"


@pytest.mark.parametrize(
    ("place", "match", "error"),
    [
        (same, ELSEWHERE, SpecError),
        (within, r"nodes/nodes\.parquet: must have one column 'a'", SchemaError),
        (around, r"nodes/nodes\.parquet: must have one column 'a'", SchemaError),
    ],
)
def test_files_of_links_name_no_nodes(
    held: Held, place: Callable[[Held], None], match: str, error: type[Exception]
) -> None:
    """Which nodes there are is published: who has a link is not to be read off it."""
    placed(held, "0.parquet")
    held.given["population"]["ids"] = "trusted"
    place(held)
    held.refusal(match, error, Unusable())
