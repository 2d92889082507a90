"""The real command in processes of its own, with a state folder of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

from jobs.ledger import Charge, Ledger

COMMAND = Path(sys.executable).with_name("canvass")
PATIENCE_S = 120.0


class Canvass:
    """The command in one folder: specs, output and state lie below it."""

    def __init__(self, root: Path, *options: str) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root, self.out, self.state, self._options = root, root / "out", root / "state", options
        self.command = [str(COMMAND)]
        self.environment = {"XDG_STATE_HOME": str(self.state)}
        self.tables: dict[str, Any] = {
            "job": "survey",
            "population": {"name": "people"},
            "output": {"path": "out"},
            "cluster": {},
            "attributes": {},
        }

    def ask(self, path: str, attributes: dict[str, Any], **population: Any) -> None:
        """Put down whom to ask, and what."""
        self.tables["population"] |= {"path": path} | population
        self.tables["attributes"] = attributes

    def start(self, *options: str) -> subprocess.Popen[str]:
        """Start a run, in a process group of its own."""
        spec = self.root / "spec.toml"
        spec.write_text(to_toml(self.tables), encoding="utf-8")
        return subprocess.Popen(
            [*self.command, "run", str(spec), *self._options, *options],
            cwd=self.root,
            env=os.environ | self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Run to the end."""
        return end(self.start(*options))

    def document(self, *options: str) -> dict[str, Any]:
        """Run, and return result.json."""
        ended = self.run("--quiet", *options)
        assert ended.returncode == 0, ended.stderr
        found: dict[str, Any] = json.loads((self.out / "result.json").read_text("utf-8"))
        return found

    def refusal(self, *options: str, code: int = 2) -> str:
        """Run, be refused with an exit code in one line, leave and charge nothing; return the line."""
        ended = self.run("--quiet", *options)
        assert ended.returncode == code, ended.stderr
        assert ended.stdout == ""
        assert len(ended.stderr.splitlines()) == 1
        assert not self.out.exists()
        assert self.charges() == []
        return ended.stderr

    def charges(self) -> list[Charge]:
        """Return what stands in the ledger."""
        ledger = Ledger.at(None, self.state / "canvass")
        return [charge for balance in ledger.balances() for charge in ledger.charges(balance.account)]

    def reports(self) -> dict[str, bytes]:
        """Return the reports that are in place."""
        return {path.name: path.read_bytes() for path in sorted((self.out / "reports").iterdir())}

    def staged(self) -> list[str]:
        """Return the parts whose reports stand in the staging folder."""
        return sorted(path.name for path in self.out.glob(".canvass-*/reports/part-?????.parquet"))


def to_toml(tables: dict[str, Any], prefix: str = "") -> str:
    """Return tables as TOML."""
    values = {key: value for key, value in tables.items() if not isinstance(value, dict)}
    text = "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in values.items())
    for key, table in tables.items():
        if isinstance(table, dict):
            name = f"{prefix}{json.dumps(key)}"
            text += f"[{name}]\n" + to_toml(table, f"{name}.")
    return text


def end(run: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    """Wait for a run to end, with what it said."""
    try:
        stdout, stderr = run.communicate(timeout=PATIENCE_S)
    finally:
        kill_group(run)
    return subprocess.CompletedProcess(run.args, run.returncode, stdout, stderr)


def kill_group(run: subprocess.Popen[str]) -> None:
    """Kill a run with all its processes, as a machine that fails does."""
    try:
        os.killpg(run.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    run.wait(PATIENCE_S)


def workers_of(run: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return the processes of a run's embedded cluster."""
    return [
        child
        for child in psutil.Process(run.pid).children(recursive=True)
        if any("spawn_main" in word for word in child.cmdline())
    ]


def wait_until(holds: Callable[[], Any], run: subprocess.Popen[str] | None = None) -> Any:
    """Wait until something holds, while a run goes on; return what it holds."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if found := holds():
            return found
        assert run is None or run.poll() is None, run.communicate()
        time.sleep(0.01)
    raise AssertionError("it never came about")


def files_below(*folders: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield every file below some folders; those that vanish meanwhile are passed over."""
    for folder in folders:
        for path in folder.rglob("*"):
            try:
                if path.is_file():
                    yield path, path.read_bytes()
            except FileNotFoundError:
                continue
