"""Reports are the links, each pair flipped independently with exactly the probability of the mechanism."""

from __future__ import annotations

import hashlib
import pickle
import tracemalloc
from fractions import Fraction
from itertools import count

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from tests.statistics import UnlikelyError, assert_law
from tests.udfs.laws import EPSILONS, exp_below
from tests.udfs.pairs import flags_of, pair_of, places_of
from udfs.errors import SpecError
from udfs.exact import WORD
from udfs.laplace import LaplaceMechanism
from udfs.link_response import FURTHEST, LinkResponse
from udfs.links import Tile
from udfs.randomized_response import RandomizedResponse
from udfs.streams import block_key

KEY = bytes(range(32))
SMALL_TILES = [
    Tile(range(8, 21), range(8, 21)),
    Tile(range(0, 5), range(8, 29)),
    Tile(range(2, 3), range(2, 3)),
]


def response(epsilon, mechanism=RandomizedResponse):
    return LinkResponse(mechanism(cells=2, epsilon=epsilon))


# The law


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
@pytest.mark.parametrize("mechanism", [RandomizedResponse, LaplaceMechanism])
def test_a_flip_is_exactly_as_likely_as_the_mechanisms_and_within_epsilon(epsilon, mechanism):
    links = response(epsilon, mechanism)
    law = links.mechanism.law
    assert law[0][1] == law[1][0] == links.support_if_false == Fraction(links.flip, WORD)
    assert law[0][0] == law[1][1] == links.support_if_true == 1 - links.support_if_false
    assert 0 < links.flip < WORD // 2
    assert links.support_if_true <= exp_below(epsilon) * links.support_if_false


@pytest.mark.parametrize(("epsilon", "rare"), [(5, False), (5.54, False), (5.55, True), (44, True)])
def test_flips_are_drawn_by_skips_below_one_in_256(epsilon, rare):
    assert response(epsilon).rare is rare
    assert (response(epsilon).support_if_false < Fraction(1, 256)) is rare


def test_a_mechanism_of_three_cells_is_refused():
    with pytest.raises(SpecError, match="must have two cells, link and none; got 3"):
        LinkResponse(RandomizedResponse(cells=3, epsilon=1.0))


def test_responses_travel_and_their_labels_tell_mechanisms_apart():
    mechanisms = [response(1), response(2), response(1, LaplaceMechanism)]
    assert len({one.label for one in mechanisms}) == 3
    for one in mechanisms:
        assert pickle.loads(pickle.dumps(one)) == one


# Whole reports


def keystream(key, index, size):
    """Return so many bytes of ChaCha20 with nonce `index`."""
    nonce = bytes(4) + index.to_bytes(12, "little")
    return Cipher(algorithms.ChaCha20(key, nonce), mode=None).encryptor().update(bytes(size))


def plain_dense_flips(tile, flip, key):
    """Return the places of flips, pair after pair."""
    first, further, flips = keystream(key, 0, 1000), keystream(key, 1, 8000), []
    for number, (i, j) in enumerate((i, j) for i in tile.rows for j in tile.columns):
        value = first[number] << 56
        if first[number] == flip >> 56:
            value, further = value + (int.from_bytes(further[:8], "little") >> 8), further[8:]
        if value < flip and i < j:
            flips.append((i, j))
    return flips


def plain_rare_flips(tile, flip, key):
    """Return the places of flips, skip after skip."""
    pairs = [(i, j) for i in tile.rows for j in tile.columns if i < j]
    stream, flips, place = keystream(key, 0, 8000), [], 0
    for turn in count():
        word = int.from_bytes(stream[8 * turn : 8 * turn + 8], "little")
        skip, power = 0, WORD - flip
        while skip < FURTHEST and word < power >> 64 * skip:
            skip, power = skip + 1, power * (WORD - flip)
        place += skip
        if place >= len(pairs):
            return flips
        if skip < FURTHEST:
            flips.append(pairs[place])
            place += 1


@pytest.mark.parametrize("tile", SMALL_TILES, ids=str)
@pytest.mark.parametrize(
    ("epsilon", "plain"), [(0.5, plain_dense_flips), (5, plain_dense_flips), (5.6, plain_rare_flips)]
)
def test_reports_are_what_a_plain_loop_makes_of_the_keystream(tile, epsilon, plain):
    flipped = 0
    for seed in range(10):
        links, key = np.arange(seed, tile.pairs, 7), bytes([seed]) * 32
        one = response(epsilon)
        nodes = (tile.rows.start, tile.rows.stop, tile.columns.start, tile.columns.stop)
        flips = plain(tile, one.flip, block_key(key, nodes, links))
        flipped += len(flips)
        i, j = pair_of(tile, links)
        links_now = {*zip(i.tolist(), j.tolist(), strict=True)} ^ set(flips)
        places = tile.select(np.array(sorted(links_now), dtype=np.int64).reshape(-1, 2))
        assert np.array_equal(one.report(links, tile, key), tile.to_bits(places))
    assert flipped or not tile.pairs


@pytest.mark.parametrize(
    ("epsilon", "columns", "digest"),
    [
        (1, range(0, 640), "9a0b9b1e1321832b"),
        (1, range(640, 1281), "6854d760e0c17028"),
        (7, range(0, 640), "ee9dcd842bf1f511"),
        (7, range(640, 1281), "a45263eb32bd9209"),
    ],
)
def test_a_key_always_gives_these_reports(epsilon, columns, digest):
    tile = Tile(range(0, 640), columns)
    bits = response(epsilon).report(np.arange(0, tile.pairs, 97), tile, KEY)
    assert hashlib.sha256(bits.tobytes()).hexdigest()[:16] == digest


@pytest.mark.parametrize("epsilon", [1, 7])
@pytest.mark.parametrize(
    "tile", [Tile(range(0, 999), range(0, 999)), Tile(range(0, 999), range(999, 1996))], ids=str
)
def test_no_bit_is_set_where_there_is_no_pair(epsilon, tile):
    bits = response(epsilon).report(np.arange(tile.pairs), tile, KEY)
    assert np.array_equal(bits, tile.to_bits(places_of(tile, bits)))
    rows, columns = np.nonzero(np.unpackbits(bits, axis=1))
    assert columns.max() < len(tile.columns)
    assert not tile.diagonal or (rows < columns).all()


@pytest.mark.parametrize("epsilon", [1, 7])
def test_other_links_another_tile_and_another_key_each_draw_other_coins(epsilon):
    """Nobody learns a link by comparing two reports: all flips are others, not that of the link alone."""
    one = response(epsilon)
    square = Tile(range(0, 512), range(512, 1024))
    reports = [
        one.report(links, tile, key)
        for links, tile, key in [
            (np.array([7]), square, KEY),
            (np.array([8]), square, KEY),
            (np.array([], dtype=np.int64), square, KEY),
            (np.array([7]), Tile(range(0, 512), range(520, 1032)), KEY),
            (np.array([7]), square, KEY[::-1]),
        ]
    ]
    for place, report in enumerate(reports):
        for other in reports[:place]:
            assert np.bitwise_count(report ^ other).sum() > 100


@pytest.mark.parametrize("links", [[3, 2], [2, 2], [0, 1, 0]])
def test_links_in_another_order_which_would_draw_other_coins_are_refused(links):
    with pytest.raises(SpecError, match="must be ascending places of pairs"):
        response(1).report(np.array(links), SMALL_TILES[0], KEY)


@pytest.mark.parametrize("epsilon", [1, 7])
def test_reports_take_little_more_memory_than_their_bits(epsilon):
    tile, one = Tile(range(0, 4096), range(4096, 8192)), response(epsilon)
    one.report(np.array([], dtype=np.int64), SMALL_TILES[0], KEY)
    tracemalloc.start()
    try:
        bits = one.report(np.arange(0, tile.pairs, 1000), tile, KEY)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < bits.nbytes + 6 * (1 << 20)


# Statistics


def neighbours(one, reused=False):
    """Return a sample of pairs and the next ones, of which the first is a link: which flip, and how many both."""

    def sample(secret, draws):
        tile = Tile(range(0, 1024), range(1024, 1024 + -(-draws // 512)))
        links = np.arange(0, tile.pairs, 2)
        reports = flags_of(tile, one.report(links, tile, secret.key("links")))[: 2 * draws]
        first, second = ~reports[::2], reports[1::2]
        second = first if reused else second
        return np.array([first.sum(), second.sum(), (first & second).sum()])

    return sample


def flips_of_neighbours(q):
    """Return the law of the sample's events."""
    return [q, q, q * q]


@pytest.mark.parametrize("epsilon", [0.5, 5, 5.6, 8])
@pytest.mark.parametrize("mechanism", [RandomizedResponse, LaplaceMechanism])
def test_links_and_others_flip_with_the_mechanisms_probability_and_independently(epsilon, mechanism):
    one = response(epsilon, mechanism)
    q = one.support_if_false
    law = flips_of_neighbours(q)
    for factor in (1.1, 1 / 1.1):
        mutant = response(epsilon * factor, mechanism)
        law_of_mutant = flips_of_neighbours(mutant.support_if_false)
        assert_law(neighbours(one), law, law_of_mutant)
        with pytest.raises(UnlikelyError):
            assert_law(neighbours(mutant), law, law_of_mutant)
    assert_law(neighbours(one), law, [q, q, q])
    with pytest.raises(UnlikelyError):
        assert_law(neighbours(one, reused=True), law, [q, q, q])
