from __future__ import annotations

import pyarrow as pa
import pytest

from udfs.categories import MISSING
from udfs.errors import SchemaError
from udfs.identity import IdColumn
from udfs.link_question import SELF_LOOPS, UNKNOWN, EndColumn, LinkQuestion, ids_to_bytes

NAMES = pa.array(["ada", "bo", "cy", "étienne"])


def question(ids: pa.Array = NAMES, kind: str = "text", self_loops: str = "refuse") -> LinkQuestion:
    data = ids_to_bytes(ids)
    return LinkQuestion("a", "b", IdColumn("name", kind), lambda: data, "digest", self_loops)  # type: ignore[arg-type]


def test_ends_are_numbers_of_nodes_the_lower_first() -> None:
    block = pa.record_batch({"a": ["cy", "ada", "étienne"], "b": ["ada", "bo", "bo"]})
    reading = question().read(block)
    assert reading.codes.tolist() == [[0, 2], [0, 1], [1, 3]]
    assert reading.faults == {}


@pytest.mark.parametrize(
    ("ids", "kind", "columns"),
    [
        (pa.array([2, 5, 7]), "integer", {"a": pa.array([5], pa.int8()), "b": pa.array([2], pa.uint16())}),
        (pa.array([2, 5, 7], pa.uint64()), "unsigned", {"a": pa.array([5]), "b": pa.array([2], pa.uint64())}),
        (pa.array(["2", "5", "7"]), "text", {"a": pa.array([5]), "b": pa.array(["2"])}),
        (
            NAMES,
            "text",
            {"a": pa.array(["bo"]).dictionary_encode(), "b": pa.array(["ada"], pa.large_string())},
        ),
    ],
)
def test_ids_of_any_type_are_found(ids: pa.Array, kind: str, columns: dict[str, pa.Array]) -> None:
    assert question(ids, kind).read(pa.record_batch(columns)).codes.tolist() == [[0, 1]]


def test_what_is_no_pair_of_nodes_is_counted_by_column() -> None:
    block = pa.record_batch({"a": ["di", None, "bo", "bo"], "b": ["di", "ada", "bo", None]})
    assert question().read(block).faults == {
        ("a", UNKNOWN): 1,
        ("b", UNKNOWN): 1,
        ("a", MISSING): 1,
        ("b", MISSING): 1,
        ("b", SELF_LOOPS): 1,
    }


@pytest.mark.parametrize(
    ("kind", "ids", "column"),
    [
        ("integer", pa.array([-1, 5]), pa.array([5, 2**64 - 1, 2**63], pa.uint64())),
        ("integer", pa.array([-1, 5]), pa.array([5, 2**64 - 1, 2**63], pa.uint64()).dictionary_encode()),
        ("unsigned", pa.array([5, 2**64 - 1], pa.uint64()), pa.array([5, -1, -(2**63)])),
        ("unsigned", pa.array([5, 255], pa.uint64()), pa.array([5, -1, -128], pa.int8())),
    ],
)
def test_ends_that_the_nodes_type_cannot_hold_are_no_nodes(
    kind: str, ids: pa.Array, column: pa.Array
) -> None:
    other = pa.array([one for one in ids.to_pylist() if one != 5] * 3, ids.type)
    assert question(ids, kind).read(pa.record_batch({"a": column, "b": other})).faults == {("a", UNKNOWN): 2}


def test_a_node_with_itself_is_dropped_where_that_is_wanted() -> None:
    block = pa.record_batch({"a": ["bo", "bo"], "b": ["bo", "cy"]})
    reading = question(self_loops="drop").read(block)
    assert (reading.codes.tolist(), reading.faults) == ([[1, 1], [1, 2]], {})


def test_no_links_are_read_too() -> None:
    block = pa.record_batch({"a": pa.array([], pa.string()), "b": pa.array([], pa.string())})
    assert question().read(block).codes.shape == (0, 2)


@pytest.mark.parametrize(
    ("kind", "arrow_type", "fits"),
    [
        ("text", pa.string(), True),
        ("text", pa.int32(), True),
        ("integer", pa.int8(), True),
        ("integer", pa.null(), True),
        ("integer", pa.string(), False),
        ("text", pa.float64(), False),
        ("unsigned", pa.list_(pa.int64()), False),
    ],
)
def test_columns_that_cannot_hold_ends_are_refused(kind: str, arrow_type: pa.DataType, fits: bool) -> None:
    column = EndColumn("a", IdColumn("name", kind))  # type: ignore[arg-type]
    if fits:
        column.check_type(arrow_type, "part-0")
        return
    with pytest.raises(SchemaError, match="part-0, column 'a': must hold ids of nodes"):
        column.check_type(arrow_type, "part-0")


def test_other_nodes_columns_or_rules_are_another_question() -> None:
    labels = {
        question().label,
        question(self_loops="drop").label,
        LinkQuestion("b", "a", IdColumn("name", "text"), lambda: ids_to_bytes(NAMES), "digest").label,
        LinkQuestion("a", "b", IdColumn("name", "text"), lambda: ids_to_bytes(NAMES), "other").label,
    }
    assert len(labels) == 4
