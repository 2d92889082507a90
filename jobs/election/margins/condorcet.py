"""Condorcet: one duel of the winner is drawn, or all duels of somebody are won."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jobs.election.margins.covers import Cover, fewest_covering
from jobs.election.margins.leads import Leads, overtaking
from jobs.election.margins.margin import Counts, Replacement
from jobs.election.rules.condorcet import Condorcet
from jobs.election.rules.pairs import margins
from udfs.contests import Duels
from udfs.profile import Profile


def fewest_for_condorcet(rule: Condorcet, profile: Profile, winner: int | None) -> Replacement:
    """Return the fewest replacements that unseat the winner, or that make one where there is none.

    A winner falls with their narrowest duel, of margin D, by ceil(D / 2) ballots: to draw it is enough. To make a
    winner of somebody, each duel that they do not win needs their margin to rise above 0. A ballot replaced by one
    with them on top raises it by 2 where they stood below, by 1 where the two shared a place: a multicover.

    References
    ----------
    Xia 2012, for a winner. To make one is NP-hard (exact cover reduces to it).
    """
    if winner is not None:

        def leads(challenger: int) -> Leads:
            return Duels(((winner, challenger),)).encode(profile.places)[:, 0].astype(np.int64)

        return overtaking(profile, winner, leads, -1, lambda _: 0)
    duels = Duels.of_all(rule.candidates)
    table = margins(rule.candidates, duels, profile.score(duels))

    def cover(challenger: int) -> Cover:
        goals = np.flatnonzero(needs(table)[challenger])
        asked = Duels(tuple((challenger, int(other)) for other in goals))
        return Cover(challenger, 1 - table[challenger, goals], 2, lambda: 1 - asked.encode(profile.places))

    return fewest_covering(profile, None, map(cover, rule.everybody))


def needs(table: npt.NDArray[np.generic]) -> Counts:
    """Return how many ballots it takes at least for each candidate to win each duel that they do not win.

    Parameters
    ----------
    table : ndarray of int64, shape (candidates, candidates)
        The margin of each over each.

    Returns
    -------
    ndarray of int64, shape (candidates, candidates)
        floor(D / 2) + 1, with D >= 0 the margin of the second over the first; 0 where the first wins, or both are
        the same.

    Examples
    --------
    >>> needs(np.array([[0, 3], [-3, 0]]))
    array([[0, 0],
           [2, 0]])
    """
    ballots: Counts = np.maximum(-table.astype(np.int64) // 2 + 1, 0)
    np.fill_diagonal(ballots, 0)
    return ballots
