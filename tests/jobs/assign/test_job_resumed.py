"""An assign job that is cut off, wherever that is: what the next run asks again, and that it comes to the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from cluster.shared import Room, SharedArray
from jobs.assign import job as assign_job
from jobs.assign import spec
from tests.jobs.assign.dispatch import Dispatch
from tests.jobs.assign.engines import Counting
from udfs.errors import ClusterError

STAGES = ["check", "hint", *["fetch", "answer", "fetch"] * 3]
"""Of three batches, where ids are trusted. Where all are only looked through, nothing is left to go on with."""


@pytest.fixture
def dispatch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dispatch:
    return in_batches(tmp_path, monkeypatch)


def in_batches(root: Path, patch: pytest.MonkeyPatch) -> Dispatch:
    """Return a dispatch of 36 workers, a third of whom are asked at a time."""
    patch.setattr(spec, "WORKERS_A_TASK", 12)
    patch.setattr(assign_job, "_MOST_IN_BATCH", 1)
    dispatch = Dispatch(root, workers=36)
    dispatch.given["population"]["ids"] = "trusted"
    return dispatch


@pytest.fixture(scope="module")
def uncut(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a run that nothing happens to tells."""
    engine = Counting()
    with pytest.MonkeyPatch.context() as patch:
        document, _ = in_batches(tmp_path_factory.mktemp("uncut"), patch).run(engine)
    assert engine.stages == STAGES
    return told(document)


def told(document: dict[str, Any]) -> dict[str, Any]:
    """Return a result but for what is measured."""
    return {key: value for key, value in document["result"].items() if not key.startswith("server_")}


def resumed(dispatch: Dispatch, last: int) -> tuple[Counting, dict[str, Any]]:
    """Run until a stage, and then to the end."""
    with pytest.raises(ClusterError, match="it is gone"):
        dispatch.run(Counting(last=last))
    assert dispatch.secrets()
    assert not {"result.json", "manifest.json"} & dispatch.files().keys()
    assert [name for name in dispatch.files() if name.endswith(".npy")] == []
    engine = Counting()
    return engine, dispatch.run(engine)[0]


@pytest.mark.parametrize("last", [1, 2, 4, 6, 10])
@pytest.mark.parametrize("assignments", [True, False])
def test_it_comes_to_the_same_wherever_it_was_cut_off(
    dispatch: Dispatch, uncut: dict[str, Any], last: int, assignments: bool
) -> None:
    dispatch.given["output"]["assignments"] = assignments
    engine, document = resumed(dispatch, last)
    assert told(document) == uncut
    assert document["result"]["server_seconds"] > 0
    done = 0 if assignments else max(0, last - 2) // 3
    once_a_batch = STAGES[2:5]
    assert engine.stages == ["check", *["hint"] * (last == 1), *once_a_batch * (3 - done)]
    assert not dispatch.secrets()
    if assignments:
        dispatch.assert_everybody_received(document["result"]["leaves"])
    else:
        assert dispatch.reports() == {}


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return all that workers send, as it is laid down for the platform."""
    put, heard = Room.__call__, list[bytes]()

    def overhear(self: Room, array: npt.NDArray[Any]) -> SharedArray:
        if array.dtype == np.uint32 and array.shape[:2] == (12, 1):  # workers, gets
            heard.append(array.tobytes())
        return put(self, array)

    monkeypatch.setattr(Room, "__call__", overhear)
    return heard


def test_letters_are_the_same_when_they_are_sent_again(dispatch: Dispatch, letters: list[bytes]) -> None:
    """Other queries with the same secret would give away what both ask for."""
    resumed(dispatch, last=7)
    first, again = letters[:2], letters[2:]
    assert len(set(letters)) == len(again) == 3
    assert again[:2] == first


def test_another_job_of_the_same_workers_sends_other_letters(
    dispatch: Dispatch, letters: list[bytes]
) -> None:
    """Also where nothing differs that a worker could notice."""
    for seconds in (0.01, 0.02):
        dispatch.given["retrieval"]["server_seconds"] = seconds
        assert not dispatch.run()[1]
    assert len(set(letters)) == len(letters) == 6


def test_tasks_that_are_others_meanwhile_are_another_job(dispatch: Dispatch, letters: list[bytes]) -> None:
    with pytest.raises(ClusterError):
        dispatch.run(Counting(last=4))
    dispatch.payloads[0] = b"something else altogether"
    dispatch.offer(dispatch.task_table())
    dispatch.run()
    assert len(set(letters)) == len(letters) == 4
    dispatch.assert_everybody_received(json.loads(dispatch.files()["result.json"])["result"]["leaves"])
