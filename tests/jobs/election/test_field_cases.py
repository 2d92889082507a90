"""Ballots that broke other tools of this field, counted as they should be.

Of what a case allows, this project takes: ties by the tie order, recorded with the names that tied; overvotes as
the import's option says; blank ballots are ballots, and a Borda ballot gives as many points whomever it names.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from jobs.election.formats import read_ballots
from tests.jobs.election.boxes import Box, scores
from tests.jobs.election.formats.files import written
from tests.vectors import load

CASES: dict[str, Any] = {case["id"]: case for case in load("election_field_cases")}
SHARED_CASES = Path(__file__).parents[4] / "shared" / "cases" / "field-cases.json"
RULES = ("plurality", "borda", "veto", "condorcet", "maximin", "runoff", "stv")


def test_the_cases_at_hand_are_the_shared_ones() -> None:
    if not SHARED_CASES.is_file():
        pytest.skip("the shared cases are not here: their copies are tested")
    shared = {case["id"]: case for case in json.loads(SHARED_CASES.read_text(encoding="utf-8"))}
    assert {name: shared[name] for name in CASES} == CASES


def in_rounds(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rounds of first choices as the cases write them."""
    return [
        scores(document, number) | {"exhausted": one["exhausted"]}
        for number, one in enumerate(document["rounds"])
    ]


def test_case_e01_votes_that_cannot_pass_on_are_exhausted(tmp_path: Path) -> None:
    given, expected = CASES["E01"]["input"], CASES["E01"]["expect"]
    found = Box.of(tmp_path / "box", given["candidates"], given["ballots"]).count("stv")
    assert in_rounds(found) == expected["rounds"]
    assert [found["outcome"]] == expected["winner"]
    assert found["majority_base"] == expected["majority_base"]


@pytest.mark.parametrize("rule", ["plurality", "stv"])
def test_case_e02_a_tie_is_broken_by_the_order_however_ballots_are_cut(tmp_path: Path, rule: str) -> None:
    given, expected = CASES["E02"]["input"], CASES["E02"]["expect"]
    for order in itertools.permutations(given["candidates"]):
        for files in range(1, 6):
            box = Box.of(tmp_path / f"{order}{files}", given["candidates"], given["ballots"], files=files)
            found = box.count(rule, candidates=list(order))
            assert sorted(found["rounds"][0]["tied"]) == expected["tied"]
            assert found["outcome"] == found["tie_order"][0] == order[0]
            if rule == "stv":
                assert [one["eliminated"] for one in found["rounds"]] == [order[2], order[1]]


@pytest.mark.parametrize("part", ["A", "B"])
def test_case_e05_those_who_share_a_rank_share_its_points(tmp_path: Path, part: str) -> None:
    given, expected = CASES["E05"]["input"], CASES["E05"]["expect"][part]
    box = Box.of(tmp_path / "box", given["candidates"], given[part])
    assert scores(box.count("borda")) == expected["borda"]
    if part == "A":
        found = box.count("veto")
        ballots = sum(count for count, _ in given["A"])
        assert {name: ballots - points for name, points in scores(found).items()} == expected["vetoes"]
        assert found["rounds"][0]["tied"] == expected["veto_winners"]
        assert sum(scores(box.count("borda")).values()) == expected["total"]
    else:
        assert [box.count("condorcet")["outcome"]] == expected["condorcet"]


@pytest.mark.parametrize("rule", RULES)
def test_case_e08_one_candidate_wins_everywhere(tmp_path: Path, rule: str) -> None:
    given, expected = CASES["E08"]["input"], CASES["E08"]["expect"]
    box = Box.of(tmp_path / "box", given["candidates"], given["ballots"])
    found = box.count(rule)
    assert [found["outcome"]] == expected["winner"]
    assert (found["margin"], found["rounds"]) == (0, [])
    assert box.tallies["blank"] == expected["blank"]
    assert found["ballots"] - box.tallies["blank"] == expected["valid"]


@pytest.mark.parametrize("part", ["A", "B"])
@pytest.mark.parametrize("rule", RULES)
def test_case_e09_no_ballots_or_blank_ones_are_a_tie_of_all(tmp_path: Path, rule: str, part: str) -> None:
    given, expected = CASES["E09"]["input"], CASES["E09"]["expect"][part]
    found = Box.of(tmp_path / "box", given["candidates"], given[part]).count(rule)
    assert found["ballots"] == expected["n"]
    assert found["blank"] == expected.get("blank", 0)
    if rule == "condorcet":
        assert (found["outcome"], scores_of_duels(found)) == (None, [0])
    else:
        assert found["outcome"] == "A"
        assert found["rounds"][-1]["tied"] == expected["tied"]


def scores_of_duels(document: dict[str, Any]) -> list[int]:
    return [margin for one in document["rounds"] for margin in one["scores"]]


def test_case_e11_an_overvote_ends_a_ballot_or_its_rank_never_counts(tmp_path: Path) -> None:
    given, expected = CASES["E11"]["input"], CASES["E11"]["expect"]
    found = Box.of(tmp_path / "cut", given["candidates"], given["ballots"], "truncate").count("stv")
    assert in_rounds(found) == expected["exhaust"]["rounds"]
    assert [found["outcome"]] == expected["exhaust"]["winner"]
    found = Box.of(tmp_path / "skip", given["candidates"], given["ballots"], "skip").count("stv")
    assert scores(found, -1) == expected["never_counts"]["final"]
    assert [found["outcome"]] == expected["never_counts"]["winner"]


def test_case_e11_a_rank_that_is_kept_waits_while_several_continue_where_ties_are_wished(
    tmp_path: Path,
) -> None:
    given, expected = CASES["E11"]["input"], CASES["E11"]["expect"]
    found = Box.of(tmp_path / "box", given["candidates"], given["ballots"], "keep").count("stv", shared="tie")
    assert scores(found, -1) == expected["wait"]["final"]
    assert found["rounds"][-1]["tied"] == expected["wait"]["tied"]


def test_case_e11_skipped_ranks_are_passed_over_and_the_overvote_after_them_is_what_counts(
    tmp_path: Path,
) -> None:
    given = CASES["E11"]["input"]
    box = Box.of(tmp_path / "box", given["candidates"], given["second"]["ballots"], "truncate")
    assert box.tallies == {"ballots": 1, "blank": 1, "overvoted": 1}


def test_case_e14_who_withdrew_hands_on_and_equal_ranks_are_kept(tmp_path: Path) -> None:
    given, expected = CASES["E14"]["input"], CASES["E14"]["expect"]
    settled, told = read_ballots("blt", written(tmp_path, given["first.blt"]))
    found = Box(tmp_path / "first", settled).count("plurality")
    assert scores(found) == {name: expected["first"][name] for name in ("Alder", "Cedar")}
    assert [found["outcome"]] == expected["first"]["winner"]
    assert list(told["withdrawn"]) == expected["first"]["withdrawn"]
    assert found["ballots"] == expected["first"]["ballots"]

    settled, _ = read_ballots("blt", written(tmp_path, given["second.blt"]))
    box = Box(tmp_path / "second", settled)
    found = box.count("borda")
    assert found["ballots"] == expected["second"]["ballots"]
    assert found["blank"] == box.tallies["blank"] == expected["second"]["blank"]
    assert scores(found) == expected["second"]["borda_average"]


def test_case_e16_a_tie_for_the_second_place_of_a_runoff_is_told(tmp_path: Path) -> None:
    given, expected = CASES["E16"]["input"], CASES["E16"]["expect"]
    found = Box.of(tmp_path / "box", given["candidates"], given["ballots"]).count("runoff")
    assert scores(found) == expected["first_round"]
    assert found["rounds"][0]["tied"] == expected["tie_for_second"]
    assert found["rounds"][1]["votes"] == [[4, 6]]
    assert found["outcome"] in expected["winner_in"]
