"""What a driver is told of holders that refuse, and of answers that do not hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jobs.skills import mailbox as mailbox_module
from jobs.skills.mailbox_files import MailboxFiles
from jobs.skills.sealed import sealed
from tests.jobs.skills.holding import PLAINTEXTS, answered, ask, asked, leave, refused, resealed
from udfs.errors import ProtocolError
from udfs.threshold import Opened


def test_what_is_wrong_is_known_also_where_others_suffice(shares: list[Path], box: Path) -> None:
    """Answers of holders 1 and 2 open the sum; what lies there in the name of holder 3 is told of."""
    request = asked(*PLAINTEXTS)
    folder = leave(box, request)
    for share in shares[:2]:
        answered(share, box)
    (folder / "holder-3.json").write_text("{}")
    said: list[str] = []
    assert ask(box, request, say=said.append) == Opened(PLAINTEXTS, (1, 2), wrong=(3,), declined=())
    assert [text.split(":")[0] for text in said] == ["the answer in holder 3's name is wrong"]
    refused(shares[2], box, at_least=101)  # whose refusal stands beside what another put in its place
    assert ask(box, request) == Opened(PLAINTEXTS, (1, 2), wrong=(3,), declined=(3,))
    (folder / "holder-3.json").unlink()
    assert ask(box, request) == Opened(PLAINTEXTS, (1, 2), wrong=(), declined=(3,))
    answered(shares[2], box)
    assert ask(box, request) == Opened(PLAINTEXTS, (1, 2), (), ())


def test_a_wrong_answer_is_said_without_naming_its_holder_twice(shares: list[Path], box: Path) -> None:
    request = asked(*PLAINTEXTS)
    folder = leave(box, request)
    answered(shares[0], box)
    path = folder / "holder-1.json"
    part = json.loads(path.read_text())["part"]
    path.write_text(resealed(path.read_text(), part=part | {"proofs": [["1", "1"], *part["proofs"][1:]]}))
    with pytest.raises(ProtocolError) as waited:
        ask(box, request)
    told = (
        "got 0 of 2; the answer in holder 1's name is wrong: must prove what it gives; got a wrong proof of"
    )
    assert told in str(waited.value)


def test_a_refusal_is_told_without_signs_that_a_terminal_obeys(box: Path) -> None:
    request = asked()
    folder = leave(box, request)
    folder.mkdir(parents=True)
    reason = "no\x1b[2J\n\u202e" + "!" * 10_000
    line = sealed("refusal", {"request": request.digest, "holder": 1, "reason": reason})
    (folder / "holder-1.refused.json").write_text(line)
    told = MailboxFiles(box).read_refusal(request.digest, 1)
    assert told == "no?[2J??" + "!" * (1000 - 8)
    said: list[str] = []
    with pytest.raises(ProtocolError):
        ask(box, request, say=said.append)
    assert [text.isprintable() for text in said][:1] == [True]


@pytest.mark.parametrize("text", [b"", b"{}", sealed("refusal", {"request": "0" * 64, "holder": 1, "reason": "no"}).encode()])  # fmt: skip
def test_a_refusal_that_is_none_does_not_end_the_wait(
    text: bytes, shares: list[Path], box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = asked()
    folder = leave(box, request)
    folder.mkdir(parents=True)
    for number in (1, 2, 3):
        (folder / f"holder-{number}.refused.json").write_bytes(text)
    late = iter(shares)
    monkeypatch.setattr(mailbox_module.time, "sleep", lambda _: answered(next(late), box))
    assert ask(box, request, wait_s=60).plaintexts == (7, -4)
