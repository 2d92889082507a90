from __future__ import annotations

from decimal import Decimal

import gmpy2
import numpy as np
import pytest

from tests.udfs.laws import exp_below
from tests.udfs.noise import tails_of, weights_of
from tests.udfs.scripted import ScriptedDraws
from udfs.negative_binomial import UNIT
from udfs.noise_shares import NoiseShare

LAWS = [
    ("20", 1),
    ("1", 1),
    ("0.3", 5),
    ("0.01", 2),
    ("0.01", 10**6),
    ("1", 10**9),
    ("44", 5),
    ("0.1000000000000000000000000000000001", 3),
]


@pytest.mark.parametrize(("epsilon", "parts"), LAWS)
def test_every_threshold_is_the_ideal_tail_rounded_down_and_the_bound_holds(epsilon, parts):
    """Against the law itself in 600 bits: by its product formula, and not by sums."""
    share = NoiseShare(Decimal(epsilon), parts)
    with gmpy2.context(precision=600):
        alpha = gmpy2.exp(-gmpy2.mpfr(epsilon))
        probability = (1 - alpha) ** (gmpy2.mpfr(1) / parts)
        tail, tails, ideal = 1 - probability, tails_of(share), [probability]
        for k, threshold in enumerate(tails):
            assert 0 <= tail * UNIT - threshold < 1 + gmpy2.mpfr(2) ** -19
            probability *= alpha * (k + gmpy2.mpfr(1) / parts) / (k + 1)
            ideal.append(probability)
            tail -= probability
        assert 0 <= tail * UNIT < 1 + gmpy2.mpfr(2) ** -19
        drawn = [gmpy2.mpfr(weight) / UNIT for weight in weights_of(share)]
        twice = tail + sum(abs(p - q) for p, q in zip(ideal, drawn, strict=True))
        assert twice <= share.total_variation  # twice the distance of G: at least that of G1 - G2


def test_a_geometric_number_at_the_epsilon_of_a_thousandth_has_every_tail():
    share, bits = NoiseShare(Decimal("0.001"), 1), 500
    alpha, tail = int((1 << bits) / exp_below(Decimal("0.001"))), 1 << bits
    tails = tails_of(share)
    assert len(tails) == 88722
    for threshold in tails:
        tail = tail * alpha >> bits
        assert 0 <= (tail >> bits - 128 - 20) - (threshold << 20) <= (1 << 20) + 1
    assert tail * alpha >> 2 * bits - 128 <= 1


@pytest.mark.parametrize(("epsilon", "parts"), [("20", 1), ("1", 1), ("0.5", 10**6), ("0.01", 7), ("500", 1)])
def test_a_share_is_how_many_thresholds_exceed_one_number_less_how_many_exceed_another(epsilon, parts):
    share = NoiseShare(Decimal(epsilon), parts)
    tails = tails_of(share)
    some = tails if len(tails) < 300 else [*tails[:100], *tails[len(tails) // 2 :: 97], *tails[-100:]]
    numbers = sorted({max(0, tail + off) for tail in some for off in (-1, 0, 1)} | {0, UNIT - 1})
    others = numbers[1:] + numbers[:1]
    words = {
        0: [number >> 64 for number in numbers],
        1: [number >> 64 for number in others],
        2: [number % 2**64 for number in numbers],
        3: [number % 2**64 for number in others],
    }
    ascending = sorted(tails)

    def exceeding(number):
        return len(tails) - int(np.searchsorted(np.array(ascending, dtype=object), number, side="right"))

    draws = ScriptedDraws(words)
    expected = [exceeding(one) - exceeding(other) for one, other in zip(numbers, others, strict=True)]
    assert share.draw(draws).tolist() == expected
    assert draws.read == [0, 2, 1, 3]


def test_lower_halves_are_read_only_where_upper_ones_do_not_decide():
    share = NoiseShare(Decimal(1), 1)
    first = tails_of(share)[0] >> 64
    draws = ScriptedDraws({0: [first + 1, first - 1, 2**64 - 1], 1: [2**64 - 1, first - 1, first + 1]})
    assert share.draw(draws).tolist() == [0, 0, 0]
    assert draws.read == [0, 1]
