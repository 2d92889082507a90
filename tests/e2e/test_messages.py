"""A refusal names file, column and a count of rows, and never an answer: not in a message, nor in any log."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.e2e.command import Canvass
from tests.e2e.remote import Remote

TEXT, NUMBER = "SECRETANSWER42", 421337421337
TELLTALES = (TEXT, str(NUMBER), "421_337")
COLOURS = {"colour": {"categories": ["red", "green"], "epsilon": 1}}
NUMBERS = {"colour": {"categories": [1, 2], "epsilon": 1}}
TEXTS, INTEGERS = ["red", TEXT, "green", TEXT], [1, NUMBER, 2, 1]


@pytest.fixture(autouse=True)
def nothing_in_the_cluster_s_logs(remote: Remote) -> Iterator[None]:
    yield
    assert not any(telltale in remote.logs() for telltale in TELLTALES)


@pytest.fixture(params=["embedded", "remote"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path, remote: Remote) -> Canvass:
    """The command on a cluster of its own, and on a remote one."""
    own = ["--workers", "1"] if request.param == "embedded" else ["--scheduler", remote.address]
    return Canvass(tmp_path / "run", *own)


def write(canvass: Canvass, column: Any, ids: Any = None, **options: Any) -> Path:
    """Write a file of answers beside one that is as it must be."""
    folder = canvass.root / "data"
    folder.mkdir()
    columns = {"colour": column} if ids is None else {"id": ids, "colour": column}
    pq.write_table(pa.table(columns), folder / "bad.parquet", **options)
    return folder / "bad.parquet"


def discreet(said: str, *parts: str) -> None:
    """Check that something was said, and that no answer was."""
    assert not any(telltale in said for telltale in TELLTALES)
    for part in parts:
        assert part in said


@pytest.mark.parametrize(
    ("column", "attributes", "rows"),
    [
        (pa.array(TEXTS), COLOURS, 2),
        (pa.array(TEXTS).dictionary_encode(), COLOURS, 2),
        (pa.array(TEXTS, pa.large_string()), COLOURS, 2),
        (pa.array(INTEGERS), NUMBERS, 1),
        (pa.array(INTEGERS, pa.float64()), NUMBERS, 1),
    ],
)
def test_an_answer_outside_the_categories_is_counted(
    sent: Canvass, column: pa.Array, attributes: dict[str, Any], rows: int
) -> None:
    file = write(sent, column)
    sent.ask("data", attributes)
    found = f"{rows} answers outside the categories in column 'colour' of {file}."
    discreet(sent.refusal(), found)


def test_so_it_is_where_workers_are_the_command_s_own(anywhere: Canvass) -> None:
    file = write(anywhere, TEXTS, ["a", "c", TEXT, "b"])
    anywhere.ask("data", COLOURS, id="id")
    discreet(anywhere.run().stderr, f"2 answers outside the categories in column 'colour' of {file}")


def test_a_missing_id_is_counted(sent: Canvass) -> None:
    file = write(sent, ["red"] * 3, ["a", None, TEXT])
    sent.ask("data", COLOURS, id="id")
    discreet(sent.refusal(), f"1 missing ids in column 'id' of {file}.")


@pytest.mark.parametrize(
    "column",
    [
        pa.array([{TEXT.lower(): TEXT}] * 3),
        pa.array([[TEXT]] * 3),
        pa.array([datetime.datetime(4213, 3, 7)] * 3),
        pa.array([decimal.Decimal(NUMBER)] * 3),
        pa.array([TEXT.encode()] * 3),
        pa.array([NUMBER] * 3).cast(pa.duration("s")),
        pa.array([NUMBER] * 3),
    ],
    ids=lambda column: str(column.type.id),
)
def test_a_column_of_another_type_is_named_with_its_type(sent: Canvass, column: pa.Array) -> None:
    file = write(sent, column)
    sent.ask("data", COLOURS)
    stored = pq.read_schema(file).field("colour").type
    discreet(
        sent.refusal(), f"{file}, column 'colour': must hold categories such as 'red'; got type {stored}."
    )


@pytest.mark.parametrize("kind", ["text", "dictionary", "integer"])
def test_a_repeated_id_is_counted(sent: Canvass, kind: str) -> None:
    ids = pa.array([NUMBER, 1, 2, NUMBER] if kind == "integer" else [TEXT, "a", "b", TEXT])
    file = write(sent, ["red"] * 4, ids.dictionary_encode() if kind == "dictionary" else ids)
    sent.ask("data", COLOURS, id="id")
    discreet(sent.refusal(), f"2 rows whose id repeats in column 'id' of {file}.")


@pytest.mark.parametrize("id_type", [pa.float64(), pa.list_(pa.int64()), pa.timestamp("s")])
def test_a_column_that_can_hold_no_ids_is_named_with_its_type(sent: Canvass, id_type: pa.DataType) -> None:
    value = [NUMBER] if pa.types.is_list(id_type) else NUMBER
    file = write(sent, ["red"] * 2, pa.array([value] * 2).cast(id_type))
    stored = pq.read_schema(file).field("id").type
    sent.ask("data", COLOURS, id="id")
    discreet(sent.refusal(), f"column 'id': ids must be text or integers; got {stored}")


CORRUPTIONS = {
    "length of a text": lambda data, at: data[: at - 4] + b"\xff\xff\xff\x7f" + data[at:],
    "header of a page": lambda data, at: data[:4] + b"\xff" * 12 + data[16:],
}


@pytest.mark.parametrize("how", CORRUPTIONS)
def test_a_corrupt_page_fails_the_job_without_a_word_of_what_is_in_it(anywhere: Canvass, how: str) -> None:
    file = write(anywhere, TEXTS, use_dictionary=False, compression="none")
    data = file.read_bytes()
    file.write_bytes(CORRUPTIONS[how](data, data.index(TEXT.encode())))
    anywhere.ask("data", COLOURS)
    ended = anywhere.run("--quiet")
    assert ended.returncode in (2, 5)
    assert len(ended.stderr.splitlines()) == 1
    discreet(ended.stdout + ended.stderr, f"canvass: {file}: its rows must be readable")


def test_text_that_is_no_text_is_an_answer_outside_the_categories(sent: Canvass) -> None:
    file = write(sent, pa.array([b"\xff" + TEXT.encode(), b"red"]).cast(pa.string(), safe=False))
    sent.ask("data", COLOURS)
    discreet(sent.refusal(), f"1 answers outside the categories in column 'colour' of {file}.")


def test_a_result_shows_no_answer_and_no_id(anywhere: Canvass) -> None:
    write(anywhere, ["red", TEXT, None], [TEXT, "a", "b"])
    lenient = {"colour": COLOURS["colour"] | {"missing": "category", "undeclared": "missing"}}
    anywhere.ask("data", lenient, id="id")
    ended = anywhere.run()
    assert ended.returncode == 0
    shown = (anywhere.out / "result.json").read_text() + (anywhere.out / "manifest.json").read_text()
    discreet(ended.stdout + ended.stderr + shown, '"rows": 3')
