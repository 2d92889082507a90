"""A real election in rounds: Pierce County's executive of 2008, 312,771 ballots that 2,028 of them decide."""

from __future__ import annotations

import secrets
from concurrent.futures import ProcessPoolExecutor
from decimal import Decimal
from functools import cache

from scipy.stats import binom

from jobs.election.count import conduct, exact_answers
from jobs.election.interactive import AskInRounds, Rounds, default_shares
from jobs.election.rules import SingleTransferableVote
from jobs.election.simulated import SimulatedVoters
from tests.jobs.election.published import needs_published, published
from udfs.ballots import BallotQuestion
from udfs.profile import Profile
from udfs.streams import derive_key

FILE = "pierce-2008-countyexecutive.txt"
RUNS = 500
NEEDED = 0.98
FALSE_ALARM = 1e-9


@cache
def ballots() -> tuple[Profile, int | None]:
    names, profile = published(FILE)
    return profile, conduct(SingleTransferableVote(len(names)).count(), exact_answers(profile))[0]


def names_the_winner(run: tuple[bytes, int, str]) -> bool:
    """Hold the election once; whether it names whom the exact count does."""
    seed, number, epsilon = run
    profile, winner = ballots()
    rule = SingleTransferableVote(profile.candidates)
    rounds = Rounds(
        rule,
        "auto",
        Decimal(epsilon),
        True,
        default_shares(rule),
        derive_key(seed, f"public {number}"),
        profile.ballots,
    )
    question = BallotQuestion(("ranking",), tuple("ABCDE"), "list")
    voters = SimulatedVoters(profile, derive_key(seed, f"voters {number}"))
    return conduct(rule.rounds(), AskInRounds(rounds, voters, question))[0] == winner


def wrong(runs: int, epsilon: str, seed: bytes) -> int:
    with ProcessPoolExecutor(2) as pool:
        work = [(seed, number, epsilon) for number in range(runs)]
        return runs - sum(pool.map(names_the_winner, work, chunksize=5))


def most(runs: int) -> int:
    """Return how often a method that is right with the probability needed is wrong, but once in 1e9."""
    return int(binom.isf(FALSE_ALARM, runs, 1 - NEEDED))


@needs_published
def test_shared_voters_name_the_right_winner_as_often_as_they_must_and_at_a_quarter_of_epsilon_do_not() -> (
    None
):
    seed = secrets.token_bytes(32)
    found = wrong(RUNS, "1", seed)
    assert found <= most(RUNS), f"wrong {found} times of {RUNS}; the seed was {seed.hex()}"
    few = 180
    assert wrong(few, "0.25", seed) > most(few), f"the seed was {seed.hex()}"
