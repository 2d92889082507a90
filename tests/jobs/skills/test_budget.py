from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.skills.budget import LevelBudget, split_budget
from udfs.errors import SpecError

unhurried = settings(deadline=None)

EPSILONS = st.decimals("1e-30", "1e6", allow_nan=False).filter(bool)
SHARES = st.decimals("0.001", "0.999", places=6)
ALLOCATIONS = st.sampled_from(["quadtree", "tree"])


def spent(levels: tuple[LevelBudget, ...]) -> Fraction:
    return sum(Fraction(one.counts) + Fraction(one.median or 0) for one in levels)


@unhurried
@given(EPSILONS, st.integers(0, 20), SHARES, ALLOCATIONS, st.integers(1, 12))
def test_the_levels_parts_add_up_to_epsilon_exactly(epsilon, depth, share, allocation, dimensions):
    levels = split_budget(epsilon, depth, share, allocation, dimensions)
    assert spent(levels) == Fraction(epsilon)
    assert [one.level for one in levels] == list(range(depth, -1, -1))
    assert all(one.counts > 0 for one in levels)
    assert all(one.median > 0 for one in levels[:-1])
    assert levels[-1].median is None


@unhurried
@given(EPSILONS, st.integers(0, 20), SHARES, st.integers(1, 12))
def test_no_level_but_the_leaves_gets_more_than_its_part(epsilon, depth, share, dimensions):
    exponents = {"quadtree": Fraction(1, 3), "tree": Fraction(dimensions - 1, 3 * dimensions)}
    for allocation, exponent in exponents.items():
        weights = [2.0 ** float(exponent * step) for step in range(depth + 1)]
        for place, one in enumerate(split_budget(epsilon, depth, share, allocation, dimensions)[:-1]):
            ideal = float(epsilon * share) * weights[place] / sum(weights)
            assert ideal * (1 - 2e-11) < float(one.counts) < ideal * (1 + 1e-13)
            assert 0 <= 1 - one.median * depth / (epsilon * (1 - share)) < Decimal("1.1e-11")


def test_the_papers_rule_in_closed_form():
    depth, epsilon = 10, Decimal("2.5")
    for one in split_budget(epsilon, depth, Decimal("0.7"), "quadtree", 10):
        growth = 2 ** ((depth - one.level) / 3)
        expected = growth * 1.75 * (2 ** (1 / 3) - 1) / (2 ** ((depth + 1) / 3) - 1)
        assert float(one.counts) == pytest.approx(expected, rel=1e-10)
        assert one.median == (Decimal("0.075") if one.level else None)


def test_a_binary_tree_of_many_dimensions_is_near_a_quadtree_and_one_of_a_single_dimension_is_even():
    line = split_budget(Decimal(8), 6, Decimal("0.7"), "tree", 1)
    assert {one.counts for one in line} == {Decimal("0.8")}
    for dimensions in (2, 10):
        levels = split_budget(Decimal(8), 6, Decimal("0.7"), "tree", dimensions)
        growth = float(levels[1].counts / levels[0].counts)
        assert growth == pytest.approx(2 ** ((1 - 1 / dimensions) / 3), rel=1e-10)


def test_in_a_tree_without_splits_the_count_gets_everything():
    epsilon = Decimal("0.12345678901234567890123456789")
    assert split_budget(epsilon, 0, Decimal("0.7"), "quadtree", 3) == (LevelBudget(0, epsilon, None),)


@pytest.mark.parametrize("share", ["0", "1", "-0.1", "1.5"])
def test_a_share_that_leaves_one_kind_nothing_is_refused(share):
    with pytest.raises(SpecError, match=r"skills\.counts_share"):
        split_budget(Decimal(1), 3, Decimal(share), "quadtree", 3)
