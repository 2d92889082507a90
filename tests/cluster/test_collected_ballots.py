"""Reports on ballots as a population of their own: told apart as when they were made, wherever they lie."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster.population import ClusterPopulation
from cluster.reduce import Engine, SerialEngine
from tests.cluster.populations import DRINKS, SECRET, populate, write
from tests.cluster.test_public_draws import ROWS, every_id, voters
from udfs.ball import Ball
from udfs.ballot_reports import CollectedBallots, CollectedScores
from udfs.ballots import BallotQuestion
from udfs.contests import FirstChoice

BALLOTS = BallotQuestion(("ranking",), DRINKS, "list")


def election(root: Path, column: str | None, engine: Engine | None = None) -> ClusterPopulation:
    """Return a population of ballots in four parts."""
    table = voters().append_column("ranking", pa.array([[drink] for drink in voters()["drinks"].to_pylist()]))
    path = write(root / "data", [table.slice(start, 175) for start in range(0, ROWS, 175)])
    return populate(root, path, column, engine, rows_per_part=1)


def ball_of(population: ClusterPopulation) -> Ball:
    """Return a mechanism whose directions are public draws of the population's seed."""
    return Ball(FirstChoice((0, 1, 2, 3)), Decimal(1), population.public_seed)


def reports_of(population: ClusterPopulation) -> list[pa.Table]:
    """Return the files of reports that were staged."""
    folder = population.staging.folder("reports")
    return [pq.read_table(folder.path(name)) for name in sorted(population.files)]


def count_again(
    root: Path, tables: list[pa.Table], ball: Ball, column: str | None, **options: Any
) -> list[int]:
    """Return the sum of reports that stand in files of their own."""
    population = populate(root, write(root / "reports", tables, **options), column)
    (sums,) = population.ask([(CollectedBallots("bit", ball), CollectedScores(ball))], "count reports")
    found: list[int] = sums.tolist()
    return found


@every_id
def test_files_of_reports_say_how_their_rows_were_told_apart(tmp_path: Path, column: str | None) -> None:
    population = election(tmp_path, column)
    population.collect([(replace_name(BALLOTS), ball_of(population))], "randomize")
    entries = [json.loads(table.schema.metadata[b"canvass"]) for table in reports_of(population)]
    kinds = {None: None, "id": "integer", "name": "text"}
    assert [(one["ids"], one["first_row"], one["rows"]) for one in entries] == [
        (kinds[column], first, 175) for first in (0, 175, 350, 525)
    ]


def replace_name(question: BallotQuestion) -> BallotQuestion:
    """Return a question whose reports stand in a column of this name."""
    return BallotQuestion(question.columns, question.candidates, question.layout, name="bit")


@every_id
def test_reports_in_whole_files_add_up_to_the_same_in_any_order_of_files(
    tmp_path: Path, column: str | None
) -> None:
    population = election(tmp_path, column)
    ball = ball_of(population)
    (sums,) = population.collect([(replace_name(BALLOTS), ball)], "randomize")
    tables = reports_of(population)
    assert count_again(tmp_path / "same", tables, ball, column) == sums.tolist()
    assert count_again(tmp_path / "turned", tables[::-1], ball, column, row_group_size=11) == sums.tolist()


@pytest.mark.parametrize("column", ["id", "name"])
def test_with_ids_reports_may_be_put_together_and_cut_and_shuffled(tmp_path: Path, column: str) -> None:
    population = election(tmp_path, column)
    ball = ball_of(population)
    (sums,) = population.collect([(replace_name(BALLOTS), ball)], "randomize")
    whole = pa.concat_tables(reports_of(population)[::-1])
    shuffled = whole.take(pa.array(np.random.default_rng().permutation(ROWS)))
    for place, tables in enumerate([[whole], [shuffled], [shuffled.slice(0, 9), shuffled.slice(9)]]):
        assert count_again(tmp_path / str(place), tables, ball, column) == sums.tolist()


def test_without_ids_reports_in_another_order_are_of_other_directions(tmp_path: Path) -> None:
    """Why such files are refused: their sums are noise, and look like any others."""
    population = election(tmp_path, None)
    ball = ball_of(population)
    (sums,) = population.collect([(replace_name(BALLOTS), ball)], "randomize")
    whole = pa.concat_tables(reports_of(population)[::-1])
    assert count_again(tmp_path / "together", [whole], ball, None)[-1] == sums[-1] == ROWS
    assert count_again(tmp_path / "once more", [whole], ball, None)[:-1] != sums.tolist()[:-1]


class Counting(SerialEngine):
    """Notes what it was asked to do."""

    def __init__(self) -> None:
        super().__init__()
        self.stages: list[str] = []

    def reduce(self, units: Sequence[Any], chunk: Any, combine: Any, stage: str) -> Any:
        self.stages.append(stage)
        return super().reduce(units, chunk, combine, stage)


@every_id
def test_reports_that_were_collected_are_a_population_of_their_own(
    tmp_path: Path, column: str | None
) -> None:
    engine = Counting()
    population = election(tmp_path, column, engine)
    ball = ball_of(population)
    (sums,) = population.collect([(replace_name(BALLOTS), ball)], "randomize")
    asked, engine.stages = dict(population.digests), []
    reports = population.collected()
    assert reports.rows == population.rows == ROWS
    assert [entry["first_row"] for entry in reports.metadata] == [0, 175, 350, 525]
    (found,) = reports.ask([(CollectedBallots("bit", ball), CollectedScores(ball))], "question 1")
    assert found.tolist() == sums.tolist()
    assert engine.stages == ["check", "question 1"]  # ids are known to differ
    assert population.digests == asked
    assert len(population.files) == 4
    assert not reports.files


def test_the_public_seed_is_a_key_of_the_secret_and_tells_nothing_of_it(tmp_path: Path) -> None:
    population = election(tmp_path, "id")
    seed = population.public_seed
    assert seed == population.public_seed == SECRET.key("driver", "public seed")
    others = [
        SECRET.reveal(),
        SECRET.key(),
        SECRET.key("public seed"),
        SECRET.key("ids"),
        SECRET.key("repeats"),
    ]
    others += [
        population.driver_key(),
        population.driver_key("outcome"),
        population.driver_key("public", "seed"),
    ]
    assert len({seed, *others}) == 1 + len(others)
    assert {len(one) for one in (seed, *others)} == {32}


def test_the_seed_is_published_and_the_secret_is_not(tmp_path: Path) -> None:
    population = election(tmp_path, "id")
    population.collect([(replace_name(BALLOTS), ball_of(population))], "randomize")
    folder = population.staging.folder("reports")
    for name in folder.names():
        data = folder.read(name)
        assert SECRET.reveal() not in data
        assert SECRET.reveal().hex().encode() not in data
        if name.endswith(".parquet"):
            assert population.public_seed.hex().encode() in data
