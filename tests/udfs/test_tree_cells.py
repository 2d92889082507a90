"""Cells of a tree: whatever compares exactly counts the same, row by row and however rows are cut."""

from __future__ import annotations

import math
import os
import pickle
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from udfs.errors import SpecError
from udfs.tree_cells import TreeCells, bin_edges

COLUMNS = 3
GRID = [place / 8 for place in range(9)]
NUMBERS = sorted({*GRID, *np.nextafter(GRID, -1).tolist(), *np.nextafter(GRID, 2).tolist(), 1 / 3, 1e-300})
HALVES = TreeCells((0,), (0.5,), ((-1, -2),), 2, 1, (bin_edges(0, 0.5, 2), bin_edges(0.5, 1, 2)))


def counts_of(cells, answers):
    """Return how many rows are counted in each cell."""
    return cells.count(np.asarray(answers, dtype=np.float64))


def row_by_row(cells, answers):
    """Return the same by the definition: one row, one cut and one edge at a time."""
    counts = [0] * cells.counters
    for row in answers:
        place = 0 if cells.cut_splits else -1
        while place >= 0:
            right = Fraction(row[cells.cut_columns[place]]) >= Fraction(cells.cut_splits[place])
            place = cells.cut_children[place][right]
        node = -1 - place
        if node == cells.nodes:
            continue
        counts[node] += 1
        if cells.column is not None:
            number, edges = Fraction(row[cells.column]), map(Fraction, cells.edges[node])
            below = [number >= edge for edge in edges]
            bin_ = min(max(sum(below) - 1, 0), cells.bins - 1)
            counts[cells.nodes + node * cells.bins + bin_] += 1
    return counts


@st.composite
def trees(draw, most_cuts=9):
    """Return the cells of a level of any shape, on a grid of few numbers so that rows lie on it."""
    cuts, pick = draw(st.integers(0, most_cuts)), draw(st.randoms(use_true_random=False))
    children = [[0, 0] for _ in range(cuts)]
    free = [(0, 0), (0, 1)] if cuts else []
    for cut in range(1, cuts):
        parent, side = free.pop(pick.randrange(len(free)))
        children[parent][side] = cut
        free += [(cut, 0), (cut, 1)]
    pick.shuffle(free)
    nodes = draw(st.integers(1, max(1, len(free))))
    for place, (parent, side) in enumerate(free):
        children[parent][side] = -1 - min(place, nodes)
    bins, column = draw(st.integers(0, 9)), None
    edges = ()
    if bins:
        column = pick.randrange(COLUMNS)
        edges = tuple(tuple(sorted(pick.choices(NUMBERS, k=bins + 1))) for _ in range(nodes))
    columns, splits = [pick.randrange(COLUMNS) for _ in range(cuts)], pick.choices(NUMBERS, k=cuts)
    return TreeCells(tuple(columns), tuple(splits), tuple(map(tuple, children)), nodes, column, edges)


def rows(least=0):
    return st.lists(st.tuples(*[st.sampled_from(NUMBERS) | st.floats(0, 1)] * COLUMNS), min_size=least)


def as_array(answers):
    return np.array(answers, dtype=np.float64).reshape(-1, COLUMNS)


@given(cells=trees(), answers=rows())
@example(cells=HALVES, answers=[])
def test_counts_are_those_of_rows_taken_one_by_one(cells, answers):
    counts = counts_of(cells, as_array(answers))
    assert (counts.dtype, counts.tolist()) == (np.int64, row_by_row(cells, answers))


@given(cells=trees(), answers=rows(), data=st.data())
def test_any_cut_into_blocks_and_any_order_gives_the_same_sums(cells, answers, data):
    whole = as_array(answers)
    order = data.draw(st.permutations(range(len(whole))))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    blocks = np.split(whole[list(order)], cuts)
    layouts = [np.asfortranarray(block) if place % 2 else block for place, block in enumerate(blocks)]
    total = sum((counts_of(cells, block) for block in layouts), start=np.zeros(cells.counters, np.int64))
    assert total.tolist() == counts_of(cells, whole).tolist()


@given(cells=trees(), answers=rows(1))
def test_each_row_is_in_one_node_and_in_one_bin_of_it_or_nowhere(cells, answers):
    places = cells.cells(as_array(answers))
    assert places.shape == (len(answers), 1 if cells.column is None else 2)
    assert places.dtype == np.int64
    nodes, nowhere = places[:, 0], places[:, 0] == -1
    assert ((nodes >= -1) & (nodes < cells.nodes)).all()
    if cells.column is not None:
        assert (places[nowhere] == -1).all()
        assert ((places[:, 1] - cells.nodes) // cells.bins == nodes)[~nowhere].all()


@given(cells=trees(), answers=rows(1))
def test_histograms_are_those_of_numpy(cells, answers):
    whole = as_array(answers)
    nodes, counts = cells.cells(whole)[:, 0], counts_of(cells, whole)
    assert counts[: cells.nodes].tolist() == [np.count_nonzero(nodes == node) for node in range(cells.nodes)]
    histograms = counts[cells.nodes :].reshape(cells.nodes, cells.bins)
    for node, edges in enumerate(cells.edges):
        own = whole[nodes == node, cells.column]
        inside = (own >= edges[0]) & (own <= edges[-1])
        if inside.all():
            assert histograms[node].tolist() == np.histogram(own, edges)[0].tolist()


def test_a_whole_level_of_a_deep_tree_is_that_of_numpy():
    """A balanced tree of depth 8 over random rows, some of them on splits and edges."""
    depth, seed = 8, int.from_bytes(os.urandom(8), "little")
    print(f"seed {seed}")
    answers = np.random.default_rng(seed).integers(0, 1001, (20_000, COLUMNS)) / 1000
    cuts = (1 << depth) - 1
    level = [(cut + 1).bit_length() - 1 for cut in range(cuts)]
    boxes = [((0.0, 1.0),) * COLUMNS]
    splits = []
    for cut in range(cuts):
        column, box = level[cut] % COLUMNS, boxes[cut]
        low, high = box[column]
        splits.append(round((low + high) / 2, 3))
        for side in ((low, splits[-1]), (splits[-1], high)):
            boxes.append((*box[:column], side, *box[column + 1 :]))
    children = tuple(
        tuple(child if child < cuts else cuts - 1 - child for child in (2 * cut + 1, 2 * cut + 2))
        for cut in range(cuts)
    )
    column, leaves = depth % COLUMNS, boxes[cuts:]
    cells = TreeCells(
        tuple(one % COLUMNS for one in level),
        tuple(splits),
        children,
        len(leaves),
        column,
        tuple(bin_edges(*box[column], 10) for box in leaves),
    )
    expected = []
    for box in leaves:
        inside = np.ones(len(answers), dtype=bool)
        for skill, (low, high) in zip(answers.T, box, strict=True):
            inside &= (skill >= low) & ((skill < high) | (high == 1.0))
        expected.append(np.histogram(answers[inside, column], bin_edges(*box[column], 10))[0])
    counts = counts_of(cells, answers)
    assert counts[len(leaves) :].tolist() == np.concatenate(expected).tolist()
    assert counts[: len(leaves)].tolist() == [histogram.sum() for histogram in expected]
    assert counts[: len(leaves)].sum() == len(answers)


@pytest.mark.parametrize("bins", [1, 2, 3, 4, 5, 10, 100])
def test_case_k12_an_edge_lies_in_the_bin_that_begins_there_and_the_last_bin_is_closed(bins):
    cells = TreeCells((), (), (), 1, 0, (bin_edges(0.0, 1.0, bins),))
    on_edges = [[edge / bins] for edge in range(bins + 1)]
    assert cells.cells(np.array(on_edges))[:, 1].tolist() == [*range(1, bins + 1), bins]


def test_case_k12_values_of_hundredths_lie_in_their_cells():
    cells = TreeCells((), (), (), 1, 0, (bin_edges(0.0, 1.0, 100),))
    assert (cells.cells(np.array([[0.29], [0.57], [0.58]]))[:, 1] - 1).tolist() == [29, 57, 58]
    assert [math.floor(number * 100) for number in (0.29, 0.57, 0.58)] == [28, 56, 57]
    quarters = TreeCells((), (), (), 1, 0, (bin_edges(0.0, 1.0, 4),))
    assert counts_of(quarters, [[0.0], [0.25], [0.5], [0.75], [1.0]]).tolist() == [5, 1, 1, 1, 2]


def test_case_k10_equal_skills_are_all_on_the_right_of_a_split_there():
    equal = np.full((8, 2), 0.5)
    edges = (bin_edges(0.5, 0.5, 10), bin_edges(0.5, 0.5, 10))
    cells = TreeCells((0, 1), (0.5, 0.5), ((-3, 1), (-1, -2)), 2, 0, edges)
    counts = counts_of(cells, equal)
    assert counts[:2].tolist() == [0, 8]
    assert counts[2:].reshape(2, 10).sum(axis=1).tolist() == [0, 8]
    leaves = TreeCells((0, 1), (0.5, 0.5), ((-1, 1), (-2, -3)), 3, None, ())
    assert counts_of(leaves, equal).tolist() == [0, 0, 8]


def test_numbers_beyond_all_edges_lie_in_the_first_and_the_last_bin():
    cells = TreeCells((), (), (), 1, 0, (bin_edges(0.25, 0.75, 5),))
    outside = [[-1e300], [np.nextafter(0.25, 0)], [np.nextafter(0.75, 1)], [1e300]]
    assert (cells.cells(np.array(outside))[:, 1] - 1).tolist() == [0, 0, 4, 4]


ends = st.floats(-(2.0**53), 2.0**53) | st.integers(-1000, 1000).map(lambda place: place / 100)


@given(one=ends, other=ends, bins=st.integers(1, 40))
@example(one=0.0, other=1.0, bins=100)
@example(one=0.0, other=1.1, bins=11)
@example(one=0.0, other=5e-324, bins=3)
@example(one=0.5, other=0.5, bins=10)
def test_edges_are_correctly_rounded_and_ascend_from_end_to_end(one, other, bins):
    low, high = sorted((one, other))
    edges = bin_edges(low, high, bins)
    assert (edges[0], edges[-1], len(edges)) == (low, high, bins + 1)
    assert list(edges) == sorted(edges)
    start, stop = Fraction(repr(low)), Fraction(repr(high))
    for place, edge in enumerate(edges):
        exact = start + (stop - start) * Fraction(place, bins)
        error = abs(Fraction(edge) - exact)
        assert all(error <= abs(Fraction(math.nextafter(edge, way)) - exact) for way in (-math.inf, math.inf))


@pytest.mark.parametrize("whole", range(1, 130))
def test_edges_of_tenths_are_the_numbers_that_people_write(whole):
    assert bin_edges(0.0, whole / 10, whole) == tuple(place / 10 for place in range(whole + 1))
    assert bin_edges(-whole / 10, 0.0, whole) == tuple(place / 10 for place in range(-whole, 1))


CHANGES = [
    {"cut_columns": (1,)},
    {"cut_splits": (0.25,)},
    {"cut_children": ((-2, -1),)},
    {"cut_children": ((-3, -2),)},
    {"nodes": 3, "edges": (*HALVES.edges, HALVES.edges[0])},
    {"column": 0},
    {"column": None, "edges": ()},
    {"edges": HALVES.edges[::-1]},
    {"edges": ((0.0, 0.25, 0.5), (0.5, 0.75, np.nextafter(1.0, 0)))},
]


def test_a_label_tells_all_cells_apart():
    labels = Counter([HALVES.label, *(replace(HALVES, **change).label for change in CHANGES)])
    assert set(labels.values()) == {1}
    assert len(labels) == len(CHANGES) + 1


@given(cells=trees())
def test_a_label_hangs_on_the_numbers_and_not_on_their_types_or_on_where_it_is_made(cells):
    numpy_cells = TreeCells(
        tuple(map(np.int64, cells.cut_columns)),
        tuple(map(np.float64, cells.cut_splits)),
        tuple(tuple(map(np.int32, pair)) for pair in cells.cut_children),
        cells.nodes,
        cells.column,
        tuple(tuple(map(np.float64, edges)) for edges in cells.edges),
    )
    assert numpy_cells == cells
    assert numpy_cells.label == cells.label == pickle.loads(pickle.dumps(cells)).label


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"cut_columns": ()}, "tree.cuts"),
        ({"cut_columns": (-1,)}, "tree.cuts"),
        ({"cut_splits": (math.nan,)}, "tree.cuts"),
        ({"cut_splits": (math.inf,)}, "tree.cuts"),
        ({"cut_children": ((0, -1),)}, "tree.cuts[0]"),
        ({"cut_children": ((-1, 1),)}, "tree.cuts[0]"),
        ({"cut_children": ((-1, -4),)}, "tree.cuts[0]"),
        ({"nodes": 0}, "tree.nodes"),
        ({"nodes": 3}, "tree.edges"),
        ({"column": None}, "tree.edges"),
        ({"column": -1}, "tree.column"),
        ({"edges": ()}, "tree.edges"),
        ({"edges": ((0.0, 0.5), (0.5, 0.75, 1.0))}, "tree.edges"),
        ({"edges": ((0.0,), (0.5,))}, "tree.edges"),
        ({"edges": ((0.0, 0.5), (1.0, 0.5))}, "tree.edges"),
        ({"edges": ((0.0, 0.5), (0.5, math.nan))}, "tree.edges"),
    ],
    ids=str,
)
def test_cells_that_lead_nowhere_or_have_no_bins_are_refused(change, where):
    with pytest.raises(SpecError) as caught:
        replace(HALVES, **change)
    assert caught.value.where == where
