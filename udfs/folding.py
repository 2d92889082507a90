"""A respondent's answers folded into 32 bits, so that draws can tell changed answers apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from udfs.streams import WORD_TYPE, Words


def folded(answers: npt.NDArray[np.generic]) -> Words:
    """Return a number below 2**32 for each row's answers: a single one of up to 32 bits itself.

    The multiplier is odd, so changing any one of several answers changes the number: always where answers
    take up to 32 bits, and but with a chance of 2**-32 where they take 64.

    Parameters
    ----------
    answers : ndarray of integers, or of float64, shape (rows,) or (rows, questions)

    Returns
    -------
    ndarray of uint64, shape (rows,)

    Examples
    --------
    >>> folded(np.array([[0, 1], [1, 0], [0, 2]], dtype=np.uint8))
    array([         1, 2654435761,          2], dtype=uint64)
    """
    number = np.zeros(len(answers), dtype=np.uint64)
    for column in np.atleast_2d(answers.T):
        wide = column.itemsize == WORD_TYPE.itemsize
        code = _mixed(column.view(np.uint64)) if wide else column.astype(np.uint64)
        number = (number * np.uint64(0x9E3779B1) + code) & np.uint64(0xFFFFFFFF)
    return number


def _mixed(words: Words) -> Words:
    """Return 32 bits that hang on all 64 of each word: the upper half of SplitMix64's finalizer.

    The finalizer permutes the words: Stafford's variant 13 of MurmurHash3's.
    """
    mixed = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    upper: Words = (mixed ^ (mixed >> np.uint64(31))) >> np.uint64(32)
    return upper
