"""Tasks fetched by the real command: whatever dies, every worker receives the tasks of its leaf, once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import Canvass, kill_group, wait_until, workers_of
from tests.jobs.assign.dispatch import Dispatch

WORKERS, GETS = 1500, 8
"""Of several gets, there is time to kill something between."""


def fetching(root: Path, protocol: str, workers: int = WORKERS, **retrieval: Any) -> tuple[Canvass, Dispatch]:
    """Return a run of the command over a dispatch of its own."""
    one, dispatch = Canvass(root), Dispatch(root / "dispatch", workers)
    dispatch.out = one.out
    one.tables = dispatch.given | {
        "retrieval": {"protocol": protocol, **retrieval},
        "cluster": {"workers": 2},
        "output": {"path": "out", "assignments": True},
    }
    return one, dispatch


def leaves(one: Canvass) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((one.out / "result.json").read_text("utf-8"))["result"]["leaves"]
    return found


@pytest.mark.parametrize(
    ("protocol", "workers", "options"),
    [
        ("lattice", WORKERS, {}),
        ("paillier", 40, {"bits": 512}),
        ("download", WORKERS, {"gets": 2}),
        ("auto", WORKERS, {}),
    ],
)
def test_every_worker_receives_the_tasks_of_its_leaf(
    tmp_path: Path, protocol: str, workers: int, options: dict[str, Any]
) -> None:
    one, dispatch = fetching(tmp_path, protocol, workers, **options)
    result = one.document()["result"]
    dispatch.assert_everybody_received(result["leaves"])
    assert (result["workers"], result["undecoded"]) == (workers, 0)
    assert one.charges() == []
    assert not list(one.state.rglob("*.secret"))
    assert sorted(path.name for path in one.out.iterdir()) == [
        "manifest.json",
        "report.html",
        "reports",
        "result.json",
    ]


def test_a_process_that_is_killed_while_workers_fetch_changes_nothing(tmp_path: Path) -> None:
    one, dispatch = fetching(tmp_path, "lattice", gets=GETS)
    run = one.start()
    wait_until(lambda: list(one.out.glob(".canvass-*/rooms/*/*.npy")), run)
    victims = workers_of(run)
    assert len(victims) == 2
    victims[0].kill()
    _, told = run.communicate(timeout=120)
    assert run.returncode == 0, told
    dispatch.assert_everybody_received(leaves(one))


@pytest.mark.parametrize("assignments", [True, False])
def test_a_job_that_is_killed_goes_on(tmp_path: Path, assignments: bool) -> None:
    """Letters are the same when they are sent again: the platform learns nothing from two of them."""
    one, dispatch = fetching(tmp_path, "lattice", gets=GETS)
    one.tables["output"] |= {"assignments": assignments}
    run = one.start()
    sent = wait_until(lambda: _letters(one), run)
    kill_group(run)
    kept = tmp_path / "kept.npy"
    shutil.copy(sent[0], kept)
    assert list(one.state.rglob("*.secret"))
    again = one.start()
    same = wait_until(lambda: [path for path in _letters(one) if path not in sent], again)
    first = kept.read_bytes()
    wait_until(
        lambda: any(path.exists() and path.read_bytes() == first for path in same + _letters(one)), again
    )
    _, told = again.communicate(timeout=120)
    assert again.returncode == 0, told
    if assignments:
        dispatch.assert_everybody_received(leaves(one))
    result = json.loads((one.out / "result.json").read_text("utf-8"))["result"]
    assert (result["received"], result["undecoded"]) == (GETS * WORKERS, 0)
    assert not list(one.state.rglob("*.secret"))
    assert not list(one.out.glob(".canvass-*"))


def _letters(one: Canvass) -> list[Path]:
    """Return whole files in the room of a batch: the library and the hint lie in the two that were opened first."""
    rooms = sorted(one.out.glob(".canvass-*/rooms/*"), key=lambda room: room.stat().st_ctime)
    return [path for room in rooms[2:] for path in room.glob("*.npy")]
