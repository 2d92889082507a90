from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.statistics import UnlikelyError, assert_law
from udfs.draws import Numbered, PublicDraws, fresh_draws
from udfs.errors import SpecError
from udfs.turns import EVERYBODY, Turn


def standing(first, rows):
    """Return the public draws of rows that stand in a row."""
    return PublicDraws(Numbered(first, rows))


@given(cuts=st.sets(st.integers(1, 29)), seed=st.binary(min_size=32, max_size=32), rows=st.integers(0, 80))
def test_turns_that_cover_all_numbers_ask_every_voter_once(cuts, seed, rows):
    edges = [0, *sorted(cuts), 30]
    turns = [Turn(first, last, 30) for first, last in pairwise(edges)]
    asked = np.concatenate([turn.rows(standing(0, rows), seed) for turn in turns])
    assert sorted(asked.tolist()) == list(range(rows))
    assert sum(turn.share for turn in turns) == 1


@given(cut=st.integers(0, 100), seed=st.binary(min_size=32, max_size=32))
def test_who_is_asked_does_not_depend_on_how_rows_are_cut(cut, seed):
    turn = Turn(2, 5, 7)
    whole = turn.rows(standing(0, 100), seed)
    parts = [turn.rows(standing(0, cut), seed), turn.rows(standing(cut, 100 - cut), seed) + cut]
    assert np.concatenate(parts).tolist() == whole.tolist()


def count_asked(turn):
    """Return what counts who is asked."""

    def sample(secret, draws):
        return np.array([len(turn.rows(standing(0, draws), secret.key("turn")))])

    return sample


@pytest.mark.parametrize("turn", [Turn(0, 1, 2), Turn(1, 4, 15), Turn(7, 15, 15)])
def test_as_many_are_asked_as_the_share_says(turn):
    longer = [turn.share + Fraction(1, turn.of)]
    assert_law(count_asked(turn), [turn.share], longer)
    if turn.last < turn.of:
        with pytest.raises(UnlikelyError):
            assert_law(count_asked(Turn(turn.first, turn.last + 1, turn.of)), [turn.share], longer)


def test_another_seed_asks_others():
    turn = Turn(0, 1, 2)
    first, other = (turn.rows(standing(0, 1000), bytes(31) + bytes([one])).tolist() for one in (0, 1))
    assert first != other


def test_those_who_are_asked_keep_their_ballots_and_their_draws():
    ballots = np.asfortranarray(np.arange(60, dtype=np.uint8).reshape(20, 3))
    draws, turn = fresh_draws(20, Numbered(0, 20)), Turn(0, 1, 3)
    places, kept = turn.ask(ballots, draws, bytes(32))
    rows = turn.rows(draws, bytes(32))
    assert 0 < len(rows) < 20
    assert places.tolist() == ballots[rows].tolist()
    assert places.T.flags.c_contiguous
    assert kept.words(3).tolist() == draws.words(3)[rows].tolist()


def test_where_all_are_asked_nobody_needs_to_stand_anywhere():
    ballots, draws = np.zeros((4, 2), dtype=np.uint8), fresh_draws(4)
    places, kept = EVERYBODY.ask(ballots, draws, bytes(32))
    assert places is ballots
    assert kept is draws
    assert EVERYBODY.rows(draws, bytes(32)).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("wrong", [(0, 0, 1), (1, 1, 2), (-1, 1, 2), (0, 3, 2), (0, 1, 1 << 41), (2, 1, 3)])
def test_a_turn_of_nobody_is_refused(wrong):
    with pytest.raises(SpecError, match="turn"):
        Turn(*wrong)


def test_the_label_tells_turns_apart():
    turns = [EVERYBODY, Turn(0, 1, 2), Turn(1, 2, 2), Turn(0, 1, 3)]
    assert len({turn.label for turn in turns}) == 4
