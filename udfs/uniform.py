"""Exactly uniform integers from random words."""

from __future__ import annotations

import math

import numpy as np

from udfs.draws import Draws, Lane
from udfs.exact import WORD
from udfs.streams import Words

_DIGITS_PER_WORD = 1 << 40
"""Mixed-radix digits that share a word span at most this: a word is then refused once in 2**24."""


def uniform_digits(draws: Draws, radices: list[int]) -> list[Words]:
    """Draw exactly uniform integers below each radix, by rejection.

    Parameters
    ----------
    draws : Draws
        Words 0, 1, ... are read until every row has its digits.
    radices : list of int
        Each in [1, 2**40].

    Returns
    -------
    list of ndarray of uint64, shape (rows,)
        Digit i is uniform on [0, radices[i]), all independent.

    Notes
    -----
    Digits share a word while the product of their radices is at most 2**40: a word below the largest
    multiple of the product is uniform on its residues; the others, one in 2**24, are drawn again.

    Examples
    --------
    >>> from udfs.draws import fresh_draws
    >>> [digit.max() < 6 for digit in uniform_digits(fresh_draws(100), [6, 6])]
    [np.True_, np.True_]
    """
    groups: list[list[int]] = [[]]
    for radix in radices:
        if groups[-1] and math.prod(groups[-1]) * radix > _DIGITS_PER_WORD:
            groups.append([])
        groups[-1].append(radix)
    digits: list[Words] = []
    for lane, group in enumerate(groups):
        rest = _uniform_below(Lane(draws, lane, len(groups)), math.prod(group))
        for radix in group:
            quotient = rest // np.uint64(radix)
            digits.append(rest - quotient * np.uint64(radix))
            rest = quotient
    return digits


def _uniform_below(draws: Draws, bound: int) -> Words:
    """Draw exactly uniform integers on [0, bound) by rejection, word after word."""
    limit = np.uint64(WORD - WORD % bound - 1)
    words = draws.words(0)
    refused = words > limit
    attempt = 0
    while refused.any():
        attempt += 1
        words = np.where(refused, draws.words(attempt), words)
        refused = words > limit
    return words - (words // np.uint64(bound)) * np.uint64(bound)
