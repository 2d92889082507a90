"""Key-holders elsewhere: a driver leaves requests in a folder that it shares with them, and they leave their answers.

A driver or a holder that is killed goes on where it was: requests and answers stay, and holders answer one request the
same way whenever it comes. What the folder holds, and who can do what with it, is said in `jobs.skills.mailbox_files`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from jobs.skills.holders import Holder, quorum_warning
from jobs.skills.key_files import read_share
from jobs.skills.mailbox_files import MailboxFiles, check_folder
from jobs.skills.opening_log import OpeningLog
from jobs.skills.requests import FEWEST, Request
from jobs.skills.shared_folder import Stamp
from udfs.errors import ProtocolError
from udfs.threshold import Opened, PartialDecryption, ThresholdKey, put_together, verify

Say = Callable[[str], None]

_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S, _LONGER = 0.2, 2.0, 1.5


class MailboxOpener:
    """The driver's side: asks, and waits until enough holders have answered. An `Opener`.

    Parameters
    ----------
    key : ThresholdKey
    mailbox : path
        Made where it is none; then its permissions say who may ask and answer.
    wait_s : float
        How long to wait for holders to open one request.
    say : callable, optional
        Is told what is waited for, and what is wrong in the folder.
    """

    def __init__(
        self, key: ThresholdKey, mailbox: str | Path, wait_s: float, say: Say = lambda _: None
    ) -> None:
        self._key, self._path, self._wait_s, self._say = key, Path(mailbox), wait_s, say

    def open(self, request: Request) -> Opened:
        """Return what T good answers open together, and who declined, or has a wrong answer in their name.

        Raises
        ------
        ProtocolError
            Where too few holders have answered in time, or so many refuse that too few are left: it names them.
        """
        request.check(self._key)
        files = MailboxFiles(self._path)
        files.make()
        files.put_request(request)
        answers, told = _Answers(self._key, request, files, self._say), False
        for _ in _Watch(self._wait_s):
            answers.look()
            if len(answers.good) >= self._key.threshold:
                return answers.opened()
            if not answers.enough_left:
                break
            if not told:
                self._say(
                    f"waiting up to {self._wait_s:,g} s for key-holders to open {request.title}: mailbox {self._path}"
                )
                told = True
        raise answers.too_few()


class _Answers:
    """The answers to one request, as they come."""

    def __init__(self, key: ThresholdKey, request: Request, files: MailboxFiles, say: Say) -> None:
        self._key, self._request, self._files, self._say = key, request, files, say
        self._stamps: dict[int, tuple[Stamp | None, Stamp | None]] = {}
        self.good: dict[int, PartialDecryption] = {}
        self._wrong: dict[int, str] = {}
        self._declined: dict[int, str] = {}

    def look(self) -> None:
        """Read what is new, of all holders: also where T answers are good, what is wrong should be known."""
        for holder in range(1, self._key.holders + 1):
            if holder not in self.good:
                self._look_at(holder)

    def opened(self) -> Opened:
        """Put good answers together."""
        opened = put_together(self._key, [self.good[one] for one in sorted(self.good)[: self._key.threshold]])
        return replace(opened, wrong=tuple(sorted(self._wrong)), declined=tuple(sorted(self._declined)))

    @property
    def enough_left(self) -> bool:
        """Whether T have not refused."""
        return self._key.holders - len(self._declined) >= self._key.threshold

    def too_few(self) -> ProtocolError:
        """Return what to raise: it names who has not answered, who refused, and in whose name an answer is wrong."""
        rest = set(range(1, self._key.holders + 1)) - {*self.good, *self._wrong, *self._declined}
        reasons = [*self._wrong.values(), *self._declined.values()]
        if rest:
            reasons.append(f"no answer of holder{'s' * (len(rest) > 1)} {', '.join(map(str, sorted(rest)))}")
        return ProtocolError(
            f"mailbox {self._files.path}",
            f"{self._key.threshold} of {self._key.holders} key-holders must open {self._request.title}",
            "; ".join([f"{len(self.good)} of {self._key.threshold}", *reasons]),
            "run again once they have answered: the request stays, and nobody is asked twice",
        )

    def _look_at(self, holder: int) -> None:
        stamps = self._files.answer_stamps(self._request.digest, holder)
        if stamps == self._stamps.get(holder):
            return
        self._stamps[holder] = stamps
        self._wrong.pop(holder, None)
        self._declined.pop(holder, None)
        try:
            if part := self._files.read_answer(self._request.digest, holder):
                verify(self._key, self._request.ciphertexts, part)
                self.good[holder] = part
                return
        except ProtocolError as error:
            self._find_wrong(holder, error)
        try:
            if reason := self._files.read_refusal(self._request.digest, holder):
                self._declined[holder] = f"holder {holder} refused: {reason}"
                self._say(self._declined[holder])
        except ProtocolError as error:
            self._find_wrong(holder, error)

    def _find_wrong(self, holder: int, error: ProtocolError) -> None:
        """Say that what lies there in a holder's name does not hold, without a word of who put it there."""
        reason = str(error).removeprefix(f"holder {holder}: ")
        self._wrong[holder] = f"the answer in holder {holder}'s name is wrong: {reason}"
        self._say(self._wrong[holder])


def serve(
    share: str | Path,
    mailbox: str | Path,
    at_least: int = FEWEST,
    watch_s: float = 0.0,
    say: Say = print,
    most_sessions: int | None = None,
) -> int:
    """Be a key-holder: answer the requests in a mailbox, and go on for a while.

    Requests to other keys are passed over. What was refused in an earlier run is judged anew.

    Parameters
    ----------
    share : path
        The holder's share file; the log lies beside it.
    mailbox : path
    at_least : int
        Sums of fewer contributions are not opened.
    watch_s : float
        How long to look for further requests; 0 to look once.
    say : callable
        Is told what is opened, what is refused and why, and which files are no requests.
    most_sessions : int, optional
        No further session is opened.

    Returns
    -------
    int
        The exit code: 0, or 4 where something was refused or could not be answered. What is no request at all is only
        said: anybody who can write to the folder may have left it.

    Raises
    ------
    ProtocolError, SpecError
        Where the share, its log or the mailbox is none that can be used.
    """
    check_folder(mailbox, "--mailbox", may_be_made=False)
    own, files = read_share(share, "--share"), MailboxFiles(Path(mailbox))
    if warning := quorum_warning(own.key):
        say(warning)
    desk = _Desk(Holder(own, OpeningLog.beside(share, own), at_least, most_sessions), files, say)
    watch = _Watch(watch_s)
    for _ in watch:
        if desk.settle():
            watch.hurry()
        desk.say_if_idle()
    return ProtocolError.exit_code if desk.failed else 0


class _Desk:
    """A holder at work."""

    def __init__(self, holder: Holder, files: MailboxFiles, say: Say) -> None:
        self._holder, self._files, self._say = holder, files, say
        self._number, self._key = holder.share.holder, holder.share.key
        self._settled: dict[str, tuple[Stamp | None, ...]] = {}
        self._foreign: dict[str, str] = {}
        self._told = False
        self.failed = False

    def settle(self) -> bool:
        """Judge all requests that are new, or whose answer is not as it was left; tell whether there was one."""
        busy = False
        for digest in self._files.requests():
            asked = self._files.request_stamp(digest)
            if self._settled.get(digest) != (asked, *self._files.answer_stamps(digest, self._number)):
                self._settle(digest)
                self._settled[digest] = asked, *self._files.answer_stamps(digest, self._number)
                busy = True
        return busy

    def say_if_idle(self) -> None:
        """Say once that there is nothing to do, where that is so at first: the share or the mailbox may be another's."""
        if self._told:
            return
        self._told = True
        own = self._key.key_id[:12]
        for key_id, digest in self._foreign.items():
            self._say(f"request {digest[:12]} is for key {key_id[:12]!r}, not {own}")
        self._say(f"nothing to open under key {own} in {self._files.path}")

    def _settle(self, digest: str) -> None:
        """Answer or refuse one request, if it is to this key."""
        try:
            request = self._files.read_request(digest)
        except ProtocolError as error:
            self._say(str(error))
            return
        if request is None:
            return
        if request.key_id != self._key.key_id:
            self._foreign.setdefault(request.key_id, digest)
            return
        self._told = True
        if self._is_answered(request):
            return
        try:
            self._files.put_answer(digest, self._holder.open(request))
        except ProtocolError as error:
            self._say(str(error))
            self.failed = True
            with suppress(ProtocolError):
                self._files.put_refusal(digest, self._number, error)
            return
        self._say(
            f"opened {request.title}, account {request.account!r}: {request.contributions} of {request.participants} "
            f"contributions, epsilon {request.epsilon}"
        )

    def _is_answered(self, request: Request) -> bool:
        """Tell whether this holder's answer is there, and good: anybody may have put another in its place."""
        with suppress(ProtocolError):
            if part := self._files.read_answer(request.digest, self._number):
                verify(self._key, request.ciphertexts, part)
                return True
        return False


class _Watch:
    """Looks again and again for so long, ever more seldom: at least once, and a last time when the time is over."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._pause = _SHORTEST_PAUSE_S

    def hurry(self) -> None:
        """Look again soon."""
        self._pause = _SHORTEST_PAUSE_S

    def __iter__(self) -> Iterator[None]:
        yield
        while (left := self._end - time.monotonic()) > 0:
            time.sleep(min(self._pause, left))
            self._pause = min(self._pause * _LONGER, _LONGEST_PAUSE_S)
            yield
