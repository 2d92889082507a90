"""Ballot boxes: ballots brought in to Parquet files, then counted as `canvass margin` counts them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cluster.dataset import open_dataset
from cluster.partitioned import write_partitioned
from jobs.election.ballot_box import find_margin, gather, open_box
from jobs.election.formats.listed import Lines, SettledBallots

Ballots = Sequence[tuple[int, Sequence[Sequence[str]]]]
"""How many voters cast a ballot, and whom it names at each rank."""


class Box:
    """A folder of ballots."""

    def __init__(self, path: Path, settled: SettledBallots, files: int = 1) -> None:
        self.path, self.tallies = str(path), settled.tallies
        schema = settled.schema({})
        write_partitioned(self.path, schema, settled.parts(files, schema))

    @classmethod
    def of(
        cls,
        path: Path,
        candidates: Sequence[str],
        ballots: Ballots,
        overvotes: str = "keep",
        files: int = 1,
    ) -> Box:
        """Return the box of some ballots."""
        lines = Lines()
        for count, ranks in ballots:
            lines.add(count, [[candidates.index(name) for name in rank] for rank in ranks])
        return cls(path, lines.ballots("file", candidates).settle(overvotes), files)

    def count(self, rule: str, **election: Any) -> dict[str, Any]:
        """Return the count by a rule, and the margin."""
        data = open_dataset(self.path)
        spec = open_box(data, {"path": self.path, "ranking": "ranking"}, {"rule": rule} | election)
        return find_margin(spec, gather(spec.question, data.read(["ranking"])))


def scores(document: dict[str, Any], round_number: int = 0) -> dict[str, Any]:
    """Return a round's scores by name."""
    one = document["rounds"][round_number]
    return dict(zip(one["active"], one["scores"], strict=True))
