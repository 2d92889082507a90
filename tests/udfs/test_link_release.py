"""A tile draws a uniform set of its reported links and one of its other pairs, and nothing else."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import udfs.link_release
from tests.statistics import UnlikelyError, assert_law
from udfs.draws import RowDraws
from udfs.errors import SpecError
from udfs.link_release import LinkRelease, first_distinct, uniform_subset
from udfs.links import tiles
from udfs.streams import derive_key
from udfs.uniform import uniform_digits

KEY = bytes(range(32))

keys = st.binary(min_size=32, max_size=32)


def packed(tile, links):
    """Return a tile's bits, and the pairs in it that are no links."""
    bits = np.zeros((len(tile.rows), len(tile.columns)), dtype=np.uint8)
    others = []
    for row, i in enumerate(tile.rows):
        for column, j in enumerate(tile.columns):
            bits[row, column] = (i, j) in links
            if i < j and (i, j) not in links:
                others.append((i, j))
    return np.packbits(bits, axis=1), others


@st.composite
def reported_graphs(draw):
    """Draw a number of nodes, a set of links, and a band."""
    nodes = draw(st.integers(0, 21))
    links = draw(st.sets(st.sampled_from(list(combinations(range(nodes), 2))))) if nodes > 1 else set()
    return nodes, links, draw(st.sampled_from([8, 16, 24]))


@given(graph=reported_graphs(), shares=st.tuples(st.floats(0, 1), st.floats(0, 1)), key=keys)
def test_kept_links_are_reported_and_added_ones_are_other_pairs_of_the_tile(graph, shares, key):
    nodes, links, band = graph
    for tile in tiles(nodes, band):
        bits, others = packed(tile, links)
        ones = [(i, j) for i, j in links if i in tile.rows and j in tile.columns]
        kept, added = round(shares[0] * len(ones)), round(shares[1] * len(others))
        drawn = LinkRelease(kept, added).draw(tile, bits, key)
        assert (drawn.dtype, drawn.shape) == (np.int64, (kept + added, 2))
        pairs = [tuple(pair) for pair in drawn.tolist()]
        assert pairs == sorted(set(pairs))
        assert len(set(pairs) & set(ones)) == kept
        assert len(set(pairs) & set(others)) == added


@given(graph=reported_graphs())
def test_all_that_is_reported_and_all_that_is_not_come_back_whole(graph):
    nodes, links, band = graph
    kept, added = set(), set()
    for tile in tiles(nodes, band):
        bits, others = packed(tile, links)
        ones = int(np.bitwise_count(bits).sum())
        kept |= set(map(tuple, LinkRelease(ones, 0).draw(tile, bits, KEY).tolist()))
        added |= set(map(tuple, LinkRelease(0, len(others)).draw(tile, bits, KEY).tolist()))
        assert len(LinkRelease(ones, len(others)).draw(tile, bits, KEY)) == ones + len(others)
        assert LinkRelease(0, 0).draw(tile, bits, KEY).shape == (0, 2)
    assert kept == links
    assert added == set(combinations(range(nodes), 2)) - links


def test_a_key_always_gives_the_same_links_and_another_key_others():
    _, tile, _ = tiles(11, 8)
    bits, _ = packed(tile, {(0, 8), (1, 9), (2, 10), (7, 8)})
    drawn = LinkRelease(2, 3).draw(tile, bits, KEY).tolist()
    assert (
        drawn == LinkRelease(2, 3).draw(tile, bits, KEY).tolist() == [[0, 8], [4, 9], [5, 8], [7, 8], [7, 9]]
    )
    assert drawn != LinkRelease(2, 3).draw(tile, bits, bytes(32)).tolist()


@pytest.mark.parametrize(
    ("kept", "added", "where"), [(5, 0, "kept"), (0, 21, "added"), (-1, 0, "kept"), (0, -1, "added")]
)
def test_more_links_than_a_tile_has_are_refused(kept, added, where):
    _, tile, _ = tiles(11, 8)
    bits, others = packed(tile, {(0, 8), (1, 9), (2, 10), (7, 8)})
    assert len(others) == 20
    with pytest.raises(
        SpecError, match=f"^{where}: must lie between .*; got {kept or added} of {4 if kept else 20}"
    ):
        LinkRelease(kept, added).draw(tile, bits, KEY)


@pytest.mark.parametrize("shape", [(8, 2), (7, 1), (1, 1), (8,)])
def test_bits_of_another_shape_than_the_tile_s_are_refused(shape):
    _, tile, _ = tiles(11, 8)
    with pytest.raises(SpecError, match=r"^reports: must be 8 x 1 bytes; got \("):
        LinkRelease(0, 1).draw(tile, np.zeros(shape, dtype=np.uint8), KEY)


def test_of_all_sequences_as_many_mark_one_set_as_another():
    size, length = 4, 6
    for wanted in range(size):
        marked = dict.fromkeys(combinations(range(size), wanted), 0)
        for sequence in product(range(size), repeat=length):
            if len(set(sequence)) < wanted:
                continue
            rest = list(sequence)

            def numbers(_, rows, rest=rest):
                taken = rest[:rows]
                del rest[:rows]
                return np.array(taken, dtype=np.uint64)

            chosen = tuple(np.flatnonzero(first_distinct(size, wanted, numbers)).tolist())
            read = sequence[: length - len(rest)]
            assert set(read) == set(chosen)
            assert not wanted or set(read[:-1]) != set(chosen)
            marked[chosen] += 1
        assert len(set(marked.values())) == 1


@pytest.mark.parametrize("at_once", [1, 3, 1 << 20])
@pytest.mark.parametrize(("size", "wanted"), [(1, 0), (1, 1), (9, 4), (9, 5), (10, 5), (50, 47), (300, 150)])
def test_a_subset_is_the_first_distinct_numbers_of_the_keystream_or_all_but_these(
    size, wanted, at_once, monkeypatch
):
    monkeypatch.setattr(udfs.link_release, "_AT_ONCE", at_once)
    fewer = min(wanted, size - wanted)
    chosen, turn = set(), 0
    while len(chosen) < fewer:
        draws = RowDraws(derive_key(KEY, str(turn)), min(fewer - len(chosen), at_once))
        chosen |= set(uniform_digits(draws, [size])[0].tolist())
        turn += 1
    expected = chosen if fewer == wanted else set(range(size)) - chosen
    assert uniform_subset(size, wanted, KEY).tolist() == sorted(expected)


def test_nothing_of_nothing_is_an_empty_set():
    assert uniform_subset(0, 0, KEY).tolist() == []


def counted(draw, outcomes):
    """Return a sample that counts the outcomes of a draw under many keys."""
    numbers = {outcome: number for number, outcome in enumerate(outcomes)}

    def sample(secret, draws):
        drawn = [numbers[draw(secret.key("draw", str(turn)))] for turn in range(draws)]
        return np.bincount(drawn, minlength=len(outcomes))

    return sample


@pytest.mark.parametrize("wanted", [2, 3])
def test_one_subset_is_as_likely_as_another(wanted):
    outcomes = list(combinations(range(5), wanted))
    always_left = (4,) if wanted == 3 else ()

    def draw(key):
        return tuple(uniform_subset(5, wanted, key).tolist())

    def draw_from_one_less(key):
        return tuple(uniform_subset(4, 2, key).tolist()) + always_left

    law = [Fraction(1, 10)] * 10
    mutant = [Fraction((4 in outcome) == (wanted == 3), 6) for outcome in outcomes]
    assert_law(counted(draw, outcomes), law, mutant)
    with pytest.raises(UnlikelyError):
        assert_law(counted(draw_from_one_less, outcomes), law, mutant)


def test_what_is_kept_tells_nothing_of_what_is_added(monkeypatch):
    (tile,) = tiles(4, 8)
    links = {(0, 1), (0, 3), (2, 3)}
    bits, others = packed(tile, links)
    outcomes = [tuple(sorted(pair)) for pair in product(sorted(links), others)]

    def draw(key):
        return tuple(map(tuple, LinkRelease(1, 1).draw(tile, bits, key).tolist()))

    law = [Fraction(1, 9)] * 9
    mutant = [Fraction(row == column, 3) for row in range(3) for column in range(3)]
    assert_law(counted(draw, outcomes), law, mutant)
    monkeypatch.setattr(
        udfs.link_release, "derive_key", lambda key, label: derive_key(key, label.replace("added", "kept"))
    )
    with pytest.raises(UnlikelyError):
        assert_law(counted(draw, outcomes), law, mutant)
