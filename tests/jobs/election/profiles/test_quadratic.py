"""Remark A.7: tied round by round, and hard to change."""

from __future__ import annotations

import pytest

from jobs.election.margins import margin_of_victory
from jobs.election.profiles.quadratic import quadratic, quadratic_bound, tied_eliminations
from jobs.election.rules import SingleTransferableVote
from tests.jobs.election.profiles.checks import outcome, withstands
from udfs.contests import FirstChoice
from udfs.errors import SpecError


@pytest.mark.parametrize("candidates", range(4, 21))
def test_b_wins_and_along_the_other_order_everybody_who_goes_has_the_fewest_votes(candidates):
    election, order = quadratic(candidates), tied_eliminations(candidates)
    assert election.names[election.designated] == "b"
    assert election.names[order[-1]] == "a"
    assert sorted(order) == list(range(candidates))
    assert outcome(SingleTransferableVote(candidates), election.profile) == election.designated
    for gone in range(candidates):
        active = tuple(sorted(order[gone:]))
        scores = election.profile.score(FirstChoice(active))
        assert scores[active.index(order[gone])] == scores.min()


@pytest.mark.parametrize(("candidates", "margin"), [(4, 2), (5, 2), (6, 2), (7, 4)])
def test_the_margin_is_far_above_the_bound(candidates, margin):
    assert (
        margin_of_victory(SingleTransferableVote(candidates), quadratic(candidates).profile).margin == margin
    )
    assert margin >= quadratic_bound(candidates)


def test_one_ballot_does_not_change_the_winner_of_four():
    assert withstands(SingleTransferableVote(4), quadratic(4).profile, 1)


def test_the_rankings_are_the_papers():
    election = quadratic(5)
    letters = {
        "".join(election.names[one].replace("x", "") for one in row.argsort()): int(count)
        for row, count in zip(election.profile.places, election.profile.counts, strict=True)
    }
    assert letters == {"ab123": 9, "ba123": 36, "132ab": 9, "23ab1": 9, "3ab21": 9}


def test_fewer_than_four_are_refused():
    with pytest.raises(SpecError, match="quadratic: needs 4 candidates at least; got 3"):
        quadratic(3)
