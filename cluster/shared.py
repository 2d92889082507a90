"""Arrays that many tasks read: they lie beside the job's output for as long as they are needed, and tasks carry their address.

An argument of a task travels once for each task; an array of a shared file is read once by each process.
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


@contextlib.contextmanager
def share(store: Store, array: npt.NDArray[Any]) -> Iterator[SharedArray]:
    """Put an array where tasks can read it, and remove it in the end."""
    shared = keep(store, f"{uuid.uuid4().hex}.npy", array)
    try:
        yield shared
    finally:
        store.remove(shared.name)


def keep(store: Store, name: str, array: npt.NDArray[Any]) -> SharedArray:
    """Put an array where tasks can read it, under a name that no other array ever has."""
    store.make(private=True)
    with store.replacing(name, durable=False) as file:
        np.save(file, array, allow_pickle=False)
    return SharedArray(store, name)
