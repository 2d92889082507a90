"""One lead to close: rules under which an outcome falls as soon as one candidate's lead over another does."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from jobs.election.margins.margin import Counts, Replacement, raising
from udfs.profile import Profile

Leads = npt.NDArray[np.signedinteger]


def behind(winner: int, challenger: int) -> int:
    """Return the lead at which a challenger passes a winner: 0 where they precede in the tie order, else 1."""
    return int(winner < challenger)


def lacking(score: int, rivals: Iterable[int], ballots: int) -> list[int]:
    """Return how many first choices each rival lacks once so many have been taken from a score, as far as it goes.

    Parameters
    ----------
    score : int
    rivals : iterable of int
        The score of each, less the lead they need.
    ballots : int
    """
    left = max(0, score - ballots)
    return [max(0, left - rival) for rival in rivals]


def falling(score: int, rivals: Sequence[int]) -> int:
    """Return the fewest first choices to move for a score to fall behind all rivals: those taken make up for a lack.

    Examples
    --------
    >>> falling(10, [8, 3])
    4
    """
    tried = range(score + len(rivals))
    return bisect_left(tried, True, key=lambda ballots: sum(lacking(score, rivals, ballots)) <= ballots)


def overtaking(
    profile: Profile, winner: int, leads: Callable[[int], Leads], least: int, passes: Callable[[int], int]
) -> Replacement:
    """Return the fewest replacements that let some challenger pass the winner.

    Parameters
    ----------
    profile : Profile
    winner : int
    leads : callable
        Of a challenger: what each ballot adds to the winner's lead over them.
    least : int
        As little as a ballot can add: what one adds that ranks the challenger first and the winner last.
    passes : callable
        Of a challenger: the lead at or below which they have passed.
    """

    def with_challenger(challenger: int) -> tuple[int, int, Counts]:
        taken = closing(leads(challenger), profile.counts, least, passes(challenger))
        return int(taken.sum()), challenger, taken

    challengers = (one for one in range(profile.candidates) if one != winner)
    number, challenger, taken = min(map(with_challenger, challengers), key=lambda found: found[:2])
    return Replacement.by(profile, taken, [(raising(challenger, winner, profile.candidates), number)])


def closing(leads: Leads, counts: Counts, least: int, lead: int) -> Counts:
    """Return the fewest ballots to take so that a lead above `lead` falls to it: those that gain most go first.

    Parameters
    ----------
    leads : ndarray of int, shape (rows,)
        What a ballot adds to the lead.
    counts : ndarray of int64, shape (rows,)
    least : int
        What the ballot in its stead adds.
    lead : int
        At least what `least` on all ballots gives.

    Returns
    -------
    ndarray of int64, shape (rows,)

    Examples
    --------
    >>> closing(np.array([1, 0, -1]), np.array([7, 2, 3]), -1, 0)
    array([2, 0, 0])
    """
    gains = leads.astype(np.int64) - least
    need = int(leads @ counts) - lead
    order = np.argsort(-gains, kind="stable")
    gained = np.cumsum(gains[order] * counts[order])
    whole = int(np.searchsorted(gained, need))
    taken = np.zeros_like(counts)
    taken[order[:whole]] = counts[order[:whole]]
    rest = need - (int(gained[whole - 1]) if whole else 0)
    taken[order[whole]] = -(-rest // int(gains[order[whole]]))
    return taken
