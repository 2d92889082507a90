"""Every failure is one line and an exit code, leaves no output, and costs nothing where nothing was drawn."""

from __future__ import annotations

import shutil
import signal
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cluster
import udfs
from jobs.ledger import Ledger
from tests.e2e.command import Canvass, end, wait_until, workers_of
from tests.e2e.remote import Remote, remote_scheduler
from tests.e2e.test_draws_once import QUESTIONS

COLOURS: dict[str, Any] = {"colour": {"categories": ["red", "green"], "epsilon": 1}}


@pytest.fixture
def asking(canvass: Canvass) -> Canvass:
    """The command, with people to ask."""
    (canvass.root / "data").mkdir()
    pq.write_table(pa.table({"colour": ["red", "green", "red"]}), canvass.root / "data" / "0.parquet")
    canvass.ask("data", COLOURS)
    return canvass


BAD_SPECS = {
    "an unknown job": ("job=surway", "job: must name a kind of job; got 'surway'. Did you mean \"survey\"?"),
    "an unknown key": ("population.pth=x", "population.pth: is not a key of this table"),
    "no mechanism of ours": ("attributes.colour.mechanism=shuffle", "attributes.colour.mechanism: "),
    "no epsilon": (
        "attributes.colour.epsilon=0",
        "attributes.colour.epsilon: epsilon must be a positive finite number",
    ),
    "an infinite epsilon": ("attributes.colour.epsilon=inf", "attributes.colour.epsilon: "),
    "one category": ('attributes.colour.categories=["red"]', "a question needs two categories; got 1"),
    "a category twice": (
        'attributes.colour.categories=["red","red"]',
        "each category must stand once; got red twice",
    ),
    "no such column": ("population.id=ident", "0.parquet: must have one column 'ident'; got columns colour"),
    "no such file": ("population.path=nowhere", "population.path: must name a Parquet file"),
    "no such file system": ("population.path=nowhere://x", "population.path: must be a path or a URL"),
    "no such ledger": ("ledger.url=nowhere", "ledger.url: must be a database URL"),
    "no processes": ("cluster.workers=0", "cluster.workers: input should be greater than or equal to 1"),
    "two schedulers": (
        'cluster={scheduler="a",scheduler_file="b"}',
        "scheduler_file: a job has one scheduler",
    ),
}


@pytest.mark.parametrize("what", BAD_SPECS)
def test_a_spec_is_refused_with(asking: Canvass, what: str) -> None:
    override, says = BAD_SPECS[what]
    assert says in asking.refusal("--set", override)


def test_a_size_of_memory_that_is_none_is_the_spec_s_fault(asking: Canvass) -> None:
    assert "cluster.memory: must be a size such as 4GiB; got lots" in asking.refusal(
        "--set", "cluster.memory=lots"
    )


def test_over_budget_nothing_is_read(asking: Canvass) -> None:
    Ledger.at(None, asking.state / "canvass").set_limit("people", Decimal("0.5"))
    data = asking.root / "data" / "0.parquet"
    whole = data.read_bytes()
    data.write_bytes(whole[:4] + b"\xff" * 16 + whole[20:])
    says = asking.refusal("--set", "attributes.colour.epsilon=0.75", code=3)
    assert "account 'people': its limit of 0.5 must not be passed; got 0 spent and 0.75 asked for" in says


def test_where_no_scheduler_answers_the_cluster_is_at_fault(asking: Canvass) -> None:
    started = time.monotonic()
    says = asking.refusal("--scheduler", "tcp://127.0.0.1:9", "--set", "cluster.timeout_s=1", code=5)
    assert "tcp://127.0.0.1:9: a scheduler with workers must answer" in says
    assert time.monotonic() - started < 20
    assert "nowhere.json: a scheduler with workers must answer" in asking.refusal(
        "--scheduler-file", "nowhere.json", code=5
    )


@pytest.fixture(scope="module")
def deserted(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A scheduler without workers."""
    with remote_scheduler(tmp_path_factory.mktemp("deserted")) as remote:
        yield remote


def test_a_scheduler_without_workers_is_waited_for_and_refused(asking: Canvass, deserted: Remote) -> None:
    says = asking.refusal("--scheduler", deserted.address, "--set", "cluster.timeout_s=1", code=5)
    assert f"{deserted.address}: a scheduler with workers must answer; got WorkerStartTimeoutError" in says


def test_a_worker_that_runs_other_code_is_refused(asking: Canvass, deserted: Remote, tmp_path: Path) -> None:
    for package in (cluster, udfs):
        folder = Path(str(package.__file__)).parent
        shutil.copytree(folder, tmp_path / "other" / folder.name)
    with (tmp_path / "other" / "udfs" / "streams.py").open("a") as source:
        source.write("# one comment more\n")
    worker = deserted.start_worker(PYTHONPATH=str(tmp_path / "other"))
    try:
        says = asking.refusal("--scheduler-file", str(deserted.file), "--set", "cluster.timeout_s=30", code=5)
        assert "must run the driver's code, " in says
        assert "Install the same releases everywhere, and restart the worker." in says
    finally:
        worker.kill()
        worker.wait()


def test_workers_that_stand_still_are_given_up(canvass: Canvass, multitude: str) -> None:
    canvass.ask(multitude, QUESTIONS)
    run = canvass.start("--workers", "2", "--quiet", "--set", "cluster.timeout_s=4")
    wait_until(canvass.staged, run)
    for worker in workers_of(run):
        worker.send_signal(signal.SIGSTOP)
    ended = end(run)
    assert ended.returncode == 5, ended.stderr
    (line,) = ended.stderr.splitlines()
    assert "randomize: a task must finish within 4 s of another; got none" in line
    assert [charge.status for charge in canvass.charges()] == ["charged"] * 2


def test_a_scheduler_that_dies_fails_the_job_in_one_line(
    canvass: Canvass, multitude: str, tmp_path: Path
) -> None:
    canvass.ask(multitude, QUESTIONS, id="name")
    with remote_scheduler(tmp_path / "doomed") as remote:
        remote.start_worker()
        run = canvass.start("--quiet", "--scheduler", remote.address)
        wait_until(canvass.staged, run)
        remote.processes[0].kill()
        ended = end(run)
    assert ended.returncode == 5, ended.stderr
    (line,) = ended.stderr.splitlines()
    assert line.startswith("canvass: randomize: the ")
