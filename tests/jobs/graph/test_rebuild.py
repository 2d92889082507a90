"""A rebuilt graph has the estimated number of links, and its tiles draw as if the graph were one."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.graph.accuracy import true_links
from jobs.graph.rebuild import RebuiltSize, allot, hypergeometric, hypergeometric_weights
from tests.statistics import UnlikelyError, assert_law
from udfs.errors import SpecError
from udfs.exact import WORD
from udfs.streams import byte_stream

TRUTHS = [
    Fraction(WORD // 2 + 1, WORD),
    Fraction(51, 100),
    Fraction(3, 4),
    Fraction(9, 10),
    Fraction(WORD - 1, WORD),
    Fraction(1),
]


def binomial(count, number, probability):
    """Return the probability of a count."""
    return math.comb(number, count) * probability**count * (1 - probability) ** (number - count)


def exact_hypergeometric(population, marked, drawn):
    """Return the probability of each count from 0 to `drawn`."""
    ways = math.comb(population, drawn)
    return [
        Fraction(math.comb(marked, count) * math.comb(population - marked, drawn - count), ways)
        for count in range(drawn + 1)
    ]


@pytest.mark.parametrize("truth", TRUTHS, ids=float)
def test_there_are_always_enough_pairs_to_draw_from(truth):
    for pairs in range(40):
        for reported in range(pairs + 1):
            size = RebuiltSize(pairs, reported, truth)
            assert 0 <= size.kept <= reported
            assert 0 <= size.added <= pairs - reported
            assert size.kept + size.added == size.links <= pairs


@given(pairs=st.integers(0, 10**9), share=st.floats(0, 1), truth=st.integers(WORD // 2 + 1, WORD - 1))
def test_there_are_always_enough_pairs_in_large_graphs(pairs, share, truth):
    reported = min(pairs, math.floor(share * pairs))
    size = RebuiltSize(pairs, reported, Fraction(truth, WORD))
    assert 0 <= size.kept <= reported
    assert 0 <= size.added <= pairs - reported


@pytest.mark.parametrize("truth", TRUTHS[1:], ids=float)
@pytest.mark.parametrize("links", [0, 1, 3, 6])
def test_the_estimate_of_links_is_unbiased(truth, links):
    pairs = 6
    mean = sum(
        binomial(true, links, truth)
        * binomial(false, pairs - links, 1 - truth)
        * RebuiltSize(pairs, true + false, truth).edges
        for true, false in product(range(links + 1), range(pairs - links + 1))
    )
    assert mean == links


@pytest.mark.parametrize("links", [0, 40, 100, 684, 17020])
def test_expected_reports_give_the_true_size_and_keep_what_truth_reports(links):
    pairs, truth = 17020, Fraction(3, 4)
    reported = truth * links + (1 - truth) * (pairs - links)
    assert reported.denominator == 1
    size = RebuiltSize(pairs, int(reported), truth)
    assert (size.edges, size.links, size.kept) == (links, links, round(truth * links))
    assert not size.cut


@pytest.mark.parametrize("links", [240, 684, 8000, 16900])
def test_as_many_links_are_said_to_be_true_as_are_where_reports_are_as_expected(links):
    pairs, truth = 17020, Fraction(3, 4)
    reported = truth * links + (1 - truth) * (pairs - links)
    size = RebuiltSize(pairs, int(reported), truth)
    among_kept, among_added = (
        truth * links / reported,
        (1 - truth) * links / (pairs - reported),
    )
    found = true_links(size.links, size.kept, pairs, float(1 - truth))
    assert found == pytest.approx(float(size.kept * among_kept + size.added * among_added), rel=1e-12)


def test_true_reports_are_kept_as_they_are():
    size = RebuiltSize(17020, 684, Fraction(1))
    assert (size.links, size.kept, size.added, size.cut) == (684, 684, 0, False)


def test_an_estimate_below_none_or_above_all_is_cut_and_says_so():
    fewest, most = (RebuiltSize(28, reported, Fraction(3, 4)) for reported in (0, 28))
    assert (fewest.edges, fewest.links, fewest.kept, fewest.added, fewest.cut) == (-14, 0, 0, 0, True)
    assert (most.edges, most.links, most.kept, most.added, most.cut) == (42, 28, 28, 0, True)
    barely = RebuiltSize(28, 20, Fraction(3, 5))
    assert (barely.edges, barely.links, barely.kept, barely.added, barely.cut) == (44, 28, 20, 8, True)


def test_a_graph_without_pairs_has_no_links():
    size = RebuiltSize(0, 0, Fraction(3, 4))
    assert (size.edges, size.links, size.kept, size.added, size.cut) == (0, 0, 0, 0, False)
    assert size.tiles([], [], byte_stream(bytes(32))) == ()


@pytest.mark.parametrize("truth", [Fraction(1, 2), Fraction(1, 4), Fraction(0), Fraction(5, 4)])
def test_a_truth_that_reports_tell_nothing_of_is_refused(truth):
    with pytest.raises(SpecError, match="above 1/2"):
        RebuiltSize(28, 5, truth)


@pytest.mark.parametrize("reported", [-1, 29])
def test_more_reports_than_pairs_are_refused(reported):
    with pytest.raises(SpecError, match=f"{reported} of 28"):
        RebuiltSize(28, reported, Fraction(3, 4))


def test_weights_are_the_hypergeometric_law_within_the_stated_distance():
    for population in range(13):
        for marked, drawn in product(range(population + 1), repeat=2):
            law = exact_hypergeometric(population, marked, drawn)
            least, weights = hypergeometric_weights(population, marked, drawn)
            together = sum(weights)
            rounded = [Fraction(0)] * len(law)
            rounded[least : least + len(weights)] = [Fraction(weight, together) for weight in weights]
            support = min(marked, drawn)
            distance = sum(abs(one - other) for one, other in zip(law, rounded, strict=True)) / 2
            assert distance <= Fraction(support * (support + 1), 2**193)
            assert max(weights) == 2**192


@pytest.mark.parametrize(
    ("population", "marked", "drawn"),
    [(2 * 10**8, 4 * 10**6, 10**6), (2 * 10**8, 10**6, 19 * 10**7), (10**4, 5000, 5000)],
)
def test_weights_of_large_counts_have_the_mean_and_variance_of_the_law(population, marked, drawn):
    least, weights = hypergeometric_weights(population, marked, drawn)
    together = sum(weights)
    mean = Fraction(sum(count * weight for count, weight in enumerate(weights, least)), together)
    square = Fraction(sum(count**2 * weight for count, weight in enumerate(weights, least)), together)
    share = Fraction(marked, population)
    variance = drawn * share * (1 - share) * Fraction(population - drawn, population - 1)
    assert abs(mean - drawn * share) < 1e-40
    assert abs(square - mean**2 - variance) < 1e-40


def test_each_count_takes_as_many_numbers_as_it_weighs():
    least, weights = hypergeometric_weights(9, 5, 6)
    size = (sum(weights) - 1).bit_length() // 8 + 1
    end = 0
    for count, weight in enumerate(weights, least):
        for number in (end, end + weight - 1):
            assert hypergeometric(9, 5, 6, lambda _, number=number: number.to_bytes(size, "big")) == count
        end += weight


@given(
    room=st.lists(st.integers(0, 50), max_size=8),
    share=st.floats(0, 1),
    key=st.binary(min_size=32, max_size=32),
)
def test_boxes_take_all_draws_and_none_more_than_it_holds(room, share, key):
    drawn = min(sum(room), math.floor(share * sum(room) + 0.5))
    counts = allot(drawn, room, byte_stream(key))
    assert sum(counts) == drawn
    assert all(0 <= count <= size for count, size in zip(counts, room, strict=True))


@pytest.mark.parametrize(("drawn", "room"), [(-1, [3, 4]), (8, [3, 4]), (1, [])])
def test_more_draws_than_boxes_hold_are_refused(drawn, room):
    with pytest.raises(SpecError, match=f"{drawn} of {sum(room)}"):
        allot(drawn, room, byte_stream(bytes(32)))


def test_draws_fall_in_boxes_as_without_replacement():
    room, drawn = [3, 0, 2, 4], 4
    outcomes = [one for one in product(*(range(size + 1) for size in room)) if sum(one) == drawn]
    ways = [math.prod(map(math.comb, room, one)) for one in outcomes]
    law = [Fraction(way, math.comb(sum(room), drawn)) for way in ways]
    assert sum(law) == 1
    replaced = [
        math.prod(Fraction(size**count, math.factorial(count)) for size, count in zip(room, one, strict=True))
        for one in outcomes
    ]
    law_of_mutant = [one / sum(replaced) for one in replaced]
    numbers = {one: number for number, one in enumerate(outcomes)}

    def sample(secret, draws):
        random_bytes = byte_stream(secret.key("boxes"))
        drawn_outcomes = [numbers[tuple(allot(drawn, room, random_bytes))] for _ in range(draws)]
        return np.bincount(drawn_outcomes, minlength=len(outcomes))

    def with_replacement(secret, draws):
        generator = np.random.default_rng(list(secret.key("boxes")))
        many = map(tuple, generator.multinomial(drawn, np.array(room) / sum(room), size=3 * draws).tolist())
        possible = [numbers[one] for one in many if one in numbers][:draws]
        assert len(possible) == draws
        return np.bincount(possible, minlength=len(outcomes))

    assert_law(sample, law, law_of_mutant)
    with pytest.raises(UnlikelyError):
        assert_law(with_replacement, law, law_of_mutant)


def test_tiles_share_what_the_graph_keeps_and_adds():
    pairs, reported = [28, 64, 0, 16, 28], [9, 20, 0, 7, 8]
    size = RebuiltSize(136, 44, Fraction(3, 4))
    shares = size.tiles(pairs, reported, byte_stream(bytes(32)))
    assert sum(share.kept for share in shares) == size.kept == 15
    assert sum(share.added for share in shares) == size.added == 5
    for share, tile_pairs, ones in zip(shares, pairs, reported, strict=True):
        assert 0 <= share.kept <= ones
        assert 0 <= share.added <= tile_pairs - ones
    assert size.tiles(pairs, reported, byte_stream(bytes(32))) == shares
    assert size.tiles(pairs, reported, byte_stream(bytes([1] * 32))) != shares


@pytest.mark.parametrize(("pairs", "reported"), [([28, 63], [9, 20]), ([28, 64], [9, 21]), ([28], [9])])
def test_tiles_that_are_not_the_graph_are_refused(pairs, reported):
    with pytest.raises(SpecError, match="92 pairs together and report 29 links"):
        RebuiltSize(92, 29, Fraction(3, 4)).tiles(pairs, reported, byte_stream(bytes(32)))
