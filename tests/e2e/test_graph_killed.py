"""Graphs by the real command: whatever dies, pairs report once, and the rebuilt graph is the same to the byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import Canvass, end, files_below, kill_group
from tests.e2e.society import PUBLISHED, STAGES, Halted, Society, charged, rooms
from udfs.streams import Secret


@pytest.fixture(scope="module")
def society(tmp_path_factory: pytest.TempPathFactory) -> Society:
    return Society(tmp_path_factory.mktemp("society"))


class Undisturbed:
    """A run on one process that nothing disturbs, and the same job elsewhere, with the same coins."""

    def __init__(self, root: Path, society: Society) -> None:
        self._society, self._secret = society, root / "secret"
        self._secret.touch(0o600)
        self._secret.write_bytes(Secret.new().reveal())
        first = self.again(root / "undisturbed", 1)
        assert first.run().returncode == 0
        self.published = published(first)

    def again(self, root: Path, workers: int = 2) -> Canvass:
        return self._society.ask(root, "--secret-file", str(self._secret), "--workers", str(workers))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, society: Society) -> Undisturbed:
    return Undisturbed(tmp_path_factory.mktemp("undisturbed"), society)


def published(one: Canvass) -> dict[str, Any]:
    """Return the result, the table of nodes and the rebuilt graph; nothing else may be left."""
    assert sorted(path.name for path in one.out.iterdir()) == PUBLISHED
    assert charged(one) == [("link", "2", "charged")]
    (job,) = (one.state / "canvass" / "jobs").iterdir()
    assert sorted(path.name for path in job.iterdir()) == ["digests.json", "lock", "record.json"]
    result = json.loads((one.out / "result.json").read_text("utf-8"))["result"]
    return {"result": result, "nodes": (one.out / "nodes.parquet").read_bytes()} | one.reports()


@pytest.mark.parametrize("stage", STAGES)
def test_what_is_killed_in_a_stage_changes_nothing(
    tmp_path: Path, undisturbed: Undisturbed, stage: str
) -> None:
    """The command, and, when it goes on, its processes: all of them where the stage is one task, which is lost for sure."""
    one = undisturbed.again(tmp_path / "run")
    kill_group(Halted(one, stage).run)
    assert charged(one) == [("link", "2", "charged")]
    assert not (one.out / "manifest.json").exists()

    halted = Halted(one, stage)
    assert len(halted.workers) == 2
    doomed = halted.workers[: 1 if stage == "common neighbours" else 2]
    for worker in halted.workers:
        worker.kill() if worker in doomed else worker.resume()
    ended = end(halted.run)
    assert ended.returncode == 0, ended.stderr
    assert not any(worker.is_running() for worker in doomed)
    assert published(one) == undisturbed.published


def test_pairs_that_are_asked_again_report_the_same(tmp_path: Path, society: Society) -> None:
    """Under a secret of the job's own, which outlives what is killed, and not the job."""
    one = society.ask(tmp_path / "run", "--workers", "1")
    found = []
    for _ in range(2):
        before = rooms(one)
        kill_group(Halted(one, "release").run)
        found.append([arrays for room, arrays in rooms(one).items() if room not in before])
        (file,) = one.state.rglob("*.secret")
    secret = file.read_bytes()
    assert found[0]
    assert sorted(found[0]) == sorted(found[1])
    first = one.run()
    assert first.returncode == 0, first.stderr
    assert "Stored" not in first.stdout
    before = published(one)
    assert not any(secret in data for _, data in files_below(one.state, one.out))
    again = one.run()
    assert "Stored result: nothing was drawn or charged." in again.stdout
    assert published(one) == before
