"""Replications: right as often as the law says, whoever makes them, and each with coins of its own."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from jobs.election import replicate as replicating
from jobs.election.margins import Margin, margin_of_victory
from jobs.election.profiles.instance import profile_of
from jobs.election.replicate import (
    OWN,
    REPLICATIONS_A_TASK,
    Election,
    Point,
    Replicate,
    Series,
    Tally,
    add,
    replications_a_task,
)
from jobs.election.simulated import SimulatedVoters
from jobs.election.study import election_at
from tests.jobs.election.studies import study_booth
from tests.statistics import UnlikelyError, assert_law
from udfs.profile import Profile
from udfs.streams import Secret

TWO = profile_of([((0, 1), 55), ((1, 0), 45)])
THREE = profile_of([((0, 1, 2), 60), ((1, 0, 2), 30), ((2, 1, 0), 10)])


@pytest.fixture
def spec(tmp_path: Path) -> Any:
    return study_booth(tmp_path).spec()


def point(spec: Any, rule: str, model: str, candidates: int, epsilon: Any, ballots: int = 100) -> Point:
    return Point(election_at(spec, model, Decimal(epsilon), (rule, candidates)), ballots)


def chunk(*points: Point, profile: Profile = THREE, family: str = "random", **changed: Any) -> Replicate:
    given = {"seed": 5, "electorates": 3, "replications": 12} | changed
    series = tuple(Series(one, family) for one in points)
    return Replicate(series, own=profile, outcome=Margin(0, 11), **given)


def rights(made: Any, truth: Margin, profile: Profile = TWO) -> Any:
    """Return a sample of how often an election's outcome is the first candidate's win."""

    def sample(secret: Secret, draws: int) -> Any:
        election = Election(made, profile, truth, secret.reveal())
        return np.array([sum(election.held(number) == truth.outcome for number in range(draws))])

    return sample


def selection_law(outcomes: int, exponent: float) -> float:
    return 1 / (1 + (outcomes - 1) * math.exp(-exponent))


def test_the_central_model_is_right_as_often_as_its_law_says(spec: Any) -> None:
    at = point(spec, "condorcet", "central", 3, "0.5").spec
    law, mutant = selection_law(4, 0.5 * 3), selection_law(4, 0.5 * 4)
    assert_law(rights(at, Margin(0, 3)), [law], [mutant])
    with pytest.raises(UnlikelyError):
        assert_law(rights(at, Margin(0, 4)), [law], [mutant])


def two_candidates_law(epsilon: float, first: int, second: int) -> float:
    """Return how often randomized response on two candidates names the first, ties included."""
    keep = 1 / (1 + math.exp(-epsilon))
    own = binom.pmf(np.arange(first + 1), first, keep)
    lost = binom.pmf(np.arange(second + 1), second, 1 - keep)
    votes = np.convolve(own, lost)
    return float(votes[math.ceil((first + second) / 2) :].sum())


@pytest.mark.parametrize("rule", ["plurality", "stv", "runoff"])
def test_the_local_model_is_right_as_often_as_its_law_says(spec: Any, rule: str) -> None:
    law, mutant = [two_candidates_law(1.0, 55, 45)], [two_candidates_law(1.0, 65, 35)]
    assert_law(rights(point(spec, rule, "local", 2, 1).spec, Margin(0, 5)), law, mutant)
    more = profile_of([((0, 1), 65), ((1, 0), 35)])
    with pytest.raises(UnlikelyError):
        assert_law(rights(point(spec, rule, "local", 2, 1).spec, Margin(0, 15), more), law, mutant)


@pytest.mark.parametrize("randomizer", ["auto", "ball"])
@pytest.mark.parametrize("model", ["central", "local", "interactive"])
@pytest.mark.parametrize("rule", ["plurality", "maximin", "runoff", "stv", "condorcet"])
def test_a_race_that_is_decisive_is_told_right_by_all(
    spec: Any, rule: str, model: str, randomizer: str
) -> None:
    spec = spec.model_copy(update={"privacy": spec.privacy.model_copy(update={"randomizer": randomizer})})
    at = point(spec, rule, model, 3, 1000).spec
    many = Profile(THREE.places, THREE.counts * 100)
    truth = margin_of_victory(at.rule, many)
    election = Election(at, many, truth, bytes(32))
    assert [election.held(number) for number in range(3)] == [truth.outcome] * 3


@pytest.mark.parametrize("rule", ["runoff", "stv", "condorcet"])
def test_rounds_that_are_remembered_name_whom_rounds_name(
    spec: Any, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = point(spec, rule, "interactive", 3, 1).spec
    remembered = Election(at, THREE, Margin(0, 1), bytes(32))
    names = [remembered.held(number) for number in range(40)]
    monkeypatch.setattr(replicating, "RememberedRounds", replicating.Rounds)
    anew = Election(at, THREE, Margin(0, 1), bytes(32))
    assert [anew.held(number) for number in range(40)] == names
    assert len(set(names)) > 1  # so that there is something to name


def test_every_replication_has_voters_with_a_key_and_numbers_of_their_own(
    spec: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[SimulatedVoters] = []

    class Noted(SimulatedVoters):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            held.append(self)

    monkeypatch.setattr(replicating, "SimulatedVoters", Noted)
    election = Election(point(spec, "stv", "local", 3, 1).spec, THREE, Margin(0, 1), bytes(32))
    for number in range(5):
        election.held(number)
    assert len({one.key for one in held}) == 5
    assert [one.first for one in held] == [100 * number for number in range(5)]


def test_keys_differ_by_seed_point_family_margin_and_electorate(
    spec: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[bytes] = []

    class Noted:
        def __init__(self, *given: Any) -> None:
            keys.append(given[-1])

        def held(self, replication: int) -> int:
            return 0

    monkeypatch.setattr(replicating, "Election", Noted)
    points = [
        point(spec, rule, model, candidates, epsilon)
        for rule in ("runoff", "condorcet")
        for model in ("local", "interactive")
        for candidates in (3, 4)
        for epsilon in (1, 2)
    ]
    for seed in (1, 2):
        for family in ("random", "two-way"):
            made = chunk(*points, family=family, seed=seed)
            for place in range(len(points)):
                for margin in (1, 2):
                    made((place, margin, range(12)))
    assert len(keys) == len(set(keys)) == 16 * 2 * 2 * 2 * 3


def test_any_cutting_of_replications_gives_the_same_tally(spec: Any) -> None:
    made = chunk(point(spec, "plurality", "local", 3, "0.3"))
    whole = made((0, 4, range(12)))
    for step in (1, 5):
        parts = [made((0, 4, range(first, min(first + step, 12)))) for first in range(0, 12, step)]
        assert add(parts) == whole
    assert whole.counts[0, 4][1] == 12
    assert add([]) == Tally({})
    assert add([whole, add([])]) == whole


def test_electorates_share_replications_equally(spec: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    original = Replicate._election

    def noted(self: Replicate, series: Series, margin: int, electorate: int) -> Any:
        held.append(electorate)
        return original(self, series, margin, electorate)

    monkeypatch.setattr(Replicate, "_election", noted)
    for first in range(12):
        chunk(point(spec, "plurality", "local", 2, 1))((0, 3, range(first, first + 1)))
    assert held == [0] * 4 + [1] * 4 + [2] * 4


def test_the_own_election_is_of_the_ballots_that_were_given(spec: Any) -> None:
    at = Point(election_at(spec, "local", Decimal(1000)), 100)
    own = profile_of([((3, 0, 1, 2), 100)])
    made = Replicate((Series(at, OWN),), 5, 3, 12, own, Margin(3, 50))
    assert made((0, 50, range(12))) == Tally({(0, 50): (12, 12)})


def test_what_travels_to_a_worker_travels(spec: Any) -> None:
    made = chunk(point(spec, "stv", "interactive", 3, 1))
    copy = pickle.loads(pickle.dumps(made))
    assert copy((0, 5, range(6))) == made((0, 5, range(6)))


def test_a_task_makes_fewer_replications_of_more_ballots(spec: Any) -> None:
    few, many, most = (point(spec, "stv", "local", 3, 1, ballots) for ballots in (100, 1 << 16, 10**7))
    assert replications_a_task(few) == REPLICATIONS_A_TASK
    assert replications_a_task(many) == 16
    assert replications_a_task(most) == 1
    assert replications_a_task(point(spec, "stv", "central", 3, 1, 10**7)) == REPLICATIONS_A_TASK


def test_draws_depend_on_what_a_point_is(spec: Any) -> None:
    labels = {
        point(spec, rule, model, candidates, epsilon, ballots).label
        for rule in ("stv", "maximin")
        for model in ("local", "central")
        for candidates in (3, 4)
        for epsilon in ("1", "1.5")
        for ballots in (100, 200)
    }
    assert len(labels) == 32
