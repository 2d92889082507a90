"""Tasks meet the leaves that they share a point with, and items hold those that they should."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from jobs.assign import packing as module
from jobs.assign.packing import meeting, pack_every, pack_once
from jobs.skills.tree import Shape, grow
from tests.jobs.assign.small import instances, optimum
from udfs.items import HEADER_BYTES, TASK_BYTES, pack_item, pad, unpack_item

unhurried = settings(deadline=None)

QUARTERS = st.integers(0, 4).map(lambda number: number / 4)
INTERVALS = st.tuples(QUARTERS, QUARTERS).map(lambda ends: tuple(sorted(ends)))
BOXES = st.lists(st.tuples(INTERVALS, INTERVALS), min_size=1, max_size=6)


def ends(boxes):
    """Return boxes as float64, shape (boxes, 2, 2)."""
    return np.array(boxes, dtype=np.float64).reshape(-1, 2, 2)


def share_a_point(task, leaf):
    """Tell whether they do: one of the task's ends, the leaf's ends and the middles between any two lies in both."""
    for (low, high), (first, end) in zip(task, leaf, strict=True):
        marks = [Fraction(one) for one in (low, high, first, end)]
        points = {(one + other) / 2 for one, other in product(marks, marks)}
        if not any(low <= x <= high and first <= x and (x < end or x == end == 1) for x in points):
            return False
    return True


@unhurried
@given(BOXES, BOXES)
def test_a_task_meets_a_leaf_if_and_only_if_they_share_a_point(tasks, leaves):
    low, high = ends(tasks).transpose(2, 0, 1)
    found = meeting(low, high, ends(leaves), 1.0)
    assert found.toarray().tolist() == [[share_a_point(task, leaf) for leaf in leaves] for task in tasks]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS", 2)
        cut = meeting(low, high, ends(leaves), 1.0)
    assert (cut != found).nnz == 0


def test_without_tasks_none_meet_a_leaf():
    assert meeting(np.empty((0, 2)), np.empty((0, 2)), ends([((0, 1), (0, 1))]), 1.0).shape == (0, 1)


@unhurried
@given(st.lists(st.tuples(QUARTERS, QUARTERS), min_size=1, max_size=12), BOXES, st.integers(0, 4))
def test_a_worker_in_a_tasks_box_is_in_a_leaf_that_it_meets(workers, tasks, depth):
    people = np.asfortranarray(workers)
    growing = grow(Shape(("a", "b"), (0.0, 1.0), 4, depth))
    question = next(growing)
    while True:
        try:
            question = growing.send(question.cells.count(people))
        except StopIteration as finished:
            leaves = finished.value.leaves
            break
    low, high = ends(tasks).transpose(2, 0, 1)
    meets = meeting(low, high, ends([leaf.box for leaf in leaves]), 1.0).toarray()
    # The last level has no histogram: a row's cell is its leaf.
    places = question.cells.cells(people)[:, 0]
    for person, place in zip(people, places, strict=True):
        could_do = ((low <= person) & (person <= high)).all(axis=1)
        assert meets[could_do, place].all()


def tasks_of(sizes):
    """Return tasks that take so many bytes in an item, with what they take besides their payloads in front."""
    return [("", bytes(size)) for size in sizes.tolist()]


def check_items(packing, payloads):
    """Check that items made of the packing are as long as it says, and hold its tasks."""
    tasks = tasks_of(payloads)
    item_bytes, items = pad([pack_item([tasks[place] for place in leaf]) for leaf in packing.leaf_tasks])
    assert packing.largest == item_bytes
    for item, leaf in zip(items, packing.leaf_tasks, strict=True):
        assert unpack_item(item, "a leaf") == [tasks[place] for place in leaf]


@unhurried
@given(instances(), st.integers(1, 3))
def test_every_item_is_complete_and_precision_is_what_is_relevant_of_all_that_is_downloaded(instance, gets):
    meets, payloads = instance
    packing = pack_every(meets, payloads + TASK_BYTES, payloads, gets)
    columns = meets.toarray().T
    assert packing.leaf_tasks == tuple(tuple(np.flatnonzero(column).tolist()) for column in columns)
    check_items(packing, payloads)
    assert (packing.lower_bound, packing.bound) == (packing.largest, "no choice")
    assert packing.fetched == tuple((leaf,) * gets for leaf in range(len(columns)))
    for column, precision in zip(columns, packing.precision, strict=True):
        assert precision == int(payloads[column].sum()) / (gets * packing.largest)
    assert set(packing.needed) == set(packing.coverage) == {1}


@unhurried
@given(instances())
def test_each_task_is_packed_once_in_a_leaf_that_it_meets(instance):
    meets, payloads = instance
    packing = pack_once(meets, payloads + TASK_BYTES, payloads)
    rows = meets.toarray()
    packed = sorted(task for leaf in packing.leaf_tasks for task in leaf)
    assert packed == np.flatnonzero(rows.any(axis=1)).tolist()
    for place, leaf in enumerate(packing.leaf_tasks):
        assert rows[list(leaf), place].all()
        assert list(leaf) == sorted(leaf)
    check_items(packing, payloads)
    best = HEADER_BYTES + optimum(meets, payloads + TASK_BYTES)
    assert packing.lower_bound <= best <= packing.largest


@unhurried
@given(instances(), st.integers(1, 5))
def test_a_worker_gets_their_own_item_first_and_then_those_with_most_for_them(instance, gets):
    meets, payloads = instance
    packing = pack_once(meets, payloads + TASK_BYTES, payloads, gets)
    for leaf, fits in enumerate(meets.toarray().T):
        worth = {
            item: sum(int(payloads[task]) for task in tasks if fits[task])
            for item, tasks in enumerate(packing.leaf_tasks)
            if item == leaf or fits[list(tasks)].any()
        }
        own, *others = packing.fetched[leaf]
        assert own == leaf
        assert len(others) == gets - 1
        ranked = sorted((item for item in worth if item != leaf), key=lambda item: (-worth[item], item))
        assert others == (ranked + [leaf] * gets)[: gets - 1]
        assert packing.needed[leaf] == len(worth)
        got, useful = sum(worth[item] for item in {own, *others}), int(payloads[fits].sum())
        assert packing.precision[leaf] == got / (gets * packing.largest)
        assert packing.coverage[leaf] == (got / useful if useful else 1)
        assert (packing.coverage[leaf] == 1) == (got == useful)


@unhurried
@given(instances())
def test_so_many_gets_as_are_needed_bring_everything(instance):
    meets, payloads = instance
    sizes = payloads + TASK_BYTES
    gets = max(pack_once(meets, sizes, payloads).needed)
    assert set(pack_once(meets, sizes, payloads, gets).coverage) == {1}


def test_packing_once_makes_items_no_larger_than_packing_everywhere():
    meets = csr_array(np.ones((8, 4), dtype=bool))
    payloads = np.full(8, 100)
    sizes = payloads + TASK_BYTES
    once, every = pack_once(meets, sizes, payloads), pack_every(meets, sizes, payloads)
    assert (once.largest, every.largest) == (HEADER_BYTES + 2 * sizes[0], HEADER_BYTES + 8 * sizes[0])
    assert once.lower_bound == once.largest
    assert (once.needed, once.coverage) == ((4,) * 4, (0.25,) * 4)


def test_a_leaf_that_meets_nothing_has_an_item_without_tasks():
    meets = csr_array(np.array([[True, False]]))
    for packing in (pack(meets, np.array([30]), np.array([20])) for pack in (pack_every, pack_once)):
        assert packing.leaf_tasks == ((0,), ())
        assert packing.precision == (20 / (HEADER_BYTES + 30), 0)
        assert packing.coverage == (1, 1)


def test_without_tasks_items_are_headers():
    meets = csr_array((0, 3), dtype=bool)
    none = np.empty(0, dtype=np.int64)
    for packing in (pack(meets, none, none) for pack in (pack_every, pack_once)):
        assert (packing.leaf_tasks, packing.largest, packing.lower_bound) == (
            ((),) * 3,
            HEADER_BYTES,
            HEADER_BYTES,
        )
