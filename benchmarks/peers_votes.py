"""Peers' tallies, from Parquet to the winner: run in an environment of their own."""

import json
import sys
import time
from collections import Counter

import pandas as pd


def load_rankings(path):
    """Return how often each ranking was cast."""
    frame = pd.read_parquet(path, columns=["ranking"])
    return Counter(map(tuple, frame["ranking"]))


def by_pref_voting(path, rule):
    """Load and count by pref_voting."""
    from pref_voting.profiles import Profile
    from pref_voting.voting_methods import condorcet, instant_runoff, minimax, plurality, plurality_with_runoff_put

    counts = load_rankings(path)
    names = sorted({name for ranking in counts for name in ranking})
    number = {name: place for place, name in enumerate(names)}
    profile = Profile([[number[name] for name in ranking] for ranking in counts], rcounts=list(counts.values()))
    methods = {
        "plurality": plurality,
        "condorcet": condorcet,
        "maximin": minimax,
        "runoff": plurality_with_runoff_put,
        "stv": instant_runoff,
    }
    return [names[winner] for winner in methods[rule](profile)]


def by_votekit(path, rule):
    """Load and count by VoteKit."""
    from votekit.ballot import RankBallot
    from votekit.elections import IRV, Plurality, TopTwo
    from votekit.graphs import PairwiseComparisonGraph
    from votekit.pref_profile import RankProfile

    counts = load_rankings(path)
    ballots = [
        RankBallot(ranking=[{name} for name in ranking], weight=count) for ranking, count in counts.items()
    ]
    names = sorted({name for ranking in counts for name in ranking})
    profile = RankProfile(ballots=ballots, candidates=names)
    if rule == "condorcet":
        return [PairwiseComparisonGraph(profile).get_condorcet_winner()]
    election = {"plurality": Plurality, "runoff": TopTwo, "stv": IRV}[rule]
    return [name for tied in election(profile).get_elected() for name in tied]


def main():
    """Print seconds and winners by peer and rule as JSON."""
    path, *rules = sys.argv[1:]
    found = {}
    for name, count in (("pref_voting", by_pref_voting), ("VoteKit", by_votekit)):
        for rule in rules:
            started = time.perf_counter()
            try:
                winners = count(path, rule)
            except (KeyError, NotImplementedError):
                continue
            found[f"{name} {rule}"] = {"seconds": time.perf_counter() - started, "winners": winners}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
