"""Whom ballots place first, or last, among a few candidates, so that everybody has an answer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from udfs.contests import Places
from udfs.draws import Draws, Some
from udfs.streams import Words
from udfs.uniform import uniform_digits


def choose(places: Places, last: bool, draws: Draws) -> npt.NDArray[np.uint8]:
    """Return each ballot's answer, drawn uniformly where it has no single one.

    Parameters
    ----------
    places : ndarray of uint8, shape (candidates, rows)
        The rows' places of the candidates they are asked about, who differ from row to row.
    last : bool
        Whether to answer whom a ballot places last: one of those who share the place. Else it is whom it
        places first: one of all candidates where several share the place.
    draws : Draws
        Secret: read where a ballot has no single answer.

    Returns
    -------
    ndarray of uint8, shape (rows,)
        Positions below `candidates`.
    """
    turned = ~places if last else places
    best = turned[0].copy()
    answers, tied = np.zeros((2, len(best)), dtype=np.uint8)
    tied += 1
    for position, place in enumerate(turned[1:], 1):
        better = place < best
        tied += place == best
        tied[better] = 1
        answers[better] = position
        np.minimum(best, place, out=best)
    open_ = np.flatnonzero(tied > 1)
    eligible = turned[:, open_] == best[open_] if last else np.ones((len(places), len(open_)), dtype=np.bool_)
    answers[open_] = _one_of(eligible, Some(draws, open_))
    return answers


def _one_of(eligible: npt.NDArray[np.bool_], draws: Draws) -> npt.NDArray[np.uint8]:
    """Return a position for each row, uniform among those that are eligible: one at least."""
    answers = np.zeros(eligible.shape[1], dtype=np.uint8)
    order = np.cumsum(eligible, axis=0, dtype=np.uint8)
    for many in np.unique(order[-1]).tolist():
        rows = np.flatnonzero(order[-1] == many)
        digit = uniform_digits(Some(draws, rows), [many])[0]
        answers[rows] = np.count_nonzero(order[:, rows] <= digit, axis=0)
    return answers


class Remembered:
    """A source whose words are read once, however many parts of a block ask for them."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        self._words: dict[int, Words] = {}

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._draws)

    def words(self, index: int) -> Words:
        """Return the rows' `index`-th words: uint64, shape (rows,)."""
        if index not in self._words:
            self._words[index] = self._draws.words(index)
        return self._words[index]

    def public(self, seed: bytes) -> Draws:
        """Return the source's public draws."""
        return self._draws.public(seed)

    def whole(self) -> Draws:
        """Return the source's draws as one respondent."""
        return self._draws.whole()
