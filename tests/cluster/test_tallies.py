"""Tables of reports, tallied wherever the rows are, are the same sums on any engine and from any cutting."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster.engine import DaskEngine
from cluster.population import ClusterPopulation
from cluster.reduce import Engine, SerialEngine
from tests.cluster.populations import ASKS, BRACKETS, DRINKS, people, populate, reports_by_id, write
from udfs.asides import Aside, NumberQuestion
from udfs.asking import Ask
from udfs.categories import CategoryQuestion
from udfs.collected import Collected, CollectedReports
from udfs.errors import SchemaError
from udfs.plain import PlainAnswers
from udfs.randomized_response import RandomizedResponse
from udfs.sampled_response import SampledResponse
from udfs.several import ProductQuestion, SideBySide
from udfs.tables import WEIGHT_UNIT, CrossTable, SparseCounts

ROWS, PLACES = 3000, 300
DRINK, INCOME = (question for question, _ in ASKS)
TOWN, STREET = (CategoryQuestion(name, tuple(range(PLACES))) for name in ("town", "street"))
HIDDEN: list[Ask] = [
    *ASKS,
    (TOWN, RandomizedResponse(PLACES, 3)),
    (STREET, RandomizedResponse(PLACES, 3)),
    (ProductQuestion("both", (DRINK, INCOME)), RandomizedResponse(28, 1)),  # type: ignore[arg-type]
    (SideBySide("either", (DRINK, INCOME)), SampledResponse((4, 7), Decimal(1))),  # type: ignore[arg-type]
]
HIDDEN_TABLES = (
    CrossTable((0, 1), (4, 8)),
    CrossTable((2, 3), (PLACES, PLACES)),
    CrossTable((0, 2, 3), (4, PLACES, PLACES)),
    CrossTable((4, 0), (28, 4)),
    CrossTable((5, 1, 0), (11, 8, 4)),
)
PLAIN: list[Ask] = [
    (CollectedReports(DRINK, "plain"), Collected(PlainAnswers(4))),  # type: ignore[arg-type]
    (INCOME, Aside()),
    (TOWN, Aside()),
    (STREET, Aside()),
    (NumberQuestion("weight", weights=True), Aside()),
]
PLAIN_TABLES = (
    CrossTable((0, 1), (4, 7)),
    CrossTable((3, 2), (PLACES, PLACES)),
    CrossTable((1, 0), (7, 4), weight=4),
    CrossTable((0,), (4,), weight=4),
)


def residents(rows: int) -> pa.Table:
    """Return people with a town, a street and a weight of many digits."""
    numbers = np.arange(rows)
    table = people(rows)
    table = table.append_column("town", pa.array(numbers * 7 % PLACES, pa.int16()))
    table = table.append_column("street", pa.array(numbers * numbers % 89 % PLACES, pa.int64()))
    return table.append_column("weight", pa.array(np.exp(np.sin(numbers) * 20)))


def plainly(sums: list[Any]) -> list[Any]:
    """Return sums and tables as values that compare, types included."""
    merged = [one.merged() if isinstance(one, SparseCounts) else one for one in sums]
    return [
        (one.size, [(cells.tolist(), counts.tolist(), counts.dtype) for cells, counts in one.runs])
        if isinstance(one, SparseCounts)
        else (one.shape, one.dtype, one.tolist())
        for one in merged
    ]


def layouts(root: Path) -> list[str]:
    """Return the residents in one file, in many, and in another order."""
    table = residents(ROWS)
    shuffled = table.take(np.random.default_rng(3).permutation(ROWS))
    return [
        write(root / "whole", [table]),
        write(root / "cut", [table[start : start + 401] for start in range(0, ROWS, 401)]),
        write(root / "shuffled", [shuffled[:7], shuffled[7:7], shuffled[7:]], row_group_size=333),
    ]


@pytest.fixture(params=["serial", "dask"])
def either(request: pytest.FixtureRequest) -> Engine:
    """Each engine."""
    return SerialEngine() if request.param == "serial" else request.getfixturevalue("engine")


def test_tallies_are_bit_for_bit_the_same_on_any_engine_and_from_any_cutting(
    tmp_path: Path, engine: DaskEngine
) -> None:
    found, maps = [], []
    for number, path in enumerate(layouts(tmp_path)):
        for name, one in {"serial": SerialEngine(), "dask": engine}.items():
            population = populate(tmp_path / f"{name} {number}", path, "id", one, rows_per_part=500)
            found.append(plainly(population.collect(HIDDEN, "randomize", HIDDEN_TABLES)))
            maps.append(reports_by_id(population))
    assert len(found[0]) == len(HIDDEN) + len(HIDDEN_TABLES)
    assert all(one == found[0] for one in found)
    assert all(one == maps[0] for one in maps)
    assert len(maps[0]) == ROWS


def test_tallies_are_counts_of_the_reports_that_were_written(tmp_path: Path, either: Engine) -> None:
    population = populate(tmp_path, layouts(tmp_path)[1], "id", either, rows_per_part=500)
    sums = population.collect(HIDDEN, "randomize", HIDDEN_TABLES)
    folder = population.staging.folder("reports")
    table = pa.concat_tables(pq.read_table(folder.path(name)) for name in sorted(population.files))
    columns: list[Any] = []
    for question, mechanism in HIDDEN:
        values = table[question.name].to_pylist()
        if question is INCOME:
            packed = np.array([list(one) for one in values], dtype=np.uint8)
            columns.append(np.unpackbits(packed, axis=1, count=7, bitorder="little").astype(bool))
        else:
            columns.append(np.array([question.labels.index(one) for one in values], dtype=np.uint16))
        assert sums[len(columns) - 1].tolist() == mechanism.tally(columns[-1]).tolist()
    again = [one.tally(columns) for one in HIDDEN_TABLES]
    assert plainly(sums[len(HIDDEN) :]) == plainly(again)
    assert isinstance(sums[len(HIDDEN) + 1], SparseCounts)


def test_tables_of_what_is_no_secret_are_the_truth(tmp_path: Path, either: Engine) -> None:
    population = populate(tmp_path, layouts(tmp_path)[2], None, either, rows_per_part=500)
    drinks_income, streets, weighted, by_drink = population.ask(PLAIN, "count", PLAIN_TABLES)[len(PLAIN) :]
    table = residents(ROWS)
    drinks = np.array([DRINKS.index(one) for one in table["drinks"].to_pylist()])
    income, town, street, weight = (table[name].to_numpy() for name in ("income", "town", "street", "weight"))
    expected = np.histogram2d(drinks, income, (range(5), range(8)))[0]
    assert (drinks_income == expected).all()
    cells, counts = np.unique(street * PLACES + town, return_counts=True)
    ((found, times),) = streets.merged().runs
    assert (found.tolist(), times.tolist()) == (cells.tolist(), counts.tolist())
    for cell in range(4):
        own = weight[drinks == cell].tolist()
        assert by_drink[:, cell].tolist() == [
            len(own),
            sum(math.floor(Fraction(w) * WEIGHT_UNIT) for w in own),
            sum(math.floor(Fraction(w * w) * WEIGHT_UNIT) for w in own),
        ]
    assert (weighted.sum(axis=1) == by_drink).all()
    assert weighted.shape == (3, len(BRACKETS), len(DRINKS))


def test_a_part_that_was_answered_gives_its_tallies_from_its_note(tmp_path: Path, either: Engine) -> None:
    path = layouts(tmp_path)[1]
    population = populate(tmp_path, path, "id", either, rows_per_part=1)
    whole = plainly(population.collect(HIDDEN, "randomize", HIDDEN_TABLES))
    population.staging.folder("reports").remove("part-00007.parquet")
    for name in range(7):
        (tmp_path / "cut" / f"{name:03d}.parquet").write_bytes(b"rows that would fail to be read")
    assert plainly(population.collect(HIDDEN, "randomize", HIDDEN_TABLES)) == whole


def test_a_torn_note_is_asked_again_and_tallies_are_the_same(tmp_path: Path) -> None:
    population = populate(tmp_path, layouts(tmp_path)[0], "id")
    whole = plainly(population.collect(HIDDEN, "randomize", HIDDEN_TABLES))
    folder, name = population.staging.folder("reports"), "part-00000.parquet.json"
    note = folder.read(name)
    for torn in (b"", note[: len(note) // 2], note[:-1], note.replace(b'"runs"', b'"ruins"')):
        folder.write(name, torn)
        assert plainly(population.collect(HIDDEN, "randomize", HIDDEN_TABLES)) == whole
        assert folder.read(name) == note


def test_of_nobody_tallies_are_those_of_no_reports(tmp_path: Path, either: Engine) -> None:
    population = populate(tmp_path, write(tmp_path / "data", [residents(0)]), "id", either)
    found = population.ask(PLAIN, "count", PLAIN_TABLES)
    expected = [*(mechanism.zeros() for _, mechanism in PLAIN), *(one.zeros() for one in PLAIN_TABLES)]
    assert plainly(found) == plainly(expected)


def test_weights_that_cannot_be_added_up_are_refused_by_file_and_column(tmp_path: Path) -> None:
    weights = pa.array([1.0, -1.0, math.nan, None, 2.0**41])
    table = residents(5).set_column(5, "weight", weights)
    path = write(tmp_path / "data", [residents(5), table])
    with pytest.raises(SchemaError) as caught:
        populate(tmp_path, path).ask(PLAIN, "count", PLAIN_TABLES)
    assert caught.value.got == (
        f"1 missing answers in column 'weight' of {path}/001.parquet; "
        f"1 numbers that are not finite, or beyond 1e100 in column 'weight' of {path}/001.parquet; "
        f"2 weights below 0, or beyond what can be added up exactly in column 'weight' of {path}/001.parquet"
    )


def test_what_is_no_secret_is_not_written_beside_reports(tmp_path: Path) -> None:
    population = populate(tmp_path, layouts(tmp_path)[0])
    with pytest.raises(Exception, match="NotImplementedError"):
        population.collect(PLAIN, "count", PLAIN_TABLES)
    assert population.staging.folder("reports").names() == []


def square(unit: int) -> tuple[int, ...]:
    """Return a unit's square."""
    return (unit * unit,)


def chain(partials: Any) -> tuple[int, ...]:
    """Return all that came, in order."""
    return tuple(one for partial in partials for one in partial)


def test_work_that_reads_no_rows_is_spread_over_the_same_engine(tmp_path: Path, either: Engine) -> None:
    population: ClusterPopulation = populate(tmp_path, write(tmp_path / "data", [people(3)]), engine=either)
    assert population.reduce(range(40), square, chain, "squares") == tuple(n * n for n in range(40))
    assert population.reduce([], square, chain, "nothing") == ()
