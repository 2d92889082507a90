"""Runs the `canvass` command as a user does: a process of its own, with state of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

COMMAND = str(Path(sys.executable).with_name("canvass"))
PATIENCE_S = 120


@dataclass(frozen=True)
class House:
    """A folder with a spec, a state folder and outputs."""

    folder: Path
    spec: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a run: state stays in the folder."""
        return os.environ | {"XDG_STATE_HOME": str(self.folder / "state")}

    @property
    def state(self) -> Path:
        """Where the ledger and unfinished jobs are."""
        return self.folder / "state" / "canvass"

    def start(self, *arguments: str, out: str = "out") -> subprocess.Popen[str]:
        """Start a run in a session of its own."""
        return subprocess.Popen(
            [COMMAND, "run", str(self.spec), "--out", str(self.folder / out), *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, out: str = "out") -> subprocess.CompletedProcess[str]:
        """Run to the end, whatever the end."""
        process = self.start(*arguments, out=out)
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    def reports(self, out: str = "out") -> dict[str, bytes]:
        """Return the bytes of every report file."""
        return {
            path.name: path.read_bytes() for path in sorted((self.folder / out / "reports").glob("*.parquet"))
        }

    def staged(self, out: str = "out") -> int:
        """Return how many parts are staged."""
        return len(list((self.folder / out).glob(".canvass-*/reports/*.parquet")))


def until(what: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until something is so, while a process runs."""
    deadline = time.monotonic() + PATIENCE_S
    while not what():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.002)


def workers_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return the worker processes of a run's embedded cluster."""
    children = psutil.Process(process.pid).children(recursive=True)
    return [child for child in children if any("spawn_main" in word for word in child.cmdline())]
