"""What all margins of victory have in common."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.election import margins
from jobs.election.margins import Replacement, margin_of_victory
from jobs.election.margins.leads import closing
from jobs.election.margins.margin import distinct, in_turn, numbers_of, raising, spread
from jobs.election.rules import RULES, Plurality
from jobs.election.rules.rule import Rule
from tests.jobs.election.margins.exhaustive import ballots, rules
from udfs.errors import JobError
from udfs.profile import Profile

whole = st.integers(0, 9)


@st.composite
def neighbours(draw: Callable) -> tuple[Profile, Profile]:
    """Draw two profiles of 3 or 4 candidates that differ in one ballot, any two ballots."""
    candidates = draw(st.integers(3, 4))
    kinds = ballots(candidates)
    one = st.integers(0, len(kinds) - 1)
    counts = np.zeros(len(kinds), dtype=np.int64)
    for kind, number in draw(st.dictionaries(one, st.integers(1, 300), min_size=1, max_size=12)).items():
        counts[kind] = number
    left, come = draw(st.sampled_from(np.flatnonzero(counts).tolist())), draw(one)
    moved = counts.copy()
    moved[left] -= 1
    moved[come] += 1
    return Profile.of(kinds, counts), Profile.of(kinds, moved)


@pytest.mark.parametrize("number", range(8))
@settings(max_examples=20, deadline=None)
@given(both=neighbours())
def test_one_ballot_changes_a_margin_by_one_at_most_and_an_outcome_only_from_margin_one_to_one(number, both):
    one, other = (margin_of_victory(rules(profile.candidates)[number], profile) for profile in both)
    if one.outcome == other.outcome:
        assert abs(one.margin - other.margin) <= 1
    else:
        assert (one.margin, other.margin) == (1, 1)


@pytest.mark.parametrize(
    "rule", [kind for kind in rules(3) if kind.name != "condorcet"], ids=lambda rule: rule.name
)
def test_without_ballots_the_first_of_the_tie_order_wins_by_nothing(rule: Rule):
    none = Profile.of(np.zeros((0, 3), dtype=np.uint8))
    assert margin_of_victory(rule, none) == margins.Margin(0, 0)


def test_without_ballots_nobody_is_the_condorcet_winner_by_nothing():
    none = Profile.of(np.zeros((0, 3), dtype=np.uint8))
    assert margin_of_victory(RULES["condorcet"](3), none) == margins.Margin(None, 0)


@pytest.mark.parametrize("rule", rules(1), ids=lambda rule: rule.name)
def test_one_candidate_wins_by_nothing(rule: Rule):
    assert margin_of_victory(rule, Profile.of(np.zeros((5, 1), dtype=np.uint8))) == margins.Margin(0, 0)


@pytest.mark.parametrize("rule", rules(3), ids=lambda rule: rule.name)
def test_blank_ballots_are_decided_by_one(rule: Rule):
    assert margin_of_victory(rule, Profile.of(np.zeros((5, 3), dtype=np.uint8))).margin == 1


def test_a_replacement_that_changes_nothing_is_an_error(monkeypatch):
    profile = Profile.of(np.array([[0, 1], [1, 0]], dtype=np.uint8), np.array([7, 3]))
    idle = Replacement.by(profile, np.array([1, 0]), [((0, 1), 1)])
    monkeypatch.setitem(margins.FEWEST, Plurality, lambda *_: idle)
    with pytest.raises(JobError, match="must be exact"):
        margin_of_victory(Plurality(2), profile)


@pytest.mark.parametrize(
    ("taken", "rankings"), [([8, 0], [((1, 0), 8)]), ([2, 0], [((1, 0), 3)]), ([2, 0], [((1, 0), 1)])]
)
def test_more_ballots_than_there_are_cannot_be_taken_nor_another_number_added(taken, rankings):
    profile = Profile.of(np.array([[0, 1], [1, 0]], dtype=np.uint8), np.array([7, 3]))
    with pytest.raises(JobError, match="must be exact"):
        Replacement.by(profile, np.array(taken), rankings).applied_to(profile)


def test_the_error_tells_nothing_of_the_ballots():
    assert not any(sign.isdigit() for sign in str(margins.inexact()))


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), whole), max_size=9),
    wanted=st.lists(whole, min_size=4, max_size=4),
)
def test_spread_takes_so_many_of_each_kind_or_all_there_are(rows, wanted):
    kinds, counts = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    taken = spread(np.array(wanted), kinds, counts)
    assert (taken >= 0).all()
    assert (taken <= counts).all()
    assert np.array_equal(numbers_of(kinds, taken, 4), np.minimum(wanted, numbers_of(kinds, counts, 4)))


@given(numbers=st.lists(whole, min_size=1, max_size=6), wanted=st.integers(-3, 60))
def test_in_turn_takes_from_the_first_until_there_are_enough(numbers, wanted):
    taken = in_turn(wanted, np.array(numbers)).tolist()
    expected = []
    for number in numbers:
        expected.append(min(number, max(0, wanted - sum(expected))))
    assert taken == expected


@given(
    rows=st.lists(st.tuples(st.integers(-2, 2), st.integers(1, 5)), min_size=1, max_size=4),
    lead=st.integers(-9, 9),
)
def test_closing_takes_as_few_ballots_as_can_be(rows, lead):
    leads, counts = np.array(rows).T
    total = int(leads @ counts)
    if not -2 * counts.sum() <= lead < total:
        return
    taken = closing(leads, counts, -2, lead)
    assert (taken >= 0).all()
    assert (taken <= counts).all()
    assert total - taken @ (leads + 2) <= lead
    singles = np.sort(np.repeat(leads + 2, counts))[::-1]
    assert total - singles[: taken.sum() - 1].sum() > lead


@given(
    rows=st.lists(st.lists(st.integers(0, 2), min_size=9, max_size=9), min_size=1, max_size=12),
    largest=st.sampled_from([2, 127, 128, 255]),
)
def test_distinct_rows_are_counted(rows, largest):
    table = np.minimum(np.array(rows, dtype=np.uint8) * 127, largest).astype(np.uint8)
    counts = np.arange(1, len(rows) + 1)
    kinds, which, numbers = distinct(table, counts)
    assert np.array_equal(kinds[which], table)
    assert len(set(map(bytes, kinds))) == len(kinds)
    for kind, number in zip(kinds, numbers, strict=True):
        assert number == counts[(table == kind).all(axis=1)].sum()


def test_the_best_ballot_for_a_challenger_has_the_winner_last():
    assert raising(2, 0, 4) == (2, 1, 3, 0)
    assert raising(2, None, 4) == (2, 0, 1, 3)
