from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from jobs.survey.guess import guess_error, right_guess
from tests.jobs.survey.reported import Response
from udfs.design import Shares

Matrix = npt.NDArray[np.float64]

LDL = np.array([16, 64, 103, 50, 12, 3]) / 248
EPSILONS = [0.25, 0.5, 1.0, 2.0, 4.0]


def laplace(cells: int, epsilon: float) -> Matrix:
    """Return the Laplace mechanism's design matrix: noise of scale (cells - 1) / epsilon, cut halfway."""
    scale = (cells - 1) / epsilon
    away = np.arange(cells - 1)[:, None] + 0.5 - np.arange(cells)
    tail = np.exp(-np.abs(away) / scale) / 2
    below = np.where(away < 0, tail, 1 - tail)
    return np.diff(np.vstack([np.zeros(cells), below, np.ones(cells)]), axis=0)


def variances(matrix: Matrix, shares: Shares) -> Shares:
    """Return the variances of unbiased shares, times the number of reports (equation 18)."""
    observed, inverse = matrix @ shares, np.linalg.inv(matrix)
    return np.diag(inverse @ (np.diag(observed) - np.outer(observed, observed)) @ inverse.T)


def mean_guess_error(matrix: Matrix, shares: Shares) -> float:
    """Return the probability that the guess of a random respondent's answer is wrong."""
    return float(shares @ guess_error(matrix, shares))


def some_shares(cells: int) -> list[Shares]:
    """Return shares of every cell in steps of a quarter."""
    steps = itertools.product(range(5), repeat=cells)
    return [np.array(one) / 4 for one in steps if sum(one) == 4]


def exactly_right(truth: Fraction, share: Fraction) -> tuple[Fraction, Fraction]:
    """Return the probability of a right guess of each of two answers: a sum over both reports, by Bayes."""
    lie, other = 1 - truth, 1 - share
    said_first, said_second = truth * share + lie * other, lie * share + truth * other
    first = truth * (truth * share / said_first) + lie * (lie * share / said_second)
    return first, lie * (lie * other / said_first) + truth * (truth * other / said_second)


def test_a_guess_is_right_as_often_as_bayes_says() -> None:
    for truth, share in itertools.product(
        [Fraction(2, 3), Fraction(9, 10)], [Fraction(1, 5), Fraction(1, 2)]
    ):
        p, s = float(truth), float(share)
        found = right_guess(np.array([[p, 1 - p], [1 - p, p]]), np.array([s, 1 - s]))
        assert found == pytest.approx([float(one) for one in exactly_right(truth, share)], rel=1e-14)


def test_without_noise_every_guess_is_right_and_with_nothing_else_none_is_better_than_the_shares() -> None:
    assert right_guess(np.eye(6), LDL) == pytest.approx(np.ones(6))
    assert right_guess(np.full((6, 6), 1 / 6), LDL) == pytest.approx(LDL)
    assert mean_guess_error(np.full((6, 6), 1 / 6), LDL) == pytest.approx(1 - (LDL**2).sum())


def test_an_answer_nobody_has_is_never_guessed() -> None:
    assert right_guess(np.eye(2), np.array([1.0, 0.0])).tolist() == [1, 0]


def test_more_reports_than_answers_are_welcome() -> None:
    matrix = np.array([[0.5, 0.1], [0.2, 0.2], [0.3, 0.7]])
    copies = np.repeat(matrix / 2, 2, axis=0)  # a second coin, that tells nothing
    shares = np.array([0.3, 0.7])
    assert right_guess(copies, shares) == pytest.approx(right_guess(matrix, shares))


def test_of_two_answers_both_are_guessed_better_from_randomized_response() -> None:
    """The paper's theorem 2, exactly, at epsilons whose e**(epsilon / 2) is a fraction."""
    for root, percent in itertools.product([Fraction(n, 8) for n in range(9, 80)], range(1, 100)):
        ours = exactly_right(root**2 / (1 + root**2), Fraction(percent, 100))
        theirs = exactly_right(1 - 1 / (2 * root), Fraction(percent, 100))
        assert ours[0] > theirs[0]
        assert ours[1] > theirs[1]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_matrices_of_two_answers_are_those_of_the_paper(epsilon: float) -> None:
    assert np.diag(laplace(2, epsilon)) == pytest.approx([1 - math.exp(-epsilon / 2) / 2] * 2)
    assert np.diag(Response(2, epsilon).matrix) == pytest.approx([1 / (1 + math.exp(-epsilon))] * 2)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cells", [2, 3, 4, 6, 10])
def test_of_equally_shared_answers_a_random_one_is_guessed_better_from_randomized_response(
    cells: int, epsilon: float
) -> None:
    equal = np.full(cells, 1 / cells)
    ours, theirs = Response(cells, epsilon).matrix, laplace(cells, epsilon)
    assert mean_guess_error(ours, equal) < mean_guess_error(theirs, equal)


def test_theorem_4_fails_where_answers_are_at_the_ends() -> None:
    """Noise that keeps to the neighbourhood tells the ends apart, though hardly any other answers."""
    ends = np.array([0.5, 0.0, 0.5])
    ours, theirs = Response(3, 0.5).matrix, laplace(3, 0.5)
    assert mean_guess_error(ours, ends) == pytest.approx(0.478227, abs=1e-6)
    assert mean_guess_error(theirs, ends) == pytest.approx(0.474362, abs=1e-6)
    both = guess_error(ours, ends) > guess_error(theirs, ends)
    assert both[[0, 2]].all()


def test_theorem_4_fails_on_average_for_many_equally_shared_answers() -> None:
    equal = np.full(20, 1 / 20)
    for epsilon, ours, theirs in [(0.25, 0.949814, 0.949727), (0.5, 0.949062, 0.948962)]:
        assert mean_guess_error(Response(20, epsilon).matrix, equal) == pytest.approx(ours, abs=1e-6)
        assert mean_guess_error(laplace(20, epsilon), equal) == pytest.approx(theirs, abs=1e-6)


def test_theorem_4_fails_for_the_rarest_cholesterol_at_a_small_epsilon_and_holds_on_average() -> None:
    for epsilon in (0.5, 1.0, 1.5, 2.0, 3.0, 4.0):
        ours, theirs = Response(6, epsilon).matrix, laplace(6, epsilon)
        worse = guess_error(ours, LDL) > guess_error(theirs, LDL)
        assert np.flatnonzero(worse).tolist() == ([5] if epsilon == 0.5 else [])
        assert mean_guess_error(ours, LDL) < mean_guess_error(theirs, LDL)


def test_theorem_4_fails_for_the_outer_of_equally_shared_answers_at_a_small_epsilon() -> None:
    equal = np.full(6, 1 / 6)
    ours, theirs = Response(6, 0.5).matrix, laplace(6, 0.5)
    worse = guess_error(ours, equal) > guess_error(theirs, equal)
    assert np.flatnonzero(worse).tolist() == [0, 5]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cells", [2, 3, 4, 5])
def test_every_proportion_varies_less_under_randomized_response(cells: int, epsilon: float) -> None:
    """The paper's theorem 3; that it holds for more than two cells is only expected there."""
    ours, theirs = Response(cells, epsilon).matrix, laplace(cells, epsilon)
    for shares in some_shares(cells):
        assert (variances(ours, shares) < variances(theirs, shares)).all()
