"""A ballot's answer seen along its direction: an exact whole number, and the answer's squared norm."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from udfs.contests import EveryFirstChoice, Places
from udfs.directions import IN_A_BLOCK, Directions

Projected: TypeAlias = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Of each row the squared norm |x|**2 and the projection <V, x>: int64, shape (rows,)."""

_TIED = 16
"""Added to a key where several share the first place."""
_NOBODY = 0xFFE0
"""The key of the empty set: behind all places."""


def project(answers: npt.NDArray[np.signedinteger], directions: Directions) -> Projected:
    """Project answers that are laid out as vectors.

    Parameters
    ----------
    answers : ndarray of signed integers, shape (rows, dimension)
        Best in Fortran order.
    directions : Directions
    """
    columns = answers.T
    squares, along = np.zeros((2, len(directions)), dtype=np.int64)
    for counter, start in enumerate(range(0, len(columns), IN_A_BLOCK)):
        some = columns[start : start + IN_A_BLOCK].astype(np.int64)
        along += (directions.four(counter)[: len(some)] * some).sum(axis=0)
        squares += np.multiply(some, some, out=some).sum(axis=0)
    return squares, along


def project_first_choices(contest: EveryFirstChoice, places: Places, directions: Directions) -> Projected:
    """Project the answers to `EveryFirstChoice`, whose vectors are never laid out.

    Each set adds the direction's coordinate of whom the ballot places first in it. Candidates are split in two
    halves, and the first of every subset of each half is found once; a set's first is that of two of these.
    """
    keys = places.T.astype(np.uint16)
    keys <<= 5
    keys |= np.arange(contest.candidates, dtype=np.uint16)[:, None]
    half = contest.candidates // 2
    lower, upper = _firsts(keys[:half]), _firsts(keys[half:])
    below = ((1 << np.arange(32)) - 1) & 0xFFFF  # a candidate's place in a set: how many members come before
    squares, along = np.zeros((2, len(directions)), dtype=np.int64)
    start = 0
    for one in contest.sets:
        key = _first_of_two(lower[one & (1 << half) - 1], upper[one >> half])
        entries = (start + np.bitwise_count(one & below).astype(np.uint64)).take(key & 31)
        single = key & _TIED == 0
        squares += single
        along += directions.at(entries) * single
        start += one.bit_count()
    return squares, along


def _firsts(keys: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
    """Return the key of the first of every subset, 32 place + candidate: shape (2**candidates, rows)."""
    firsts = np.full((1 << len(keys), keys.shape[1]), _NOBODY, dtype=np.uint16)
    for candidate, key in enumerate(keys):
        without = 1 << candidate
        firsts[without : 2 * without] = _first_of_two(firsts[:without], key)
    return firsts


def _first_of_two(one: npt.NDArray[np.uint16], other: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
    """Return the lower key, marked as tied where both have the same place."""
    same = (one ^ other) < 32
    first: npt.NDArray[np.uint16] = np.minimum(one, other) | (same.view(np.uint8) * np.uint16(_TIED))
    return first
