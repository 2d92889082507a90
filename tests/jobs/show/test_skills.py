from __future__ import annotations

import re
from typing import Any

import pytest

from jobs.show import show_plan, show_result
from jobs.show.skills import show_skills_plan, show_skills_result
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
    start = next(k for k, line in enumerate(shown) if line.startswith("leaf workers with")) + 2
    largest = sorted(made["result"]["leaves"], key=lambda leaf: -leaf["consistent_count"])[:10]
    for line, leaf in zip(shown[start:], largest, strict=False):
        assert line.startswith(f"{leaf['id']} ")
        assert f" {leaf['count']} 12 {leaf['consistent_count']:.0f} 8.52 " in line
    assert "welding" in shown[start]
    assert "6 more leaves: see report.html" in shown
    assert "more leaves" not in " ".join(_shown(capsys, root()))
    assert "1,014 more leaves: see report.html" in _shown(capsys, deep())


def test_the_guarantee_says_on_whom_it_rests(capsys: pytest.CaptureFixture[str]) -> None:
    said = " ".join(_shown(capsys, plane())).replace("\N{NO-BREAK SPACE}", " ")
    assert "are at most e^1 times as likely as with any other skills, plus δ = 3.2e-19." in said
    assert "Any 2 of the 4 key-holders together could open what one participant sent" in said
    assert (
        "Holders 1 and 3 of 4 opened the sums; 2 are needed. Declined to open one or more: holder 4. An"
        " answer in holder 2’s name was wrong, and not used: anybody who can write to the mailbox can have put that"
        " there."
    ) in said
    assert "Keys of 512 bits can be broken: they are for trials." in " ".join(_shown(capsys, ended()))


def test_without_a_finite_epsilon_there_is_no_guarantee(capsys: pytest.CaptureFixture[str]) -> None:
    made = plane()
    made["privacy"] |= {"epsilon_replace": None, "spent_after": None}
    assert "This tree gives no guarantee of differential privacy." in " ".join(_shown(capsys, made))


@pytest.mark.parametrize(
    ("delta", "expected"),
    [
        (1.0, "This tree gives no guarantee of differential privacy: δ is 1"),
        (0.002, "plus δ = 0.002. This is a weak guarantee"),
        (2e-9, "plus δ = 2e-09. This is a weak guarantee"),
        (1e-9, "plus δ = 1e-09. What each participant sends"),
        (0.0, "with any other skills. What each participant sends"),
    ],
)
def test_how_much_a_guarantee_is_worth_is_said_by_its_delta(
    delta: float, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made = plane()
    made["result"]["delta"] = delta
    assert expected in " ".join(_shown(capsys, made)).replace("\N{NO-BREAK SPACE}", " ")


def test_counts_of_branches_that_ended_for_a_low_one_are_said_to_be_biased(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "A node whose raw count is below 75 is not cut. So leaves" in " ".join(_shown(capsys, ended()))
    assert "biased" not in " ".join(_shown(capsys, plane()))


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
        "stages": [{"name": f"level {level}", "tasks": 20} for level in (1, 0)],
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
    assert "About 120 s to encrypt, 1.25 s to add, of one core." in said
    assert f"keys are for trials, {MARKUP}" in lines
    assert "level 1 to level 0, each: 20,000 rows in 20 tasks" in lines
    assert not [line for line in lines if line.startswith("level 0")]
    assert "Waiting" not in said
    assert lines[-1] == "epsilon 1 a worker, 1 of it charged"


def test_stages_of_other_tasks_are_lines_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    tasks = {"level 3": 20, "level 2": 20, "level 1": 20, "tree": 1}
    show_skills_plan(_planned() | {"stages": [{"name": name, "tasks": many} for name, many in tasks.items()]})
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if " rows in " in line] == [
        "level 3 to level 1, each: 20,000 rows in 20 tasks",
        "tree: 20,000 rows in 1 task",
    ]


@pytest.mark.parametrize(("where", "waits"), [("mailbox", True), ("embedded", False), ("trial", False)])
def test_a_plan_says_that_waiting_for_a_mailbox_comes_on_top(
    where: str, waits: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    show_skills_plan(_planned(where=where))
    said = " ".join(capsys.readouterr().out.split())
    assert ("Waiting for the key-holders to open each level comes on top" in said) == waits


def test_a_plan_without_numbers_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    show_skills_plan(
        _planned(levels=[], leaf_standard_error=None, leaf_consistent_standard_error=None, seconds={})
    )
    said = " ".join(capsys.readouterr().out.split())
    assert "a standard error of -, and of - once counts agree" in said
    assert "About" not in re.sub("hold about", "", said)
