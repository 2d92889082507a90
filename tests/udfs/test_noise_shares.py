from __future__ import annotations

import pickle
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from tests.statistics import UnlikelyError, assert_law
from tests.udfs.noise import assert_whole_noise, difference_law, sum_law, tails_of, two_sided_law, weights_of
from udfs.draws import IdDraws, Lane, RowDraws, fresh_draws
from udfs.errors import SpecError
from udfs.negative_binomial import SMALLEST_EPSILON, UNIT
from udfs.noise_shares import NoiseShare

SHARES = [
    ("20", 1),
    ("20", 30),
    ("5", 7),
    ("1", 1),
    ("1", 3),
    ("1", 12),
    ("0.3", 5),
    ("0.1", 3),
    ("0.01", 2),
    ("0.005", 1),
]


@pytest.mark.parametrize(("epsilon", "parts"), SHARES)
def test_as_many_shares_as_parts_add_up_to_two_sided_geometric_noise(epsilon, parts):
    share = NoiseShare(Decimal(epsilon), parts)
    assert_whole_noise(*sum_law(share, parts), share.epsilon, parts * share.total_variation)


EPSILON, PARTS = Decimal(1), 3
ONE_OFF = {
    "a tenth more epsilon": (EPSILON * Decimal("1.1"), PARTS),
    "a tenth less epsilon": (EPSILON / Decimal("1.1"), PARTS),
    "a part too many": (EPSILON, PARTS + 1),
    "a part too few": (EPSILON, PARTS - 1),
    "a millionth more epsilon": (EPSILON * Decimal("1.000001"), PARTS),
}


@pytest.mark.parametrize("mutant", ONE_OFF)
def test_shares_of_another_law_are_caught(mutant):
    share = NoiseShare(*ONE_OFF[mutant])
    with pytest.raises(AssertionError, match="far from"):
        assert_whole_noise(*sum_law(share, PARTS), EPSILON, PARTS * share.total_variation)


def test_thresholds_of_64_bits_and_one_sided_noise_are_caught():
    share = NoiseShare(EPSILON, PARTS)
    bound = PARTS * share.total_variation
    tails = [UNIT, *(tail >> 64 << 64 for tail in tails_of(share)), 0]
    coarse = [above - below for above, below in pairwise(tails)]
    with pytest.raises(AssertionError, match="far from"):
        assert_whole_noise(*difference_law(coarse, PARTS), EPSILON, bound)
    one_sided = difference_law(weights_of(share), PARTS, [UNIT] + [0] * (len(coarse) - 1))
    with pytest.raises(AssertionError, match="far from"):
        assert_whole_noise(*one_sided, EPSILON, bound)


def test_what_is_left_of_a_million_shares_of_ten_thousand_counters_is_nothing():
    assert 10**10 * NoiseShare(Decimal("0.001"), 10**6).total_variation < Fraction(1, 2**76)


def test_the_smallest_epsilon_has_a_table_and_a_bound():
    assert NoiseShare(SMALLEST_EPSILON, 1000).total_variation < Fraction(1, 2**108)


def test_noise_thinner_than_two_words_is_none_and_the_bound_says_so():
    share = NoiseShare(Decimal(200), 2)
    assert share.probabilities == (1, 0)
    assert share.total_variation == Fraction(6, UNIT)
    assert not share.draw(fresh_draws(1000)).any()


def events_of(noise):
    """Count the events of the statistical tests."""
    held = (noise == 0, noise == 1, noise == -1, noise == 2, noise == -2, noise >= 3, noise <= -3)
    return np.array([np.count_nonzero(one) for one in held])


def law_of_events(law, unit):
    """Return the probabilities of these events."""
    m = len(law) // 2
    near = [law[m + x] for x in (0, 1, -1, 2, -2)]
    return [Fraction(p, unit) for p in (*near, sum(law[m + 3 :]), sum(law[: m - 2]))]


def law_of_sum(share, shares):
    return law_of_events(*sum_law(share, shares))


class ReusedDraws:
    """Draws that give G2 the words of G1."""

    def __init__(self, draws):
        self._draws = draws

    def __len__(self):
        return len(self._draws)

    def words(self, index):
        return self._draws.words(index & ~1)


def row_draws(secret, rows):
    return Lane(RowDraws(secret.key("noise"), rows), 2, 5)


def id_draws(secret, rows):
    ids = np.zeros((rows, 2), dtype=np.uint64)
    ids[:, 0] = np.arange(rows)
    return Lane(IdDraws(secret.key("noise"), ids, np.zeros(rows, dtype=np.uint8)), 0, 3)


def reused(secret, rows):
    return ReusedDraws(row_draws(secret, rows))


def same_words(secret, rows):
    """Draws that are the same for every participant of a sum."""
    return RowDraws(secret.key("noise"), rows // PARTS)


def summed(share, shares, draws_of=row_draws, taken=()):
    """Return a sampler of sums of so many shares, less those that are taken away."""

    def sample(secret, sums):
        drawn = share.draw(draws_of(secret, shares * sums))
        by_participant = np.tile(drawn, shares * sums // len(drawn)).reshape(shares, sums)
        return events_of(np.delete(by_participant, taken, axis=0).sum(axis=0))

    return sample


def silent(secret, sums):
    return events_of(np.zeros(sums, dtype=np.int64))


NO_NOISE = [1, 0, 0, 0, 0, 0, 0]


def scaled_law(share, times):
    """Return the law of the events for one share counted several times."""
    law, unit = sum_law(share, 1)
    wide = [0] * (times * (len(law) - 1) + 1)
    wide[::times] = law
    return law_of_events(wide, unit)


SHARE = NoiseShare(EPSILON, PARTS)
MUTANTS = {
    name: (summed(NoiseShare(*law), PARTS), law_of_sum(NoiseShare(*law), PARTS))
    for name, law in ONE_OFF.items()
    if "millionth" not in name
} | {
    "no noise": (silent, NO_NOISE),
    "words of G1 reused for G2": (summed(SHARE, PARTS, reused), NO_NOISE),
    "the same words for every participant": (summed(SHARE, PARTS, same_words), scaled_law(SHARE, PARTS)),
    "one more is missing": (summed(SHARE, PARTS, taken=[1]), law_of_sum(SHARE, PARTS - 1)),
}


def whole_noise():
    return law_of_events(*[two_sided_law(EPSILON, 120, 1 << 200)[0], 1 << 200])


@pytest.mark.parametrize("draws_of", [row_draws, id_draws])
@pytest.mark.parametrize("mutant", MUTANTS)
def test_drawn_shares_add_up_to_two_sided_geometric_noise_and_those_of_a_mutant_do_not(draws_of, mutant):
    sample, law_of_mutant = MUTANTS[mutant]
    assert_law(summed(SHARE, PARTS, draws_of), whole_noise(), law_of_mutant)
    with pytest.raises(UnlikelyError):
        assert_law(sample, whole_noise(), law_of_mutant)


@pytest.mark.parametrize("taken", [[0, 1], [0, 4], [3, 4], [2, 3]])
@pytest.mark.parametrize("mutant", ["a tenth more epsilon", "one more is missing"])
def test_the_noise_is_whole_whichever_shares_are_taken_away(taken, mutant):
    assert_law(summed(SHARE, PARTS + 2, row_draws, taken), whole_noise(), MUTANTS[mutant][1])


@pytest.mark.parametrize("taken", [[], [1]])
def test_shares_beyond_those_needed_add_their_part_of_noise(taken):
    left = PARTS + 2 - len(taken)
    assert_law(summed(SHARE, PARTS + 2, row_draws, taken), law_of_sum(SHARE, left), whole_noise())
    with pytest.raises(UnlikelyError):
        assert_law(summed(SHARE, PARTS), law_of_sum(SHARE, left), whole_noise())


def test_fifty_small_shares_add_up_to_all_the_noise():
    many, other = NoiseShare(EPSILON, 50), NoiseShare(EPSILON * Decimal("1.1"), 1)
    assert_law(summed(many, 50), whole_noise(), law_of_sum(other, 1))


def test_one_party_alone_has_all_the_noise():
    alone = NoiseShare(EPSILON, 1)
    assert_law(summed(alone, 1), whole_noise(), law_of_sum(NoiseShare(EPSILON * Decimal("1.1"), 1), 1))


def test_shares_are_a_function_of_their_words_and_no_rows_have_none():
    share = NoiseShare(Decimal("0.2"), 2)
    key = fresh_draws(1).words(0).tobytes() * 4
    assert share.draw(RowDraws(key, 500)).tolist() == share.draw(RowDraws(key, 500)).tolist()
    none = share.draw(fresh_draws(0))
    assert none.shape == (0,)
    assert none.dtype == np.int64


@pytest.mark.parametrize("epsilon", [0, -1, Decimal("NaN"), True, "1"])
def test_an_epsilon_that_is_none_is_refused(epsilon):
    with pytest.raises(SpecError, match="epsilon must be a positive finite number"):
        NoiseShare(epsilon, 1)


def test_an_epsilon_too_small_for_a_table_is_refused():
    with pytest.raises(SpecError, match=r"at least 0\.0002; got 0\.00019\. Give a larger epsilon"):
        NoiseShare(Decimal("0.00019"), 1)


@pytest.mark.parametrize("parts", [0, -3, True, 2.0, Fraction(3)])
def test_a_number_of_parts_that_is_none_is_refused(parts):
    with pytest.raises(SpecError, match="at least one participant"):
        NoiseShare(Decimal(1), parts)


def test_the_label_tells_shares_apart_and_equal_ones_not():
    labels = {NoiseShare(epsilon, parts).label for epsilon in (1, 2) for parts in (1, 2)}
    assert len(labels) == 4
    assert NoiseShare(1, 2).label == NoiseShare(Decimal("1.00"), 2).label
    assert pickle.loads(pickle.dumps(SHARE)) == SHARE
