"""Voters in memory answer as voters on a cluster do."""

from __future__ import annotations

import os
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from jobs.election import simulated
from jobs.election.count import conduct
from jobs.election.interactive import AskInRounds, Rounds, default_shares
from jobs.election.local import AskRelease, plan_release
from jobs.election.margins import outcome
from jobs.election.profiles.instance import profile_of
from jobs.election.rules import RULES
from jobs.election.simulated import SimulatedVoters
from udfs.ball import Ball
from udfs.ballots import BallotQuestion
from udfs.contests import EveryFirstChoice
from udfs.draws import RowDraws
from udfs.profile import Profile, ProfileTally

KEY, SEED = bytes(range(32)), bytes(range(1, 33))
PROFILE = profile_of(
    [
        ((0, 2, 1, 3), 320),
        ((0, 2, 3, 1), 60),
        ((1, 2, 3, 0), 330),
        ((2, 1, 0, 3), 200),
        ((3, 1, 2, 0), 90),
    ]
)
MANY = Profile(PROFILE.places, PROFILE.counts * 200)
"""Of so many ballots every gap and duel that decides is 8 standard errors wide and more, where epsilon is large."""
QUESTION = BallotQuestion(("ballot",), ("a", "b", "c", "d"), "list", "truncate", "overvote")
WINNERS = {"plurality": 0, "runoff": 1, "stv": 1, "condorcet": 2, "maximin": 2, "borda": 2, "veto": 2}


class Open:
    """A mechanism that reports the ballots themselves."""

    label, draws = "open", False

    def randomize(self, answers: Any, draws: RowDraws) -> Any:
        assert len(draws) == len(answers)
        return answers

    def zeros(self) -> Any:
        return ProfileTally(4).zeros()

    def tally(self, reports: Any) -> Profile:
        return ProfileTally(4).tally([reports])


def release(voters: SimulatedVoters, rule: str, randomizer: str, epsilon: Decimal) -> int | None:
    """Return who wins by one round."""
    made = RULES[rule](4)
    planned = plan_release(made, randomizer, epsilon, SEED, voters.rows)
    found = voters.collect(planned.asks(QUESTION), "randomize")
    sums = dict(zip(planned.mechanisms, found, strict=True))
    reports: Any = voters.collected()
    return conduct(made.count(), AskRelease(planned.mechanisms, sums, reports, voters.rows))[0]


@pytest.mark.parametrize("rule", WINNERS)
def test_the_winners_are_those_of_the_exact_tally(rule: str) -> None:
    assert outcome(RULES[rule](4), PROFILE) == WINNERS[rule]


@pytest.mark.parametrize("block_rows", [1, 7, 999, 1000, 1 << 16])
def test_blocks_laid_one_after_the_other_are_all_ballots(
    monkeypatch: pytest.MonkeyPatch, block_rows: int
) -> None:
    monkeypatch.setattr(simulated, "BLOCK_ROWS", block_rows)
    (found,) = SimulatedVoters(PROFILE, KEY).ask([(QUESTION, Open())], "count")
    np.testing.assert_array_equal(found.places, PROFILE.places)
    np.testing.assert_array_equal(found.counts, PROFILE.counts)


@pytest.mark.parametrize("randomizer", ["auto", "ball"])
@pytest.mark.parametrize("rule", WINNERS)
def test_where_noise_is_nothing_one_round_names_the_winner(rule: str, randomizer: str) -> None:
    voters = SimulatedVoters(MANY, os.urandom(32))
    assert release(voters, rule, randomizer, Decimal(1000)) == WINNERS[rule]


@pytest.mark.parametrize("rule", WINNERS)
def test_where_noise_is_nothing_rounds_name_the_winner(rule: str) -> None:
    voters: Any = SimulatedVoters(MANY, os.urandom(32))
    made = RULES[rule](4)
    rounds = Rounds(made, "auto", Decimal(1000), True, default_shares(made), SEED, voters.rows)
    assert conduct(made.rounds(), AskInRounds(rounds, voters, QUESTION))[0] == WINNERS[rule]


def test_reports_that_were_kept_add_up_to_what_was_asked_for_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated, "BLOCK_ROWS", 300)
    ball = Ball(EveryFirstChoice(4), Decimal(1), SEED)
    voters = SimulatedVoters(PROFILE, KEY)
    (asked,) = voters.ask([(QUESTION, ball)], "randomize")
    (kept,) = voters.collect([(QUESTION, ball)], "randomize")
    (again,) = voters.collected().ask([(QUESTION, ball)], "question 1")
    np.testing.assert_array_equal(asked, kept)
    np.testing.assert_array_equal(asked, again)


def test_coins_differ_by_key_round_question_mechanism_and_block(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[bytes] = []

    class Noted(RowDraws):
        def __init__(self, key: bytes, *rest: Any) -> None:
            super().__init__(key, *rest)
            keys.append(key)

    monkeypatch.setattr(simulated, "BLOCK_ROWS", 400)
    monkeypatch.setattr(simulated, "RowDraws", Noted)
    one, other = (Ball(EveryFirstChoice(4), Decimal(epsilon), SEED) for epsilon in (1, 2))
    second = replace(QUESTION, name="second")
    for key in (KEY, SEED):
        for name in ("round 1", "round 2"):
            SimulatedVoters(PROFILE, key).ask([(QUESTION, one), (QUESTION, other), (second, one)], name)
    assert len(keys) == len(set(keys)) == 2 * 2 * 3 * 3


def test_voters_of_other_numbers_draw_other_public_draws() -> None:
    class Public(Open):
        def randomize(self, answers: Any, draws: RowDraws) -> Any:
            words.append(draws.public(SEED).words(0).copy())
            return answers

    words: list[Any] = []
    for first in (0, 0, 5, 1000):
        SimulatedVoters(PROFILE, KEY, first).ask([(QUESTION, Public())], "count")
    np.testing.assert_array_equal(words[0], words[1])
    np.testing.assert_array_equal(words[0][5:], words[2][:-5])
    assert not np.isin(words[0], words[3]).any()
