"""A report is drawn once: whatever dies, resumes, or is cut otherwise, the reports are the same to the byte."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.e2e.command import Canvass, end, kill_group, wait_until, workers_of
from tests.e2e.conftest import TASKS
from udfs.streams import Secret

QUESTIONS = {
    "smokes": {"categories": [0, 1], "epsilon": 1, "mechanism": "randomized-response"},
    "income": {"categories": [0, 1, 2, 3, 4], "epsilon": 1, "mechanism": "subset-selection"},
}


class Undisturbed:
    """The reports of a run on one process that nothing disturbs, and how others may be compared with it."""

    def __init__(self, root: Path, multitude: str, id_column: str) -> None:
        self._multitude, self._id = multitude, {"id": id_column} if id_column else {}
        self._secret = root / "secret"
        self._secret.touch(0o600)
        self._secret.write_bytes(Secret.new().reveal())
        first = self.again(root / "undisturbed", 1)
        self.result = first.document()["result"]
        self.reports = first.reports()

    def again(self, root: Path, workers: int) -> Canvass:
        """Return the same job elsewhere, with the same coins."""
        one = Canvass(root, "--secret-file", str(self._secret), "--workers", str(workers))
        one.ask(self._multitude, QUESTIONS, **self._id)
        return one


@pytest.fixture(scope="module", params=["", "number", "name"], ids=["by row", "by integer id", "by text id"])
def undisturbed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, multitude: str
) -> Undisturbed:
    """Return an undisturbed run, keyed by row and by ids of both kinds."""
    found = Undisturbed(tmp_path_factory.mktemp("undisturbed"), multitude, request.param)
    assert len(found.reports) == TASKS
    return found


def check(one: Canvass, undisturbed: Undisturbed) -> None:
    """Check that a run ended as the undisturbed one did, was charged once, and left nothing else."""
    assert one.reports() == undisturbed.reports
    assert one.document()["result"] == undisturbed.result
    assert [(charge.question, charge.epsilon, charge.status) for charge in one.charges()] == [
        ("smokes", Decimal(1), "charged"),
        ("income", Decimal(1), "charged"),
    ]
    assert not list(one.state.rglob("*.secret"))
    found = sorted(path.name for path in one.out.iterdir())
    assert found == ["manifest.json", "report.html", "reports", "result.json"]


@pytest.mark.parametrize("workers", [2, 4])
def test_the_number_of_processes_changes_no_report(
    tmp_path: Path, undisturbed: Undisturbed, workers: int
) -> None:
    one = undisturbed.again(tmp_path / "run", workers)
    assert one.run().returncode == 0
    check(one, undisturbed)


def test_a_killed_worker_changes_no_report(tmp_path: Path, undisturbed: Undisturbed) -> None:
    one = undisturbed.again(tmp_path / "run", 2)
    run = one.start()
    wait_until(one.staged, run)
    victims = workers_of(run)
    victims[0].kill()
    assert len(victims) == 2
    assert len(one.staged()) < TASKS
    assert end(run).returncode == 0
    assert not victims[0].is_running()
    check(one, undisturbed)


def test_a_job_whose_processes_are_all_killed_is_resumed(tmp_path: Path, undisturbed: Undisturbed) -> None:
    one = undisturbed.again(tmp_path / "run", 2)
    run = one.start()
    wait_until(one.staged, run)
    kill_group(run)
    assert 0 < len(one.staged()) < TASKS
    assert not (one.out / "manifest.json").exists()
    assert one.run().returncode == 0
    check(one, undisturbed)


def test_a_resumed_job_goes_on_with_its_own_secret(tmp_path: Path, multitude: str) -> None:
    one = Canvass(tmp_path / "run", "--workers", "2")
    one.ask(multitude, QUESTIONS)
    run = one.start()
    wait_until(one.staged, run)
    kill_group(run)
    staged = {path.name: path.read_bytes() for path in one.out.glob(".canvass-*/reports/part-?????.parquet")}
    assert one.run().returncode == 0
    published = one.reports()
    assert staged
    assert {name: published[name] for name in staged} == staged


@pytest.mark.parametrize("kind", [pa.int64(), pa.string()], ids=["integer ids", "text ids"])
def test_rows_cut_into_other_files_give_the_same_reports(tmp_path: Path, kind: pa.DataType) -> None:
    """With ids a respondent's report depends neither on the rows' order nor on the files they are in."""
    rows, generator = 150_000, np.random.default_rng()
    people = pa.table(
        {
            "id": pa.array(np.arange(rows)).cast(kind),
            "smokes": generator.integers(0, 2, rows).astype(np.int8),
            "income": generator.integers(0, 5, rows).astype(np.int8),
        }
    )
    secret = tmp_path / "secret"
    secret.touch(0o600)
    secret.write_bytes(Secret.new().reveal())
    found = []
    for name, lengths in (("whole", [rows]), ("cut", [7, 70_000, 79_993])):
        folder = tmp_path / name / "people"
        folder.mkdir(parents=True)
        shuffled, start = people.take(pa.array(generator.permutation(rows))), 0
        for length in lengths:
            pq.write_table(shuffled.slice(start, length), folder / f"{start}.parquet", row_group_size=50_000)
            start += length
        one = Canvass(tmp_path / name, "--secret-file", str(secret), "--workers", "1")
        one.ask(str(folder), QUESTIONS, id="id")
        assert one.run().returncode == 0
        found.append(pq.read_table(one.out / "reports").combine_chunks().sort_by("id"))
    assert found[0].num_rows == rows
    assert found[0].equals(found[1])
