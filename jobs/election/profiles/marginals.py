"""Elections whose winner tells a marginal of Boolean records from a threshold: lower bounds of one round.

A mechanism of one round privatizes the ballots that depend on the records once; with public ballots put in
for a query and a threshold, its aggregator names a winner; and all thresholds together give all marginals
away (algorithm 3). What is known of private marginals so bounds how small a margin private voting can tell.

References
----------
papers/private-voting: definition E.5 and algorithm 3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from jobs.election.profiles.instance import Instance, Ranking, profile_of
from udfs.contests import Places
from udfs.errors import SpecError
from udfs.profile import Profile


@dataclass(frozen=True, eq=False)
class MarginalElections(ABC):
    """A profile generator compatible with some rules (definition E.5).

    With mu the number of records that have all of a query's attributes, for every threshold from 1 to the
    number of records: the designated candidate wins if and only if mu reaches the threshold, the margin of
    victory is at least their distance, and the number of ballots is always the same.

    Parameters
    ----------
    records : ndarray of bool, shape (records, attributes)
    """

    records: npt.NDArray[np.bool_]

    ballots_a_record: ClassVar[int] = 2
    """So many ballots depend on a record: each gets half of its epsilon."""

    def __post_init__(self) -> None:
        """Refuse to have no records."""
        if self.records.ndim != 2 or not self.records.size:
            raise SpecError("marginals.records", "must be rows of attributes", f"shape {self.records.shape}")

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The candidates' names, in the tie order."""

    @abstractmethod
    def designated(self, query: Ranking) -> int:
        """Return who wins if and only if the marginal reaches the threshold."""

    @abstractmethod
    def data(self) -> Places:
        """Return the ballots that depend on the records: two rows a record, in turn."""

    @abstractmethod
    def padding(self, query: Ranking) -> list[tuple[Ranking, int]]:
        """Return the public rankings of a query, with their numbers."""

    @abstractmethod
    def threshold(self, query: Ranking, threshold: int) -> list[tuple[Ranking, int]]:
        """Return the public rankings of a threshold, with their numbers."""

    def marginal(self, query: Ranking) -> int:
        """Return how many records have all attributes of a query."""
        return int(self.records[:, list(query)].all(axis=1).sum())

    def instance(self, query: Ranking, threshold: int) -> Instance:
        """Return the election of a query and a threshold.

        Parameters
        ----------
        query : sequence of int
            Attributes, in ascending order.
        threshold : int
            From 1 to the number of records.
        """
        records, attributes = self.records.shape
        if not query or list(query) != sorted(set(query) & set(range(attributes))):
            raise SpecError(
                "marginals.query", f"must be different numbers below {attributes}, ascending", f"{query}"
            )
        if not 1 <= threshold <= records:
            raise SpecError("marginals.threshold", f"must be from 1 to {records}", f"{threshold}")
        public = profile_of([*self.padding(query), *self.threshold(query, threshold)])
        return Instance(self.names, Profile.of(self.data()) + public, self.designated(query))
