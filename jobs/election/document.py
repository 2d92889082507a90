"""What result.json says of an election."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import norm

from jobs.election.classical import tied
from jobs.election.count import QUESTIONS, Round
from jobs.election.rules import Condorcet, Maximin, Scoring, SingleTransferableVote
from jobs.election.rules.maximin import worst_duels
from jobs.election.rules.pairs import margins
from jobs.election.rules.rule import Rule, Scores
from jobs.election.spec import ElectionSpec
from udfs.contests import Duels, FirstChoice

CONFIDENCE = 0.95


def head(spec: ElectionSpec, winner: int | None, ballots: int) -> dict[str, Any]:
    """Return what all models say: the outcome, and the rules by which it was found."""
    table = spec.election
    return {
        "outcome": None if winner is None else spec.order[winner],
        "rule": table.rule,
        "model": spec.privacy.model,
        "ballots": ballots,
        "candidates": list(table.candidates),
        "tie_order": list(spec.order),
        "invalid": table.invalid,
        "shared": spec.shared,
        "skipped": "passed over",
        "unranked": "last, together",
    }


def round_documents(spec: ElectionSpec, rounds: Sequence[Round]) -> list[dict[str, Any]]:
    """Return every question with its answer."""
    names, factor = spec.order, float(norm.isf((1 - CONFIDENCE) / 2))
    found = []
    for place, one in enumerate(rounds):
        scores = one.scores / one.contest.scale if one.scores.dtype.kind == "i" else one.scores
        active = active_of(one, spec.rule)
        document: dict[str, Any] = {
            "question": QUESTIONS[type(one.contest)],
            "active": [names[candidate] for candidate in active],
            "randomizer": one.randomizer,
            "asked": one.asked,
            "scores": scores,
            "standard_errors": one.standard_errors,
            "intervals": np.stack(
                [scores - factor * one.standard_errors, scores + factor * one.standard_errors], axis=1
            ),
        }
        if isinstance(one.contest, FirstChoice) and one.randomizer != "ball":
            document["includes"] = "an equal part of the ballots that place nobody first among these"
        if isinstance(one.contest, Duels):
            document["pairs"] = [[names[first], names[second]] for first, second in one.contest.pairs]
        if isinstance(spec.rule, SingleTransferableVote):
            left = set(active_of(rounds[place + 1], spec.rule)) if place + 1 < len(rounds) else set()
            gone = [candidate for candidate in active if candidate not in left]
            if not left:  # the last round: whoever has less
                gone = [active[1] if scores[0] >= scores[1] else active[0]]
            document["eliminated"] = names[gone[0]]
        document["tied"] = [names[candidate] for candidate in tied(spec.rule, one.contest, scores)]
        found.append(document)
    return found


def active_of(one: Round, rule: Rule) -> tuple[int, ...]:
    """Return the candidates that a question is about."""
    if isinstance(one.contest, FirstChoice):
        return one.contest.active
    if isinstance(one.contest, Duels):
        return tuple(sorted({candidate for pair in one.contest.pairs for candidate in pair}))
    return rule.everybody


def estimated_margin(rule: Rule, rounds: Sequence[Round], ballots: int) -> tuple[float | None, str]:
    """Return about how many ballots the race was decided by, as the estimated scores have it, and what that is.

    From scores alone. Where a rule decides in steps it is the margin of the last, and the race may have been closer
    before: see `jobs.election.assurance` for what can be concluded. Noise may make it more than there are ballots.
    """
    if not rounds:
        return None, "nothing was asked"
    margin, meaning = _margin(rule, rounds[-1])
    return None if margin is None else min(margin, float(ballots)), meaning


def _margin(rule: Rule, final: Round) -> tuple[float | None, str]:
    """Return the margin that the last question's answer tells."""
    scores = final.scores
    if isinstance(final.contest, Duels):
        if isinstance(rule, Maximin):
            ranked = -np.sort(-worst_duels(rule.candidates, scores))
            return float(
                ranked[0] - ranked[1]
            ) / 4, "a quarter of the gap of the two best worst duels: at least"
        if isinstance(rule, Condorcet):
            return _condorcet_margin(rule, final.contest, scores)
        if len(final.contest.pairs) > 1:
            return None, "not told by the duels of this rule"
        return abs(float(scores[0])) / 2, "half of the margin of the last duel: at most"
    ranked = -np.sort(-scores)
    gap = float(ranked[0] - ranked[1])
    if isinstance(rule, Scoring):
        span = 2 * float(rule.weights[0] - rule.weights[-1])
        return gap / span, "the gap of the two best, by what one ballot can swing: at least"
    if isinstance(rule, SingleTransferableVote):
        return gap / 2, "half of the gap of the last round: at most"
    return gap / 2, "half of the gap of the two best"


def _condorcet_margin(rule: Rule, duels: Duels, scores: Scores) -> tuple[float | None, str]:
    """Return half of the winner's narrowest duel, or of the widest duel that the nearest to winning lost."""
    table = margins(rule.candidates, duels, scores)
    others = ~np.eye(rule.candidates, dtype=np.bool_)
    complete = len(duels.pairs) == math.comb(rule.candidates, 2)
    rows = range(rule.candidates) if complete else (duels.pairs[0][0],)
    narrowest = max(float(table[row][others[row]].min()) for row in rows)
    what = (
        "the narrowest duel of the winner"
        if narrowest > 0
        else "the widest duel that the nearest to winning lost"
    )
    return abs(narrowest) / 2, f"half of {what}"
