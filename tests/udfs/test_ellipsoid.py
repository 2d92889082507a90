from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.special import gammaln

from tests.udfs.balls import weak_orders
from udfs.contests import Duels, FirstChoice
from udfs.ellipsoid import Ellipsoid
from udfs.errors import SpecError


def squared_norms(ellipsoid, places):
    stretched = ellipsoid.stretch(ellipsoid.duels.encode(places))
    return (stretched**2).sum(axis=1)


@given(data=st.data(), candidates=st.integers(2, 9), rows=st.integers(1, 5))
def test_undoing_gives_any_answers_back(data, candidates, rows):
    ellipsoid = Ellipsoid(candidates)
    shape = (rows, ellipsoid.duels.dimension)
    flows = data.draw(arrays.arrays(np.int64, shape, elements=st.integers(-1000, 1000)))
    stretched = ellipsoid.stretch(flows)
    np.testing.assert_allclose(ellipsoid.undo(stretched.T.astype(np.float64)).T, flows, atol=1e-9)


@pytest.mark.parametrize("candidates", [2, 3, 5, 8])
def test_gradients_and_curls_have_their_weights(candidates):
    ellipsoid, pairs = Ellipsoid(candidates), list(Duels.of_all(candidates).pairs)
    scores = np.random.default_rng().integers(-9, 10, candidates)
    gradient = np.array([[scores[one] - scores[other] for one, other in pairs]])
    np.testing.assert_array_equal(ellipsoid.stretch(gradient), candidates * 256 * gradient)
    if candidates > 2:  # a cycle of three has no gradient
        cycle = np.array([[{(0, 1): 1, (1, 2): 1, (0, 2): -1}.get(pair, 0) for pair in pairs]])
        np.testing.assert_array_equal(ellipsoid.stretch(cycle), candidates * ellipsoid.curl * cycle)


@pytest.mark.parametrize("candidates", [2, 3, 4, 5, 6])
def test_every_complete_ranking_is_on_the_sphere(candidates):
    ellipsoid = Ellipsoid(candidates)
    rankings = np.array(list(permutations(range(candidates))), dtype=np.uint8)
    assert set(squared_norms(ellipsoid, rankings).tolist()) == {ellipsoid.squared_norm}


@pytest.mark.parametrize("candidates", [2, 3, 4, 5])
def test_no_ballot_is_outside_of_the_ball(candidates):
    ellipsoid = Ellipsoid(candidates)
    norms = squared_norms(ellipsoid, weak_orders(candidates))
    assert norms.max() == ellipsoid.squared_norm
    assert norms.min() == 0


@pytest.mark.parametrize("candidates", [2, 3, 7])
def test_the_variance_is_that_of_the_inverse_map(candidates):
    ellipsoid = Ellipsoid(candidates)
    inverse = ellipsoid.undo(np.eye(ellipsoid.duels.dimension))
    np.testing.assert_allclose((inverse**2).sum(axis=1), ellipsoid.variance, rtol=1e-12)


@pytest.mark.parametrize("candidates", [3, 6, 10, 40, 255])
def test_no_other_weights_have_less_variance(candidates):
    """Gradients are 2 / m of each pair, and curls the rest; norms by hand from the two parts of a ranking."""
    m, curl = candidates, Ellipsoid(candidates).curl / 256

    def variance(weight):
        norm = (m * m - 1) / 3 + weight**2 * (m - 1) * (m - 2) / 6
        return norm * (2 / m + (1 - 2 / m) / weight**2)

    ellipsoid = Ellipsoid(candidates)
    assert math.isclose(variance(curl), ellipsoid.squared_norm * ellipsoid.variance, rel_tol=1e-12)
    best = min(map(variance, np.geomspace(0.1, 10, 100_001)))
    assert variance(curl) <= best * (1 + 2e-5)
    assert min(variance(0.9 * curl), variance(1.1 * curl)) > best * (1 + 2e-5)


@pytest.mark.parametrize(
    ("candidates", "plain", "stretched"), [(6, 105.7, 84.3), (10, 326, 233), (20, 1393, 856)]
)
def test_the_known_variances_come_out(candidates, plain, stretched):
    """At epsilon 1, of spherical directions, whose B**2 / d is below the Gaussian ones' kappa**2 r**2 pi / 2."""
    kappa, pairs = (math.e + 1) / (math.e - 1), Duels.of_all(candidates).dimension
    ratio = math.exp(2 * gammaln((pairs + 1) / 2) - 2 * gammaln(pairs / 2))
    unit, ellipsoid = kappa**2 * math.pi * ratio / pairs, Ellipsoid(candidates)
    digits = 1 if candidates == 6 else 0
    assert round(pairs * unit - 1, digits) == plain
    assert round(ellipsoid.squared_norm * ellipsoid.variance * unit - 1, digits) == stretched


def test_it_is_for_the_duels_of_all_pairs():
    assert Ellipsoid.of(Duels.of_all(7)) == Ellipsoid(7)
    for other in (Duels(((0, 1), (0, 2))), Duels(((0, 2), (0, 1), (1, 2))), Duels(()), FirstChoice((0, 1))):
        with pytest.raises(SpecError, match="is for the duels of all pairs"):
            Ellipsoid.of(other)
