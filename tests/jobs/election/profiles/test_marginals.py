"""Definition E.5: the winner tells the marginal from the threshold, by a margin as wide as their distance."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from jobs.election.margins import margin_of_victory
from jobs.election.profiles.instance import completed, profile_of
from jobs.election.profiles.marginals import MarginalElections
from jobs.election.profiles.transfers import MarginalsByTransfers
from jobs.election.profiles.two_way import TwoWayByDuels
from jobs.election.rules import Condorcet, Maximin, Runoff, SingleTransferableVote
from tests.jobs.election.profiles.checks import certified, outcome, withstands
from udfs.contests import Duels, FirstChoice
from udfs.errors import SpecError
from udfs.profile import Profile

RECORDS = np.array(
    [[1, 1, 0, 1], [1, 1, 0, 0], [0, 1, 1, 1], [1, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]], dtype=np.bool_
)
ALIKE = np.ones((3, 3), dtype=np.bool_)
NOTHING = np.zeros((3, 3), dtype=np.bool_)
THRESHOLDS = range(1, len(RECORDS) + 1)


def check_compatible(rule, generator: MarginalElections, query, threshold):
    election = generator.instance(query, threshold)
    marginal = int(generator.records[:, list(query)].all(axis=1).sum())
    found = margin_of_victory(rule, election.profile)
    assert (found.outcome == election.designated) == (marginal >= threshold)
    assert found.margin >= abs(marginal - threshold)


@pytest.mark.parametrize("records", [RECORDS, ALIKE, NOTHING], ids=["records", "alike", "nothing"])
@pytest.mark.parametrize(
    ("kind", "padded"),
    [(Condorcet, False), (Maximin, False), (Condorcet, True), (Maximin, True), (Runoff, True)],
)
def test_duels_are_compatible_with_three_rules(kind, padded, records):
    generator = TwoWayByDuels(records, padded)
    for query in combinations(range(records.shape[1]), 2):
        for threshold in {1, len(records) // 2, len(records)}:
            check_compatible(kind(records.shape[1]), generator, query, threshold)


@pytest.mark.parametrize("kind", [Condorcet, Maximin, Runoff])
@pytest.mark.parametrize("records", [np.ones((2, 3)), np.zeros((2, 3))], ids=["alike", "nothing"])
def test_trying_all_changes_finds_no_smaller_margin_of_duels(kind, records):
    generator = TwoWayByDuels(records.astype(np.bool_))
    for threshold in (1, 2):
        distance = abs(generator.marginal((0, 1)) - threshold)
        assert withstands(kind(3), generator.instance((0, 1), threshold).profile, max(0, distance - 1))


def test_the_duel_asked_about_is_won_by_twice_the_distance_and_one():
    generator = TwoWayByDuels(RECORDS)
    for query in combinations(range(4), 2):
        for threshold in THRESHOLDS:
            (margin,) = generator.instance(query, threshold).profile.score(Duels((query,)))
            assert margin == 2 * generator.marginal(query) - 2 * threshold + 1


def test_the_two_asked_about_beat_everybody_else_by_far_and_meet_in_the_runoff():
    generator, records = TwoWayByDuels(RECORDS), len(RECORDS)
    for query in combinations(range(4), 2):
        profile = generator.instance(query, 2).profile
        others = [other for other in range(4) if other not in query]
        duels = Duels(tuple((asked, other) for asked in query for other in others))
        assert profile.score(duels).min() >= 8 * records - 1
        firsts = profile.score(FirstChoice((0, 1, 2, 3)))
        assert firsts[list(query)].min() >= 4 * records
        assert firsts[others].max() <= 2 * records


def test_runoff_needs_the_padding():
    check_compatible(Runoff(3), TwoWayByDuels(ALIKE), (1, 2), 3)
    with pytest.raises(AssertionError):
        check_compatible(Runoff(3), TwoWayByDuels(ALIKE, padded=False), (1, 2), 3)


@pytest.mark.parametrize("query", [(1,), (0, 1), (0, 3), (1, 2, 3), (0, 1, 2, 3)])
def test_transfers_are_compatible_with_single_transferable_vote(query):
    generator, rule = MarginalsByTransfers(RECORDS), SingleTransferableVote(7)
    marginal = generator.marginal(query)
    for threshold in THRESHOLDS:
        election = generator.instance(query, threshold)
        winner = outcome(rule, election.profile)
        assert election.names[winner] == ("c*" if marginal >= threshold else "c'")
        assert certified(election.profile, winner, max(0, abs(marginal - threshold) - 1))


@pytest.mark.parametrize(("marginal", "threshold", "margin"), [(0, 4, 4), (1, 3, 2), (3, 1, 4), (4, 1, 6)])
def test_the_margin_by_transfers_is_the_distance_below_the_threshold_and_half_as_much_again_above(
    marginal, threshold, margin
):
    records = np.array([[row < marginal or row % 2 == 0, row < marginal] for row in range(4)])
    profile = MarginalsByTransfers(records).instance((0, 1), threshold).profile
    assert margin_of_victory(SingleTransferableVote(5), profile).margin == margin


@pytest.mark.parametrize("kind", [TwoWayByDuels, MarginalsByTransfers])
def test_the_ballots_are_as_many_whatever_is_asked(kind):
    generator, records = kind(RECORDS), len(RECORDS)
    expected = 12 * records - 1 if kind is TwoWayByDuels else 30 * records - 2
    for query in combinations(range(4), 2):
        for threshold in THRESHOLDS:
            assert generator.instance(query, threshold).profile.ballots == expected
    if kind is MarginalsByTransfers:
        assert generator.instance((0, 1, 3), 1).profile.ballots == 36 * records - 2


@pytest.mark.parametrize("kind", [TwoWayByDuels, MarginalsByTransfers])
def test_two_ballots_depend_on_a_record_and_no_other(kind):
    changed = RECORDS.copy()
    changed[2] = ~changed[2]
    before, after = kind(RECORDS).data(), kind(changed).data()
    assert len(before) == kind.ballots_a_record * len(RECORDS)
    assert set(np.flatnonzero((before != after).any(axis=1))) == {4, 5}


def test_the_rankings_of_a_record_are_the_papers():
    record = np.array([[0, 1, 1, 0]], dtype=np.bool_)
    by_duels = profile_of([((1, 2, 0, 3), 1), ((3, 0, 1, 2), 1)])
    assert _same(Profile.of(TwoWayByDuels(record).data()), by_duels)
    by_transfers = profile_of([((0, 3, 4, 5, 6, 1, 2), 2)])
    assert _same(Profile.of(MarginalsByTransfers(record).data()), by_transfers)
    assert completed((3, 1), range(4)) == (3, 1, 0, 2)


def _same(one: Profile, other: Profile) -> bool:
    return np.array_equal(one.places, other.places) and np.array_equal(one.counts, other.counts)


@pytest.mark.parametrize("query", [(), (1, 0), (0, 0), (0, 4), (-1, 2)])
def test_a_query_of_other_attributes_is_refused(query):
    with pytest.raises(SpecError, match=r"marginals\.query: must be different numbers below 4, ascending"):
        MarginalsByTransfers(RECORDS).instance(query, 1)


@pytest.mark.parametrize("threshold", [0, 7])
def test_a_threshold_beyond_the_records_is_refused(threshold):
    with pytest.raises(SpecError, match=r"marginals\.threshold: must be from 1 to 6"):
        TwoWayByDuels(RECORDS).instance((0, 1), threshold)


def test_duels_refuse_other_than_two_attributes_and_no_records():
    with pytest.raises(SpecError, match="two attributes"):
        TwoWayByDuels(RECORDS).instance((0, 1, 2), 1)
    with pytest.raises(SpecError, match="rows of attributes"):
        TwoWayByDuels(np.zeros((0, 3), dtype=np.bool_))
