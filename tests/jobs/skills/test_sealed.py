from __future__ import annotations

import json
from typing import Any

import pytest

from jobs.skills.sealed import KindError, checksum, sealed, unsealed
from tests.jobs.skills.holding import resealed
from udfs.errors import ProtocolError

LINE = sealed("greeting", {"text": "hello", "to": ["all"]})


def test_a_line_comes_back_as_it_was_sealed() -> None:
    assert unsealed(LINE, "greeting", "here", "greet again") == {"text": "hello", "to": ["all"]}
    assert json.loads(LINE)["sha256"] == checksum("greeting", {"to": ["all"], "text": "hello"})
    assert (LINE.count("\n"), LINE[-1]) == (1, "\n")


def test_a_damaged_line_is_refused_with_what_to_do() -> None:
    for place in range(len(LINE) - 1):
        damaged = LINE[:place] + chr(ord(LINE[place]) ^ 1) + LINE[place + 1 :]
        with pytest.raises(ProtocolError, match=r"^here: must be whole and fit .*\. Greet again\.$"):
            unsealed(damaged, "greeting", "here", "greet again")


def test_an_empty_file_is_said_to_hold_nothing() -> None:
    with pytest.raises(ProtocolError, match="fit its checksum; got nothing"):
        unsealed("", "greeting", "here", "")


@pytest.mark.parametrize(
    ("kind", "wanted", "told"),
    [
        ("share", "public", "must be a public key file; got a share"),
        ("public", "share", "must be a share; got a public key file"),
        ("answer", "request", "must be a request; got an answer"),
        ("request", "opening", "must be an opening; got a request"),
        (7, "share", "must be a share; got something else"),
    ],
)
def test_a_line_of_another_kind_is_said_to_be_one(kind: Any, wanted: str, told: str) -> None:
    with pytest.raises(KindError, match=f"^here: {told}$"):
        unsealed(resealed(LINE, kind=kind), wanted, "here", "greet again")


@pytest.mark.parametrize("version", [2, "1", True, 1.0, None, [1]])
def test_a_line_of_another_version_is_refused(version: Any) -> None:
    with pytest.raises(ProtocolError, match=r"^here: must be a greeting of version 1; got ") as refused:
        unsealed(resealed(LINE, version=version), "greeting", "here", "greet again")
    assert not isinstance(refused.value, KindError)
