"""Scores in place of a margin of victory where that is hard to find: in polynomial time, and no less private.

A surrogate changes by at most 1 between neighbouring profiles, and, where the outcome changes, is 1 on both
sides, or adds up to at most 1: all that `jobs.election.selection` asks of a margin. The spec chooses it
before the ballots are seen, for to fall back on it where a margin takes too long would tell of the ballots.

References
----------
papers/private-voting, theorem 3.2 and equation 3, for maximin.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from jobs.election.rules import Condorcet, Maximin
from jobs.election.rules.maximin import worst_duels
from jobs.election.rules.rule import Rule
from udfs.contests import Duels
from udfs.errors import SpecError
from udfs.profile import Profile


def surrogate(rule: Rule, profile: Profile) -> Fraction:
    """Return the score of a rule's outcome, in place of its margin of victory.

    Parameters
    ----------
    rule : Rule
        One of `SURROGATES`.
    profile : Profile
        All ballots.

    Returns
    -------
    Fraction
        At most the margin of victory; 0 where there is but one candidate.

    Raises
    ------
    SpecError
        For a rule that has none.

    Examples
    --------
    >>> ballots = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]], dtype=np.uint8)
    >>> surrogate(Maximin(3), Profile.of(ballots, np.array([5, 4, 3])))
    Fraction(1, 2)
    """
    if type(rule) not in SURROGATES:
        known = ", ".join(kind.name for kind in SURROGATES)
        raise SpecError("privacy.score", f"only {known} have a polynomial score", rule.name, 'set "exact"')
    if rule.candidates == 1:
        return Fraction(0)
    return SURROGATES[type(rule)](rule, profile)


def _condorcet(rule: Condorcet, profile: Profile) -> Fraction:
    """Return how many ballots undo the winner's narrowest duel; or win whoever comes closest their hardest.

    With a winner w, that is the margin of victory: the least of ceil(D(w, c) / 2). With none, it is the least
    over candidates c of the most that a rival takes by themselves, floor(D(a, c) / 2) + 1, and at least 1. A
    ballot moves D by 2 at most, so both by 1 at most. And where a ballot makes w the winner, D(a, w) was at
    most 1, and D(w, a) is at most 2 for some a that w did not beat: 1 on both sides.
    """
    worst = worst_duels(rule.candidates, profile.score(Duels.of_all(rule.candidates)))
    best = int(worst.max())  # the winner's if it is positive: two cannot both win all duels
    return Fraction(-(-best // 2)) if best > 0 else Fraction(-best // 2 + 1)


def _maximin(rule: Maximin, profile: Profile) -> Fraction:
    """Return a quarter of the gap between the best two scores (equation 3).

    A ballot moves a duel by 2 at most, so a score by 2, and the gap by 4. Where the winner changes, whoever
    was ahead by g falls behind by 4 - g at most.
    """
    scores = np.sort(worst_duels(rule.candidates, profile.score(Duels.of_all(rule.candidates))))
    return Fraction(int(scores[-1] - scores[-2]), 4)


SURROGATES: dict[type[Rule], Callable[[Any, Profile], Fraction]] = {Condorcet: _condorcet, Maximin: _maximin}
"""The rules that have one."""
