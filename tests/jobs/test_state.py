from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from jobs.state import JobState, Record, state_home
from udfs.errors import ClusterError


@pytest.fixture
def state(tmp_path: Path) -> JobState:
    return JobState(tmp_path, "job")


def lock(home: Path) -> str:
    try:
        with JobState(home, "job").locked():
            return "locked"
    except ClusterError as error:
        return str(error)


def test_a_second_process_is_kept_out_until_the_first_is_done(tmp_path: Path, state: JobState) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as other:
        with state.locked():
            assert "one run at a time has this spec and these data" in other.apply(lock, (tmp_path,))
        assert other.apply(lock, (tmp_path,)) == "locked"


def test_a_lock_ends_with_the_run_that_fails(tmp_path: Path, state: JobState) -> None:
    with pytest.raises(KeyboardInterrupt), state.locked():
        raise KeyboardInterrupt
    assert lock(tmp_path) == "locked"


def test_other_jobs_run_at_the_same_time(tmp_path: Path, state: JobState) -> None:
    with state.locked(), JobState(tmp_path, "other").locked():
        pass


def test_a_job_that_never_began_has_no_record(state: JobState) -> None:
    with state.locked():
        assert state.record() is None


def test_a_record_comes_back_as_it_was_written(state: JobState) -> None:
    with state.locked():
        begun = state.begin("out", "spec", "secret", "code")
        assert state.record() == begun == Record(begun.draw, "out", "spec", "secret", "code", "")
        assert not begun.committed
        state.commit(begun, "digest")
        assert state.record() == Record(begun.draw, "out", "spec", "secret", "code", "digest")
        assert state.record().committed


def test_every_draw_has_a_name_of_its_own(state: JobState) -> None:
    with state.locked():
        assert len({state.begin("out", "spec", "secret", "code").draw for _ in range(100)}) == 100


def test_a_job_that_is_forgotten_leaves_nothing(tmp_path: Path, state: JobState) -> None:
    with state.locked():
        state.begin("out", "spec", "secret", "code")
        state.forget()
        assert state.record() is None
    assert list((tmp_path / "jobs").iterdir()) == []


def test_a_jobs_folder_is_its_owners_alone(state: JobState) -> None:
    with state.locked():
        assert state.folder.stat().st_mode & 0o777 == 0o700


def test_state_lies_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_home() == tmp_path / "canvass"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_home() == tmp_path / ".local" / "state" / "canvass"
