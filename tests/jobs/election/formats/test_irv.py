"""The layout of ids, parties, dashes and ballots with their numbers."""

from __future__ import annotations

import pytest

from tests.jobs.election.formats.files import rankings, read
from udfs.errors import SchemaError

HEAD = "35, 116,117\nIND,IND,IND\n-+-+-\n"


def test_every_way_to_write_a_ballot_is_read() -> None:
    found = rankings("irv", HEAD + "(117, 35) : 2\n(35,117):3\n( 116 , ) : 4\n(116,) : 5\n\n() : 6\n( ):1\n")
    assert found == {("117", "35"): 2, ("35", "117"): 3, ("116",): 9, (): 7}


def test_candidates_are_their_ids_in_the_order_of_the_first_line() -> None:
    assert read("irv", HEAD).candidates == ("35", "116", "117")


def test_a_repeat_is_left_for_the_count_to_judge() -> None:
    assert rankings("irv", HEAD + "(35,35,116) : 1\n") == {("35", "35", "116"): 1}


@pytest.mark.parametrize(
    ("text", "line", "must"),
    [
        (HEAD + "(35) : 1\n(36) : 1\n", 5, "must name candidates of line 1"),
        (HEAD + "(35,,116) : 1\n", 4, "must name candidates of line 1"),
        (HEAD + "(,) : 1\n", 4, "must name candidates of line 1"),
        (HEAD + "(35 : 1\n", 4, "must be a ballot and how many there are"),
        (HEAD + "(35) 1\n", 4, "must be a ballot and how many there are"),
        (HEAD + "(35) : -1\n", 4, "must be a ballot and how many there are"),
        (HEAD + "(35) : 1.5\n", 4, "must be a ballot and how many there are"),
        ("35,116\nIND\n---\n", 2, "must give a party for each candidate of line 1; got 1 for 2"),
        ("35,35\nIND,IND\n---\n", 1, "must give all candidates different names"),
        ("35,116\nIND,IND\n(35) : 1\n", 3, "must be a rule of dashes"),
        ("35,116\n", 2, "must give a party for each candidate"),
        ("35,116\nIND,IND", 3, "must be a rule of dashes"),
        ("", 1, "must give every candidate a name"),
    ],
)
def test_a_wrong_line_is_named_and_not_quoted(text: str, line: int, must: str) -> None:
    with pytest.raises(SchemaError) as refused:
        read("irv", text)
    assert str(refused.value).startswith(f"file line {line}: {must}")
