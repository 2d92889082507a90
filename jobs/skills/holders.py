"""Key-holders: what they open, what they refuse, and the log of all that each has opened.

A contribution is a few ones and a noise share that is almost always 0: only the sum of many is private. Who had n
contributions opened, and then all of them but one, would learn that one. So a holder opens one sum for each level of a
session, ever: its log is written and on disk before the answer exists, so a holder that was killed at any point gives
the same answer to the same request, and none to another one. A session that is asked for again after a crash asks
for the same sum, as its contributions are functions of the job's secret.

What this can and cannot promise
--------------------------------
- Two different sums of a level are opened by two groups of T holders. These share 2T - N holders or more, each of
  whom must have broken the rule: T should be above N/2 where holders keep logs apart (`quorum_warning`). Embedded
  holders all write down what any of them opens.
- A request's numbers and names are the asker's word. A lying driver that names a new session for the same
  contributions, or for all but one of them, cannot be told from an honest one by the aggregate alone; nor a request
  whose "sums" are ciphertexts of single participants. So whoever can write requests can have anything opened, by
  holders that do as they should: requests/ should be writable by the driver alone. A holder that could write there
  would pose as the driver, and have the others open for it what T holders together ought to agree on (see
  `jobs.skills.mailbox_files` for permissions). Logs show every opening.
- `most_sessions` bounds how many jobs of an honest driver are opened, hence the epsilon that the key serves to spend:
  its sessions', of at most 21 levels each. `at_least` bounds how few contributions an honest sum has. Neither bounds
  what a lying driver learns, as one request has room for many ciphertexts of any kind.
- A share that is copied, or restored from a backup without its log, opens again. Keep one copy, its log beside it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from jobs.skills.opening_log import Opening, OpeningLog
from jobs.skills.requests import FEWEST, Request, numbered
from udfs.errors import ProtocolError, SpecError
from udfs.threshold import KeyShare, Opened, PartialDecryption, ThresholdKey, combine, partially_decrypt

__all__ = ["EmbeddedHolders", "Holder", "Opener", "OpeningLog", "quorum_warning"]


class Opener(Protocol):
    """How a driver gets sums opened."""

    def open(self, request: Request) -> Opened:
        """Return what enough holders opened together.

        Raises
        ------
        ProtocolError
            Where too few did: nothing is opened then.
        """
        ...


@dataclass(frozen=True)
class Holder:
    """One key-holder: judges requests, and opens each level of a session once.

    Parameters
    ----------
    share : KeyShare
    log : OpeningLog
    at_least : int, default 2
        The holder's own floor: sums of fewer contributions are not opened, whatever dropout was planned for.
    most_sessions : int, optional
        The holder's own limit of sessions under this key: no further one is opened.
    random_bytes : callable
        The source of randomness for proofs.

    Raises
    ------
    SpecError
        Where a limit is none.
    """

    share: KeyShare
    log: OpeningLog
    at_least: int = FEWEST
    most_sessions: int | None = None
    random_bytes: Callable[[int], bytes] = os.urandom

    def __post_init__(self) -> None:
        if self.at_least < FEWEST:
            raise SpecError(
                "at_least", f"must be {FEWEST} or more: the sum of one is its answer", str(self.at_least)
            )
        if self.most_sessions is not None and self.most_sessions < 1:
            raise SpecError("most_sessions", "must be 1 or more", str(self.most_sessions))

    def allow(self, request: Request) -> None:
        """Judge a request, and write it down for good; it may be opened once this returns.

        Raises
        ------
        ProtocolError
            Naming the holder, the level and the session, where it must not be opened.
        """
        try:
            request.check(self.share.key)
        except ProtocolError as error:
            raise ProtocolError(
                f"holder {self.share.holder}, {error.where}", error.must, error.got, error.remedy
            ) from None
        if request.contributions < self.at_least:
            raise self._refusal(
                request,
                f"this holder opens sums of {self.at_least} contributions or more",
                f"{request.contributions}",
            )
        self.log.enter(Opening.of(request), lambda standing: self._judge(request, standing))

    def open(self, request: Request) -> PartialDecryption:
        """Return this holder's part: the same values whenever the same request comes.

        Raises
        ------
        ProtocolError
            Where it must not be opened.
        """
        self.allow(request)
        return partially_decrypt(self.share, request.ciphertexts, self.random_bytes)

    def _judge(self, request: Request, standing: Sequence[Opening]) -> None:
        """Refuse a request that does not go with what was opened before."""
        under_key = [one for one in standing if one.key_id == request.key_id]
        of_session = [one for one in under_key if one.session == request.session]
        for one in of_session:
            if one.level == request.level:
                raise self._refusal(
                    request,
                    "one sum of a level is opened, ever",
                    f"another one than on {one.at}: {numbered(request.contributions, 'contribution')}"
                    f" after {one.contributions}",
                    "two sums of one level give away in what they differ: ask for the same one, or in a new session",
                )
            if one.terms != request.terms:
                raise self._refusal(
                    request,
                    "a session's account, epsilon, participants and dropout must stay as they were",
                    f"{request.terms} after {one.terms}",
                )
        sessions = {one.session for one in under_key}
        if self.most_sessions is not None and not of_session and len(sessions) >= self.most_sessions:
            raise self._refusal(
                request,
                f"this holder opens {numbered(self.most_sessions, 'session')} under this key",
                f"one more after {len(sessions)}",
            )

    def _refusal(self, request: Request, must: str, got: str, remedy: str = "") -> ProtocolError:
        return ProtocolError(f"holder {self.share.holder}, {request.title}", must, got, remedy)


class EmbeddedHolders:
    """Holders in the driver's own process, for trials: whoever runs the job has all their shares.

    All write a request down before any of them opens it, so what one refuses is not opened by the others: an `Opener`.

    Parameters
    ----------
    key : ThresholdKey
    holders : sequence of Holder

    Raises
    ------
    ProtocolError
        Where they hold another key, or are too few.
    """

    def __init__(self, key: ThresholdKey, holders: Sequence[Holder]) -> None:
        for holder in holders:
            if holder.share.key.key_id != key.key_id:
                raise ProtocolError(
                    f"holder {holder.share.holder}",
                    f"must hold a share of key {key.key_id[:12]}",
                    f"one of key {holder.share.key.key_id[:12]}",
                )
        distinct = {holder.share.holder for holder in holders}
        if len(distinct) < len(holders) or len(distinct) < key.threshold:
            raise ProtocolError(
                "holders",
                f"must be {numbered(key.threshold, 'distinct one')} or more",
                f"{len(distinct)} of {key.threshold}",
            )
        self._key, self._holders = key, tuple(holders)

    def open(self, request: Request) -> Opened:
        """Return what the first T open together.

        Raises
        ------
        ProtocolError
            Where any of them refuses.
        """
        for holder in self._holders:
            holder.allow(request)
        parts = [holder.open(request) for holder in self._holders[: self._key.threshold]]
        return combine(self._key, request.ciphertexts, parts)


def quorum_warning(key: ThresholdKey) -> str | None:
    """Return what to say of a key of which two groups that share no holder could each open another sum of one level."""
    if 2 * key.threshold > key.holders:
        return None
    return (
        f"{key.threshold} of {key.holders} holders open a sum, and as many others could open another one of the same"
        " level, as each keeps a log of its own: a threshold above half rules that out"
    )
