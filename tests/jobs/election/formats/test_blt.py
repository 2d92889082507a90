"""BLT: withdrawn candidates, weights, shared and skipped ranks, remarks, names and title."""

from __future__ import annotations

import pytest

from tests.jobs.election.formats.files import rankings, read
from udfs.errors import SchemaError

NAMES = '"Ada"\n"Bo"\n"Cy"\n"A vote"\n'


def test_votes_of_whoever_withdrew_pass_on() -> None:
    text = f"3 1\n-2\n4 2 1 0\n3 3 0\n2 1 0\n1 2 0\n0\n{NAMES}"
    assert rankings("blt", text) == {("Ada",): 6, ("Cy",): 3, (): 1}
    found = read("blt", text)
    assert (found.candidates, found.withdrawn, found.title) == (("Ada", "Cy"), ("Bo",), "A vote")


@pytest.mark.parametrize("overvotes", ["truncate", "skip", "void"])
def test_a_rank_shared_with_whoever_withdrew_is_no_overvote(overvotes: str) -> None:
    text = f"3 1 -2\n1 1=2 3 0\n0\n{NAMES}"
    assert rankings("blt", text, overvotes) == {("Ada", "Cy"): 1}


@pytest.mark.parametrize(
    ("overvotes", "wanted"),
    [
        ("keep", (("Ada", "Cy"), ("Bo",))),
        ("truncate", ()),
        ("skip", ("Bo",)),
        ("void", ()),
    ],
)
def test_an_equals_sign_is_a_shared_rank(overvotes: str, wanted: tuple[object, ...]) -> None:
    assert rankings("blt", f"3 1\n2 1=3 2 0\n0\n{NAMES}", overvotes) == {wanted: 2}


def test_a_dash_is_a_skipped_rank() -> None:
    assert rankings("blt", f"3 1\n2 1 - 3 0\n0\n{NAMES}") == {("Ada", "Cy"): 2}


def test_remarks_and_empty_lines_are_passed_over() -> None:
    text = '# a vote\n\n3 1 # one seat\n2 1 0 # ours\n1 0\n# 5 2 0\n0 # end\n"Ada # 1" # her\n"Bo" "Cy"\n'
    found = read("blt", text)
    assert (found.candidates, found.title) == (("Ada # 1", "Bo", "Cy"), "")
    assert rankings("blt", text) == {("Ada # 1",): 2, (): 1}


@pytest.mark.parametrize(
    ("text", "line", "must"),
    [
        (f"3 1\n1 4 0\n0\n{NAMES}", 2, "must name candidates from 1 to 3"),
        (f"3 1\n1 1=4 0\n0\n{NAMES}", 2, "must name candidates from 1 to 3"),
        (f"3 1\n1 1= 0\n0\n{NAMES}", 2, "preferences must be candidates' numbers"),
        (f"3 1\n1 Ada 0\n0\n{NAMES}", 2, "preferences must be candidates' numbers"),
        (f'3 1\n1 "1" 0\n0\n{NAMES}', 2, "preferences must be candidates' numbers"),
        (f"3 1\n1 1 2\n2 3 0\n0\n{NAMES}", 2, "a ballot must end in 0 on its own line"),
        (f"3 1\n1 1 2\n0\n{NAMES}", 2, "a ballot must end in 0 on its own line"),
        (f"3 1\n-4\n1 1 0\n0\n{NAMES}", 2, "must withdraw candidates from 1 to 3; got -4"),
        (f"3 1\n-1 -2 -3\n0\n{NAMES}", 2, "must leave a candidate who has not withdrawn"),
        (f"3 1\n1 1 0\n-2\n0\n{NAMES}", 3, "a ballot's weight must be a whole number"),
        (f"3 1\n1.5 1 0\n0\n{NAMES}", 2, "a ballot's weight must be a whole number"),
        (f"three 1\n0\n{NAMES}", 1, "the number of candidates must be a whole number"),
        (f"3 one\n0\n{NAMES}", 1, "the number of seats must be a whole number"),
        ("0 1\n0\n", 1, "must have from 1 to 255 candidates"),
        ("999 1\n0\n", 1, "must have from 1 to 255 candidates; got 999"),
        ("3 1\n1 1 0\n0\n", 3, "must go on"),
        ("3 1\n1 1 0\n", 2, "must go on"),
        ("3 1\n1 1", 2, "must go on"),
        ("", 1, "must go on"),
        ('3 1\n0\n"Ada"\n"Bo"\n', 4, "must go on"),
        ('3 1\n0\n"Ada"\nBo\n"Cy"\n', 4, "must be a name in quotes"),
        ('3 1\n0\n"Ada"\n"Bo\n"Cy"\n', 4, "every quote must be closed on its line"),
        ('3 1\n0\n"Ada"\n"Bo"\n"Ada"\n', 5, "must give all candidates different names"),
        (f'3 1\n0\n{NAMES}"Dee"\n', 7, "the file must end with the candidates' names and its title"),
    ],
)
def test_a_wrong_line_is_named_and_not_quoted(text: str, line: int, must: str) -> None:
    with pytest.raises(SchemaError) as refused:
        read("blt", text)
    assert str(refused.value).startswith(f"file line {line}: {must}")
