from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from jobs.skills.holders import OpeningLog
from jobs.skills.key_files import read_share
from jobs.skills.mailbox import serve
from jobs.skills.requests import Request
from tests.jobs.skills.holding import (
    PLAINTEXTS,
    answered,
    ask,
    asked,
    holder,
    leave,
    refused,
    share_files,
    values,
)
from udfs.errors import ProtocolError
from udfs.threshold import Opened


def run_holder(share: Path, box: Path, watch_s: float) -> None:
    sys.exit(serve(share, box, watch_s=watch_s, say=lambda _: None))


def test_holders_in_processes_of_their_own_answer_level_after_level(shares: list[Path], box: Path) -> None:
    box.mkdir()
    spawn = multiprocessing.get_context("spawn")
    holders = [spawn.Process(target=run_holder, args=(share, box, 250)) for share in shares[:2]]
    for one in holders:
        one.start()
    for level in (2, 1, 0):
        request = asked(*PLAINTEXTS, level=level)
        assert ask(box, request, wait_s=250) == Opened(PLAINTEXTS, (1, 2), ())
    for one in holders:
        one.terminate()
        one.join()
    again = asked(*PLAINTEXTS, level=1)
    leave(box, again)
    for share in shares[:2]:
        assert "one sum of a level is opened, ever" in refused(share, box)[0]


def killed_at(call: int, work: Callable[[], object]) -> bool:
    """Do something in a process that dies at its n-th call to the system; tell whether it did."""
    process = os.fork()
    if process == 0:
        calls = [0]

        def dying(function: Callable[..., Any]) -> Callable[..., Any]:
            def called(*arguments: Any, **options: Any) -> Any:
                calls[0] += 1
                if calls[0] == call:
                    os.kill(os.getpid(), signal.SIGKILL)
                return function(*arguments, **options)

            return called

        for name in ("open", "mkdir", "fchmod", "fsync", "replace", "unlink"):
            setattr(os, name, dying(getattr(os, name)))
        try:
            work()
        finally:
            os._exit(0)
    status = os.waitpid(process, 0)[1]
    assert os.WIFSIGNALED(status) or status == 0
    return os.WIFSIGNALED(status)


def test_a_holder_that_is_killed_anywhere_answers_the_same_again_and_nothing_else(tmp_path: Path) -> None:
    call, deaths_with_answer, deaths_after_writing = 0, 0, 0
    while True:
        call += 1
        box = tmp_path / f"{call}" / "box"
        shares = share_files(tmp_path / f"{call}" / "keys")
        request, other = asked(), asked(contributions=99)
        folder = leave(box, request)
        died = killed_at(call, lambda box=box, share=shares[0]: serve(share, box, say=lambda _: None))
        log = OpeningLog.beside(shares[0], read_share(shares[0]))
        written = [one.request for one in log.openings]
        assert written in ([], [request.digest])
        before = values(folder, 1, request) if (folder / "holder-1.json").exists() else None
        assert written or before is None
        deaths_with_answer += died and before is not None
        deaths_after_writing += died and bool(written)
        if written:
            leave_other = box / "requests" / f"{other.digest}.json"
            leave_other.write_text(other.to_json())
            assert any("one sum of a level is opened, ever" in text for text in refused(shares[0], box))
        else:
            answered(shares[0], box)
        assert before in (None, values(folder, 1, request))
        assert values(folder, 1, request) == holder(1).open(request).values
        assert len(log.openings) == 1
        if not died:
            break
    assert deaths_after_writing > deaths_with_answer > 0


def test_a_driver_that_is_killed_anywhere_finds_its_request_and_the_answers(
    shares: list[Path], tmp_path: Path
) -> None:
    call, died = 0, True
    while died:
        call += 1
        box, request = tmp_path / f"{call}", asked(*PLAINTEXTS, session=f"{call}")

        def work(box: Path = box, request: Request = request) -> None:
            with pytest.raises(ProtocolError):
                ask(box, request)

        died = killed_at(call, work)
        leave(box, request)
        for share in shares[1:]:
            answered(share, box)
        assert ask(box, request) == Opened(PLAINTEXTS, (2, 3), ())
    assert call > 5


DRIVER = """
import sys
from jobs.skills.key_files import read_public
from jobs.skills.mailbox import MailboxOpener
from jobs.skills.requests import Request
MailboxOpener(read_public(sys.argv[1]), sys.argv[2], 600).open(Request.from_json(sys.stdin.read()))
"""


def test_a_driver_that_is_killed_while_it_waits_goes_on(shares: list[Path], box: Path) -> None:
    request = asked(*PLAINTEXTS)
    command = [sys.executable, "-c", DRIVER, str(shares[0].parent / "public.json"), str(box)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True) as driver:
        assert driver.stdin is not None
        driver.stdin.write(request.to_json())
        driver.stdin.close()
        end = time.monotonic() + 60
        while not (box / "requests" / f"{request.digest}.json").exists():
            assert driver.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
        driver.kill()
    for share in shares[:2]:
        answered(share, box)
    assert ask(box, request) == Opened(PLAINTEXTS, (1, 2), ())


def serve_at_once(share: Path, box: Path, barrier: Barrier, outcomes: Queue[int]) -> None:
    barrier.wait(60)
    outcomes.put(serve(share, box, say=lambda _: None))


def test_two_servants_of_one_share_open_one_of_two_sums(shares: list[Path], box: Path) -> None:
    turns = 10
    pairs = [(asked(session=f"{turn}"), asked(session=f"{turn}")) for turn in range(turns)]
    for pair in pairs:
        for request in pair:
            leave(box, request)
    spawn = multiprocessing.get_context("spawn")
    barrier, outcomes = spawn.Barrier(2), spawn.Queue()
    servants = [
        spawn.Process(target=serve_at_once, args=(shares[0], box, barrier, outcomes)) for _ in range(2)
    ]
    for servant in servants:
        servant.start()
    assert [outcomes.get(timeout=60) for _ in servants] == [4, 4]
    for servant in servants:
        servant.join(60)
    opened = {one.request for one in OpeningLog.beside(shares[0], read_share(shares[0])).openings}
    for pair in pairs:
        answers = [(box / "answers" / request.digest / "holder-1.json").exists() for request in pair]
        assert sorted(answers) == [False, True]
        assert [request.digest in opened for request in pair] == answers
