"""Draws that a test writes down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from udfs.streams import Words


class ScriptedDraws:
    """Draws whose words are given, by index; reading any other is an error.

    Parameters
    ----------
    words : mapping of int to sequence of int
        For each index that may be read, a word a row.
    """

    def __init__(self, words: Mapping[int, Sequence[int]]) -> None:
        self._words = {index: np.array(row_words, dtype=np.uint64) for index, row_words in words.items()}
        self.read: list[int] = []

    def __len__(self) -> int:
        return len(next(iter(self._words.values())))

    def words(self, index: int) -> Words:
        self.read.append(index)
        return self._words[index]
