"""A peer's tally, from Parquet to the winner: run in an environment of their own."""

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
    from pref_voting.voting_methods import condorcet, instant_runoff, minimax, plurality

    counts = load_rankings(path)
    names = sorted({name for ranking in counts for name in ranking})
    number = {name: place for place, name in enumerate(names)}
    profile = Profile(
        [[number[name] for name in ranking] for ranking in counts], rcounts=list(counts.values())
    )
    methods = {"plurality": plurality, "condorcet": condorcet, "maximin": minimax, "stv": instant_runoff}
    return [names[winner] for winner in methods[rule](profile)]


def by_votekit(path, rule):
    """Load and count by VoteKit."""
    from votekit.ballot import RankBallot
    from votekit.elections import IRV, Plurality
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
    election = {"plurality": Plurality, "stv": IRV}[rule]
    return [name for tied in election(profile).get_elected() for name in tied]


def main():
    """Print seconds and winners of one peer by one rule as JSON; what is imported is not counted."""
    path, peer, rule = sys.argv[1:]
    if peer == "pref_voting":
        pass
    else:
        import votekit.elections  # noqa: F401
    started = time.perf_counter()
    winners = {"pref_voting": by_pref_voting, "VoteKit": by_votekit}[peer](path, rule)
    print(json.dumps({"seconds": time.perf_counter() - started, "winners": winners}))


if __name__ == "__main__":
    main()
