"""The values of a column that is no secret are found in all its files, in order, or refused."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cluster.engine import DaskEngine
from cluster.levels import MOST_LEVELS
from cluster.reduce import Engine, SerialEngine
from tests.cluster.populations import populate, write
from udfs.errors import SchemaError


def columns(files: list[Any], kind: pa.DataType | None = None) -> list[pa.Table]:
    """Return a file for each list of values."""
    return [pa.table({"region": pa.array(values, kind), "other": [0] * len(values)}) for values in files]


def levels(
    root: Path, tables: list[pa.Table], engine: Engine | None = None, **options: Any
) -> tuple[Any, ...]:
    """Return the levels that a population of these files has."""
    path = write(root / "data", tables, **options)
    return populate(root, path, engine=engine, rows_per_part=1).levels("region")


def test_levels_are_those_of_all_files_and_row_groups_in_order(tmp_path: Path, engine: DaskEngine) -> None:
    tables = columns([["west", "east"] * 3, ["south"], [], ["east", "north", "é"]])
    expected = ("east", "north", "south", "west", "é")
    assert levels(tmp_path / "alone", tables, row_group_size=2) == expected
    assert levels(tmp_path / "dask", tables, engine, row_group_size=2) == expected


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (pa.int8(), [3, -1, 3], (-1, 3)),
        (pa.uint64(), [2**64 - 1, 0], (0, 2**64 - 1)),
        (pa.float64(), [0.5, -2.0, 0.5], (-2.0, 0.5)),
        (pa.bool_(), [True, False, True], (False, True)),
        (pa.large_string(), ["b", "a"], ("a", "b")),
        (pa.dictionary(pa.int32(), pa.string()), ["b", "a", "b"], ("a", "b")),
        (pa.dictionary(pa.int8(), pa.int64()), [7, 5], (5, 7)),
    ],
    ids=str,
)
def test_levels_are_of_the_column_s_own_kind(
    tmp_path: Path, kind: pa.DataType, values: list[Any], expected: tuple[Any, ...]
) -> None:
    found = levels(tmp_path, columns([values, values[::-1]], kind))
    assert found == expected
    assert [type(one) for one in found] == [type(one) for one in expected]


def test_files_may_hold_one_kind_in_several_types(tmp_path: Path) -> None:
    tables = [*columns([[1, 2]], pa.int8()), *columns([[300]], pa.int64())]
    assert levels(tmp_path / "numbers", tables) == (1, 2, 300)
    texts = [*columns([["a"]], pa.dictionary(pa.int8(), pa.string())), *columns([["b"]], pa.large_string())]
    assert levels(tmp_path / "texts", texts) == ("a", "b")


@pytest.mark.parametrize("other", [["1"], [1.5], [2.0], [True], [datetime.date(2026, 1, 1)]], ids=str)
def test_values_of_several_kinds_are_refused_by_the_column_s_name(tmp_path: Path, other: list[Any]) -> None:
    with pytest.raises(SchemaError, match="must be of one type in all files") as caught:
        levels(tmp_path, columns([[1, 2], other]))
    assert caught.value.where == "column 'region'"


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.int64(), pa.dictionary(pa.int8(), pa.string()), pa.null()], ids=str
)
def test_missing_values_are_refused_by_file_column_and_count(tmp_path: Path, kind: pa.DataType) -> None:
    values = {pa.int64(): [1, None, None], pa.null(): [None, None]}.get(kind, ["a", None, None])
    path = tmp_path / "data"
    with pytest.raises(SchemaError, match="every row must be of one stratum or group") as caught:
        levels(
            tmp_path,
            [*columns([[value for value in values if value is not None]], kind), *columns([values], kind)],
        )
    assert caught.value.where == f"{path}/001.parquet, column 'region'"
    assert caught.value.got == "2 missing"


@pytest.mark.parametrize("together", [True, False], ids=["in one file", "over files"])
def test_so_many_levels_are_taken_and_one_more_is_refused(
    tmp_path: Path, engine: DaskEngine, together: bool
) -> None:
    values = np.random.default_rng().permutation(MOST_LEVELS + 1)
    files = [values] if together else np.array_split(values, 7)
    enough = [own[own != MOST_LEVELS] for own in files]
    for number, one in enumerate((SerialEngine(), engine)):
        assert levels(tmp_path / f"enough {number}", columns(enough), one) == tuple(range(MOST_LEVELS))
        with pytest.raises(SchemaError, match="must be 1000 at most; got 1001 or more") as caught:
            levels(tmp_path / f"too many {number}", columns(files), one)
        assert caught.value.where == "column 'region'"


def test_a_population_of_nobody_has_no_levels(tmp_path: Path) -> None:
    assert levels(tmp_path, columns([[], []], pa.string())) == ()


def test_no_refusal_says_a_value(tmp_path: Path) -> None:
    for number, tables in enumerate((columns([["SECRET", None]]), columns([["SECRET"], [1]]))):
        with pytest.raises(SchemaError) as caught:
            levels(tmp_path / str(number), tables)
        assert "SECRET" not in str(caught.value)
