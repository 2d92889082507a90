"""Runs that are cut off anywhere, and the runs after them."""

from __future__ import annotations

import os
import re
import shutil
import traceback
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from cluster.reduce import SerialEngine
from cluster.storage import Store
from jobs.ledger import Ledger
from jobs.state import JobState
from tests.jobs.house import House, Unusable
from udfs.errors import BudgetError, ClusterError, SchemaError
from udfs.streams import Secret

pytestmark = pytest.mark.usefixtures("small_parts")


class CutOff(SerialEngine):
    """Looks all rows through, asks the first half of the files, then fails: after the charge."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self._error = error

    def reduce(self, units: Sequence[Any], *how: Any) -> Any:
        if how[-1] == "check":
            return super().reduce(units, *how)
        super().reduce(units[: len(units) // 2], *how)
        raise self._error


class Meddling(SerialEngine):
    """Lets a file change after it was asked, before the others are."""

    def __init__(self, change: Callable[[], object]) -> None:
        super().__init__()
        self._change = change

    def reduce(self, units: Sequence[Any], *how: Any) -> Any:
        if how[-1] == "check":
            return super().reduce(units, *how)
        super().reduce(units[:1], *how)
        self._change()
        return super().reduce(units, *how)


def cut_off(house: House, error: BaseException | None = None, **backend: Any) -> BaseException:
    """Run a job that fails half way."""
    error = error or ClusterError("cluster", "must stay")
    with pytest.raises(type(error)) as failure:
        house.run(CutOff(error), **backend)
    return failure.value


def once(monkeypatch: pytest.MonkeyPatch, owner: type, method: str, fails_for: str = "") -> None:
    """Let a method fail the first time it is called, or is called with an argument."""
    original = getattr(owner, method)

    def fail(self: Any, *arguments: Any, **options: Any) -> Any:
        if fails_for in ("", arguments[0]):
            monkeypatch.setattr(owner, method, original)
            raise KeyboardInterrupt
        return original(self, *arguments, **options)

    monkeypatch.setattr(owner, method, fail)


@pytest.mark.parametrize(
    "error", [ClusterError("cluster", "must stay"), KeyboardInterrupt(), MemoryError(), SystemExit(1)]
)
def test_a_run_that_was_cut_off_resumes_with_the_same_reports_and_one_charge(
    house: House, twin: House, secret: Secret, error: BaseException
) -> None:
    for each in (house, twin):
        each.fill()
    undisturbed, _ = twin.run(secret=secret)

    cut_off(house, error, secret=secret)
    assert house.charges() == ["charged"]
    assert [path.stat().st_mode & 0o777 for path in house.secrets()] == [0o600]
    assert not house.reports()
    assert all(name.startswith(".canvass-") for name in house.files())

    document, stored = house.run()
    assert not stored
    assert house.reports() == twin.reports()
    assert document["result"] == undisturbed["result"]
    assert document["privacy"] == undisturbed["privacy"]
    assert house.charges() == ["charged"]
    assert not house.secrets()
    assert house.run(Unusable()) == (document, True)


def test_what_was_asked_before_is_not_asked_again(house: House) -> None:
    house.fill(files=4)
    cut_off(house)
    staged = {path.name: path.stat().st_ino for path in house.out.glob(".canvass-*/reports/*.parquet")}
    assert sorted(staged) == ["part-00000.parquet", "part-00001.parquet"]
    house.run()
    assert {name: (house.out / "reports" / name).stat().st_ino for name in staged} == staged
    assert not list(house.out.glob(".canvass-*"))


def test_a_failure_says_nothing_of_the_secret(house: House, secret: Secret) -> None:
    house.fill()
    failure = cut_off(house, secret=secret)
    said = "".join(traceback.format_exception(failure)) + repr(failure)
    assert secret.reveal().hex() not in said
    assert repr(secret.reveal()) not in said
    staged = b"".join(house.files().values())
    assert secret.reveal() not in staged
    assert secret.reveal().hex().encode() not in staged


def test_a_run_whose_secret_is_gone_is_drawn_and_charged_anew(house: House) -> None:
    house.fill()
    cut_off(house)
    (lost,) = house.secrets()
    lost.unlink()
    document, stored = house.run()
    assert not stored
    assert house.charges() == ["charged", "charged"]
    assert document["privacy"]["spent_before"] == 1


def test_a_run_goes_on_in_another_output_with_the_same_coins(
    house: House, twin: House, secret: Secret
) -> None:
    for each in (house, twin):
        each.fill()
    twin.run(secret=secret)
    cut_off(house, secret=secret)
    left, house.out = house.out, house.out.with_name("elsewhere")
    house.given["output"]["path"] = str(house.out)
    house.run()
    assert house.reports() == twin.reports()
    assert house.charges() == ["charged"]
    assert not left.exists()


def test_changed_data_is_another_job_and_never_resumed(house: House) -> None:
    house.fill()
    cut_off(house)
    house.fill(rows=61)
    document, stored = house.run()
    assert not stored
    assert document["population"]["rows"] == 4 * 61
    assert len({charge.job for charge in house.ledger.charges("people")}) == 2
    assert house.charges() == ["charged", "charged"]


@pytest.mark.parametrize("change", [os.utime, os.remove, lambda path: os.truncate(path, 100)])
def test_a_file_that_changes_while_the_job_runs_is_refused(
    house: House, change: Callable[[Path], object]
) -> None:
    house.fill()
    with pytest.raises(SchemaError, match=r"3\.parquet: must stay as it was when the job started"):
        house.run(Meddling(lambda: change(house.people / "3.parquet")))
    assert house.charges() == ["charged"]  # coins were drawn
    assert not house.out.exists()
    assert not house.secrets()


@pytest.mark.parametrize("name", ["result.json", "manifest.json"])
def test_a_run_that_is_cut_off_while_it_publishes_resumes(
    house: House, twin: House, secret: Secret, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for each in (house, twin):
        each.fill()
    twin.run(secret=secret)
    once(monkeypatch, Store, "replacing", fails_for=name)
    with pytest.raises(KeyboardInterrupt):
        house.run(secret=secret)
    assert "manifest.json" not in house.files()
    house.run()
    assert house.reports() == twin.reports()
    assert house.charges() == ["charged"]
    assert house.run(Unusable())[1]


def test_a_result_that_was_published_but_not_noted_is_stored(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.fill()
    once(monkeypatch, JobState, "commit")
    with pytest.raises(KeyboardInterrupt):
        house.run()
    files = house.files()
    for _ in range(2):
        assert house.run(Unusable())[1]
    assert house.files() == files
    assert house.charges() == ["charged"]
    assert not house.secrets()


def test_a_draw_that_was_committed_is_never_resumed(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.fill()
    commit = JobState.commit

    def commit_and_stop(self: JobState, *arguments: Any) -> None:
        commit(self, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(JobState, "commit", commit_and_stop)
    with pytest.raises(KeyboardInterrupt):
        house.run()
    monkeypatch.undo()
    assert house.secrets()
    before = house.reports()
    shutil.rmtree(house.out)
    house.run()
    assert house.charges() == ["charged", "charged"]
    assert house.reports() != before


def test_a_charge_that_fails_leaves_nothing_reserved(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.fill()
    once(monkeypatch, Ledger, "charge")
    with pytest.raises(KeyboardInterrupt):
        house.run()
    assert house.charges() == []
    house.run()
    assert house.charges() == ["charged"]


def test_a_resumed_job_that_is_over_the_limit_by_now_leaves_nothing(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.fill()
    shared = tmp_path / "shared"
    once(monkeypatch, Ledger, "charge")
    with pytest.raises(KeyboardInterrupt):
        house.run(secrets_dir=str(shared))
    house.ledger.set_limit("people", Decimal("0.5"))
    with pytest.raises(BudgetError):
        house.run(Unusable(), secrets_dir=str(shared))
    assert not house.out.exists()
    assert not list(shared.iterdir())


def test_a_lost_output_over_the_limit_is_refused(house: House) -> None:
    house.fill()
    house.ledger.set_limit("people", Decimal("1.5"))
    house.run()
    shutil.rmtree(house.out)
    with pytest.raises(BudgetError, match=re.escape("1 spent and 1 asked for")):
        house.run(Unusable())
    assert house.charges() == ["charged"]
    assert not house.out.exists()
