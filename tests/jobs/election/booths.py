"""A polling booth: ballots in Parquet files, and an election over them in this process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.jobs.house import House

NAMES = ("Ada", "Bo", "Cy", "Di")

KINDS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("Ada", "Cy", "Bo", "Di"), 1900),
    (("Ada", "Cy", "Di", "Bo"), 1900),
    (("Bo", "Cy", "Di", "Ada"), 3300),
    (("Cy", "Bo", "Ada", "Di"), 2000),
    (("Di", "Bo", "Cy", "Ada"), 700),
    (("Bo",), 100),
    (("Di", "Di"), 50),
    ((), 50),
)
"""Plurality elects Ada, runoff and STV Bo, and all others Cy, by 6.5 standard errors and more of what is sampled."""
OUTCOMES = {
    "plurality": "Ada",
    "runoff": "Bo",
    "stv": "Bo",
    "borda": "Cy",
    "veto": "Cy",
    "condorcet": "Cy",
    "maximin": "Cy",
}


class Booth(House):
    """An election at an epsilon so large that reports tell the truth, unless a test says otherwise."""

    def __init__(self, root: Path, rule: str = "stv", model: str = "local") -> None:
        super().__init__(root)
        self.given = {
            "job": "election",
            "population": {"path": str(self.people), "id": "voter", "ranking": "ranking", "name": "town"},
            "output": {"path": str(self.out)},
            "election": {"candidates": list(NAMES), "rule": rule},
            "privacy": {"model": model, "epsilon": 1000},
        }
        self.vote()

    def vote(
        self, kinds: Sequence[tuple[tuple[str, ...], int]] = KINDS, files: int = 3, **options: Any
    ) -> None:
        """Write ballots, dealt out to files."""
        ballots = [list(ranking) for ranking, count in kinds for _ in range(count)]
        order = sorted(range(len(ballots)), key=lambda voter: voter * 7919 % 10007)
        dealt = [order[file::files] for file in range(files)]
        self.write(
            *(
                {
                    "voter": pa.array(own, pa.int64()),
                    "ranking": pa.array([ballots[voter] for voter in own], pa.list_(pa.string())),
                }
                for own in dealt
            ),
            **options,
        )

    def result(self, **backend: Any) -> dict[str, Any]:
        """Hold the election; return the result."""
        result: dict[str, Any] = self.run(**backend)[0]["result"]
        return result

    def set(self, table: str, **values: Any) -> Booth:
        """Set keys of a table of the spec."""
        self.given.setdefault(table, {}).update(values)
        return self

    def reports(self) -> pa.Table:
        """Return what voters reported, as it was published."""
        return pa.concat_tables([pq.read_table(one) for one in sorted((self.out / "reports").iterdir())])

    def published(self) -> str:
        """Return all that was published, as text."""
        return "".join(one.read_text("utf-8", "replace") for one in sorted(self.out.rglob("*.*")))

    def footer(self) -> dict[str, Any]:
        """Return the `canvass` entry of the first file of reports."""
        file = sorted((self.out / "reports").iterdir())[0]
        found: dict[str, Any] = json.loads(pq.read_schema(file).metadata[b"canvass"])
        return found
