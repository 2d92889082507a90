"""What lies in a mailbox.

    requests/DIGEST.json                        what is asked: see `jobs.skills.requests`
    answers/DIGEST/holder-1.json                holder 1's part of the answer, with proofs
    answers/DIGEST/holder-1.refused.json        or why there is none

All of it is public: sums under the holders' key, and parts of their decryption. Whoever can write to the folder can
ask, and can take files away. Nobody can forge an answer, as every part of one is proved to the key (by
`udfs.threshold.verify`: here its form is checked alone). A refusal is not proved: all that a forged one does is end a
wait, which whoever forges it could also do by taking answers away.
"""

from __future__ import annotations

import re
from pathlib import Path

from jobs.skills.requests import Request, sealed, unsealed
from jobs.skills.shared_folder import SharedFolder, Stamp
from udfs.errors import ProtocolError
from udfs.threshold import PartialDecryption

_REQUEST_NAME = re.compile("([0-9a-f]{64})[.]json")
_LONGEST_REASON = 1000


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

    def put_refusal(self, digest: str, holder: int, reason: str) -> None:
        """Leave the reason for which a holder does not answer."""
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
            raise ProtocolError(where, "must bear its digest as name", f"request {request.digest}")
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
        found = unsealed(text, "answer", where)
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
        found = unsealed(text, "refusal", where)
        if (found.get("request"), found.get("holder")) != (digest, holder):
            raise ProtocolError(where, f"must be holder {holder}'s refusal of this request", "another")
        return str(found.get("reason"))[:_LONGEST_REASON]


def _request(digest: str) -> tuple[str, str]:
    return "requests", f"{digest}.json"


def _answer(digest: str, holder: int) -> tuple[str, str, str]:
    return "answers", digest, f"holder-{holder}.json"


def _refusal(digest: str, holder: int) -> tuple[str, str, str]:
    return "answers", digest, f"holder-{holder}.refused.json"
