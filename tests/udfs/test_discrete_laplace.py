from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, pairwise

import gmpy2
import numpy as np
import pytest

from tests.statistics import UnlikelyError, assert_law
from tests.udfs.laws import exp_below
from tests.udfs.noise import two_sided_law
from tests.udfs.scripted_bytes import ScriptedBytes
from udfs.discrete_laplace import DiscreteLaplace, chance, toss
from udfs.errors import SpecError
from udfs.streams import byte_stream

EXPONENTS = [
    Fraction(1, 1 << 40),
    Fraction(1, 549),
    Fraction(1, 3),
    Fraction(1),
    Fraction(7, 4),
    Fraction(40),
]
RATES = [(Decimal("0.3"), 1), (Decimal(1), 7), (Decimal(1), 1), (Decimal("2.5"), 2), (Decimal("0.01"), 1)]


def power(exponent):
    """Return fractions below and above e**exponent."""
    below = exp_below(exponent)
    return below, below * (1 + Fraction(1, 1 << 500))


@pytest.mark.parametrize("others", [0, 1])
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_a_chance_has_all_the_digits_that_are_asked_for_and_no_more(exponent, others):
    below, above = power(exponent)
    for digits in range(1, 7):
        found = Fraction(chance(exponent, others, digits), 1 << 64 * digits)
        assert found <= 1 / (above + others)
        assert 1 / (below + others) < found + Fraction(1, 1 << 64 * digits)


def test_more_precision_is_taken_where_the_first_does_not_do():
    exponent = Fraction(1, 1 << 300)  # 1 / (e**exponent + 1) is 1/2 but for its three hundredth digit
    assert chance(exponent, 1, 1) == (1 << 63) - 1
    assert chance(exponent, 0, 2) == (1 << 128) - 1


@pytest.mark.parametrize("others", [0, 1])
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_a_coin_shows_heads_where_the_first_digit_that_differs_is_below(exponent, others):
    first, second, third = (chance(exponent, others, digits) % 2**64 for digits in (1, 2, 3))
    stream = ScriptedBytes(
        [first - 1, first, first, first, first + 1, 0, 2**64 - 1],
        [second + 1, second, second - 1],
        [third - 1],
    )
    assert toss(exponent, others, 7, stream).tolist() == [True, False, True, True, False, True, False]
    assert stream.is_used_up


def coins_of(rate):
    """Return the exponents of the digits that are drawn by themselves, and that of what is counted out."""
    exponents = [rate]
    while exponents[-1] < 1:
        exponents.append(2 * exponents[-1])
    return exponents[:-1], exponents[-1]


@pytest.mark.parametrize(("epsilon", "sensitivity"), RATES)
def test_independent_digits_make_a_geometric_number(epsilon, sensitivity):
    """In 700 bits, from the chances that are tossed with."""
    rate = Fraction(epsilon) / sensitivity
    digits, rest = coins_of(rate)
    with gmpy2.context(precision=700):

        def of(exponent, others):
            return gmpy2.mpfr(chance(exponent, others, 9)) / gmpy2.mpz(1 << 576)

        alpha, more = gmpy2.exp(-gmpy2.mpfr(gmpy2.mpq(rate))), of(rest, 0)
        for k in range(5 << len(digits)):
            counted, low = divmod(k, 1 << len(digits))
            probability = more**counted * (1 - more)
            for place, exponent in enumerate(digits):
                probability *= of(exponent, 1) if low >> place & 1 else 1 - of(exponent, 1)
            assert abs(probability / ((1 - alpha) * alpha**k) - 1) < gmpy2.mpfr(2) ** -500


def geometric_by_hand(rate, numbers, words):
    """Draw as the product does, number by number, with chances of 200 bits that are found otherwise."""
    digits, rest = coins_of(rate)
    with gmpy2.context(precision=200):
        powers = {exponent: gmpy2.exp(gmpy2.mpfr(gmpy2.mpq(exponent))) for exponent in (*digits, rest)}
        drawn = [0] * numbers
        for place, exponent in enumerate(digits):
            for number in range(numbers):
                drawn[number] += (gmpy2.mpfr(next(words)) / 2**64 < 1 / (powers[exponent] + 1)) << place
        going = range(numbers)
        while going:
            going = [number for number in going if gmpy2.mpfr(next(words)) / 2**64 < 1 / powers[rest]]
            for number in going:
                drawn[number] += 1 << len(digits)
    return drawn


@pytest.mark.parametrize(("epsilon", "sensitivity"), [*RATES, (Decimal(1), 549), (Decimal("0.1"), 60_000)])
def test_noise_is_the_difference_of_two_geometric_numbers(epsilon, sensitivity):
    noise = DiscreteLaplace(epsilon, sensitivity)
    data = byte_stream(b"k" * 32)(1 << 16)
    words = iter(np.frombuffer(data, dtype="<u8").tolist())
    up, down = (geometric_by_hand(Fraction(epsilon) / sensitivity, 50, words) for _ in range(2))
    drawn = noise.draw(50, byte_stream(b"k" * 32))
    assert drawn.dtype == np.int64
    assert drawn.tolist() == [one - other for one, other in zip(up, down, strict=True)]


def law_of(rate, cuts):
    """Return the probabilities that noise lies below the first cut, between two of them, and so on."""
    unit = 1 << 200
    reach = math.ceil(60 / rate)
    law, _ = two_sided_law(rate, reach, unit)
    below = [0, *accumulate(law)]
    rises = [0, *(below[cut + reach] for cut in cuts), unit]
    return [Fraction(after - before, unit) for before, after in pairwise(rises)]


def sampler(epsilon, sensitivity, cuts, change=lambda noise: noise):
    def sample(secret, numbers):
        noise = DiscreteLaplace(epsilon, sensitivity).draw(numbers, byte_stream(secret.key("noise")))
        return np.bincount(np.searchsorted(cuts, change(noise), side="right"), minlength=len(cuts) + 1)

    return sample


NEAR = (-2, -1, 0, 1, 2, 3)
FAR = (-900, -300, -100, 0, 1, 101, 301, 901)


@pytest.mark.parametrize(
    ("sensitivity", "others", "cuts"),
    [(1, (2,), NEAR), (2, (1, 3), NEAR), (3, (2, 4), NEAR), (549, (470,), FAR)],
)
@pytest.mark.parametrize("epsilon", [Decimal("0.7"), Decimal("1.2")])
def test_noise_follows_its_law_and_that_of_a_mutant_does_not(epsilon, sensitivity, others, cuts):
    rate = Fraction(epsilon) / sensitivity
    law = law_of(rate, cuts)
    mutants = [(epsilon * Decimal("1.1"), sensitivity), (epsilon / Decimal("1.1"), sensitivity)]
    for mutant in (*mutants, *((epsilon, other) for other in others)):
        law_of_mutant = law_of(Fraction(mutant[0]) / mutant[1], cuts)
        assert_law(sampler(epsilon, sensitivity, cuts), law, law_of_mutant)
        with pytest.raises(UnlikelyError):
            assert_law(sampler(*mutant, cuts), law, law_of_mutant)


def test_noise_of_one_side_and_none_are_caught():
    epsilon = Decimal(1)
    law = law_of(Fraction(epsilon), NEAR)
    nothing = [0, 0, 0, 1, 0, 0, 0]
    with pytest.raises(UnlikelyError):
        assert_law(sampler(epsilon, 1, NEAR, lambda noise: 0 * noise), law, nothing)
    folded = [0, 0, 0, law[3], 2 * law[4], 2 * law[5], 2 * law[6]]
    with pytest.raises(UnlikelyError):
        assert_law(sampler(epsilon, 1, NEAR, np.abs), law, folded)


@pytest.mark.parametrize(("epsilon", "sensitivity"), [*RATES, (Decimal(20), 1), (Decimal(1), 40)])
def test_errors_are_those_of_the_law(epsilon, sensitivity):
    noise, rate = DiscreteLaplace(epsilon, sensitivity), Fraction(epsilon) / sensitivity
    reach = math.ceil(60 / rate)
    law = [float(Fraction(p, 1 << 300)) for p in two_sided_law(rate, reach, 1 << 300)[0]]
    sizes = np.abs(np.arange(-reach, reach + 1))
    assert noise.variance == pytest.approx(sizes**2 @ law, rel=1e-9)
    assert noise.mean_absolute_error == pytest.approx(sizes @ law, rel=1e-9)


def test_noise_is_a_function_of_the_bytes_and_no_numbers_have_none():
    noise = DiscreteLaplace(Decimal("0.2"), 3)
    one, other = (noise.draw(500, byte_stream(key * 32)) for key in (b"a", b"b"))
    assert one.tolist() == noise.draw(500, byte_stream(b"a" * 32)).tolist()
    assert one.tolist() != other.tolist()
    none = noise.draw(0, byte_stream(b"a" * 32))
    assert none.shape == (0,)
    assert none.dtype == np.int64


@pytest.mark.parametrize("epsilon", ["600", "1e999"])
def test_an_epsilon_beyond_all_noise_is_drawn_at_a_smaller_one(epsilon):
    noise = DiscreteLaplace(Decimal(epsilon), 1)
    assert noise.rate == 512
    assert not noise.draw(1000, byte_stream(bytes(32))).any()
    assert 0 < noise.variance < 1e-200


@pytest.mark.parametrize("epsilon", [0, -1, Decimal("NaN"), True, "1"])
def test_an_epsilon_that_is_none_is_refused(epsilon):
    with pytest.raises(SpecError, match="epsilon must be a positive finite number"):
        DiscreteLaplace(epsilon, 1)


@pytest.mark.parametrize("sensitivity", [0, -1, True, 2.0, Fraction(3)])
def test_a_sensitivity_that_is_none_is_refused(sensitivity):
    with pytest.raises(SpecError, match="sensitivity: must be a whole number, one or more"):
        DiscreteLaplace(Decimal(1), sensitivity)


def test_an_epsilon_whose_noise_might_overflow_is_refused():
    smallest = Decimal(2) ** -40
    assert DiscreteLaplace(smallest, 1).rate == Fraction(1, 1 << 40)
    for epsilon, sensitivity in ((smallest, 2), (Decimal("1e-900"), 1)):
        with pytest.raises(SpecError, match=r"at least 2\*\*-40 of the sensitivity.*Give a larger epsilon"):
            DiscreteLaplace(epsilon, sensitivity)


def test_the_label_tells_laws_apart_and_equal_ones_not():
    assert len({DiscreteLaplace(epsilon, size).label for epsilon in (1, 2) for size in (1, 2)}) == 4
    noise = DiscreteLaplace(Decimal("1.00"), 2)
    assert noise.label == DiscreteLaplace(1, 2).label
    assert pickle.loads(pickle.dumps(noise)) == noise
