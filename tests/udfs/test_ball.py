from __future__ import annotations

import dataclasses
import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from tests.udfs.balls import FOUR, RANKING, THREE, vectors, weak_orders
from tests.udfs.laws import LN_2, assert_private, exp_below
from tests.udfs.scripted import ScriptedDraws
from udfs.ball import REPORT, Ball
from udfs.contests import Duels, EveryFirstChoice, FirstChoice, Points
from udfs.directions import Directions, row_names
from udfs.draws import IdDraws, Numbered, PublicDraws
from udfs.ellipsoid import Ellipsoid
from udfs.errors import SchemaError, SpecError
from udfs.exact import WORD
from udfs.turns import Turn


class Repeated(Numbered):
    """Rows of which `first` at a time share a number, from 1 on, so that they have one direction."""

    def blocks(self, key):
        return super().blocks(key) // np.uint64(self.first)


class Scripted(ScriptedDraws):
    """Secret words that are written down, and the public draws of rows of which `together` share theirs."""

    def __init__(self, words, together):
        super().__init__(words)
        self.together = together

    def public(self, seed):
        return PublicDraws(Repeated(self.together, len(self))).public(seed)


def chances_of_code(ball, places, directions):
    """Return the probability over 2**64 that a ballot is said to be on the positive side: by direction, by ballot.

    A report is a step function of the secret word; all steps are found at once, by bisection.
    """
    rows = np.tile(places, (directions, 1))

    def positive(words):
        return ball.randomize(rows, Scripted({0: words}, len(places)))["positive"].tolist()

    low, high, first = [0] * len(rows), [WORD - 1] * len(rows), positive([0] * len(rows))
    assert all(one != other for one, other in zip(first, positive(high), strict=True))
    for _ in range(64):
        middle = [(one + other) // 2 for one, other in zip(low, high, strict=True)]
        same = [one == other for one, other in zip(first, positive(middle), strict=True)]
        low = [m if is_same else one for m, is_same, one in zip(middle, same, low, strict=True)]
        high = [one if is_same else m for m, is_same, one in zip(middle, same, high, strict=True)]
    assert all(other - one == 1 for one, other in zip(low, high, strict=True))
    chances = [step if is_first else WORD - step for step, is_first in zip(high, first, strict=True)]
    return [chances[start : start + len(places)] for start in range(0, len(rows), len(places))]


def law_by_hand(ball, places, coordinates, truth):
    """Return for each ballot the probability of the positive side of a direction, with roots to 60 digits."""
    answers = vectors(ball, places).tolist()
    longest = max(sum(entry * entry for entry in x) for x in answers)
    law = []
    for x in answers:
        along = sum(v * entry for v, entry in zip(coordinates, x, strict=True))
        square, unit = sum(entry * entry for entry in x), 10**60
        length = Fraction(math.isqrt(unit * unit * square // longest), unit)
        likelier = Fraction(1, 2) + (truth - Fraction(1, 2)) * length
        law.append(likelier if along > 0 else 1 - likelier if along < 0 else Fraction(1, 2))
    return law


def assert_ball_private(ball):
    """Check all 13 ballots of three candidates, given each of five directions: the code's law, and one by hand."""
    places, directions = weak_orders(3), 5
    ideal_truth = exp_below(ball.epsilon) / (1 + exp_below(ball.epsilon))
    names = row_names(PublicDraws(Numbered(1, directions)), ball.seed)
    coordinates = Directions(ball.seed, names).coordinates(range(ball.contest.dimension)).tolist()
    for direction, chances in zip(coordinates, chances_of_code(ball, places, directions), strict=True):
        positive = [Fraction(chance, WORD) for chance in chances]
        ideal = law_by_hand(ball, places, direction, ideal_truth)
        law = [positive, [1 - p for p in positive]]
        assert_private(law, [ideal, [1 - p for p in ideal]], ball.epsilon, words=3)


@pytest.mark.parametrize("name", THREE)
@pytest.mark.parametrize("epsilon", ["0.1", LN_2, "1", "5"])
def test_given_the_direction_a_bit_is_exactly_private_whatever_the_ballot(name, epsilon):
    contest, transform = THREE[name]
    assert_ball_private(Ball(contest, Decimal(epsilon), bytes(32), transform=transform))


class OneWordMore(Ball):
    @property
    def truth(self):
        return super().truth + 1


class Longer(Ball):
    def chance(self, square):
        return super().chance(square) if square < self.squared_norm else self.truth + (self.truth >> 4)


class Shorter(Ball):
    """Every answer as if it were a longest one: private, but of another law."""

    def chance(self, square):
        return self.truth if square else WORD // 2


@pytest.mark.parametrize(
    ("mutant", "message"),
    [(OneWordMore, "a ratio exceeds"), (Longer, "a ratio exceeds"), (Shorter, "far from the ideal")],
)
@pytest.mark.parametrize("name", ["duels", "ellipsoid", "points", "every first choice"])
def test_another_law_is_caught(mutant, message, name):
    contest, transform = THREE[name]
    with pytest.raises(AssertionError, match=message):
        assert_ball_private(mutant(contest, Decimal(1), bytes(32), transform=transform))


@pytest.mark.parametrize("epsilon", ["1e-6", "1", "44", "500"])
def test_no_answer_however_long_is_reported_with_more_than_the_truth_threshold(epsilon):
    ball = Ball(Points((7, 4, 1, 0)), Decimal(epsilon), bytes(32))
    chances = [ball.chance(square) for square in range(0, 2 * ball.squared_norm)]
    assert chances[0] == WORD // 2
    assert chances == sorted(chances)
    assert chances[-1] == ball.truth < WORD


def test_an_answer_of_nothing_is_a_fair_coin():
    blank = np.zeros((1, 3), dtype=np.uint8)
    for contest, transform in THREE.values():
        ball = Ball(contest, Decimal(5), bytes(32), transform=transform)
        assert chances_of_code(ball, blank, 3) == [[WORD // 2]] * 3


def by_id(places, first=0):
    """Return draws of respondents who are numbered from `first`."""
    standing = Numbered(first, len(places))
    return IdDraws(bytes(32), standing.blocks(b""), places, standing)


@pytest.mark.parametrize("name", FOUR)
def test_reports_and_sums_do_not_depend_on_how_rows_are_cut(name):
    contest, transform = FOUR[name]
    ball = Ball(contest, Decimal(1), bytes(32), Turn(0, 2, 3), transform)
    places = np.asfortranarray(np.random.default_rng().integers(0, 4, (9000, 4), dtype=np.uint8))
    places = np.sort(places, axis=1) if name == "points" else places
    if name in ("points", "ellipsoid"):
        places = np.repeat(RANKING, 9000, axis=0)
    whole = ball.randomize(places, by_id(places))
    parts = [
        ball.randomize(places[start:stop], by_id(places[start:stop], start))
        for start, stop in ((0, 1), (1, 4100), (4100, 9000))
    ]
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    np.testing.assert_array_equal(ball.tally(whole), ball.zeros() + sum(map(ball.tally, parts)))


def test_each_voter_reports_in_one_turn():
    places = np.repeat(RANKING, 500, axis=0)
    turns = [Turn(0, 1, 4), Turn(1, 2, 4), Turn(2, 4, 4)]
    names = [
        Ball(Duels.of_all(4), Decimal(1), bytes(32), turn).randomize(places, by_id(places))["name"]
        for turn in turns
    ]
    everybody = Ball(Duels.of_all(4), Decimal(1), bytes(32)).randomize(places, by_id(places))["name"]
    np.testing.assert_array_equal(np.unique(np.concatenate(names), axis=0), np.unique(everybody, axis=0))
    assert sum(map(len, names)) == 500


@pytest.mark.parametrize("turn", [Turn(0, 1, 1), Turn(0, 1, 3)])
def test_bits_that_were_collected_are_the_reports_again(turn):
    ball = Ball(Duels.of_all(4), Decimal(1), bytes(32), turn)
    places = np.repeat(RANKING, 200, axis=0)
    reports = ball.randomize(places, by_id(places))
    asked = turn.rows(by_id(places), ball.seed)
    bits = np.zeros(200, dtype=np.bool_)
    bits[asked] = ball.to_arrow(reports, ()).to_numpy(zero_copy_only=False)
    column = pa.concat_arrays([pa.array([True, None]), pa.array(bits, type=ball.report_type(()))])
    found, impossible = ball.from_arrow(column.slice(2))
    assert impossible == 0
    np.testing.assert_array_equal(ball.collected(found, PublicDraws(Numbered(0, 200))), reports)
    assert ball.from_arrow(column.slice(1))[1] == 1
    assert reports.dtype == REPORT


@pytest.mark.parametrize("name", FOUR)
def test_a_description_gives_the_mechanism_back(name):
    contest, transform = FOUR[name]
    ball = Ball(contest, Decimal("0.70"), bytes(range(32)), Turn(1, 2, 5), transform)
    description = json.loads(json.dumps(ball.describe()))
    again = Ball.from_description(description)
    assert again == ball
    assert again.label == ball.label


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mechanism", "sampled"),
        ("contest", {"question": "riddles"}),
        ("contest", {"question": "points", "weights": ["1/0"]}),
        ("contest", None),
        ("epsilon", "much"),
        ("epsilon", "-1"),
        ("seed", "xyz"),
        ("seed", "00"),
        ("turn", [0, 1]),
        ("ellipsoid", True),
        ("thresholds", {"truth": 5}),
    ],
)
def test_another_description_is_refused(key, value):
    description = Ball(FirstChoice((0, 1)), Decimal(1), bytes(32)).describe() | {key: value}
    with pytest.raises(SchemaError):
        Ball.from_description(description)


def test_a_label_tells_every_parameter():
    ball = Ball(Duels.of_all(3), Decimal(1), bytes(32))
    others = [
        {"contest": Duels(((0, 1), (0, 2)))},
        {"contest": EveryFirstChoice(3)},
        {"epsilon": Decimal("1.1")},
        {"seed": bytes(31) + b"1"},
        {"turn": Turn(0, 1, 2)},
        {"transform": Ellipsoid(3)},
    ]
    labels = {ball.label, *(dataclasses.replace(ball, **other).label for other in others)}
    assert len(labels) == 1 + len(others)
    assert str(ball.truth) in ball.label
    assert ball.thresholds() == {"truth": ball.truth}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": Decimal(0)}, "positive"),
        ({"epsilon": Decimal("1e-15")}, "invertible"),
        ({"seed": b"short"}, "32 bytes"),
        ({"transform": Ellipsoid(4)}, "ellipsoid"),
        ({"contest": Points((1,) * 29 + (0,))}, "sums are exact"),
    ],
)
def test_parameters_that_cannot_be_are_refused(parameters, message):
    given = {"contest": Duels.of_all(3), "epsilon": Decimal(1), "seed": bytes(32)} | parameters
    with pytest.raises(SpecError, match=message):
        Ball(**given)


@pytest.mark.parametrize("name", FOUR)
def test_a_block_without_rows_has_no_reports(name):
    contest, transform = FOUR[name]
    ball, nobody = Ball(contest, Decimal(1), bytes(32), transform=transform), np.zeros((0, 4), dtype=np.uint8)
    reports = ball.randomize(nobody, by_id(nobody))
    assert len(reports) == 0
    assert ball.tally(reports).tolist() == ball.zeros().tolist()


def test_many_candidates_are_laid_out_a_few_ballots_at_a_time(monkeypatch):
    ball, places = Ball(Duels.of_all(4), Decimal(1), bytes(32)), np.repeat(RANKING, 50, axis=0)
    whole = ball.randomize(places, by_id(places))
    monkeypatch.setattr("udfs.ball._MOST_LAID_OUT", 20)
    np.testing.assert_array_equal(ball.randomize(places, by_id(places)), whole)
