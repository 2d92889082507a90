"""Sums of reports as JSON: what is kept is what was added up, to the bit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from udfs.ciphertexts import CiphertextSum
from udfs.errors import ProtocolError
from udfs.sums import sum_from_json, sum_to_json
from udfs.tables import SparseCounts

INT64 = st.integers(-(2**63), 2**63 - 1)
SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
dense = SHAPES.flatmap(lambda shape: arrays.arrays(np.int64, shape, elements=INT64))
cells = st.lists(st.integers(0, 99), max_size=20).map(
    lambda named: SparseCounts.of(np.array(named, int), 100)
)


def kept(counts):
    """Return a sum that went to a file and came back."""
    return sum_from_json(json.loads(json.dumps(sum_to_json(counts))))


@given(counts=dense)
def test_a_sum_comes_back_with_its_shape_and_type(counts):
    found = kept(counts)
    assert found.dtype == np.int64
    assert found.shape == counts.shape
    assert (found == counts).all()


@given(counts=dense)
def test_a_sum_that_came_back_adds_up_as_before(counts):
    before, found = counts // 4, kept(counts // 4)
    assert ((found + before) == 2 * before).all()
    found += before  # it is nobody else's memory
    assert (found == 2 * before).all()


def test_columns_that_are_not_contiguous_are_kept_in_order():
    counts = np.arange(12).reshape(3, 4).T[::2]
    assert kept(counts).tolist() == counts.tolist()


@given(one=cells, other=cells)
def test_a_sparse_table_comes_back_whole_and_adds_up(one, other):
    together = one + other
    found = kept(together)
    assert isinstance(found, SparseCounts)
    assert found.size == 100
    assert (found.dense() == together.dense()).all()
    assert ((kept(one) + kept(other)).dense() == together.dense()).all()


def test_a_sparse_table_in_several_runs_is_kept_as_one():
    runs = tuple(SparseCounts.of(np.array([cell, 50]), 100).runs[0] for cell in range(4))
    assert len(sum_to_json(SparseCounts(runs, 100))["runs"]) == 2
    assert (kept(SparseCounts(runs, 100)).dense() == SparseCounts(runs, 100).dense()).all()


@pytest.mark.parametrize(
    "found",
    [
        {},
        {"shape": [2]},
        {"int64": "AAAAAAAAAAA="},
        {"shape": [2], "int64": "AAAAAAAAAAA="},
        {"shape": [1], "int64": "AAAA"},
        {"shape": [1], "int64": "!!!!"},
        {"shape": ["one"], "int64": "AAAAAAAAAAA="},
        {"shape": [1], "int64": None},
        {"size": 3},
        {"size": 3, "runs": [{"shape": [1], "int64": "AAAAAAAAAAA="}]},
        {"size": 3, "runs": 5},
        [],
        None,
    ],
)
def test_what_is_no_sum_is_refused(found):
    with pytest.raises((ValueError, KeyError, TypeError)):
        sum_from_json(found)


def test_a_sum_of_ciphertexts_comes_back_and_a_torn_one_does_not():
    total = CiphertextSum("k" * 8, 11 * 17, (2, 34968), 5)
    assert kept(total) == total
    torn = sum_to_json(total)
    torn["ciphertexts"] |= {"contributions": 6}
    with pytest.raises(ProtocolError):
        sum_from_json(torn)
