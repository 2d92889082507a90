"""Cross tables of reports: compared with plain numpy, and weighted ones with fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs import tables
from udfs.tables import LARGEST_DENSE, WEIGHT_RANGE, WEIGHT_UNIT, CrossTable, SparseCounts

BLOCK_ROWS = 1 << 16
LARGE = (4,) * 12  # 16,777,216 cells

widths = st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=4)
"""The cells of some asks, and whether a report is a set of them."""
weights = st.sampled_from(
    [0.0, -0.0, 1.0, 0.1, 1 / 3, math.pi, 1 / WEIGHT_RANGE, WEIGHT_RANGE, 1e-7, 123456.789]
)
weights |= st.floats(1 / WEIGHT_RANGE, WEIGHT_RANGE)
runs_of_cells = st.lists(st.lists(st.integers(0, 49), max_size=30), max_size=8)


@st.composite
def rounds(draw):
    """Draw reports to some asks, weights, and a table of the asks."""
    asked, rows = draw(widths), draw(st.integers(0, 12))
    reports = [
        np.array(draw(st.lists(st.lists(st.booleans(), min_size=cells, max_size=cells), min_size=rows, max_size=rows)), dtype=bool).reshape(rows, cells)
        if is_set
        else np.array(draw(st.lists(st.integers(0, cells - 1), min_size=rows, max_size=rows)), dtype=np.uint8)
        for cells, is_set in asked
    ]  # fmt: skip
    reports.append(np.array(draw(st.lists(weights, min_size=rows, max_size=rows)), dtype=np.float64))
    places = tuple(draw(st.permutations(range(len(asked))))[: draw(st.integers(1, len(asked)))])
    shape = tuple(asked[place][0] + asked[place][1] for place in places)
    weight = draw(st.sampled_from([None, len(asked)]))
    return reports, CrossTable(places, shape, weight)


def added(counts):
    """Add some tables up."""
    return reduce(lambda a, b: a + b, counts)


def features_of(report):
    """Return the features that a report has: its code, or its cells and the constant behind them."""
    return [int(report)] if np.ndim(report) == 0 else [*np.flatnonzero(report).tolist(), len(report)]


def units_of(weight):
    """Return a weight in whole units, what lies below cut off."""
    return math.floor(Fraction(weight) * WEIGHT_UNIT)


def counted(reports, table):
    """Return the table, counted row by row in integers."""
    layers = np.zeros((3, *table.shape), dtype=object)
    for row in range(len(reports[0])):
        weight = float(reports[table.weight][row]) if table.weight is not None else 0.0
        number = int(weight > 0) if table.weight is not None else 1
        values = (number, units_of(weight), units_of(weight * weight))
        for cell in product(*(features_of(reports[place][row]) for place in table.places)):
            for layer, value in zip(layers, values, strict=True):
                layer[cell] += value
    return layers if table.weight is not None else layers[0]


def plain(counts):
    """Return a sum as nested lists."""
    return counts.dense().tolist() if isinstance(counts, SparseCounts) else counts.tolist()


def tallied(table, reports, cuts):
    """Return the sum of the tallies of the blocks between these rows."""
    blocks = [[one[start:end] for one in reports] for start, end in pairwise(cuts)]
    return added([table.zeros(), *(table.tally(block) for block in blocks)])


@given(asked=rounds())
def test_a_table_holds_what_is_counted_row_by_row(asked):
    reports, table = asked
    counts = table.tally(reports)
    assert counts.tolist() == counted(reports, table).tolist()
    assert counts.shape == table.zeros().shape == ((3,) if table.weight is not None else ()) + table.shape
    assert counts.dtype == table.zeros().dtype == (np.int64 if table.weight is None else object)


@given(asked=rounds(), data=st.data())
def test_any_cutting_into_blocks_gives_the_table_of_one_block(asked, data):
    reports, table = asked
    rows = len(reports[0])
    cuts = sorted([0, *data.draw(st.lists(st.integers(0, rows), max_size=4)), rows])
    assert tallied(table, reports, cuts).tolist() == table.tally(reports).tolist()


@given(asked=rounds(), first=st.integers(0, 12), second=st.integers(0, 12))
def test_tables_add_up_in_any_order_and_grouping_and_that_of_no_reports_is_neutral(asked, first, second):
    reports, table = asked
    cuts = [0, *sorted((first, second)), 12]
    a, b, c = (table.tally([one[start:end] for one in reports]) for start, end in pairwise(cuts))
    whole = (a + b + c).tolist()
    assert (a + (b + c)).tolist() == (c + a + b).tolist() == whole
    assert (table.zeros() + a).tolist() == (a + table.zeros()).tolist() == a.tolist()


@given(asked=rounds(), data=st.data())
def test_few_rows_at_a_time_and_a_sparse_table_hold_the_same(asked, data):
    reports, table = asked
    with pytest.MonkeyPatch.context() as patch:
        whole = plain(table.tally(reports))
        patch.setattr(tables, "_FEATURES_AT_ONCE", data.draw(st.integers(1, 100)))
        assert plain(table.tally(reports)) == whole
        patch.setattr(tables, "LARGEST_DENSE", 0)
        cut = data.draw(st.integers(0, len(reports[0])))
        sparse = tallied(table, reports, [0, cut, len(reports[0])])
    assert isinstance(sparse, SparseCounts) == (table.weight is None)
    assert np.reshape(plain(sparse), np.shape(whole)).tolist() == whole


@pytest.mark.parametrize("shape", [(7,), (2, 3), (5, 4, 3, 2), (300, 200)])
def test_codes_are_counted_as_numpy_counts_them(shape):
    random = np.random.default_rng()
    reports = [random.integers(0, width, 5000).astype(np.uint16) for width in shape]
    edges = [np.arange(width + 1) - 0.5 for width in shape]
    expected, _ = np.histogramdd(np.column_stack(reports), edges)
    assert (CrossTable(tuple(range(len(shape))), shape).tally(reports) == expected).all()


@pytest.mark.parametrize("sets", [False, True])
def test_a_block_of_greatest_weights_and_digits_is_summed_without_an_error(sets):
    """Every digit is as large as digits can be: floats that lost one bit would show it."""
    weights = np.full(BLOCK_ROWS, np.nextafter(WEIGHT_RANGE, 0))
    weights[::2] = np.nextafter(2.0**32, 0) / 2.0**60
    reports = [np.ones((BLOCK_ROWS, 1), bool) if sets else np.zeros(BLOCK_ROWS, np.uint8), weights]
    counts = CrossTable((0,), (2 if sets else 1,), weight=1).tally(reports)
    pair = weights[:2].tolist()
    expected = [
        BLOCK_ROWS,
        BLOCK_ROWS // 2 * sum(units_of(weight) for weight in pair),
        BLOCK_ROWS // 2 * sum(units_of(weight * weight) for weight in pair),
    ]
    assert counts[:, 0].tolist() == expected
    assert counts[:, -1].tolist() == expected


@given(weight=weights)
def test_digits_of_a_weight_are_the_weight_cut_off_below_the_unit(weight):
    for value in (abs(weight), weight * weight):
        limbs = tables._limbs(np.array([value]))
        assert sum(int(limb[0]) << exponent for exponent, limb in limbs.items()) == units_of(value)
        assert all(0 <= limb[0] < 1 << 32 for limb in limbs.values())


def test_weights_within_their_range_are_summed_to_the_last_bit():
    """No weight has a bit below the unit; only the squares of the least ones may."""
    least = np.nextafter(1 / WEIGHT_RANGE, 1)
    assert Fraction(float(least)) * WEIGHT_UNIT == units_of(float(least))
    counts = CrossTable((0,), (1,), weight=1).tally([np.zeros(3, np.uint8), np.array([0.1, least, 2.0**40])])
    assert Fraction(counts[1, 0], WEIGHT_UNIT) == sum(map(Fraction, [0.1, float(least), 2.0**40]))


def test_doubling_a_weighted_table_goes_on_beyond_all_machine_integers():
    table = CrossTable((0,), (2,), weight=1)
    counts = one = table.tally([np.array([1], np.uint8), np.array([WEIGHT_RANGE])])
    for _ in range(100):
        counts = counts + counts
    assert counts[:, 1].tolist() == [2**100, 2**100 * units_of(2.0**40), 2**100 * units_of(2.0**80)]
    assert one[0].tolist() == [0, 1]


@pytest.mark.parametrize("shape", [(2, 2), LARGE])
def test_doubling_a_table_goes_on_beyond_31_bits(shape):
    counts = CrossTable(tuple(range(len(shape))), shape).tally([np.array([1, 1, 0], np.uint8)] * len(shape))
    for _ in range(40):
        counts = counts + counts
    found = counts.merged().runs[0][1] if isinstance(counts, SparseCounts) else counts[counts > 0]
    assert found.tolist() == [2**40, 2 * 2**40]


@pytest.mark.parametrize(("size", "sparse"), [(LARGEST_DENSE, False), (LARGEST_DENSE + 1, True)])
def test_the_largest_dense_table_and_the_smallest_sparse_one_count_alike(size, sparse):
    codes = np.array([0, size - 1, 7, 7, size - 1, 7], dtype=np.uint32)
    table = CrossTable((0,), (size,))
    for counts in (table.tally([codes]), table.zeros() + table.tally([codes]), table.zeros()):
        assert isinstance(counts, SparseCounts) == sparse
    cells = np.array(plain(table.zeros() + table.tally([codes])))
    assert np.flatnonzero(cells).tolist() == [0, 7, size - 1]
    assert cells[[0, 7, size - 1]].tolist() == [1, 3, 2]


def test_twelve_questions_of_four_levels_are_counted_as_numpy_counts_them():
    random = np.random.default_rng()
    reports = [(random.random(20_000) ** 3 * 4).astype(np.uint8) for _ in LARGE]
    expected, times = np.unique(np.ravel_multi_index(reports, LARGE), return_counts=True)
    table = CrossTable(tuple(range(12)), LARGE)
    for cuts in ([0, 20_000], [0, 1, 5000, 5000, 12_345, 20_000], [*range(0, 20_000, 512), 20_000]):
        ((cells, counts),) = tallied(table, reports, cuts).merged().runs
        assert (cells.tolist(), counts.tolist()) == (expected.tolist(), times.tolist())
        assert cells.dtype == counts.dtype == np.int64


def test_sets_beside_many_strata_are_kept_sparse_like_codes():
    random = np.random.default_rng()
    strata, sets = random.integers(0, 1100, 900).astype(np.uint16), random.random((900, 64)) < 0.3
    table = CrossTable((0, 1), (1100, 65))
    sparse = tallied(table, [strata, sets], [0, 100, 900])
    assert isinstance(sparse, SparseCounts)
    expected = np.zeros((1100, 65), dtype=int)
    np.add.at(expected, strata, np.column_stack([sets, np.ones(900, bool)]).astype(int))
    assert (sparse.dense().reshape(1100, 65) == expected).all()


def sparse_of(runs):
    """Return the sum of runs that name cells once for each report."""
    return added(
        [SparseCounts((), 50), *(SparseCounts.of(np.array(run, dtype=np.int64), 50) for run in runs)]
    )


@given(runs=runs_of_cells, data=st.data())
def test_sparse_counts_add_up_in_any_order_and_grouping(runs, data):
    expected = np.zeros(50, dtype=int)
    np.add.at(expected, [cell for run in runs for cell in run], 1)
    shuffled = data.draw(st.permutations(runs))
    cut = data.draw(st.integers(0, len(runs)))
    for counts in (sparse_of(runs), sparse_of(shuffled), sparse_of(runs[:cut]) + sparse_of(runs[cut:])):
        assert counts.dense().tolist() == counts.merged().dense().tolist() == expected.tolist()
        assert counts.size == counts.merged().size == 50
        for cells, found in counts.merged().runs:
            assert cells.tolist() == np.flatnonzero(expected).tolist()
            assert found.tolist() == expected[cells].tolist()


@given(runs=runs_of_cells)
def test_adding_sparse_counts_changes_neither_and_keeps_no_more_than_twice_their_cells(runs):
    parts = [SparseCounts.of(np.array(run, dtype=np.int64), 50) for run in runs]
    before = [part.dense().tolist() for part in parts]
    lengths = [len(cells) for cells, _ in added([SparseCounts((), 50), *parts]).runs]
    assert sum(lengths) <= 2 * max(lengths, default=0)
    assert [part.dense().tolist() for part in parts] == before


@given(counts=st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_a_dense_table_is_kept_sparse_and_comes_back(counts):
    sparse = SparseCounts.of_dense(np.array(counts).reshape(1, -1))
    assert sparse.dense().tolist() == counts
    assert all(found.all() for _, found in sparse.runs)


def test_tables_tell_themselves_apart_in_words():
    found = [((0, 1), (2, 3), None), ((0, 1), (3, 2), None), ((1, 0), (2, 3), None), ((0, 1), (2, 3), 2)]
    assert len({repr(CrossTable(*one)) for one in found}) == len(found)
    assert repr(CrossTable(*found[0])) == repr(CrossTable(*found[0]))
    assert CrossTable((0, 1), (2, 3)).size == 6
