"""Cast-vote records: columns, marks that are no names, and every row that is wrong."""

from __future__ import annotations

import pytest

from jobs.election.formats.cvr import WRITE_IN
from tests.jobs.election.formats.files import rankings, read
from udfs.errors import SchemaError

HEAD = "id,rank1,rank2,rank3\n"


def test_a_row_is_a_ballot_in_the_order_of_the_rows() -> None:
    found = rankings("cvr", HEAD + '1,Bo,Ada,\n2,"Cy, Jr.",skipped,Bo\n3,Bo,Ada,undervote\n4,,,\n')
    assert found == {("Bo", "Ada"): 2, ("Cy, Jr.", "Bo"): 1, (): 1}


def test_candidates_are_all_who_are_named_in_order_and_write_ins_last() -> None:
    found = read("cvr", HEAD + "1,Zoë,UWI,Bo\n2,Write-In,Zoe\u0308,writein\n")
    assert found.candidates == ("Bo", "Zoë", WRITE_IN)


@pytest.mark.parametrize(
    ("overvotes", "wanted"), [("truncate", ("Bo",)), ("skip", ("Bo", "Ada")), ("void", ())]
)
def test_an_overvote_is_taken_as_is_wished(overvotes: str, wanted: tuple[str, ...]) -> None:
    assert rankings("cvr", HEAD + "1,Bo,OVERVOTE,Ada\n", overvotes) == {wanted: 1}


@pytest.mark.parametrize("mark", ["", "skipped", "Skipped Ranking", "undervote", "Undervotes", " "])
def test_a_skipped_rank_is_passed_over(mark: str) -> None:
    assert rankings("cvr", HEAD + f"1,Bo,{mark},Ada\n") == {("Bo", "Ada"): 1}


@pytest.mark.parametrize(
    "head",
    [
        "rank_2,Precinct 5,rank_1",
        "Choice 2,x,Choice 1",
        "Mayor Choice 2 of 2,x,Mayor Choice 1 of 2",
        '"Rep. to Congress 2nd Choice",x,"Rep. to Congress 1st Choice"',
        "preference2,x,Preference1",
    ],
)
def test_columns_are_known_by_the_rank_in_their_names(head: str) -> None:
    assert rankings("cvr", f"{head}\nAda,Dee,Bo\n") == {("Bo", "Ada"): 1}


def test_more_than_nine_ranks_stand_in_the_order_of_their_numbers() -> None:
    head = ",".join(f"rank{rank}" for rank in (10, *range(1, 10)))
    assert rankings("cvr", f"{head}\nj,a,b,c,d,e,f,g,h,i\n") == {tuple("abcdefghij"): 1}


def test_a_repeat_is_left_for_the_count_to_judge() -> None:
    assert rankings("cvr", HEAD + "1,Bo,Bo,Ada\n") == {("Bo", "Bo", "Ada"): 1}


def test_empty_lines_at_the_end_are_no_ballots() -> None:
    assert rankings("cvr", "rank1\nBo\n\n\n") == {("Bo",): 1}


@pytest.mark.parametrize(
    ("text", "line", "must"),
    [
        (HEAD + "1,Bo,Ada,\n2,Bo\n", 3, "must have 4 columns; got 2"),
        (HEAD + "1,Bo,Ada,\n2,Bo,,,Cy\n", 3, "must have 4 columns; got 5"),
        (HEAD + "1,Bo,Ada,\n\n2,Bo,,\n", 3, "must be a ballot; got an empty line"),
        (HEAD, 1, "must name candidates; got none"),
        (HEAD + "1,,,\n", 1, "must name candidates; got none"),
        ("a,b\n1,2\n", 1, "must name columns rank1, rank2 and so on; got none"),
        ("rank1,rank3\nA,B\n", 1, "must name columns rank1, rank2 and so on; got ranks 1, 3"),
        ("Mayor rank1,Clerk rank1\nA,B\n", 1, "must have one column a rank; got several for rank 1"),
        ("rank1,weight\nA,2\n", 1, "must have one row a ballot; got a column 'weight'"),
        ("rank1\n" + "".join(f"c{one}\n" for one in range(256)), 1, "must name at most 255"),
        ("", 1, "must name columns rank1"),
    ],
)
def test_a_wrong_line_is_named_and_not_quoted(text: str, line: int, must: str) -> None:
    with pytest.raises(SchemaError) as refused:
        read("cvr", text)
    assert str(refused.value).startswith(f"file line {line}: {must}")
