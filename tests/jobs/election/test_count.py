"""Questions and answers: what is sent to a rule, and what is known of its questions before any answer."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from jobs.election.count import Round, conduct, exact_answers, preview
from jobs.election.rules import RULES, Condorcet, Plurality, Scoring, SingleTransferableVote
from tests.jobs.election.every_profile import complete, shared
from udfs.contests import Duels, FirstChoice, Points
from udfs.profile import Profile

WEIGHTS = (Fraction(5, 2), 1, 1, Fraction(1, 3), 0)
PROFILE = Profile.of(complete(5)[::7], np.arange(1, 19))


def rules(candidates):
    """Return every rule for so many candidates."""
    plain = [kind(candidates) for kind in RULES.values() if kind is not Scoring]
    return [*plain, Scoring(candidates, WEIGHTS[:candidates])]


def test_questions_are_put_in_turn_and_a_rule_is_sent_the_scores_as_they_are():
    sent = [np.array([3.5, -1.0, 2.0]), np.array([1.0, 1.0])]
    asked = []

    def answer(contest):
        asked.append(contest)
        scores = sent[len(asked) - 1]
        return Round(contest, scores, np.ones(len(scores)), 10)

    winner, rounds = conduct(SingleTransferableVote(3).count(), answer)
    assert asked == [FirstChoice((0, 1, 2)), FirstChoice((0, 2))]
    assert winner == 0
    assert [one.contest for one in rounds] == asked
    assert all(one.scores is scores for one, scores in zip(rounds, sent, strict=True))


def test_an_answer_that_fails_ends_the_count():
    def answer(contest):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        conduct(Plurality(3).count(), answer)


@pytest.mark.parametrize("candidates", [2, 3, 5])
def test_exact_answers_are_whole_and_have_no_error(candidates):
    profile = Profile.of(shared(3)) if candidates == 3 else Profile.of(complete(candidates))
    for rule in rules(candidates):
        for one in conduct(rule.count(), exact_answers(profile))[1]:
            assert one.scores.dtype == np.int64
            assert one.scores.tolist() == profile.score(one.contest).tolist()
            assert not one.standard_errors.any()
            assert one.standard_errors.shape == one.scores.shape
            assert one.asked == profile.ballots


@pytest.mark.parametrize("candidates", [1, 2, 3, 4, 5])
def test_what_is_known_before_asking_is_how_many_questions_and_of_what_size(candidates):
    """Which candidates they are about follows from the answers; nothing that noise is made of does."""
    seed = np.random.SeedSequence().entropy
    generator = np.random.default_rng(seed)
    every = shared(candidates)
    for _ in range(20):
        profile = Profile.of(every[generator.integers(0, len(every), 9)])
        for rule in rules(candidates):
            for count in (rule.count, rule.rounds):
                held = [one.contest for one in conduct(count(), exact_answers(profile))[1]]
                told = preview(count())
                assert [(type(one), one.dimension, one.squared_norm) for one in held] == [
                    (type(one), one.dimension, one.squared_norm) for one in told
                ], (seed, rule)


def test_a_preview_of_a_knockout_has_a_round_for_each_halving_and_one_to_verify():
    told = preview(Condorcet(6).rounds())
    assert [one.dimension for one in told] == [3, 1, 1, 5]
    assert all(isinstance(one, Duels) for one in told)
    assert len(told) == Condorcet(6).most_rounds


def test_a_preview_of_stv_loses_a_candidate_a_round():
    assert [one.dimension for one in preview(SingleTransferableVote(6).count())] == [6, 5, 4, 3, 2]


def test_scores_of_points_are_so_many_times_too_large_as_the_contest_says():
    weights = WEIGHTS
    ((one,),) = [conduct(Scoring(5, weights).count(), exact_answers(PROFILE))[1]]
    assert isinstance(one.contest, Points)
    places = PROFILE.places.tolist()
    points = [
        sum(int(n) * Fraction(weights[row[candidate]]) for n, row in zip(PROFILE.counts, places, strict=True))
        for candidate in range(5)
    ]
    assert [Fraction(int(score), one.contest.scale) for score in one.scores] == points
