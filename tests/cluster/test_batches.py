"""A population asked in batches, and what it writes for its owners alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cluster.output import Output
from cluster.population import ClusterPopulation
from cluster.storage import Store
from tests.cluster.populations import ASKS, people, populate, reports_of, write

ROWS = [40, 10, 30, 5, 25]
"""Of each file, and so of each task."""


@pytest.fixture
def population(tmp_path: Path) -> ClusterPopulation:
    tables = [people(rows, sum(ROWS[:file])) for file, rows in enumerate(ROWS)]
    return populate(tmp_path, write(tmp_path / "data", tables), "id", rows_per_part=1)


@pytest.mark.parametrize(
    ("rows", "expected"), [(1, ROWS), (40, [40, 40, 30]), (45, [40, 45, 25]), (110, [110]), (10**9, [110])]
)
def test_a_batch_holds_so_many_rows_or_one_task(
    population: ClusterPopulation, rows: int, expected: list[int]
) -> None:
    assert [batch.rows for batch in population.batches(rows)] == expected


def test_batches_give_the_reports_that_all_would_give_at_once(
    tmp_path: Path, population: ClusterPopulation
) -> None:
    population.check([question for question, _ in ASKS])
    parts = [batch.collect(ASKS, "randomize") for batch in population.batches(40)]
    whole = populate(tmp_path / "whole", str(tmp_path / "data"), "id", rows_per_part=1)
    sums = whole.collect(ASKS, "randomize")
    for place, expected in enumerate(sums):
        np.testing.assert_array_equal(sum(part[place] for part in parts), expected)
    assert reports_of(population) == reports_of(whole)
    assert population.digests == whole.digests


def test_nobody_is_in_no_batch(tmp_path: Path) -> None:
    nobody = populate(tmp_path, write(tmp_path / "data", [people(0)]), "id")
    assert list(nobody.batches(5)) == []


def test_private_reports_are_their_owner_s_alone_also_where_they_are_published_and_copied(
    tmp_path: Path, population: ClusterPopulation
) -> None:
    job, here, there = "0" * 64, Output(str(tmp_path)), Output(str(tmp_path / "copy"))
    population.collect(ASKS, "randomize", private=True)
    here.publish(job, population.files, {"result.json": b"{}"}, {"draw": job})
    here.copy_to(there.url, job)
    for output in (here, there):
        files = list(Path(output.store.folder("reports").root).iterdir())
        assert len(files) == len(ROWS)
        assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_other_reports_are_as_readable_as_any_file(tmp_path: Path, population: ClusterPopulation) -> None:
    population.collect(ASKS, "randomize")
    usual = tmp_path / "usual"
    usual.touch()
    files = list(Path(population.staging.folder("reports").root).iterdir())
    assert {path.stat().st_mode for path in files} == {usual.stat().st_mode}


def test_a_private_file_is_so_before_its_first_byte(tmp_path: Path) -> None:
    store = Store(str(tmp_path), private=True)
    with store.replacing("secret") as file:
        (path,) = tmp_path.iterdir()
        assert path.stat().st_mode & 0o777 == 0o600
        file.write(b"mine")
    assert store.is_private("secret")
    assert store.folder("below").private
    Store(str(tmp_path)).write("open", b"anybody's")
    assert not store.is_private("open")


def test_a_room_lies_with_what_is_staged_until_it_is_closed(population: ClusterPopulation) -> None:
    before = population.staging.names()
    with population.room() as put, next(population.batches(1)).room() as other:
        assert put(np.arange(3))().tolist() == other(np.arange(3))().tolist() == [0, 1, 2]
        new = set(population.staging.names()) - set(before)
        assert len(new) == 2
        assert all(name.startswith("rooms/") for name in new)
    assert population.staging.names() == before


def test_without_a_transcript_nothing_is_remembered(population: ClusterPopulation) -> None:
    numbers = iter(range(4))
    assert [population.once("one", lambda: next(numbers)) for _ in range(2)] == [0, 1]
    assert [population.cached("one", lambda: np.array([next(numbers)])).item() for _ in range(2)] == [2, 3]
