from __future__ import annotations

import json
import multiprocessing
import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from jobs.skills import holders as holders_module
from jobs.skills.holders import Holder, OpeningLog
from jobs.skills.key_files import read_share
from tests.jobs.skills.holding import KEY, asked, holder, resealed, share_files
from udfs.errors import ProtocolError
from udfs.threshold import partially_decrypt, verify

TURNS = 20


@pytest.fixture
def log(tmp_path: Path) -> OpeningLog:
    return OpeningLog(tmp_path / "share-1.opened.jsonl")


def test_a_log_tells_what_was_opened_and_when(log: OpeningLog, tmp_path: Path) -> None:
    request = asked(contributions=97)
    holder(1, log).open(request)
    (line,) = (tmp_path / "share-1.opened.jsonl").read_text().splitlines()
    told = json.loads(line)
    assert timedelta() <= datetime.now(UTC) - datetime.fromisoformat(told["at"]) < timedelta(minutes=5)
    assert told == {
        "kind": "opening",
        "version": 1,
        "key_id": KEY.key_id,
        "session": "3f2a",
        "level": 5,
        "account": "people",
        "contributions": 97,
        "participants": 100,
        "dropout": 5,
        "epsilon": "0.5",
        "request": request.digest,
        "at": told["at"],
        "sha256": told["sha256"],
    }
    assert (tmp_path / "share-1.opened.jsonl").stat().st_mode & 0o777 == 0o600


def test_an_opening_is_on_disk_before_there_is_an_answer(
    log: OpeningLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk: dict[int, bytes] = {}
    fsync = os.fsync

    def synced(handle: int) -> None:
        if os.path.isfile(path := os.readlink(f"/proc/self/fd/{handle}")):
            on_disk[os.fstat(handle).st_ino] = Path(path).read_bytes()
        fsync(handle)

    def answer(*arguments: Any) -> Any:
        assert request.digest.encode() in on_disk[(tmp_path / "share-1.opened.jsonl").stat().st_ino]
        return partially_decrypt(*arguments)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(holders_module, "partially_decrypt", answer)
    request = asked()
    assert holder(1, log).open(request).holder == 1
    on_disk.clear()  # as if killed before it was on disk, though other processes saw it
    assert holder(1, log).open(request).holder == 1


def test_nothing_is_opened_where_the_log_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for path in (tmp_path / "folder", tmp_path / "away" / "log", tmp_path / "link"):
        with pytest.raises(
            ProtocolError, match="must be a log that can be written: nothing is opened without"
        ):
            holder(1, OpeningLog(path)).open(asked())
    assert not (tmp_path / "elsewhere").exists()


def test_a_line_that_was_cut_off_counts_once_it_is_whole(log: OpeningLog, tmp_path: Path) -> None:
    first, second = asked(level=5), asked(level=4)
    holder(1, log).open(first)
    path = tmp_path / "share-1.opened.jsonl"
    kept = path.read_bytes()
    holder(1, log).open(second)
    whole = path.read_bytes()
    for length in (*range(len(kept), len(whole) - 1, 7), len(whole) - 2, len(whole) - 1, len(whole)):
        path.write_bytes(whole[:length])
        counts = length >= len(whole) - 1  # all but the end of the line
        assert len(log.openings) == 1 + counts
        assert path.read_bytes() == (whole if counts else kept)
    path.write_bytes(kept + b"\0" * 100)
    holder(1, log).open(second)
    assert len(log.openings) == 2


def test_a_log_that_is_damaged_opens_nothing(log: OpeningLog, tmp_path: Path) -> None:
    holder(1, log).open(asked(level=5))
    holder(1, log).open(asked(level=4))
    path = tmp_path / "share-1.opened.jsonl"
    whole = path.read_bytes()
    first = whole.index(b"\n")
    for place in range(0, first, 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(ProtocolError, match=r"share-1\.opened\.jsonl, line 1: must"):
            holder(1, log).open(asked(level=3))
    path.write_bytes(b"\n" + whole)
    with pytest.raises(ProtocolError, match="line 1: must be whole"):
        holder(1, log).open(asked(level=3))


def test_a_damaged_log_is_not_to_be_replaced_by_an_older_one(log: OpeningLog, tmp_path: Path) -> None:
    (tmp_path / "share-1.opened.jsonl").write_text("x\n")
    with pytest.raises(ProtocolError, match=r"Restore it from a copy that is no older, or deal new keys\.$"):
        log.check()


@pytest.mark.parametrize(
    "changes",
    [{"level": 21}, {"level": "5"}, {"session": ""}, {"session": 5}, {"comment": "one more"}, {"epsilon": 1}],
)
def test_a_line_that_was_forged_into_another_form_is_refused(
    changes: dict[str, Any], log: OpeningLog, tmp_path: Path
) -> None:
    holder(1, log).open(asked())
    path = tmp_path / "share-1.opened.jsonl"
    path.write_text(resealed(path.read_text(), **changes))
    with pytest.raises(ProtocolError, match="line 1: must have the fields of an opening"):
        log.check()


def test_a_log_is_checked_without_a_line_of_it(log: OpeningLog, tmp_path: Path) -> None:
    path = tmp_path / "share-1.opened.jsonl"
    log.check()
    assert path.read_bytes() == b""
    holder(1, log).open(asked())
    whole = path.read_bytes()
    log.check()
    assert path.read_bytes() == whole
    (tmp_path / "folder").mkdir()
    with pytest.raises(
        ProtocolError, match=r"folder: must be a log that can be written.*; got Is a directory"
    ):
        OpeningLog(tmp_path / "folder").check()


def test_a_share_has_one_log_however_it_is_reached(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    share = share_files(tmp_path / "keys")[0]
    (tmp_path / "link.json").symlink_to(share)
    own = read_share(share)
    holder(1, OpeningLog.beside(share, own)).open(asked())
    with pytest.raises(ProtocolError, match="one sum of a level is opened, ever"):
        holder(1, OpeningLog.beside(tmp_path / "link.json", own)).open(asked())
    renamed = share.rename(share.with_name("mine.json"))
    with pytest.raises(ProtocolError, match="one sum of a level is opened, ever"):
        holder(1, OpeningLog.beside(renamed, own)).open(asked())
    log = f"holder-1-of-{KEY.key_id[:12]}.opened.jsonl"
    assert [path.relative_to(tmp_path) for path in tmp_path.rglob("*.jsonl")] == [Path("keys") / log]


def test_a_share_that_stands_in_two_folders_is_refused(tmp_path: Path) -> None:
    """Each name would have a log of its own."""
    (tmp_path / "keys").mkdir()
    share = share_files(tmp_path / "keys")[0]
    (tmp_path / "hard.json").hardlink_to(share)
    with pytest.raises(ProtocolError, match=r"hard\.json: must have one name"):
        OpeningLog.beside(tmp_path / "hard.json", read_share(share))


def open_at_once(share: Path, barrier: Barrier, outcomes: Queue[tuple[int, str, str]]) -> None:
    """Ask one holder for a sum of one's own of each of many sessions, as others do at the same time."""
    own = read_share(share)
    one = Holder(own, OpeningLog.beside(share, own))
    requests = [asked(session=f"{turn}") for turn in range(TURNS)]
    for turn, request in enumerate(requests):
        barrier.wait(60)
        try:
            part = one.open(request)
            verify(KEY, request.ciphertexts, part)
            outcomes.put((turn, "opened", request.digest))
        except ProtocolError as error:
            outcomes.put((turn, error.must, request.digest))


def test_processes_that_hold_one_share_at_once_open_one_sum_of_a_level(tmp_path: Path) -> None:
    share, processes = share_files(tmp_path)[0], 3
    spawn = multiprocessing.get_context("spawn")
    barrier, outcomes = spawn.Barrier(processes), spawn.Queue()
    started = [spawn.Process(target=open_at_once, args=(share, barrier, outcomes)) for _ in range(processes)]
    for process in started:
        process.start()
    found = [outcomes.get(timeout=60) for _ in range(processes * TURNS)]
    for process in started:
        process.join(60)
    assert [process.exitcode for process in started] == [0] * processes
    counts = Counter((turn, what) for turn, what, _ in found)
    expected = {"opened": 1, "one sum of a level is opened, ever": processes - 1}
    assert counts == {(turn, what): n for turn in range(TURNS) for what, n in expected.items()}
    opened = {(f"{turn}", digest) for turn, what, digest in found if what == "opened"}
    assert {
        (one.session, one.request) for one in OpeningLog.beside(share, read_share(share)).openings
    } == opened
