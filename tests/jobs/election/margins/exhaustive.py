"""Margins of victory by looking at every profile there is."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import numpy.typing as npt

from jobs.election.rules import (
    Borda,
    Condorcet,
    Maximin,
    Plurality,
    Runoff,
    Scoring,
    SingleTransferableVote,
    Veto,
)
from jobs.election.rules.rule import Rule
from udfs.contests import Contest, Duels, FirstChoice, Points
from udfs.profile import Profile

Profiles = npt.NDArray[np.int16]


@cache
def ballots(candidates: int) -> npt.NDArray[np.uint8]:
    """Return all ballots there are: 3, 13, 75 for 2, 3, 4 candidates, those with shared places included."""
    rows = product(range(candidates), repeat=candidates)
    return np.array(
        [row for row in rows if all(place == sum(other < place for other in row) for place in row)],
        dtype=np.uint8,
    )


@cache
def profiles(candidates: int, voters: int) -> Profiles:
    """Return how many there are of each ballot in every profile: shape (profiles, ballots)."""
    kinds = len(ballots(candidates))
    chosen = np.array(list(combinations_with_replacement(range(kinds), voters)))
    counts = np.zeros((len(chosen), kinds), dtype=np.int16)
    np.add.at(counts, (np.arange(len(chosen))[:, None], chosen), 1)
    return counts


@cache
def outcomes(rule: Rule, voters: int) -> npt.NDArray[np.int64]:
    """Return the outcome of every profile, -1 for nobody, by the rules as they are defined."""
    kinds, counts = ballots(rule.candidates), profiles(rule.candidates, voters)
    candidates = range(rule.candidates)

    def score(contest: Contest) -> npt.NDArray[np.int64]:
        return counts @ contest.encode(kinds).astype(np.int64)

    if isinstance(rule, Plurality):
        return score(FirstChoice(rule.everybody)).argmax(axis=1)
    if isinstance(rule, Scoring):
        return score(Points(rule.weights)).argmax(axis=1)
    if isinstance(rule, SingleTransferableVote):
        return _last_standing(rule.candidates, counts)
    duels = Duels.of_all(rule.candidates)
    over = np.zeros((len(counts), rule.candidates, rule.candidates), dtype=np.int64)
    for (one, other), margins in zip(duels.pairs, score(duels).T, strict=True):
        over[:, one, other], over[:, other, one] = margins, -margins
    everybody_else = ~np.eye(rule.candidates, dtype=bool)
    if isinstance(rule, Condorcet):
        wins = ((over > 0) | ~everybody_else).all(axis=2)
        return np.where(wins.any(axis=1), wins.argmax(axis=1), -1)
    if isinstance(rule, Maximin):
        return np.where(everybody_else, over, voters + 1).min(axis=2).argmax(axis=1)
    assert isinstance(rule, Runoff)
    firsts = score(FirstChoice(rule.everybody))
    ahead = [
        [(firsts[:, b] > firsts[:, a]) | ((firsts[:, b] == firsts[:, a]) & (b < a)) for b in candidates]
        for a in candidates
    ]
    final = np.stack([sum(row).astype(int) < 2 for row in ahead], axis=1)
    one, other = np.nonzero(final)[1].reshape(-1, 2).T
    return np.where(over[np.arange(len(counts)), one, other] >= 0, one, other)


def _last_standing(candidates: int, counts: Profiles) -> npt.NDArray[np.int64]:
    """Return whom single transferable vote elects in every profile."""
    standing = np.ones((len(counts), candidates), dtype=bool)
    for size in range(candidates, 1, -1):
        votes = np.zeros((len(counts), candidates))
        for active in combinations(range(candidates), size):
            here = standing[:, active].all(axis=1)
            votes[np.ix_(here, active)] = counts[here] @ FirstChoice(active).encode(ballots(candidates))
        # a little less for later candidates, so that of the fewest the last goes
        votes = np.where(standing, votes - np.arange(candidates) / (2 * candidates), np.inf)
        standing[np.arange(len(counts)), votes.argmin(axis=1)] = False
    return standing.argmax(axis=1)


def margin(rule: Rule, voters: int, index: int) -> int:
    """Return the margin of one profile: how far the nearest profile of another outcome is."""
    counts, results = profiles(rule.candidates, voters), outcomes(rule, voters)
    others = counts[results != results[index]]
    return int(voters - np.minimum(others, counts[index]).sum(axis=1).max()) if len(others) else 0


def each(rule: Rule, voters: int, most: int) -> Iterator[tuple[Profile, int, int | None]]:
    """Yield profiles, all or `most` of them at even steps, their margins and outcomes."""
    counts, results = profiles(rule.candidates, voters), outcomes(rule, voters)
    for index in np.linspace(0, len(counts) - 1, min(most, len(counts)), dtype=int):
        result = int(results[index])
        yield (
            Profile.of(ballots(rule.candidates), counts[index].astype(np.int64)),
            margin(rule, voters, index),
            None if result < 0 else result,
        )


def rules(candidates: int) -> list[Rule]:
    """Return one of each rule, and scoring rules of more kinds."""
    steps = [Fraction(1, rank + 1) for rank in range(candidates)]
    return [
        Plurality(candidates),
        Borda(candidates),
        Veto(candidates),
        Scoring(candidates, tuple(steps)),
        Condorcet(candidates),
        Maximin(candidates),
        Runoff(candidates),
        SingleTransferableVote(candidates),
    ]
