"""Flips of pairs: their exact law, both ways of drawing them, and what a report is made of."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.statistics import assert_law
from udfs.errors import SpecError
from udfs.exact import WORD, exp_bounds
from udfs.link_response import MECHANISMS, MOST_PAIRS, LinkResponse
from udfs.links import Tile
from udfs.streams import Secret

EPSILONS = [Decimal(text) for text in ("0.1", "1", "2.7", "3.7", "5", "8", "12", "20")]
RARE, DENSE = LinkResponse("randomized-response", Decimal(5)), LinkResponse("randomized-response", Decimal(1))
BOTH = [RARE, DENSE]


def test_distances_are_drawn_where_flips_are_rare() -> None:
    assert [LinkResponse("randomized-response", one).by_distance for one in EPSILONS] == [False] * 3 + [
        True
    ] * 5
    assert (RARE.by_distance, DENSE.by_distance) == (True, False)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_flip_has_the_mechanism_s_probability(mechanism: str, epsilon: Decimal) -> None:
    response = LinkResponse(mechanism, epsilon)
    below, above = exp_bounds(epsilon)
    if mechanism == "randomized-response":
        ideal = 1 / (1 + (below + above) / 2)
    else:
        ideal = 1 / (exp_bounds(epsilon / 2)[0] + exp_bounds(epsilon / 2)[1])
    assert 0 <= response.lie - ideal < Fraction(3, WORD)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_report_is_more_than_e_to_epsilon_times_as_likely(mechanism: str, epsilon: Decimal) -> None:
    """In rational numbers: the pair's own ratio, times all that other distances make of the pairs behind it."""
    response, bound = LinkResponse(mechanism, epsilon), exp_bounds(epsilon)[0]
    if not response.by_distance:
        assert (1 - response.lie) / response.lie <= bound
        return
    kept = [
        Fraction(after, before)
        for before, after in zip(response.survival, response.survival[1:], strict=False)
    ]
    own = max(max(one / (1 - one), (1 - one) / one) for one in kept)
    factor = max(kept) / min(kept)
    # (1 + x)**m <= 1 / (1 - m x) for m x < 1
    assert own / (1 - MOST_PAIRS * (factor - 1)) <= bound


@pytest.mark.parametrize("epsilon", EPSILONS[3:])
def test_distances_survive_as_independent_flips_would_leave_them(epsilon: Decimal) -> None:
    response = LinkResponse("randomized-response", epsilon)
    stay = 1 - response.lie
    assert len(response.survival) == response.reach + 1
    for k in (0, 1, 2, response.reach // 2, response.reach):
        assert abs(Fraction(response.survival[k], 1 << 128) - stay**k) < Fraction(2, 1 << 128)


@pytest.mark.parametrize("response", BOTH)
@pytest.mark.parametrize("place", [0, 1, 4095, 7999])
def test_each_pair_is_flipped_as_often_as_it_should_be(response: LinkResponse, place: int) -> None:
    def sample(secret: Secret, draws: int) -> list[int]:
        hits = 0
        for number in range(-(-draws // 50)):
            flips = response.flips(400_000, secret.key(str(number)))
            hits += int(np.count_nonzero(flips % 8000 == place))
        extra = -(-draws // 50) * 50 - draws
        last = flips // 8000
        hits -= int(np.count_nonzero((flips % 8000 == place) & (last >= 50 - extra))) if extra else 0
        return [hits]

    lie = float(response.lie)
    assert_law(sample, [lie], [lie * 1.3])


@pytest.mark.parametrize("response", BOTH)
def test_neighbouring_pairs_are_flipped_independently(response: LinkResponse) -> None:
    """What distances are: the mutant forgets that a flip can follow at once."""
    lie = float(response.lie)

    def sample(secret: Secret, draws: int) -> list[int]:
        flags = np.zeros(2 * draws, dtype=bool)
        for first in range(0, 2 * draws, 1 << 24):
            size = min(1 << 24, 2 * draws - first)
            flags[first + response.flips(size, secret.key(str(first)))] = True
        pairs = flags.reshape(-1, 2)
        return [int((pairs[:, 0] & pairs[:, 1]).sum()), int((pairs[:, 0] ^ pairs[:, 1]).sum())]

    law = [lie**2, 2 * lie * (1 - lie)]
    assert_law(sample, law, [lie**2 * 1.4, law[1]])


def test_a_mutant_that_flips_more_often_is_told_from_the_law() -> None:
    lie = float(RARE.lie)
    mutant = LinkResponse("randomized-response", Decimal("4.7"))

    def sample(secret: Secret, draws: int) -> list[int]:
        return [len(mutant.flips(draws, secret.key("all")))]

    with pytest.raises(AssertionError):
        assert_law(sample, [lie], [float(mutant.lie)])


@pytest.mark.parametrize("response", BOTH)
@pytest.mark.parametrize("tile", [Tile(range(0, 90), range(0, 90)), Tile(range(8, 40), range(40, 97))])
def test_a_report_is_the_answer_but_for_its_flips(response: LinkResponse, tile: Tile) -> None:
    key, links = Secret.new().key("tile"), np.arange(0, tile.pairs, 11)
    flips = response.flips(tile.pairs, key)
    reported = tile.from_bits(response.report(links, tile, key))
    assert reported.tolist() == sorted(set(links.tolist()) ^ set(flips.tolist()))
    assert tile.from_bits(response.report(links[:0], tile, key)).tolist() == flips.tolist()


@pytest.mark.parametrize("response", BOTH)
def test_the_same_key_flips_the_same_and_another_one_others(response: LinkResponse) -> None:
    flips = response.flips(30_000, bytes(32))
    assert flips.tolist() == response.flips(30_000, bytes(32)).tolist()
    assert flips.tolist() != response.flips(30_000, bytes([1]) * 32).tolist()
    assert (np.diff(flips) > 0).all()
    assert 0 <= flips[0] <= flips[-1] < 30_000


@pytest.mark.parametrize("response", BOTH)
def test_few_pairs_or_none_are_asked_too(response: LinkResponse) -> None:
    for nodes in (0, 1, 2):
        tile = Tile(range(nodes), range(nodes))
        assert response.report(np.empty(0, dtype=np.int64), tile, bytes(32)).size == nodes


def test_words_that_tie_with_a_threshold_are_decided_by_the_lower_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All words of the upper half are a threshold's: what follows is compared in 128 bits."""
    threshold = RARE.survival[7]
    upper, lower = threshold >> 64, threshold & (WORD - 1)

    class Tied:
        def __init__(self, below: int) -> None:
            self.below = below

        def words(self, index: int) -> Any:
            return np.full(64, upper if index % 2 == 0 else lower - self.below, dtype=np.uint64)

    for below, distance in ((0, 6), (1, 7)):
        monkeypatch.setattr("udfs.link_response.RowDraws", lambda key, rows, below=below: Tied(below))
        assert next(RARE._distances(10, bytes(32)))[0] == distance


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(SpecError, match="must be one of"):
        LinkResponse("guessing", Decimal(1))
    wide = Tile(range(0, 1 << 13), range(1 << 13, 1 << 14))
    with pytest.raises(SpecError, match="fewer than"):
        RARE.report(np.empty(0, dtype=np.int64), wide, bytes(32))


def test_labels_tell_mechanisms_and_epsilons_apart() -> None:
    labels = {LinkResponse(mechanism, epsilon).label for mechanism in MECHANISMS for epsilon in EPSILONS}
    assert len(labels) == len(MECHANISMS) * len(EPSILONS)
