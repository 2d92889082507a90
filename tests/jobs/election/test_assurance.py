"""Scores that are a little wrong: where no other outcome is left, none is true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from jobs.election.assurance import is_assured
from jobs.election.count import Round, conduct, exact_answers
from jobs.election.rules import RULES
from udfs.contests import Contest, Duels
from udfs.profile import Profile

ELECTIONS = 400


@dataclass(frozen=True)
class Within:
    """Errors of at most this: of a gap or a duel, and half of it of a score."""

    gap: float

    def deviation(self, events: int, failure: float, gap: bool = False) -> float:
        return self.gap if gap else self.of_entry

    @property
    def of_entry(self) -> float:
        return self.gap / 2


@dataclass(frozen=True)
class WithinDuels(Within):
    """Duels, whose entries are differences."""

    @property
    def of_entry(self) -> float:
        return self.gap


def disturbed(profile: Profile, error: float, generator: np.random.Generator) -> Any:
    """Return who answers by the tally, every gap and duel wrong by less than `error`."""
    exact = exact_answers(profile)

    def answer(contest: Contest) -> Round:
        scores = exact(contest).scores / contest.scale
        most = error if isinstance(contest, Duels) else error / 2
        wrong = scores + most * 0.999 * generator.uniform(-1, 1, len(scores))
        return Round(contest, wrong, np.zeros(len(scores)), profile.ballots)

    return answer


def electorate(candidates: int, ties: bool, generator: np.random.Generator) -> Profile:
    """Return ballots that are complete, truncated and blank, and where ties may be, tied anywhere."""
    places = generator.integers(0, candidates, (12, candidates))
    if not ties:
        orders = generator.permuted(np.tile(np.arange(candidates), (12, 1)), axis=1)
        places = np.minimum(orders, generator.integers(0, candidates + 1, (12, 1)))
    ranked = (places[:, :, None] > places[:, None, :]).sum(axis=2).astype(np.uint8)
    return Profile.of(ranked, generator.integers(1, 60, 12))


@pytest.mark.parametrize("ties", [False, True], ids=["none tied", "ties"])
@pytest.mark.parametrize("rounds", [False, True], ids=["count", "rounds"])
@pytest.mark.parametrize("name", [name for name in RULES if name != "scoring"])
def test_an_outcome_that_is_assured_is_the_true_one_and_others_are_not_assured(
    name: str, rounds: bool, ties: bool
) -> None:
    generator = np.random.default_rng()
    seed = generator.bit_generator.seed_seq.entropy  # type: ignore[attr-defined]
    sure = wrong = 0
    for place in range(ELECTIONS):
        rule = RULES[name](2 + place % 4)
        profile = electorate(rule.candidates, ties, generator)
        truth, _ = conduct(rule.count(), exact_answers(profile))
        error = float(generator.choice([2.0, 10.0, 40.0]))
        count = rule.rounds() if rounds else rule.count()
        found, held = conduct(count, disturbed(profile, error, generator))
        noises: list[Any] = [
            WithinDuels(error) if isinstance(one.contest, Duels) else Within(error) for one in held
        ]
        if is_assured(rule, found, held, noises, 0.05, ties=ties):
            sure += 1
            assert found == truth, f"{name} of {rule.candidates}; the seed was {seed}"
        wrong += found != truth
    assert sure > ELECTIONS / 10
    assert wrong > 0


def test_many_who_trail_together_need_no_order_among_them() -> None:
    """Three are level at 10, 10 and 11, and go in whatever order: all together they are behind the fourth."""
    profile = Profile.of(
        np.array(
            [[0, 1, 2, 3, 4], [1, 0, 2, 3, 4], [1, 1, 0, 1, 1], [1, 1, 1, 0, 1], [1, 1, 1, 1, 0]],
            dtype=np.uint8,
        ),
        np.array([400, 200, 10, 10, 11]),
    )
    rule: Any = RULES["stv"](5)
    winner, held = conduct(rule.count(), exact_answers(profile))
    few: list[Any] = [Within(20.0)] * 4
    assert is_assured(rule, winner, held, few, 0.05, ties=False)
    assert not is_assured(rule, winner, held, few, 0.05, ties=True)
    assert not is_assured(rule, winner, held, [Within(90.0)] * 4, 0.05, ties=False)  # type: ignore[list-item]
