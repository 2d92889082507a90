from __future__ import annotations

from typing import Any

import pytest

from jobs.show import show_plan, show_result
from jobs.show.assign import show_assign_plan, show_assign_result
from tests.jobs.page.test_assign_documents import (
    DISPATCHES,
    assignments,
    short_of_gets,
    spoilt,
    trial,
)

MARKUP = "[red]x[/red]"


def _shown(capsys: pytest.CaptureFixture[str], made: dict[str, Any], stored: bool = False) -> list[str]:
    show_assign_result(made, "out", stored)
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def _planned(made: dict[str, Any], **predicted: Any) -> dict[str, Any]:
    """Return the plan of what a document says was done."""
    result = made["result"]
    return {
        "job": "assign",
        "rows": 20000,
        "stages": [
            {"name": name, "tasks": 157, "reads": [], "writes": None} for name in ("fetch", "receive")
        ],
        "bytes": {"read": 123456, "written": 0, "up": 1, "down": 1},
        "epsilon": {"total": 0, "charged": 0},
        "predicted": {
            "workers": result["workers"],
            "gets": result["gets"],
            "leaves": len(result["leaves"]),
            "item_bytes": result["item_bytes"],
            "library_bytes": result["library_bytes"],
            "packing": result["packing"],
            "precision": 0.41234,
            "costs": result["costs"],
            "protocol": result["retrieval"]["protocol"],
            "failure_log2": result["retrieval"]["failure_log2"],
            "server_seconds": 74.0 if result["server_seconds"] is not None else 0.0,
            "bytes_up": result["bytes_up"],
            "bytes_down": result["bytes_down"],
            "hint_bytes": result["hint_bytes"],
            **predicted,
        },
        "reasons": [f"the cluster stands in for workers, {MARKUP}"],
    }


@pytest.mark.parametrize("name", [name for name in DISPATCHES if name != "hostile"])
def test_costs_come_first_and_the_files_last(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = DISPATCHES[name]()
    shown = _shown(capsys, made)
    assert shown[1] == "protocol once sent received a worker, in all platform, s a get"
    assert shown[-2:] == ["out/result.json", "out/report.html"]
    show_assign_result(made, "out", False)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 110


def test_a_protocol_is_a_line_with_all_gets_together(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _shown(capsys, assignments(gets=2))
    assert "lattice, taken 1.29 MB 164 KB 860 KB 2.31 MB █████████████▎ 0.0037" in shown
    assert "paillier 0 bytes 33.8 KB 2.6 MB 2.63 MB ███████████████ 41, too long" in shown
    assert "download 1.93 MB 0 bytes 0 bytes 1.93 MB ███████████ 0" in shown


def test_what_was_sent_and_how_much_of_it_is_of_use_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    made = assignments()
    said = " ".join(_shown(capsys, made))
    precision = made["result"]["precision"]
    assert "20,000 workers, 1 get each: sent 81.9 KB, received 1.72 MB, for items of 321 KB." in said
    assert f"by leaf: {100 * min(precision):.3g} % to {100 * max(precision):.3g} %." in said
    assert "No packing of the kind has a largest item below 321 KB." in said
    assert "The platform went over 5.21 GB of the library a second, for each query on one core." in said
    # Of 2^-43.6: a bound is rounded up.
    assert "Decoding fails anywhere with a probability below 2^-43." in said
    assert "no leaf" not in said


def test_the_guarantee_says_on_what_it_rests_and_whom_it_does_not_protect_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = assignments()
    said = " ".join(_shown(capsys, made))
    assert (
        "cannot be told from what it would send from any other leaf, unless learning with errors is" in said
    )
    assert "protects nobody from whoever runs the cluster." in said
    made["roles"] = "apart"
    assert "whoever runs the cluster" not in " ".join(_shown(capsys, made))


def test_a_download_has_no_throughput_and_cannot_fail(capsys: pytest.CaptureFixture[str]) -> None:
    said = " ".join(_shown(capsys, assignments(protocol="download")))
    assert "Everybody downloads everything, so the platform learns nothing" in said
    assert "went over" not in said
    assert "Decoding fails" not in said


@pytest.mark.parametrize(
    ("bits", "protocol", "said"),
    [(512, "paillier", True), (512, "lattice", False), (2048, "paillier", False)],
)
def test_short_keys_are_said_to_be_for_trials(
    bits: int, protocol: str, said: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    made = trial() if protocol == "paillier" else assignments()
    made["spec"]["retrieval"]["bits"] = bits
    shown = " ".join(_shown(capsys, made))
    assert ("Keys of 512 bits can be broken: they are for trials." in shown) == said
    assert ("for trials" in shown) == said


def test_gets_that_were_not_decoded_are_said_plainly(capsys: pytest.CaptureFixture[str]) -> None:
    said = " ".join(_shown(capsys, spoilt()))
    assert "3 gets were not decoded: the checksum was wrong. Nobody fetched again" in said
    assert "not decoded" not in " ".join(_shown(capsys, assignments()))


def test_workers_who_did_not_see_all_tasks_for_them_are_said_to_be_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = short_of_gets()
    for leaf in made["result"]["leaves"]:
        leaf["coverage"] = 1.0 if leaf["coverage"] == 1 else 0.9999
    said = " ".join(_shown(capsys, made))
    assert (
        "Workers of 4 of 8 leaves did not get all tasks for them, but at least 99 % of their bytes." in said
    )
    assert "4 gets would bring everything." in said
    assert "3 tasks for no leaf, and in no item." in said
    assert "did not get all" not in " ".join(_shown(capsys, assignments()))


def test_a_stored_result_says_that_nobody_fetched_again(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _shown(capsys, assignments(), stored=True)
    assert "Stored result: nobody fetched anything again." in shown


def test_results_and_plans_of_assignments_are_shown_by_what_shows_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_result(assignments(), "out", False)
    assert "out/report.html" in capsys.readouterr().out
    show_plan("assign", _planned(assignments()))
    assert "fetch: 20,000 rows in 157 tasks" in capsys.readouterr().out


def test_a_plan_says_what_each_protocol_would_cost_and_what_the_platform_computes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_assign_plan(_planned(assignments()))
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    said = " ".join(lines)
    assert "lattice, taken 1.29 MB 81.9 KB 430 KB 1.8 MB ██████████████ 0.0037" in lines
    assert (
        "6 items of 321 KB, of which workers could use 41.2 % on average; no packing of the kind has a"
        in said
    )
    assert "Each of 20,000 workers sends 81.9 KB and receives 1.72 MB. The platform takes about 74 s" in said
    assert "Decoding fails anywhere with a probability below 2^-43." in said
    assert f"the cluster stands in for workers, {MARKUP}" in lines
    assert lines[-1] == "epsilon 0 a worker, 0 of it charged"


def test_a_plan_of_a_download_computes_nothing_and_cannot_fail(capsys: pytest.CaptureFixture[str]) -> None:
    show_assign_plan(_planned(assignments(protocol="download")))
    said = " ".join(capsys.readouterr().out.split())
    assert "The platform computes nothing." in said
    assert "Decoding fails" not in said
