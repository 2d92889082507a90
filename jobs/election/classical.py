"""The classical count, round by round and without privacy: for whoever may see the ballots."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from jobs.election.count import QUESTIONS, Round, conduct, exact_answers
from jobs.election.rules.maximin import Maximin, worst_duels
from jobs.election.rules.rule import Rule, Scores
from jobs.election.rules.runoff import Runoff
from jobs.election.rules.stv import SingleTransferableVote
from udfs.contests import Contest, Duels, FirstChoice, Points
from udfs.profile import Profile


def count_exactly(rule: Rule, profile: Profile, names: Sequence[str | int]) -> dict[str, Any]:
    """Count by a rule, and tell every round.

    Parameters
    ----------
    rule : Rule
    profile : Profile
    names : sequence of str or int
        The candidates' names, in the tie order.

    Returns
    -------
    dict
        `outcome`, a name or None; `rule`, `ballots`, `candidates`; `blank`, ballots that place nobody above anybody
        (None of one candidate, where it cannot be told); `majority_base`, the ballots that count for somebody in
        the last round of first choices (None where there is none); and `rounds`: of each its `question`, who
        are `active`, the exact `scores` (blank ballots give no points), and `tied`, those among whom the tie order
        decided. Of first choices also `exhausted`, the ballots that count for nobody, and under STV `eliminated`;
        of duels `pairs`, whose scores are margins, and `votes`, those for the one and for the other.

    Privacy
    -------
    None.
    """
    winner, rounds = conduct(rule.count(), exact_answers(profile))
    told = [_round(rule, profile, one, names) for one in rounds]
    if isinstance(rule, SingleTransferableVote):
        stayed = [one["active"] for one in told[1:]] + [
            [names[place] for place in [winner] if place is not None]
        ]
        for one, left in zip(told, stayed, strict=True) if told else ():
            one["eliminated"] = next(name for name in one["active"] if name not in left)
    bases = [profile.ballots - one["exhausted"] for one in told if "exhausted" in one]
    return {
        "outcome": None if winner is None else names[winner],
        "rule": rule.name,
        "ballots": profile.ballots,
        "blank": _blank(profile) if rule.candidates > 1 else None,
        "candidates": list(names),
        "majority_base": bases[-1] if bases else None,
        "rounds": told,
    }


def tied(rule: Rule, contest: Contest, scores: Scores) -> list[int]:
    """Return the candidates among whom the tie order decided after a rule's question; none where none did.

    Of STV these are the last, of a runoff's first round those who tie about its second place, of the others
    the first.

    Examples
    --------
    >>> from jobs.election.rules.plurality import Plurality
    >>> tied(Plurality(3), FirstChoice((0, 1, 2)), np.array([4, 1, 4]))
    [0, 2]
    """
    if isinstance(rule, Runoff) and isinstance(contest, Duels):
        return list(contest.pairs[0]) if scores[0] == 0 else []
    if isinstance(rule, Maximin):
        scores = worst_duels(rule.candidates, scores)
    elif isinstance(contest, Duels):  # level in a duel is not level in what decides
        return []
    active = contest.active if isinstance(contest, FirstChoice) else rule.everybody
    seats = 1
    deciding = scores.max()
    if isinstance(rule, SingleTransferableVote):
        deciding = scores.min()
    elif isinstance(rule, Runoff):
        deciding = np.sort(scores)[-2]
        seats = 2 - int((scores > deciding).sum())
    equal = [candidate for candidate, score in zip(active, scores, strict=True) if score == deciding]
    return equal if len(equal) > seats else []


def _round(rule: Rule, profile: Profile, one: Round, names: Sequence[str | int]) -> dict[str, Any]:
    """Return a round as the document tells it."""
    contest, scores = one.contest, one.scores
    told: dict[str, Any] = {"question": QUESTIONS[type(contest)], "active": list(names)}
    if isinstance(contest, FirstChoice):
        told["active"] = [names[candidate] for candidate in contest.active]
        told["exhausted"] = profile.ballots - int(scores.sum())
    if isinstance(contest, Duels):
        told["active"] = [
            names[candidate] for candidate in sorted({one for pair in contest.pairs for one in pair})
        ]
        told["pairs"] = [[names[candidate] for candidate in pair] for pair in contest.pairs]
        told["votes"] = [profile.score(FirstChoice(pair)).tolist() for pair in contest.pairs]
    if isinstance(contest, Points):
        scores = scores - _blank(profile) * contest.centre
    told["scores"] = [_number(Fraction(int(score), contest.scale)) for score in scores]
    told["tied"] = [names[candidate] for candidate in tied(rule, contest, scores)]
    return told


def _blank(profile: Profile) -> int:
    """Return how many ballots place nobody above anybody."""
    return int(profile.counts[~profile.places.any(axis=1)].sum())


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
