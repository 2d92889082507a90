"""Trees whose truth is known: how far they are from it, and by which law."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from jobs.skills.consistency import consistent
from jobs.skills.predicted import leaf_errors
from jobs.skills.replicate import (
    Errors,
    Growing,
    Point,
    Replicate,
    replications_a_task,
    uniform_skills,
)
from jobs.skills.tree import Shape
from tests.jobs.skills.studied import mean_absolute_noise, point_of
from udfs.noise_shares import two_sided_variance

Z = 6.2
"""A normal number is beyond it, up or down, with probability 6e-10."""


def test_errors_are_those_of_the_tree_that_grew() -> None:
    point = point_of(depth=3, workers=400)
    skills = uniform_skills(point.shape, point.workers, (1, 2))
    growing, seen = Growing(point, 1, 2), []
    while growing.question is not None:
        counters = growing.question.cells.count(skills)
        seen.append((growing.question, counters))
        growing.answer(counters)
    found = growing.errors()
    true = np.concatenate([counters[: question.cells.nodes] for question, counters in seen])
    tree = growing._tree
    assert tree is not None
    noisy = np.array([node.count for node in tree.nodes])
    variances = [point.variance(node.level) for node in tree.nodes]
    better = consistent(tree.parents, noisy, variances)[0]
    leaves = slice(7, 15)
    assert found.raw == pytest.approx(np.abs(noisy - true)[leaves].sum() / 400)
    assert found.consistent == pytest.approx(np.abs(better - true)[leaves].sum() / 400)
    for row, error in enumerate(found.ranks):
        here = [node for node in tree.nodes if node.level == 3 - row]
        ranks = []
        for node in here:
            inside = np.ones(400, dtype=bool)
            for column, (low, high) in zip(skills.T, node.box, strict=True):
                inside &= (low <= column) & (column < high)
            column = point.shape.dimensions.index(str(node.dimension))
            ranks.append(abs((skills[inside, column] < node.split).mean() - 0.5))
        assert error == pytest.approx(np.mean(ranks))


def test_exact_trees_have_no_error_in_their_leaves_and_medians_within_a_bin() -> None:
    found = Replicate((point_of("exact", workers=1000),), 4)((0, range(20)))
    assert {(one.raw, one.consistent) for one in found.values()} == {(0.0, 0.0)}
    assert all(error is not None and error < 0.1 for one in found.values() for error in one.ranks)


def test_nodes_without_workers_have_no_rank_and_branches_that_end_no_medians() -> None:
    shape = Shape(("a", "b"), (0.0, 1.0), 4, 3, 10)
    point = Point("exact", shape, 12, Decimal(1), point_of().budget, Fraction(0))
    growing = Growing(point, 0, 0)
    while growing.question is not None:
        growing.answer(growing.question.cells.count(np.full((12, 2), 0.6)))
    # The twelve go left together at every split, and nobody is in the nodes on the right, which end there.
    assert growing.errors() == Errors(0.0, 0.0, (0.5, 0.5, 0.5))
    empty = Growing(point, 0, 0)
    assert empty.question is not None
    empty.answer(empty.question.cells.count(np.zeros((0, 2))))
    assert empty.errors() == Errors(0.0, 0.0, (None, None, None))


@pytest.mark.parametrize("mechanism", ["shares", "central"])
def test_noise_has_the_mean_size_of_its_law_in_each_counter_and_in_the_sum_of_two(mechanism: str) -> None:
    def far(noise: np.ndarray, beta: Fraction) -> bool:
        law = mean_absolute_noise(epsilon, beta)
        spread = math.sqrt(two_sided_variance(epsilon, beta) - law**2)
        return bool(abs(np.abs(noise).mean() - law) > Z * spread / math.sqrt(len(noise)))

    # |noise| has a spread of about its mean, which a beta a quarter larger moves by 13 %: 40,000 draws tell 6 % apart.
    size, seed = 40_000, int(np.random.SeedSequence().entropy % 2**63)  # type: ignore[operator]
    point = point_of(mechanism)
    epsilon, beta = point.budget[0].counts, point.beta
    noise = Growing(point, seed, 0)._drawn(epsilon, 2 * size)
    one, other = noise[:size], noise[: size - 1 : -1]
    assert not far(one, beta), f"seed {seed}"
    assert not far(one + other, 2 * beta), f"seed {seed}"
    for reused in (one + one, one - one):
        assert far(reused, 2 * beta), f"seed {seed}"
    for factor in (Fraction(5, 4), Fraction(4, 5)):
        wrong = replace(point, beta=beta * factor)
        assert far(Growing(wrong, seed, 0)._drawn(epsilon, size), beta), f"seed {seed}, {factor} of beta"
    exact = replace(point, beta=Fraction(0))
    assert not Growing(exact, seed, 0)._drawn(epsilon, size).any()


@pytest.mark.parametrize("mechanism", ["shares", "central"])
def test_measured_leaf_errors_are_those_that_the_law_gives(mechanism: str) -> None:
    # An error's spread is about its mean, so 300 trees of 32 leaves tell means 20 % apart: 14 standard errors. The
    # spread is estimated from the trees: Student's t with 299 degrees needs a fifth more for the same false alarms.
    seed = int(np.random.SeedSequence().entropy % 2**63)  # type: ignore[operator]
    point = point_of(mechanism, workers=50, depth=5)
    found = Replicate((point,), seed)((0, range(300))).values()
    law = leaf_errors(point)
    for name in ("raw", "consistent"):
        values = np.array([getattr(one, name) for one in found])
        error = values.std(ddof=1) / math.sqrt(len(values))
        expected = law[name]
        assert expected is not None
        assert abs(values.mean() - expected) < Z * 1.2 * error, f"{name}, seed {seed}"
        assert abs(values.mean() - 1.2 * expected) > Z * error, f"{name}, seed {seed}"


def test_large_trees_are_tasks_of_their_own_and_small_ones_share_a_task() -> None:
    assert replications_a_task(point_of(workers=1_000_000, depth=10)) == 1
    assert replications_a_task(point_of(workers=100, depth=2)) > 1000
