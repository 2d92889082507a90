"""Integer programs: their bounds are proved, and their solutions are the best there are."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from jobs.election.margins import programs
from jobs.election.margins.programs import Program
from udfs.errors import JobError


def small(rows: int, unknowns: int) -> st.SearchStrategy[list[list[int]]]:
    """Return tables of small numbers."""
    return st.lists(
        st.lists(st.integers(-1, 4), min_size=unknowns, max_size=unknowns), min_size=rows, max_size=rows
    )


@st.composite
def feasible(draw) -> tuple[Program, int]:
    """Draw a program that can be fulfilled, and its least cost by trying everything."""
    rows, unknowns = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    matrix = np.array(draw(small(rows, unknowns)))
    least = np.array(draw(st.lists(st.integers(-2, 12), min_size=rows, max_size=rows)))
    most = np.array(draw(st.lists(st.integers(0, 4), min_size=unknowns, max_size=unknowns)))
    cost = np.array(draw(st.lists(st.integers(0, 1), min_size=unknowns, max_size=unknowns)))
    tried = np.array(list(product(*(range(number + 1) for number in most))))
    fulfilled = tried[(tried @ matrix.T >= least).all(axis=1)]
    assume(len(fulfilled))
    return Program(cost, matrix, least, most), int((fulfilled @ cost).min())


@given(case=feasible())
@settings(max_examples=60, deadline=None)
def test_the_bound_bounds_and_the_solution_is_the_best(case):
    program, best = case
    assert program.bound <= best
    x = program.solve()
    assert int(program.cost @ x) == best
    assert (program.matrix @ x >= program.least).all()


@given(case=feasible(), prices=st.lists(st.floats(-1e9, 1e9), min_size=3, max_size=3))
@settings(max_examples=60, deadline=None)
def test_whatever_prices_the_solver_names_the_bound_bounds(case, prices):
    program, best = case
    marginals = np.array(prices[: len(program.least)])
    program.__dict__["_relaxed"] = SimpleNamespace(ineqlin=SimpleNamespace(marginals=marginals))
    assert program.bound <= best


COVER = Program(
    np.ones(3, int), np.array([[2, 2, 0], [0, 2, 2], [2, 0, 2]]), np.array([3, 3, 3]), np.array([9, 9, 9])
)
"""Its linear program costs 2.25, its integer program 3."""


@pytest.mark.parametrize(
    ("x", "bound"), [([1, 1, 0], 2), ([0.4, 1, 1], 2), ([2, 1, 1], 3), ([10, 1, 1], 12), ([-1, 3, 3], 5)]
)
def test_an_answer_that_does_not_stand_in_whole_numbers_is_an_error(monkeypatch, x, bound):
    lie = SimpleNamespace(status=0, x=np.array(x, dtype=float), mip_dual_bound=bound)
    monkeypatch.setattr(programs, "milp", lambda *_, **__: lie)
    program = Program(COVER.cost, COVER.matrix, COVER.least, COVER.most)
    program.__dict__["_relaxed"] = SimpleNamespace(
        x=np.full(3, 0.75), ineqlin=SimpleNamespace(marginals=np.zeros(3))
    )
    with pytest.raises(JobError, match="must be exact"):
        program.solve()


def test_a_program_that_cannot_be_fulfilled_is_an_error():
    impossible = Program(np.ones(1, int), np.array([[1]]), np.array([2]), np.array([1]))
    with pytest.raises(JobError, match="must be exact"):
        _ = impossible.bound


def test_integer_programs_beyond_their_linear_ones_are_solved():
    program = Program(COVER.cost, COVER.matrix, COVER.least, COVER.most)
    assert (program.bound, int(program.solve().sum())) == (3, 3)
    loose = Program(np.ones(3, int), COVER.matrix // 2, np.array([1, 1, 1]), np.ones(3, int))
    assert (loose.bound, int(loose.solve().sum())) == (2, 2)
