"""Margins of victory against a look at every profile of few ballots, those with shared and missing ranks included."""

from __future__ import annotations

import pytest

from jobs.election.margins import margin_of_victory, outcome
from jobs.election.rules.rule import Rule
from tests.jobs.election.margins.exhaustive import ballots, each, rules

SOLVED = {"condorcet", "maximin", "stv"}
"""Integer programs, so that fewer profiles must do."""
SIZES = [
    (2, 1, 3, 3),
    (2, 5, 21, 21),
    (3, 1, 13, 13),
    (3, 2, 40, 91),
    (3, 3, 30, 200),
    (3, 5, 25, 150),
    (4, 3, 15, 15),
]
"""Candidates, voters, and how many profiles of so many: those of SOLVED rules, and of the others."""
CASES = [
    pytest.param(rule, voters, few if rule.name in SOLVED else many, id=f"{rule.name}-{candidates}-{voters}")
    for candidates, voters, few, many in SIZES
    for rule in rules(candidates)
]


def test_there_are_as_many_ballots_as_weak_orders():
    assert [len(ballots(candidates)) for candidates in (1, 2, 3, 4)] == [1, 3, 13, 75]


@pytest.mark.parametrize(("rule", "voters", "most"), CASES)
def test_the_margin_is_the_distance_to_the_nearest_profile_of_another_outcome(
    rule: Rule, voters: int, most: int
):
    for profile, least, result in each(rule, voters, most):
        found = margin_of_victory(rule, profile)
        assert (found.outcome, found.margin) == (result, least), (profile.places, profile.counts)
        assert outcome(rule, found.witness.applied_to(profile)) != result
