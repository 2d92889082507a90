"""A tally without privacy, from Parquet to the winner, in one process."""

from __future__ import annotations

import argparse
import json
import time


def main() -> None:
    """Count once by each rule; print seconds and winners as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int)
    parser.add_argument("rules", nargs="+")
    arguments = parser.parse_args()

    from benchmarks.electorate import CANDIDATES, electorate
    from cluster.dataset import open_dataset
    from jobs.election.ballot_box import gather
    from jobs.election.count import conduct, exact_answers
    from jobs.election.rules import RULES
    from udfs.ballots import BallotQuestion

    path = electorate(arguments.rows)
    found = {}
    for rule in arguments.rules:
        started = time.perf_counter()
        question = BallotQuestion(("ranking",), tuple(CANDIDATES), "list")
        profile = gather(question, open_dataset(str(path)).read(["ranking"]))
        winner, _ = conduct(RULES[rule](len(CANDIDATES)).count(), exact_answers(profile))
        name = None if winner is None else CANDIDATES[winner]
        found[rule] = {"seconds": time.perf_counter() - started, "winner": name}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
