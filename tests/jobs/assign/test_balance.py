"""Tasks are placed where they may be, the fullest leaf is near the best by trying all, and the bound is below that."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import csr_array

from jobs.assign import balance as module
from jobs.assign.balance import balance, lower_bound
from tests.jobs.assign.small import heaviest_set, instances, loads_of, optimum

unhurried = settings(deadline=None)


@unhurried
@given(instances())
def test_each_task_is_in_a_leaf_that_it_meets_and_one_that_meets_none_is_in_none(instance):
    meets, sizes = instance
    places, _, _ = balance(meets, sizes)
    for row, place in zip(meets.toarray(), places, strict=True):
        assert row[place] if row.any() else place == -1


@unhurried
@given(instances())
def test_the_bound_is_below_the_optimum_and_this_below_what_is_reached(instance):
    meets, sizes = instance
    places, bound, _ = balance(meets, sizes)
    best, leaves = optimum(meets, sizes), meets.shape[1]
    assert bound <= best <= max(loads_of(places, sizes, leaves))
    # Placing one after another where least lies is within this of the optimum (Azar, Naor and Rom 1995).
    assert max(loads_of(places, sizes, leaves)) <= ((leaves - 1).bit_length() + 1) * best


@unhurried
@given(instances(everywhere=True))
def test_tasks_that_may_go_anywhere_end_within_four_thirds_of_the_optimum(instance):
    meets, sizes = instance
    leaves = meets.shape[1]
    reached = max(loads_of(balance(meets, sizes)[0], sizes, leaves))
    assert reached <= (Fraction(4, 3) - Fraction(1, 3 * leaves)) * optimum(meets, sizes)  # Graham 1969


@unhurried
@given(instances())
def test_nothing_that_one_task_or_an_exchange_of_two_can_do_relieves_the_fullest_leaf(instance):
    meets, sizes = instance
    places, bound, _ = balance(meets, sizes)
    rows, loads = meets.toarray(), loads_of(places, sizes, meets.shape[1])
    top = max(loads)
    if top == bound:
        return
    leaf = loads.index(top)
    for own in np.flatnonzero(places == leaf):
        for other in np.flatnonzero(rows[own]):
            assert other == leaf or loads[other] + sizes[own] >= top
            for swapped in np.flatnonzero((places == other) & rows[:, leaf]):
                gain = sizes[own] - sizes[swapped]
                assert other == leaf or gain <= 0 or loads[other] + gain >= top


@unhurried
@given(instances())
def test_the_bound_is_the_linear_programmes_optimum_to_the_last_byte(instance):
    meets, sizes = instance
    placed = meets.toarray().any(axis=1)
    found, by = lower_bound(meets, sizes, np.zeros(meets.shape[1], dtype=np.int64))
    assert found == max(heaviest_set(meets, sizes), sizes[placed].max(initial=0))
    assert (by == "largest task") == (found == sizes[placed].max(initial=0))


@unhurried
@given(instances())
def test_without_the_linear_programme_the_bound_is_one_all_the_same(instance):
    meets, sizes = instance
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_PAIRS", -1)
        _, bound, by = balance(meets, sizes)
    assert by in ("largest task", "heaviest leaves")
    best = max(heaviest_set(meets, sizes), sizes[meets.toarray().any(axis=1)].max(initial=0))
    assert bound <= best
    # The sets of one leaf and of all are never missed.
    rows = meets.toarray()
    assert bound >= -(-sizes[rows.any(axis=1)].sum() // meets.shape[1])
    assert bound >= max(
        sizes[rows[:, leaf] & (rows.sum(axis=1) == 1)].sum() for leaf in range(meets.shape[1])
    )


@unhurried
@given(instances())
def test_weighing_few_choices_at_once_is_slower_and_not_wrong(instance):
    meets, sizes = instance
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MOST_CHOICES", 1)
        places, bound, _ = balance(meets, sizes)
    assert bound <= optimum(meets, sizes) <= max(loads_of(places, sizes, meets.shape[1]))


@unhurried
@given(instances())
def test_the_same_tasks_are_placed_the_same_again(instance):
    first, again = balance(*instance), balance(*instance)
    assert first[0].tolist() == again[0].tolist()
    assert first[1:] == again[1:]


def test_an_exchange_finds_what_no_single_move_does():
    """Largest first gives 5 + 3 + 3 and 5 + 4; no move helps, but 5 for 4 does: 10 and 10 are the best."""
    meets = csr_array(np.ones((5, 2), dtype=bool))
    sizes = np.array([5, 5, 4, 3, 3])
    places, bound, _ = balance(meets, sizes)
    assert sorted(loads_of(places, sizes, 2)) == [10, 10]
    assert bound == 10


def test_narrow_tasks_are_not_crowded_out_by_large_ones_that_could_go_elsewhere():
    meets = csr_array(np.array([[True, True, True]] * 2 + [[True, False, False]] * 3))
    sizes = np.array([9, 9, 3, 3, 3])
    places, bound, by = balance(meets, sizes)
    assert sorted(loads_of(places, sizes, 3)) == [9, 9, 9]
    assert (bound, by) == (9, "largest task")


@pytest.mark.parametrize("few", list(combinations(range(4), 2)), ids=str)
def test_the_bound_finds_leaves_that_are_too_few_for_what_fits_nowhere_else(few):
    """Six tasks of 4 meet two leaves only: one of these holds 12, though all four leaves could do with 7."""
    meets = np.ones((10, 4), dtype=bool)
    meets[:6] = np.isin(range(4), few)
    sizes = np.array([4] * 6 + [1] * 4)
    places, bound, by = balance(csr_array(meets), sizes)
    assert (bound, by) == (12, "linear programme")
    assert max(loads_of(places, sizes, 4)) == 12
    blind = np.zeros(4, dtype=np.int64)
    assert lower_bound(csr_array(meets), sizes, blind) == (12, "linear programme")


def test_neighbours_make_room_for_a_leaf_that_can_give_nothing_away_at_once():
    """The first leaf's 3 goes to the second, once that has given its 4 to the third: nothing else is better."""
    meets = csr_array(np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1]], dtype=bool))
    sizes, places = np.array([6, 3, 3, 4, 1]), np.array([0, 0, 1, 1, 2])
    loads = np.array([9, 7, 1])
    module._level(meets, sizes, places, loads, 6)
    assert loads.tolist() == loads_of(places, sizes, 3) == [6, 6, 5]


def test_a_programme_that_is_not_solved_leaves_the_other_bound(monkeypatch):
    meets = csr_array(np.array([[True, True, False]] * 6 + [[True] * 3] * 4))
    sizes = np.array([4] * 6 + [1] * 4)
    monkeypatch.setattr(module, "_prices", lambda *_: None)
    assert lower_bound(meets, sizes, np.array([12, 12, 4])) == (12, "heaviest leaves")


def test_bytes_beyond_32_bits_add_up():
    meets = csr_array(np.ones((4, 2), dtype=bool))
    sizes = np.full(4, 2**40)
    places, bound, _ = balance(meets, sizes)
    assert (bound, loads_of(places, sizes, 2)) == (2**41, [2**41, 2**41])
