"""A terminal shows an exact count whole, however many stand, and takes no name for markup."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jobs.election.classical import count_exactly
from jobs.election.rules import RULES
from jobs.show.count import show_count
from udfs.profile import Profile

MARKUP = "[red]x[/red] :skull:"


def shown(
    capsys: pytest.CaptureFixture[str], rule: str, candidates: int, margin: int = 2, copies: int = 2
) -> list[str]:
    """Return the lines shown of ballots that all rank the candidates in turn."""
    names = [MARKUP, *(f"C{number}" for number in range(1, candidates))]
    ballots = Profile.of(np.arange(candidates, dtype=np.uint8)[None], np.array([copies]))
    document: dict[str, Any] = count_exactly(RULES[rule](candidates), ballots, names)
    show_count(document | {"margin": margin})
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("rule", [name for name in RULES if name != "scoring"])
@pytest.mark.parametrize("candidates", [2, 5, 30])
def test_every_candidate_is_shown_in_lines_that_fit(
    capsys: pytest.CaptureFixture[str], rule: str, candidates: int
) -> None:
    lines = shown(capsys, rule, candidates)
    assert lines[0].startswith(f"{MARKUP} wins by ")
    assert lines[1] == "That changes if 2 ballots are replaced by others, and with no fewer."
    assert sum(MARKUP in line for line in lines[2:]) >= 1
    text = "\n".join(lines)
    assert all(f"C{number}" in text for number in range(1, candidates))
    assert "…" not in text


def test_rounds_stand_side_by_side_the_first_and_the_last_of_many(capsys: pytest.CaptureFixture[str]) -> None:
    assert "first choices, by round 1 2 3 4" in shown(capsys, "stv", 5)
    many = shown(capsys, "stv", 20)
    (heading,) = (line for line in many if line.startswith("first choices"))
    assert heading.removeprefix("first choices, by round ").split() == ["1", *map(str, range(9, 20))]
    assert "for nobody" + " 0" * 12 in many


def test_duels_are_margins_over_each_other_or_are_counted_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert "2 C1 -2 +2 +2 +2" in shown(capsys, "condorcet", 5)
    assert "C1 28 0 1 -2" in shown(capsys, "condorcet", 30)
    assert f"{MARKUP} and C1 2 0 +2" in shown(capsys, "runoff", 5)


def test_what_could_change_the_outcome_is_said_for_one_ballot_and_for_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = shown(capsys, "plurality", 2, margin=1)
    assert one[1] == "That changes if 1 ballot is replaced by others, and with no fewer."
    assert shown(capsys, "plurality", 1, margin=0)[1] == "No ballots could change that."


def test_nobody_may_win_and_the_order_may_decide(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, "condorcet", 3, copies=0)[0] == "Nobody wins by the Condorcet rule, of 0 ballots."
    tied = shown(capsys, "plurality", 3, copies=0)
    assert f"Round 1: {MARKUP}, C1, C2 tied, and the tie order decided." in tied
