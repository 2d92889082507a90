"""How large a margin of victory can be where scores that are a little wrong name a wrong outcome.

Each function is given how wrong the scores may be, and returns the largest margin at which the outcome may
then be wrong; at any margin above that, it is right.

A *gap error* is how far the difference of two candidates' scores may be from the true one: at most twice
the error of a score, and often less. A *duel error* is how far a duel's margin may be.

The appendix proves them for complete ballots. These hold whatever the ballots are, truncated, blank, or with
shared ranks: what the proofs put in a ballot's place is complete, or as complete as that ballot was.

References
----------
papers/private-voting, appendix A. None exceeds what stands there; the notes say where the proofs differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np


def plurality(gap: float) -> float:
    """Return the largest margin at which plurality may be wrong by a gap error (lemma A.1).

    Notes
    -----
    Whoever wins by mistake is G <= gap votes behind. The winner has G first places at least, and G // 2 + 1
    of them, given to the other, are enough; if G = 0, so is any ballot that is not the other's.

    Examples
    --------
    >>> plurality(7.5)
    4.0
    """
    return _whole(gap / 2) + 1


def scoring(gap: float, spread: float, ballots: int) -> float:
    """Return the largest margin at which a scoring rule may be wrong by a gap error.

    Parameters
    ----------
    gap : float
    spread : float
        The points of the first place less those of the last, in the unit of the gap.
    ballots : int

    Notes
    -----
    Not in the paper. Whoever wins by mistake is G <= gap points behind. To put them first and the winner
    last, on a ballot where the winner has x points more, gains x + spread: G + n spread over all n ballots.
    So the k best gain k / n of that or more, which is above G for k above G n / (G + n spread). One ballot
    gains up to twice the spread, but where the winner is a little ahead on all, none gains much over once.

    Examples
    --------
    >>> scoring(30.0, spread=2, ballots=1000)
    15.0
    """
    if math.isinf(gap):
        return gap
    return _whole(gap * ballots / (gap + ballots * spread)) + 1 if ballots else 0.0


def runoff(gap: float, duel: float) -> float:
    """Return the largest margin at which a runoff may be wrong by a gap error and a duel error (lemma A.2).

    Notes
    -----
    Sharper than the lemma, `2 + max(gap, (gap + duel) / 2)`, in whose proof whoever is lifted above the other
    finalist may still have a third candidate ahead. Let w win, and let G and Z be the errors rounded down.

    If w misses the noisy runoff, both of its finalists are behind w by G at most: k first places of w, given
    to the two as they need, are enough if 3 k >= 2 (G + 1). If w loses the noisy duel to a, nobody but w is
    ahead of a by more than G, and D(w, a) <= Z: max(G, Z // 2) + 1 ballots that place w first, with a first
    and w last instead, lift a above all but w, and above w in the duel. Where there are not so many, give
    those there are to two others, and w misses the runoff; where there is one or none, two are enough.

    Examples
    --------
    >>> runoff(10.0, 30.0)
    16.0
    """
    return max(_whole(gap), _whole(duel / 2), 1.0) + 1


def condorcet(duel: float, candidates: int) -> float:
    """Return the largest margin at which Condorcet may name somebody where nobody wins (lemma A.3).

    Parameters
    ----------
    duel : float
    candidates : int
        At least two.

    Notes
    -----
    Whoever is named loses no duel by more than Z, the error rounded down. To put them first on another ballot
    gains 0, 1 or 2 in every duel; over the ballots left, at least 1 on average in a duel that still lacks
    r > 0. So the best of them shrinks the sum of b**r to (1 + b**-2) / 2 of it, for any b > 1, and all
    J = m - 1 duels are won after

        floor((ln J + Z ln b) / ln(2 / (1 + b**-2))) + 1

    ballots: about Z + sqrt(2 Z ln J) for the best b, where the lemma has 1 + 3 log2 m + 3 Z. (Its proof
    counts who does not prefer the other, and so takes a shared place for a vote.) One duel after the other
    takes J (Z // 2 + 1), which is less for few candidates.

    Examples
    --------
    >>> condorcet(1000.0, candidates=10), 1 + 3 * math.log2(10) + 3 * 1000
    (1069.0, 3010.9657842846623)
    """
    rivals, most = candidates - 1, _whole(duel)
    if math.isinf(most):
        return most
    beyond = np.geomspace(1e-9, 1e9, 4001)  # b**2 - 1
    steps = (math.log(rivals) + most / 2 * np.log1p(beyond)) / np.log1p(beyond / (2 + beyond))
    return min(_whole(float(steps.min())) + 1, rivals * (_whole(most / 2) + 1))


def condorcet_winner(duel: float) -> float:
    """Return the largest margin at which a Condorcet winner may be missed by a duel error (lemma A.3).

    Notes
    -----
    The winner won some duel by D <= duel, and has D ballots or more ahead in it: ceil(D / 2) undo that.

    Examples
    --------
    >>> condorcet_winner(7.5)
    4.0
    """
    return float(np.ceil(_whole(duel) / 2))


def maximin(duel: float) -> float:
    """Return the largest margin at which maximin may be wrong by a duel error (lemma A.4).

    Notes
    -----
    The best two are g <= 2 duel apart, and g // 2 + 1 ballots are enough: `maximin_by_gap`.

    Examples
    --------
    >>> maximin(7.5)
    8.0
    """
    return _whole(duel) + 1


def maximin_by_gap(gap: float) -> float:
    """Return the largest margin that goes with a gap of the best two maximin scores (equation 2).

    Notes
    -----
    Let b be whom the winner w beats by the least. Where g // 2 + 1 ballots prefer w to b, put the second best
    first on them, and w last: each narrows the gap by 2. Where only N <= g // 2 do, b is second and g is 2 N,
    as b does no worse than w on all other ballots: with b first and w last on those N, and on one that ties
    the two if any does, b is ahead.

    Examples
    --------
    >>> maximin_by_gap(7)
    4.0
    """
    return _whole(gap / 2) + 1


def stv(gaps: Iterable[float], candidates: int) -> float:
    """Return the largest margin at which STV may be wrong by a gap error in each round (corollary A.6).

    Parameters
    ----------
    gaps : iterable of float
        One a round.
    candidates : int

    Notes
    -----
    Whoever goes in a round has more votes than the fewest by the gap error at most. By lemma A.5, as many
    changed ballots leave each of them exactly the fewest: on these, they trade places with whoever comes
    next; where several come next together, or are not named, the ballot counts for nobody until they go.

    The lemma's staircase, m**2, can be m (m - 1) / 2: the j-th to go is put above the winner on j - 1 ballots
    that place the winner first, alone or not. Steps are strict, whatever the tie order; the first to go needs
    none, as all who are left at the winner's turn have one. Where too few ballots place the winner first, put
    the last to go first, and the winner last, on all of them. The winner then never has a vote: who goes last
    of those above on a ballot has it, and does not go before one who has none.

    Examples
    --------
    >>> stv([7.5, 4.0], candidates=3)
    14.0
    """
    return sum(map(_whole, gaps)) + candidates * (candidates - 1) / 2


def _whole(error: float) -> float:
    """Return an error rounded down, as what is counted is whole; infinity stays."""
    return float(np.floor(error))
