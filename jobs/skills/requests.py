"""What key-holders are asked: to open one level's sum, once.

A request is public. It holds a sum that is encrypted under the holders' own key, and what they need to judge it: who
asks, in which session, at what epsilon, which level of the tree, and how many participants took part out of how many.
All of these are the asker's word. A sum cannot be told from one participant's ciphertext, nor a new session from an
old one under another name: who may ask is for the holders to control, by who can write to their mailbox, by their own
limits and by their logs (`jobs.skills.holders`).

Requests and all else that passes between a driver and holders are one line of JSON with its own SHA-256. The checksum
tells what was torn or damaged on its way; whoever wants to deceive can compute it too.
"""

from __future__ import annotations

import hashlib
import json
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from udfs.errors import ProtocolError
from udfs.paillier import check_ciphertext
from udfs.threshold import ThresholdKey, number_from_hex

_VERSION = 1
_ROUND = re.compile("level ([0-9]|1[0-9]|20)")
"""One spelling for each level that a tree can have: a holder that opens each once opens no more than these."""
_NUMBER = re.compile("[0-9.E+-]{1,40}")
_LONGEST_NAME = 4096
_FEWEST = 2
"""The sum of one participant is no sum."""
_FIELDS: dict[str, type] = {
    "key_id": str,
    "session": str,
    "round_name": str,
    "job": str,
    "contributions": int,
    "participants": int,
    "dropout": int,
    "epsilon": str,
    "ciphertexts": list,
}


@dataclass(frozen=True)
class Request:
    """One level's sum, to be opened.

    Parameters
    ----------
    key_id : str
        Whose holders are asked.
    session : str
        Names one draw of one job, all of whose levels share a budget.
    round_name : str
        The level: "level 0", the leaves', to "level 20".
    job : str
        The account in the ledger that the session is charged to.
    contributions : int
        How many participants the sum is of.
    participants : int
        How many there are.
    dropout : int
        How many of them may be missing: noise was planned for.
    epsilon : str
        What the whole session is charged: a decimal number.
    ciphertexts : tuple of int
        The sum.

    Raises
    ------
    ProtocolError
        Where a field cannot be what it should.
    """

    key_id: str
    session: str
    round_name: str
    job: str
    contributions: int
    participants: int
    dropout: int
    epsilon: str
    ciphertexts: tuple[int, ...]

    def __post_init__(self) -> None:
        for name in ("contributions", "participants", "dropout"):
            object.__setattr__(self, name, operator.index(getattr(self, name)))
        object.__setattr__(self, "ciphertexts", tuple(map(operator.index, self.ciphertexts)))
        if not _ROUND.fullmatch(self.round_name):
            raise ProtocolError("request", 'must name a level, as "level 5"', repr(self.round_name[:40]))
        for name in (self.session, self.job):
            if not 0 < len(name) <= _LONGEST_NAME:
                raise ProtocolError(
                    "request", f"names must have 1 to {_LONGEST_NAME} characters", str(len(name))
                )
        if not _is_budget(self.epsilon):
            raise ProtocolError(self.title, "epsilon must be a positive number", repr(self.epsilon[:40]))
        if not (self.ciphertexts and min(self.ciphertexts) > 0):
            raise ProtocolError(self.title, "must hold ciphertexts", "none, or a number below 1")

    @property
    def title(self) -> str:
        """Which level of which session it asks for."""
        return f"{self.round_name} of session {self.session!r}"

    @property
    def terms(self) -> tuple[str, str, int, int]:
        """What all levels of a session have in common: (job, epsilon, participants, dropout)."""
        return self.job, self.epsilon, self.participants, self.dropout

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all of it: 64 hexadecimal digits. Answers are given to it, and to no other request."""
        return _digest(self._fields())

    def check(self, key: ThresholdKey) -> None:
        """Refuse what nobody should open under a key.

        Raises
        ------
        ProtocolError
            For another key, too few or too many contributions, and numbers that are no ciphertexts.
        """
        if self.key_id != key.key_id:
            raise ProtocolError(
                self.title,
                f"must be opened under key {key.key_id}",
                f"a request to holders of key {self.key_id[:64]!r}",
            )
        needed = self.participants - self.dropout
        if self.dropout < 0 or needed < _FEWEST:
            raise ProtocolError(
                self.title,
                f"{_FEWEST} participants or more must be left where as many are missing as may be",
                f"{self.participants} participants and a dropout of {self.dropout}",
            )
        if not needed <= self.contributions <= self.participants:
            raise ProtocolError(
                self.title,
                f"the contributions of {needed} to {self.participants} participants must be added up",
                f"{self.contributions}",
                "nothing is opened: the noise of fewer does not suffice, and of more somebody counted twice",
            )
        for ciphertext in self.ciphertexts:
            check_ciphertext(ciphertext, key.n, self.title)

    def to_json(self) -> str:
        """Return it as it is written: one line of JSON with its checksum."""
        return _sealed_line(self._fields())

    @classmethod
    def from_json(cls, text: str, where: str = "request") -> Request:
        """Return what `to_json` wrote; whether it should be opened is for `check` and for holders to say.

        Raises
        ------
        ProtocolError
            Naming where it was read, for whatever is not exactly that.
        """
        found = unsealed(text, "request", where)
        if found.keys() != _FIELDS.keys() or any(
            type(found[name]) is not kind for name, kind in _FIELDS.items()
        ):
            raise ProtocolError(where, "must have the fields of a request", "others, or of other types")
        found["ciphertexts"] = tuple(number_from_hex(one, where) for one in found["ciphertexts"])
        try:
            request = cls(**found)
        except ProtocolError as error:
            raise ProtocolError(where, f"{error.where}: {error.must}", error.got) from None
        if request.to_json() != text:
            raise ProtocolError(where, "must be written as requests are", "another spelling")
        return request

    def _fields(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in _FIELDS}
        fields["ciphertexts"] = [f"{ciphertext:x}" for ciphertext in self.ciphertexts]
        return _stamped("request", fields)


def sealed(kind: str, fields: Mapping[str, Any]) -> str:
    """Return a line of JSON: the fields with what kind of thing they are, its version and the SHA-256 of the rest.

    Examples
    --------
    >>> unsealed(sealed("greeting", {"text": "hello"}), "greeting", "here")
    {'text': 'hello'}
    """
    return _sealed_line(_stamped(kind, fields))


def unsealed(text: str, kind: str, where: str) -> dict[str, Any]:
    """Return the fields of a line that `sealed` wrote.

    Raises
    ------
    ProtocolError
        Naming where it was read, where it is torn or damaged, or of another kind or version.
    """
    try:
        found = json.loads(text)
        whole = isinstance(found, dict) and found.pop("sha256", None) == _digest(found)
    except (ValueError, RecursionError):
        whole = False
    if not whole:
        raise ProtocolError(
            where,
            "must be whole and fit its checksum",
            f"{len(text)} characters that do not",
            "write it again",
        )
    stamp = found.pop("kind", None), found.pop("version", None)
    if stamp != (kind, _VERSION):
        raise ProtocolError(where, f"must be a {kind} of version {_VERSION}", repr(stamp)[:80])
    return dict(found)


def _stamped(kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": kind, "version": _VERSION, **fields}


def _sealed_line(fields: dict[str, Any]) -> str:
    return _canonical(fields | {"sha256": _digest(fields)}) + "\n"


def _digest(fields: dict[str, Any]) -> str:
    return hashlib.sha256(_canonical(fields).encode()).hexdigest()


def _canonical(fields: dict[str, Any]) -> str:
    return json.dumps(fields, sort_keys=True, separators=(",", ":"))


def _is_budget(text: str) -> bool:
    try:
        return bool(_NUMBER.fullmatch(text)) and Decimal(text) > 0
    except InvalidOperation:
        return False
