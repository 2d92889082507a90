"""A real scheduler and workers in processes of their own, as an operator starts them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

DASK = Path(sys.executable).with_name("dask")
_PATIENCE_S = 60.0


@dataclass
class Remote:
    """A scheduler and its workers.

    Attributes
    ----------
    folder : Path
        Holds the scheduler's file, and a log for each process.
    environment : dict of str to str
        Of all its processes.
    """

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Where the scheduler listens."""
        found: str = json.loads(self.file.read_text())["address"]
        return found

    @property
    def file(self) -> Path:
        """The file in which the scheduler wrote its address."""
        return self.folder / "scheduler.json"

    def start(self, kind: str, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a scheduler or a worker."""
        log = (self.folder / f"{len(self.processes)}-{kind}.log").open("wb")
        process = subprocess.Popen(
            [DASK, kind, "--no-dashboard", "--host", "127.0.0.1", *options],
            cwd=self.folder,
            env=os.environ | self.environment | environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        self.processes.append(process)
        return process

    def start_worker(self, *options: str, address: str = "", **environment: str) -> subprocess.Popen[bytes]:
        """Start a worker of one thread."""
        place = [address] if address else ["--scheduler-file", str(self.file)]
        local = ["--local-directory", str(self.folder), "--nthreads", "1"]
        return self.start("worker", *place, *local, *options, **environment)

    def logs(self) -> str:
        """Return all that its processes said."""
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.log")))

    def wait_for(self, said: str) -> None:
        """Wait until a process says something."""
        self._wait(lambda: said in self.logs())

    def wait_until_reachable(self) -> None:
        """Wait until the scheduler's file holds its address; it is written after the log says it."""
        self._wait(lambda: self.file.exists() and self.file.read_text().rstrip().endswith("}"))

    def _wait(self, met: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while not met():
            assert time.monotonic() < deadline, self.logs()
            time.sleep(0.05)


@contextlib.contextmanager
def remote_scheduler(folder: Path, *options: str, **environment: str) -> Iterator[Remote]:
    """Start a scheduler without workers; end it with all workers that were started."""
    remote = Remote(folder, environment)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        remote.start("scheduler", "--port", "0", "--scheduler-file", str(remote.file), *options)
        remote.wait_until_reachable()
        yield remote
    finally:
        for process in remote.processes:
            process.kill()  # a worker ends with its nanny
            process.wait(_PATIENCE_S)
