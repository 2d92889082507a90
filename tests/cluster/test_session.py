"""A cluster of processes: progress, deaths, stalls, and places where there is none."""

from __future__ import annotations

import contextlib
import io
import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import distributed
import pytest

from cluster.engine import DaskEngine
from cluster.progress import LineProgress
from cluster.session import ClusterOptions, open_engine, worker_facts
from tests.cluster.deaths import die
from udfs.errors import ClusterError, SpecError

PATIENCE_S = 20.0


def chained(partials: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Combine so that the order shows."""
    return tuple(itertools.chain.from_iterable(partials))


class Screen(LineProgress):
    """Progress on a screen that may be slow to show a task that has ended."""

    def __init__(self) -> None:
        self.shown, self.pause_s = io.StringIO(), 0.0
        super().__init__(self.shown)

    @contextlib.contextmanager
    def stage(self, name: str, total: int) -> Iterator[Callable[[], None]]:
        """Open a stage, whose tasks are shown slowly."""
        with super().stage(name, total) as advance:
            yield lambda: (time.sleep(self.pause_s), advance())[1]


@pytest.fixture(scope="module")
def screen() -> Screen:
    return Screen()


@pytest.fixture(scope="module")
def crew(screen: Screen) -> Iterator[DaskEngine]:
    """Two processes of our own, to be killed."""
    with open_engine(ClusterOptions(workers=2, timeout_s=PATIENCE_S), screen) as engine:
        yield engine


def dying(graves: Path, units: set[int], after_s: float | None = None) -> Callable[[int], tuple[int, ...]]:
    """Return a chunk whose process dies once for some units: before it answers, or so long after."""

    def chunk(unit: int) -> tuple[int, ...]:
        grave = graves / str(unit)
        if unit in units and not grave.exists():
            grave.touch()
            if after_s is None:
                die()
            threading.Timer(after_s, die).start()
        time.sleep(0.02)
        return (unit,)

    return chunk


def test_a_stage_shows_when_it_begins_and_ends(crew: DaskEngine, screen: Screen) -> None:
    crew.reduce(range(3), lambda unit: (unit,), chained, "count reports")
    said = screen.shown.getvalue().splitlines()
    assert said[0] == "canvass: starting processes on this machine"
    assert said[-2] == "canvass: count reports: 3 tasks"
    assert said[-1].startswith("canvass: count reports: done in ")


def test_the_embedded_cluster_speaks_tls_on_loopback(crew: DaskEngine) -> None:
    def addresses(unit: int) -> tuple[str, ...]:
        worker = distributed.get_worker()
        return (worker.address, worker.scheduler.address)

    found = crew.reduce(range(4), addresses, chained, "addresses")
    assert all(str(address).startswith("tls://127.0.0.1:") for address in found)


def test_processes_that_die_before_they_answer_change_nothing(crew: DaskEngine, tmp_path: Path) -> None:
    assert crew.reduce(range(40), dying(tmp_path, {0, 7, 39}), chained, "count") == tuple(range(40))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "39", "7"]


@pytest.mark.parametrize("pause_s", [0.0, 0.3])
def test_processes_that_die_with_answers_in_their_hands_change_nothing(
    crew: DaskEngine, screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pause_s: float
) -> None:
    monkeypatch.setattr(screen, "pause_s", pause_s)  # answers are lost before the driver has looked at them
    assert crew.reduce(range(10), dying(tmp_path, {1, 2}, 0.05), chained, "count") == tuple(range(10))


def test_a_chunk_that_always_kills_its_process_fails_the_job_and_soon(crew: DaskEngine) -> None:
    started = time.monotonic()
    with pytest.raises(
        ClusterError, match="deadly: workers must outlive their tasks; got a task whose worker died"
    ):
        crew.reduce(range(1), lambda unit: die(), chained, "deadly")
    assert time.monotonic() - started < 60


def test_slow_tasks_are_waited_for_until_none_finishes(tmp_path: Path) -> None:
    def sleep(unit: float) -> tuple[float, ...]:
        time.sleep(unit)
        return (unit,)

    started = time.monotonic()
    with open_engine(ClusterOptions(workers=1, timeout_s=2)) as engine:
        assert engine.reduce([1, 1, 1], sleep, chained, "slow") == (1, 1, 1)
        message = "slower: a task must finish within 2 s of another; got none, with 1 workers there"
        with pytest.raises(ClusterError, match=message):
            engine.reduce([0, 600, 0], sleep, chained, "slower")
    assert time.monotonic() - started < 60


@pytest.mark.parametrize(
    ("options", "got"),
    [
        (ClusterOptions(scheduler="nowhere"), "ValueError"),
        (ClusterOptions(scheduler="carrier-pigeon://127.0.0.1:9"), "ValueError"),
        (ClusterOptions(scheduler_file="nowhere.json"), "FileNotFoundError"),
        (ClusterOptions(scheduler_file="torn.json"), "JSONDecodeError"),
        (ClusterOptions(scheduler_file="other.json"), "KeyError"),
    ],
)
def test_a_place_without_a_scheduler_is_refused_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: ClusterOptions, got: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "torn.json").write_text('{"address": "tc')
    (tmp_path / "other.json").write_text("{}")
    started = time.monotonic()
    where = options.scheduler or options.scheduler_file
    with (
        pytest.raises(ClusterError, match=f"{where}: a scheduler with workers must answer; got {got}"),
        open_engine(options),
    ):
        pass
    assert time.monotonic() - started < 20


def test_a_memory_that_is_no_size_is_the_spec_s_fault() -> None:
    with (
        pytest.raises(SpecError, match=r"cluster\.memory: must be a size such as 4GiB; got lots"),
        open_engine(ClusterOptions(memory="lots")),
    ):
        pass


def test_workers_are_held_to_the_driver_s_releases_and_code() -> None:
    facts = worker_facts()
    assert set(facts) == {"dask", "distributed", "numpy", "pyarrow", "cryptography", "python", "code"}
    assert len(facts["code"]) == 64
