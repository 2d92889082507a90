"""Every pair of nodes is in one tile, has one place there and one bit: shown against plain enumeration."""

from __future__ import annotations

import pickle
import tracemalloc
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.pairs import places_of
from udfs.errors import SpecError
from udfs.links import Tile, group_tiles, tiles

BIG = 1 << 12


@st.composite
def any_tile(draw):
    """Draw a tile, on the diagonal or off it."""
    first, size = draw(st.integers(0, 50)), draw(st.integers(1, 21))
    rows = range(first, first + size)
    if draw(st.booleans()):
        return Tile(rows, rows)
    start = rows.stop + draw(st.integers(0, 30))
    return Tile(rows, range(start, start + draw(st.integers(1, 21))))


def pairs_of(tile):
    """Return the pairs of a tile, row by row."""
    return [(i, j) for i, j in product(tile.rows, tile.columns) if i < j]


def some_places(tile):
    """Return a strategy of sets of places."""
    return st.sets(st.integers(0, tile.pairs - 1)) if tile.pairs else st.just(set())


def as_array(numbers):
    return np.array(sorted(numbers), dtype=np.int64)


@given(nodes=st.integers(0, 60), band=st.sampled_from([8, 16, 24, 64]))
def test_every_pair_is_in_exactly_one_tile(nodes, band):
    cut = tiles(nodes, band)
    together = [pair for tile in cut for pair in pairs_of(tile)]
    assert sorted(together) == list(combinations(range(nodes), 2))
    assert [tile.pairs for tile in cut] == [len(pairs_of(tile)) for tile in cut]


def test_tiles_are_ordered_by_rows_then_columns_and_the_last_band_holds_the_rest():
    bands = [range(0, 8), range(8, 16), range(16, 17)]
    assert [(tile.rows, tile.columns) for tile in tiles(17, 8)] == [
        (bands[a], bands[b]) for a, b in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    ]
    assert [tile.diagonal for tile in tiles(17, 8)] == [True, False, False, True, False, True]
    assert tiles(0, 8) == ()


@given(tile=any_tile())
def test_places_number_the_pairs_row_by_row(tile):
    i, j = np.array(pairs_of(tile), dtype=np.int64).reshape(-1, 2).T
    places = tile.places(i, j)
    assert places.tolist() == list(range(tile.pairs))
    assert places.dtype == np.int64


@pytest.mark.parametrize("size", [BIG, (1 << 20) - 1, 1 << 20])
def test_places_of_a_large_diagonal_tile_are_exact_at_both_ends_of_its_rows(size):
    tile = Tile(range(size, 2 * size), range(size, 2 * size))
    rows = [0, 1, size // 2, size - 3, size - 2]
    before = [row * (size - 1) - row * (row - 1) // 2 for row in rows]
    for row, first in zip(rows, before, strict=True):
        ends = np.array([first, first + size - 2 - row])
        i, j = size + np.array([row, row]), size + np.array([row + 1, size - 1])
        assert tile.places(i, j).tolist() == ends.tolist()
        at, masks = tile.bit_masks(ends)
        assert at.tolist() == [row * tile.row_bytes + (column >> 3) for column in (row + 1, size - 1)]
        assert masks.tolist() == [128 >> (column & 7) for column in (row + 1, size - 1)]
    assert before[-1] == tile.pairs - 1


@given(data=st.data(), tile=any_tile())
def test_pairs_are_selected_whatever_their_order_and_however_often_they_come(data, tile):
    node = st.integers(0, 110) | st.sampled_from([*tile.rows, *tile.columns])
    pairs = data.draw(st.lists(st.tuples(node, node)))
    pairs += [(j, i) for i, j in pairs[::2]]
    here = {(min(pair), max(pair)) for pair in pairs} & set(pairs_of(tile))
    places = tile.select(np.array(pairs, dtype=np.int64).reshape(-1, 2))
    assert places.dtype == np.int64
    assert places.tolist() == [place for place, pair in enumerate(pairs_of(tile)) if pair in here]


def test_a_node_is_no_pair_with_itself():
    tile = Tile(range(0, 8), range(0, 8))
    assert tile.select(np.array([[3, 3], [0, 0], [7, 7]])).size == 0


@given(data=st.data(), tile=any_tile())
def test_bits_are_those_of_the_packed_matrix(data, tile):
    places = data.draw(some_places(tile))
    links = {pair for place, pair in enumerate(pairs_of(tile)) if place in places}
    matrix = np.array([[(i, j) in links for j in tile.columns] for i in tile.rows])
    bits = tile.to_bits(np.array([*places, *places], dtype=np.int64))
    assert bits.dtype == np.uint8
    assert np.array_equal(bits, np.packbits(matrix, axis=1))
    assert bits.shape == (len(tile.rows), tile.row_bytes)


@pytest.mark.parametrize("tile", [tiles(11, 8)[0], tiles(11, 8)[1]], ids=str)
def test_a_place_beyond_the_tiles_pairs_is_refused(tile):
    for place in (-1, tile.pairs):
        with pytest.raises(SpecError, match=f"numbers of the tile's pairs; got a tile of {tile.pairs}"):
            tile.to_bits(np.array([0, place]))


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (range(8, 16), range(0, 8)),
        (range(0, 8), range(7, 16)),
        (range(0, 8), range(0, 9)),
        (range(0, 0), range(0, 0)),
        (range(0, 8), range(8, 8)),
        (range(0, 8, 2), range(0, 8, 2)),
        (range(-8, 0), range(0, 8)),
    ],
)
def test_nodes_that_make_no_tile_are_refused(rows, columns):
    with pytest.raises(SpecError, match="rows come before"):
        Tile(rows, columns)


@pytest.mark.parametrize("band", [0, -8, 1, 12])
def test_a_band_that_is_no_multiple_of_8_is_refused(band):
    with pytest.raises(SpecError, match=f"positive multiple of 8; got {band}"):
        tiles(100, band)


def test_a_negative_number_of_nodes_is_refused():
    with pytest.raises(SpecError, match="zero or more; got -1"):
        tiles(-1, 8)


def test_a_tile_travels():
    for tile in tiles(17, 8):
        assert pickle.loads(pickle.dumps(tile)) == tile


@pytest.mark.parametrize("columns", [range(0, BIG), range(BIG, 2 * BIG)], ids=["diagonal", "off"])
def test_a_sparse_tile_takes_little_more_memory_than_its_bits(columns):
    tile = Tile(range(0, BIG), columns)
    places = as_array(range(0, tile.pairs, 1000))
    tracemalloc.start()
    try:
        bits = tile.to_bits(places)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert np.array_equal(places_of(tile, bits), places)
    assert peak < bits.nbytes + 4 * (1 << 20)


@given(st.data(), any_tile())
def test_degrees_count_both_ends_of_every_pair(data, tile):
    pairs = data.draw(st.lists(st.sampled_from(pairs_of(tile)), unique=True)) if tile.pairs else []
    nodes = tile.columns.stop + 3
    bits = tile.to_bits(tile.select(np.array(pairs, dtype=np.int64).reshape(-1, 2)))
    expected = [sum(node in pair for pair in pairs) for node in range(nodes)]
    assert tile.degrees(bits, nodes).tolist() == expected


def test_tiles_are_grouped_in_order_until_their_sizes_suffice():
    own = tiles(60, 16)
    sizes = [tile.pairs for tile in own]
    groups = group_tiles(own, sizes, 300)
    assert tuple(tile for group in groups for tile in group) == own
    assert all(sum(tile.pairs for tile in group) >= 300 for group in groups[:-1])
    assert [len(group) for group in group_tiles(own, sizes, 1)] == [1] * len(own)
    assert group_tiles([], [], 5) == []
