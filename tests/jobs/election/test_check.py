"""Data that do not fit an election, refused by their footers before anything is read or charged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.jobs.election.booths import Booth
from tests.jobs.house import Unusable
from udfs.errors import SchemaError, SpecError

pytestmark = pytest.mark.usefixtures("small_parts", "blank_page")

FEW = [(("Ada", "Bo"), 40), (("Bo",), 30), (("Di", "Cy", "Ada"), 20), ((), 9)]


def reported(
    root: Path, id_column: str | None, randomizer: str = "ball", rule: str = "borda"
) -> tuple[Booth, Any]:
    """Return an election whose voters reported, and its result."""
    booth = Booth(root / "first", rule).set("privacy", epsilon=1, randomizer=randomizer)
    booth.set("population", id=id_column).vote(FEW)
    return booth, booth.result()


def tables_of(booth: Booth) -> list[pa.Table]:
    return [pq.read_table(file) for file in sorted((booth.out / "reports").iterdir())]


def later(root: Path, tables: list[pa.Table], id_column: str | None, rule: str = "borda") -> Booth:
    """Return the election of reports that stand in these files."""
    booth = Booth(root / "later", rule).set("privacy", epsilon=1)
    folder = root / "reports"
    folder.mkdir()
    for place, table in enumerate(tables):
        pq.write_table(table, folder / f"{place}.parquet")
    booth.given["population"] = {"path": str(folder), "id": id_column, "name": "reports"}
    booth.given["collected"] = {"design": "ballots"}
    return booth


def refusal(booth: Booth) -> SchemaError | SpecError:
    """Return why data were refused: nothing was read, charged or left."""
    with pytest.raises((SchemaError, SpecError)) as refused:
        booth.run(Unusable())
    assert not booth.out.exists()
    assert booth.ledger.balances() == []
    return refused.value


@pytest.mark.parametrize("id_column", ["voter", None])
def test_whole_files_of_reports_are_counted_as_when_they_were_made_in_any_order(
    tmp_path: Path, id_column: str | None
) -> None:
    booth, told = reported(tmp_path, id_column)
    again = later(tmp_path, tables_of(booth)[::-1], id_column).result()
    assert again["rounds"] == told["rounds"]


@pytest.mark.parametrize("id_column", ["voter", None])
def test_some_of_the_files_are_an_election_of_some_of_the_voters(
    tmp_path: Path, id_column: str | None
) -> None:
    booth, _ = reported(tmp_path, id_column)
    some = tables_of(booth)[1:]
    assert later(tmp_path, some, id_column).result()["ballots"] == sum(map(len, some))


def test_with_ids_reports_may_be_put_together_in_any_order(tmp_path: Path) -> None:
    booth, told = reported(tmp_path, "voter")
    whole = pa.concat_tables(tables_of(booth)[::-1])
    assert later(tmp_path, [whole], "voter").result()["rounds"] == told["rounds"]


def in_one(tables: list[pa.Table]) -> list[pa.Table]:
    return [pa.concat_tables(tables)]


def cut_in_two(tables: list[pa.Table]) -> list[pa.Table]:
    return [tables[0].slice(0, 5), tables[0].slice(5), *tables[1:]]


def one_row_less(tables: list[pa.Table]) -> list[pa.Table]:
    return [tables[0].slice(1), *tables[1:]]


def twice(tables: list[pa.Table]) -> list[pa.Table]:
    return [*tables, tables[0]]


def untold(tables: list[pa.Table]) -> list[pa.Table]:
    return [tell(table, first_row=None) for table in tables]


def tell(table: pa.Table, **said: Any) -> pa.Table:
    """Return a table whose footer says something else."""
    entry = json.loads(table.schema.metadata[b"canvass"]) | said
    return table.replace_schema_metadata({"canvass": json.dumps(entry)})


@pytest.mark.parametrize("change", [in_one, cut_in_two, one_row_less, twice, untold])
def test_without_ids_files_whose_rows_may_have_other_numbers_are_refused(tmp_path: Path, change: Any) -> None:
    booth, _ = reported(tmp_path, None)
    error = refusal(later(tmp_path, change(tables_of(booth)), None))
    assert error.where == "population"
    assert "draws go by the numbers of rows" in str(error)


def test_reports_on_other_contests_than_their_voters_were_given_are_refused_when_they_are_read(
    tmp_path: Path,
) -> None:
    """Rows that were exchanged within a file: its footer cannot tell, what they are of does."""
    booth, _ = reported(tmp_path, None, "sampled", "stv")
    turned = [table.take(list(range(len(table)))[::-1]) for table in tables_of(booth)]
    with pytest.raises(SchemaError, match="must be on the contests that the seed in the footer gave"):
        later(tmp_path, turned, None, "stv").run()


def test_reports_made_with_ids_are_not_read_without_them_nor_the_other_way_round(tmp_path: Path) -> None:
    booth, _ = reported(tmp_path / "with", "voter")
    error = refusal(later(tmp_path / "with", tables_of(booth), None))
    assert (error.where, error.got) == ("population.id", "no ids for integer")
    booth, _ = reported(tmp_path / "without", None)
    numbered = [table.append_column("voter", pa.array(range(len(table)))) for table in tables_of(booth)]
    assert refusal(later(tmp_path / "without", numbered, "voter")).got == "integer for no ids"


def test_ids_may_be_integers_of_any_kind_but_not_text_that_looks_like_them(tmp_path: Path) -> None:
    booth, told = reported(tmp_path, "voter")
    for kind in (pa.int32(), pa.uint64(), pa.string()):
        tables = [table.set_column(0, "voter", table["voter"].cast(kind)) for table in tables_of(booth)]
        (tmp_path / str(kind)).mkdir()
        again = later(tmp_path / str(kind), tables, "voter")
        if pa.types.is_string(kind):
            assert refusal(again).got == "text for integer"
        else:
            assert again.result()["rounds"] == told["rounds"]


@pytest.mark.parametrize("ballots", [None, 5, [], "columns", {}, {"columns": 3}, {"columns": {}}])
def test_footers_that_say_nothing_of_reports_are_refused_whatever_they_hold(
    tmp_path: Path, ballots: Any
) -> None:
    booth, _ = reported(tmp_path, "voter")
    spoilt = [tell(table, ballots=ballots) for table in tables_of(booth)]
    assert refusal(later(tmp_path, spoilt, "voter")).where in ("collected", "election.candidates")
    (tmp_path / "ballots").mkdir()
    ballot = pa.table({"voter": [1], "ranking": [["Bo"]]}).replace_schema_metadata(spoilt[0].schema.metadata)
    held = later(tmp_path / "ballots", [ballot], "voter")
    del held.given["collected"]
    held.given["population"]["ranking"] = "ranking"
    if not (isinstance(ballots, dict) and "columns" in ballots):
        assert held.result()["ballots"] == 1  # ballots like any others


def test_reports_that_were_made_in_different_ways_are_refused(tmp_path: Path) -> None:
    (one, _), (other, _) = (reported(tmp_path / name, "voter") for name in ("one", "other"))
    mixed = [tables_of(one)[0], *tables_of(other)[1:]]  # of other seeds
    error = refusal(later(tmp_path, mixed, "voter"))
    assert (error.where, error.got) == ("collected", "footers that differ")
