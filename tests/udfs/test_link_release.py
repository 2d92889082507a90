from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.statistics import assert_law
from udfs.link_release import Rebuilding, places_of_ranks, rebuilding, uniform_subset
from udfs.links import Tile
from udfs.streams import Secret


@given(
    st.integers(0, 60),
    st.data(),
    st.fractions(Fraction(1, 1000), Fraction(499, 1000)),
    st.floats(-100, 100),
)
def test_a_rebuilt_graph_has_as_many_links_as_are_estimated_and_there_can_be(pairs, data, lie, links) -> None:
    reported = data.draw(st.integers(0, pairs))
    plan = rebuilding(pairs, reported, lie, links)
    assert plan.links == min(max(round(links), 0), pairs)
    assert 0 <= plan.kept <= min(reported, plan.links)
    assert plan.links - plan.kept <= pairs - reported


def test_reported_links_are_kept_as_often_as_they_are_true() -> None:
    """Of 100 pairs with 40 links and one lie in ten: 36 of 42 reported ones are true."""
    assert rebuilding(100, 42, Fraction(1, 10), 40.0) == Rebuilding(40, 36)
    assert rebuilding(100, 42, Fraction(1, 10), -3.0) == Rebuilding(0, 0)
    assert rebuilding(100, 42, Fraction(1, 10), 1e9) == Rebuilding(100, 42)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5])
def test_every_subset_is_as_likely_as_any_other(size: int) -> None:
    subsets = list(itertools.combinations(range(5), size))

    def sample(secret: Secret, draws: int) -> list[int]:
        found = [tuple(uniform_subset(size, 5, secret.key(str(number))).tolist()) for number in range(draws)]
        return [found.count(one) for one in subsets]

    law = [1 / len(subsets)] * len(subsets)
    if len(subsets) == 1:
        assert sample(Secret.new(), 5) == [5]
        return
    assert_law(sample, law, [law[0] * 1.5, *law[1:]])


@given(st.integers(0, 300), st.data())
def test_a_subset_is_ascending_of_its_size_and_the_same_under_the_same_key(whole, data) -> None:
    size = data.draw(st.integers(0, whole))
    found = uniform_subset(size, whole, bytes(32))
    assert len(found) == size
    assert (np.diff(found) > 0).all()
    assert not size or (found[0] >= 0 and found[-1] < whole)
    assert found.tolist() == uniform_subset(size, whole, bytes(32)).tolist()


@given(st.data())
def test_ranks_are_those_of_pairs_that_reported_a_link_and_of_the_others(data) -> None:
    tile = data.draw(st.sampled_from([Tile(range(0, 7), range(0, 7)), Tile(range(2, 5), range(6, 13))]))
    reported = sorted(data.draw(st.sets(st.integers(0, tile.pairs - 1))))
    others = sorted(set(range(tile.pairs)) - set(reported))
    ones = sorted(data.draw(st.sets(st.integers(0, len(reported) - 1)))) if reported else []
    zeros = sorted(data.draw(st.sets(st.integers(0, len(others) - 1)))) if others else []
    bits = tile.to_bits(np.array(reported, dtype=np.int64))
    found = places_of_ranks(tile, bits, np.array(ones, dtype=np.int64), np.array(zeros, dtype=np.int64))
    expected = sorted([reported[rank] for rank in ones] + [others[rank] for rank in zeros])
    assert tile.places(found).tolist() == expected
