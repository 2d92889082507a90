"""Private selection: its law, exactly, and its privacy between all neighbours for every epsilon at once."""

from __future__ import annotations

import math
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from jobs.election.rules import RULES, Scoring
from jobs.election.selection import SELECTIONS, Bits, bernoulli_exp, select
from tests.jobs.election.every_profile import complete, every_profile, shared, truncated
from tests.jobs.election.selection_laws import assert_private
from tests.statistics import UnlikelyError, assert_law
from tests.udfs.scripted import ScriptedDraws
from udfs.draws import RowDraws
from udfs.exact import WORD, exp_bounds

RULES_OF_THREE = [
    *(kind(3) for name, kind in RULES.items() if name != "scoring"),
    Scoring(3, (Fraction(5), Fraction(3), Fraction(0))),
]
PROFILES = [(shared, 1), (shared, 2), (shared, 3), (shared, 5), (truncated, 4), (complete, 7)]


class OutOfChoicesError(Exception):
    """A program wants a number that no choice was made for."""


class Choices:
    """A source whose numbers are chosen: it plays some, then stops the program."""

    def __init__(self, chosen):
        self._chosen, self.probability = iter(chosen), Fraction(1)

    def below(self, bound):
        if bound == 1:
            return 0
        number = next(self._chosen, None)
        if number is None:
            raise OutOfChoicesError(bound)
        self.probability /= bound
        return number


def exact_law(program, least=Fraction(1, 2000)):
    """Return the probabilities of what a program returns, and of the runs that are cut short as unlikely."""
    law, undecided, stack = defaultdict(Fraction), Fraction(0), [()]
    while stack:
        chosen = stack.pop()
        source = Choices(chosen)
        try:
            law[program(source)] += source.probability
        except OutOfChoicesError as stop:
            (bound,) = stop.args
            if source.probability < least:
                undecided += source.probability
            else:
                stack.extend((*chosen, number) for number in range(bound))
    return law, undecided


def winners_share(outcomes, exponent):
    """Return bounds of the true outcome's probability."""
    low, high = exp_bounds(-exponent)
    return 1 / (1 + (outcomes - 1) * high), 1 / (1 + (outcomes - 1) * low)


def neighbours(rule, kinds, ballots):
    """Return every pair of (outcome, margin) that two neighbouring profiles have."""
    profiles = every_profile(kinds, rule.candidates, ballots)
    outcomes = profiles.outcomes(rule)
    return profiles.neighbouring(outcomes, profiles.margins(outcomes))


@pytest.mark.parametrize(("kinds", "ballots"), PROFILES, ids=lambda one: getattr(one, "__name__", one))
@pytest.mark.parametrize("rule", RULES_OF_THREE, ids=lambda rule: rule.name)
def test_each_kind_is_private_between_all_neighbours_at_every_epsilon(rule, kinds, ballots):
    pairs = neighbours(rule, kinds, ballots)
    assert len({outcome for (outcome, _), _ in pairs}) > 1
    for one, other in pairs:
        for share in SELECTIONS.values():
            assert_private(one, other, rule.outcomes, share, budget=share)


def assert_all_private(pairs, rule, share):
    """Fail unless all pairs of neighbours are private, where weights spend this share of epsilon."""
    for one, other in pairs:
        assert_private(one, other, rule.outcomes, share)


@pytest.mark.parametrize("rule", RULES_OF_THREE, ids=lambda rule: rule.name)
def test_a_tenth_more_than_epsilon_is_caught(rule):
    with pytest.raises(AssertionError, match="exceeds"):
        assert_all_private(neighbours(rule, shared, 3), rule, Fraction(11, 10))


def test_margins_that_two_ballots_move_are_caught():
    with pytest.raises(AssertionError, match="exceeds"):
        assert_private((0, 3), (0, 1), 3)


@pytest.mark.parametrize(
    "exponent", [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(5, 2)]
)
def test_an_event_of_probability_e_to_the_minus_x_is_exact(exponent):
    law, undecided = exact_law(lambda source: bernoulli_exp(exponent, source))
    low, high = exp_bounds(-Decimal(exponent.numerator) / exponent.denominator)
    assert undecided < Fraction(1, 50)
    assert law[True] <= high
    assert low <= law[True] + undecided
    assert law[True] + law[False] + undecided == 1


@pytest.mark.parametrize(
    ("outcomes", "margin", "epsilon"),
    [(2, 1, "1"), (3, 1, "0.5"), (2, 3, "0.5"), (2, Fraction(3, 4), "2"), (4, 0, "1")],
)
@pytest.mark.parametrize("kind", SELECTIONS)
def test_an_outcome_is_selected_by_its_exact_probability(outcomes, margin, epsilon, kind):
    true = outcomes - 1
    law, undecided = exact_law(
        lambda source: select(true, outcomes, margin, Decimal(epsilon), kind, source), Fraction(1, 5000)
    )
    exponent = SELECTIONS[kind] * Fraction(epsilon) * margin
    low, high = winners_share(outcomes, Decimal(exponent.numerator) / exponent.denominator)
    assert undecided < Fraction(1, 8)
    assert law[true] <= high
    assert low <= law[true] + undecided
    for other in range(true):
        assert law[other] == law[0]
        assert law[other] <= (1 - low) / true
        assert law[other] + undecided >= (1 - high) / true


def test_one_possible_outcome_is_selected_without_a_draw():
    assert select(0, 1, 0, Decimal(1), "margin", Bits(ScriptedDraws({0: [0]}))) == 0


class InTurn:
    """The words of many rows as those of one, in turn: a keystream that is read at once."""

    def __init__(self, words):
        self._words = words

    def words(self, index):
        return self._words[index : index + 1]


def sample(outcomes, margin, epsilon, kind="margin"):
    """Return a sample of how often the true outcome, the first, is selected, and the last."""

    def draw(secret, draws):
        source = Bits(InTurn(RowDraws(secret.key("selection"), 50 * draws).words(0)))
        drawn = [select(0, outcomes, margin, epsilon, kind, source) for _ in range(draws)]
        return np.bincount(drawn, minlength=outcomes)[[0, -1]]

    return draw


def law_of(outcomes, exponent):
    """Return the probabilities of the true outcome and of another."""
    wins = 1 / (1 + (outcomes - 1) * math.exp(-exponent))
    return [wins, (1 - wins) / (outcomes - 1)]


def test_selections_follow_the_law_and_a_tenth_more_epsilon_is_told():
    law, mutant = law_of(8, 2.025), law_of(8, 1.1 * 2.025)
    assert_law(sample(8, Fraction(9, 4), Decimal("0.9")), law, mutant)
    with pytest.raises(UnlikelyError):
        assert_law(sample(8, Fraction(9, 4), Decimal("0.99")), law, mutant)


def test_half_the_weights_are_told():
    law, mutant = law_of(8, 2.0), law_of(8, 1.0)
    assert_law(sample(8, 4, Decimal("0.5"), "exponential"), mutant, law)
    with pytest.raises(UnlikelyError):
        assert_law(sample(8, 4, Decimal("0.5"), "exponential"), law, mutant)


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 6, 1 << 64, (1 << 64) + 1, 10**40])
def test_numbers_below_a_bound_are_a_words_first_bits_and_larger_ones_are_drawn_again(bound):
    bits = (bound - 1).bit_length()
    words = -(-bits // 64)
    spare = 64 * words - bits

    def scripted(*numbers):
        every = [
            number << spare >> 64 * (words - 1 - place) & WORD - 1
            for number, place in product(numbers, range(words))
        ]
        draws = ScriptedDraws({index: [word] for index, word in enumerate(every)} or {0: [0]})
        return Bits(draws), draws

    for number in {0, 1 % bound, bound // 2, bound - 1}:
        source, draws = scripted(number)
        assert source.below(bound) == number
        assert draws.read == list(range(words))
    if bound < 1 << bits:
        source, draws = scripted(bound, (1 << bits) - 1, bound - 1)
        assert source.below(bound) == bound - 1
        assert draws.read == list(range(3 * words))


def test_a_stream_that_is_read_again_selects_the_same():
    def run(key):
        source = Bits(RowDraws(key, 1))
        return [select(0, 100, 3, Decimal("0.1"), "margin", source) for _ in range(30)]

    assert run(bytes(32)) == run(bytes(32))
    assert run(bytes(32)) != run(bytes([1]) * 32)


@pytest.mark.parametrize("epsilon", ["1e-30", "0.3333333333333333333333333333", "1e30"])
def test_any_decimal_epsilon_and_any_margin_can_be_selected_by(epsilon):
    source = Bits(RowDraws(bytes(32), 1))
    drawn = {select(1, 3, Fraction(10**9, 4), Decimal(epsilon), "margin", source) for _ in range(60)}
    assert drawn == ({0, 1, 2} if Decimal(epsilon) < Decimal("1e-10") else {1})
