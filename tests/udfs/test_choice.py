from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.statistics import UnlikelyError, assert_law
from tests.udfs.choices import choice_of, every_ballot
from udfs.choice_contests import every_pair, every_set
from udfs.contests import FirstChoice
from udfs.draws import IdDraws, Numbered, fresh_draws
from udfs.turns import Turn


@given(st.data())
def test_at_a_huge_epsilon_reports_are_the_answers(data):
    candidates = data.draw(st.integers(2, 6))
    contests = tuple(data.draw(st.sets(st.sampled_from(every_set(candidates)), min_size=1)))
    ballots = (
        every_ballot(candidates)
        if candidates < 5
        else np.random.default_rng().permuted(
            np.tile(np.arange(candidates, dtype=np.uint8), (500, 1)), axis=1
        )
    )
    order = data.draw(st.sampled_from("CF"))
    choice = choice_of(candidates, contests, "44")
    rows = len(ballots)
    reports = choice.randomize(np.array(ballots, order=order), fresh_draws(rows, Numbered(0, rows)))
    for number, contest in enumerate(contests):
        asked = reports["question"] == number
        choices = FirstChoice(contest).choices(ballots[asked])
        alone = choices < len(contest)
        assert reports["answer"][asked, 0][alone].tolist() == (1 << choices[alone]).tolist()
        assert set(np.bitwise_count(reports["answer"][asked]).ravel().tolist()) <= {1}


def test_a_contest_of_all_candidates_holds_255():
    choice = choice_of(255, (tuple(range(255)),), "44")
    ballots = np.ones((255, 255), dtype=np.uint8)
    np.fill_diagonal(ballots, 0)
    tally = choice.tally(choice.randomize(ballots, fresh_draws(255)))
    assert tally.tolist() == [1] * 255 + [255]


@given(cut=st.integers(0, 60), everybody=st.booleans())
def test_reports_do_not_depend_on_how_rows_with_ids_are_cut(cut, everybody):
    ballots = np.random.default_rng(5).choice(every_ballot(4), 60)
    turn = Turn(0, 1, 1) if everybody else Turn(1, 3, 4)
    choice = choice_of(4, every_set(4), "0.5", weights=tuple(range(1, 12)), turn=turn)

    def ask(first, stop):
        standing = Numbered(first, stop - first)
        return choice.randomize(
            ballots[first:stop], IdDraws(bytes(32), standing.blocks(b""), ballots[first:stop], standing)
        )

    whole = ask(0, 60)
    parts = np.concatenate([ask(0, cut), ask(cut, 60)])
    assert parts.tobytes() == whole.tobytes()
    tallies = [choice.tally(part) for part in (ask(0, cut), ask(cut, 60))]
    assert (choice.zeros() + sum(tallies)).tolist() == choice.tally(whole).tolist()


def count_turns_and_contests(choice, numbers):
    """Return what counts voters by turn, then by contest."""

    def sample(secret, draws):
        ballots, seed = np.zeros((draws, choice.candidates), dtype=np.uint8), secret.key("public")
        turns = [
            choice_of(4, choice.contests, weights=choice.weights, seed=seed, turn=turn) for turn in numbers
        ]
        tallies = [
            turn.tally(turn.randomize(ballots, fresh_draws(draws, Numbered(0, draws)))) for turn in turns
        ]
        return np.concatenate([tally[choice.weighted.offsets[1:] - 1] for tally in tallies])

    return sample


def test_contests_follow_their_weights_whatever_the_turn_is():
    contests, weights = ((0, 1), (1, 2, 3), (0, 3)), (1, 2, 5)
    choice, turns = choice_of(4, contests, weights=weights), (Turn(0, 1, 8), Turn(1, 8, 8))
    law = [turn.share * Fraction(weight, 8) for turn in turns for weight in weights]
    even = [turn.share * Fraction(1, 3) for turn in turns for _ in weights]
    with_the_turn = [Fraction(1, 8), 0, 0, 0, Fraction(2, 8), Fraction(5, 8)]
    for mutant in (even, with_the_turn):
        assert_law(count_turns_and_contests(choice, turns), law, mutant)
    with pytest.raises(UnlikelyError):
        assert_law(count_turns_and_contests(choice_of(4, contests), turns), law, even)


def test_only_those_whose_turn_it_is_send_a_report():
    ballots, draws = np.zeros((300, 3), dtype=np.uint8), fresh_draws(300, Numbered(0, 300))
    turns = [Turn(0, 1, 5), Turn(1, 5, 5)]
    choices = [choice_of(3, every_pair(3), turn=turn) for turn in turns]
    reports = [choice.randomize(ballots, draws) for choice in choices]
    assert [len(one) for one in reports] == [len(turn.rows(draws, bytes(32))) for turn in turns]
    assert sum(map(len, reports)) == 300


def test_the_tally_counts_contest_by_contest():
    choice = choice_of(5, ((0, 4), (1, 2, 3)), weights=(1, 3))
    ballots = np.random.default_rng().choice(every_ballot(5), 400)
    reports = choice.randomize(ballots, fresh_draws(400, Numbered(0, 400)))
    expected = []
    for number, contest in enumerate(choice.contests):
        held = reports["answer"][reports["question"] == number, 0]
        expected += [int(np.sum(held >> position & 1)) for position in range(len(contest))] + [len(held)]
    tally = choice.tally(reports)
    assert tally.tolist() == expected
    assert tally.dtype == np.int64
    assert choice.weighted.offsets.tolist() == [0, 3, 7]
    assert choice.asked(FirstChoice((1, 2, 3)), tally).tolist() == [expected[-1]]


def test_no_rows_give_no_reports():
    choice = choice_of(4, every_set(4))
    reports = choice.randomize(np.zeros((0, 4), dtype=np.uint8), fresh_draws(0, Numbered(0, 0)))
    assert len(reports) == 0
    assert choice.tally(reports).tolist() == choice.zeros().tolist()
