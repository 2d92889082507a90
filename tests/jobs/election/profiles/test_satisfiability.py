"""Theorem B.1: one ballot or many, as the formula can be satisfied or not."""

from __future__ import annotations

from itertools import product

import pytest

from jobs.election.margins import margin_of_victory
from jobs.election.profiles.satisfiability import Satisfiability
from jobs.election.rules import SingleTransferableVote
from jobs.election.rules.rule import last
from tests.jobs.election.profiles.checks import certified, outcome
from udfs.contests import FirstChoice
from udfs.errors import SpecError

CONTRADICTION = ((1,), (-1,))
UNSATISFIABLE = [(1, CONTRADICTION), (2, ((1, 2), (1, -2), (-1,))), (3, ((1, 2), (-2, 3), (-1, 3), (-3,)))]
SATISFIABLE = [
    (1, ((1,),)),
    (2, ((1, 2), (-1, -2))),
    (3, ((1, 2, 3), (-1, -2, -3), (1, -2, 3))),
    (4, ((-1, 2, 4),)),
]


def assignments(formula: Satisfiability):
    return product((False, True), repeat=formula.variables)


def eliminations(profile) -> list[int]:
    active, order = tuple(range(profile.candidates)), []
    while len(active) > 1:
        gone = last(profile.score(FirstChoice(active)))
        order.append(active[gone])
        active = (*active[:gone], *active[gone + 1 :])
    return order


@pytest.mark.parametrize("copies", [2, 7, 12])
@pytest.mark.parametrize(("variables", "clauses"), UNSATISFIABLE)
def test_fewer_than_half_of_the_copies_do_not_change_a_formula_that_cannot_be_satisfied(
    variables, clauses, copies
):
    formula = Satisfiability(variables, clauses, copies)
    assert not any(formula.satisfied(one) for one in assignments(formula))
    election = formula.instance()
    assert outcome(SingleTransferableVote(4 * variables + 2), election.profile) == election.designated
    assert certified(election.profile, election.designated, (copies - 1) // 2)


@pytest.mark.parametrize(("variables", "clauses"), SATISFIABLE)
def test_one_ballot_changes_a_formula_that_can(variables, clauses):
    formula = Satisfiability(variables, clauses, copies=6)
    rule = SingleTransferableVote(4 * variables + 2)
    assert formula.names[outcome(rule, formula.instance().profile)] == "w"
    for assignment in assignments(formula):
        changed = formula.changed(assignment, 1)
        assert (outcome(rule, changed.profile) == changed.designated) == formula.satisfied(assignment)


@pytest.mark.parametrize("ballots", [1, 2, 3])
@pytest.mark.parametrize(("variables", "clauses"), SATISFIABLE)
def test_more_ballots_make_the_alternate_win_by_half_as_many(variables, clauses, ballots):
    formula = Satisfiability(variables, clauses, copies=6 * ballots)
    good = next(one for one in assignments(formula) if formula.satisfied(one))
    changed = formula.changed(good, ballots)
    assert changed.names[changed.designated] == "a"
    assert certified(changed.profile, changed.designated, (ballots + 1) // 2 - 1)


@pytest.mark.parametrize(("copies", "margin"), [(1, 2), (2, 2), (3, 3), (6, 4)])
def test_the_margin_of_the_least_contradiction_is_what_solving_every_order_gave(copies, margin):
    election = Satisfiability(1, CONTRADICTION, copies).instance()
    assert margin_of_victory(SingleTransferableVote(6), election.profile).margin == margin >= copies / 2


@pytest.mark.parametrize(("variables", "clauses"), [*SATISFIABLE, *UNSATISFIABLE])
def test_the_order_of_eliminations_is_that_of_proposition_b5(variables, clauses):
    formula = Satisfiability(variables, clauses, copies=4)
    for assignment in assignments(formula):
        election = formula.changed(assignment, 1)
        literals = [one if value else -one for one, value in enumerate(assignment, 1)]
        expected = []
        for literal in literals:
            expected += [
                formula.selection_candidate(-literal),
                formula.literal_candidate(-literal),
                formula.selection_candidate(literal),
            ]
        order = eliminations(election.profile)
        assert order[: 3 * variables] == expected
        assert order[3 * variables] in (0, 1)
        assert order[3 * variables + 1 :] == [formula.literal_candidate(literal) for literal in literals]


def test_the_rankings_of_a_variable_are_the_papers():
    election = Satisfiability(1, ((1,), (-1,)), copies=2).instance()
    rankings = {
        " ".join(election.names[one] for one in row.argsort()[:5]): int(count)
        for row, count in zip(election.profile.places, election.profile.counts, strict=True)
    }
    assert rankings == {
        "w a y1 y-1 z1": 80,
        "a w y1 y-1 z1": 79,
        "z1 y-1 y1 w a": 22,
        "z-1 y1 y-1 w a": 22,
        "z1 z-1 y1 y-1 w": 8,
        "z-1 z1 y-1 y1 w": 8,
        "y1 y-1 w a z1": 32,
        "y-1 y1 w a z1": 32,
        "y1 w a y-1 z1": 2,
        "y-1 w a y1 z1": 2,
    }


def test_the_ballots_are_as_many_as_the_paper_counts():
    for variables, clauses in (*SATISFIABLE, *UNSATISFIABLE):
        profile = Satisfiability(variables, clauses, copies=3).instance().profile
        depth = 10 * variables
        voters = (
            3 * (sum(4 * depth + 20 * one + 2 for one in range(1, variables + 1)) + len(clauses) + 8 * depth)
            - 1
        )
        assert profile.ballots == voters <= 2000 * variables**2 * 3


@pytest.mark.parametrize(
    "clauses", [((),), ((1, 1),), ((0,),), ((1, 2, 3, -1),), ((4,),), ((1,), (1, 2), (1, 3))], ids=str
)
def test_other_formulas_are_refused(clauses):
    with pytest.raises(
        SpecError, match=r"satisfiability\.clauses: must be of one to three literals of 3 variables"
    ):
        Satisfiability(3, clauses, 4)


def test_no_variables_and_no_copies_are_refused():
    with pytest.raises(SpecError, match="needs a variable and a copy"):
        Satisfiability(1, ((1,),), 0)


@pytest.mark.parametrize(("assignment", "ballots"), [((True,), 1), ((True, False), -1), ((True, False), 161)])
def test_more_ballots_than_the_winner_has_and_half_an_assignment_are_refused(assignment, ballots):
    with pytest.raises(SpecError, match=r"satisfiability\.changed: needs 2 values and 0 to 160 ballots"):
        Satisfiability(2, ((1, 2),), 2).changed(assignment, ballots)
