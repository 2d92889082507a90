"""Rounds: how voters, or epsilon, are shared among them."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.election.interactive import Rounds, default_shares, split
from jobs.election.rules import RULES, Condorcet, Runoff, Scoring, SingleTransferableVote
from tests.statistics import UnlikelyError, assert_law
from udfs.draws import Numbered, PublicDraws
from udfs.turns import EVERYBODY

SEED = bytes(range(32))
RULES_IN_ROUNDS = [Runoff(4), SingleTransferableVote(5), Condorcet(6), Condorcet(2), RULES["plurality"](3)]

epsilons = st.decimals(min_value="1e-30", max_value=1000, allow_nan=False, places=40).filter(
    lambda one: one > 0
)


def rounds_of(rule, share_voters=True, shares=None, epsilon=Decimal(1)):
    return Rounds(rule, "auto", epsilon, share_voters, shares or default_shares(rule), SEED, 1000)


@given(epsilon=epsilons, parts=st.integers(1, 300))
def test_parts_of_epsilon_never_add_up_to_more(epsilon, parts):
    part = Fraction(split(epsilon, parts))
    assert parts * part <= Fraction(epsilon)
    assert part > 0
    assert parts * part >= Fraction(epsilon) * (1 - Fraction(1, 10**26))  # and no part is given away


@pytest.mark.parametrize(("epsilon", "parts"), [("1", 3), ("0.1", 7), ("2", 3), ("1e-20", 9), ("1000", 999)])
def test_a_part_that_is_no_decimal_is_rounded_down(epsilon, parts):
    exact = Fraction(Decimal(epsilon)) / parts
    part = split(Decimal(epsilon), parts)
    assert Fraction(part) < exact
    assert Fraction(part.next_plus()) > exact or len(part.as_tuple().digits) == 28


@pytest.mark.parametrize("rule", RULES_IN_ROUNDS, ids=lambda rule: f"{rule.name} of {rule.candidates}")
def test_where_epsilon_is_shared_everybody_answers_in_every_round_there_can_be_with_an_equal_part(rule):
    settings = list(rounds_of(rule, share_voters=False).settings())
    assert len(settings) == rule.most_rounds
    assert {one.turn for one in settings} == {EVERYBODY}
    assert len({one.epsilon for one in settings}) == 1
    assert sum(Fraction(one.epsilon) for one in settings) <= 1


@pytest.mark.parametrize("rule", RULES_IN_ROUNDS, ids=lambda rule: f"{rule.name} of {rule.candidates}")
def test_where_voters_are_shared_each_is_in_one_round_with_all_of_epsilon(rule):
    settings = list(rounds_of(rule).settings())
    assert len(settings) == rule.most_rounds
    assert {one.epsilon for one in settings} == {Decimal(1)}
    assert {one.seed for one in settings} == {SEED}  # one seed: else turns would overlap
    voters = PublicDraws(Numbered(0, 5000))
    asked = np.concatenate([one.turn.rows(voters, one.seed) for one in settings])
    assert sorted(asked.tolist()) == list(range(5000))


def test_turns_follow_each_other_without_a_gap():
    turns = [one.turn for one in rounds_of(SingleTransferableVote(4), shares=(3, 1, 6)).settings()]
    assert [(one.first, one.last, one.of) for one in turns] == [(0, 3, 10), (3, 4, 10), (4, 10, 10)]
    assert [one.share for one in turns] == [Fraction(3, 10), Fraction(1, 10), Fraction(6, 10)]


@given(shares=st.lists(st.integers(1, 1000), min_size=3, max_size=3), rows=st.integers(0, 300))
def test_whatever_the_shares_every_voter_has_one_turn(shares, rows):
    settings = rounds_of(SingleTransferableVote(4), shares=tuple(shares)).settings()
    voters = PublicDraws(Numbered(7, rows))
    turns = Counter(row for one in settings for row in one.turn.rows(voters, SEED).tolist())
    assert turns == Counter(range(rows))


def test_voters_fall_to_rounds_as_the_shares_say():
    turns = [one.turn for one in rounds_of(SingleTransferableVote(4), shares=(1, 2, 4)).settings()]

    def sample(secret, voters):
        return np.array(
            [len(one.rows(PublicDraws(Numbered(0, voters)), secret.key("seed"))) for one in turns]
        )

    assert_law(sample, [1 / 7, 2 / 7, 4 / 7], [1 / 3] * 3)
    with pytest.raises(UnlikelyError):
        assert_law(sample, [1 / 3] * 3, [1 / 7, 2 / 7, 4 / 7])


def test_late_rounds_get_more_but_no_more_than_sixteen_times():
    assert default_shares(SingleTransferableVote(2)) == (1,)
    assert default_shares(SingleTransferableVote(5)) == (1, 2, 4, 8)
    assert default_shares(SingleTransferableVote(6)) == (1, 2, 4, 8, 16)
    assert default_shares(Runoff(7)) == (1, 2)
    for candidates in (7, 20, 100, 255):
        shares = default_shares(SingleTransferableVote(candidates))
        assert len(shares) == candidates - 1
        assert list(shares) == sorted(shares)
        assert shares[-1] == 16 * shares[0]


@pytest.mark.parametrize("candidates", range(3, 40))
def test_a_knockout_shares_voters_by_duels(candidates):
    shares = default_shares(Condorcet(candidates))
    assert len(shares) == Condorcet(candidates).most_rounds
    assert sum(shares[:-1]) == candidates - 1  # every duel but one sends somebody home
    assert shares[-1] == candidates - 1


@pytest.mark.parametrize("kind", [one for one in RULES.values() if one is not Scoring])
def test_every_rule_has_a_share_for_each_of_its_rounds(kind):
    for candidates in range(1, 12):
        shares = default_shares(kind(candidates))
        assert len(shares) == kind(candidates).most_rounds
        assert all(share > 0 for share in shares)
