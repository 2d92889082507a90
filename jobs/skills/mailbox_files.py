"""What lies in a mailbox.

    requests/DIGEST.json                        what is asked: see `jobs.skills.requests`
    answers/DIGEST/holder-1.json                holder 1's part of the answer, with proofs
    answers/DIGEST/holder-1.refused.json        or why there is none

All of it is public: sums under the holders' key, and parts of their decryption. What counts is who can write.

- requests/ should be writable by the driver alone: whoever can write there can have anything opened that is
  encrypted under the key, a single participant's contribution too, as a request says of its sum what its writer
  likes. A holder that can write there could pose as the driver, and would need no other holder's consent.
- answers/ should be writable by the holders. Nobody can forge an answer, as every part of one is proved to the key (by
  `udfs.threshold.verify`: here its form is checked alone). Whoever can write there can put something else in its
  place, in any holder's name, or take it away; then it is missing until that holder answers again. A refusal is not
  proved: all that a forged one does is end a wait, which whoever forges it could also do by taking answers away.

What is made gets the permissions of the folder that it is made in. For a driver whose account owns the mailbox, and
holders whose accounts make up the group `holders`:

    install -d -m 755 mailbox mailbox/requests
    install -d -m 3775 -g holders mailbox/answers       new files for the group; each its writer's alone to remove
"""

from __future__ import annotations

import re
from pathlib import Path

from jobs.skills.requests import Request
from jobs.skills.sealed import sealed, unsealed
from jobs.skills.shared_folder import SharedFolder, Stamp
from udfs.errors import ProtocolError, SpecError
from udfs.threshold import PartialDecryption

_REQUEST_NAME = re.compile("([0-9a-f]{64})[.]json")
_LONGEST_REASON = 1000
_REMEDY = "remove it"


class MailboxFiles:
    """The files of a mailbox. A request goes by its digest.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._folder = SharedFolder(path)

    def make(self) -> None:
        """Make the mailbox where there is none."""
        self._folder.make()

    def check(self) -> None:
        """Make the mailbox where there is none, and see that requests can be left in it; none is.

        Raises
        ------
        ProtocolError
        """
        self.make()
        self._folder.check("requests")

    def requests(self) -> list[str]:
        """Return the digests by which requests are named; files of other names are passed over."""
        names = map(_REQUEST_NAME.fullmatch, self._folder.names("requests"))
        return [name[1] for name in names if name]

    def request_stamp(self, digest: str) -> Stamp | None:
        """Return what changes when a request does."""
        return self._folder.stamp(*_request(digest))

    def answer_stamps(self, digest: str, holder: int) -> tuple[Stamp | None, Stamp | None]:
        """Return what changes when a holder's answer does, or its refusal."""
        return self._folder.stamp(*_answer(digest, holder)), self._folder.stamp(*_refusal(digest, holder))

    def put_request(self, request: Request) -> None:
        """Leave a request."""
        self._folder.put(request.to_json(), *_request(request.digest))

    def put_answer(self, digest: str, part: PartialDecryption) -> None:
        """Leave a holder's part of the answer, in place of its refusal."""
        answer = sealed("answer", {"request": digest, "part": part.to_json()})
        self._folder.put(answer, *_answer(digest, part.holder))
        self._folder.remove(*_refusal(digest, part.holder))

    def put_refusal(self, digest: str, holder: int, error: ProtocolError) -> None:
        """Leave the reason for which a holder does not answer: not where on its machine it stands."""
        reason = "; ".join(filter(None, [error.must, error.got and f"got {error.got}", error.remedy]))
        refusal = sealed("refusal", {"request": digest, "holder": holder, "reason": reason})
        self._folder.put(refusal, *_refusal(digest, holder))

    def read_request(self, digest: str) -> Request | None:
        """Return a request; None where it is gone.

        Raises
        ------
        ProtocolError
            Naming the file, where it is none, or one that belongs under another name.
        """
        where = self._folder.where(*_request(digest))
        if (text := self._folder.get(*_request(digest))) is None:
            return None
        request = Request.from_json(text, where)
        if request.digest != digest:
            raise ProtocolError(
                where, "must bear its digest as name", f"request {request.digest[:12]}", _REMEDY
            )
        return request

    def read_answer(self, digest: str, holder: int) -> PartialDecryption | None:
        """Return what is a holder's part of the answer by its form; None where there is none.

        Raises
        ------
        ProtocolError
            Naming the file, where it is none, or of another request or holder.
        """
        where = self._folder.where(*_answer(digest, holder))
        if (text := self._folder.get(*_answer(digest, holder))) is None:
            return None
        found = unsealed(text, "answer", where, _REMEDY)
        part = PartialDecryption.from_json(found.get("part"), where)
        if (found.get("request"), part.holder) != (digest, holder):
            raise ProtocolError(
                where,
                f"must be holder {holder}'s answer to this request",
                f"holder {part.holder}'s, or to another",
            )
        return part

    def read_refusal(self, digest: str, holder: int) -> str | None:
        """Return why a holder refused, in its own words; None where it did not.

        Raises
        ------
        ProtocolError
            Naming the file, where it is no refusal, or of another request or holder.
        """
        where = self._folder.where(*_refusal(digest, holder))
        if (text := self._folder.get(*_refusal(digest, holder))) is None:
            return None
        found = unsealed(text, "refusal", where, _REMEDY)
        if (found.get("request"), found.get("holder")) != (digest, holder):
            raise ProtocolError(where, f"must be holder {holder}'s refusal of this request", "another")
        reason = str(found.get("reason"))[:_LONGEST_REASON]
        return "".join(sign if sign.isprintable() else "?" for sign in reason)


def check_mailbox(mailbox: str | Path) -> None:
    """Refuse a mailbox that requests cannot be left in; it is made where there is none.

    Raises
    ------
    SpecError
    """
    check_folder(mailbox, "keys.mailbox", may_be_made=True)
    try:
        MailboxFiles(Path(mailbox)).check()
    except ProtocolError as error:
        raise SpecError(
            f"keys.mailbox {error.where}", "must be a folder that can be made and written to", error.got
        ) from None


def check_folder(mailbox: str | Path, option: str, may_be_made: bool) -> None:
    """Refuse a path that cannot be a mailbox's.

    Parameters
    ----------
    mailbox : path
    option : str
        What named it in a spec or a command.
    may_be_made : bool
        Whether it need not be there yet.

    Raises
    ------
    SpecError
    """
    where = f"{option} {mailbox}"
    if "://" in str(mailbox):
        raise SpecError(where, "must be a folder of this machine, or one that is mounted", "a URL")
    if Path(mailbox).exists() and not Path(mailbox).is_dir():
        raise SpecError(where, "must be a folder", "a file")
    if not (may_be_made or Path(mailbox).exists()):
        raise SpecError(where, "must be a folder", "none", "name the folder that the driver writes to")


def _request(digest: str) -> tuple[str, str]:
    return "requests", f"{digest}.json"


def _answer(digest: str, holder: int) -> tuple[str, str, str]:
    return "answers", digest, f"holder-{holder}.json"


def _refusal(digest: str, holder: int) -> tuple[str, str, str]:
    return "answers", digest, f"holder-{holder}.refused.json"
