"""Shared ranks are dealt with as is wished, and every ballot becomes one row."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.election.formats import listed
from jobs.election.formats.listed import MOST_BALLOTS, OVERVOTES, UNTOLD, Lines, ListedBallots
from tests.jobs.election.formats.files import rows
from udfs.errors import SchemaError, SpecError

unhurried = settings(deadline=None, max_examples=60)
NAMES = ("A", "B", "C", "D")

Ranks = Sequence[Sequence[int]]

ranks = st.lists(st.lists(st.integers(0, 3), max_size=3, unique=True), max_size=4)
ballots = st.lists(st.tuples(st.integers(0, 4), ranks), max_size=8)


def listing(lines: Sequence[tuple[int, Ranks]]) -> ListedBallots:
    gathered = Lines()
    for count, ballot in lines:
        gathered.add(count, ballot)
    return gathered.ballots("file", NAMES)


def settled_by_hand(ballot: Ranks, overvotes: str) -> list[list[str]]:
    """Return the ranks that stay, one after the other."""
    kept: list[list[str]] = []
    for rank in ballot:
        if len(rank) > 1:
            if overvotes == "truncate":
                break
            if overvotes == "void":
                return []
            if overvotes == "skip":
                continue
        if rank:
            kept.append([NAMES[one] for one in rank])
    return kept


@pytest.mark.parametrize("overvotes", OVERVOTES)
@unhurried
@given(lines=ballots, files=st.integers(1, 3))
def test_every_ballot_becomes_a_row_with_the_ranks_that_stay(
    overvotes: str, lines: list[tuple[int, Ranks]], files: int
) -> None:
    wanted = [settled_by_hand(ballot, overvotes) for count, ballot in lines for _ in range(count)]
    settled = listing(lines).settle(overvotes)
    tables = rows(settled, files)
    found = [
        [rank if isinstance(rank, list) else [rank] for rank in ranking]
        for table in tables
        for ranking in table["ranking"].to_pylist()
    ]
    assert sorted(found) == sorted(wanted)
    assert [one for table in tables for one in table["ballot"].to_pylist()] == list(range(1, len(wanted) + 1))
    assert max(len(table) for table in tables) - min(len(table) for table in tables) <= 1
    assert settled.tallies == {
        "ballots": len(wanted),
        "blank": wanted.count([]),
        "overvoted": sum(count for count, ballot in lines if any(len(rank) > 1 for rank in ballot)),
    }


def test_blocks_of_rows_cut_anywhere_hold_the_same_ballots(monkeypatch: pytest.MonkeyPatch) -> None:
    settled = listing([(3, [[0]]), (0, [[1]]), (4, [[2], [1]]), (1, [])]).settle("truncate")
    (whole,) = rows(settled)
    for size in (1, 2, 3, 5):
        monkeypatch.setattr(listed, "_BLOCK_ROWS", size)
        for files in (1, 2, 8, 11):
            tables = rows(settled, files)
            assert len(tables) == files
            assert ballots_in(*tables) == ballots_in(whole)


def ballots_in(*tables: pa.Table) -> list[list[str]]:
    return sorted(ranking for table in tables for ranking in table["ranking"].to_pylist())


def test_rows_do_not_stand_in_the_order_of_the_lines() -> None:
    """Of 2,000 rows, half of each kind, as many neighbours are alike as not: 1,200 are never alike by chance."""
    settled = listing([(1000, [[0]]), (1000, [[1]])]).settle("truncate")
    first = [ranking[0] for table in rows(settled, 2) for ranking in table["ranking"].to_pylist()]
    assert sum(one == other for one, other in itertools.pairwise(first)) < 1200


def test_lists_are_nested_only_where_ranks_are_shared() -> None:
    for overvotes, nested in (("truncate", False), ("keep", True)):
        schema = listing([(1, [[0, 1], [2]])]).settle(overvotes).schema({})
        assert (str(schema.field("ranking").type) == "list<item: list<item: string>>") == nested
    assert str(listing([(1, [[2]])]).settle("keep").schema({}).field("ranking").type) == "list<item: string>"


def test_a_rank_of_unknown_several_is_an_overvote_and_cannot_be_kept() -> None:
    one = ListedBallots(
        NAMES,
        counts=np.array([1]),
        ranks=np.array([3]),
        sizes=np.array([1, UNTOLD, 1]),
        mentions=np.array([2, 0], dtype=np.int16),
    )
    wanted = {"truncate": ["C"], "skip": ["C", "A"], "void": []}
    assert {wish: rows(one.settle(wish))[0]["ranking"].to_pylist()[0] for wish in wanted} == wanted
    with pytest.raises(SpecError, match=r"^--overvotes: must not keep"):
        one.settle("keep")


def test_files_are_many_enough_for_two_million_ballots_each() -> None:
    for count, files in ((0, 1), (1, 1), (2_000_000, 1), (2_000_001, 2), (6_000_001, 4)):
        settled = listing([(count, [[0]])]).settle("truncate")
        assert len(list(settled.parts(None, settled.schema({})))) == files


def test_so_many_ballots_that_it_must_be_a_slip_are_refused() -> None:
    assert listing([(MOST_BALLOTS - 1, [[0]]), (1, [])]).settle("truncate").ballots == MOST_BALLOTS
    with pytest.raises(SchemaError, match="must hold at most 1,000,000,000 ballots"):
        listing([(MOST_BALLOTS, [[0]]), (1, [])])
    with pytest.raises(SchemaError, match="must hold at most"):
        listing([(10**30, [[0]])])
