"""Which errors of scores matter: all others may be as large as they like, and the outcome is right."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.election import certificates
from jobs.election.margins import margin_of_victory
from jobs.election.rules import RULES
from jobs.election.rules.pairs import margins as table_of
from tests.jobs.election.every_profile import truncated
from udfs.contests import Duels, FirstChoice
from udfs.profile import Profile


def named(rule, answer):
    """Return the outcome of a rule that is answered so."""
    counting = rule.count()
    contest = next(counting)
    try:
        while True:
            contest = counting.send(answer(contest))
    except StopIteration as stop:
        return stop.value


def a_profile(seed, candidates):
    """Return a random profile of 40 truncated ballots."""
    kinds, generator = truncated(candidates), np.random.default_rng(seed)
    skewed = generator.dirichlet(np.full(len(kinds), 0.05))
    return Profile.of(kinds, generator.multinomial(40, skewed)), generator


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
@pytest.mark.parametrize("name", ["condorcet", "maximin"])
def test_duels_that_do_not_matter_may_be_wrong_by_anything(name, seed):
    rule = RULES[name](5)
    profile, generator = a_profile(seed, 5)
    found = margin_of_victory(rule, profile)
    duels = Duels.of_all(5)
    truth = profile.score(duels)
    worst = np.where(np.eye(5, dtype=bool), np.inf, table_of(5, duels, truth)).argmin(axis=1)
    winners = [] if found.outcome is None else [found.outcome]
    losers = [c for c in range(5) if c not in winners] if name == "maximin" or not winners else []
    pairs = [(w, c) for w in winners for c in range(5)] + [(c, int(worst[c])) for c in losers]
    matter = [set(pair) in map(set, pairs) for pair in duels.pairs]
    assert sum(matter) <= (8 if name == "maximin" else 5)
    if name == "maximin":
        error = found.margin - 1
    elif winners:
        error = 2 * found.margin - 1
    else:
        error = sum(certificates.condorcet(one, 5) < found.margin for one in range(found.margin))
    for _ in range(100):
        noise = generator.uniform(-100, 100, size=10)
        noise[matter] = generator.choice([-0.999, 0.999], size=sum(matter)) * error
        if error:
            assert named(rule, lambda _, noisy=truth + noise: noisy) == found.outcome


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_scores_and_duels_that_do_not_matter_to_a_runoff_may_be_wrong_by_anything(seed):
    rule = RULES["runoff"](4)
    profile, generator = a_profile(seed, 4)
    found = margin_of_victory(rule, profile)
    gap, duel = found.margin - 1.001, 2 * (found.margin - 1) - 0.001
    if gap <= 0:
        return
    first, winner = profile.score(FirstChoice(rule.everybody)), found.outcome
    others = [c for c in rule.everybody if c != winner]
    duels = {c: int(profile.score(Duels(((winner, c),)))[0]) for c in others}
    far = [(winner, c) for c in others if first[winner] - first[c] > math.floor(gap)]
    for c in others:
        ahead = [(d, c) for d in others if first[d] - first[c] > math.floor(gap)]
        assert ahead or duels[c] > math.floor(duel)
        far += ahead[:1] if duels[c] <= math.floor(duel) else []
    for _ in range(300):
        noise = generator.uniform(-2 * gap, 2 * gap, size=4)
        if any(abs(noise[one] - noise[other]) > gap for one, other in far):
            continue

        def answer(contest, noise=noise):
            if isinstance(contest, FirstChoice):
                return first + noise
            one, other = contest.pairs[0]
            if winner not in (one, other):
                return np.ones(1)
            rival = other if one == winner else one
            wrong = duel if duels[rival] > math.floor(duel) else 100.0
            return np.array([duels[rival] - wrong]) * (1 if one == winner else -1)

        assert named(rule, answer) == winner
