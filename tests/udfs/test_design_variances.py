from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from tests.jobs.survey.reported import fresh_rng
from tests.udfs.test_randomizer import DESIGNS
from udfs.laplace import LaplaceMechanism
from udfs.plain import PlainAnswers
from udfs.randomized_response import RandomizedResponse
from udfs.subset_selection import SubsetSelection


@pytest.mark.parametrize("design", [*DESIGNS, LaplaceMechanism(4, 3), PlainAnswers(3)])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_variances_are_the_diagonal_of_the_predicted_covariance_along_any_axis(design, axis):
    rng, seed = fresh_rng()
    shares = rng.dirichlet(np.ones(design.cells), size=5)
    expected = np.array([np.diag(design.predicted_covariance(one)) for one in shares])
    table = np.moveaxis(shares, 1, axis)
    assert np.moveaxis(design.variances(table, axis), axis, 1) == pytest.approx(expected, rel=1e-9), seed


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.label)
def test_pairs_of_cells_have_four_second_moments(design):
    own, other, one_of_two, neither = design.pair_moments
    moments, cells = design.second_moments(), range(design.cells)
    for v, i, j in product(cells, repeat=3):
        expected = (own if v == i else other) if i == j else one_of_two if v in (i, j) else neither
        assert moments[v, i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)


SHAPES = [((2, 3), [[0], [1], [0, 1]]), ((3, 2, 2), [[0], [2], [0, 2], [1, 2], [0, 1, 2]])]


@pytest.mark.parametrize("kind", [RandomizedResponse, LaplaceMechanism, PlainAnswers])
@pytest.mark.parametrize(("shape", "choices"), SHAPES)
def test_squares_of_sums_are_those_of_each_reports_own_sums(kind, shape, choices):
    cells = math.prod(shape)
    design = kind(cells, 2) if kind is not PlainAnswers else kind(cells)
    rng, seed = fresh_rng()
    observed = rng.uniform(size=(design.features, 2))
    own = design.reconstruct(np.eye(design.features)).reshape(*shape, design.features)
    for kept in choices:
        others = tuple(place for place in range(len(shape)) if place not in kept)
        expected = own.sum(axis=others).reshape(-1, design.features) ** 2 @ observed
        found = design.reconstruct_square_sums(observed, shape, kept)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-11), seed
    assert design.reconstruct_squares(observed) == pytest.approx(found, rel=1e-12), seed


def test_of_sums_of_cells_a_set_does_not_tell():
    design = SubsetSelection(6, 1)
    observed = np.ones(7)
    whole = design.reconstruct_square_sums(observed, (2, 3), [0, 1])
    assert whole.tolist() == design.reconstruct_squares(observed).tolist()
    with pytest.raises(NotImplementedError):
        design.reconstruct_square_sums(observed, (2, 3), [0])
