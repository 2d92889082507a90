"""What the noise's law gives beforehand, against sums over all of that law."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from jobs.skills.predicted import leaf_errors, mean_absolute_sum
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
    assert mean_absolute_sum(np.array([1.0]), scale, beta) == pytest.approx(expected, rel=2e-4)
    assert mean_absolute_sum(np.array([0.37]), scale, beta) == pytest.approx(0.37 * expected, rel=2e-4)


@pytest.mark.parametrize("beta", [Fraction(1), Fraction(1000)])
@pytest.mark.parametrize("epsilon", ["0.00001", "70"])
def test_the_mean_size_of_noise_is_right_at_the_ends(epsilon: str, beta: Fraction) -> None:
    scale = np.array([1 / (2 * math.sinh(float(epsilon) / 2) ** 2)])
    expected = mean_absolute_noise(Decimal(epsilon), beta)
    assert mean_absolute_sum(np.array([1.0]), scale, beta) == pytest.approx(expected, rel=2e-4)


def test_the_predicted_errors_of_a_tree_of_three_nodes_are_those_of_all_its_noise() -> None:
    point = point_of("central", workers=10, depth=1, epsilons=[2])
    root, leaf = (law_of(one.counts, Fraction(1), 60) for one in point.budget)
    noise = np.arange(-60, 61)
    s, t = (point.variance(level) for level in (1, 0))
    # b = y + (r - y - z) t / (s + 2 t), for a leaf's noise y, its sibling's z and the root's r.
    r, y, z = np.meshgrid(noise, noise, noise, indexing="ij", sparse=True)
    error = np.abs(y + (r - y - z) * t / (s + 2 * t))
    expected = np.einsum("i,j,k,ijk->", root, leaf, leaf, error)
    found = leaf_errors(point)
    assert found["consistent"] == pytest.approx(2 * expected / 10, rel=2e-4)
    assert found["raw"] == pytest.approx(2 * (np.abs(noise) * leaf).sum() / 10, rel=2e-4)
