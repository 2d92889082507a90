from __future__ import annotations

import itertools
import math
import tracemalloc
from functools import reduce

import numpy as np
import pytest

from jobs.survey.samples import Axis
from jobs.survey.set_moments import second_moments
from tests.jobs.survey.reported import fresh_rng
from udfs.design import Design
from udfs.laplace import LaplaceMechanism
from udfs.optimized_unary import OptimizedUnaryEncoding
from udfs.plain import PlainAnswers
from udfs.randomized_response import RandomizedResponse
from udfs.subset_selection import SubsetSelection

DESIGNS: list[Design] = [
    SubsetSelection(4, 1),  # type: ignore[arg-type]
    OptimizedUnaryEncoding(3, 2),  # type: ignore[arg-type]
    RandomizedResponse(3, 1),  # type: ignore[arg-type]
    LaplaceMechanism(3, 4),  # type: ignore[arg-type]
    PlainAnswers(2),
    OptimizedUnaryEncoding(2, 2),  # type: ignore[arg-type]
]
MIXES = [mix for count in (1, 2) for mix in itertools.permutations(range(len(DESIGNS)), count)]


@pytest.mark.parametrize("mix", [*MIXES, (0, 2, 5), (3, 1, 0)], ids=str)
def test_moments_of_expected_features_are_those_of_the_answers(mix: tuple[int, ...]) -> None:
    """Where features are as expected at some shares, each answer's moments are mixed by these."""
    designs = [DESIGNS[place] for place in mix]
    shape = [design.cells for design in designs]
    rng, seed = fresh_rng()
    shares = rng.dirichlet(np.ones(math.prod(shape))).reshape(shape)
    observed = shares
    for number, design in enumerate(designs):
        observed = design.observe(observed, number)
    axes = [Axis((f"x{number}",), (design.cells,), design) for number, design in enumerate(designs)]
    # every answer's second moments are the Kronecker product of its attributes'
    by_answer = reduce(
        lambda a, b: np.einsum("vij,wkl->vwikjl", a, b).reshape(
            len(a) * len(b), a.shape[1] * b.shape[1], a.shape[2] * b.shape[2]
        ),
        [design.second_moments() for design in designs],
    )
    expected = np.tensordot(shares.ravel(), by_answer, axes=1)
    assert second_moments(observed, axes) == pytest.approx(expected, rel=1e-8, abs=1e-10), seed


def test_moments_of_a_large_set_take_no_more_than_the_table_of_its_pairs() -> None:
    """Those of every answer by themselves would take half a gigabyte."""
    design = SubsetSelection(400, 2)  # type: ignore[arg-type]
    observed = design.observe(np.full(400, 1 / 400))
    tracemalloc.start()
    moments = second_moments(observed, [Axis(("a",), (400,), design)])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert moments.shape == (400, 400)
    assert peak < 10 * moments.nbytes
