"""Both samplers flip with exactly the probability they are given: draw by draw, with words written down."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import udfs.link_response as sampling
from tests.udfs.pairs import pair_of
from udfs.exact import WORD
from udfs.link_response import FURTHEST
from udfs.links import Tile

KEY = bytes(range(32))
REST = 1 << 56
LARGEST_RARE = REST - 1

SMALL_TILES = [
    Tile(range(8, 21), range(8, 21)),
    Tile(range(0, 5), range(8, 29)),
    Tile(range(2, 3), range(2, 3)),
]

dense_flips = st.integers(REST, WORD // 2 - 1) | st.sampled_from([REST, REST + 1, 2 * REST, WORD // 2 - 1])
rare_flips = st.integers(0, 55).flatmap(lambda bit: st.integers(1 << bit, (2 << bit) - 1))
words = st.integers(0, WORD - 1)


def scripted(monkeypatch, script):
    """Let draws be words that are written down, by their index."""

    class Scripted:
        def __init__(self, key, rows):
            self.rows = rows

        def words(self, index):
            return np.array(script[index][: self.rows], dtype="<u8")

    monkeypatch.setattr(sampling, "RowDraws", Scripted)


# The dense sampler


@given(flip=dense_flips, word=words)
def test_every_first_byte_and_what_follows_make_a_number_that_is_compared_with_the_threshold(flip, word):
    edge = flip % REST << 8
    every_byte = np.arange(256, dtype=np.uint8).view("<u8")
    for rest in {word, edge, max(0, edge - 1), min(WORD - 1, edge + 255), 0, WORD - 1}:
        with pytest.MonkeyPatch.context() as monkeypatch:
            scripted(monkeypatch, {6: every_byte, 7: [rest]})
            flips = sampling._below(flip, KEY, 3, 256)
        assert flips.tolist() == [byte * REST + (rest >> 8) < flip for byte in range(256)]


@given(
    tile=st.sampled_from(SMALL_TILES),
    at_once=st.sampled_from([1, 21, 63, 1 << 18]),
    seed=st.integers(0, 1 << 32),
)
def test_the_dense_sampler_draws_for_whole_rows_and_once_for_each_pair(tile, at_once, seed):
    drawn = []

    def below(flip, key, turn, size):
        assert (turn, flip, key) == (len(drawn), WORD // 3, KEY)
        drawn.append(np.random.default_rng([seed, turn]).random(size) < 0.5)
        return drawn[-1].copy()

    links = np.arange(0, tile.pairs, 2)
    bits = tile.to_bits(links)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(sampling, "_AT_ONCE", at_once)
        monkeypatch.setattr(sampling, "_below", below)
        sampling._flip_densely(bits, tile, WORD // 3, KEY)
    grid = np.concatenate(drawn).reshape(len(tile.rows), len(tile.columns))
    i, j = pair_of(tile, np.arange(tile.pairs))
    flips = np.flatnonzero(grid[i - tile.rows.start, j - tile.columns.start])
    assert np.array_equal(bits, tile.to_bits(np.setxor1d(links, flips)))


# The rare sampler


@pytest.mark.parametrize("flip", [1, 2, 3, 1 << 10, (1 << 40) + 7, 1 << 52, LARGEST_RARE])
def test_powers_are_the_ideal_ones_rounded_down_and_strictly_ascending(flip):
    table = sampling._powers(flip).tolist()
    assert len(table) == FURTHEST
    assert all(low < high for low, high in pairwise(table))
    keep = Fraction(WORD - flip, WORD)
    for k in [1, 2, 3, 63, 64, 65, 1000, FURTHEST]:
        assert table[-k] == int(keep**k * WORD)


@given(flip=rare_flips, k=st.integers(1, FURTHEST), off=st.integers(-2, 2), word=words, further=words)
def test_a_skip_is_how_many_powers_exceed_the_number_that_was_drawn(flip, k, off, word, further):
    table = sampling._powers(flip).tolist()
    at_edge = min(WORD - 1, max(0, table[-k] + off))
    script = [word, at_edge, table[-k], table[-1], table[0], 0, WORD - 1]
    with pytest.MonkeyPatch.context() as monkeypatch:
        scripted(monkeypatch, {5: script})
        monkeypatch.setattr(sampling, "byte_stream", lambda key: lambda size: further.to_bytes(size, "big"))
        skips = sampling._skips(flip, KEY, 5, len(script))
    keep = WORD - flip

    def exceeds(first, power):
        """Whether (1 - q)**power is above 0.first further further ..., to 256 bits."""
        if table[-power] != first:
            return table[-power] > first
        number = (first << 192) + sum(further << 64 * place for place in range(3))
        return (keep**power << 256 >> 64 * power) > number

    for first, skip in zip(script, skips.tolist(), strict=True):
        assert skip == 0 or exceeds(first, skip)
        assert skip == FURTHEST or not exceeds(first, skip + 1)


def test_every_skip_that_64_bits_do_not_decide_has_further_bits_of_its_own(monkeypatch):
    used = []
    monkeypatch.setattr(sampling, "byte_stream", lambda key: used.append(key) or bytes)
    tied = [int(sampling._powers(LARGEST_RARE)[-3])] * 2
    scripted(monkeypatch, {0: [5, *tied], 1: [5, *tied]})
    for turn in range(2):
        assert sampling._skips(LARGEST_RARE, KEY, turn, 3).tolist() == [FURTHEST, 3, 3]
    assert len(set(used)) == len(used) == 4


@given(
    keep=st.integers(1, WORD - 1) | st.sampled_from([WORD - 1, WORD // 2, 3 * WORD // 4]),
    exponent=st.integers(1, 6),
    place=st.integers(0, 6),
    off=st.integers(-1, 1),
)
def test_bits_are_drawn_until_a_number_is_told_from_a_power(keep, exponent, place, off):
    power = keep**exponent
    digits = [(power >> 64 * (exponent - 1 - place)) % WORD for place in range(exponent)] + [0]
    place = min(place, exponent)
    digits[place] = min(WORD - 1, max(0, digits[place] + off))
    read = iter(digits[1:])
    number = sum(Fraction(digit, WORD ** (place + 1)) for place, digit in enumerate(digits))
    is_below = sampling._is_below_power(
        keep, exponent, digits[0], lambda size: next(read).to_bytes(size, "big")
    )
    assert is_below == (number < Fraction(keep, WORD) ** exponent)


@given(
    tile=st.sampled_from(SMALL_TILES),
    at_once=st.sampled_from([1, 2, 7, 1 << 18]),
    script=st.lists(st.integers(0, 5), min_size=200, max_size=200),
)
def test_the_rare_sampler_flips_the_pair_behind_each_skip_and_starts_anew_after_it(tile, at_once, script):
    furthest, used, turns = 5, [], []

    def skips(flip, key, turn, size):
        assert (turn, size <= at_once) == (len(turns), True)
        turns.append(turn)
        start = len(used)
        used.extend(script[start : start + size])
        return np.array(used[start:])

    links = np.arange(0, tile.pairs, 3)
    bits = tile.to_bits(links)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(sampling, "FURTHEST", furthest)
        monkeypatch.setattr(sampling, "_AT_ONCE", at_once)
        monkeypatch.setattr(sampling, "_skips", skips)
        sampling._flip_rarely(bits, tile, LARGEST_RARE, KEY)
    place, flips = 0, []
    for skip in used:
        place += skip
        if skip < furthest:
            flips.append(place)
            place += 1
    assert place >= tile.pairs
    flips = [flip for flip in flips if flip < tile.pairs]
    assert np.array_equal(bits, tile.to_bits(np.setxor1d(links, np.array(flips, dtype=np.int64))))
