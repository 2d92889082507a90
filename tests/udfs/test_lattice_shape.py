from __future__ import annotations

import os
from fractions import Fraction

import numpy as np
import pytest

from udfs.errors import SpecError
from udfs.lattice_shape import FAILURE, Base, Shape, bases, choose_shape
from udfs.retrieval import whole_download

BASES = bases()
NINES = BASES[-1]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("size", [1, 5, 6, 7, 8, 23])
def test_bytes_are_read_as_they_were_written(base, size):
    rows = [bytes(size), b"\xff" * size, *(os.urandom(size) for _ in range(20)), os.urandom(size - 1) + b"\0"]
    data = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, size)
    digits = base.write(data)
    assert digits.shape == (len(rows), base.digits(size))
    assert abs(digits).max() <= base.modulus // 2 <= 511
    assert [bytes(row) for row in base.read(digits.astype(np.int64), size)] == rows


@pytest.mark.parametrize("base", BASES)
def test_a_base_is_the_smallest_odd_one_in_which_so_many_digits_hold_so_many_bytes(base):
    values = 256**base.group_bytes
    assert base.modulus % 2 == 1
    assert (base.modulus - 2) ** base.group_digits < values <= base.modulus**base.group_digits


def test_a_larger_base_holds_more_bits_a_digit():
    rates = [Fraction(base.group_bytes, base.group_digits) for base in BASES]
    assert rates == sorted(set(rates))
    assert [base.modulus for base in BASES] == sorted(base.modulus for base in BASES)


def all_shapes(items, item_bytes, gets, workers):
    for base in BASES:
        ways = [(stack, 1) for stack in range(1, items + 1)]
        ways += [(1, spread) for spread in range(1, base.digits(item_bytes) + 1)]
        for way in ways:
            try:
                yield Shape(items, item_bytes, gets, workers, base, *way)
            except SpecError:
                continue


SIZES = [
    (1, 1, 1, 1),
    (1, 90, 1, 10),
    (40, 3, 2, 9),
    (7, 60, 1, 10**6),
    (90, 40, 300, 10**3),
    (99, 1, 9000, 5),
]


@pytest.mark.parametrize("size", SIZES)
def test_the_shape_chosen_is_the_one_of_all_for_which_least_is_sent(size):
    gets = size[2]
    least = min(shape.cost.bytes_per_worker(gets) for shape in all_shapes(*size))
    assert choose_shape(*size).cost.bytes_per_worker(gets) == least


def test_items_lie_below_each_other_where_they_are_short_and_in_several_columns_where_they_are_long():
    shapes = [choose_shape(*size) for size in ((99, 1, 9000, 5), (1, 90, 1, 10))]
    assert [(shape.stack > 3, shape.spread > 3) for shape in shapes] == [(True, False), (False, True)]


@pytest.mark.parametrize(
    "size", [(4096, 50_000, 1, 10**6), (64, 10**6, 4, 10**9), (10**6, 100, 1, 10), (2**20, 2**15, 1, 10**12)]
)
def test_large_libraries_have_a_shape_that_decodes_surely_and_costs_less_than_all_of_it(size):
    shape = choose_shape(*size)
    assert 0 < shape.failure < FAILURE == Fraction(1, 2**40)
    assert shape.rows * shape.columns >= size[0] * shape.item_digits
    assert shape.cost.bytes_per_worker(size[2]) < whole_download(*size[:2]).bytes_per_worker(size[2])


def test_more_workers_and_more_gets_take_a_smaller_base_or_no_larger_one():
    shapes = [choose_shape(8192, 40_000, 1, workers, most_spread=1) for workers in (1, 10**6, 10**15)]
    moduli = [shape.base.modulus for shape in shapes]
    assert moduli == sorted(moduli, reverse=True)


def test_failure_adds_up_over_digits_gets_and_workers():
    one = Shape(100, 60, 1, 1, NINES)
    assert Shape(100, 60, 7, 11, NINES).failure == 77 * one.failure
    assert one.failure == one.item_digits * Shape(100, 6, 1, 1, NINES).failure / 5


def test_an_item_lies_in_no_more_columns_than_it_may():
    assert choose_shape(64, 10**5).spread > 8 == choose_shape(64, 10**5, most_spread=8).spread
    shape = choose_shape(64, 10**5, most_spread=8)
    assert shape.cost.products <= 8 * 64 * (shape.item_digits + 8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 5, 1, 1), "at least one item"),
        ((5, 0, 1, 1), "at least one byte"),
        ((5, 5, 0, 1), "at least one worker and one get"),
        ((5, 5, 1, 0), "at least one worker and one get"),
    ],
)
def test_a_library_or_a_job_of_nothing_is_refused(arguments, message):
    with pytest.raises(SpecError, match=message):
        choose_shape(*arguments)
    with pytest.raises(SpecError, match=message):
        Shape(*arguments, NINES)


def test_a_shape_that_could_fail_or_does_both_is_refused():
    with pytest.raises(SpecError, match="below 2"):
        Shape(10**5, 60, 1, 1, Base(777, 6, 5))
    with pytest.raises(SpecError, match="several columns"):
        Shape(10, 60, 1, 1, NINES, stack=2, spread=2)


def test_a_job_that_no_shape_could_serve_surely_is_refused():
    with pytest.raises(SpecError, match="surely enough"):
        choose_shape(5, 5, 1, 10**300)
