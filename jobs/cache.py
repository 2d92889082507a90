"""Arrays that took long to make and are no secret, kept from job to job in the state folder."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from jobs.state import make_private_folder

MOST_BYTES = 1 << 31
"""The folder holds no more: what was not used for longest goes first."""


@dataclass(frozen=True)
class Cache:
    """A folder of arrays, by names that tell all that they are. It may be removed at any time.

    Parameters
    ----------
    folder : Path
    """

    folder: Path

    def array(self, name: str, make: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return the array of this name, made if it is not there, or not as it was written."""
        file = self.folder / f"{hashlib.sha256(name.encode()).hexdigest()}.npy"
        with suppress(OSError, ValueError, EOFError):
            found = _read(file)
            os.utime(file)
            return found
        array = make()
        if array.nbytes <= MOST_BYTES:
            self._keep(file, array)
        return array

    def _keep(self, file: Path, array: npt.NDArray[Any]) -> None:
        """Write an array, whole or not at all, and remove others where there is no room."""
        make_private_folder(self.folder)
        others = sorted(self.folder.glob("*.npy"), key=lambda one: one.stat().st_mtime)
        room = MOST_BYTES - array.nbytes - sum(one.stat().st_size for one in others)
        for other in others:
            if room < 0:
                room += other.stat().st_size
                other.unlink(missing_ok=True)
        own = self.folder / f"{uuid.uuid4().hex}.tmp"
        try:
            with open(own, "wb") as into:
                np.save(into, array, allow_pickle=False)
                into.write(hashlib.sha256(np.ascontiguousarray(array).data).digest())
            os.replace(own, file)
        finally:
            own.unlink(missing_ok=True)


def _read(file: Path) -> npt.NDArray[Any]:
    """Return the array of a file; ValueError where it is not what was written."""
    with open(file, "rb") as source:
        array: npt.NDArray[Any] = np.load(source, allow_pickle=False)
        if source.read() != hashlib.sha256(np.ascontiguousarray(array).data).digest():
            raise ValueError
    return array
