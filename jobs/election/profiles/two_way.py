"""Two-way marginals by duels: the lower bounds of one round for Condorcet, maximin and runoff.

References
----------
papers/private-voting: section E.3, lemmas E.7, E.9 and E.10.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jobs.election.profiles.instance import Ranking, completed, numbered, places_of
from jobs.election.profiles.marginals import MarginalElections
from udfs.contests import Places
from udfs.errors import SpecError


@dataclass(frozen=True, eq=False)
class TwoWayByDuels(MarginalElections):
    """A candidate an attribute; the first of the two asked about wins if and only if enough have both.

    Both beat everybody else, and the first beats the second by 2 mu - 2 threshold + 1, with mu the number of
    records that have both attributes. Of 12 records - 1 ballots, with all of the padding.

    Parameters
    ----------
    records : ndarray of bool, shape (records, attributes)
    padded : bool
        Whether to put in so many more ballots (nu = 2 records) that both meet in a runoff; Condorcet and
        maximin do without.

    Examples
    --------
    >>> generator = TwoWayByDuels(np.array([[True, True, False], [True, False, True]]))
    >>> generator.marginal((0, 1)), int(generator.instance((0, 1), threshold=1).profile.ballots)
    (1, 23)
    """

    padded: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """One an attribute."""
        return numbered("c", self.records.shape[1])

    def designated(self, query: Ranking) -> int:
        """Return the first of the two."""
        return query[0]

    def data(self) -> Places:
        """Return two ballots a record, at odds about a pair unless the record has both."""
        attributes = np.arange(self.records.shape[1])
        above = np.where(self.records, attributes, attributes + attributes.size)
        below = np.where(self.records, attributes, -1 - attributes)
        both = np.stack([above, below], axis=1).reshape(-1, attributes.size)
        return places_of(np.argsort(both, axis=1))

    def padding(self, query: Ranking) -> list[tuple[Ranking, int]]:
        """Return as many ballots for either of the two."""
        if len(query) != 2:
            raise SpecError("marginals.query", "must be of two attributes", f"{len(query)}")
        many = len(self.records) * (4 if self.padded else 2)
        return [(ranking, many) for ranking in self._for_either(query)]

    def threshold(self, query: Ranking, threshold: int) -> list[tuple[Ranking, int]]:
        """Return 2 records - 1 ballots, 2 threshold - 1 more of which are for the second."""
        records = len(self.records)
        numbers = (records - threshold, records + threshold - 1)
        return list(zip(self._for_either(query), numbers, strict=True))

    def _for_either(self, query: Ranking) -> tuple[Ranking, Ranking]:
        everybody = range(self.records.shape[1])
        return completed(query, everybody), completed(query[::-1], everybody)
