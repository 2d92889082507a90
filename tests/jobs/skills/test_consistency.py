import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.skills.consistency import consistent

unhurried = settings(deadline=None)


@st.composite
def forests(draw):
    """Parents of up to 25 nodes, each before its children: any shape, single children and several roots included."""
    size = draw(st.integers(1, 25))
    return tuple(draw(st.none() | st.integers(0, place - 1)) if place else None for place in range(size))


def leaves_below(parents):
    """Which leaves, as columns, make up each node, as rows: 0 or 1."""
    inner = set(parents)
    leaves = [place for place in range(len(parents)) if place not in inner]
    design = np.zeros((len(parents), len(leaves)))
    for column, leaf in enumerate(leaves):
        place = leaf
        while place is not None:
            design[place, column] = 1
            place = parents[place]
    return design


def by_least_squares(parents, counts, variances):
    design, scale = leaves_below(parents), 1 / np.sqrt(variances)
    weighted = design * scale[:, None]
    estimates = design @ np.linalg.lstsq(weighted, counts * scale, rcond=None)[0]
    covariance = design @ np.linalg.pinv(weighted.T @ weighted, hermitian=True) @ design.T
    return estimates, np.diag(covariance)


@unhurried
@given(forests(), st.integers(0, 2**32))
def test_it_is_weighted_least_squares_with_its_variances(parents, seed):
    generator = np.random.default_rng(seed)
    counts = generator.integers(-50, 1000, len(parents))
    variances = 10 ** generator.uniform(-1, 2, len(parents))
    estimates, spreads = consistent(parents, counts, variances)
    expected, expected_spreads = by_least_squares(parents, counts, variances)
    np.testing.assert_allclose(estimates, expected, rtol=1e-9, atol=1e-9 * 1000)
    np.testing.assert_allclose(spreads, expected_spreads, rtol=1e-9)


@unhurried
@given(forests(), st.integers(0, 2**32))
def test_children_add_up_to_their_parents(parents, seed):
    generator = np.random.default_rng(seed)
    counts = generator.integers(-50, 10**6, len(parents))
    estimates, spreads = consistent(parents, counts, generator.uniform(0.1, 100, len(parents)))
    for place in {parent for parent in parents if parent is not None}:
        below = [child for child, parent in enumerate(parents) if parent == place]
        assert estimates[below].sum() == pytest.approx(estimates[place], abs=1e-7)
        assert spreads[place] <= spreads[below].sum() * (1 + 1e-12) * len(below)


@unhurried
@given(forests(), st.integers(0, 2**32))
def test_counts_that_agree_stay_as_they_are_and_every_count_is_bettered(parents, seed):
    generator = np.random.default_rng(seed)
    design = leaves_below(parents)
    counts = design @ generator.integers(0, 1000, design.shape[1])
    variances = generator.uniform(0.1, 100, len(parents))
    estimates, spreads = consistent(parents, counts, variances)
    np.testing.assert_allclose(estimates, counts, rtol=1e-12, atol=1e-8)
    assert (spreads <= variances * (1 + 1e-12)).all()


def test_a_node_alone_keeps_its_count():
    estimates, spreads = consistent([None], [7], [2.5])
    assert (estimates.tolist(), spreads.tolist()) == ([7.0], [2.5])


def test_what_a_full_tree_of_depth_ten_gains_with_the_papers_budget():
    # In units of 1/(counts' epsilon)**2: noise of variance 1/share**2 at each level.
    depth = 10
    shares = 2 ** (np.arange(depth + 1) / 3) * (2 ** (1 / 3) - 1) / (2 ** ((depth + 1) / 3) - 1)
    parents = [None, *((node - 1) // 2 for node in range(1, 2 ** (depth + 1) - 1))]
    levels = np.repeat(np.arange(depth + 1), 2 ** np.arange(depth + 1))
    raw = 1 / shares[levels] ** 2
    _, spreads = consistent(parents, np.zeros(len(parents)), raw)
    assert (round(raw[-1]), round(spreads[-1])) == (20, 13)
    assert (round(raw[0]), round(spreads[0])) == (2026, 454)
    assert np.ptp(spreads[levels == depth]) < 1e-9


def test_the_leaves_of_a_tree_of_depth_twelve_add_up_to_its_root():
    parents = [None, *((node - 1) // 2 for node in range(1, 2**13 - 1))]
    estimates, _ = consistent(parents, np.ones(len(parents)), np.ones(len(parents)))
    assert estimates[2**12 - 1 :].sum() == pytest.approx(estimates[0])
