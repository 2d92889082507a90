from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.laws import EPSILONS, assert_private, every_set, exp_below, unary_law
from tests.udfs.scripted import ScriptedDraws
from udfs.draws import fresh_draws
from udfs.errors import SpecError
from udfs.exact import WORD
from udfs.optimized_unary import OptimizedUnaryEncoding

HALF = Fraction(1, 2)


def ideal_lie(epsilon):
    """Return the chance that a bit lies, before it is rounded to a word."""
    return 1 / (1 + exp_below(epsilon))


def assert_design_private(lie, epsilon, cells=2, truth=HALF):
    """Check the bits of two answers' cells: all others have the same law whichever of the two is true."""
    law, ideal = unary_law(cells, truth, lie), unary_law(cells, HALF, ideal_lie(epsilon))
    assert_private(law, ideal, epsilon)


def law_of_code(design):
    """Return the law that `randomize` has: run on every word that matters, of every cell."""
    edges = sorted({0, design.lie, WORD // 2})
    weights = [after - before for before, after in zip(edges, [*edges[1:], WORD], strict=True)]
    rows = list(product(range(len(edges)), repeat=design.cells))
    draws = {cell: [edges[row[cell]] for row in rows] for cell in range(design.cells)}
    sets = every_set(design.cells)
    law = [[Fraction(0)] * design.cells for _ in sets]
    for answer in range(design.cells):
        reports = design.randomize(np.full(len(rows), answer, dtype=np.uint8), ScriptedDraws(draws))
        for row, report in zip(rows, reports.astype(int).tolist(), strict=True):
            chance = Fraction(math.prod(weights[edge] for edge in row), WORD**design.cells)
            law[sets.index(tuple(report))][answer] += chance
    return law


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_law_is_exactly_private_over_all_sets_of_2_to_6_cells(epsilon):
    for cells in range(2, 7):
        design = OptimizedUnaryEncoding(cells, epsilon)
        assert_design_private(design.support_if_false, epsilon, cells, design.support_if_true)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_bits_that_tell_two_answers_apart_are_exactly_private_for_2_to_64_cells(epsilon):
    for cells in range(2, 65):
        design = OptimizedUnaryEncoding(cells, epsilon)
        assert_design_private(design.support_if_false, epsilon, truth=design.support_if_true)
        assert design.largest_ratio == (1 - design.support_if_false) / design.support_if_false


@given(epsilon=st.decimals("1e-6", "44", places=17))
def test_the_law_is_exactly_private_at_any_epsilon(epsilon):
    assert_design_private(OptimizedUnaryEncoding(5, epsilon).support_if_false, epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_law_of_a_tenth_more_epsilon_is_caught(epsilon):
    mutant = OptimizedUnaryEncoding(4, epsilon * Decimal("1.1")).support_if_false
    with pytest.raises(AssertionError, match="a ratio exceeds"):
        assert_design_private(mutant, epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_law_that_rounds_down_by_one_word_is_caught(epsilon):
    mutant = Fraction(OptimizedUnaryEncoding(4, epsilon).lie - 1, WORD)
    with pytest.raises(AssertionError, match=r"a ratio exceeds|betrays"):
        assert_design_private(mutant, epsilon)


@pytest.mark.parametrize("truth", [Fraction(3, 5), HALF + Fraction(1, WORD)])
def test_a_true_bit_that_is_no_fair_coin_is_caught(truth):
    with pytest.raises(AssertionError, match="a ratio exceeds"):
        assert_design_private(OptimizedUnaryEncoding(4, 1).support_if_false, Decimal(1), truth=truth)


@pytest.mark.parametrize(("cells", "epsilon"), [(2, "0.1"), (3, "1"), (4, "1000")])
def test_the_code_has_the_law_word_for_word(cells, epsilon):
    design = OptimizedUnaryEncoding(cells, Decimal(epsilon))
    assert law_of_code(design) == unary_law(cells, design.support_if_true, design.support_if_false)


def test_a_bit_is_set_below_its_threshold_and_not_at_it():
    design = OptimizedUnaryEncoding(2, 1)
    words = [0, design.lie - 1, design.lie, WORD // 2 - 1, WORD // 2, WORD - 1]
    draws = ScriptedDraws({0: words, 1: words})
    reports = design.randomize(np.zeros(6, dtype=np.uint8), draws)
    assert reports.T.tolist() == [[True] * 4 + [False] * 2, [True] * 2 + [False] * 4]
    assert draws.read == [0, 1]


def test_a_very_large_epsilon_lies_once_in_2_to_64():
    assert OptimizedUnaryEncoding(3, 1000).lie == 1


@pytest.mark.parametrize("epsilon", ["1e-14", "1e-18", "1e-30"])
def test_a_singular_design_is_refused(epsilon):
    with pytest.raises(SpecError, match="invertible"):
        OptimizedUnaryEncoding(3, Decimal(epsilon))


def test_no_rows_give_no_reports():
    design = OptimizedUnaryEncoding(5, 1)
    reports = design.randomize(np.array([], dtype=np.uint8), fresh_draws(0))
    assert reports.shape == (0, 5)
    assert design.tally(reports).tolist() == [0] * 5
    assert len(design.to_arrow(reports, tuple("abcde"))) == 0


@given(rows=st.integers(0, 40), cells=st.sampled_from([2, 5, 9, 20]), data=st.data())
def test_the_tally_of_blocks_adds_up_to_the_tally_of_all(rows, cells, data):
    design = OptimizedUnaryEncoding(cells, 1)
    cut = data.draw(st.integers(0, rows))
    reports = design.randomize(np.zeros(rows, dtype=np.uint8), fresh_draws(rows))
    whole = design.tally(reports)
    assert whole.tolist() == reports.sum(axis=0).tolist()
    assert whole.dtype == np.int64
    parts = design.zeros() + design.tally(reports[:cut]) + design.tally(reports[cut:])
    assert parts.tolist() == whole.tolist()


@pytest.mark.parametrize("cells", [2, 7, 8, 9, 17])
def test_a_report_is_a_bit_a_cell_from_the_lowest_bit_on(cells):
    design = OptimizedUnaryEncoding(cells, 1)
    reports = design.randomize(np.zeros(50, dtype=np.uint8), fresh_draws(50))
    column = design.to_arrow(reports, tuple(range(cells)))
    assert column.type == design.report_type(()) == pa.binary(-(-cells // 8))
    numbers = [int.from_bytes(value, "little") for value in column.to_pylist()]
    assert numbers == [sum(1 << cell for cell in np.flatnonzero(row).tolist()) for row in reports]


def test_the_label_tells_designs_apart_and_equal_ones_not():
    labels = {OptimizedUnaryEncoding(cells, epsilon).label for cells in (6, 7) for epsilon in (1, 2)}
    assert len(labels) == 4
    design = OptimizedUnaryEncoding(6, 1)
    assert design.label == OptimizedUnaryEncoding(6, Decimal("1.00")).label
    assert design.thresholds() == {"truth": WORD // 2, "lie": design.lie}
    assert design.size is None
