"""Scoring rules: points by place, and the most points win."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from jobs.election.rules.rule import Count, Rule, first
from udfs.contests import Contest, Points


@dataclass(frozen=True)
class Scoring(Rule):
    """A scoring rule.

    Parameters
    ----------
    candidates : int
    weights : tuple of int or Fraction
        Points by place, none above the one before it, and not all the same.
    """

    weights: tuple[int | Fraction, ...]
    name: ClassVar[str] = "scoring"
    title: ClassVar[str] = "a scoring rule"

    def count(self) -> Count:
        """Ask for points."""
        if self.candidates == 1:
            return 0
        scores = yield Points(self.weights)
        return first(scores)

    def release(self) -> tuple[Contest, ...]:
        """Return the points."""
        return (Points(self.weights),)


class Borda(Scoring):
    """The Borda count: a point for every candidate below."""

    name: ClassVar[str] = "borda"
    title: ClassVar[str] = "the Borda count"

    def __init__(self, candidates: int) -> None:
        super().__init__(candidates, tuple(range(candidates - 1, -1, -1)))


class Veto(Scoring):
    """Veto: a point for whoever does not stand last."""

    name: ClassVar[str] = "veto"
    title: ClassVar[str] = "veto"

    def __init__(self, candidates: int) -> None:
        super().__init__(candidates, (*(1,) * (candidates - 1), 0))
