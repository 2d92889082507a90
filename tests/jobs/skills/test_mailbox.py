from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jobs.skills import mailbox as mailbox_module
from jobs.skills.holders import OpeningLog
from jobs.skills.key_files import read_share, write_keys
from jobs.skills.mailbox import MailboxOpener, serve
from jobs.skills.mailbox_files import MailboxFiles
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
    reason = "this holder opens sums of 96 contributions or more; got 95"
    assert refused(shares[0], box, at_least=96) == [f"holder 1, level 5 of session '3f2a': {reason}"]
    told = json.loads((folder / "holder-1.refused.json").read_text())
    assert (told["request"], told["holder"], told["reason"]) == (request.digest, 1, reason)
    with pytest.raises(
        ProtocolError, match=f"got 0 of 2; holder 1 refused: {reason}; no answer of holders 2, 3"
    ):
        ask(box, request)
    refused(shares[1], box, at_least=96)
    monkeypatch.setattr(mailbox_module.time, "sleep", lambda _: pytest.fail("waited"))
    with pytest.raises(
        ProtocolError, match=r"holder 1 refused: .*; holder 2 refused: .*; no answer of holder 3"
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
    assert OpeningLog.beside(shares[0], read_share(shares[0])).openings == ()


def test_a_holder_that_has_nothing_to_open_is_told_so_once(shares: list[Path], box: Path) -> None:
    box.mkdir()
    own, other = KEY.key_id[:12], OTHER_KEY.key_id[:12]
    assert answered(shares[0], box, watch_s=1) == [f"nothing to open under key {own} in {box}"]
    foreign = [asked(key=OTHER_KEY, level=level) for level in (2, 1)]
    for request in foreign:
        with pytest.raises(ProtocolError):
            MailboxOpener(OTHER_KEY, box, 0).open(request)
    first = min(request.digest for request in foreign)
    assert answered(shares[0], box, watch_s=1) == [
        f"request {first[:12]} is for key '{other}', not {own}",
        f"nothing to open under key {own} in {box}",
    ]
    assert not (box / "answers").exists()


def test_requests_of_other_keys_are_passed_over_beside_one_s_own(shares: list[Path], box: Path) -> None:
    with pytest.raises(ProtocolError):
        MailboxOpener(OTHER_KEY, box, 0).open(asked(key=OTHER_KEY))
    leave(box, asked())
    assert [text.split()[0] for text in answered(shares[0], box)] == ["opened"]
    assert answered(shares[0], box) == []


def test_the_names_of_other_keys_are_told_without_signs_that_a_terminal_obeys(
    shares: list[Path], box: Path
) -> None:
    MailboxFiles(box).make()
    MailboxFiles(box).put_request(replace(asked(), key_id="\x1b[2J"))
    assert all(text.isprintable() for text in answered(shares[0], box))


def test_a_driver_says_how_long_it_waits(shares: list[Path], box: Path) -> None:
    said: list[str] = []
    with pytest.raises(ProtocolError):
        ask(box, asked(), wait_s=0.25, say=said.append)
    expected = f"waiting up to 0.25 s for key-holders to open level 5 of session '3f2a': mailbox {box}"
    assert said == [expected]


def test_a_refusal_does_not_tell_where_a_holder_keeps_its_files(shares: list[Path], box: Path) -> None:
    request = asked()
    folder = leave(box, request)
    log = shares[0].with_name(f"holder-1-of-{KEY.key_id[:12]}.opened.jsonl")
    log.mkdir()
    assert str(log) in refused(shares[0], box)[0]
    text = (folder / "holder-1.refused.json").read_text()
    assert "must be a log that can be written" in text
    assert str(log.parent) not in text


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


def test_each_subfolder_gives_its_own_permissions_on(shares: list[Path], box: Path) -> None:
    """The driver's folder of requests is its own; the holders' folder of answers is theirs together."""
    (box / "answers").mkdir(parents=True)
    (box / "requests").mkdir()
    for folder, mode in ((box, 0o755), (box / "requests", 0o755), (box / "answers", 0o3775)):
        folder.chmod(mode)
    folder = leave(box, asked())
    answered(shares[0], box)
    assert folder.stat().st_mode & 0o7777 == 0o3775
    assert (folder / "holder-1.json").stat().st_mode & 0o7777 == 0o644


def test_a_mailbox_that_is_none_is_an_error_of_the_holders_command(
    shares: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    paths = {
        str(tmp_path / "gone"): "must be a folder; got none. Name the folder that the driver writes to.",
        str(tmp_path / "file"): "must be a folder; got a file",
        "s3://bucket/box": "must be a folder of this machine, or one that is mounted; got a URL",
    }
    for path, told in paths.items():
        with pytest.raises(SpecError) as caught:
            serve(shares[0], path)
        assert str(caught.value) == f"--mailbox {path}: {told}"


def test_a_share_that_is_none_is_an_error_of_the_holders_command(shares: list[Path], box: Path) -> None:
    box.mkdir()
    for share in (shares[0].with_name("gone.json"), shares[0].with_name("public.json")):
        with pytest.raises(SpecError, match=f"^--share {share}: must be"):
            serve(share, box)


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
