from __future__ import annotations

import re
from typing import Any

import pytest

from jobs.show.election import show_election_plan, show_election_result
from tests.jobs.page.elections import (
    ELECTIONS,
    asked,
    central,
    condorcet,
    election,
    knockout,
    many,
    plurality,
    transfers,
)

MARKUP = "[red]x[/red]"
LINK = "[link=http://example.com]y[/link]"
EMOJI = ":skull:"


def _shown(capsys: pytest.CaptureFixture[str], made: dict[str, Any], stored: bool = False) -> list[str]:
    show_election_result(made, "out", stored)
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("name", [name for name in ELECTIONS if not name.startswith("hostile")])
def test_the_outcome_is_the_first_line_and_the_files_are_the_last(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ELECTIONS[name]()
    shown = _shown(capsys, made)
    outcome = made["result"]["outcome"]
    assert (outcome or "Nobody") in shown[0]
    assert made["result"]["model"] in shown[0]
    assert shown[-3:] == [
        "epsilon spent on these voters: 1.5, with a limit of 4.",
        "out/result.json",
        "out/report.html",
    ]


def test_names_are_not_taken_for_markup(capsys: pytest.CaptureFixture[str]) -> None:
    names = [MARKUP, LINK, EMOJI]
    one = asked("first choices", names, [60.0, 30.0, 10.0], 2.0, tied=[MARKUP, EMOJI])
    shown = _shown(capsys, election("plurality", names, 100, MARKUP, [one]))
    assert shown[0].startswith(f"{MARKUP} wins by plurality")
    for name, score in zip(names, ("60.0", "30.0", "10.0"), strict=True):
        assert any(line.startswith(f"{name} {score} 2.0 ") for line in shown)
    assert f"In round 1 {MARKUP}, {EMOJI} were level: the tie order decided." in shown


def test_scores_stand_from_the_highest_down_and_an_unknown_error_is_said_to_be_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = _shown(capsys, plurality())
    start = next(k for k, line in enumerate(shown) if line.startswith("Wright 2,951"))
    assert [line.split()[0] for line in shown[start : start + 6]] == [
        *("Wright", "Kiss", "Montroll", "Smith", "Simpson", "write-in"),
    ]
    assert shown[start].startswith("Wright 2,951 128 2,700 to 3,203")
    assert shown[start + 4].startswith("Simpson 35.1 not estimated")


def test_a_duel_names_whoever_is_ahead_first(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _shown(capsys, knockout())
    assert any(line.startswith("Dee over Cy 22.0 90.0 -154 to 198") for line in shown)
    assert "In round 3 Ada, Eve were level: the tie order decided." in shown


def test_eliminations_are_a_line_each_and_only_the_last_of_many(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _shown(capsys, transfers())
    assert "3 Pat McCarthy 100,812 Shawn Bunney 89,420 1,419" in shown
    shown = _shown(capsys, many())
    assert "17 earlier rounds: see report.html" in shown
    assert sum(bool(re.match(r"\d+ Candidate 1 ", line)) for line in shown) == 12


def test_of_many_duels_the_widest_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _shown(capsys, condorcet(30))
    assert "423 more: see report.html" in shown
    assert sum(" over " in line for line in shown) == 12


def test_of_the_central_model_nothing_is_shown_of_scores(capsys: pytest.CaptureFixture[str]) -> None:
    made = central(rounds=[asked("first choices", ["LEAKED"], [7654321.0], 1.0)], estimated_margin=7654321)
    shown = "\n".join(_shown(capsys, made)).replace(",", "")
    assert "LEAKED" not in shown
    assert "7654321" not in shown


def test_scores_that_are_not_known_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for make in (plurality, transfers, condorcet):
        made = make()
        for one in made["result"]["rounds"]:
            for key in ("scores", "standard_errors"):
                one[key] = [None for _ in one[key]]
            one["intervals"] = [[None, None] for _ in one["intervals"]]
        assert any("not estimated" in line for line in _shown(capsys, made))


def test_a_stored_result_says_that_it_cost_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert any(
        line.startswith("Stored result: nothing was drawn or charged.")
        for line in _shown(capsys, central(), stored=True)
    )


def _planned(**predicted: Any) -> dict[str, Any]:
    margin = {"value": 1850, "paper": 9731, "failure_probability": 0.05}
    return {
        "rows": 8980,
        "stages": [{"name": "round 1", "tasks": 1}, {"name": "round 2", "tasks": 4}],
        "bytes": {"read": 123456, "written": 0},
        "epsilon": {"total": 1.0, "charged": 1.0},
        "predicted": {"decisive_margin": margin, "rounds": [], **predicted},
        "reasons": [f"round 1: ball, {MARKUP}"],
    }


def test_a_plan_says_what_is_asked_and_how_decisive_a_race_must_be(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = {
        "question": "first choices",
        "of": 6,
        "randomizer": "subset-selection",
        "voters": 2993,
        "standard_error": 128.4,
        "standard_error_of_a_gap": None,
    }
    show_election_plan(_planned(rounds=[one]))
    shown = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "1 first choices 6 2,993 128 not estimated subset-selection" in shown
    sentence = "A race is decided right with 95 % probability wherever at least 1,850 of the 8,980 ballots decide it."
    assert sentence in " ".join(shown)
    assert "By the paper’s own bound that would be 9,731." in shown
    assert f"round 1: ball, {MARKUP}" in shown
    assert "round 2: 8,980 rows in 4 tasks" in shown
    assert shown[-1] == "epsilon 1 a voter, 1 of it charged"


def test_a_plan_for_too_few_ballots_does_not_ask_for_more_than_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_election_plan(_planned(decisive_margin={"value": 9102.5, "failure_probability": 0.05}))
    shown = " ".join(capsys.readouterr().out.replace("\N{NO-BREAK SPACE}", " ").split())
    assert "No race of so few ballots can be decided for sure" in shown
    assert "it takes a margin of 9,103 ballots, and there are 8,980." in shown
    assert "of the 8,980 ballots" not in shown


def test_a_result_of_too_few_ballots_does_not_ask_for_more_than_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = central()
    made["result"] |= {"ballots": 5, "decisive_margin": {"value": 7, "failure_probability": 0.05}}
    shown = " ".join(_shown(capsys, made))
    assert (
        "For the right answer with 95 % probability it takes a margin of 7 ballots, and there are 5." in shown
    )
    assert "of the 5 ballots" not in shown


def test_a_plan_without_a_known_margin_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    show_election_plan(_planned(decisive_margin={"value": None, "failure_probability": 0.05}))
    assert "No margin is known from which on a race is decided right" in capsys.readouterr().out


def test_a_plan_of_one_outcome_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    show_election_plan(_planned(decisive_margin={"value": 0, "failure_probability": 0.05}))
    assert "There is only one possible outcome." in capsys.readouterr().out
