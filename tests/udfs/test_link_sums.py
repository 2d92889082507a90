"""Sums over reported graphs, against their definitions in plain numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import udfs.link_sums
from udfs.errors import SpecError
from udfs.link_sums import MOST_NODES, LinkSums, band_bits, degrees, link_sums, tile_sums
from udfs.links import Tile, tiles

NAMES = ("degrees", "paths", "corners", "squares", "weighted")


def reported(nodes, share, seed):
    """A symmetric matrix of zeros and ones, with a zero diagonal."""
    upper = np.triu(np.random.default_rng(seed).random((nodes, nodes)) < share, 1)
    return (upper | upper.T).astype(np.int64)


matrices = st.builds(
    reported, st.integers(0, 40), st.sampled_from([0, 0.01, 0.1, 0.5, 1]), st.integers(0, 2**32)
)
bands = st.sampled_from([8, 16, 40])


def plain(matrix):
    """The sums as their definitions have them."""
    common = matrix @ matrix
    np.fill_diagonal(common, 0)
    ones = matrix.sum(axis=1)
    return ones, common.sum(axis=1), (matrix * common).sum(axis=1), (common**2).sum(axis=1), common @ ones


def packed(matrix):
    return np.packbits(matrix.astype(np.uint8), axis=1)


def rows_of(matrix):
    bits = packed(matrix)
    return lambda band: bits[band.start : band.stop]


def assert_equal(sums, expected):
    for name, numbers in zip(NAMES, expected, strict=True):
        np.testing.assert_array_equal(getattr(sums, name), numbers, err_msg=name, strict=True)


@given(matrices, bands)
def test_sums_are_those_of_plain_numpy_however_pairs_are_cut_into_tiles(matrix, band):
    assert_equal(link_sums(rows_of(matrix), len(matrix), band), plain(matrix))


@given(matrices, bands, st.randoms())
def test_tiles_are_added_in_any_order(matrix, band, random):
    nodes, rows, ones = len(matrix), rows_of(matrix), matrix.sum(axis=1)
    parts = [tile_sums(tile, rows(tile.rows), rows(tile.columns), ones) for tile in tiles(nodes, band)]
    parts.append(LinkSums.none(nodes))
    while len(parts) > 1:
        random.shuffle(parts)
        parts.append(parts.pop() + parts.pop())
    assert_equal(parts[0], plain(matrix))


@pytest.mark.parametrize("share", [0, 0.02, 0.3, 1])
@pytest.mark.parametrize("threshold", [-1, 2])
def test_sparse_and_dense_products_are_the_same(monkeypatch, share, threshold):
    monkeypatch.setattr(udfs.link_sums, "_SPARSE", threshold)
    matrix = reported(100, share, seed=7)
    assert_equal(link_sums(rows_of(matrix), 100, 64), plain(matrix))


@pytest.mark.parametrize("inner_bytes", [1, 3, 13])
def test_products_are_added_up_over_blocks_of_columns(monkeypatch, inner_bytes):
    monkeypatch.setattr(udfs.link_sums, "_INNER_BYTES", inner_bytes)
    matrix = reported(100, 0.5, seed=8)
    assert_equal(link_sums(rows_of(matrix), 100, 64), plain(matrix))


def test_sums_that_float32_would_round_are_exact():
    matrix = 1 - np.eye(608, dtype=np.int64)
    sums = link_sums(rows_of(matrix), 608, 608)
    assert_equal(sums, plain(matrix))
    assert set(sums.squares) == {607 * 606**2}
    assert int(np.float32(607 * 606**2)) != 607 * 606**2


def test_a_tile_adds_nothing_to_nodes_outside_of_it():
    matrix = reported(64, 0.5, seed=9)
    rows, tile = rows_of(matrix), Tile(range(8, 24), range(40, 48))
    sums = tile_sums(tile, rows(tile.rows), rows(tile.columns), matrix.sum(axis=1))
    inside = [*tile.rows, *tile.columns]
    for name in NAMES:
        numbers = getattr(sums, name)
        assert numbers[inside].all()
        assert not np.delete(numbers, inside).any()


@given(matrices)
def test_degrees_are_the_ones_of_each_row(matrix):
    np.testing.assert_array_equal(degrees(packed(matrix)), matrix.sum(axis=1), strict=True)


@given(matrices, bands, st.randoms())
def test_tiles_make_the_rows_of_the_symmetric_matrix(matrix, band, random):
    nodes, links = len(matrix), np.argwhere(np.triu(matrix))
    reports = [(tile, tile.to_bits(tile.select(links))) for tile in tiles(nodes, band)]
    random.shuffle(reports)
    for rows in (tile.rows for tile, _ in reports if tile.diagonal):
        expected = packed(matrix)[rows.start : rows.stop]
        np.testing.assert_array_equal(band_bits(rows, reports, nodes), expected, strict=True)


@pytest.mark.parametrize("wrong", ["rows", "columns"])
def test_rows_of_another_length_are_refused(wrong):
    tile, right = Tile(range(8), range(8, 16)), np.zeros((8, 2), dtype=np.uint8)
    bits = {"rows": right, "columns": right} | {wrong: right[:, :1]}
    with pytest.raises(
        SpecError, match=rf"{wrong}: must be packed rows of 8 of 16 nodes; got shape \(8, 1\)"
    ):
        tile_sums(tile, **bits, ones=np.zeros(16, dtype=np.int64))


def test_more_nodes_than_sums_hold_are_refused():
    nodes = MOST_NODES + 8
    bits = np.zeros((8, nodes // 8), dtype=np.uint8)
    with pytest.raises(SpecError, match="nodes: must be 1048576 or fewer"):
        tile_sums(Tile(range(8), range(8)), bits, bits, np.zeros(nodes, dtype=np.int64))
