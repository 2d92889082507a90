"""What a job remembers between runs, outside its output: its draw, its status, where its result is."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from udfs.errors import ClusterError


def state_home() -> Path:
    """Return the folder of all state: `$XDG_STATE_HOME/canvass`, by default below ~/.local/state."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "canvass"


@dataclass(frozen=True)
class Record:
    """Where a job stands.

    Attributes
    ----------
    draw : str
        Names one drawing of all its coins: the unit of charging.
    output : str
        Where its reports are staged and its result goes.
    manifest : str
        SHA-256 of the manifest there; empty until the result is committed.
    """

    draw: str
    output: str
    manifest: str = ""

    @property
    def committed(self) -> bool:
        """Whether the result is in place."""
        return bool(self.manifest)


class JobState:
    """One job's folder: `jobs/<id>/` in the state folder.

    Parameters
    ----------
    home : Path
        The state folder.
    job_id : str
    """

    def __init__(self, home: Path, job_id: str) -> None:
        self.folder = home / "jobs" / job_id
        self._record = self.folder / "record.json"

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only run of this job.

        Raises
        ------
        ClusterError
            Where another run is under way.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(self.folder / "lock", "w", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ClusterError(
                    "job",
                    "one run at a time has this spec and these data",
                    "another under way",
                    "wait for it",
                ) from None
            yield

    def record(self) -> Record | None:
        """Return where the job stands, or None where it never began."""
        try:
            return Record(**json.loads(self._record.read_text("utf-8")))
        except FileNotFoundError:
            return None

    def begin(self, output: str) -> Record:
        """Begin a new draw."""
        record = Record(draw=uuid.uuid4().hex, output=output)
        self.write(record)
        return record

    def commit(self, record: Record, manifest: str) -> None:
        """Remember that the result is in place."""
        self.write(replace(record, manifest=manifest))

    def forget(self) -> None:
        """Remove all that is remembered."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, record: Record) -> None:
        """Remember where the job stands."""
        temporary = self._record.with_suffix(".tmp")
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(asdict(record), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self._record)
