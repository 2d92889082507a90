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
from jobs.skills.mailbox_files import MailboxFiles
from jobs.skills.opening_log import OpeningLog
from jobs.skills.requests import Request
from jobs.skills.shared_folder import Stamp
from udfs.errors import ProtocolError, SpecError
from udfs.threshold import Opened, PartialDecryption, ThresholdKey, combine, verify

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
        """Return what the first T good answers open together; `refused` are holders with a wrong one.

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
                self._say(f"waiting for key-holders to open {request.title}: mailbox {self._path}")
                told = True
        raise answers.too_few()


class _Answers:
    """The answers to one request, as they come."""

    def __init__(self, key: ThresholdKey, request: Request, files: MailboxFiles, say: Say) -> None:
        self._key, self._request, self._files, self._say = key, request, files, say
        self._stamps: dict[int, tuple[Stamp | None, Stamp | None]] = {}
        self.good: dict[int, PartialDecryption] = {}
        self._wrong: dict[int, str] = {}
        self._refusals: dict[int, str] = {}

    def look(self) -> None:
        """Read what is new, until there are T good ones."""
        for holder in range(1, self._key.holders + 1):
            if len(self.good) >= self._key.threshold:
                return
            if holder not in self.good:
                self._look_at(holder)

    def opened(self) -> Opened:
        """Put good answers together."""
        parts = [self.good[holder] for holder in sorted(self.good)]
        opened = combine(self._key, self._request.ciphertexts, parts)
        return replace(opened, refused=tuple(sorted(self._wrong)))

    @property
    def enough_left(self) -> bool:
        """Whether T have not refused."""
        return self._key.holders - len(self._refusals) >= self._key.threshold

    def too_few(self) -> ProtocolError:
        """Return what to raise: it names who has not answered, who refused, and whose answer is wrong."""
        rest = set(range(1, self._key.holders + 1)) - {*self.good, *self._wrong, *self._refusals}
        reasons = [*self._wrong.values(), *self._refusals.values()]
        if rest:
            reasons.append(f"no answer of holders {', '.join(map(str, sorted(rest)))}")
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
        self._refusals.pop(holder, None)
        try:
            if part := self._files.read_answer(self._request.digest, holder):
                verify(self._key, self._request.ciphertexts, part)
                self.good[holder] = part
            elif reason := self._files.read_refusal(self._request.digest, holder):
                self._refusals[holder] = f"holder {holder} refused: {reason}"
                self._say(self._refusals[holder])
        except ProtocolError as error:
            self._wrong[holder] = f"holder {holder}'s answer is wrong: {error}"
            self._say(self._wrong[holder])


def serve(
    share: str | Path,
    mailbox: str | Path,
    at_least: int = 2,
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
        The exit code: 0, or 4 where something was refused or was no request.

    Raises
    ------
    ProtocolError, SpecError
        Where the share, its log or the mailbox is none that can be used.
    """
    own, files = read_share(share), MailboxFiles(Path(mailbox))
    if warning := quorum_warning(own.key):
        say(warning)
    if not Path(mailbox).is_dir():
        raise SpecError(str(mailbox), "must be a folder", "none", "name the folder that the driver writes to")
    desk = _Desk(Holder(own, OpeningLog.beside(share), at_least, most_sessions), files, say)
    watch = _Watch(watch_s)
    for _ in watch:
        if desk.settle():
            watch.hurry()
    return ProtocolError.exit_code if desk.failed else 0


class _Desk:
    """A holder at work."""

    def __init__(self, holder: Holder, files: MailboxFiles, say: Say) -> None:
        self._holder, self._files, self._say = holder, files, say
        self._number, self._key = holder.share.holder, holder.share.key
        self._settled: dict[str, tuple[Stamp | None, ...]] = {}
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

    def _settle(self, digest: str) -> None:
        """Answer or refuse one request, if it is to this key."""
        try:
            request = self._files.read_request(digest)
        except ProtocolError as error:
            self._fail(error)
            return
        if request is None or request.key_id != self._key.key_id or self._is_answered(request):
            return
        try:
            self._files.put_answer(digest, self._holder.open(request))
        except ProtocolError as error:
            self._fail(error)
            with suppress(ProtocolError):
                self._files.put_refusal(digest, self._number, str(error))
            return
        self._say(
            f"opened {request.title}, account {request.job!r}: {request.contributions} of {request.participants} "
            f"contributions, epsilon {request.epsilon}"
        )

    def _is_answered(self, request: Request) -> bool:
        """Tell whether this holder's answer is there, and good: anybody may have put another in its place."""
        with suppress(ProtocolError):
            if part := self._files.read_answer(request.digest, self._number):
                verify(self._key, request.ciphertexts, part)
                return True
        return False

    def _fail(self, error: ProtocolError) -> None:
        self._say(str(error))
        self.failed = True


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
