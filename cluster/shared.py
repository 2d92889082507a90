"""Arrays that tasks share: they lie beside the job's output for as long as they are needed, and tasks carry their address.

An argument of a task travels once for each task, and what it returns by way of the driver; an array in a room is read
where it lies, once by each process.
"""

from __future__ import annotations

import contextlib
import io
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from cluster.storage import Store
from udfs.errors import ClusterError

_KEPT_ARRAYS = 4


@dataclass(frozen=True)
class SharedArray:
    """Where an array lies; called, it is read: once a process, and mapped where the file is local.

    Parameters
    ----------
    store : Store
    name : str
    """

    store: Store
    name: str

    def __call__(self) -> npt.NDArray[Any]:
        """Return the array; nobody may write to it.

        Raises
        ------
        ClusterError
            Where it cannot be read here.
        """
        try:
            return _read(self.store, self.name)
        except (OSError, ValueError, EOFError) as error:
            raise ClusterError(
                self.store.url, "must be a folder that every worker can read", type(error).__name__
            ) from None


@lru_cache(maxsize=_KEPT_ARRAYS)
def _read(store: Store, name: str) -> npt.NDArray[Any]:
    if store.local:
        array: npt.NDArray[Any] = np.load(store.path(name), mmap_mode="r", allow_pickle=False)
        return array
    array = np.load(io.BytesIO(store.read(name)), allow_pickle=False)
    array.flags.writeable = False
    return array


@dataclass(frozen=True)
class Room:
    """A folder that tasks and the driver put arrays in; called with one, it gives back where that is.

    Parameters
    ----------
    store : Store
    """

    store: Store

    def __call__(self, array: npt.NDArray[Any]) -> SharedArray:
        """Write an array under a name of its own: a task that runs twice leaves two, of which one is used."""
        shared = SharedArray(self.store, f"{uuid.uuid4().hex}.npy")
        with self.store.replacing(shared.name, durable=False) as file:
            np.save(file, array, allow_pickle=False)
        return shared


@contextlib.contextmanager
def open_room(store: Store) -> Iterator[Room]:
    """Open a room below a folder, and clear it in the end."""
    own = store.folder(uuid.uuid4().hex)
    own.make(private=True)
    try:
        yield Room(own)
    finally:
        own.clear()
