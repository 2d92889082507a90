"""What a terminal shows of a study of a tree's error, and of its plan."""

from __future__ import annotations

from typing import Any

import pytest

from jobs.show import show_plan, show_result
from tests.jobs.page.skill_studies import least, skills_study


def _shown(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_errors_stand_beside_what_the_law_gives(capsys: pytest.CaptureFixture[str]) -> None:
    show_result(skills_study(), "out/study", stored=False)
    lines = _shown(capsys)
    assert "shares 1,000 5 10 1 0.185 0.176 0.134 0.034 0.5" in lines
    assert "central 20,000 6 10 10 0.00168 0.0016 0.00122 0.0002 0.0064" in lines
    assert not [line for line in lines if line.startswith("exact")]
    assert any("Means of 20 trees" in line for line in lines)
    assert lines[-2:] == ["out/study/study.json", "out/study/report.html"]


def test_what_is_not_known_is_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    made = skills_study()
    for one in made["result"]["study"]["points"]:
        one["predicted"] = {"raw": None, "consistent": None}
        one["medians"] = [median | {"rank_error": {"mean": None}} for median in one["medians"]]
    show_result(made, "out", stored=False)
    assert "shares 1,000 5 10 1 0.185 - 0.134 - -" in _shown(capsys)
    show_result(least(), "out", stored=False)


def test_a_plan_shows_the_errors_to_expect(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = {"workers": 1000, "depth": 5, "bins": 10, "epsilon": 1}
    planned: dict[str, Any] = {
        "rows": 300,
        "stages": [{"name": "level 0", "tasks": 2, "reads": ["a"], "writes": None}],
        "bytes": {"read": 1000, "written": 0},
        "epsilon": {"total": 0, "charged": 0},
        "predicted": {
            "leaf_errors": [
                {"mechanism": "shares", "raw": 0.176, "consistent": 0.153, **sizes},
                {"mechanism": "exact", "raw": None, "consistent": None, **sizes},
            ]
        },
        "reasons": ["a study of 2 trees"],
    }
    show_plan("skills", planned)
    lines = _shown(capsys)
    assert "shares 1,000 5 10 1 0.176 0.153" in lines
    assert "exact 1,000 5 10 1 - -" in lines
    assert "a study of 2 trees" in lines
    assert "level 0: 300 rows in 2 tasks" in lines
