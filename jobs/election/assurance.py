"""Whether the scores that came out leave any other outcome possible.

The decisive margin says, before anybody is asked, how clear a race must be. Afterwards the scores tell more: if no
errors that are likely enough could have turned a step of the count, the outcome is right, with the same probability.

Errors are bounded at once for all that the ballots, the coins and the rule could have made a question of, so that it
may be decided from the scores what to look at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from jobs.election.count import Round
from jobs.election.rules import Condorcet, Maximin, Plurality, Runoff, Scoring, SingleTransferableVote
from jobs.election.rules.maximin import worst_duels
from jobs.election.rules.pairs import margins
from jobs.election.rules.rule import Rule
from udfs.contests import Duels, FirstChoice
from udfs.score_noise import Noise


def is_assured(
    rule: Rule,
    outcome: int | None,
    held: Sequence[Round],
    noises: Sequence[Noise],
    failure: float,
    fresh: bool = False,
    ties: bool = True,
) -> bool:
    """Tell whether the scores leave only this outcome, but for errors of a probability of `failure`.

    Parameters
    ----------
    rule : Rule
    outcome : int or None
        What the scores made of the rule.
    held : sequence of Round
    noises : sequence of Noise
        Of the rounds' scores, one each.
    failure : float
    fresh : bool
        As for `jobs.election.bounds.local_bound`: otherwise all sets of candidates that might have been asked
        about in a round must be right at once.
    ties : bool
        Whether several candidates may share a place above others: such a ballot may count for somebody only later.

    Notes
    -----
    True where, with t the largest likely error of a gap or a duel:

    - plurality, scoring: the first leads all others by more than t;
    - the runoff: the second leads the third so, and the duel is won so;
    - Condorcet: the winner wins all duels so, or everybody loses one so;
    - maximin: the best worst duel leads by more than 2 t;
    - STV: in each round the fewest are so far behind, or, without ties, so many are that all of them together are
      behind everybody else, and go in whatever order.
    """
    if not held:
        return True
    m = rule.candidates
    if isinstance(rule, SingleTransferableVote):
        return _path_is_assured(outcome, held, noises, failure, fresh, ties)
    pairs = math.comb(m, 2)
    events = (
        pairs * len({type(one.contest) for one in held}) * (len(held) if isinstance(rule, Condorcet) else 1)
    )
    gaps = [noise.deviation(events, failure, gap=True) for noise in noises]
    duels = [noise.deviation(events, failure) for noise in noises]
    final = held[-1].scores
    match rule:
        case Plurality() | Scoring():
            return _lead(final) > gaps[0]
        case Runoff():
            first = held[0].scores
            finalists = len(held) == 1 or m == 2 or _lead(np.sort(first)[:-1]) > gaps[0]
            return bool(finalists and abs(final[0]) > duels[-1])
        case Maximin():
            return _lead(worst_duels(m, final)) > 2 * duels[0]
        case Condorcet():
            return _duels_are_assured(outcome, m, held, duels)
    return False


def _lead(scores: npt.NDArray[Any]) -> float:
    """Return by how much the highest leads."""
    second, first = np.sort(scores)[-2:]
    return float(first - second)


def _duels_are_assured(
    outcome: int | None, candidates: int, held: Sequence[Round], errors: Sequence[float]
) -> bool:
    """Tell whether the winner surely wins all their duels, or, if nobody won, everybody surely loses one."""
    wins = np.zeros((candidates, candidates), dtype=np.bool_)
    for one, error in zip(held, errors, strict=True):
        if isinstance(one.contest, Duels):
            wins |= margins(candidates, one.contest, one.scores.astype(np.float64)).astype(np.float64) > error
    if outcome is None:
        return bool(wins.any(axis=0).all())
    return int(wins[outcome].sum()) == candidates - 1


def _path_is_assured(
    outcome: int | None,
    held: Sequence[Round],
    noises: Sequence[Noise],
    failure: float,
    fresh: bool,
    ties: bool,
) -> bool:
    """Tell whether all eliminations lead to the same winner, whatever the errors were."""
    active = [set(one.contest.active) for one in held if isinstance(one.contest, FirstChoice)]
    candidates = len(active[0])
    left = [*active, {outcome}]
    each = [
        (math.comb(len(some), 2) + len(some)) * (1 if fresh else math.comb(candidates, len(some)))
        for some in active
    ]
    events, place = sum(each), 0
    while place < len(held):
        order, noise = np.argsort(held[place].scores, kind="stable"), noises[place]
        scores = held[place].scores[order]
        gap, score = noise.deviation(events, failure, gap=True), noise.deviation(events, failure)
        together = np.cumsum(scores)
        sure = [1] if scores[1] - scores[0] > gap else []
        sure += [
            some
            for some in range(2, 2 if ties else len(scores))
            if scores[some] - together[some - 1] > (some + 1) * score
        ]
        members = sorted(active[place])
        gone = [some for some in sure if left[place + some] == {members[one] for one in order[some:]}]
        if not gone:  # somebody else might go, or whoever should have did not
            return False
        place += gone[0]
    return True
