from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from tests.statistics import UnlikelyError, assert_law
from udfs.directions import LARGEST, UNIT, Directions, in_blocks, moments, normal, row_names
from udfs.draws import IdDraws, Numbered, PublicDraws, Some, fresh_draws
from udfs.streams import derive_key

SEED = bytes(range(32))


def names_of(rows, first=0):
    return row_names(PublicDraws(Numbered(first, rows)), SEED)


@cache
def magnitudes():
    """Return magnitudes of all octaves: all small ones, all powers of two and their neighbours, many others."""
    powers = 2 ** np.arange(1, 32, dtype=np.int64)
    chance = np.random.default_rng()
    spread = np.exp2(chance.uniform(0, 31, 300_000)).astype(np.int64)
    every = np.concatenate([np.arange(1 << 18), powers - 1, powers[:-1], powers[:-1] + 1, spread])
    return np.unique(every)


def test_quantiles_are_those_of_the_normal_law_to_the_millionth():
    a = magnitudes()
    error = normal(a.astype(np.int32)) / UNIT + ndtri((a + 0.5) / 2**32)
    assert np.abs(error).max() < 1e-6


def test_quantiles_fall_as_magnitudes_grow():
    steps = np.diff(normal(magnitudes().astype(np.int32)))
    assert steps.max() <= UNIT * 1e-6  # from one straight line to the next


def test_the_law_is_symmetric():
    words = magnitudes().astype(np.int32)
    np.testing.assert_array_equal(normal(~words), -normal(words))


def test_no_coordinate_is_larger_than_the_largest():
    assert LARGEST - 5 <= normal(np.zeros(1, dtype=np.int32))[0] <= LARGEST
    assert normal(magnitudes().astype(np.int32)).max() <= LARGEST


def test_moments_are_those_of_all_words():
    """By strata that lie on one straight line each, of which the two middle words have the mean."""
    absolute, squares = moments()
    assert abs(absolute - math.sqrt(2 / math.pi)) < 1e-7
    assert abs(squares - 1) < 1e-7
    strata = 1 << 13
    few = normal(np.arange(1 << 20, dtype=np.int64).astype(np.int32)).tolist()
    exact = [Fraction(sum(few)), Fraction(sum(size * size for size in few))]
    for octave in range(20, 31):
        width = (1 << octave) // strata
        middle = (1 << octave) + width * np.arange(strata, dtype=np.int64) + width // 2
        sizes = normal(np.concatenate([middle - 1, middle]).astype(np.int32)).tolist()
        exact[0] += Fraction(sum(sizes) * width, 2)
        exact[1] += Fraction(sum(size * size for size in sizes) * width, 2)
    assert abs(float(exact[0] / (UNIT << 31)) - absolute) < 2e-9
    assert abs(float(exact[1] / (UNIT * UNIT << 31)) - squares) < 2e-9


@pytest.mark.parametrize("octave", [21, 25, 30])
def test_all_words_of_a_cell_have_one_value(octave):
    width = 1 << octave - 21
    for cell in (0, 1, (1 << 21) - 1):
        first = (1 << octave) + cell * width
        ends = normal(np.array([first, first + width - 1, first + width // 2], dtype=np.int32))
        assert len(set(ends.tolist())) == 1


def test_a_coordinate_is_the_quantile_of_a_piece_of_one_block():
    """Written anew from the documentation, with no line of the product's but the derivation of keys."""
    names = names_of(3)
    encryptor = Cipher(algorithms.AES(derive_key(SEED, "coordinates")), modes.ECB()).encryptor()
    for row, (one, other) in enumerate(names.tolist()):
        for coordinate in (0, 3, 4, 1_000_001):
            block = one.to_bytes(8, "little") + (other ^ coordinate // 4).to_bytes(8, "little")
            piece = encryptor.update(block)[4 * (coordinate % 4) :][:4]
            word = int.from_bytes(piece, "little", signed=True)
            size = -ndtri(((~word if word < 0 else word) + 0.5) / 2**32)
            expected = -size if word < 0 else size
            found = Directions(SEED, names[[row]]).coordinates([coordinate])[0, 0]
            assert abs(found / UNIT - expected) < 1e-6


def test_directions_are_the_same_on_every_machine():
    found = Directions(SEED, names_of(2)).coordinates([0, 1, 2, 3, 4095])
    assert found.tolist() == [
        [-9760798, -3465207, 4594769, -17746378, -6093590],
        [11570414, -23924244, 36294739, 9291723, 15994428],
    ]


@given(
    wanted=st.sets(st.integers(0, 5000), min_size=1, max_size=12),
    rows=st.integers(1, 9),
    cut=st.integers(0, 8),
)
def test_a_coordinate_depends_on_its_row_and_number_alone(wanted, rows, cut):
    names, wanted = names_of(rows), sorted(wanted)
    together = Directions(SEED, names).coordinates(wanted)
    alone = [Directions(SEED, names).coordinates([one])[:, 0] for one in wanted]
    np.testing.assert_array_equal(together, np.stack(alone, axis=1))
    parts = [Directions(SEED, part).coordinates(wanted) for part in (names[:cut], names[cut:])]
    np.testing.assert_array_equal(together, np.concatenate(parts))


@given(entries=st.lists(st.integers(0, 100_000), min_size=1, max_size=20))
def test_every_row_may_look_up_a_coordinate_of_its_own(entries):
    directions = Directions(SEED, names_of(len(entries)))
    every = [directions.coordinates([entry])[row, 0] for row, entry in enumerate(entries)]
    assert directions.at(np.array(entries, dtype=np.uint64)).tolist() == every


@given(st.sets(st.integers(0, 60)))
def test_blocks_hold_all_coordinates_once(wanted):
    found = [4 * counter + piece for _, counter, pieces in in_blocks(sorted(wanted)) for piece in pieces]
    assert found == sorted(wanted)


def test_names_depend_on_where_rows_stand_and_on_the_seed_alone():
    names = names_of(6)
    np.testing.assert_array_equal(names[4:], names_of(2, first=4))
    np.testing.assert_array_equal(names, row_names(fresh_draws(6, Numbered(0, 6)), SEED))
    by_id = IdDraws(bytes(32), Numbered(0, 6).blocks(b""), np.arange(6, dtype=np.uint8), Numbered(0, 6))
    np.testing.assert_array_equal(names, row_names(by_id, SEED))
    np.testing.assert_array_equal(names[[1, 3]], row_names(Some(by_id, np.array([1, 3])), SEED))
    assert not (names == row_names(by_id, bytes(32))).any()
    assert len(np.unique(names)) == names.size


def events(secret, rows, coordinates=(0, 1, 6)):
    """Count signs, quartiles, agreements of signs, and tails of three coordinates."""
    names = row_names(PublicDraws(Numbered(0, rows)), secret.key("seed"))
    found = np.concatenate(
        [
            Directions(secret.key("seed"), names[start : start + 4096]).coordinates(coordinates)
            for start in range(0, rows, 4096)
        ]
    )
    one, other, third = found.T
    quartile = UNIT * 0.6744897501960817
    return np.array(
        [
            *((column > 0).sum() for column in found.T),
            *((np.abs(column) < quartile).sum() for column in found.T),
            ((one > 0) == (other > 0)).sum(),
            ((one > 0) == (third > 0)).sum(),
            ((other > 0) == (third > 0)).sum(),
            (np.abs(one + other + third) < math.sqrt(3) * quartile).sum(),
        ]
    )


def test_coordinates_are_independent_and_normal():
    law = [0.5] * 10
    assert_law(events, law, [0.51] * 10)


def test_coordinates_that_are_one_another_are_caught():
    with pytest.raises(UnlikelyError):
        assert_law(lambda secret, rows: events(secret, rows, (0, 1, 1)), [0.5] * 10, [0.51] * 10)
