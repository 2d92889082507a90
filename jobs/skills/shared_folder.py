"""A folder that people who do not trust each other share: files are written whole, and no link is followed."""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeAlias

from udfs.errors import ProtocolError

Stamp: TypeAlias = tuple[int, int, int, int]
"""Changes when a file does: its number, size, and times of change."""

_LARGEST_BYTES = 1 << 28
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


class SharedFolder:
    """Text files in a folder and its subfolders, named by the steps to them.

    Anybody who may write to the folder may have put anything there, under any name, at any time: what is read is
    plain files of limited size, found from the folder step by step without following symbolic links. Subfolders and
    files get the permissions of the folder that they are made in, so whoever shares it shares them.

    Parameters
    ----------
    path : Path
        May itself be a link: it is the user's choice.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def make(self) -> None:
        """Make the folder where there is none.

        Raises
        ------
        ProtocolError
        """
        with self._faults():
            self._path.mkdir(parents=True, exist_ok=True)

    def check(self, *steps: str) -> None:
        """See that files can be written to a subfolder, which is made where there is none; none is left there.

        Raises
        ------
        ProtocolError
        """
        with self._faults(*steps), self._folder(steps, make=True) as folder:
            name = _temporary_name()
            self._open(name, folder, _NEW).close()
            os.unlink(name, dir_fd=folder)

    def where(self, *steps: str) -> str:
        """Return the path of a file, for messages."""
        return str(Path(self._path, *steps))

    def put(self, text: str, *steps: str) -> None:
        """Write a file that is there whole or not at all, in place of whatever has its name.

        Raises
        ------
        ProtocolError
        """
        *folders, name = steps
        temporary = _temporary_name()
        with self._faults(*steps), self._folder(folders, make=True) as folder:
            try:
                with self._open(temporary, folder, _NEW) as file:
                    file.write(text.encode("ascii"))
                    os.fchmod(file.fileno(), stat.S_IMODE(os.fstat(folder).st_mode) & 0o444 | 0o600)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                raise

    def get(self, *steps: str) -> str | None:
        """Return a file's text; None where there is no such file. What is not ASCII comes as U+FFFD.

        Raises
        ------
        ProtocolError
            Where it is no plain file, too large, or cannot be read.
        """
        *folders, name = steps
        with self._faults(*steps):
            try:
                with self._folder(folders) as folder, self._open(name, folder, os.O_RDONLY) as file:
                    status = os.fstat(file.fileno())
                    if stat.S_ISREG(status.st_mode) and status.st_size <= _LARGEST_BYTES:
                        return file.read(_LARGEST_BYTES).decode("ascii", "replace")
            except FileNotFoundError:
                return None
        raise ProtocolError(
            self.where(*steps), f"must be a plain file of at most {_LARGEST_BYTES} bytes", "another"
        )

    def remove(self, *steps: str) -> None:
        """Remove a file, if it is there.

        Raises
        ------
        ProtocolError
        """
        *folders, name = steps
        with self._faults(*steps), suppress(FileNotFoundError), self._folder(folders) as folder:
            os.unlink(name, dir_fd=folder)

    def names(self, *steps: str) -> list[str]:
        """Return what is in a subfolder, in order; nothing where there is none.

        Raises
        ------
        ProtocolError
        """
        with self._faults(*steps), suppress(FileNotFoundError), self._folder(steps) as folder:
            return sorted(os.listdir(folder))
        return []

    def stamp(self, *steps: str) -> Stamp | None:
        """Return what changes when a file does; None where it cannot be reached."""
        *folders, name = steps
        with suppress(OSError), self._folder(folders) as folder:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        return None

    @contextmanager
    def _folder(self, steps: list[str] | tuple[str, ...], make: bool = False) -> Iterator[int]:
        """Open a subfolder, made where there is none; links are not followed."""
        handle = os.open(self._path, _FOLDER)
        try:
            for step in steps:
                made, mode = False, stat.S_IMODE(os.fstat(handle).st_mode)
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(step, dir_fd=handle)
                        made = True
                inner = os.open(step, _FOLDER | os.O_NOFOLLOW, dir_fd=handle)
                os.close(handle)
                handle = inner
                if made:
                    os.fchmod(handle, mode)
            yield handle
        finally:
            os.close(handle)

    def _open(self, name: str, folder: int, flags: int) -> BinaryIO:
        """Open a file of a folder; a pipe does not wait for its other end."""

        def opener(name: str, _: int) -> int:
            return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600, dir_fd=folder)

        return open(name, "wb" if flags & os.O_WRONLY else "rb", opener=opener)

    @contextmanager
    def _faults(self, *steps: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ProtocolError(
                self.where(*steps),
                "must be a plain file or folder that can be read and written, and no link",
                os.strerror(error.errno or 0),
            ) from None


def _temporary_name() -> str:
    return f".{uuid.uuid4().hex}.tmp"
