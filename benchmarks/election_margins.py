"""Exact margins of victory of published elections, where they are there."""

from __future__ import annotations

import json
import time
from pathlib import Path

PUBLISHED = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "ballots"
RULES = ("plurality", "runoff", "stv", "condorcet", "maximin")


def main() -> None:
    """Print the seconds of every election, all rules together, as JSON; nothing where none is there."""
    from jobs.election.formats import read_ballots
    from jobs.election.margins import margin_of_victory
    from jobs.election.rules import RULES as KINDS
    from udfs.ballots import BallotQuestion
    from udfs.profile import Profile

    found = {}
    for file in sorted(PUBLISHED.glob("*.*")) if PUBLISHED.exists() else []:
        ballots, told = read_ballots("irv" if file.suffix == ".txt" else "preflib", str(file), None)
        schema = ballots.schema(told)
        tables = [table for part in ballots.parts(1, schema) for table in part]
        question = BallotQuestion(("ranking",), tuple(ballots.candidates), "list")
        profiles = [
            Profile.of(question.read(block).codes) for table in tables for block in table.to_batches()
        ]
        profile = sum(profiles[1:], profiles[0])
        started = time.perf_counter()
        for rule in RULES:
            margin_of_victory(KINDS[rule](profile.candidates), profile)
        found[file.stem] = time.perf_counter() - started
    print(json.dumps(found))


if __name__ == "__main__":
    main()
