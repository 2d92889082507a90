"""A report is drawn once: whatever dies, resumes, or is cut otherwise, the reports are the same."""

from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.e2e.house import House, until, workers_of

PARTS = 6
ROWS_PER_PART = 1 << 21
SECRET = bytes(range(100, 132))

SPEC = """
job = "survey"
[population]
path = "{path}"
name = "respondents"
{id}
[output]
path = "unused"
[attributes.one]
categories = [0, 1, 2, 3, 4, 5]
epsilon = 1.0
[attributes.many]
categories = [0, 1, 2, 3, 4, 5, 6, 7]
epsilon = 2.0
mechanism = "subset-selection"
"""


@pytest.fixture(scope="module")
def many_parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A population of six parts, each a task."""
    folder = tmp_path_factory.mktemp("many-parts")
    for part in range(PARTS):
        start = part * ROWS_PER_PART
        rows = np.arange(start, start + ROWS_PER_PART)
        table = pa.table({"id": rows, "one": (rows % 6).astype(np.int8), "many": (rows % 8).astype(np.int8)})
        pq.write_table(table, folder / f"{part}.parquet")
    return folder


def house(folder: Path, population: Path, id_column: str = "") -> House:
    """Return a house whose spec asks a population."""
    spec = folder / "spec.toml"
    spec.write_text(SPEC.format(path=population, id=f'id = "{id_column}"' if id_column else ""))
    secret = folder / "secret"
    secret.write_bytes(SECRET)
    secret.chmod(0o600)
    return House(folder, spec)


def fixed(place: House) -> tuple[str, str]:
    """Return the arguments that fix the secret."""
    return "--secret-file", str(place.folder / "secret")


@pytest.fixture(scope="module", params=["", "id"], ids=["by row", "by id"])
def undisturbed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, many_parts: Path
) -> tuple[str, dict[str, bytes]]:
    """The reports of a run on two processes that nothing disturbs."""
    place = house(tmp_path_factory.mktemp("undisturbed"), many_parts, request.param)
    finished = place.run("--workers", "2", *fixed(place))
    assert finished.returncode == 0, finished.stderr
    reports = place.reports()
    assert len(reports) == PARTS
    return request.param, reports


@pytest.mark.parametrize("workers", [1, 4])
def test_the_number_of_processes_changes_no_report(
    tmp_path: Path, many_parts: Path, undisturbed: tuple[str, dict[str, bytes]], workers: int
) -> None:
    """One process and four give what two gave."""
    id_column, reports = undisturbed
    place = house(tmp_path, many_parts, id_column)
    finished = place.run("--workers", str(workers), *fixed(place))
    assert finished.returncode == 0, finished.stderr
    assert place.reports() == reports


def test_a_killed_worker_changes_no_report(
    tmp_path: Path, many_parts: Path, undisturbed: tuple[str, dict[str, bytes]]
) -> None:
    """A worker process killed while the job runs: its tasks run again and give the same bytes."""
    id_column, reports = undisturbed
    place = house(tmp_path, many_parts, id_column)
    process = place.start("--workers", "2", *fixed(place))
    until(lambda: place.staged() >= 1, process)
    victim = workers_of(process)[0]
    victim.send_signal(signal.SIGKILL)
    staged = place.staged()
    assert staged < PARTS, "the job was over before its worker was killed"
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    assert not victim.is_running()
    assert place.reports() == reports


def test_a_resumed_job_changes_no_report_and_is_charged_once(
    tmp_path: Path, many_parts: Path, undisturbed: tuple[str, dict[str, bytes]]
) -> None:
    """Every process of the job killed at once: a second run ends what the first began."""
    id_column, reports = undisturbed
    place = house(tmp_path, many_parts, id_column)
    process = place.start("--workers", "2", *fixed(place))
    until(lambda: place.staged() >= 1, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=60)
    process.communicate()
    assert not (place.folder / "out" / "manifest.json").exists()
    assert place.staged() >= 1
    before = charges(place)
    finished = place.run("--workers", "2", *fixed(place))
    assert finished.returncode == 0, finished.stderr
    assert place.reports() == reports
    assert charges(place) == before == [("many", "2.0", "charged"), ("one", "1.0", "charged")]


def test_a_resumed_job_of_its_own_secret_goes_on_with_it(tmp_path: Path, many_parts: Path) -> None:
    """Without a fixed secret, too, what was staged before the kill is what is published after it."""
    place = house(tmp_path, many_parts)
    process = place.start("--workers", "2")
    until(lambda: place.staged() >= 1, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=60)
    process.communicate()
    (staging,) = place.folder.glob("out/.canvass-*/reports")
    staged = {path.name: path.read_bytes() for path in staging.glob("*.parquet")}
    finished = place.run("--workers", "2")
    assert finished.returncode == 0, finished.stderr
    published = place.reports()
    assert staged
    assert {name: published[name] for name in staged} == staged


@pytest.mark.parametrize("text", [False, True], ids=["integer ids", "text ids"])
def test_rows_cut_into_other_files_give_the_same_reports(tmp_path: Path, text: bool) -> None:
    """With ids a respondent's report depends neither on the rows' order nor on the files they are in."""
    rows = 150_000
    generator = np.random.default_rng()
    table = pa.table(
        {
            "id": pa.array(np.arange(rows)).cast(pa.string() if text else pa.int64()),
            "one": generator.integers(0, 6, rows).astype(np.int8),
            "many": generator.integers(0, 8, rows).astype(np.int8),
        }
    )
    maps = []
    for name, cut in (("few", [rows]), ("many", [7, 70_000, 79_993])):
        folder = tmp_path / name / "population"
        folder.mkdir(parents=True)
        ordered = table.take(pa.array(generator.permutation(rows)))
        start = 0
        for length in cut:
            pq.write_table(ordered.slice(start, length), folder / f"{start}.parquet", row_group_size=50_000)
            start += length
        place = house(tmp_path / name, folder, "id")
        finished = place.run("--workers", "1", *fixed(place))
        assert finished.returncode == 0, finished.stderr
        reports = pa.concat_tables(pq.read_table(path) for path in place.folder.glob("out/reports/*.parquet"))
        maps.append(reports.combine_chunks().sort_by("id"))
    assert maps[0].num_rows == rows
    assert maps[0].to_pydict() == maps[1].to_pydict()


def charges(place: House) -> list[tuple[str, str, str]]:
    """Return what the ledger holds: question, epsilon, status."""
    with sqlite3.connect(place.state / "ledger.db") as connection:
        return sorted(connection.execute("select question, epsilon, status from charges"))
