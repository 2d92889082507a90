from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from jobs.page import skills_boxes as boxes
from jobs.page.skills_tree import read_tree
from tests.jobs.page.skill_trees import three


def test_crowds_are_what_leaves_put_there_and_add_up_to_everybody() -> None:
    tree = read_tree(three()["result"])
    edges = [boxes.edges_of(tree.boxes[:, k], 96) for k in (0, 2)]
    crowd = boxes.crowd(
        tree.counts, [boxes.shares_of(tree.boxes[:, k], e) for k, e in zip((0, 2), edges, strict=True)], edges
    )
    sizes = np.outer(*(np.diff(e) for e in edges))
    assert np.sum(crowd * sizes) == pytest.approx(1.0, abs=1e-12)
    total = sum(map(Fraction, tree.counts.tolist()))
    for i, j in itertools.product(range(0, crowd.shape[0], 5), range(0, crowd.shape[1], 5)):
        x, y = ((Fraction(e[k]) + Fraction(e[k + 1])) / 2 for e, k in zip(edges, (i, j), strict=True))
        over = Fraction(0)
        for ends, number in zip(tree.boxes.tolist(), tree.counts.tolist(), strict=True):
            (left, right), _, (low, high) = [[Fraction(end) for end in one] for one in ends]
            if left < x < right and low < y < high:
                over += Fraction(number) / ((right - left) * (high - low))
        assert crowd[i, j] == pytest.approx(float(over / total), rel=1e-9)


def test_a_coarser_grid_holds_as_many_as_the_exact_one() -> None:
    tree = read_tree(three()["result"])
    fine, grid = boxes.edges_of(tree.boxes[:, 1], 96), np.linspace(0.0, 1.0, 8)
    exact = boxes.crowd(tree.counts, [boxes.shares_of(tree.boxes[:, 1], fine)], [fine])
    coarse = boxes.crowd(tree.counts, [boxes.shares_of(tree.boxes[:, 1], grid)], [grid])
    below = np.concatenate([[0.0], np.cumsum(exact * np.diff(fine))])
    assert np.cumsum(coarse * np.diff(grid)) == pytest.approx(np.interp(grid[1:], fine, below), abs=1e-12)


def test_rectangles_cover_every_cell_once() -> None:
    seed = int(np.random.SeedSequence().entropy % 2**63)  # type: ignore[operator]
    chance = np.random.default_rng(seed)
    for _ in range(50):
        cells = chance.integers(-1, 3, tuple(chance.integers(1, 12, 2)))
        painted = np.zeros_like(cells)
        for shade, top, bottom, left, right in boxes.rectangles(cells):
            assert not painted[top:bottom, left:right].any(), seed
            painted[top:bottom, left:right] = shade
        assert np.array_equal(painted, cells), seed


def test_a_box_without_width_is_in_one_interval_alone() -> None:
    ends = np.array([[0.0, 0.0], [0.5, 0.5], [0.6, 0.6], [1.0, 1.0]])
    shares = boxes.shares_of(ends, np.array([0.0, 0.5, 1.0]))
    assert shares.tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]


def test_leaves_lie_apart_only_where_each_has_a_place_of_its_own() -> None:
    halves = np.array([[[0.0, 0.4], [0.0, 1.0]], [[0.4, 1.0], [0.0, 1.0]]])
    assert boxes.apart(halves)
    assert not boxes.apart(np.concatenate([halves, halves]))
    assert not boxes.apart(np.array([[[0.0, 0.6], [0.0, 1.0]], [[0.4, 1.0], [0.0, 1.0]]]))
    assert not boxes.apart(read_tree(three()["result"]).boxes[:, (0, 2)])


@pytest.mark.parametrize(
    ("most", "factor"),
    [(0.5, 1.25), (2.7, 1.25), (2.8, 1.5), (6.2, 1.5), (20.0, 2.0), (400.0, 4.0), (1e9, 10.0)],
)
def test_shades_are_as_fine_as_what_is_shown_allows(most: float, factor: float) -> None:
    assert boxes.factor_of(most) == factor
    steps = boxes.shades(factor ** np.arange(-3.0, 5.0), factor).tolist()
    assert steps == list(range(1, boxes.LEVELS + 1))
    assert steps[3] == boxes.EVEN
