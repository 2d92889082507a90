"""The same answers give the same result, however files hold them; data that cannot be asked are refused."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster.backend import Backend
from cluster.engine import DaskEngine
from cluster.session import ClusterOptions, open_engine
from jobs.catalogue import load
from jobs.ledger import Ledger
from jobs.lifecycle import run_job
from tests.e2e.command import Canvass
from tests.e2e.remote import Remote
from tests.vectors import load as load_vectors
from udfs.errors import SchemaError

Survey = Callable[..., dict[str, Any]]
CASES = {case["id"]: case for case in load_vectors("survey_field_cases")}
TEXT, WORDS = pa.string(), pa.dictionary(pa.int32(), pa.string())


@pytest.fixture(scope="module")
def engine(remote: Remote) -> Iterator[DaskEngine]:
    """The remote cluster's."""
    with open_engine(ClusterOptions(scheduler=remote.address)) as engine:
        yield engine


@pytest.fixture
def survey(tmp_path: Path, engine: DaskEngine) -> Survey:
    """Ask one question of some files without noise; return the attribute's part of the result."""

    def ask(
        tables: Sequence[pa.Table], categories: Sequence[Any], column: str = "answer", **given: Any
    ) -> dict[str, Any]:
        shutil.rmtree(tmp_path / "data", ignore_errors=True)
        write(tmp_path / "data", tables)
        table = {"categories": list(categories), "epsilon": 1000, "missing": "category"} | given
        id_column = {"id": table.pop("id")} if "id" in table else {}
        job, spec = load(
            {
                "job": "survey",
                "population": {"path": str(tmp_path / "data")} | id_column,
                "output": {"path": str(tmp_path / "out")},
                "attributes": {column: table},
            }
        )
        ledger = Ledger.at(None, tmp_path / "state")
        backend = Backend(lambda: contextlib.nullcontext(engine))
        found: dict[str, Any] = run_job(job, spec, backend, ledger, tmp_path / "state")[0]["result"]
        return found["attributes"][column]

    return ask


def write(folder: Path, tables: Sequence[pa.Table]) -> None:
    """Write a file a table."""
    folder.mkdir(parents=True)
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"{number}.parquet")


def answers(values: Sequence[Any], arrow_type: pa.DataType = TEXT) -> pa.Table:
    """Return a table of answers in a type."""
    if pa.types.is_dictionary(arrow_type):
        return pa.table({"answer": pa.array(values, arrow_type.value_type).dictionary_encode()})
    return pa.table({"answer": pa.array(values, arrow_type)})


def parts_of(case: dict[str, Any]) -> list[pa.Table]:
    """Return the files of a field case."""
    types = {"string": TEXT, "dictionary": WORDS, "int64": pa.int64(), "double": pa.float64()}
    return [
        answers(values, types[column.partition(":")[2]])
        for part in case["parts"]
        for column, values in part.items()
    ]


def merged(tables: Sequence[pa.Table]) -> pa.Table:
    """Return files as one, as text where they do not agree."""
    columns = [one["answer"].combine_chunks() for one in tables]
    plain = [one.dictionary_decode() if pa.types.is_dictionary(one.type) else one for one in columns]
    if len({one.type for one in plain}) > 1:
        numbers = all(pa.types.is_integer(one.type) or pa.types.is_floating(one.type) for one in plain)
        plain = [one.cast(pa.float64() if numbers else TEXT) for one in plain]
    return pa.table({"answer": pa.concat_arrays(plain)})


FIELD_CASES = {
    "lists of categories that differ": (CASES["D01"]["input"], ["no", "yes", "maybe"], [1, 4, 1, 0]),
    "integers, then floats with a null": (CASES["D03"]["input"], [1, 2, 3], [2, 2, 1, 1]),
    "text, then a dictionary": (CASES["D05"]["input"]["A"], ["r", "g", "b"], [2, 1, 1, 0]),
    "integers, then text": (CASES["D05"]["input"]["B"], ["1", "2"], [2, 2, 0]),
    "a file without rows": ({"parts": [{"answer:string": part} for part in (["x", "y"], [], ["x"])]}, ["x", "y"], [2, 1, 0]),
}  # fmt: skip


@pytest.mark.parametrize("case", FIELD_CASES)
def test_files_in_any_order_and_merged_into_one_give_the_same_counts(survey: Survey, case: str) -> None:
    given, categories, counts = FIELD_CASES[case]
    tables = parts_of(given)
    for arranged in (tables, tables[::-1], [merged(tables)]):
        assert survey(arranged, categories)["reports"] == counts


def test_nobody_at_all_is_a_result_without_numbers(survey: Survey) -> None:
    found = survey([answers([])], ["x", "y"])
    assert found["reports"] == [0, 0, 0]
    assert "NaN" not in json.dumps(found)
    assert found["proportions"] in ([None, None], [])


VALUES = [1, 2, 2, None, 3, 1, 2]
TYPES = [
    pa.int8(), pa.uint8(), pa.int16(), pa.int64(), pa.uint64(), pa.float32(), pa.float64(), TEXT,
    pa.large_string(), WORDS, pa.dictionary(pa.int8(), pa.int64()), pa.dictionary(pa.int8(), pa.large_string()),
]  # fmt: skip


def in_type(arrow_type: pa.DataType) -> pa.Table:
    """Return the values in a type, as that type prints them."""
    values = arrow_type.value_type if pa.types.is_dictionary(arrow_type) else arrow_type
    if pa.types.is_string(values) or pa.types.is_large_string(values):
        return answers([None if value is None else str(value) for value in VALUES], arrow_type)
    return answers(VALUES, arrow_type)


@pytest.mark.parametrize("categories", [[1, 2, 3], ["1", "2", "3"]])
def test_files_of_every_type_count_alike(survey: Survey, categories: list[Any]) -> None:
    tables = [in_type(arrow_type) for arrow_type in TYPES]
    assert survey(tables, categories)["reports"] == [len(TYPES) * count for count in (2, 3, 1, 1)]
    nulls = pa.table({"answer": pa.nulls(5)})
    everything = [nulls, *tables[::-1], answers([None] * 3, pa.float64()), answers([], pa.int8())]
    counts = [2 * len(TYPES), 3 * len(TYPES), len(TYPES), len(TYPES) + 8]
    assert survey(everything, categories)["reports"] == counts


def test_truth_values_count_as_truth_values_and_as_text(survey: Survey) -> None:
    tables = [answers([True, None, False, True], pa.bool_()), answers(["true", "false"])]
    assert survey(tables, [False, True])["reports"] == [2, 3, 1]


def test_floats_that_are_no_numbers_are_missing(survey: Survey) -> None:
    tables = [answers([1.0, float("nan"), None, 2.5], pa.float64())]
    assert survey(tables, [1, 2.5])["reports"] == [1, 1, 2]


def test_a_random_answer_stands_for_a_missing_one(survey: Survey) -> None:
    counts = survey([answers([None] * 600 + ["a"] * 200)], ["a", "b"], missing="random")["reports"]
    assert sum(counts) == 800
    assert 100 < counts[1] < 500  # of 600 coins: 16 standard deviations


@pytest.mark.parametrize("column", ["a.b", "how old are you?", "größe", "名前", "a'b\"c", "s.x"])
def test_a_column_may_be_called_anything(survey: Survey, tmp_path: Path, column: str) -> None:
    id_column = f"{column}.id"
    table = pa.table(
        {
            "s": pa.array([{"x": 7}, {"x": 8}, {"x": 9}]),
            "a": ["x", "y", "z"],
            id_column: [3, 1, 2],
            column: ["yes", "no", "yes"],
        }
    )
    assert survey([table], ["yes", "no"], column, id=id_column)["reports"] == [2, 1, 0]
    reports = pq.read_table(tmp_path / "out" / "reports" / "part-00000.parquet", partitioning=None)
    assert reports.to_pydict() == {id_column: [3, 1, 2], column: ["yes", "no", "yes"]}


@pytest.mark.parametrize(("values", "what"), [(["x", "z"], "answers outside the categories"), (["x", None], "missing answers")])  # fmt: skip
def test_one_bad_answer_among_many_files_refuses_all(
    survey: Survey, tmp_path: Path, values: list[Any], what: str
) -> None:
    tables = [answers(["x", "y"] * 50)] * 4 + [answers(values)]
    with pytest.raises(SchemaError, match=rf"1 {what} in column 'answer' of .*/4\.parquet"):
        survey(tables, ["x", "y"], missing="none")
    assert not (tmp_path / "out").exists()


@pytest.fixture
def people(sent: Canvass) -> Canvass:
    """The command, with files in folders, some of them hidden, and files that are none."""
    for name, rows in {"a.parquet": 3, "deep/er/b.parquet": 2, "_c.parquet": 7, ".d/e.parquet": 7}.items():
        (sent.root / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(answers(["yes"] * rows), sent.root / "data" / name)
    (sent.root / "data" / "notes.txt").write_text("not Parquet")
    (sent.root / "empty").mkdir()
    return sent


YES = {"answer": {"categories": ["yes", "no"], "epsilon": 1000}}


@pytest.mark.parametrize(("path", "rows"), [("data", 5), ("data/a.parquet", 3), ("data/**/*.parquet", 5)])
def test_a_population_is_a_file_a_folder_or_a_pattern(people: Canvass, path: str, rows: int) -> None:
    people.ask(path, YES)
    document = people.document()
    assert document["population"]["rows"] == rows
    assert document["result"]["attributes"]["answer"]["reports"] == [rows, 0]


@pytest.mark.parametrize("path", ["empty", "data/*.csv", "elsewhere"])
def test_a_path_without_a_population_is_refused(people: Canvass, path: str) -> None:
    people.ask(path, YES)
    assert (
        f"population.path: must name a Parquet file, or a folder or glob of them; got {path}"
        in people.refusal()
    )


def test_a_file_that_is_no_parquet_is_refused_by_its_name(people: Canvass) -> None:
    (people.root / "data" / "z.parquet").write_text("no Parquet")
    people.ask("data", YES)
    assert f"{people.root}/data/z.parquet: must be a readable Parquet file" in people.refusal()
