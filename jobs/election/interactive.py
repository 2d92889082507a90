"""Rounds: a fresh private question each time, to some of the voters or to all of them.

Privacy: epsilon for the whole transcript, exactly. Where voters are shared, each is in one round alone, which
a published seed chose, and answers with the whole epsilon; where the budget is, each answers in every round that
there can be, with an equal part.

References
----------
papers/private-voting, section 5 and appendix G: algorithms 5, 6 and 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from itertools import accumulate, pairwise

from jobs.election.count import Round
from jobs.election.randomizers import ScoreMechanism, Setting, choose, name_of
from jobs.election.rules import Condorcet
from jobs.election.rules.rule import Rule
from jobs.population import Population
from udfs.ballots import BallotQuestion
from udfs.contests import Contest
from udfs.streams import derive_key
from udfs.turns import EVERYBODY, Turn

_LAST_TO_FIRST = 16
"""The last round gets at most so many times the voters of the first: late rounds decide."""


def default_shares(rule: Rule) -> tuple[int, ...]:
    """Return the parts of the voters that each round gets.

    Each round gets twice the voters of the one before it, or less where there are many. A knockout's rounds get
    voters by their duels.

    Examples
    --------
    >>> from jobs.election.rules import RULES
    >>> default_shares(RULES["stv"](5)), default_shares(RULES["condorcet"](6))
    ((1, 2, 4, 8), (3, 1, 1, 5))
    """
    rounds = rule.most_rounds
    if isinstance(rule, Condorcet) and rule.candidates > 2:
        left, duels = rule.candidates, []
        while left > 1:
            duels.append(left // 2)
            left -= left // 2
        return (*duels, rule.candidates - 1)
    growth = min(2.0, _LAST_TO_FIRST ** (1 / max(rounds - 1, 1)))
    if growth == 2.0:
        return tuple(2**place for place in range(rounds))
    return tuple(round(100 * growth**place) for place in range(rounds))


def split(epsilon: Decimal, parts: int) -> Decimal:
    """Return an equal part of epsilon, rounded down.

    Examples
    --------
    >>> split(Decimal(1), 3)
    Decimal('0.3333333333333333333333333333')
    """
    return Context(prec=28, rounding=ROUND_FLOOR).divide(epsilon, Decimal(parts))


@dataclass(frozen=True)
class Rounds:
    """How each round asks.

    Attributes
    ----------
    rule : Rule
    randomizer : str
    epsilon : Decimal
    share_voters : bool
    shares : tuple of int
        One a round.
    seed : bytes
    ballots : int
    """

    rule: Rule
    randomizer: str
    epsilon: Decimal
    share_voters: bool
    shares: tuple[int, ...]
    seed: bytes
    ballots: int

    def settings(self) -> Iterator[Setting]:
        """Yield what the randomizer of each round is made with."""
        candidates = self.rule.candidates
        if not self.share_voters:
            part = split(self.epsilon, len(self.shares))
            for place in range(len(self.shares)):
                seed = derive_key(self.seed, f"round {place + 1}")  # what voters are asked is drawn afresh
                yield Setting(candidates, part, seed, EVERYBODY)
            return
        for first, last in pairwise(accumulate(self.shares, initial=0)):
            yield Setting(candidates, self.epsilon, self.seed, Turn(first, last, sum(self.shares)))

    def mechanism(self, place: int, contest: Contest) -> tuple[ScoreMechanism, str]:
        """Return the randomizer of a round, and why it is that one."""
        setting = list(self.settings())[place]
        return choose(contest, self.randomizer, setting, self.ballots)


@dataclass
class AskInRounds:
    """Asks the population anew for every question: a `jobs.election.count.Answer`."""

    rounds: Rounds
    population: Population
    question: BallotQuestion
    asked: int = 0

    def __call__(self, contest: Contest) -> Round:
        """Ask the voters whose turn it is."""
        mechanism, _ = self.rounds.mechanism(self.asked, contest)
        self.asked += 1
        (sums,) = self.population.ask([(self.question, mechanism)], f"round {self.asked}")
        estimate = mechanism.estimate(contest, sums, self.population.rows)
        reports, fewest = int(mechanism.asked(contest, sums).sum()), mechanism.fewest(contest, sums)
        return Round(contest, estimate.scores, estimate.standard_errors, reports, name_of(mechanism), fewest)
