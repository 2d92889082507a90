"""The log of what a key-holder has opened: one line for each sum, on disk before the sum is opened."""

from __future__ import annotations

import fcntl
import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from jobs.skills.requests import Particulars, Request
from jobs.skills.sealed import sealed, unsealed
from udfs.errors import ProtocolError
from udfs.threshold import KeyShare

_REMEDY = "restore it from a copy that is no older, or deal new keys"
"""What a log has lost could be opened again."""


@dataclass(frozen=True)
class Opening(Particulars):
    """One line of a holder's log: that it opens a request, or was about to.

    Attributes
    ----------
    request : str
        The request's digest.
    at : str
        When, in UTC.
    """

    request: str
    at: str

    @classmethod
    def of(cls, request: Request) -> Opening:
        """Return the line of a request that is opened now."""
        told = {one.name: getattr(request, one.name) for one in fields(Particulars)}
        return cls(**told, request=request.digest, at=datetime.now(UTC).isoformat(timespec="seconds"))


class OpeningLog:
    """All that a holder has opened: lines of JSON, each with its checksum, readable by their owner alone.

    One process at a time reads and writes it; others wait. What follows the last whole line was being written when
    its holder was cut off, before anything was opened: it is dropped. Any other damage is refused, as what it hides may
    have been opened.

    Parameters
    ----------
    path : Path or None
        None for a log that is gone with the process: of keys that are gone with it too.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._memory = io.BytesIO()

    @classmethod
    def beside(cls, path: str | Path, share: KeyShare) -> OpeningLog:
        """Return the log of a share, which lies in the folder of its file: holder-1-of-0123456789ab.opened.jsonl.

        Whatever the file is called, and through whatever symbolic links it is reached, it has this one log in its
        folder. Whoever moves the file to another folder must move the log along.

        Raises
        ------
        ProtocolError
            For a file that stands in two folders at once, by a hard link: it would have two logs.
        """
        file = Path(path).resolve()
        if file.stat().st_nlink > 1:
            raise ProtocolError(
                str(path), "must have one name, as its log lies beside it", "a file with hard links"
            )
        return cls(file.with_name(f"holder-{share.holder}-of-{share.key.key_id[:12]}.opened.jsonl"))

    @classmethod
    def in_memory(cls) -> OpeningLog:
        """Return a log for keys of one job alone."""
        return cls(None)

    @property
    def openings(self) -> tuple[Opening, ...]:
        """All lines, in the order they were written.

        Raises
        ------
        ProtocolError
            Naming the log, where it is damaged or cannot be read.
        """
        with self._locked() as file:
            return tuple(self._read(file))

    def check(self) -> None:
        """Refuse a log that is damaged or cannot be written; it is made where there is none, and no line is added.

        Raises
        ------
        ProtocolError
        """
        _ = self.openings

    def enter(self, opening: Opening, judge: Callable[[Sequence[Opening]], None]) -> None:
        """Write an opening down, unless that request stands there: when this returns, it is on disk.

        Parameters
        ----------
        opening : Opening
        judge : callable
            Is given all lines that stand, while no other process can add one; raises where this one must not.

        Raises
        ------
        ProtocolError
        """
        with self._locked() as file:
            standing = self._read(file)
            if any(one.request == opening.request for one in standing):
                self._sync(file)  # whoever wrote it may have been killed before it was on disk
                return
            judge(standing)
            file.write(sealed("opening", asdict(opening)).encode())
            self._sync(file)

    @contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        """Hold the log until the end: others wait."""
        if self._path is None:
            yield self._memory
            return
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            with open(os.open(self._path, flags, 0o600), "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                yield file
        except OSError as error:
            raise ProtocolError(
                str(self._path),
                "must be a log that can be written: nothing is opened without",
                os.strerror(error.errno or 0),
            ) from None

    def _read(self, file: BinaryIO) -> list[Opening]:
        """Return all lines, and leave the file at its end, where the next one goes."""
        file.seek(0)
        lines = file.read().split(b"\n")
        tail = lines.pop()
        openings = [self._parsed(line, number) for number, line in enumerate(lines, start=1)]
        if tail:
            file.seek(-len(tail), os.SEEK_END)
            try:
                openings.append(self._parsed(tail, len(lines) + 1))  # only the end of its line is missing
                file.write(tail + b"\n")
            except ProtocolError:
                file.truncate()
        return openings

    def _parsed(self, line: bytes, number: int) -> Opening:
        where = f"{self._path}, line {number}"
        found = unsealed(line.decode("ascii", "replace"), "opening", where, _REMEDY)
        try:
            return Opening(**found)
        except (TypeError, ProtocolError):
            raise ProtocolError(where, "must have the fields of an opening", "others", _REMEDY) from None

    def _sync(self, file: BinaryIO) -> None:
        """Let what was written be on disk, and the file's name in its folder."""
        file.flush()
        if self._path is None:
            return
        os.fsync(file.fileno())
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
