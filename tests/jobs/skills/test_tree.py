import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from jobs.skills.tree import LevelQuestion, Shape, Tree, grow, median
from udfs.tree_cells import bin_edges

unhurried = settings(deadline=None)

TEN = bin_edges(0.0, 1.0, 10)
HISTOGRAMS = st.lists(st.integers(-1000, 1000), min_size=1, max_size=12).map(np.array)


def answered_by(skills, noise=None):
    """Answer with exact counts, and noise where it is given."""

    def answer(question: LevelQuestion):
        counts = question.cells.count(np.asarray(skills, dtype=np.float64))
        return counts if noise is None else counts + noise(len(counts))

    return answer


def grown(shape, answer) -> tuple[Tree, list[LevelQuestion]]:
    conversation, questions = grow(shape), []
    question = next(conversation)
    while True:
        questions.append(question)
        try:
            question = conversation.send(answer(question))
        except StopIteration as done:
            return done.value, questions


def inside(node, skills, shape):
    """Who is in a node's box: half-open, closed at the domain's upper end."""
    here = np.ones(len(skills), dtype=bool)
    for column, (low, high) in zip(skills.T, node.box, strict=True):
        here &= (column >= low) & ((column < high) | ((high == shape.domain[1]) & (column == high)))
    return here


# Medians


def test_the_median_of_uniform_bins_is_where_half_of_the_workers_are_reached():
    assert median(np.array([10] * 10), TEN) == 0.5
    assert median(np.array([0, 0, 8, 0]), bin_edges(0.0, 1.0, 4)) == 0.625
    assert median(np.array([3, 1]), (0.0, 1.0, 2.0)) == pytest.approx(2 / 3, abs=0)


def test_a_median_between_two_bins_is_their_edge():
    assert median(np.array([5, 5]), (0.0, 0.3, 1.0)) == 0.3
    assert median(np.array([5, 0, 0, 5]), bin_edges(0.0, 1.0, 4)) == 0.25


@pytest.mark.parametrize("bins", [[0] * 4, [-1, 0, 0, 0], [5, -3, -3, 1], [0, 0, 1, -1], [-5, -5, -5, -5]])
def test_bins_without_a_positive_sum_are_split_in_the_middle_of_their_box(bins):
    assert median(np.array(bins), bin_edges(0.2, 0.7, 4)) == 0.45


def test_negative_bins_are_not_cut_off_first():
    # Workers below 0.1 and much noise above: the sum is 60, and half of it is reached in the first bin.
    bins = np.array([60, 15, -15, 15, -15, 15, -15, 15, -15, 0])
    assert median(bins, TEN) == 0.05
    assert median(np.maximum(bins, 0), TEN) == 0.1  # half of 120


def test_the_first_crossing_counts_where_negative_bins_cross_it_again():
    assert median(np.array([8, -6, 8]), (0.0, 1.0, 2.0, 3.0)) == 5 / 8


@unhurried
@given(HISTOGRAMS, st.integers(-100, 100), st.integers(0, 100))
def test_the_bin_of_a_median_is_never_empty_and_the_median_is_never_beyond_it(bins, low, width):
    assume(bins.sum() > 0)
    edges = bin_edges(low / 8, (low + width) / 8, len(bins))
    half, sums = Fraction(int(bins.sum()), 2), [0, *np.cumsum(bins).tolist()]
    place = next(place for place, reached in enumerate(sums[1:]) if reached >= half)
    here, fraction = int(bins[place]), (half - sums[place]) / int(bins[place])
    assert here > 0
    assert 0 < fraction <= 1
    start, stop = (Fraction(repr(edge)) for edge in edges[place : place + 2])
    assert edges[place] <= median(bins, edges) <= edges[place + 1]
    assert median(bins, edges) == float(start + (stop - start) * fraction)


@unhurried
@given(
    HISTOGRAMS,
    st.floats(-1e300, 1e300, allow_subnormal=True),
    st.floats(-1e300, 1e300, allow_subnormal=True),
)
def test_a_median_lies_within_its_box_however_narrow(bins, one, other):
    for low, high in (sorted((one, other)), (one, math.nextafter(one, math.inf)), (one, one)):
        assert low <= median(bins, bin_edges(low, high, len(bins))) <= high


def test_the_median_of_a_box_without_width_is_that_box():
    assert median(np.array([3, 4, -9]), (0.5, 0.5, 0.5, 0.5)) == 0.5
    assert median(np.array([3, 4, 9]), (0.5, 0.5, 0.5, 0.5)) == 0.5


# Trees


def test_the_questions_of_a_tree():
    skills = np.random.default_rng(1).random((400, 3))
    shape = Shape(("a", "b", "c"), (0.0, 1.0), 7, 5)
    tree, questions = grown(shape, answered_by(skills))
    assert [one.level for one in questions] == [5, 4, 3, 2, 1, 0]
    assert [one.cells.column for one in questions] == [0, 1, 2, 0, 1, None]
    assert [one.cells.nodes for one in questions] == [1, 2, 4, 8, 16, 32]
    assert [one.cells.counters for one in questions] == [8, 16, 32, 64, 128, 32]
    assert [node.id for node in tree.nodes] == list(range(1, 64))
    assert [node.dimension for node in tree.nodes[:4]] == ["a", "b", "b", "c"]
    assert tree.parents == (None, *((place - 1) // 2 for place in range(1, 63)))
    assert len(tree.leaves) == 32
    assert all(node.bins is None and node.dimension is None for node in tree.leaves)


def test_a_node_has_its_workers_histogram_and_is_split_at_its_median():
    skills = np.random.default_rng(2).random((500, 2))
    shape = Shape(("a", "b"), (0.0, 1.0), 10, 4)
    for node in grown(shape, answered_by(skills))[0].nodes:
        here = skills[inside(node, skills, shape)]
        assert node.count == len(here)
        if node.bins is not None:
            column = shape.dimensions.index(node.dimension)
            edges = bin_edges(*node.box[column], 10)
            assert node.bins == tuple(np.histogram(here[:, column], edges)[0])
            assert node.split == median(np.array(node.bins), edges)


skills_on_a_grid = st.lists(
    st.tuples(*[st.sampled_from([0.0, 0.1, 0.25, 0.29, 0.3, 0.5, 0.55, 0.58, 0.999, 1.0])] * 2),
    min_size=1,
    max_size=30,
).map(np.array)


@unhurried
@given(
    skills_on_a_grid,
    st.integers(1, 5),
    st.integers(0, 5),
    st.integers(0, 8),
    st.integers(0, 30),
    st.integers(0, 2**32),
)
def test_every_worker_is_in_exactly_one_leaf_whatever_the_noise(skills, bins, depth, min_count, reach, seed):
    generator = np.random.default_rng(seed)
    shape = Shape(("a", "b"), (0.0, 1.0), bins, depth, min_count)
    noise = lambda counters: generator.integers(-reach, reach + 1, counters)  # noqa: E731
    tree, questions = grown(shape, answered_by(skills, noise))
    assert sum(inside(leaf, skills, shape).astype(int) for leaf in tree.leaves).tolist() == [1] * len(skills)
    assert len(questions) == shape.depth + 1 - min(leaf.level for leaf in tree.leaves)
    names = {node.id for node in tree.nodes}
    for node in tree.nodes:
        children = {2 * node.id, 2 * node.id + 1}
        assert children <= names if node.split is not None else not children & names
        if node.level:
            assert (node.split is None) == (min_count > 0 and node.count < min_count)
            assert len(node.bins) == bins
        else:
            assert node.split is None


def test_workers_whose_branch_has_ended_are_counted_nowhere_below():
    skills = np.array([[0.1, 0.5]] * 3 + [[0.9, 0.2]] * 20 + [[0.9, 0.8]] * 17)
    tree, questions = grown(
        Shape(("a", "b"), (0.0, 1.0), 1, 3, 5), answered_by(skills)
    )  # split in the middle
    counts = {node.id: node.count for node in tree.nodes}
    assert counts == {1: 40, 2: 3, 3: 37, 6: 20, 7: 17, 12: 0, 13: 20, 14: 0, 15: 17}
    assert sum(leaf.count for leaf in tree.leaves) == 40
    assert {leaf.level for leaf in tree.leaves} == {2, 0}
    assert [one.cells.nodes for one in questions] == [1, 2, 2, 4]


def test_a_tree_ends_when_no_node_is_left_to_split():
    tree, questions = grown(Shape(("a",), (0.0, 1.0), 4, 9, 5), answered_by(np.full((4, 1), 0.3)))
    assert (len(tree.nodes), len(questions)) == (1, 1)
    assert tree.nodes[0].bins == (0, 4, 0, 0)


def test_without_a_least_count_negative_counts_are_split_too():
    tree, _ = grown(Shape(("a",), (0.0, 1.0), 4, 3, 0), lambda question: np.full(question.cells.counters, -7))
    assert len(tree.leaves) == 8
    assert [leaf.box[0][0] for leaf in tree.leaves] == [place / 8 for place in range(8)]


def test_a_tree_of_depth_nought_counts_everybody():
    tree, questions = grown(Shape(("a", "b"), (0.0, 1.0), 4, 0), answered_by(np.zeros((9, 2))))
    assert (tree.nodes[0].count, tree.nodes[0].bins, questions[0].cells.counters) == (9, None, 1)
    assert tree.leaves == tree.nodes


def test_equal_skills_end_at_the_depth_with_every_worker_in_one_leaf():
    skills = np.full((8, 2), 0.5)  # field case K10
    tree, _ = grown(Shape(("a", "b"), (0.0, 1.0), 10, 3), answered_by(skills))
    assert sorted(leaf.count for leaf in tree.leaves) == [0] * 7 + [8]
    assert all(0 <= node.split <= 1 for node in tree.nodes if node.split is not None)


def test_workers_at_the_upper_end_and_on_bin_edges_stay_in():
    quarters = np.array([[0.0], [0.25], [0.5], [0.75], [1.0]])  # field case K12
    tree, _ = grown(Shape(("a",), (0.0, 1.0), 4, 1), answered_by(quarters))
    assert tree.nodes[0].bins == (1, 1, 1, 2)
    hundredths = np.array([[0.29], [0.57], [0.58]])
    tree, _ = grown(Shape(("a",), (0.0, 1.0), 100, 1), answered_by(hundredths))
    assert np.flatnonzero(tree.nodes[0].bins).tolist() == [29, 57, 58]


def test_deep_down_at_the_upper_end_everybody_is_in_exactly_one_reported_box():
    shape = Shape(("a",), (0.0, 1.0), 2, 80, min_count=1)
    skills = np.array([[np.nextafter(1.0, 0.0)]] * 2 + [[1.0]] * 5)
    tree, _ = grown(shape, answered_by(skills))
    assert [leaf.count for leaf in tree.leaves] == [0] * 80 + [7]
    assert [leaf.count for leaf in tree.leaves] == [inside(leaf, skills, shape).sum() for leaf in tree.leaves]
    values = np.array(
        [[0.0], [0.5], [np.nextafter(1.0, 0.0)], [1.0], *([leaf.box[0][0]] for leaf in tree.leaves)]
    )
    assert (sum(inside(leaf, values, shape).astype(int) for leaf in tree.leaves) == 1).all()


def test_a_tree_of_depth_twelve_is_grown_quickly():
    generator = np.random.default_rng(3)
    shape = Shape(tuple("abcdefghij"), (0.0, 1.0), 10, 12)
    start = time.process_time()
    tree, _ = grown(shape, lambda question: generator.integers(-5, 50, question.cells.counters))
    assert len(tree.leaves) == 4096
    assert time.process_time() - start < 10
