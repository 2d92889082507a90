"""PrefLib's orders: header, ties, what is unranked, and every line that is wrong."""

from __future__ import annotations

import pytest

from tests.jobs.election.formats.files import rankings, read
from udfs.errors import SchemaError

ORDERS = "3: 2,1\n2: {1,3},2\n1: 1,{2,3}\n1: 1\n"


def text(orders: str = ORDERS, kind: str = "toi", voters: int = 7, unique: int = 4, third: str = "Cy") -> str:
    return (
        f"# FILE NAME: x.{kind}\n# TITLE: A vote\n# DESCRIPTION: \n# DATA TYPE: {kind}\n"
        f"# NUMBER ALTERNATIVES: 3\n# NUMBER VOTERS: {voters}\n# NUMBER UNIQUE ORDERS: {unique}\n"
        f"# ALTERNATIVE NAME 1: Ada\n# ALTERNATIVE NAME 2: Bo: the 2nd\n# ALTERNATIVE NAME 3: {third}\n{orders}"
    )


def test_the_header_names_the_candidates_and_the_election() -> None:
    found = read("preflib", text())
    assert found.candidates == ("Ada", "Bo: the 2nd", "Cy")
    assert found.title == "A vote"


@pytest.mark.parametrize(
    ("overvotes", "shared"), [("truncate", ()), ("skip", ("Bo: the 2nd",)), ("void", ())]
)
def test_a_rank_of_several_is_an_overvote(overvotes: str, shared: tuple[str, ...]) -> None:
    found = rankings("preflib", text(), overvotes)
    assert found == {("Bo: the 2nd", "Ada"): 3, ("Ada",): 2} | {shared: 2}


def test_whoever_is_left_at_the_very_end_is_unranked_and_no_overvote() -> None:
    found = read("preflib", text("4: 1,{2,3}\n5: {1,2,3}\n", "toc", 9, 2)).settle("void")
    assert found.tallies == {"ballots": 9, "blank": 5, "overvoted": 0}


def test_several_at_the_end_who_are_not_all_that_are_left_are_an_overvote() -> None:
    found = read("preflib", text("4: {2,3}\n", "toi", 4, 1)).settle("truncate")
    assert found.tallies == {"ballots": 4, "blank": 4, "overvoted": 4}


def test_shared_ranks_can_be_kept() -> None:
    found = rankings("preflib", text(), "keep")
    assert found[("Ada", "Cy"), ("Bo: the 2nd",)] == 2
    assert found[(("Ada",),)] == 2


def test_blanks_are_where_no_sign_stands() -> None:
    assert rankings("preflib", text(" 3 :  2 , 1 \n4:\n", "soi", 7, 2)) == {("Bo: the 2nd", "Ada"): 3, (): 4}


@pytest.mark.parametrize(
    ("changed", "line", "must"),
    [
        (text("3: 2,1\n4: 2,4\n", unique=2), 12, "must name alternatives from 1 to 3"),
        (text("3: 2,1\n4: 0\n", unique=2), 12, "must name alternatives from 1 to 3"),
        (text("3: 2,1\n4: 2,1,2\n", unique=2), 12, "must name no alternative twice"),
        (text("3: 2,1\n4: {2,2}\n", unique=2), 12, "must name no alternative twice"),
        (text("3: 2,1\n4; 2\n", unique=2), 12, "must be an order"),
        (text("3: 2,1\n4: 2,,1\n", unique=2), 12, "must be an order"),
        (text("3: 2,1\n4: 2,1,\n", unique=2), 12, "must be an order"),
        (text("3: 2,1\n4: {2,1\n", unique=2), 12, "must be an order"),
        (text("3: 2,1\n-4: 2\n", unique=2), 12, "must be an order"),
        (text("3: 2,1\n3.5: 2\n", unique=2), 12, "must be an order"),
        (text("3: 2,1\nfour: 2\n", unique=2), 12, "must be an order"),
        (text("3: 2,1,3\n4: 2,1\n", "soc", unique=2), 12, "must name every alternative"),
        (text("3: 2,1\n4: {2,1}\n", "soi", unique=2), 12, "must have no ties"),
        (text("3: 2,1,3\n4: 2,{1,3}\n", "soc", unique=2), 12, "must have no ties"),
        (text("3: 2,1,3\n4: {2,1}\n", "toc", unique=2), 12, "must name every alternative"),
        (text(voters=8), 6, "NUMBER VOTERS must be what the file holds; got 8, and 7 held"),
        (text(unique=5), 7, "NUMBER UNIQUE ORDERS must be what the file holds"),
        (text(kind="cat"), 4, "DATA TYPE must be one of soc, soi, toc, toi; got cat"),
        (text(third="Ada"), 11, "must give all candidates different names"),
        (text(third=""), 11, "must give every candidate a name"),
        (text().replace("ALTERNATIVES: 3", "ALTERNATIVES: 4"), 5, "NUMBER ALTERNATIVES must be"),
        (text().replace("NAME 3", "NAME 4"), 10, "alternatives must be numbered from 1"),
        (text(ORDERS + "# TITLE: late\n"), 15, "the header must stand before"),
        ("3\n1,Ada\n2,Bo\n3,Cy\n", 1, "DATA TYPE must be one of"),
        ("", 1, "DATA TYPE must be one of"),
    ],
)
def test_a_wrong_line_is_named_and_not_quoted(changed: str, line: int, must: str) -> None:
    with pytest.raises(SchemaError) as refused:
        read("preflib", changed)
    assert str(refused.value).startswith(f"file line {line}: {must}")
    assert refused.value.got in ("", "cat", "nothing", "3 named", "2 of 3") or "held" in refused.value.got
