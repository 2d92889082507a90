"""An election that a proof or a draw makes, and what its profile is put together from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from udfs.contests import Places
from udfs.profile import Profile

Ranking = Sequence[int]
"""Candidates, best first."""


@dataclass(frozen=True, eq=False)
class Instance:
    """An election and the candidate that it is about.

    Attributes
    ----------
    names : tuple of str
        Of the candidates, in the tie order: the first is eliminated last.
    profile : Profile
    designated : int
        The candidate whose win the construction tells of.
    """

    names: tuple[str, ...]
    profile: Profile
    designated: int


def places_of(rankings: npt.ArrayLike) -> Places:
    """Return the ballots of complete rankings.

    Parameters
    ----------
    rankings : array_like of int, shape (rows, candidates)
        Candidates, best first.

    Returns
    -------
    ndarray of uint8, shape (rows, candidates)

    Examples
    --------
    >>> places_of([[2, 0, 1]])
    array([[1, 2, 0]], dtype=uint8)
    """
    return np.argsort(np.asarray(rankings), axis=1).astype(np.uint8)


def profile_of(rankings: Iterable[tuple[Ranking, int]]) -> Profile:
    """Return the profile of complete rankings, each cast so many times.

    Examples
    --------
    >>> profile_of([((1, 0), 3), ((0, 1), 0)]).counts
    array([3])
    """
    orders, counts = zip(*rankings, strict=True)
    return Profile.of(places_of(orders), np.array(counts, dtype=np.int64))


def completed(top: Ranking, order: Ranking) -> tuple[int, ...]:
    """Return the ranking of `top` and, below, of whoever else is in `order`.

    Examples
    --------
    >>> completed((2, 0), range(4))
    (2, 0, 1, 3)
    """
    return (*top, *(candidate for candidate in order if candidate not in top))


def numbered(letter: str, many: int) -> tuple[str, ...]:
    """Return names as the papers write them, from 1 on.

    Examples
    --------
    >>> numbered("c", 2)
    ('c1', 'c2')
    """
    return tuple(f"{letter}{number}" for number in range(1, many + 1))
