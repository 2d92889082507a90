"""Decisive margins: the paper's formulas, and that the sharper ones keep their promise."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import pairwise, product

import numpy as np
import pytest

from jobs.election import certificates
from jobs.election.bounds import (
    C_DJW,
    central_bound,
    central_lower_bound,
    local_bound,
    local_lower_rate,
    paper_bound,
)
from jobs.election.rules import RULES, Scoring
from jobs.election.surrogates import surrogate
from tests.jobs.election.every_profile import complete, every_profile, shared
from udfs.score_noise import Noise

N, GAMMA = 10_000, 0.05
KAPPA = {eps: (math.exp(eps) + 1) / (math.exp(eps) - 1) for eps in (1.0, 0.5, 0.25)}
EVERY_RULE = [name for name in RULES if name != "scoring"]
WITH_SCORES = (RULES["maximin"], RULES["condorcet"])


def radius(kappa, squared_norm, tails):
    """Return the deviation of a DJW sum, as the paper writes it."""
    return 1.333 * kappa * math.sqrt(2 * squared_norm * N * math.log(tails))


@pytest.mark.parametrize(
    ("name", "model", "expected"),
    [
        ("plurality", "central", 2 * math.log(6 / 0.05) + 1),
        ("stv", "central", 2 * math.log(6 / 0.05) + 1),
        ("plurality", "local", radius(KAPPA[1.0], 1, 200) + 2),
        ("plurality", "interactive", radius(KAPPA[1.0], 1, 200) + 2),
        ("condorcet", "local", 1 + 3 * math.log2(5) + 3 * radius(KAPPA[1.0], 10, 400)),
        ("maximin", "local", radius(KAPPA[1.0], 10, 400) + 2),
        ("maximin", "interactive", radius(KAPPA[1.0], 10, 400) + 2),
        ("runoff", "local", 3 + radius(KAPPA[0.5], 1, 400) + radius(KAPPA[0.5], 10, 800) / 2),
        ("runoff", "interactive", 2 * radius(KAPPA[0.5], 1, 400) + 3),
        ("stv", "local", 25 + 8 * radius(KAPPA[1.0], 26, 3000) + 1),
        ("stv", "interactive", 25 + 8 * radius(KAPPA[0.25], 1, 1000) + 1),
        ("condorcet", "interactive", 1 + 3 * math.log2(5) + 6 * radius(KAPPA[0.25], 5, 2000)),
        ("borda", "local", None),
        ("veto", "interactive", None),
    ],
)
def test_the_papers_bounds_are_its_formulas_for_five_candidates(name, model, expected):
    found = paper_bound(RULES[name](5), model, N, Decimal(1), GAMMA)
    assert found == (None if expected is None else pytest.approx(expected, rel=1e-12))


def test_the_papers_runoff_of_two_is_bound_by_its_first_round():
    found = paper_bound(RULES["runoff"](2), "local", N, Decimal(1), GAMMA)
    assert found == pytest.approx(3 + 2 * radius(KAPPA[0.5], 1, 160), rel=1e-12)


def test_the_papers_polynomial_score_is_for_maximin_alone():
    found = [paper_bound(kind(5), "central", N, Decimal(1), GAMMA, "polynomial") for kind in WITH_SCORES]
    assert found == [pytest.approx(4 * math.log(100) + 2), None]


def failure_at(rule, margin, epsilon, share=1.0):
    """Return the probability of a wrong outcome at a margin."""
    wrong = (rule.outcomes - 1) * math.exp(-share * epsilon * margin)
    return wrong / (1 + wrong)


@pytest.mark.parametrize("name", EVERY_RULE)
@pytest.mark.parametrize(("kind", "share"), [("margin", 1.0), ("exponential", 0.5)])
def test_the_central_bound_is_the_least_margin_that_is_decisive(name, kind, share):
    for candidates, epsilon, failure in product((2, 3, 10, 100), (0.01, 0.1, 1.0), (0.2, 0.05, 1e-6)):
        rule = RULES[name](candidates)
        bound = central_bound(rule, Decimal(str(epsilon)), failure, kind)
        assert (
            failure_at(rule, bound, epsilon, share) <= failure < failure_at(rule, bound - 1, epsilon, share)
        )


@pytest.mark.parametrize("name", EVERY_RULE)
def test_the_central_bound_lies_between_what_is_impossible_and_the_papers(name):
    for candidates, epsilon, failure in product((2, 3, 10, 100), ("0.01", "0.1", "1"), (0.19, 0.05, 1e-6)):
        rule, eps = RULES[name](candidates), Decimal(epsilon)
        bound = central_bound(rule, eps, failure)
        assert central_lower_bound(rule, eps, failure) <= bound
        assert bound <= math.ceil(paper_bound(rule, "central", N, eps, failure))


def test_the_central_bound_of_a_polynomial_score_follows_from_its_certificate():
    needed = math.ceil(math.log(10 * 19) / 0.1)  # of Condorcet's eleven outcomes
    bound = central_bound(RULES["condorcet"](10), Decimal("0.1"), GAMMA, score="polynomial")
    assert (needed, bound) == (53, certificates.condorcet(103, 10) + 1)


@pytest.mark.parametrize(("kinds", "ballots"), [(shared, 4), (complete, 9)])
@pytest.mark.parametrize("kind", WITH_SCORES, ids=lambda kind: kind.name)
def test_a_polynomial_score_is_decisive_from_its_bound_on(kind, kinds, ballots):
    rule, profiles = kind(3), every_profile(kinds, 3, ballots)
    margins = profiles.margins(profiles.outcomes(rule))
    scores = [float(surrogate(rule, profiles.profile(place))) for place in range(len(margins))]
    decided = 0
    for epsilon, failure in product((0.8, 1.5, 3.0, 10.0), (0.4, 0.1, 0.01)):
        bound = central_bound(rule, Decimal(str(epsilon)), failure, score="polynomial")
        assert bound >= central_bound(rule, Decimal(str(epsilon)), failure)
        failures = [failure_at(rule, score, epsilon) for score in np.array(scores)[margins >= bound]]
        assert max(failures, default=0.0) <= failure
        decided += len(failures)
    assert decided


class Counted:
    """A noise that tells what is asked of it: the number of events, as a deviation."""

    def __init__(self):
        self.asked = []

    def deviation(self, events, failure, gap=False):
        assert failure == GAMMA
        self.asked.append((events, gap))
        return 0.0


@pytest.mark.parametrize(
    ("name", "questions", "fresh", "events"),
    [
        ("plurality", 1, False, {(4, True)}),
        ("borda", 1, False, {(4, True)}),
        ("veto", 1, True, {(4, True)}),
        ("runoff", 2, False, {(8, True), (8, False)}),
        ("runoff", 2, True, {(8, True), (8, False)}),
        ("condorcet", 1, False, {(5, False)}),
        ("condorcet", 4, False, {(8, False)}),
        ("condorcet", 4, True, {(7, False)}),
        ("maximin", 1, False, {(8, False)}),
        ("stv", 4, True, {(4 + 3 + 2 + 1, True)}),
        ("stv", 4, False, {(1 * 4 + 5 * 3 + 10 * 2 + 10 * 1, True)}),
    ],
)
def test_the_union_is_over_the_events_that_matter(name, questions, fresh, events):
    noises = [Counted() for _ in range(questions)]
    local_bound(RULES[name](5), noises, N, GAMMA, fresh)
    assert all(noise.asked for noise in noises)
    assert {one for noise in noises for one in noise.asked} == events


def djw(squared_norm, epsilon):
    """Return the noise of a DJW sum."""
    spread = C_DJW * math.sqrt(squared_norm * N) / math.tanh(epsilon / 2)
    return Noise(spread**2, 2 * spread**2, math.inf, spread)


@pytest.mark.parametrize("m", [2, 3, 5, 10])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("failure", [0.4, 0.05, 1e-9])
def test_for_the_papers_own_noise_no_bound_exceeds_the_papers(m, epsilon, failure):
    pairs, rounds = math.comb(m, 2), math.ceil(math.log2(m)) + 1
    one_round = {
        "plurality": [djw(1, epsilon)],
        "condorcet": [djw(pairs, epsilon)],
        "maximin": [djw(pairs, epsilon)],
        "runoff": [djw(1, epsilon / 2), djw(pairs, epsilon / 2)],
        "stv": [djw(2**m - m - 1, epsilon)] * (m - 1),
    }
    in_rounds = {
        "runoff": [djw(1, epsilon / 2), djw(1, epsilon / 2)],
        "stv": [djw(1, epsilon / (m - 1))] * (m - 1),
        "condorcet": [djw(m, epsilon / rounds)] * rounds,
    }
    for model, noises in (("local", one_round), ("interactive", in_rounds)):
        for name, one in noises.items():
            rule = RULES[name](m)
            own = local_bound(rule, one, N, failure, fresh=model == "interactive")
            assert own <= paper_bound(rule, model, N, Decimal(str(epsilon)), failure)


def test_scoring_rules_are_bound_by_the_spread_of_their_points():
    noise = Noise(100.0, 200.0, math.inf, 10.0)
    gap = noise.deviation(2, GAMMA, gap=True)
    bound = local_bound(Scoring(3, (3, 1, 0)), [noise], N, GAMMA)
    assert bound == certificates.scoring(gap, 3, N) + 1 == math.floor(gap / 3) + 2


def test_a_noise_of_which_nothing_is_known_leaves_no_margin_decisive():
    unknown, some = Noise(math.inf, math.inf, math.inf), Noise(1.0, 2.0, 1.0)
    for name, noises in {
        "plurality": [unknown],
        "runoff": [some, unknown],
        "condorcet": [some, unknown],
    }.items():
        assert local_bound(RULES[name](3), noises, N, GAMMA) == math.inf


@pytest.mark.parametrize("name", EVERY_RULE)
def test_one_candidate_wins_by_any_margin(name):
    rule = RULES[name](1)
    central = (central_bound(rule, Decimal(1), GAMMA), central_lower_bound(rule, Decimal(1), GAMMA))
    local = (local_bound(rule, [], N, GAMMA), paper_bound(rule, "local", N, Decimal(1), GAMMA))
    assert central == local == (0, 0)


def test_lower_bounds_are_the_papers():
    assert central_lower_bound(RULES["stv"](10), Decimal("0.1"), 0.05) == math.floor(math.log(80) / 0.2)
    assert central_lower_bound(RULES["veto"](10), Decimal("0.1"), 0.05) == math.floor(math.log(80) / 0.4)
    assert central_lower_bound(RULES["veto"](10), Decimal("0.1"), 0.2) == 0
    assert local_lower_rate(100, Decimal("0.01")) == 100 < local_lower_rate(10_000, Decimal("0.5")) == 200


def test_bounds_fall_with_epsilon_and_grow_with_candidates():
    epsilons = ["1e-1000", "0.001", "0.1", "1", "10", "1e1000"]
    for name, model in product(("plurality", "condorcet", "stv"), ("central", "local", "interactive")):
        found = [paper_bound(RULES[name](5), model, N, Decimal(one), GAMMA) for one in epsilons]
        assert found[0] == math.inf
        assert all(larger >= smaller for larger, smaller in pairwise(found))
        assert paper_bound(RULES[name](6), model, N, Decimal(1), GAMMA) > found[3]
    assert central_bound(RULES["stv"](5), Decimal("1e-1000"), GAMMA) == math.inf
