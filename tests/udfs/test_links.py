from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.graphs import graphs, matrix_of
from udfs.errors import SpecError
from udfs.links import Tile, tiles

TILES = [
    Tile(range(0, 1), range(0, 1)),
    Tile(range(3, 20), range(3, 20)),
    Tile(range(0, 8), range(8, 16)),
    Tile(range(2, 7), range(9, 22)),
    Tile(range(0, 3), range(3, 3)),
]


@given(st.integers(0, 40), st.integers(1, 45))
def test_every_pair_is_in_exactly_one_tile(nodes: int, band: int) -> None:
    found = [
        tuple(pair) for tile in tiles(nodes, band) for pair in tile.pair_of(np.arange(tile.pairs)).tolist()
    ]
    assert sorted(found) == list(itertools.combinations(range(nodes), 2))


@pytest.mark.parametrize("tile", TILES)
def test_numbers_and_pairs_are_each_other_s(tile: Tile) -> None:
    numbers = np.arange(tile.pairs)
    pairs = tile.pair_of(numbers)
    assert tile.places(pairs).tolist() == numbers.tolist()
    assert [tuple(pair) for pair in pairs.tolist()] == sorted(
        (low, high) for low in tile.rows for high in tile.columns if low < high
    )


@given(graphs(), st.integers(1, 10), st.randoms(use_true_random=False))
def test_links_are_found_in_their_tiles_whatever_their_ends_order_and_repeats(graph, band, random) -> None:
    nodes, links = graph
    noted = [pair if random.random() < 0.5 else pair[::-1] for pair in links.tolist() * 2]
    noted += [[node, node] for node in range(nodes)]
    random.shuffle(noted)
    table = np.array(noted, dtype=np.int64).reshape(-1, 2)
    found = [pair for tile in tiles(nodes, band) for pair in tile.pair_of(tile.select(table)).tolist()]
    assert sorted(found) == links.tolist()


@pytest.mark.parametrize("tile", TILES)
@given(data=st.data())
def test_bits_hold_the_pairs_that_are_set_and_no_other(tile: Tile, data) -> None:
    chosen = data.draw(st.sets(st.integers(0, tile.pairs - 1))) if tile.pairs else set()
    places = np.array(sorted(chosen), dtype=np.int64)
    bits = tile.to_bits(places)
    assert bits.shape == (len(tile.rows), -(-len(tile.columns) // 8))
    assert tile.from_bits(bits).tolist() == places.tolist()
    flags = np.zeros(tile.pairs, dtype=bool)
    flags[places] = True
    assert (tile.pack(flags) == bits).all()
    assert np.bitwise_count(bits).sum() == len(places)


@given(graphs(), st.integers(1, 10))
def test_degrees_add_up_over_tiles(graph, band) -> None:
    nodes, links = graph
    total = np.zeros(nodes, dtype=np.int64)
    for tile in tiles(nodes, band):
        total += tile.degrees(tile.to_bits(tile.select(links)), nodes)
    assert total.tolist() == matrix_of(nodes, links).sum(axis=0).tolist()


def test_large_tiles_are_unpacked_a_few_rows_at_a_time() -> None:
    tile = Tile(range(0, 700), range(0, 700))
    places = np.arange(0, tile.pairs, 7)
    assert tile.from_bits(tile.to_bits(places)).tolist() == places.tolist()


def test_a_tile_below_the_diagonal_is_refused() -> None:
    for rows, columns in ((range(5, 9), range(0, 4)), (range(0, 5), range(4, 9))):
        with pytest.raises(SpecError, match="on the diagonal or above it"):
            Tile(rows, columns)
    for nodes, band in ((-1, 2), (3, 0)):
        with pytest.raises(SpecError, match="tiles"):
            tiles(nodes, band)
