"""What every voting rule is: a generator of questions that is sent scores, and returns the outcome."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from udfs.contests import Contest

Scores: TypeAlias = npt.NDArray[np.float64] | npt.NDArray[np.int64]
Count: TypeAlias = Generator[Contest, Scores, int | None]
"""Yields what it asks of the ballots, is sent the sums of their answers, and returns the winner's number, or None."""


@dataclass(frozen=True)
class Rule(ABC):
    """A voting rule for so many candidates, numbered in the tie order: of a tie, the lowest number is the best.

    Parameters
    ----------
    candidates : int
        At least one.
    """

    candidates: int

    name: ClassVar[str]
    """What specs call it."""
    title: ClassVar[str]
    """What it is called in a sentence."""
    names_nobody: ClassVar[bool] = False
    """Whether nobody may win."""
    counts_first_choices: ClassVar[bool] = False
    """Whether it counts whoever stands alone in front: a shared rank is an overvote to it, else a tie."""

    @abstractmethod
    def count(self) -> Count:
        """Ask what the rule asks, in turn, and return the outcome."""

    @abstractmethod
    def release(self) -> tuple[Contest, ...]:
        """Return what a release made in advance must be able to answer: all that `count` may ask."""

    def rounds(self) -> Count:
        """Ask in as few rounds as suit voters who answer each anew; `count`, unless the rule has a better way."""
        return self.count()

    @property
    def most_rounds(self) -> int:
        """How many questions `rounds` asks at most."""
        return 1 if self.candidates > 1 else 0

    @property
    def outcomes(self) -> int:
        """How many outcomes there are; a single candidate wins under every rule."""
        return self.candidates + self.names_nobody if self.candidates > 1 else 1

    @property
    def everybody(self) -> tuple[int, ...]:
        """All candidates."""
        return tuple(range(self.candidates))


def first(scores: Scores) -> int:
    """Return the place of the highest score; of several, the first."""
    return int(np.argmax(scores))


def last(scores: Scores) -> int:
    """Return the place of the lowest score; of several, the last."""
    return len(scores) - 1 - int(np.argmin(scores[::-1]))
