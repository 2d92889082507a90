"""Tiles draw links as if all were drawn from the whole graph at once."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from jobs.graph.rebuild import RebuiltSize
from tests.statistics import UnlikelyError, assert_law
from udfs.link_release import LinkRelease
from udfs.links import tiles
from udfs.streams import Secret, byte_stream

NODES, BAND = 9, 8
TILES = tiles(NODES, BAND)
WITHIN = list(combinations(range(BAND), 2))
ACROSS = [(i, BAND) for i in range(BAND)]
REPORTED = {*WITHIN[::3], *ACROSS[:6]}
SIZE = RebuiltSize(pairs=36, reported=16, truth=Fraction(3, 5))


def reports():
    """Return each tile's bits."""
    linked = np.zeros((NODES, NODES), dtype=np.uint8)
    linked[tuple(np.array(sorted(REPORTED)).T)] = 1
    return [
        np.packbits(linked[tile.rows.start : tile.rows.stop, tile.columns.start : tile.columns.stop], axis=1)
        for tile in TILES
    ]


BITS = reports()
ONES = [int(np.bitwise_count(bits).sum()) for bits in BITS]


def rebuilt(shares, secret, turn):
    """Return the links of a rebuilt graph."""
    links = [
        share.draw(tile, bits, secret.key("release", str(turn), str(number)))
        for number, (share, tile, bits) in enumerate(zip(shares, TILES, BITS, strict=True))
    ]
    return {(i, j) for i, j in np.concatenate(links).tolist()}


def events():
    """Return sets of pairs, and the probability that all of a set are links: in truth, and of the mutant.

    The mutant allots to each tile its proportion, rounded: 3 of 10 and 2 of 6 reported links, 3 of 18 and none
    of 2 others.
    """
    for reported, drawn, allotted in ((True, 5, ((3, 10), (2, 6))), (False, 3, ((3, 18), (0, 2)))):
        pools = [[pair for pair in pairs if (pair in REPORTED) == reported] for pairs in (WITHIN, ACROSS)]
        size = sum(map(len, pools))
        for pool, (some, room) in zip(pools, allotted, strict=True):
            assert len(pool) == room
            yield from (((pair,), Fraction(drawn, size), Fraction(some, room)) for pair in pool)
            both, both_of_mutant = (
                Fraction(math.comb(n, 2), math.comb(of, 2)) for n, of in ((drawn, size), (some, room))
            )
            yield from ((two, both, both_of_mutant) for two in combinations(pool[-4:], 2))


EVENTS = list(events())


def counted(shares):
    """Return a sample that counts the events in graphs rebuilt from such shares."""

    def sample(secret, draws):
        random_bytes = byte_stream(secret.key("tiles"))
        counts = np.zeros(len(EVENTS), dtype=int)
        for turn in range(draws):
            links = rebuilt(shares(random_bytes), secret, turn)
            assert len(links) == SIZE.links
            counts += [links.issuperset(pairs) for pairs, _, _ in EVENTS]
        return counts

    return sample


def test_the_links_are_a_uniform_set_of_reported_ones_and_one_of_others():
    assert (SIZE.links, SIZE.kept, SIZE.added) == (8, 5, 3)
    _, law, mutant = zip(*EVENTS, strict=True)
    pairs = [tile.pairs for tile in TILES]
    assert_law(counted(lambda random_bytes: SIZE.tiles(pairs, ONES, random_bytes)), law, mutant)
    in_proportion = (LinkRelease(3, 3), LinkRelease(2, 0), LinkRelease(0, 0))
    with pytest.raises(UnlikelyError):
        assert_law(counted(lambda _: in_proportion), law, mutant)


def test_reports_without_a_lie_come_back_as_the_graph_they_are():
    size = RebuiltSize(36, 16, Fraction(1))
    shares = size.tiles([tile.pairs for tile in TILES], ONES, byte_stream(bytes(32)))
    assert rebuilt(shares, Secret.new(), 0) == REPORTED
