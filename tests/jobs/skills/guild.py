"""A guild: workers with skills in Parquet files, and a tree of them grown in this process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.skills.key_files import write_keys
from tests.jobs.house import House
from udfs.streams import byte_stream
from udfs.threshold import KeyShare, ThresholdKey, deal

SKILLS = ("sawing", "sewing", "singing")
BITS = 512
"""Of keys that serve tests alone."""


def some_skills(workers: int = 240, seed: int = 5) -> npt.NDArray[np.float64]:
    """Return skills of two decimals, so that many stand on edges; a tenth are 1.0."""
    generator = np.random.Generator(np.random.PCG64(seed))
    skills = np.round(generator.random((workers, len(SKILLS))), 2)
    skills[generator.random(skills.shape) < 0.1] = 1.0
    return skills


def dealt(holders: int = 3, threshold: int = 2, seed: int = 1) -> tuple[ThresholdKey, tuple[KeyShare, ...]]:
    """Return keys that are the same each time."""
    return deal(holders, threshold, BITS, byte_stream(bytes([seed]) * 32))


class Guild(House):
    """A tree at an epsilon so large that counts are exact, unless a test says otherwise."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.root = root
        self.given = {
            "job": "skills",
            "population": {"path": str(self.people), "id": "worker", "name": "guild"},
            "output": {"path": str(self.out)},
            "skills": {"dimensions": list(SKILLS), "bins": 4, "depth": 3},
            "privacy": {"epsilon": 2000},
            "keys": {"holders": 3, "threshold": 2, "bits": BITS},
        }
        self.skills = some_skills()
        self.settle()

    def settle(self, files: int = 3, **options: Any) -> None:
        """Write the workers, dealt out to files."""
        own = [range(file, len(self.skills), files) for file in range(files)]
        self.write(*(self.table(list(rows)) for rows in own), **options)

    def table(self, rows: Sequence[int]) -> dict[str, Any]:
        """Return the columns of some workers."""
        columns = {name: pa.array(self.skills[rows, place]) for place, name in enumerate(SKILLS)}
        return {"worker": pa.array(rows, pa.int64())} | columns

    def deal(self, holders: int = 3, threshold: int = 2, seed: int = 1, folder: str = "keys") -> Path:
        """Deal keys into files, and return their folder."""
        write_keys(str(self.root / folder), *dealt(holders, threshold, seed))
        return self.root / folder

    def embed(self, *holders: int, folder: str = "keys") -> None:
        """Embed the holders of some shares."""
        keys = self.root / folder
        shares = [str(keys / f"share-{holder}.json") for holder in holders]
        self.given["keys"] = {"public": str(keys / "public.json"), "shares": shares}


def in_box(guild: Guild, box: dict[str, list[float]]) -> int:
    """Count the workers of a box by its definition: half-open, but closed at the domain's upper end."""
    inside = np.ones(len(guild.skills), dtype=bool)
    for place, name in enumerate(SKILLS):
        low, high = box[name]
        skill = guild.skills[:, place]
        inside &= (skill >= low) & ((skill < high) | ((skill == 1.0) & (high == 1.0)))
    return int(inside.sum())
