"""What a job remembers between runs, outside its output: its draw, its status, where its result is."""

from __future__ import annotations

import contextlib
import fcntl
import hmac
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO

from udfs.errors import ClusterError, SchemaError, SpecError

_KEY_BYTES = 32


def state_home() -> Path:
    """Return the folder of all state: `$XDG_STATE_HOME/canvass`, by default below ~/.local/state."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "canvass"


def make_private_folder(folder: Path) -> None:
    """Make a folder that its owner alone may read.

    Raises
    ------
    SpecError
        Where it cannot be made.
    """
    try:
        for step in (*reversed(folder.parents), folder):
            step.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise SpecError(
            str(folder), "the state folder must be one that can be made", type(error).__name__
        ) from None


def keyed_id(home: Path, digest: str) -> str:
    """Return the id of a job: 64 hexadecimal digits, the HMAC of what it is under a key of the state folder.

    The same job has one id there. Without the key, the id tells nothing of the files that it was asked of, though
    it stands in manifests and ledgers: a plain digest would confirm a guess of the one answer that is not known.
    """
    make_private_folder(home)
    file = home / "key"
    if not file.exists():
        own = home / f"key.{uuid.uuid4().hex}"
        own.touch(mode=0o600)
        own.write_bytes(os.urandom(_KEY_BYTES))
        with suppress(FileExistsError):
            os.link(own, file)  # whole, and only if no other run was first
        own.unlink()
    return hmac.digest(file.read_bytes(), digest.encode(), "sha256").hex()


def _hold(lock: IO[str]) -> bool:
    """Lock an open file, if no other process holds it, and it is still the one of its name."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(lock.fileno()).st_ino == os.stat(lock.name).st_ino
    except (BlockingIOError, FileNotFoundError):
        return False


@dataclass(frozen=True)
class Record:
    """Where a job stands.

    Attributes
    ----------
    draw : str
        Names one drawing of all its coins: the unit of charging.
    output : str
        Where its reports are staged and its result goes.
    spec : str
        A digest of the spec and of where its data are: jobs that share it asked the same of other snapshots.
    secret : str
        Where the secret is.
    code : str
        A digest of the code that draws: other code does not go on with it.
    manifest : str
        SHA-256 of the manifest there; empty until the result is committed.
    """

    draw: str
    output: str
    spec: str
    secret: str
    code: str
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

    Attributes
    ----------
    rounds : Path
        Where the answers to rounds are kept while the job is under way.
    """

    def __init__(self, home: Path, job_id: str) -> None:
        self.job_id = job_id
        self.folder = home / "jobs" / job_id
        self.rounds = self.folder / "rounds"
        self._record = self.folder / "record.json"
        self._digests = self.folder / "digests.json"

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only run of this job.

        Raises
        ------
        ClusterError
            Where another run is under way.
        """
        make_private_folder(self.folder)
        with open(self.folder / "lock", "w", encoding="utf-8") as lock:
            if not _hold(lock):
                raise ClusterError(
                    "job",
                    "one run at a time has this spec and these data",
                    "another under way",
                    "wait for it",
                )
            yield

    def record(self) -> Record | None:
        """Return where the job stands, or None where it never began.

        Raises
        ------
        ClusterError
            Where the record cannot be read.
        """
        try:
            return Record(**json.loads(self._record.read_text("utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, OSError) as error:
            raise ClusterError(
                str(self._record),
                "must be a job's record",
                type(error).__name__,
                "remove its folder: a new draw",
            ) from None

    def abandoned(self, spec: str) -> Iterator[tuple[JobState, Record]]:
        """Yield the unfinished jobs of a spec over other snapshots, each while no other run holds it."""
        for folder in sorted(self.folder.parent.iterdir()):
            other = JobState(self.folder.parent.parent, folder.name)
            if folder == self.folder:
                continue
            with suppress(ClusterError), other.locked():
                record = other.record()
                if record and record.spec == spec and not record.committed:
                    yield other, record

    def begin(self, output: str, spec: str, secret: str, code: str) -> Record:
        """Begin a new draw: nothing that was answered before is of any use to it."""
        self._digests.unlink(missing_ok=True)
        shutil.rmtree(self.rounds, ignore_errors=True)
        record = Record(uuid.uuid4().hex, output, spec, secret, code)
        self.write(record)
        return record

    def keep_digests(self, digests: dict[str, dict[str, str]]) -> None:
        """Remember the units' digests before the first draw; refuse others in a run that goes on.

        Raises
        ------
        SchemaError
            Where rows have changed.
        """
        if self._digests.exists():
            if json.loads(self._digests.read_text("utf-8")) != digests:
                raise SchemaError(
                    "population",
                    "must hold the rows that the interrupted run looked through",
                    "other answers",
                    "run again: it is a new draw, with its own charge",
                )
        else:
            write_whole(self._digests, json.dumps(digests))

    def commit(self, record: Record, manifest: str) -> None:
        """Remember that the result is in place; its rounds are part of it."""
        shutil.rmtree(self.rounds, ignore_errors=True)
        self.write(replace(record, manifest=manifest))

    def forget(self) -> None:
        """Remove all that is remembered."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, record: Record) -> None:
        """Remember where the job stands."""
        write_whole(self._record, json.dumps(asdict(record)))


def write_whole(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all."""
    temporary = path.with_suffix(".tmp")
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
