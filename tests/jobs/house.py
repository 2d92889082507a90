"""A small house: people in Parquet files, asked in this process, with a ledger and a state folder of its own."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cluster.backend import Backend
from cluster.reduce import SerialEngine
from jobs.catalogue import load
from jobs.ledger import Ledger
from jobs.lifecycle import run_job
from jobs.spec import Spec

Canvass = Callable[..., tuple[int, str, str]]
"""Runs a command; returns its exit code and what it wrote to either stream."""


class House:
    """People in Parquet files, a spec that asks them, an output, a ledger and a state folder."""

    def __init__(self, root: Path) -> None:
        self.people, self.out, self.home = root / "people", root / "out", root / "state"
        self.given: dict[str, Any] = {
            "job": "survey",
            "population": {"path": str(self.people), "id": "id", "name": "people"},
            "output": {"path": str(self.out)},
            "attributes": {"smokes": {"categories": ["no", "yes"], "epsilon": 1}},
        }
        self.ledger = Ledger.at(None, self.home)

    @property
    def smokes(self) -> dict[str, Any]:
        """The table of the one attribute."""
        return self.given["attributes"]["smokes"]

    def write(self, *parts: dict[str, Any], **options: Any) -> None:
        """Write one Parquet file a part, in place of those that are there."""
        shutil.rmtree(self.people, ignore_errors=True)
        self.people.mkdir(parents=True)
        for number, part in enumerate(parts):
            pq.write_table(pa.table(part), self.people / f"{number}.parquet", **options)

    def fill(self, files: int = 4, rows: int = 60) -> None:
        """Write files of people, a quarter of whom smoke."""
        ids = [range(file * rows, (file + 1) * rows) for file in range(files)]
        self.write(*({"id": list(own), "smokes": ["no" if i % 4 else "yes" for i in own]} for own in ids))

    def spec(self) -> Spec:
        """Return the spec, checked."""
        return load(self.given)[1]

    def run(self, engine: SerialEngine | None = None, **backend: Any) -> tuple[dict[str, Any], bool]:
        """Run the job in this process."""
        job, spec = load(self.given)
        open_engine = lambda: contextlib.nullcontext(engine or SerialEngine())  # noqa: E731
        return run_job(job, spec, Backend(**{"open_engine": open_engine} | backend), self.ledger, self.home)

    def charges(self) -> list[str]:
        """Return the status of everything that stands against the people."""
        return [charge.status for charge in self.ledger.charges(self.given["population"]["name"])]

    def files(self) -> dict[str, bytes]:
        """Return every file of the output."""
        paths = [path for path in self.out.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.out)): path.read_bytes() for path in paths}

    def reports(self) -> dict[str, bytes]:
        """Return the reports that are in place."""
        return {name: data for name, data in self.files().items() if name.startswith("reports/")}

    def secrets(self) -> list[Path]:
        """Return where secrets lie."""
        return list(self.home.rglob("*.secret"))


class Unusable(SerialEngine):
    """An engine that must not be asked."""

    def reduce(self, *_: Any) -> Any:
        raise AssertionError("nothing had to be read")


def spoil_rows(folder: Path) -> None:
    """Overwrite all of a folder's Parquet files but their footers."""
    for path in folder.iterdir():
        data = path.read_bytes()
        footer = 8 + int.from_bytes(data[-8:-4], "little")
        path.write_bytes(b"PAR1" + bytes(len(data) - footer - 4) + data[-footer:])
