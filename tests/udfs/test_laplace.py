from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.laws import EPSILONS, assert_private, exp_below
from tests.udfs.scripted import ScriptedDraws
from udfs.draws import fresh_draws
from udfs.errors import SpecError
from udfs.exact import WORD
from udfs.laplace import LaplaceMechanism, laplace_tails


def cell_law(tail, cells):
    """Return equation 21 by the noise's upper tail beyond d - 1/2, d = 1, 2, ..."""

    def reaches(u, v):
        """The probability of a report of u or above for answer v."""
        return 1 if u == 0 else 0 if u == cells else tail(u - v) if u > v else 1 - tail(v - u + 1)

    return [[reaches(u, v) - reaches(u + 1, v) for v in range(cells)] for u in range(cells)]


def law_of(tails):
    """Return the matrix of noise with these tails, in words."""
    return cell_law(lambda place: Fraction(tails[place - 1], WORD), len(tails) + 1)


def ideal_law(cells, epsilon):
    """Return the matrix of the Laplace mechanism, in 300 bits."""
    unit = 1 << 300
    below = (
        unit * unit // exp_units(Fraction(epsilon) / (2 * (cells - 1)), unit)
    )  # from one end to half a place
    tails = [below // 2]
    while len(tails) < cells - 1:
        tails.append(tails[-1] * below * below // unit**2)
    return cell_law(lambda place: Fraction(tails[place - 1], unit), cells)


def exp_units(exponent, unit):
    """Return e**exponent in these units, from its Taylor series."""
    total = term = unit
    order = 0
    while term:
        order += 1
        term = term * exponent.numerator // (exponent.denominator * order)
        total += term
    return total


def binary_law(cut, epsilon):
    """Return equation 11: the Laplace mechanism over two cells that cuts at `cut`."""
    return [
        [1 - math.exp(-cut * epsilon) / 2, math.exp(-(1 - cut) * epsilon) / 2],
        [math.exp(-cut * epsilon) / 2, 1 - math.exp(-(1 - cut) * epsilon) / 2],
    ]


def assert_tails_private(tails, epsilon, words=3):
    """Check a matrix against epsilon and against the ideal one."""
    cells = len(tails) + 1
    assert_private(law_of(tails), ideal_law(cells, epsilon), epsilon, words=words)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_law_is_exactly_private_for_2_to_64_cells(epsilon):
    for cells in (*range(2, 13), 16, 31, 64):
        assert_tails_private(laplace_tails(cells, epsilon), epsilon)


@given(cells=st.integers(2, 12), epsilon=st.decimals("1e-6", "40", places=17))
def test_the_law_is_exactly_private_at_any_epsilon(cells, epsilon):
    assert_tails_private(laplace_tails(cells, epsilon), epsilon)


@pytest.mark.parametrize("epsilon", [Decimal(46), Decimal(50)])
def test_probabilities_thinner_than_a_word_are_not_zero(epsilon):
    for cells in (2, 6, 64, 100):
        tails = laplace_tails(cells, epsilon)
        assert_tails_private(tails, epsilon, words=cells)


def test_a_very_large_epsilon_leaves_one_word_to_each_place():
    assert laplace_tails(5, Decimal(1000)) == (4, 3, 2, 1)


@pytest.mark.parametrize("cells", [2, 3, 6])
@pytest.mark.parametrize("epsilon", ["0.001", "0.5", "1", "2"])
def test_noise_of_half_the_scale_is_caught(cells, epsilon):
    mutant = laplace_tails(cells, Decimal(epsilon) * 2)
    with pytest.raises(AssertionError, match="a ratio exceeds"):
        assert_tails_private(mutant, Decimal(epsilon))


@pytest.mark.parametrize("cells", [2, 3, 6, 64])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "20"])
def test_a_law_of_a_tenth_more_epsilon_is_caught(cells, epsilon):
    mutant = laplace_tails(cells, Decimal(epsilon) * Decimal("1.1"))
    with pytest.raises(AssertionError, match=r"a ratio exceeds|far from the ideal"):
        assert_tails_private(mutant, Decimal(epsilon))


@pytest.mark.parametrize(("cells", "epsilon"), [(200, "46"), (1000, "40")])
def test_tails_rounded_up_one_by_one_would_not_do(cells, epsilon):
    """Why differences of tails are kept at a least number of words."""
    ideal = [
        math.ceil(WORD * Decimal((1 - 2 * place) * Decimal(epsilon) / (2 * (cells - 1))).exp() / 2)
        for place in range(1, cells)
    ]
    largest = WORD - 2 * ideal[0]
    mutant = min(a - b for a, b in pairwise(ideal))  # the thinnest place between the ends
    tails = laplace_tails(cells, Decimal(epsilon))
    kept = min(a - b for a, b in pairwise(tails))
    bound = exp_below(Decimal(epsilon))
    assert mutant == 0 or Fraction(largest, mutant) > bound
    assert Fraction(WORD - 2 * tails[0], kept) <= bound


@pytest.mark.parametrize(("cells", "epsilon"), [(2, "1e-6"), (3, "0.1"), (6, "1"), (12, "5"), (64, "20")])
def test_the_design_is_that_of_equation_21(cells, epsilon):
    design = LaplaceMechanism(cells, Decimal(epsilon))
    assert [list(row) for row in design.law] == law_of(design.tails)
    assert design.largest_ratio == max(max(row) / min(row) for row in design.law)
    assert design.matrix.tolist() == [[float(entry) for entry in row] for row in design.law]
    assert all(sum(column) == 1 for column in zip(*design.law, strict=True))
    mirrored = [row[::-1] for row in design.law[::-1]]
    assert list(design.law) == mirrored


@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", "1", "4", "20"])
def test_two_cells_give_away_less_than_their_epsilon(epsilon):
    design, x = LaplaceMechanism(2, Decimal(epsilon)), float(epsilon)
    assert float(design.law[0][0]) == pytest.approx(1 - math.exp(-x / 2) / 2, rel=1e-15)
    assert float(design.true_epsilon) == pytest.approx(math.log1p(2 * math.expm1(x / 2)), rel=1e-9)
    assert design.true_epsilon < design.epsilon


@pytest.mark.parametrize("cells", [2, 3, 6, 64])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "5", "20", "44", "1000"])
def test_the_true_epsilon_covers_the_largest_ratio_and_hardly_more(cells, epsilon):
    design = LaplaceMechanism(cells, Decimal(epsilon))
    true, less = design.true_epsilon, design.true_epsilon * (1 - Decimal("1e-11"))
    assert exp_below(true) >= design.largest_ratio
    assert exp_below(less) < design.largest_ratio
    assert len(true.as_tuple().digits) <= 12
    assert true <= design.epsilon
    assert_private(design.law, design.law, true)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_a_cut_half_way_has_the_largest_diagonal(epsilon):
    def diagonal(cut):
        law = binary_law(cut, epsilon)
        return law[0][0] + law[1][1]

    design = LaplaceMechanism(2, epsilon)
    assert np.array(design.law, dtype=float) == pytest.approx(np.array(binary_law(0.5, epsilon)), rel=1e-15)
    assert all(diagonal(step / 100) < diagonal(0.5) for step in range(101) if step != 50)


def edges(design):
    """Return every word at which the noise changes, and the word before each."""
    return sorted({word for rise in design.rises for word in (rise - 1, rise)} | {0, WORD - 1})


@pytest.mark.parametrize("epsilon", ["0.5", "2", "44", "1000"])
def test_a_report_is_how_many_thresholds_of_its_column_a_word_reaches(epsilon):
    for cells in (2, 3, 7, 20):
        design = LaplaceMechanism(cells, Decimal(epsilon))
        words = edges(design)
        for answer, column in enumerate(zip(*design.law, strict=True)):
            answers = np.full(len(words), answer, dtype=np.uint8)
            draws = ScriptedDraws({0: words})
            reports = design.randomize(answers, draws)
            thresholds = list(accumulate(p * WORD for p in column[:-1]))
            expected = [sum(threshold <= word for threshold in thresholds) for word in words]
            assert reports.tolist() == expected
            assert draws.read == [0]


@pytest.mark.parametrize("cells", [2, 127, 128, 300])
def test_reports_are_a_dictionary_of_the_labels(cells):
    design, labels = LaplaceMechanism(cells, 20), tuple(range(10, 10 + cells))
    reports = design.randomize(np.arange(cells).astype(np.uint16), fresh_draws(cells))
    column = design.to_arrow(reports, labels)
    assert column.type == design.report_type(labels)
    assert pa.types.is_dictionary(column.type)
    assert column.to_pylist() == [labels[report] for report in reports.tolist()]


def test_no_rows_give_no_reports():
    design = LaplaceMechanism(5, 1)
    reports = design.randomize(np.array([], dtype=np.uint8), fresh_draws(0))
    assert reports.shape == (0,)
    assert design.tally(reports).tolist() == design.zeros().tolist() == [0] * 5


@given(data=st.data(), cells=st.sampled_from([2, 3, 16, 17]))
def test_the_tally_of_blocks_adds_up_to_the_tally_of_all(data, cells):
    design = LaplaceMechanism(cells, 20)
    reports = np.array(data.draw(st.lists(st.integers(0, cells - 1), max_size=50)), dtype=np.uint8)
    cut = data.draw(st.integers(0, len(reports)))
    whole = design.tally(reports)
    assert whole.tolist() == np.bincount(reports, minlength=cells).tolist()
    parts = design.zeros() + design.tally(reports[:cut]) + design.tally(reports[cut:])
    assert parts.tolist() == whole.tolist()


@pytest.mark.parametrize(("cells", "epsilon"), [(2, "1e-10"), (3, "1e-5"), (64, "0.001"), (3, "1e-30")])
def test_a_singular_design_is_refused(cells, epsilon):
    with pytest.raises(SpecError, match="laplace: its design must be invertible"):
        LaplaceMechanism(cells, Decimal(epsilon))


def test_the_label_tells_designs_apart_and_equal_ones_not():
    labels = {LaplaceMechanism(cells, epsilon).label for cells in (6, 7) for epsilon in (1, 2)}
    assert len(labels) == 4
    design = LaplaceMechanism(3, 1)
    assert design.label == LaplaceMechanism(3, Decimal("1.00")).label
    assert design.thresholds() == {"tail_1": design.tails[0], "tail_2": design.tails[1]}
