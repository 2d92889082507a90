"""Files by fsspec URL: found, opened, written under temporary names and put in place at once."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from udfs.errors import SpecError

_SYNC_THREADS = 16


@dataclass(frozen=True)
class Store:
    """A folder somewhere: local, or behind any fsspec URL.

    Parameters
    ----------
    url : str
        A path, or s3://, gs://, abfs:// and the like.
    private : bool
        Files that are written are their owner's alone, where files have owners.
    """

    url: str
    private: bool = False

    def __post_init__(self) -> None:
        """Make a local path absolute and free of links: workers have working directories of their own."""
        fs, path = filesystem(self.url)
        if isinstance(fs, LocalFileSystem):
            object.__setattr__(self, "url", os.path.realpath(path))

    @cached_property
    def fs(self) -> Any:
        """The file system that holds it."""
        return filesystem(self.url)[0]

    @cached_property
    def root(self) -> str:
        """The folder's path in its file system."""
        return filesystem(self.url)[1].rstrip("/")

    def __getstate__(self) -> dict[str, Any]:
        """Travel as the URL; credentials are each process's own."""
        return {"url": self.url, "private": self.private}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the URL."""
        for name, value in state.items():
            object.__setattr__(self, name, value)

    @property
    def local(self) -> bool:
        """Whether it is on this machine's own file systems."""
        return isinstance(self.fs, LocalFileSystem)

    def path(self, name: str) -> str:
        """Return the path of a file in the folder."""
        return f"{self.root}/{name}"

    def folder(self, name: str) -> Store:
        """Return a folder in the folder."""
        return Store(f"{self.url.rstrip('/')}/{name}", self.private)

    def make(self, private: bool = False) -> None:
        """Make the folder and those above it; a private one is its owner's alone, where owners are known."""
        try:
            if self.local:
                os.makedirs(self.root, mode=0o700 if private else 0o777, exist_ok=True)
            else:
                self.fs.makedirs(self.root, exist_ok=True)
        except OSError as error:
            raise SpecError(self.url, "must be a folder that can be made", type(error).__name__) from None

    def exists(self, name: str = "") -> bool:
        """Tell whether a file of the folder, or the folder itself, is there."""
        self.fs.invalidate_cache()
        return bool(self.fs.exists(self.path(name) if name else self.root))

    def size(self, name: str) -> int | None:
        """Return a file's size in bytes, or None where it is not there."""
        self.fs.invalidate_cache()
        try:
            return int(self.fs.size(self.path(name)))
        except FileNotFoundError:
            return None

    def names(self) -> list[str]:
        """Return the names of all files below the folder, sorted."""
        self.fs.invalidate_cache()
        if not self.fs.exists(self.root):
            return []
        return sorted(path[len(self.root) + 1 :] for path in self.fs.find(self.root))

    def open(self, name: str) -> IO[bytes]:
        """Open a file for reading."""
        return self.fs.open(self.path(name), "rb")  # type: ignore[no-any-return]

    def read(self, name: str) -> bytes:
        """Return a file's bytes."""
        return self.fs.cat_file(self.path(name))  # type: ignore[no-any-return]

    @contextlib.contextmanager
    def replacing(self, name: str, durable: bool = True) -> Iterator[IO[bytes]]:
        """Write a file that stands under its name only when it is whole.

        The folder must be there. On an error nothing is left; a durable file's bytes are on the disk
        before its name is, where the file system is local.
        """
        temporary = self.path(f"{name}.{uuid.uuid4().hex}.tmp")
        file = self.fs.open(temporary, "wb")
        try:
            if self.private and self.local:
                os.chmod(temporary, 0o600)
            yield file
            if durable and self.local:
                file.flush()
                os.fsync(file.fileno())
            file.close()
            self._move(temporary, self.path(name))
        except BaseException:
            with contextlib.suppress(Exception):
                file.close()
            with contextlib.suppress(Exception):
                self.fs.rm_file(temporary)
            raise

    def write(self, name: str, data: bytes, durable: bool = True) -> None:
        """Write a small file at once."""
        with self.replacing(name, durable) as file:
            file.write(data)

    def sync(self, names: Sequence[str]) -> None:
        """Bring files to the disk, where the file system is local; an object store has done so."""
        if self.local and names:
            with ThreadPoolExecutor(min(_SYNC_THREADS, len(names))) as pool:
                list(pool.map(_sync_file, map(self.path, names)))

    def take(self, other: Store, name: str, new_name: str) -> None:
        """Move a file from another folder of the same file system into this one."""
        self._move(other.path(name), self.path(new_name))

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with contextlib.suppress(FileNotFoundError):
            self.fs.rm_file(self.path(name))

    def is_private(self, name: str) -> bool:
        """Tell whether a file is its owner's alone; no, where files have no owners."""
        return self.local and not os.stat(self.path(name)).st_mode & 0o077

    def clear(self) -> None:
        """Remove the folder and all below it."""
        self.fs.invalidate_cache()
        if self.fs.exists(self.root):
            self.fs.rm(self.root, recursive=True)

    def _move(self, old: str, new: str) -> None:
        """Rename; at once on a local file system, by copy and removal on an object store."""
        if self.local:
            os.replace(old, new)
        else:
            self.fs.mv(old, new)


def size_and_version(fs: Any, path: str) -> tuple[int, str]:
    """Return what a file's versions are told apart by: bytes, and a time or an object store's tag."""
    if isinstance(fs, LocalFileSystem):
        status = os.stat(path)
        return status.st_size, str(status.st_mtime_ns)
    fs.invalidate_cache()
    return int(fs.info(path)["size"]), str(fs.ukey(path))


def _sync_file(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def filesystem(url: str, where: str = "path") -> tuple[Any, str]:
    """Return the file system of a URL and the path in it.

    Raises
    ------
    SpecError
        Where the protocol is unknown or its driver is not installed.
    """
    try:
        fs, path = fsspec.core.url_to_fs(url)
    except (ValueError, ImportError) as error:
        raise SpecError(
            where,
            "must be a path or a URL of an installed file system",
            url,
            "install its driver, such as s3fs",
        ) from error
    return fs, path
