"""Decisive margins: the margin of victory from which on the outcome is right, but for so small a probability.

The paper's for its own mechanisms, sharper ones for those that ran, and what no mechanism can do better than.

References
----------
papers/private-voting, theorems 3.1, 3.2, 4.1, 5.1 to 5.4, E.1 to E.3 and F.1, corollary D.1, lemma 3.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from jobs.election import certificates
from jobs.election.rules import Condorcet, Maximin, Plurality, Runoff, Scoring, SingleTransferableVote
from jobs.election.rules.rule import Rule
from jobs.election.selection import SELECTIONS
from udfs.score_noise import Noise

C_DJW = 1.333
"""The sub-Gaussian constant of lemma 2.8; it holds in every dimension. (sqrt(pi / 2) would be too small.)"""

_LARGEST_PACKED_FAILURE = 0.2


def paper_bound(
    rule: Rule, model: str, ballots: int, epsilon: Decimal, failure: float, score: str = "exact"
) -> float | None:
    """Return the decisive margin that the paper proves for the mechanism it proposes.

    Parameters
    ----------
    rule : Rule
    model : str
        "central", "local" for one round, or "interactive", where all answer in every round, with a part of
        epsilon.
    ballots : int
    epsilon : Decimal
    failure : float
        The probability gamma that the outcome is wrong.
    score : str
        Of the central model: "exact", or "polynomial", which for maximin has a bound of its own.

    Returns
    -------
    float or None
        None where the paper proposes nothing: scoring rules but plurality in the local models, and Condorcet
        by a polynomial score.

    Examples
    --------
    >>> round(paper_bound(Plurality(10), "local", 10_000, Decimal(1), 0.05))
    1001
    """
    if rule.candidates == 1:
        return 0.0
    if model == "central":
        return _paper_central(rule, float(epsilon), failure, score)
    if model == "interactive" and isinstance(rule, Runoff | SingleTransferableVote | Condorcet):
        return _paper_rounds(rule, ballots, float(epsilon), failure)
    return _paper_one_round(rule, ballots, float(epsilon), failure)


def central_bound(
    rule: Rule, epsilon: Decimal, failure: float, kind: str = "margin", score: str = "exact"
) -> float:
    """Return the decisive margin of `jobs.election.selection`.

    Parameters
    ----------
    rule : Rule
    epsilon : Decimal
    failure : float
    kind : str
        In `SELECTIONS`.
    score : str
        "exact", or "polynomial" for Condorcet and maximin.

    Returns
    -------
    float
        A whole number. With exact margins it is the least: at one below, the outcome is wrong more often.

    Notes
    -----
    Of K outcomes, a wrong one is drawn at a margin k with probability (K - 1) t**k / (1 + (K - 1)
    t**k), where t = e**(-c epsilon): at most gamma from k = ln((K - 1) (1 - gamma) / gamma) / (c epsilon) on.
    A polynomial score below that goes with a margin up to some certificate, and one above the certificate is
    decisive.

    Examples
    --------
    >>> central_bound(Plurality(10), Decimal("0.1"), 0.05)
    52.0
    >>> central_bound(Maximin(10), Decimal("0.1"), 0.05, score="polynomial")
    104.0
    """
    if rule.candidates == 1:
        return 0.0
    nats = math.log((rule.outcomes - 1) * (1 - failure) / failure)
    least = max(0.0, _over(nats, float(SELECTIONS[kind]) * float(epsilon)))
    needed = float(np.ceil(least))
    if score == "exact" or not needed:
        return needed
    if isinstance(rule, Maximin):
        return certificates.maximin_by_gap(float(np.ceil(4 * least)) - 1) + 1
    return max(needed, certificates.condorcet(2 * needed - 3, rule.candidates) + 1)


def local_bound(
    rule: Rule, noises: Sequence[Noise], ballots: int, failure: float, fresh: bool = False
) -> float:
    """Return the decisive margin of noisy scores, from their noise.

    Parameters
    ----------
    rule : Rule
    noises : sequence of Noise
        One a question, in the order they are asked: first choices and a duel for the runoff; first choices
        among m, m - 1, ..., 2 for STV; all duels for Condorcet in one round, or those of each round of the
        knockout and then the last's. Of points, not scaled.
    ballots : int
    failure : float
    fresh : bool
        Whether a round's errors are independent of what earlier rounds told: everybody is asked, or whom was
        drawn anew. Then what is asked must be right; else, all that might have been. So it is in one round,
        and also where rounds share the voters: whom a round has left to ask depends on whom the earlier ones
        asked, and their answers chose its question.

    Returns
    -------
    float
        A whole number; infinite where nothing is known of some noise, or of the rule.

    Notes
    -----
    Each error that matters has an equal part of gamma. Who won, and whom they must be compared with, follows
    from the ballots alone, so these are fewer than the scores. At a margin above the certificate,

    - plurality and scoring rules fail by one of the m - 1 gaps to the winner;
    - the runoff fails by one of these, as of any two finalists one is too far behind the winner; or, for each
      of m - 1 others, by the gap to somebody too far ahead of them, or else by their duel with the winner;
    - Condorcet fails by one of the winner's m - 1 duels; or, if nobody wins, for each of m candidates, by one
      duel lost by too much. In a knockout a rival meets the winner in one round at most, and in the last;
    - maximin fails by one of the winner's m - 1 duels, or, for each of m - 1 others, by their worst one;
    - STV fails by one of k - 1 gaps to the fewest votes in a round of k, or, if not fresh, in any set of k.
    """
    m, rivals = rule.candidates, rule.candidates - 1
    if not rivals:
        return 0.0

    def gap(noise: Noise, events: int) -> float:
        return noise.deviation(events, failure, gap=True)

    def duel(noise: Noise, events: int) -> float:
        return noise.deviation(events, failure)

    match rule:
        case Plurality():
            largest = certificates.plurality(gap(noises[0], rivals))
        case Scoring():
            spread = float(rule.weights[0] - rule.weights[-1])
            largest = certificates.scoring(gap(noises[0], rivals), spread, ballots)
        case Runoff() if m == 2:  # a majority: the duel is all that is asked
            largest = certificates.plurality(duel(noises[0], 1))
        case Runoff():
            largest = certificates.runoff(gap(noises[0], 2 * rivals), duel(noises[1], 2 * rivals))
        case Condorcet():
            *knockout, last = noises
            met = min(len(knockout), rivals) if fresh else rivals
            events = rivals + met if knockout else m
            lost = certificates.condorcet_winner(max(duel(noise, events) for noise in noises))
            largest = max(lost, certificates.condorcet(duel(last, events), m))
        case Maximin():
            largest = certificates.maximin(duel(noises[0], min(2 * rivals, math.comb(m, 2))))
        case SingleTransferableVote():
            sizes = range(m, 1, -1)
            events = sum((size - 1) * (1 if fresh else math.comb(m, size)) for size in sizes)
            largest = certificates.stv([gap(noise, events) for noise in noises], m)
        case _:  # nothing is proved of another rule
            largest = math.inf
    return largest + 1


def central_lower_bound(rule: Rule, epsilon: Decimal, failure: float) -> float:
    """Return what no epsilon-private mechanism's decisive margin is below, whatever n is (lemma 3.5).

    Returns
    -------
    float
        `floor(ln(0.4 m / gamma) / (kappa epsilon))`: kappa is 4 for scoring rules (lemma 3.8), and 2 for all
        that elect whoever is placed first by a majority (lemma 3.6). From gamma = 0.2 on it is not proved: 0.

    Examples
    --------
    >>> central_lower_bound(Plurality(10), Decimal("0.1"), 0.05)
    21.0
    """
    if failure >= _LARGEST_PACKED_FAILURE or rule.candidates == 1:
        return 0.0
    apart = 4 if isinstance(rule, Scoring) else 2
    return float(np.floor(_over(math.log(0.4 * rule.candidates / failure), apart * float(epsilon))))


def local_lower_rate(ballots: int, epsilon: Decimal) -> float:
    """Return the rate of the decisive margin of every local mechanism, in rounds or not (theorem 5.4).

    A rate and no bound: min(n, sqrt(n) / epsilon), times a constant that the theorem does not name. It holds
    from two candidates on, up to an epsilon that is not named either, and for gamma up to 1 / 6.

    Examples
    --------
    >>> local_lower_rate(10_000, Decimal("0.5"))
    200.0
    """
    return min(float(ballots), _over(math.sqrt(ballots), float(epsilon)))


def _over(amount: float, rate: float) -> float:
    """Return a quotient; infinity where a rate is too small for a float."""
    return amount / rate if rate else math.inf


def _deviation(ballots: int, epsilon: float, squared_norm: float, tails: float) -> float:
    """Return `C kappa r sqrt(2 n ln(tails))`: how far an entry of a sum of DJW reports is from the truth."""
    kappa = _over(1.0, math.tanh(epsilon / 2))
    return C_DJW * kappa * math.sqrt(2 * squared_norm * ballots * math.log(tails))


def _paper_central(rule: Rule, epsilon: float, failure: float, score: str) -> float | None:
    """Return theorem 3.1, which counts nobody among every rule's outcomes, or 3.2."""
    if score == "exact":
        return _over(2 * math.log((rule.candidates + 1) / failure), epsilon) + 1
    if isinstance(rule, Maximin):
        return _over(4 * math.log(rule.candidates / failure), epsilon) + 2
    return None


def _paper_one_round(rule: Rule, ballots: int, epsilon: float, failure: float) -> float | None:
    """Return theorem 4.1, E.1, E.2, E.3 or F.1."""
    m = rule.candidates

    def pairs(rho: float, beta: float) -> float:
        return _deviation(ballots, rho, math.comb(m, 2), 2 * math.comb(m, 2) / beta)

    match rule:
        case Plurality():
            return _deviation(ballots, epsilon, 1, 2 * m / failure) + 2
        case Condorcet():
            return 1 + 3 * math.log2(m) + 3 * pairs(epsilon, failure)
        case Maximin():
            return pairs(epsilon, failure) + 2
        case Runoff():
            first = _deviation(ballots, epsilon / 2, 1, 4 * m / failure)
            return 3 + max(2 * first, first + pairs(epsilon / 2, failure / 2) / 2)
        case SingleTransferableVote():
            entries = m * 2 ** (m - 1) - m
            every = _deviation(ballots, epsilon, 2**m - m - 1, 2 * entries / failure)
            return m**2 + 2 * (m - 1) * every + 1
    return None


def _paper_rounds(rule: Rule, ballots: int, epsilon: float, failure: float) -> float:
    """Return theorem 5.1, 5.2 or 5.3: one above the largest margin of an error in its proof."""
    m = rule.candidates
    match rule:
        case Runoff():
            return 2 * _deviation(ballots, epsilon / 2, 1, 4 * m / failure) + 3
        case SingleTransferableVote():
            return m**2 + 2 * (m - 1) * _deviation(ballots, epsilon / (m - 1), 1, 2 * m**2 / failure) + 1
    rounds = math.ceil(math.log2(m)) + 1
    return 1 + 3 * math.log2(m) + 6 * _deviation(ballots, epsilon / rounds, m, 4 * m**2 / failure)
