"""Whose turn it is: a round asks some voters, whom public draws chose before any ballot was read.

Each round has voters of its own, so that everybody answers once, with the whole epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from udfs.contests import Places
from udfs.draws import Draws, Some
from udfs.errors import SpecError
from udfs.streams import derive_key
from udfs.uniform import uniform_digits

_MOST_TURNS = 1 << 40


@dataclass(frozen=True)
class Turn:
    """The voters whose number, drawn uniformly below `of` and the same in all rounds, is in [first, last).

    Privacy: numbers come from a published seed and from where rows stand, never from ballots. Turns that do
    not overlap, of the same seed and `of`, share no voter.

    Parameters
    ----------
    first, last, of : int
        0 <= first < last <= of <= 2**40.

    Examples
    --------
    >>> Turn(1, 4, 8).share
    Fraction(3, 8)
    """

    first: int
    last: int
    of: int

    def __post_init__(self) -> None:
        """Refuse a turn that is nobody's."""
        if not 0 <= self.first < self.last <= self.of <= _MOST_TURNS:
            raise SpecError(
                "turn", "must be of 0 <= first < last <= of <= 2**40", f"{self.first}, {self.last}, {self.of}"
            )

    @property
    def share(self) -> Fraction:
        """The probability that a voter is asked."""
        return Fraction(self.last - self.first, self.of)

    @property
    def label(self) -> str:
        """Whom it asks."""
        return f"turn={self.first}-{self.last}/{self.of}"

    def rows(self, draws: Draws, seed: bytes) -> npt.NDArray[np.intp]:
        """Return the rows of a block that are asked, in ascending order: shape (asked,).

        Parameters
        ----------
        draws : Draws
            The block's: they know where its rows stand.
        seed : bytes
            32 published bytes, the same for all rounds.
        """
        if self.share == 1:
            return np.arange(len(draws))
        number = uniform_digits(draws.public(derive_key(seed, "turn")), [self.of])[0]
        return np.flatnonzero((number >= np.uint64(self.first)) & (number < np.uint64(self.last)))

    def ask(self, places: Places, draws: Draws, seed: bytes) -> tuple[Places, Draws]:
        """Return the ballots of a block that are asked, columns contiguous, and their draws."""
        if self.share == 1:
            return places, draws
        rows = self.rows(draws, seed)
        return np.take(places.T, rows, axis=1).T, Some(draws, rows)


EVERYBODY = Turn(0, 1, 1)
"""The turn of all voters."""
