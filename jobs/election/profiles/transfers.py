"""Marginals of any order by transfers: the lower bound of one round for single transferable vote.

References
----------
papers/private-voting: lemma F.2 and theorem F.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jobs.election.profiles.instance import Ranking, completed, numbered, places_of
from jobs.election.profiles.marginals import MarginalElections
from udfs.contests import Places


@dataclass(frozen=True, eq=False)
class MarginalsByTransfers(MarginalElections):
    """A candidate an attribute, and three more; c* wins if and only if enough records have all asked about.

    Attributes that are not asked about go first. Then c* holds the ballots of all records that have every
    attribute of the query, and stays ahead of c' and c'', or goes before them, as the threshold says; whoever
    of c* and c' outlives the other gets the ballots of all three, and wins. Of (6 k + 18) records - 2
    ballots, with k attributes in the query.

    Parameters
    ----------
    records : ndarray of bool, shape (records, attributes)

    Examples
    --------
    >>> generator = MarginalsByTransfers(np.array([[True, True, False], [True, False, True]]))
    >>> election = generator.instance((0, 1), threshold=2)
    >>> election.names[election.designated], int(election.profile.ballots)
    ('c*', 58)
    """

    @property
    def names(self) -> tuple[str, ...]:
        """One an attribute, then c*, c' and c''."""
        return (*numbered("c", self.records.shape[1]), "c*", "c'", "c''")

    def designated(self, query: Ranking) -> int:
        """Return c*."""
        return self._star

    def data(self) -> Places:
        """Return one ballot twice a record: what it has not, then c*, c' and c'', then what it has."""
        attributes = np.arange(self._star)
        absent_first = np.where(self.records, attributes + self._star + 3, attributes)
        stars = np.broadcast_to(np.arange(self._star, self._star + 3), (len(self.records), 3))
        keys = np.concatenate([absent_first, stars], axis=1)
        return np.repeat(places_of(np.argsort(keys, axis=1)), self.ballots_a_record, axis=0)

    def padding(self, query: Ranking) -> list[tuple[Ranking, int]]:
        """Return 4 records ballots for c*, c' and c'' each, and 6 records for each attribute of the query."""
        records = len(self.records)
        return [
            *((ranking, 4 * records) for ranking in self._for_stars()),
            *((self._for_attribute(attribute), 6 * records) for attribute in query),
        ]

    def threshold(self, query: Ranking, threshold: int) -> list[tuple[Ranking, int]]:
        """Return 4 records - 2 ballots, 2 threshold - 1 of which are for c' and as many for c''."""
        _, for_second, for_third = self._for_stars()
        return [
            (for_second, 2 * threshold - 1),
            (for_third, 2 * threshold - 1),
            (self._for_attribute(query[0]), 4 * (len(self.records) - threshold)),
        ]

    @property
    def _star(self) -> int:
        return int(self.records.shape[1])

    def _for_stars(self) -> tuple[Ranking, Ranking, Ranking]:
        """Return who wants c* first, c' and c'': each wants the others of the three next, in this order."""
        stars = range(self._star, self._star + 3)
        first, second, third = (completed(completed((star,), stars), range(self._star + 3)) for star in stars)
        return first, second, third

    def _for_attribute(self, attribute: int) -> Ranking:
        return completed((attribute, *range(self._star, self._star + 3)), range(self._star + 3))
