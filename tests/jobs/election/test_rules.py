"""Every rule against an implementation that reads ballots one by one, over all small profiles and some large ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from jobs.election.count import conduct, exact_answers
from jobs.election.rules import (
    RULES,
    Borda,
    Condorcet,
    Maximin,
    Plurality,
    Runoff,
    Scoring,
    SingleTransferableVote,
    Veto,
)
from jobs.election.rules.rule import first, last
from tests.jobs.election.every_profile import complete, every_profile, shared
from udfs.contests import Duels, EveryFirstChoice, FirstChoice, Points
from udfs.profile import Profile

STEEP = (Fraction(7, 2), Fraction(1, 3), Fraction(1, 3), 0, 0)


def rules(candidates):
    """Return every rule for so many candidates."""
    plain = [kind(candidates) for kind in RULES.values() if kind is not Scoring]
    return [*plain, Scoring(candidates, STEEP[:candidates])]


def on_top(ballot, active):
    """Return whom a ballot places alone before all other active candidates, or None."""
    best = min(ballot[one] for one in active)
    at = [one for one in active if ballot[one] == best]
    return at[0] if len(at) == 1 else None


def firsts(ballots, active):
    return {one: sum(count for ballot, count in ballots if on_top(ballot, active) == one) for one in active}


def margin(ballots, one, other):
    return sum(
        count * ((ballot[one] < ballot[other]) - (ballot[other] < ballot[one])) for ballot, count in ballots
    )


def best(scores):
    """Return who has the most; of several, the first in the tie order."""
    return min(scores, key=lambda one: (-scores[one], one))


def points(ballots, weights):
    def of(ballot, one):
        places = range(ballot[one], ballot[one] + ballot.count(ballot[one]))
        return sum(Fraction(weights[place]) for place in places) / len(places)

    return {one: sum(count * of(ballot, one) for ballot, count in ballots) for one in range(len(weights))}


def slowly(rule, ballots):
    """Return the outcome of a rule: a number, or None."""
    everybody = range(rule.candidates)
    match rule:
        case Plurality():
            return best(firsts(ballots, everybody))
        case Scoring():
            return best(points(ballots, rule.weights))
        case Condorcet():
            winners = [
                one
                for one in everybody
                if all(margin(ballots, one, other) > 0 for other in everybody if other != one)
            ]
            return winners[0] if winners else None
        case Maximin():
            return best(
                {
                    one: min(margin(ballots, one, other) for other in everybody if other != one)
                    for one in everybody
                }
            )
        case Runoff():
            scores = firsts(ballots, everybody)
            one, other = sorted(sorted(everybody, key=lambda who: (-scores[who], who))[:2])
            return one if margin(ballots, one, other) >= 0 else other
        case SingleTransferableVote():
            active = list(everybody)
            while len(active) > 1:
                scores = firsts(ballots, active)
                active.remove(max(active, key=lambda who: (-scores[who], who)))
            return active[0]


def as_ballots(profile):
    return list(zip(profile.places.tolist(), profile.counts.tolist(), strict=True))


def outcome(count, profile):
    return conduct(count, exact_answers(profile))[0]


@pytest.mark.parametrize(("candidates", "ballots"), [(2, 5), (3, 3)])
def test_every_small_profile_has_the_outcome_of_a_slow_count(candidates, ballots):
    profiles = every_profile(shared, candidates, ballots)
    for rule in rules(candidates):
        for place in range(len(profiles.counts)):
            profile = profiles.profile(place)
            expected = slowly(rule, as_ballots(profile))
            assert outcome(rule.count(), profile) == expected, (rule, profile)
            assert outcome(rule.rounds(), profile) == expected, (rule, profile)


@pytest.mark.parametrize("kinds", [shared, complete])
@pytest.mark.parametrize("candidates", [4, 5])
def test_random_profiles_have_the_outcome_of_a_slow_count_ties_included(candidates, kinds):
    seed = np.random.SeedSequence().entropy
    generator = np.random.default_rng(seed)
    every = kinds(candidates)
    for _ in range(60):
        drawn = every[generator.integers(0, len(every), generator.integers(1, 9))]
        profile = Profile.of(drawn, generator.integers(1, 3, len(drawn)))
        for rule in rules(candidates):
            expected = slowly(rule, as_ballots(profile))
            assert outcome(rule.count(), profile) == expected, (seed, rule)
            assert outcome(rule.rounds(), profile) == expected, (seed, rule)


@pytest.mark.parametrize("candidates", [1, 2, 3, 6])
def test_a_rule_asks_as_many_questions_as_it_says_and_only_what_its_release_answers(candidates):
    profile = Profile.of(complete(candidates)[::-1][:4])
    for rule in (
        rules(candidates)
        if candidates <= len(STEEP)
        else [kind(candidates) for kind in RULES.values() if kind is not Scoring]
    ):
        _, rounds = conduct(rule.rounds(), exact_answers(profile))
        assert len(rounds) == rule.most_rounds
        _, asked = conduct(rule.count(), exact_answers(profile))
        released = rule.release() if candidates > 1 else ()
        for one in asked:
            assert any(holds(release, one.contest) for release in released), (rule, one.contest)


def holds(release, contest):
    """Tell whether answers to one contest hold those to another."""
    if isinstance(release, EveryFirstChoice):
        return isinstance(contest, FirstChoice)
    if isinstance(release, Duels):
        return isinstance(contest, Duels) and {*contest.pairs} <= {*release.pairs}
    return release == contest


@pytest.mark.parametrize("kind", [one for one in RULES.values() if one is not Scoring])
def test_one_candidate_wins_unasked(kind):
    rule = kind(1)
    for count in (rule.count(), rule.rounds()):
        assert conduct(count, lambda contest: pytest.fail("nothing has to be asked")) == (0, ())
    assert rule.most_rounds == 0
    assert rule.outcomes == 1


def test_no_ballots_and_blank_ones_are_a_tie_of_all_that_the_order_decides():
    for profile in (
        Profile.of(np.zeros((0, 4), dtype=np.uint8)),
        Profile.of(np.zeros((5, 4), dtype=np.uint8)),
    ):
        for rule in rules(4):
            assert outcome(rule.count(), profile) == (None if isinstance(rule, Condorcet) else 0), rule


def test_the_highest_of_several_is_the_first_and_the_lowest_the_last():
    assert first(np.array([1, 3, 3])) == 1
    assert last(np.array([1, 3, 1])) == 2
    assert first(np.array([0.0, 0.0])) == 0
    assert last(np.array([0.0, 0.0])) == 1


def votes(*kinds):
    """Return the profile of rankings, each with its number; who is not ranked stands last."""
    candidates = 1 + max(one for ranking, _ in kinds for one in ranking)
    places = [
        [ranking.index(one) if one in ranking else len(ranking) for one in range(candidates)]
        for ranking, _ in kinds
    ]
    return Profile.of(np.array(places, dtype=np.uint8), np.array([count for _, count in kinds]))


def test_of_the_fewest_the_last_in_the_tie_order_goes():
    profile = votes(((0, 2, 1), 4), ((1, 0, 2), 3), ((2, 1, 0), 3))
    rule = SingleTransferableVote(3)
    _, rounds = conduct(rule.count(), exact_answers(profile))
    assert [one.contest.active for one in rounds] == [(0, 1, 2), (0, 1)]  # 2 goes, and not 1
    assert outcome(rule.count(), profile) == 1


def test_the_finalists_are_the_first_two_by_score_and_then_by_order_and_the_final_goes_by_order():
    profile = votes(((0,), 4), ((1, 2, 0), 3), ((2, 1, 0), 3))
    _, rounds = conduct(Runoff(3).count(), exact_answers(profile))
    assert rounds[1].contest == Duels(((0, 1),))
    tied = votes(((2,), 5), ((1,), 5), ((0,), 1))
    winner, rounds = conduct(Runoff(3).count(), exact_answers(tied))
    assert rounds[1].contest == Duels(((1, 2),))  # the pair in the tie order, whoever has more
    assert winner == 1


def test_a_duel_that_is_even_is_won_by_nobody():
    profile = votes(((0, 1), 2), ((1, 0), 2))
    assert outcome(Condorcet(2).count(), profile) is None
    assert outcome(Condorcet(2).rounds(), profile) is None
    assert outcome(Maximin(2).count(), profile) == 0
    assert outcome(Runoff(2).count(), profile) == 0


def test_the_noise_of_a_score_below_zero_is_a_score_like_any_other():
    """Estimated scores may be negative, and are compared as they are."""
    count = SingleTransferableVote(3).count()
    next(count)
    assert count.send(np.array([-5.0, -7.0, -6.5])).active == (0, 2)
    count = Condorcet(2).count()
    next(count)
    with pytest.raises(StopIteration) as stop:
        count.send(np.array([0.0]))
    assert stop.value.value is None


def test_a_knockout_pairs_whoever_is_left_in_order_and_verifies_the_last_against_all():
    rule, contests = Condorcet(6), []
    count = rule.rounds()
    contest = next(count)
    try:
        while True:
            contests.append(contest)
            ahead = [-1.0 if other in (1, 3) else 1.0 for _, other in contest.pairs]
            contest = count.send(np.array(ahead))
    except StopIteration as stop:
        winner = stop.value
    pairs = [one.pairs for one in contests]
    assert pairs[:3] == [((0, 1), (2, 3), (4, 5)), ((1, 3),), ((3, 4),)]
    assert pairs[3] == tuple((3, other) for other in (0, 1, 2, 4, 5))
    assert winner is None  # 1 beat them in the last round
    assert len(pairs) == rule.most_rounds == 4


def test_a_plan_for_three_candidates_lets_the_odd_one_wait():
    count = Condorcet(3).rounds()
    assert next(count).pairs == ((0, 1),)
    assert count.send(np.array([1.0])).pairs == ((0, 2),)
    assert count.send(np.array([-1.0])).pairs == ((2, 0), (2, 1))


def test_weights_of_borda_and_veto_are_those_of_the_field():
    assert Borda(4).weights == (3, 2, 1, 0)
    assert Veto(4).weights == (1, 1, 1, 0)
    assert Borda(4).release() == (Points((3, 2, 1, 0)),)
    assert Veto(2).weights == Borda(2).weights == (1, 0)


def test_scaled_and_shifted_weights_elect_the_same():
    profiles = every_profile(shared, 3, 3)
    for place in range(0, len(profiles.counts), 7):
        profile = profiles.profile(place)
        plain = outcome(Scoring(3, (2, 1, 0)).count(), profile)
        for weights in ((Fraction(2, 3), Fraction(1, 3), 0), (7, 5, 3), (1, 0, -1)):
            assert outcome(Scoring(3, weights).count(), profile) == plain


@pytest.mark.parametrize("candidates", [2, 3, 4, 5])
def test_a_release_answers_all_that_a_count_may_ask(candidates):
    assert Plurality(candidates).release() == (FirstChoice(tuple(range(candidates))),)
    duels = Duels(tuple(combinations(range(candidates), 2)))
    assert Condorcet(candidates).release() == Maximin(candidates).release() == (duels,)
    first = (FirstChoice(tuple(range(candidates))),) if candidates > 2 else ()
    assert Runoff(candidates).release() == (*first, duels)
    assert SingleTransferableVote(candidates).release() == (EveryFirstChoice(candidates),)
