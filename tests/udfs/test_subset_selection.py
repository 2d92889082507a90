from __future__ import annotations

import math
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.laws import (
    EPSILONS,
    assert_private,
    ideal_truth,
    set_probabilities,
    sets,
    subset_law,
    subset_law_of_two,
)
from tests.udfs.scripted import ScriptedDraws
from udfs.draws import fresh_draws
from udfs.exact import WORD
from udfs.subset_selection import SubsetSelection


def assert_design_private(cells, size, truth, epsilon):
    """Check two answers' columns of subset selection: by symmetry any other two are like them."""
    law, times = subset_law_of_two(cells, size, truth)
    ideal, _ = subset_law_of_two(cells, size, ideal_truth(cells, size, epsilon))
    assert_private(law, ideal, epsilon, times)


def law_of_code(design):
    """Return the law that `randomize` has: run on every first word that matters and on all digits.

    The digits of `cells - 1` places share one word up to 15 cells, and the words below (cells - 1)! give
    each arrangement once.
    """
    orders = math.factorial(design.cells - 1)
    edges = {
        design.truth - 1: Fraction(design.truth, WORD),
        design.truth: Fraction(WORD - design.truth, WORD),
    }
    law = [defaultdict(Fraction) for _ in range(design.cells)]
    for answer, chances in enumerate(law):
        for edge, probability in edges.items():
            draws = ScriptedDraws({0: [edge] * orders, 1: range(orders)})
            reports = design.randomize(np.full(orders, answer, dtype=np.uint8), draws)
            assert reports.shape == (orders, design.cells)
            held, times = np.unique(reports, axis=0, return_counts=True)
            for row, count in zip(held, times.tolist(), strict=True):
                chances[tuple(np.flatnonzero(row).tolist())] += probability * Fraction(count, orders)
    return [[chances[one] for chances in law] for one in sets(design.cells, design.size)]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_law_is_exactly_private_for_2_to_64_cells(epsilon):
    for cells in range(2, 65):
        design = SubsetSelection(cells, epsilon)
        assert_design_private(cells, design.size, design.support_if_true, epsilon)


@given(cells=st.integers(2, 64), epsilon=st.decimals("1e-6", "44", places=17))
def test_the_law_is_exactly_private_at_any_epsilon(cells, epsilon):
    design = SubsetSelection(cells, epsilon)
    assert_design_private(cells, design.size, design.support_if_true, epsilon)


@pytest.mark.parametrize("cells", range(2, 9))
@pytest.mark.parametrize("epsilon", [Decimal("0.1"), Decimal("0.5"), Decimal(1), Decimal(5)])
def test_reports_follow_the_law_set_for_set(cells, epsilon):
    design = SubsetSelection(cells, epsilon)
    law = law_of_code(design)
    assert law == subset_law(cells, design.size, design.support_if_true)
    assert_private(law, subset_law(cells, design.size, ideal_truth(cells, design.size, epsilon)), epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cells", [2, 6, 64])
def test_a_law_of_a_tenth_more_epsilon_is_caught(cells, epsilon):
    size = SubsetSelection(cells, epsilon).size
    with pytest.raises(AssertionError, match="a ratio exceeds"):
        assert_design_private(cells, size, ideal_truth(cells, size, epsilon * Decimal("1.1")), epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cells", [2, 6, 64])
def test_a_law_that_rounds_up_by_one_word_is_caught(cells, epsilon):
    design = SubsetSelection(cells, epsilon)
    with pytest.raises(AssertionError, match="a ratio exceeds"):
        assert_design_private(cells, design.size, Fraction(design.truth + 1, WORD), epsilon)


@pytest.mark.parametrize(("cells", "epsilon"), [(6, "1"), (12, "0.5"), (64, "2")])
def test_a_law_of_floats_is_caught(cells, epsilon):
    size = SubsetSelection(cells, Decimal(epsilon)).size
    truth = Fraction(size / (size + (cells - size) * math.exp(-float(epsilon))))
    with pytest.raises(AssertionError, match=r"a ratio exceeds|far from the ideal"):
        assert_design_private(cells, size, truth, Decimal(epsilon))


def test_sets_of_a_wrong_size_are_caught():
    design = SubsetSelection(6, 1)
    law, times = subset_law_of_two(6, design.size, design.support_if_true)
    wrong, _ = subset_law_of_two(6, design.size + 1, design.support_if_true)
    with pytest.raises(AssertionError, match="does not sum to one"):
        assert_private(wrong, law, Decimal(1), times)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_supports_are_those_of_the_law(epsilon):
    for cells in range(2, 9):
        design = SubsetSelection(cells, epsilon)
        law = subset_law(cells, design.size, design.support_if_true)
        held = list(zip(sets(cells, design.size), law, strict=True))
        assert sum(row[0] for one, row in held if 0 in one) == design.support_if_true
        assert sum(row[0] for one, row in held if 1 in one) == design.support_if_false
        inside, outside = set_probabilities(cells, design.size, design.support_if_true)
        assert design.largest_ratio == inside / outside


@pytest.mark.parametrize("epsilon", [epsilon for epsilon in EPSILONS if epsilon >= Decimal("0.1")])
def test_the_size_has_the_least_variance_of_all_sizes(epsilon):
    def variance(cells, size):
        truth = ideal_truth(cells, size, epsilon)
        other = (truth * (size - 1) + (1 - truth) * size) / (cells - 1)
        return Fraction(size, cells) * Fraction(cells - size, cells) / (truth - other) ** 2

    for cells in range(2, 65):
        chosen = variance(cells, SubsetSelection(cells, epsilon).size)
        assert all(chosen <= variance(cells, size) * (1 + Fraction(1, 10**9)) for size in range(1, cells))


@pytest.mark.parametrize(("cells", "epsilon"), [(2, 1), (5, "0.3"), (12, 1), (40, 1), (200, "0.5")])
def test_every_set_has_its_size(cells, epsilon):
    design = SubsetSelection(cells, Decimal(epsilon))
    answers = np.arange(400).astype(np.uint16) % cells
    reports = design.randomize(answers, fresh_draws(400))
    assert reports.shape == (400, cells)
    assert set(np.count_nonzero(reports, axis=1).tolist()) == {design.size}


def test_the_first_word_below_truth_holds_the_truth_and_no_other_does():
    design = SubsetSelection(6, 1)
    words = [0, design.truth - 1, design.truth, WORD - 1]
    for answer in range(6):
        reports = design.randomize(np.full(4, answer, dtype=np.uint8), ScriptedDraws({0: words, 1: [5] * 4}))
        assert reports[:, answer].tolist() == [True, True, False, False]


def test_no_rows_give_no_reports():
    design = SubsetSelection(5, 1)
    reports = design.randomize(np.array([], dtype=np.uint8), fresh_draws(0))
    assert reports.shape == (0, 5)
    assert design.tally(reports).tolist() == [0] * 5
    assert len(design.to_arrow(reports, tuple("abcde"))) == 0


@given(rows=st.integers(0, 40), cells=st.sampled_from([2, 5, 9, 20]), data=st.data())
def test_the_tally_of_blocks_adds_up_to_the_tally_of_all(rows, cells, data):
    design = SubsetSelection(cells, 1)
    cut = data.draw(st.integers(0, rows))
    reports = design.randomize(np.zeros(rows, dtype=np.uint8), fresh_draws(rows))
    whole = design.tally(reports)
    assert whole.tolist() == reports.sum(axis=0).tolist()
    assert whole.dtype == np.int64
    assert (
        design.zeros() + design.tally(reports[:cut]) + design.tally(reports[cut:])
    ).tolist() == whole.tolist()


@pytest.mark.parametrize("cells", [2, 7, 8, 9, 16, 17])
def test_a_report_is_a_bit_a_cell_from_the_lowest_bit_on(cells):
    design = SubsetSelection(cells, 1)
    reports = design.randomize(np.zeros(50, dtype=np.uint8), fresh_draws(50))
    column = design.to_arrow(reports, tuple(range(cells)))
    assert column.type == design.report_type(()) == pa.binary(-(-cells // 8))
    numbers = [int.from_bytes(value, "little") for value in column.to_pylist()]
    assert numbers == [sum(1 << cell for cell in np.flatnonzero(row).tolist()) for row in reports]


def test_the_label_tells_designs_apart():
    labels = {SubsetSelection(cells, epsilon).label for cells in (6, 7) for epsilon in (1, 2)}
    assert len(labels) == 4
    design = SubsetSelection(6, 1)
    assert design.thresholds() == {"size": design.size, "truth": design.truth}
