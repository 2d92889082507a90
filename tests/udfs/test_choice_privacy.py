from __future__ import annotations

import math
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from tests.statistics import UnlikelyError, assert_law
from tests.udfs.choices import answer_law, choice_of, every_ballot
from tests.udfs.laws import assert_private, ideal_truth, sets, subset_law
from tests.udfs.scripted import ScriptedDraws
from udfs.choice_contests import every_set
from udfs.draws import Numbered, RowDraws
from udfs.exact import WORD


class Assigned(ScriptedDraws):
    """Draws whose public words are written down too."""

    def __init__(self, words, public_words):
        super().__init__(words)
        self._public = ScriptedDraws({0: public_words})

    def public(self, seed):
        return self._public


def law_of_code(choice, ballots):
    """Return, contest by contest, the law that `randomize` has given the public draws: a column a ballot.

    It is run on each digit that settles a tie, both sides of the threshold of truth, and all orders of the
    others, which share one word.
    """
    laws = []
    for number, contest in enumerate(choice.contests):
        design = choice.designs[len(contest)]
        ties, orders = math.lcm(*range(1, design.cells + 1)), math.factorial(design.cells - 1)
        edges = [design.truth - 1, design.truth]
        chances = [Fraction(design.truth, WORD), Fraction(WORD - design.truth, WORD)]
        runs = [(tie, edge, order) for tie in range(ties) for edge in (0, 1) for order in range(orders)]
        tied, edge, order = map(np.array, zip(*runs, strict=True))
        rows = len(runs) * len(ballots)
        words = {0: tied, 1: np.array(edges, dtype=np.uint64)[edge], 3: order}
        draws = Assigned({index: np.tile(one, len(ballots)) for index, one in words.items()}, [number] * rows)
        reports = choice.randomize(np.repeat(ballots, len(runs), axis=0), draws)
        assert set(reports["question"].tolist()) == {number}
        bits = reports["answer"][:, 0].reshape(len(ballots), len(runs))
        law = defaultdict(lambda: [Fraction(0)] * len(ballots))
        for column, of_ballot in enumerate(bits.tolist()):
            for report, (_, side, _) in zip(of_ballot, runs, strict=True):
                law[report][column] += chances[side] / (ties * orders)
        assert len(law) == math.comb(design.cells, design.size)
        laws.append([law[sum(1 << one for one in held)] for held in sets(design.cells, design.size)])
    return laws


def law_of(choice, ballots, epsilon=None):
    """Return the law that a mechanism should have; with an epsilon, before anything is rounded to a word."""
    laws = []
    for contest in choice.contests:
        design = choice.designs[len(contest)]
        truth = ideal_truth(design.cells, design.size, epsilon) if epsilon else design.support_if_true
        given_answer = subset_law(design.cells, design.size, truth)
        answers = [answer_law(ballot, contest, choice.last) for ballot in ballots]
        laws.append(
            [[sum(map(Fraction.__mul__, row, chances)) for chances in answers] for row in given_answer]
        )
    return laws


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(
    ("candidates", "epsilon"), [(2, "1"), (3, "0.1"), (3, "1"), (3, "5"), (4, "0.2"), (4, "2")]
)
def test_given_the_public_draws_any_two_ballots_are_exactly_private(candidates, epsilon, last):
    choice, ballots = (
        choice_of(candidates, every_set(candidates), epsilon, last=last),
        every_ballot(candidates),
    )
    laws, ideals = law_of_code(choice, ballots), law_of(choice, ballots, Decimal(epsilon))
    assert laws == law_of(choice, ballots)
    for law, ideal in zip(laws, ideals, strict=True):
        assert_private(law, ideal, Decimal(epsilon))
    for wrong in law_of(choice, ballots, Decimal(epsilon) * Decimal("1.1")):
        with pytest.raises(AssertionError, match="a ratio exceeds"):
            assert_private(wrong, wrong, Decimal(epsilon))


def test_a_blank_ballot_that_is_not_randomized_is_caught():
    choice, ballots = choice_of(3, ((0, 1, 2),)), every_ballot(3)
    (law,) = law_of_code(choice, ballots)
    assert ballots[0].tolist() == [0, 0, 0]
    betrayed = [[Fraction(int(place == 0)), *row[1:]] for place, row in enumerate(law)]
    with pytest.raises(AssertionError, match="a ratio exceeds"):
        assert_private(betrayed, betrayed, Decimal(1))


def count_sets(choice, ballot):
    """Return what counts the reports on one ballot by the lowest byte of their sets."""

    def sample(secret, draws):
        ballots = np.tile(np.array(ballot, dtype=np.uint8), (draws, 1))
        source = RowDraws(secret.key("choice"), draws, Numbered(0, draws))
        held = choice.randomize(ballots, source)["answer"][:, 0]
        (contest,) = choice.contests
        design = choice.designs[len(contest)]
        return np.array(
            [np.sum(held == sum(1 << one for one in of)) for of in sets(design.cells, design.size)]
        )

    return sample


@pytest.mark.parametrize(
    ("ballot", "last"),
    [((1, 0, 2, 3, 3), False), ((0, 0, 2, 3, 3), False), ((1, 0, 2, 3, 3), True), ((0, 0, 0, 0, 0), True)],
)
def test_reports_follow_their_law(ballot, last):
    contests = ((0, 1, 3, 4),)
    choice, mutant = (choice_of(5, contests, epsilon, last=last) for epsilon in ("1", "1.1"))
    (law,), (wrong,) = law_of(choice, [ballot]), law_of(mutant, [ballot])
    law, wrong = ([row[0] for row in one] for one in (law, wrong))
    if law == wrong:  # an answer drawn from all has the same law at any epsilon
        wrong = [p * Fraction(11, 10) for p in law]
    else:
        with pytest.raises(UnlikelyError):
            assert_law(count_sets(mutant, ballot), law, wrong)
    assert_law(count_sets(choice, ballot), law, wrong)
