"""What the noise's law gives beforehand, against sums over all of that law."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from jobs.skills.predicted import leaf_errors, mean_absolute_sum
from jobs.skills.replicate import Point
from tests.jobs.skills.studied import mean_absolute_noise, point_of


def law_of(epsilon: Decimal, beta: Fraction, reach: int) -> np.ndarray:
    """The law of noise on -reach, ..., reach, by convolving two negative binomial ones."""
    alpha, shape = math.exp(-float(epsilon)), float(beta)
    one = [(1 - alpha) ** shape]
    for k in range(1, reach + 1):
        one.append(one[-1] * alpha * (k - 1 + shape) / k)
    return np.convolve(one, one[::-1])


@pytest.mark.parametrize("beta", [Fraction(1), Fraction(10, 9), Fraction(7, 2)])
@pytest.mark.parametrize("epsilon", ["0.05", "0.7", "3", "20"])
def test_the_mean_size_of_noise_is_that_of_its_law(epsilon: str, beta: Fraction) -> None:
    reach = min(int(60 / float(epsilon)) + 60, 3000)
    law = law_of(Decimal(epsilon), beta, reach)
    expected = float((np.abs(np.arange(-reach, reach + 1)) * law).sum())
    assert mean_absolute_noise(Decimal(epsilon), beta) == pytest.approx(expected, rel=1e-9)
    scale = np.array([1 / (2 * math.sinh(float(epsilon) / 2) ** 2)])
    assert mean_absolute_sum(np.array([1.0]), scale, beta) == pytest.approx(expected, rel=1e-5)
    assert mean_absolute_sum(np.array([0.37]), scale, beta) == pytest.approx(0.37 * expected, rel=1e-5)


@pytest.mark.parametrize("beta", [Fraction(1), Fraction(1000)])
@pytest.mark.parametrize("epsilon", ["0.00001", "70"])
def test_the_mean_size_of_noise_is_right_at_the_ends(epsilon: str, beta: Fraction) -> None:
    scale = np.array([1 / (2 * math.sinh(float(epsilon) / 2) ** 2)])
    expected = mean_absolute_noise(Decimal(epsilon), beta)
    assert mean_absolute_sum(np.array([1.0]), scale, beta) == pytest.approx(expected, rel=1e-5)


def scales_of(*epsilons: str) -> np.ndarray:
    return np.array([1 / (2 * math.sinh(float(epsilon) / 2) ** 2) for epsilon in epsilons])


@pytest.mark.parametrize("beta", [Fraction(1), Fraction(11, 10), Fraction(5)])
@pytest.mark.parametrize("epsilons", [("5", "2"), ("0.7", "0.5"), ("12", "3"), ("20", "1"), ("30", "25")])
@pytest.mark.parametrize(
    "weights", [(0.7, 0.1), (1.0, -0.4), (0.9, 1e-3), (0.5, 1e-9), (1.0, 1.0), (1.0, 0.0)]
)
def test_the_mean_size_of_two_counters_noise_is_that_of_their_law(
    weights: tuple[float, float], epsilons: tuple[str, str], beta: Fraction
) -> None:
    """Also where noise is so rare that a small weight times frequent noise is most of it."""
    reaches = [int(40 / float(epsilon)) + 60 for epsilon in epsilons]
    laws = [law_of(Decimal(one), beta, reach) for one, reach in zip(epsilons, reaches, strict=True)]
    first, second = (np.arange(-reach, reach + 1) for reach in reaches)
    sizes = np.abs(weights[0] * first[:, None] + weights[1] * second)
    expected = float(laws[0] @ sizes @ laws[1])
    found = mean_absolute_sum(np.array(weights), scales_of(*epsilons), beta)
    assert found == pytest.approx(expected, rel=1e-5)


def three_nodes(epsilon: str) -> tuple[Point, float]:
    """A tree of a root and two leaves, and the mean of a leaf's |error| over all that can be drawn."""
    point = point_of("central", workers=10, depth=1, epsilons=[Decimal(epsilon)])
    root, leaf = (law_of(one.counts, Fraction(1), 60) for one in point.budget)
    noise = np.arange(-60, 61)
    s, t = (point.variance(level) for level in (1, 0))
    # b = y + (r - y - z) t / (s + 2 t), for a leaf's noise y, its sibling's z and the root's r.
    r, y, z = np.meshgrid(noise, noise, noise, indexing="ij", sparse=True)
    error = np.abs(y + (r - y - z) * t / (s + 2 * t))
    return point, float(np.einsum("i,j,k,ijk->", root, leaf, leaf, error))


@pytest.mark.parametrize("epsilon", ["2", "8", "20", "100"])
def test_the_predicted_errors_of_a_tree_of_three_nodes_are_those_of_all_its_noise(epsilon: str) -> None:
    point, expected = three_nodes(epsilon)
    leaf = mean_absolute_noise(point.budget[-1].counts, Fraction(1))
    found = leaf_errors(point)
    assert found["consistent"] == pytest.approx(2 * expected / 10, rel=1e-5)
    assert found["raw"] == pytest.approx(2 * leaf / 10, rel=1e-5)


def test_where_noise_is_rare_a_deep_tree_errs_by_the_sum_of_what_each_counter_does() -> None:
    """Most of it comes through tiny weights of counters far up, whose noise is far less rare.

    The weights of a leaf are those of exact least squares; two counters with noise at once are rarer still.
    """
    point = point_of("central", workers=10, depth=3, epsilons=[Decimal(100)])
    variances = [Fraction(point.variance(one.level)) for one in point.budget]
    expected = 0.0
    for place, weight in enumerate(least_squares_of_the_last_leaf(variances)):
        level = (place + 1).bit_length() - 1
        expected += abs(float(weight)) * mean_absolute_noise(point.budget[level].counts, Fraction(1))
    assert leaf_errors(point)["consistent"] == pytest.approx(8 * expected / 10, rel=1e-4)


def least_squares_of_the_last_leaf(variances: list[Fraction]) -> list[Fraction]:
    """The weights that the last leaf's estimate gives to all counters, in the nodes' order, root first.

    Normal equations over the leaves, solved exactly: A = B' D B, where B says which leaves a node holds.
    """
    depth = len(variances) - 1
    leaves = 2**depth
    holds = [
        [leaf >> (depth - level) == node for leaf in range(leaves)]
        for level in range(depth + 1)
        for node in range(2**level)
    ]
    precision = [1 / variances[level] for level in range(depth + 1) for _ in range(2**level)]
    rows = [
        [
            sum((p for p, held in zip(precision, holds, strict=True) if held[i] and held[j]), Fraction(0))
            for j in range(leaves)
        ]
        + [Fraction(i == leaves - 1)]
        for i in range(leaves)
    ]
    for pivot in range(leaves):
        rows[pivot] = [value / rows[pivot][pivot] for value in rows[pivot]]
        for other in range(leaves):
            if other != pivot:
                factor = rows[other][pivot]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[pivot], strict=True)]
    solved = [row[-1] for row in rows]
    return [
        p * sum((one for one, here in zip(solved, held, strict=True) if here), Fraction(0))
        for p, held in zip(precision, holds, strict=True)
    ]
