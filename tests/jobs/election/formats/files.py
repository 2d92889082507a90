"""Files of ballots, written and read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from jobs.election.formats import FORMATS
from jobs.election.formats.listed import ListedBallots, SettledBallots
from jobs.election.formats.source import Source

Rankings = Counter[tuple[Any, ...]]


def read(kind: str, text: str) -> ListedBallots:
    """Read a file of one line or more."""
    return FORMATS[kind](Source("file", text))


def rows(settled: SettledBallots, files: int = 1) -> list[pa.Table]:
    """Return each file's rows."""
    schema = settled.schema({})
    return [pa.concat_tables([schema.empty_table(), *tables]) for tables in settled.parts(files, schema)]


def rankings(kind: str, text: str, overvotes: str = "truncate") -> Rankings:
    """Return how many ballots of each kind a file holds, shared ranks as tuples."""
    (table,) = rows(read(kind, text).settle(overvotes))
    return Counter(
        tuple(tuple(rank) if isinstance(rank, list) else rank for rank in ranking)
        for ranking in table["ranking"].to_pylist()
    )


def written(folder: Path, text: str, encoding: str = "utf-8") -> str:
    """Write a file and return its path."""
    path = folder / "file.txt"
    path.write_bytes(text.encode(encoding))
    return str(path)
