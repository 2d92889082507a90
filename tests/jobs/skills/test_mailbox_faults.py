from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs.skills import mailbox as mailbox_module
from jobs.skills.holders import OpeningLog
from jobs.skills.key_files import read_share
from jobs.skills.requests import Request
from jobs.skills.sealed import sealed
from tests.jobs.skills.holding import (
    KEY,
    OTHER_KEY,
    OTHER_SHARES,
    PLAINTEXTS,
    SHARES,
    P,
    answered,
    ask,
    asked,
    leave,
    refused,
    resealed,
)
from udfs.errors import ProtocolError
from udfs.threshold import Opened, partially_decrypt


def forged(request: Request, folder: Path, number: int, make: Callable[[dict[str, Any]], None]) -> None:
    """Put another part in place of a holder's, with a checksum that fits."""
    path = folder / f"holder-{number}.json"
    part = json.loads(path.read_text())["part"]
    make(part)
    path.write_text(resealed(path.read_text(), part=part))


def a_value(number: int) -> Callable[[Request, Path], None]:
    def spoil(request: Request, folder: Path) -> None:
        forged(request, folder, 1, lambda part: part["values"].__setitem__(0, f"{number:x}"))

    return spoil


def a_proof(request: Request, folder: Path) -> None:
    forged(request, folder, 1, lambda part: part["proofs"].__setitem__(0, ["1", "1"]))


def no_values(request: Request, folder: Path) -> None:
    forged(request, folder, 1, lambda part: part.update(values=[], proofs=[]))


def a_huge_proof(request: Request, folder: Path) -> None:
    forged(request, folder, 1, lambda part: part["proofs"].__setitem__(0, ["1", "f" * 1_000_000]))


def a_part_of_another_form(request: Request, folder: Path) -> None:
    path = folder / "holder-1.json"
    path.write_text(resealed(path.read_text(), part=[[["7"]]]))


def another_holders(request: Request, folder: Path) -> None:
    (folder / "holder-1.json").write_bytes((folder / "holder-2.json").read_bytes())


def another_holders_renamed(request: Request, folder: Path) -> None:
    another_holders(request, folder)
    forged(request, folder, 1, lambda part: part.update(holder=1))


def another_sessions(request: Request, folder: Path) -> None:
    part = partially_decrypt(SHARES[0], asked(session="before").ciphertexts, os.urandom)
    answer = {"request": asked(session="before").digest, "part": part.to_json()}
    (folder / "holder-1.json").write_text(sealed("answer", answer))


def another_sessions_renamed(request: Request, folder: Path) -> None:
    another_sessions(request, folder)
    path = folder / "holder-1.json"
    path.write_text(resealed(path.read_text(), request=request.digest))


def another_keys(request: Request, folder: Path) -> None:
    ciphertexts = asked(key=OTHER_KEY).ciphertexts
    part = partially_decrypt(OTHER_SHARES[0], ciphertexts, os.urandom)
    (folder / "holder-1.json").write_text(
        sealed("answer", {"request": request.digest, "part": part.to_json()})
    )


def torn(request: Request, folder: Path) -> None:
    text = (folder / "holder-1.json").read_text()
    (folder / "holder-1.json").write_text(text[: len(text) // 2])


def one_bit_flipped(request: Request, folder: Path) -> None:
    text = bytearray((folder / "holder-1.json").read_bytes())
    text[text.index(b'"values":["') + 17] ^= 1
    (folder / "holder-1.json").write_bytes(text)


def some_bytes(content: bytes) -> Callable[[Request, Path], None]:
    def spoil(request: Request, folder: Path) -> None:
        (folder / "holder-1.json").write_bytes(content)

    return spoil


def a_link(request: Request, folder: Path) -> None:
    (folder / "holder-1.json").rename(folder.parent / "elsewhere.json")
    (folder / "holder-1.json").symlink_to(folder.parent / "elsewhere.json")


def a_folder(request: Request, folder: Path) -> None:
    (folder / "holder-1.json").unlink()
    (folder / "holder-1.json").mkdir()


def a_pipe(request: Request, folder: Path) -> None:
    (folder / "holder-1.json").unlink()
    os.mkfifo(folder / "holder-1.json")


def too_large(request: Request, folder: Path) -> None:
    os.truncate(folder / "holder-1.json", 1 << 40)


WRONG = {
    "zero": a_value(0),
    "the square of n": a_value(KEY.n**2),
    "n": a_value(KEY.n),
    "a multiple of p": a_value(3 * P),
    "another value": a_value(4),
    "another proof": a_proof,
    "a huge proof": a_huge_proof,
    "no values": no_values,
    "a part of another form": a_part_of_another_form,
    "another holder's": another_holders,
    "another holder's, renamed": another_holders_renamed,
    "another session's": another_sessions,
    "another session's, renamed": another_sessions_renamed,
    "another key's": another_keys,
    "torn": torn,
    "one bit flipped": one_bit_flipped,
    "empty": some_bytes(b""),
    "no text": some_bytes(bytes(range(256))),
    "deeply nested": some_bytes(b"[" * 1_000_000),
    "a link": a_link,
    "a folder": a_folder,
    "a pipe": a_pipe,
    "too large": too_large,
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_answer_is_named_and_never_opens_anything(
    wrong: str, shares: list[Path], box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = asked(*PLAINTEXTS)
    folder = leave(box, request)
    for share in shares[:2]:
        answered(share, box)
    WRONG[wrong](request, folder)

    with pytest.raises(
        ProtocolError, match=r"got 1 of 2; the answer in holder 1's name is wrong: .*; no answer of holder 3"
    ):
        ask(box, request)

    said: list[str] = []
    monkeypatch.setattr(mailbox_module.time, "sleep", lambda _: answered(shares[2], box))
    assert ask(box, request, wait_s=60, say=said.append) == Opened(PLAINTEXTS, (2, 3), (1,))
    assert len([text for text in said if text.startswith("the answer in holder 1's name is wrong: ")]) == 1

    if not (folder / "holder-1.json").is_dir():  # holder 1 finds out, and answers again
        assert len(answered(shares[0], box)) == 1
        assert ask(box, request) == Opened(PLAINTEXTS, (1, 2), ())


@pytest.mark.parametrize(
    ("wrong", "must"),
    [
        ("another holder's", "must be holder 1's answer to this request; got holder 2's"),
        ("another session's", "must be holder 1's answer to this request"),
        ("torn", "must be whole and fit its checksum"),
        ("too large", "must be a plain file of at most 268435456 bytes"),
    ],
)
def test_a_file_in_place_of_an_answer_is_named(wrong: str, must: str, shares: list[Path], box: Path) -> None:
    request = asked()
    folder = leave(box, request)
    for share in shares[:2]:
        answered(share, box)
    WRONG[wrong](request, folder)
    with pytest.raises(ProtocolError) as refused:
        ask(box, request)
    assert f"the answer in holder 1's name is wrong: {folder / 'holder-1.json'}: {must}" in str(refused.value)


def test_a_wrong_answer_does_no_harm_once_the_right_one_comes(
    shares: list[Path], box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = asked(*PLAINTEXTS)
    folder = leave(box, request)
    for share in shares[:2]:
        answered(share, box)
    a_value(4)(request, folder)
    monkeypatch.setattr(mailbox_module.time, "sleep", lambda _: answered(shares[0], box))
    assert ask(box, request, wait_s=60) == Opened(PLAINTEXTS, (1, 2), ())


def spoilt(kind: str, path: Path, other: Path) -> None:
    text = path.read_bytes()
    path.unlink()
    match kind:
        case "torn":
            path.write_bytes(text[:-40])
        case "one bit flipped":
            place = text.index(b'"ciphertexts":["') + 20
            path.write_bytes(text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :])
        case "renamed":
            path.write_bytes(other.read_bytes())
        case "renamed and resealed":
            path.write_text(resealed(text.decode(), contributions=99))
        case "a link":
            path.symlink_to(other)
        case "a link to nowhere":
            path.symlink_to("/nowhere")
        case "a folder":
            path.mkdir()
        case "a pipe":
            os.mkfifo(path)
        case "deeply nested":
            path.write_bytes(b'{"a":' * 1_000_000)


@pytest.mark.parametrize(
    "kind",
    ["torn", "one bit flipped", "renamed", "renamed and resealed", "a link", "a link to nowhere", "a folder", "a pipe", "deeply nested"],
)  # fmt: skip
def test_a_file_that_is_no_request_is_named_and_the_others_are_answered(
    kind: str, shares: list[Path], box: Path
) -> None:
    bad, good = asked(session="bad"), asked(session="good")
    leave(box, bad)
    leave(box, good)
    path = box / "requests" / f"{bad.digest}.json"
    spoilt(kind, path, box / "requests" / f"{good.digest}.json")
    said = answered(shares[0], box)
    assert len(said) == 2
    assert any(text.startswith(f"{path}: must") for text in said)
    assert [one.session for one in OpeningLog.beside(shares[0], read_share(shares[0])).openings] == ["good"]
    assert [path.parent.name for path in (box / "answers").rglob("*.json")] == [good.digest]


def test_a_link_in_place_of_a_folder_leads_nowhere(shares: list[Path], box: Path, tmp_path: Path) -> None:
    request = asked()
    folder = leave(box, request)
    (tmp_path / "home").mkdir()
    (box / "answers").mkdir()
    folder.symlink_to(tmp_path / "home")
    assert len(refused(shares[0], box)) == 1
    assert list((tmp_path / "home").iterdir()) == []
    with pytest.raises(ProtocolError, match=r"the answer in holder 1's name is wrong: .* no link"):
        ask(box, request)
    folder.unlink()
    answered(shares[0], box)
    assert [path.name for path in folder.iterdir()] == ["holder-1.json"]


def test_a_link_in_place_of_a_file_is_replaced(shares: list[Path], box: Path, tmp_path: Path) -> None:
    request = asked()
    folder = leave(box, request)
    folder.mkdir(parents=True)
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (box / "requests" / f"{request.digest}.json").unlink()
    for link in (box / "requests" / f"{request.digest}.json", folder / "holder-1.json"):
        link.symlink_to(mine)
    with pytest.raises(ProtocolError):
        ask(box, request)
    answered(shares[0], box)
    assert mine.read_text() == "mine"
    assert not (folder / "holder-1.json").is_symlink()
