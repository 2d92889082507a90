"""What key-holders are asked: to open one level's sum, once.

A request is public. It holds a sum that is encrypted under the holders' own key, and what they need to judge it: who
asks, in which session, at what epsilon, which level of the tree, and how many participants took part out of how many.
All of these are the asker's word. A sum cannot be told from one participant's ciphertext, nor a new session from an
old one under another name: who may ask is for the holders to control, by who can write to their mailbox, by their own
limits and by their logs (`jobs.skills.holders`).
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from jobs.skills.sealed import checksum, sealed, unsealed
from jobs.skills.tree import MOST_DEPTH
from udfs.errors import ProtocolError
from udfs.hexadecimal import number_from_hex
from udfs.paillier import check_ciphertext
from udfs.threshold import ThresholdKey

FEWEST = 2
"""Contributions without which nothing is opened: the sum of one is its answer."""
_NUMBER = re.compile("[0-9.E+-]{1,10000}")
_LONGEST_NAME = 4096
_TYPES: dict[str, type] = {
    "key_id": str,
    "session": str,
    "level": int,
    "account": str,
    "contributions": int,
    "participants": int,
    "dropout": int,
    "epsilon": str,
    "ciphertexts": list,
}
"""Of a request's fields in JSON."""


@dataclass(frozen=True)
class Particulars:
    """What is said of a level's sum.

    Parameters
    ----------
    key_id : str
        Under which it is encrypted.
    session : str
        Names one draw of one job, all of whose levels share a budget.
    level : int
        From 0, the leaves', to `jobs.skills.tree.MOST_DEPTH`: a holder that opens each once opens no more than these.
    account : str
        In the ledger, that the session is charged to.
    contributions : int
        How many participants the sum is of.
    participants : int
        How many there are.
    dropout : int
        How many of them may be missing: noise was planned for.
    epsilon : str
        What the whole session is charged: a decimal number.

    Raises
    ------
    ProtocolError
        Where a field cannot be what it should.
    """

    key_id: str
    session: str
    level: int
    account: str
    contributions: int
    participants: int
    dropout: int
    epsilon: str

    def __post_init__(self) -> None:
        for name in ("level", "contributions", "participants", "dropout"):
            object.__setattr__(self, name, operator.index(getattr(self, name)))
        if not 0 <= self.level <= MOST_DEPTH:
            raise ProtocolError("request", f"level must be from 0 to {MOST_DEPTH}", f"{self.level}"[:40])
        for name in (self.session, self.account):
            if not 0 < len(name) <= _LONGEST_NAME:
                raise ProtocolError(
                    "request", f"names must have 1 to {_LONGEST_NAME} characters", str(len(name))
                )
        if not _is_budget(self.epsilon):
            raise ProtocolError(self.title, "epsilon must be a positive number", repr(self.epsilon[:40]))

    @property
    def title(self) -> str:
        """Which level of which session it is."""
        return f"level {self.level} of session {self.session[:12]!r}"

    @property
    def terms(self) -> tuple[str, str, int, int]:
        """What all levels of a session have in common: (account, epsilon, participants, dropout)."""
        return self.account, self.epsilon, self.participants, self.dropout


@dataclass(frozen=True)
class Request(Particulars):
    """One level's sum, to be opened.

    Parameters
    ----------
    ciphertexts : tuple of int
        The sum.

    Raises
    ------
    ProtocolError
        Where a field cannot be what it should.
    """

    ciphertexts: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "ciphertexts", tuple(map(operator.index, self.ciphertexts)))
        if not (self.ciphertexts and min(self.ciphertexts) > 0):
            raise ProtocolError(self.title, "must hold ciphertexts", "none, or a number below 1")

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all of it: 64 hexadecimal digits. Answers are given to it, and to no other request."""
        return checksum("request", self._fields())

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
                f"must be opened under key {key.key_id[:12]}",
                f"a request to holders of key {self.key_id[:12]!r}",
            )
        needed = self.participants - self.dropout
        if self.dropout < 0 or needed < FEWEST:
            raise ProtocolError(
                self.title,
                f"{FEWEST} participants or more must be left where as many are missing as may be",
                f"{numbered(self.participants, 'participant')} and a dropout of {self.dropout}",
            )
        if not needed <= self.contributions <= self.participants:
            wanted = f"{needed} to {self.participants}" if self.dropout else f"all {needed}"
            raise ProtocolError(
                self.title,
                f"the contributions of {wanted} participants must be added up",
                f"{self.contributions}",
                "nothing is opened: the noise of fewer does not suffice, and of more somebody counted twice",
            )
        for ciphertext in self.ciphertexts:
            check_ciphertext(ciphertext, key.n, self.title)

    def to_json(self) -> str:
        """Return it as it is written: one line of JSON with its checksum."""
        return sealed("request", self._fields())

    @classmethod
    def from_json(cls, text: str, where: str = "request") -> Request:
        """Return what `to_json` wrote; whether it should be opened is for `check` and for holders to say.

        Raises
        ------
        ProtocolError
            Naming where it was read, for whatever is not exactly that.
        """
        found = unsealed(text, "request", where, "remove it")
        if found.keys() != _TYPES.keys() or any(
            type(found[name]) is not kind for name, kind in _TYPES.items()
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
        told = {name: getattr(self, name) for name in _TYPES}
        return told | {"ciphertexts": [f"{ciphertext:x}" for ciphertext in self.ciphertexts]}


def numbered(number: int, thing: str) -> str:
    """Return so many things in words.

    Examples
    --------
    >>> numbered(1, "holder"), numbered(2, "holder")
    ('1 holder', '2 holders')
    """
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _is_budget(text: str) -> bool:
    try:
        return bool(_NUMBER.fullmatch(text)) and Decimal(text) > 0
    except InvalidOperation:
        return False
