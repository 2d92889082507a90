"""Margins of duels as a table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jobs.election.rules.rule import Scores
from udfs.contests import Duels


def margins(candidates: int, duels: Duels, scores: Scores) -> npt.NDArray[np.generic]:
    """Return the margin of each candidate over each other, shape (candidates, candidates), of the scores' dtype.

    Examples
    --------
    >>> margins(2, Duels(((0, 1),)), np.array([3]))
    array([[ 0,  3],
           [-3,  0]])
    """
    table = np.zeros((candidates, candidates), dtype=scores.dtype)
    for (one, other), score in zip(duels.pairs, scores, strict=True):
        table[one, other], table[other, one] = score, -score
    return table
