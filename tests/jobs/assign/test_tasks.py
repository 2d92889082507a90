"""Tasks are read whole from columns of any fitting type, and what is wrong with them is named by column and count."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from jobs.assign.tasks import TaskColumns
from udfs.errors import SchemaError
from udfs.items import pack_item

COLUMNS = TaskColumns("task", "payload", ("python", "design"), (0.0, 1.0))
TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
BINARIES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2)]
INTEGERS = [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]


def rows(**given):
    """Return two tasks, with some columns of other contents."""
    table = {
        "task": ["T-1", "T-2"],
        "payload": [b"a\0", b"bc"],
        "python_low": [0.25, 0.0],
        "python_high": [0.5, 1.0],
        "design_low": [0.75, 0.0],
        "design_high": [0.75, 1.0],
    }
    return pa.record_batch(table | given)


def read(*batches):
    return COLUMNS.read([(f"part-{number}", batch) for number, batch in enumerate(batches)])


class Files:
    """Footers alone: what files say of their columns' types."""

    def __init__(self, *schemas):
        self.schemas = schemas

    def columns(self, name):
        for number, schema in enumerate(self.schemas):
            yield f"part-{number}", schema.field(name).type


def test_tasks_are_read_in_the_order_in_which_they_lie():
    tasks = read(rows(), rows(task=["T-3", "T-4"], payload=[b"", b"\0"]))
    assert tasks.at(range(4)) == [("T-1", b"a\0"), ("T-2", b"bc"), ("T-3", b""), ("T-4", b"\0")]
    assert tasks.at([3, 0]) == [("T-4", b"\0"), ("T-1", b"a\0")]
    assert tasks.at([]) == []
    assert len(tasks) == 4
    assert tasks.low.tolist() == [[0.25, 0.75], [0, 0]] * 2
    assert tasks.high.tolist() == [[0.5, 0.75], [1, 1]] * 2
    assert (tasks.low.dtype, tasks.low.shape) == (np.float64, (4, 2))


def test_what_a_task_takes_in_an_item_is_known_before_it_is_packed():
    tasks = read(rows(task=["é", "a longer name"], payload=[b"", b"12345"]))
    taken = [len(pack_item(tasks.at([place]))) - len(pack_item([])) for place in range(2)]
    assert tasks.item_bytes.tolist() == taken
    assert tasks.payload_bytes.tolist() == [0, 5]
    numbered = read(rows(task=[-7, 1234]))
    assert len(pack_item(numbered.at([0, 1]))) == len(pack_item([])) + numbered.item_bytes.sum()


@pytest.mark.parametrize("arrow_type", [*BINARIES, *TEXTS], ids=str)
def test_payloads_of_any_type_are_read_as_their_bytes(arrow_type):
    batch = rows(payload=pa.array(["ab", "c\0"], pa.string()).cast(pa.binary()).cast(arrow_type))
    COLUMNS.check_types(Files(batch.schema))
    assert [payload for _, payload in read(batch).at([0, 1])] == [b"ab", b"c\0"]


@pytest.mark.parametrize("arrow_type", INTEGERS, ids=str)
def test_ids_may_be_integers(arrow_type):
    batch = rows(task=pa.array([7, 100], arrow_type))
    COLUMNS.check_types(Files(batch.schema))
    assert [name for name, _ in read(batch).at([0, 1])] == [7, 100]


@pytest.mark.parametrize("arrow_type", TEXTS, ids=str)
def test_ids_may_be_text(arrow_type):
    batch = rows(task=pa.array(["7", "8"], arrow_type))
    COLUMNS.check_types(Files(batch.schema))
    assert [name for name, _ in read(batch).at([0, 1])] == ["7", "8"]


def test_ids_that_are_integers_in_one_file_and_text_in_another_are_text():
    tasks = read(rows(task=[7, 8]), rows(task=["T-1", "T-2"]))
    assert [name for name, _ in tasks.at(range(4))] == ["7", "8", "T-1", "T-2"]
    with pytest.raises(SchemaError, match="1 repeated ids in column 'task' of all files"):
        read(rows(task=[7, 8]), rows(task=["7", "T-2"]))


def test_ids_beyond_63_bits_are_read():
    assert read(rows(task=pa.array([2**64 - 1, 0], pa.uint64()))).at([0])[0][0] == 2**64 - 1


@pytest.mark.parametrize(
    ("column", "arrow_type", "must"),
    [
        ("task", pa.float64(), "must hold integers or text; got type double"),
        ("task", pa.binary(), "must hold integers or text; got type binary"),
        ("payload", pa.int64(), "must hold binary values or text; got type int64"),
        ("payload", pa.list_(pa.uint8()), "must hold binary values or text"),
        ("payload", pa.dictionary(pa.int8(), pa.float64()), "must hold binary values or text"),
        ("design_low", pa.string(), "must hold numbers; got type string"),
        ("python_high", pa.bool_(), "must hold numbers; got type bool"),
    ],
)
def test_columns_that_cannot_hold_tasks_are_refused_by_their_types(column, arrow_type, must):
    schema = rows().schema
    other = schema.set(schema.get_field_index(column), pa.field(column, arrow_type))
    with pytest.raises(SchemaError) as caught:
        COLUMNS.check_types(Files(schema, other))
    assert str(caught.value).startswith(f"part-1, column {column!r}: {must}")
    COLUMNS.check_types(Files(schema))


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"task": ["T-1", None]}, "1 missing values in column 'task' of part-0"),
        ({"task": pa.array([None, None], pa.string())}, "2 missing values in column 'task' of part-0"),
        ({"payload": [None, b"a"]}, "1 missing values in column 'payload' of part-0"),
        ({"task": ["T-1", "T-1"]}, "1 repeated ids in column 'task' of all files"),
        (
            {"python_low": [float("nan"), 0.1]},
            "1 values that are not numbers in column 'python_low' of part-0",
        ),
        ({"design_high": [0.9, 1.5]}, "1 values outside the domain in column 'design_high' of part-0"),
        (
            {"design_low": [0.1, float("-inf")]},
            "1 values outside the domain in column 'design_low' of part-0",
        ),
        ({"python_low": [0.6, 0.2]}, "1 lower bounds above the upper ones in column 'python_low' of part-0"),
    ],
)
def test_tasks_that_are_none_are_counted_by_column_and_what_is_wrong(given, fault):
    with pytest.raises(SchemaError) as caught:
        read(rows(**given))
    assert caught.value.got == fault
    assert str(caught.value).startswith(
        "tasks: every task needs an id of its own, a payload, and bounds within"
    )


def test_an_id_that_stands_in_two_files_is_found():
    with pytest.raises(SchemaError, match="2 repeated ids in column 'task' of all files"):
        read(rows(), rows())


def test_faults_are_named_by_file_and_not_without_end():
    wrong = rows(task=pa.array([None, None], pa.string()))
    with pytest.raises(SchemaError) as caught:
        read(*[wrong] * 12)
    assert caught.value.got.count("missing values") == 10
    assert caught.value.got.endswith("; and 2 more of the kind")
    assert "T-1" not in str(caught.value)


def test_a_bound_that_is_missing_is_the_domains_end():
    tasks = read(rows(python_low=[None, 0.1], design_high=pa.array([None, None], pa.float64())))
    assert tasks.low.tolist() == [[0, 0.75], [0.1, 0]]
    assert tasks.high.tolist() == [[0.5, 1], [1, 1]]
    other = TaskColumns("task", "payload", ("python",), (-3.0, 7.0))
    empty = other.read([("part-0", rows(python_low=[None, 0.0], python_high=[None, 1.0]))])
    assert (empty.low[0].tolist(), empty.high[0].tolist()) == ([-3], [7])


def test_bounds_are_the_numbers_that_people_write_as_skills_are():
    """A box from .29 includes the skill .29, however either is stored."""
    decimals = pa.array([Decimal("0.29"), Decimal("0.07")], pa.decimal128(5, 2))
    tasks = read(rows(python_low=pa.array([0.29, 0.07], pa.float32()), python_high=decimals))
    assert tasks.low[:, 0].tolist() == tasks.high[:, 0].tolist() == [0.29, 0.07]


def test_bounds_may_be_integers_and_have_no_sign_at_zero():
    tasks = read(rows(python_low=pa.array([0, 1], pa.int8()), python_high=[1.0, 1.0], design_low=[-0.0, 0.0]))
    assert tasks.low.tolist() == [[0, 0], [1, 0]]
    assert not np.signbit(tasks.low).any()


def test_other_columns_are_not_looked_at():
    more = pa.record_batch(
        {name: rows().column(name) for name in rows().schema.names} | {"sql_low": [9.0, None]}
    )
    assert len(read(more)) == 2
    assert COLUMNS.names == ("task", "payload", "python_low", "design_low", "python_high", "design_high")


def test_there_may_be_no_tasks():
    for tasks in (read(), read(rows().slice(0, 0))):
        assert (len(tasks), tasks.low.shape, tasks.high.shape) == (0, (0, 2), (0, 2))
        assert tasks.item_bytes.tolist() == []
        assert tasks.item_bytes.dtype == np.int64


def test_tasks_are_read_the_same_however_they_are_cut():
    whole = rows()
    tasks = read(whole.slice(0, 1), whole.slice(1, 0), whole.slice(1))
    assert tasks.at([0, 1]) == read(whole).at([0, 1])
    assert tasks.low.tolist() == read(whole).low.tolist()
