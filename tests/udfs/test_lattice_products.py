from __future__ import annotations

import numpy as np
import pytest

from udfs.lattice_retrieval import wrapped_product


def test_products_are_exact_to_the_last_bit_at_their_largest():
    assert 511 * 2**31 * 8192 < 2**53
    inner, words = 3 * 8192, (2**31, 2**31 - 1, 2**31 + 1, 2**32 - 1)
    small = np.full((3, inner), 511, dtype=np.int16)
    small[:, ::8192] -= 1  # odd sums over each tile: a float64 beyond 2**53 cannot hold one
    small[1] *= -1
    numbers = np.tile(np.array(words, dtype=np.uint32), (inner, 1))
    exact = [[sign * (511 * inner - 3) * word % 2**32 for word in words] for sign in (1, -1, 1)]
    assert wrapped_product(small, numbers).tolist() == exact


@pytest.mark.parametrize(
    "sizes",
    [(1, 1, 1), (65, 9000, 3), (130, 8192, 1), (3, 10, 1030), (257, 2050, 32), (0, 5, 2), (2, 3, 0)],
)
def test_products_are_those_of_integers_modulo_2_to_the_32(sizes):
    rows, inner, wide = sizes
    rng = np.random.default_rng()
    small = rng.integers(-511, 512, (rows, inner)).astype(np.int16)
    numbers = rng.integers(0, 2**32, (inner, wide), dtype=np.uint32)
    expected = small.astype(np.uint32) @ numbers
    assert np.array_equal(wrapped_product(small, numbers), expected)
    assert np.array_equal(wrapped_product(small, np.asfortranarray(numbers)), expected)


def test_a_sum_beyond_53_bits_would_not_be_exact():
    small, numbers = np.full((1, 9000), 16_383, np.int16), np.full((9000, 1), 2**31 - 1, np.uint32)
    assert small.astype(np.float64) @ numbers.astype(np.float64) != 9000 * 16_383 * (2**31 - 1)
