"""What a terminal shows of a study of decisive margins."""

from __future__ import annotations

import pytest

from jobs.show.election_study import show_election_study
from tests.jobs.page.election_studies import failing, study


def _shown(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_measured_margins_stand_beside_what_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    show_election_study(study(), "out/study")
    lines = _shown(capsys)
    assert "plurality central 4.0 3.2 to 6.0 6.0 12 n^0.00" in lines
    assert "the Condorcet rule local 253 202 to 379 1,012 2,277 n^0.50" in lines
    assert sum(" n^" in line for line in lines) == 5
    assert "At 4,000 ballots, 4 candidates, epsilon 1; 100 replications of each margin." in lines
    assert "3 of 3 statements on the lower bounds’ profiles hold." in lines
    assert lines[-2:] == ["out/study/study.json", "out/study/report.html"]


def test_what_was_not_found_and_what_does_not_hold_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    made = failing()
    found = made["result"]["study"]
    for one in found["points"]:
        one["families"][0] |= {"margin": None, "low": None, "high": None}
    for one in found["growth"]:
        one["ballots"] = {"measured": None}
    show_election_study(made, "out")
    lines = _shown(capsys)
    assert "plurality central - - to - 6.0 12 -" in lines
    assert "1 of 2 statements on the lower bounds’ profiles hold." in lines
