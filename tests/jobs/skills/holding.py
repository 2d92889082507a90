"""A small key of three holders of whom any two open, and requests to them."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest

from jobs.skills.holders import Holder, OpeningLog
from jobs.skills.key_files import write_keys
from jobs.skills.mailbox import MailboxOpener, serve
from jobs.skills.requests import Request
from udfs.errors import ProtocolError
from udfs.safe_primes import safe_prime
from udfs.threshold import Opened, PartialDecryption, deal, verify
from udfs.threshold_keys import deal_with_factors

BITS = 256
_words = random.Random("a key").randbytes
P, Q = safe_prime(BITS // 2, _words), safe_prime(BITS // 2, _words)
KEY, SHARES = deal_with_factors(P, Q, 3, 2, _words)
PLAINTEXTS = (7, -4, 2**53 + 1)
OTHER_KEY, OTHER_SHARES = deal(3, 2, BITS, random.Random("another key").randbytes)


def encrypted(*plaintexts: int, key: Any = KEY) -> tuple[int, ...]:
    return tuple(int(key.public_key.raw_encrypt(plaintext % key.n)) for plaintext in plaintexts)


def asked(*plaintexts: int, key: Any = KEY, **changes: Any) -> Request:
    """A request for a sum that was encrypted just now: another one whenever it is called."""
    fields = {
        "key_id": key.key_id,
        "session": "3f2a",
        "level": 5,
        "account": "people",
        "contributions": 100,
        "participants": 100,
        "dropout": 5,
        "epsilon": "0.5",
        "ciphertexts": encrypted(*(plaintexts or (7, -4)), key=key),
    }
    return Request(**fields | changes)


def resealed(text: str, **changes: Any) -> str:
    """A line of JSON with other fields, and the checksum that they have."""
    fields = json.loads(text) | changes
    del fields["sha256"]
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    fields["sha256"] = hashlib.sha256(canonical.encode()).hexdigest()
    return json.dumps(fields, sort_keys=True, separators=(",", ":")) + "\n"


def holder(number: int, log: OpeningLog | None = None, **limits: Any) -> Holder:
    return Holder(SHARES[number - 1], log or OpeningLog.in_memory(), **limits)


def share_files(folder: Path) -> list[Path]:
    write_keys(folder, KEY, SHARES)
    return [folder / f"share-{share.holder}.json" for share in SHARES]


def ask(box: Path, request: Request, wait_s: float = 0.0, **options: Any) -> Opened:
    return MailboxOpener(KEY, box, wait_s, **options).open(request)


def leave(box: Path, request: Request) -> Path:
    """Leave a request that nobody has answered yet; return the folder of its answers."""
    with pytest.raises(ProtocolError, match="no answer of holders 1, 2, 3"):
        ask(box, request)
    return box / "answers" / request.digest


def answered(share: Path, box: Path, **options: Any) -> list[str]:
    """Let a holder look once; return what it says."""
    said: list[str] = []
    assert serve(share, box, say=said.append, **options) == 0, said
    return said


def refused(share: Path, box: Path, **options: Any) -> list[str]:
    """Let a holder look once, who must refuse; return what it says."""
    said: list[str] = []
    assert serve(share, box, say=said.append, **options) == 4, said
    return said


def values(folder: Path, number: int, request: Request) -> tuple[int, ...]:
    """A holder's answer, verified."""
    part = PartialDecryption.from_json(json.loads((folder / f"holder-{number}.json").read_text())["part"])
    verify(KEY, request.ciphertexts, part)
    return part.values
