from __future__ import annotations

import re
from typing import Any

import pytest

from jobs.show import show_plan, show_result
from jobs.show.skills import show_skills_plan, show_skills_result
from jobs.skills.words import answers_of, box_of, conditions_of
from tests.jobs.page.skill_trees import TREES, deep, ended, hostile_skills, plane, root, skills, three

MARKUP = "[red]x[/red]"


def _shown(capsys: pytest.CaptureFixture[str], made: dict[str, Any], stored: bool = False) -> list[str]:
    show_skills_result(made, "out", stored)
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("name", TREES)
def test_levels_come_first_and_the_files_last(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = _shown(capsys, TREES[name]())
    assert shown[1].startswith("level cut by nodes epsilon, counts")
    assert shown[-4:] == [
        "epsilon spent on these workers: 1.5, with a limit of 4.",
        "out/result.json",
        "out/leaves.parquet",
        "out/report.html",
    ]


def test_a_level_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _shown(capsys, three())
    assert "6 welding 1 0.0875 0.025 25 17.8" in shown
    assert "0 64 0.3501 - 25 17.8" in shown


def test_the_largest_leaves_are_shown_and_how_many_more_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    made = plane()
    shown = _shown(capsys, made)
    start = next(k for k, line in enumerate(shown) if line.startswith("leaf: workers with")) + 2
    largest = sorted(made["result"]["leaves"], key=lambda leaf: -leaf["consistent_count"])[:10]
    for line, leaf in zip(shown[start:], largest, strict=False):
        assert f" {leaf['count']} 12 {leaf['consistent_count']:.0f} 8.52 " in line
    assert "welding" in shown[start]
    assert "6 more leaves: see report.html" in shown
    assert "more leaves" not in " ".join(_shown(capsys, root()))
    assert "1,014 more leaves: see report.html" in _shown(capsys, deep())


def test_the_guarantee_says_on_whom_it_rests(capsys: pytest.CaptureFixture[str]) -> None:
    said = " ".join(_shown(capsys, plane())).replace("\N{NO-BREAK SPACE}", " ")
    assert "are at most e^1 times as likely as with any other skills, plus δ = 3.2e-19." in said
    assert "Any 2 of the 3 key-holders together could open what one participant sent" in said
    assert "Refused for a wrong proof: holder 2." in said
    assert "Keys of 512 bits can be broken: they are for trials." in " ".join(_shown(capsys, ended()))


def test_without_a_finite_epsilon_there_is_no_guarantee(capsys: pytest.CaptureFixture[str]) -> None:
    made = plane()
    made["privacy"] |= {"epsilon_replace": None, "spent_after": None}
    assert "This tree gives no guarantee of differential privacy." in " ".join(_shown(capsys, made))


def test_names_are_not_taken_for_markup_and_long_ones_are_cut(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _shown(capsys, skills([MARKUP, ":skull:"], 2))
    assert any(line.startswith(f"2 {MARKUP} 1 ") for line in shown)
    assert any(MARKUP in line and ":skull:" in line for line in shown)
    show_skills_result(hostile_skills(), "out", False)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 110


def test_counts_that_are_not_known_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    made = plane()
    for node in made["result"]["nodes"]:
        for key in ("count", "standard_error", "consistent_count", "consistent_standard_error", "dimension"):
            node[key] = None
    shown = _shown(capsys, made)
    assert "4 1 0.0875 0.025 - -" in shown
    assert any(line.endswith(" - - - -") for line in shown)


def test_a_stored_result_says_that_it_cost_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    shown = " ".join(_shown(capsys, plane(), stored=True))
    assert "Stored result: nothing was drawn or charged." in shown


def test_results_and_plans_of_skills_are_shown_by_what_shows_all(capsys: pytest.CaptureFixture[str]) -> None:
    show_result(plane(), "out", False)
    show_plan("skills", _planned())
    assert "out/leaves.parquet" in capsys.readouterr().out


def _planned(**predicted: Any) -> dict[str, Any]:
    levels = [
        {
            "level": level,
            "nodes": nodes,
            "counters": nodes * (11 if level else 1),
            "ciphertexts": 1,
            "slots": 97,
            "width": 21,
            "reach": 740,
            "counts_epsilon": "0.0875",
            "median_epsilon": "0.025" if level else None,
            "count_standard_error": 16.1,
            "bin_standard_error": 56.6 if level else None,
            "median_rank_error": 0.0058 if level else None,
        }
        for level, nodes in ((1, 1), (0, 2))
    ]
    return {
        "job": "skills",
        "rows": 20000,
        "stages": [{"name": "level 1", "tasks": 20}, {"name": "level 0", "tasks": 1}],
        "bytes": {"read": 123456, "written": 0},
        "epsilon": {"total": 1.0, "charged": 1.0},
        "predicted": {
            "ciphertexts_per_participant": 2,
            "ciphertexts": 40000,
            "bytes_per_participant": 1024,
            "bytes_up": 20480000,
            "seconds": {"encrypt": 120.0, "add": 1.25, "open": None},
            "tasks": 20,
            "levels": levels,
            "leaf_standard_error": 16.1,
            "leaf_consistent_standard_error": 13.2,
            "workers_per_leaf": 10000.0,
            **predicted,
        },
        "reasons": [f"keys are for trials, {MARKUP}"],
    }


def test_a_plan_says_what_levels_ask_what_is_sent_and_how_exact_leaves_will_be(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_skills_plan(_planned())
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    said = " ".join(lines)
    assert "1 1 11 1 97 × 21 0.0875 0.025 16.1 56.6 0.0058" in lines
    assert "0 2 2 1 97 × 21 0.0875 - 16.1 - -" in lines
    assert (
        "A leaf will hold about 10,000 workers, its count a standard error of 16.1, and of 13.2 once" in said
    )
    assert "Each participant sends 2 ciphertexts, 1,024 bytes." in said
    assert "That is 40,000 ciphertexts in all, 20,480,000 bytes." in said
    assert "About 120 s to encrypt, 1.25 s to add, of one core; 20 tasks a level." in said
    assert f"keys are for trials, {MARKUP}" in lines
    assert "level 0: 20,000 rows in 1 task" in lines
    assert lines[-1] == "epsilon 1 a worker, 1 of it charged"


def test_a_plan_without_numbers_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    show_skills_plan(
        _planned(levels=[], leaf_standard_error=None, leaf_consistent_standard_error=None, seconds={})
    )
    said = " ".join(capsys.readouterr().out.split())
    assert "a standard error of -, and of - once counts agree" in said
    assert "About" not in re.sub("hold about", "", said)


@pytest.mark.parametrize(
    ("number", "threshold", "expected"),
    [
        (1, 1, "The one holder of the key could"),
        (3, 1, "Each of the 3 key-holders, alone, could"),
        (3, 2, "Any 2 of the 3 key-holders together could"),
        (3, 3, "All 3 key-holders together could"),
    ],
)
def test_who_could_open_a_contribution_is_said_for_any_threshold(
    number: int, threshold: int, expected: str
) -> None:
    ((name, text),) = conditions_of({"holders": {"number": number, "threshold": threshold}}, None)
    assert name == "The key-holders"
    assert text.startswith(expected)
    assert ("fewer cannot" in text) == (threshold > 1)


@pytest.mark.parametrize(
    ("collusion", "dropout", "expected"),
    [
        (
            0,
            0,
            "Nobody may tell others their share of it, and nobody may be missing: else there is less noise",
        ),
        (
            0,
            5,
            "Nobody may tell others their share of it, and up to 5 may be missing: else there is less noise",
        ),
        (
            4,
            0,
            "Up to 4 of the 90 may tell others their share of it, and nobody may be missing: the rest make all",
        ),
        (
            4,
            5,
            "Up to 4 of the 90 may tell others their share of it, and up to 5 may be missing: the rest make all",
        ),
    ],
)
def test_how_many_may_collude_and_be_missing_is_said(collusion: int, dropout: int, expected: str) -> None:
    ((_, text),) = conditions_of({"participants": 90, "collusion": collusion, "dropout": dropout}, None)
    assert expected in text


def test_nothing_is_said_of_what_is_not_known() -> None:
    assert conditions_of({}, None) == []
    assert answers_of({}) == ""
    assert answers_of({"answered": 3, "refused": None}) == ""
    assert answers_of({"answered": list(range(1, 31)), "number": 40}) == "30 holders of 40 opened the sums."


def test_a_box_is_said_by_its_cuts_alone() -> None:
    box = {"a": (-1.0, 0.5), "b": (0.123456, 1.0), "c": (-1.0, 1.0), "d": (0.0, 0.0)}
    assert box_of(box, (-1.0, 1.0)) == "a < 0.5, b ≥ 0.1235, 0 ≤ d < 0"
