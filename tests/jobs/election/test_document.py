"""What is said of rounds: names, intervals, who goes, what the tie order decided, and by how much a race was won."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs.catalogue import load
from jobs.election.count import Round, conduct, exact_answers
from jobs.election.document import estimated_margin, head, round_documents
from jobs.election.margins import margin_of_victory
from jobs.election.rules import (
    RULES,
    Borda,
    Condorcet,
    Maximin,
    Plurality,
    Runoff,
    Scoring,
    SingleTransferableVote,
)
from jobs.results import encode
from tests.jobs.election.booths import Booth
from tests.jobs.election.every_profile import complete
from udfs.contests import Duels, FirstChoice, Points
from udfs.profile import Profile

pytestmark = pytest.mark.usefixtures("blank_page")

ORDER = ("Di", "Bo", "Ada", "Cy")
"""The tie order: candidate 0 is Di."""


def spec_of(rule: str, model: str = "local", **election: Any) -> Any:
    weights = {"weights": [3, "1/2", 0, 0]} if rule == "scoring" else {}
    table = (
        {"candidates": ["Ada", "Bo", "Cy", "Di"], "tie_order": list(ORDER), "rule": rule} | weights | election
    )
    given = {
        "job": "election",
        "population": {"path": "people", "ranking": "ranking"},
        "output": {"path": "out"},
        "election": table,
        "privacy": {"model": model, "epsilon": 1},
    }
    return load(given)[1]


def held(contest: Any, scores: list[float], errors: list[float] | None = None) -> Round:
    return Round(contest, np.array(scores), np.array(errors or [1.0] * len(scores)), 100)


def documents(spec: Any, *rounds: Round) -> list[dict[str, Any]]:
    """Return rounds as result.json has them."""
    found: list[dict[str, Any]] = json.loads(encode(round_documents(spec, rounds)))
    return found


def test_the_head_names_the_outcome_and_the_rules_by_which_it_was_found() -> None:
    found = head(spec_of("stv", "central", invalid="blank"), 2, 57)
    expected = {
        "outcome": "Ada", "rule": "stv", "model": "central", "ballots": 57,
        "candidates": ["Ada", "Bo", "Cy", "Di"], "tie_order": list(ORDER), "invalid": "blank", "shared": "overvote",
    }  # fmt: skip
    assert found | expected == found
    assert head(spec_of("condorcet"), None, 0)["outcome"] is None
    assert head(spec_of("condorcet"), 0, 0)["outcome"] == "Di"


def test_scores_stand_by_the_names_of_whom_they_are_about_with_their_intervals() -> None:
    (one,) = documents(
        spec_of("plurality"), held(FirstChoice((0, 1, 2, 3)), [5.0, 2.0, 7.5, -1.0], [1, 2, 3, 0.5])
    )
    assert one["question"] == "first choices"
    assert one["active"] == list(ORDER)
    assert one["scores"] == [5.0, 2.0, 7.5, -1.0]
    assert one["asked"] == 100
    for score, error, (low, high) in zip(
        one["scores"], one["standard_errors"], one["intervals"], strict=True
    ):
        assert low == pytest.approx(score - 1.959964 * error, rel=1e-6)
        assert high == pytest.approx(score + 1.959964 * error, rel=1e-6)
    assert one["tied"] == []


def test_where_nobody_was_asked_errors_and_intervals_are_null() -> None:
    (one,) = documents(spec_of("plurality"), held(FirstChoice((0, 1, 2, 3)), [0.0] * 4, [math.inf] * 4))
    assert one["standard_errors"] == [None] * 4
    assert one["intervals"] == [[None, None]] * 4
    assert one["tied"] == list(ORDER)


def test_exact_scores_are_told_in_the_unit_of_the_points() -> None:
    contest = Points((3, Fraction(1, 2), 0, 0))
    exact = Round(contest, np.array([12, 0, 6, 24]), np.zeros(4), 9)
    (one,) = documents(spec_of("scoring"), exact)
    assert one["scores"] == [score / contest.scale for score in (12, 0, 6, 24)]


def test_duels_say_who_was_first() -> None:
    (one,) = documents(spec_of("condorcet"), held(Duels(((2, 0), (2, 3))), [4.0, -2.0]))
    assert one["pairs"] == [["Ada", "Di"], ["Ada", "Cy"]]
    assert one["active"] == ["Di", "Ada", "Cy"]
    assert one["scores"] == [4.0, -2.0]


def test_stv_says_who_goes_in_every_round_and_of_the_fewest_it_is_the_last_in_the_order() -> None:
    found = documents(
        spec_of("stv"),
        held(FirstChoice((0, 1, 2, 3)), [10.0, 4.0, 4.0, 9.0]),
        held(FirstChoice((0, 1, 3)), [10.0, 8.0, 9.0]),
        held(FirstChoice((0, 3)), [11.0, 11.0]),
    )
    assert [one["eliminated"] for one in found] == ["Ada", "Bo", "Cy"]
    assert [one["tied"] for one in found] == [["Bo", "Ada"], [], ["Di", "Cy"]]
    (last,) = documents(spec_of("stv"), held(FirstChoice((0, 3)), [1.0, 2.0]))
    assert last["eliminated"] == "Di"


@pytest.mark.parametrize(
    ("rule", "contest", "scores", "tied"),
    [
        ("plurality", FirstChoice((0, 1, 2, 3)), [5, 7, 7, 1], ["Bo", "Ada"]),
        ("plurality", FirstChoice((0, 1, 2, 3)), [5, 5, 7, 1], []),
        ("borda", Points((3, 2, 1, 0)), [5, 7, 1, 7], ["Bo", "Cy"]),
        ("runoff", FirstChoice((0, 1, 2, 3)), [5, 9, 5, 1], ["Di", "Ada"]),
        ("runoff", FirstChoice((0, 1, 2, 3)), [9, 9, 5, 1], []),
        ("runoff", FirstChoice((0, 1, 2, 3)), [9, 9, 9, 1], ["Di", "Bo", "Ada"]),
        ("runoff", Duels(((1, 2),)), [0], ["Bo", "Ada"]),
        ("runoff", Duels(((1, 2),)), [-1], []),
    ],
)
def test_whom_the_tie_order_told_apart_is_told(
    rule: str, contest: Any, scores: list[float], tied: list[str]
) -> None:
    (one,) = documents(spec_of(rule), held(contest, scores))
    assert one["tied"] == tied


@pytest.mark.parametrize(
    ("rule", "contest", "scores", "margin"),
    [
        (Plurality(3), FirstChoice((0, 1, 2)), [50.0, 20.0, 40.0], 5.0),
        (Borda(3), Points((2, 1, 0)), [50.0, 20.0, 40.0], 2.5),
        (Scoring(3, (Fraction(5), 1, 0)), Points((Fraction(5), 1, 0)), [50.0, 20.0, 40.0], 1.0),
        (SingleTransferableVote(3), FirstChoice((0, 2)), [50.0, 20.0], 15.0),
        (Runoff(3), Duels(((0, 2),)), [-6.0], 3.0),
        (Condorcet(3), Duels.of_all(3), [8.0, 6.0, -1.0], 3.0),
        (Condorcet(3), Duels(((1, 0), (1, 2))), [8.0, 2.0], 1.0),
        (Condorcet(3), Duels.of_all(3), [8.0, -6.0, 10.0], 3.0),
        (Maximin(3), Duels.of_all(3), [8.0, -6.0, 10.0], 0.5),
    ],
)  # fmt: skip
def test_the_estimated_margin_is_half_of_the_gap_or_as_much_of_it_as_a_ballot_swings(
    rule: Any, contest: Any, scores: list[float], margin: float
) -> None:
    found, meaning = estimated_margin(rule, [held(contest, scores)], 10**9)
    assert found == pytest.approx(margin)
    assert meaning


def test_nothing_was_asked_of_one_candidate() -> None:
    assert estimated_margin(Plurality(1), [], 5) == (None, "nothing was asked")
    assert round_documents(spec_of("plurality"), []) == []


@pytest.mark.parametrize("name", RULES)
def test_of_an_exact_count_the_estimate_is_no_smaller_than_half_a_ballot_below_what_decides(
    name: str,
) -> None:
    """A bound from scores alone: no fewer ballots than this undo the last step of a rule of one question."""
    rule: Any = Scoring(4, (3, 1, 0, 0)) if name == "scoring" else RULES[name](4)
    generator = np.random.default_rng(11)
    for _ in range(10):
        kinds = complete(4)
        profile = Profile.of(kinds, generator.integers(0, 12, len(kinds)))
        winner, rounds = conduct(rule.count(), exact_answers(profile))
        exact = [
            Round(one.contest, one.scores / one.contest.scale, one.standard_errors, one.asked)
            for one in rounds
        ]
        found, _ = estimated_margin(rule, exact, 10**9)
        assert found is not None
        if len(rounds) == 1:
            margin = margin_of_victory(rule, profile)
            assert margin.outcome == winner
            assert found <= margin.margin


def test_a_document_of_every_model_goes_to_json_and_comes_back(tmp_path: Path) -> None:
    for rule in ("stv", "condorcet", "runoff", "borda"):
        for model in ("local", "interactive", "central"):
            booth = Booth(tmp_path / f"{rule} {model}", rule, model).set("privacy", epsilon=1)
            document, _ = booth.run()
            assert json.loads((booth.out / "result.json").read_text("utf-8")) == document
            for one in document["result"].get("rounds", []):
                assert len(one["scores"]) == len(one["standard_errors"]) == len(one["intervals"])
                assert len(one["scores"]) == len(one.get("pairs", one["active"]))
