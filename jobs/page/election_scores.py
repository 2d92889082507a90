"""The rounds of an election as its document has them: what was asked, and what was estimated of whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jobs.election.words import order_decides
from jobs.page import words
from jobs.page.values import filled, mappings, numbers, pairs, sequence

Ends = tuple[float | None, float | None]


@dataclass(frozen=True)
class Score:
    """What was estimated of a candidate, or of a pair: the first one's margin over the second."""

    names: tuple[str, ...]
    value: float | None
    error: float | None
    interval: Ends

    @property
    def label(self) -> str:
        return " over ".join(self.names)

    def turned(self) -> Score:
        """Return a margin as the other's."""
        low, high = self.interval
        ends = (None if high is None else -high, None if low is None else -low)
        return Score(self.names[::-1], None if self.value is None else -self.value, self.error, ends)


@dataclass(frozen=True)
class Round:
    """A round: what was asked, about whom, of how many, and what came out."""

    number: int
    question: str
    active: list[str]
    scores: list[Score]
    asked: float | None
    randomizer: str
    eliminated: str | None
    tied: list[str]
    order_decides: bool

    @property
    def is_of_all_pairs(self) -> bool:
        """Whether each of three candidates or more duelled with each."""
        met = {frozenset(one.names) for one in self.scores}
        size = len(self.active)
        return self.question == "duels" and size > 2 and len(met) == size * (size - 1) // 2

    @property
    def digits(self) -> int:
        """How many decimals its scores deserve."""
        known = [one.error for one in self.scores if one.error]
        return words.places(known, most=2) if known else 0


def read_rounds(result: dict[str, Any]) -> list[Round]:
    """Return the rounds of a result document."""
    rounds = [{"question": "scores", **one} for one in mappings(result.get("rounds"))]
    named = {**result, "rounds": rounds}
    return [_round(k + 1, one, order_decides(named, k)) for k, one in enumerate(rounds)]


def _round(number: int, one: dict[str, Any], decides: bool) -> Round:
    active = [words.label(name) for name in sequence(one.get("active"))]
    question = str(one["question"] or "scores")
    of: list[tuple[str, ...]] = [(name,) for name in active]
    if question == "duels":
        of = [
            tuple(words.label(name) for name in filled(sequence(pair), 2))
            for pair in sequence(one.get("pairs"))
        ]
    size = len(of)
    values, errors = (filled(numbers(one.get(key)), size) for key in ("scores", "standard_errors"))
    intervals = filled(pairs(one.get("intervals")), size, (None, None))
    scores = [Score(*each) for each in zip(of, values, errors, intervals, strict=True)]
    gone = one.get("eliminated")
    return Round(
        number=number,
        question=question,
        active=active or list(dict.fromkeys(name for pair in of for name in pair)),
        scores=scores,
        asked=words.finite(one.get("asked")),
        randomizer=str(one.get("randomizer") or ""),
        eliminated=None if gone is None else words.label(gone),
        tied=[words.label(name) for name in sequence(one.get("tied"))],
        order_decides=decides,
    )
