from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from jobs.skills import mailbox as mailbox_module
from jobs.skills.holders import OpeningLog
from jobs.skills.key_files import write_keys
from jobs.skills.mailbox import MailboxOpener, serve
from jobs.skills.requests import Request
from tests.jobs.skills.holding import (
    BITS,
    KEY,
    OTHER_KEY,
    PLAINTEXTS,
    P,
    answered,
    ask,
    asked,
    leave,
    refused,
)
from udfs.errors import ProtocolError, SpecError
from udfs.threshold import Opened, deal


def test_a_driver_and_holders_meet_in_a_mailbox(shares: list[Path], box: Path) -> None:
    request = asked(*PLAINTEXTS)
    leave(box, request)
    assert answered(shares[2], box) == [
        "opened level 5 of session '3f2a', account 'people': 100 of 100 contributions, epsilon 0.5"
    ]
    with pytest.raises(ProtocolError) as waited:
        ask(box, request)
    assert str(waited.value) == (
        f"mailbox {box}: 2 of 3 key-holders must open level 5 of session '3f2a'; got 1 of 2; "
        "no answer of holders 1, 2. Run again once they have answered: the request stays, and nobody is asked twice."
    )
    assert waited.value.exit_code == 4
    answered(shares[0], box)
    assert ask(box, request) == Opened(PLAINTEXTS, (1, 3), ())


def test_what_was_answered_is_not_opened_again(shares: list[Path], box: Path) -> None:
    request = asked()
    folder = leave(box, request)
    assert len(answered(shares[0], box)) == 1
    before = (folder / "holder-1.json").stat()
    assert answered(shares[0], box) == []
    after = (folder / "holder-1.json").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_files_are_on_disk_before_they_have_their_names(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    for name in ("fsync", "replace"):
        function = getattr(os, name)

        def called(*arguments: Any, name: str = name, function: Any = function, **options: Any) -> None:
            calls.append(name)
            function(*arguments, **options)

        monkeypatch.setattr(os, name, called)
    leave(box, asked())
    assert calls == ["fsync", "replace"]


def test_a_holder_refuses_with_a_reason_and_nobody_waits_in_vain(
    shares: list[Path], box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = asked(contributions=95)
    folder = leave(box, request)
    reason = (
        "holder 1, level 5 of session '3f2a': this holder opens sums of 96 contributions or more; got 95."
    )
    assert refused(shares[0], box, at_least=96)[0] + "." == reason
    told = json.loads((folder / "holder-1.refused.json").read_text())
    assert (told["request"], told["holder"], told["reason"] + ".") == (request.digest, 1, reason)
    with pytest.raises(ProtocolError, match=r"got 0 of 2; holder 1 refused: .*; no answer of holders 2, 3"):
        ask(box, request)
    refused(shares[1], box, at_least=96)
    monkeypatch.setattr(mailbox_module.time, "sleep", lambda _: pytest.fail("waited"))
    with pytest.raises(
        ProtocolError, match=r"holder 1 refused: .*; holder 2 refused: .*; no answer of holders 3"
    ):
        ask(box, request, wait_s=60)

    for share in shares[:2]:  # judged anew
        answered(share, box, at_least=95)
    assert not list(folder.glob("*.refused.json"))
    assert ask(box, request).plaintexts == (7, -4)


REASONS: dict[str, tuple[Request, str]] = {
    "too few": (asked(contributions=94), "the contributions of 95 to 100"),
    "too many": (asked(contributions=101), "the contributions of 95 to 100"),
    "of one": (asked(contributions=1, participants=100, dropout=99), "2 participants or more"),
    "the square of n": (asked(ciphertexts=(KEY.n**2,)), "must be a ciphertext"),
    "a multiple of p": (asked(ciphertexts=(7 * P,)), "must be a ciphertext"),
}


@pytest.mark.parametrize("kind", REASONS)
def test_a_driver_asks_nobody_for_what_nobody_should_open(kind: str, box: Path) -> None:
    request, must = REASONS[kind]
    with pytest.raises(ProtocolError, match=must):
        ask(box, request)
    assert not box.exists()


@pytest.mark.parametrize("kind", REASONS)
def test_a_holder_refuses_it_too(kind: str, shares: list[Path], box: Path) -> None:
    request, must = REASONS[kind]
    (box / "requests").mkdir(parents=True)
    (box / "requests" / f"{request.digest}.json").write_text(request.to_json())
    (said,) = refused(shares[0], box)
    assert must in said
    assert [path.name for path in (box / "answers").rglob("*.json")] == ["holder-1.refused.json"]
    assert OpeningLog.beside(shares[0]).openings == ()


def test_requests_of_other_keys_are_passed_over_silently(shares: list[Path], box: Path) -> None:
    foreign = asked(key=OTHER_KEY)
    with pytest.raises(ProtocolError):
        MailboxOpener(OTHER_KEY, box, 0).open(foreign)
    assert answered(shares[0], box) == []
    assert not (box / "answers").exists()


def test_a_driver_does_not_ask_holders_of_another_key(box: Path) -> None:
    with pytest.raises(ProtocolError, match="must be opened under key"):
        ask(box, asked(key=OTHER_KEY))


@pytest.mark.parametrize("mode", [0o2770, 0o1777, 0o700])
def test_what_lies_in_a_mailbox_is_for_those_who_share_it(mode: int, shares: list[Path], box: Path) -> None:
    box.mkdir()
    box.chmod(mode)
    leave(box, asked())
    answered(shares[0], box)
    found = {path: path.stat().st_mode & 0o7777 for path in box.rglob("*")}
    assert {found[path] for path in found if path.is_dir()} == {mode}
    assert {found[path] for path in found if path.is_file()} == {mode & 0o444 | 0o600}


def test_a_mailbox_that_is_not_there_is_an_error_of_the_holders_command(
    shares: list[Path], box: Path
) -> None:
    with pytest.raises(SpecError, match="must be a folder"):
        serve(shares[0], box)


def test_a_mailbox_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "box"):
        with pytest.raises(ProtocolError, match=rf"^{path}.*: must be a plain file or folder"):
            ask(path, asked())


def test_holders_of_keys_that_two_groups_can_use_apart_are_warned(tmp_path: Path, box: Path) -> None:
    key, shares = deal(4, 2, BITS, os.urandom)
    write_keys(tmp_path / "four", key, shares)
    box.mkdir()
    said: list[str] = []
    assert serve(tmp_path / "four" / "share-1.json", box, say=said.append) == 0
    assert any("2 of 4 holders" in line for line in said)


def test_both_sides_look_ever_more_seldom_until_something_happens(
    shares: list[Path], box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, pauses = [0.0], []

    def sleep(seconds: float) -> None:
        pauses.append(round(seconds, 2))
        clock[0] += seconds
        if len(pauses) == 9:
            leave(box, asked())

    box.mkdir()
    monkeypatch.setattr(mailbox_module.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(mailbox_module.time, "sleep", sleep)
    answered(shares[0], box, watch_s=20)
    growing = [0.2, 0.3, 0.45, 0.68, 1.01, 1.52, 2.0, 2.0, 2.0]
    assert pauses[:12] == [*growing, 0.2, 0.3, 0.45]
    assert sum(pauses) == pytest.approx(20, abs=0.1)


def test_odd_names_in_a_mailbox_do_no_harm(shares: list[Path], box: Path) -> None:
    request = asked()
    leave(box, request)
    text = request.to_json()
    names = ["-rf", "notes.txt", ".hidden.json", "a\nb.json", f"{'0' * 63}.json", f"{'A' * 64}.json", f".{'0' * 32}.tmp"]  # fmt: skip
    for name in names:
        (box / "requests" / name).write_text(text)
    (box / "requests" / os.fsdecode(b"\xff.json")).write_text(text)
    assert len(answered(shares[0], box)) == 1
