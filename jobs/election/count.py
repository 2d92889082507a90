"""A rule's questions put to whoever answers: the exact tally, one release, or a fresh round each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from jobs.election.rules.rule import Count, Scores
from udfs.contests import Contest, Duels, FirstChoice, Points
from udfs.profile import Profile

QUESTIONS: dict[type[Contest], str] = {FirstChoice: "first choices", Duels: "duels", Points: "points"}
"""How documents name what was asked."""


@dataclass(frozen=True, eq=False)
class Round:
    """One question and its answer.

    Attributes
    ----------
    contest : Contest
    scores : ndarray of float64 or int64, shape (contest.dimension,)
        Sums over all ballots; an exact tally's are whole, and `contest.scale` times too large.
    standard_errors : ndarray of float64, shape (contest.dimension,)
        About the exact tally; 0 of an exact one.
    asked : int
        How many ballots were asked.
    randomizer : str, optional
        What specs call the one that answered; None of an exact tally.
    fewest : int
        The fewest who were asked any part of it, or what the rule might have asked in its place.
    """

    contest: Contest
    scores: Scores
    standard_errors: npt.NDArray[np.float64]
    asked: int
    randomizer: str | None = None
    fewest: int = 0


Answer: TypeAlias = Callable[[Contest], Round]


def conduct(count: Count, answer: Answer) -> tuple[int | None, tuple[Round, ...]]:
    """Put a rule's questions, one after the other; return the winner's number and what was answered."""
    rounds: list[Round] = []
    try:
        contest = next(count)
        while True:
            rounds.append(answer(contest))
            contest = count.send(rounds[-1].scores)
    except StopIteration as end:
        winner: int | None = end.value
        return winner, tuple(rounds)


def exact_answers(profile: Profile) -> Answer:
    """Return an answer by the exact tally: so a rule is counted where nobody need be protected."""

    def answer(contest: Contest) -> Round:
        return Round(contest, profile.score(contest), np.zeros(contest.dimension), profile.ballots)

    return answer


def preview(count: Count) -> tuple[Contest, ...]:
    """Return what a rule asks where all scores are 0: any other path asks about as many candidates in each round."""

    def nothing(contest: Contest) -> Round:
        zeros = np.zeros(contest.dimension)
        return Round(contest, zeros, zeros, 0)

    return tuple(one.contest for one in conduct(count, nothing)[1])
