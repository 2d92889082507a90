"""Small populations in Parquet files, asked on any engine under a secret that is fixed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cluster.dataset import open_dataset
from cluster.manifest import PART_ROWS
from cluster.output import Output
from cluster.population import ClusterPopulation
from cluster.reduce import Engine, SerialEngine
from cluster.secret_file import SecretFile, keep_secret
from udfs.asking import Ask
from udfs.categories import CategoryQuestion
from udfs.identity import IdColumn, id_kind
from udfs.randomized_response import RandomizedResponse
from udfs.streams import Secret
from udfs.subset_selection import SubsetSelection

SECRET = Secret(bytes(range(32)))
DRINKS = ("never", "monthly", "weekly", "daily")
BRACKETS = tuple(range(7))

ASKS: list[Ask] = [
    (CategoryQuestion("drinks", DRINKS), RandomizedResponse(4, 1)),
    (CategoryQuestion("income", BRACKETS), SubsetSelection(7, 1)),
]
EXACT: list[Ask] = [(CategoryQuestion("drinks", DRINKS), RandomizedResponse(4, 1000))]


def people(rows: int, first: int = 0) -> pa.Table:
    """Return people with an id, a text answer and a number."""
    numbers = range(first, first + rows)
    return pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            "drinks": pa.array([DRINKS[number * 7 % 11 % 4] for number in numbers], pa.string()),
            "income": pa.array([number * 5 % 13 % 7 for number in numbers], pa.int8()),
        }
    )


def write(folder: Path, tables: Sequence[pa.Table | dict[str, Any]], **options: Any) -> str:
    """Write each table as a file, in the order of their names, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, table in enumerate(tables):
        whole = table if isinstance(table, pa.Table) else pa.table(table)
        pq.write_table(whole, folder / f"{number:03d}.parquet", **options)
    return str(folder)


def populate(
    root: Path,
    path: str,
    id_column: str | None = None,
    engine: Engine | None = None,
    checked: bool = True,
    rows_per_part: int = PART_ROWS,
    unit_rows: int | None = None,
) -> ClusterPopulation:
    """Return the population of some files, staged below `root`."""
    data = open_dataset(path, id_column, rows_per_part, unit_rows)
    ids = None
    if id_column is not None:
        kind = id_kind(arrow_type for _, arrow_type in data.columns(id_column))
        assert kind is not None
        ids = IdColumn(id_column, kind, checked)
    staging = Output(str(root)).open_staging("0" * 64)
    return ClusterPopulation(engine or SerialEngine(), data.parts(), ids, secret_below(root), staging)


def secret_below(root: Path) -> SecretFile:
    """Return the fixed secret, in a file of its own."""
    return keep_secret(str(root / "secret" / "job.secret"), SECRET)


def reports_of(population: ClusterPopulation) -> dict[str, bytes]:
    """Return the files of reports that a population wrote."""
    folder = population.staging.folder("reports")
    return {name: folder.read(name) for name in sorted(population.files)}


def reports_by_id(population: ClusterPopulation) -> dict[Any, tuple[Any, ...]]:
    """Return each respondent's reports by id, as text."""
    folder = population.staging.folder("reports")
    rows: dict[Any, tuple[Any, ...]] = {}
    for name in population.files:
        table = pq.read_table(folder.path(name))
        names = [name for name in table.column_names if name != "id"]
        columns = [table[name].to_pylist() for name in names]
        rows |= dict(zip(map(str, table["id"].to_pylist()), zip(*columns, strict=True), strict=True))
    return rows
