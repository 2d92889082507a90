from __future__ import annotations

import json
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from tests.udfs.choices import choice_of
from tests.udfs.laws import exp_below
from udfs.choice import SampledChoice
from udfs.choice_contests import every_pair, every_set
from udfs.contests import Duels, EveryFirstChoice, FirstChoice, Points
from udfs.draws import Numbered, fresh_draws
from udfs.errors import SchemaError, SpecError
from udfs.exact import WORD
from udfs.turns import Turn

ASKED = choice_of(4, ((0, 1), (0, 1, 2), (2, 3), (0, 1, 2, 3)))
LAST = choice_of(4, ((0, 1, 2, 3),), last=True)


@pytest.mark.parametrize(
    ("choice", "contest", "tells"),
    [
        (ASKED, FirstChoice((0, 1, 2)), True),
        (ASKED, FirstChoice((0, 1, 3)), False),
        (ASKED, Duels(((1, 0), (2, 3))), True),
        (ASKED, Duels(((0, 1), (1, 2))), False),
        (ASKED, EveryFirstChoice(4), False),
        (choice_of(4, every_set(4)), EveryFirstChoice(4), True),
        (ASKED, Points((1, 1, 1, 0)), False),
        (LAST, Points((1, 1, 1, 0)), True),
        (LAST, Points((5, 5, 5, -2)), True),
        (LAST, Points((3, 2, 1, 0)), False),
        (LAST, Points((1, 1, 0)), False),
        (LAST, FirstChoice((0, 1, 2, 3)), False),
    ],
)
def test_what_reports_tell(choice, contest, tells):
    assert choice.answers(contest) is tells
    if not tells:
        with pytest.raises(SpecError, match="must be asked what its reports tell"):
            choice.estimate(contest, choice.zeros(), 10)


@pytest.mark.parametrize("contests", ["every", "pairs", "some"])
def test_a_description_as_json_makes_the_same_mechanism_again(contests):
    lists = {"every": every_set(4), "pairs": every_pair(4), "some": ((0, 3), (1, 2, 3))}
    weights = (
        (1,) * len(lists[contests]) if contests == "pairs" else tuple(range(1, len(lists[contests]) + 1))
    )
    choice = choice_of(4, lists[contests], "0.25", weights=weights, seed=bytes(range(32)), turn=Turn(1, 2, 3))
    description = json.loads(json.dumps(choice.describe()))
    assert description["contests"] == (contests if contests != "some" else [[0, 3], [1, 2, 3]])
    assert description == choice.describe()
    again = SampledChoice.from_description(description)
    assert again == choice
    assert again.label == choice.label


def test_a_description_of_another_law_is_refused():
    description = choice_of(3, every_pair(3)).describe()
    with pytest.raises(SchemaError, match="thresholds"):
        SampledChoice.from_description(description | {"epsilon": "2"})
    with pytest.raises(SchemaError, match="must be of sampled-choice"):
        SampledChoice.from_description(description | {"mechanism": "ball"})
    with pytest.raises(SchemaError, match="thresholds"):
        SampledChoice.from_description({key: description[key] for key in description if key != "thresholds"})


@pytest.mark.parametrize(
    "wrong",
    [
        {"candidates": None},
        {"contests": [[0, 0]]},
        {"contests": 3},
        {"weights": [1]},
        {"epsilon": "much"},
        {"epsilon": "-1"},
        {"seed": "zz"},
        {"seed": "00"},
        {"turn": [1, 1, 2]},
        {"turn": [1]},
    ],
)
def test_a_description_of_nothing_is_refused(wrong):
    with pytest.raises(SchemaError, match="their description must be whole"):
        SampledChoice.from_description(choice_of(3, every_pair(3)).describe() | wrong)


def test_the_label_tells_mechanisms_apart():
    base = {
        "candidates": 4,
        "contests": ((0, 1), (0, 2)),
        "epsilon": "1",
        "weights": (1, 2),
        "seed": bytes(32),
    }
    changes = [
        {},
        {"candidates": 5},
        {"contests": ((0, 1), (0, 3))},
        {"contests": ((0, 2), (0, 1))},
        {"weights": (2, 1)},
        {"epsilon": "1.5"},
        {"seed": bytes(31) + b"1"},
        {"turn": Turn(0, 1, 2)},
        {"last": True},
    ]
    labels = {choice_of(**(base | change)).label for change in changes}
    assert len(labels) == len(changes)


def test_thresholds_are_those_of_every_size():
    choice = choice_of(3, every_set(3))
    for cells in (2, 3):
        truth = Fraction(choice.thresholds()[f"truth_{cells}"], WORD)
        assert (
            truth <= exp_below(Decimal(1)) / (cells - 1 + exp_below(Decimal(1))) < truth + Fraction(1, WORD)
        )
        assert choice.thresholds()[f"size_{cells}"] == 1


def test_what_follows_from_the_parameters_does_not_travel():
    choice = choice_of(10, every_set(10))
    before = len(pickle.dumps(choice))
    choice.tally(choice.randomize(np.zeros((5, 10), dtype=np.uint8), fresh_draws(5, Numbered(0, 5))))
    assert len(pickle.dumps(choice)) == before
    assert pickle.loads(pickle.dumps(choice)) == choice


@pytest.mark.parametrize(
    ("wrong", "must"),
    [
        ({"contests": ()}, "must be some"),
        ({"contests": ((0, 1), (0, 1))}, "all different"),
        ({"contests": ((1, 0), (0, 2))}, "ascending"),
        ({"contests": ((0, 4), (0, 2))}, "ascending"),
        ({"contests": ((-1, 1), (0, 2))}, "ascending"),
        ({"contests": ((0,), (0, 2))}, "two or more"),
        ({"weights": (1,)}, "needs a weight"),
        ({"weights": (0, 1)}, "positive"),
        ({"weights": (1, 1 << 40)}, "at most"),
        ({"seed": b"short"}, "32 bytes"),
        ({"epsilon": "0"}, "epsilon"),
    ],
)
def test_what_cannot_be_asked_is_refused(wrong, must):
    right = {"candidates": 4, "contests": ((0, 1), (0, 2)), "weights": (1, 1)}
    with pytest.raises(SpecError, match=must):
        choice_of(**(right | wrong))
