"""Replications of elections whose outcome is known: what a study does on a worker.

An election is made anew wherever it is needed, as it follows from the seed; so what travels are numbers alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import cast

from jobs.election.count import conduct
from jobs.election.interactive import AskInRounds, Rounds
from jobs.election.local import AskRelease, Release
from jobs.election.margins import Margin
from jobs.election.models import release_for, rounds_for
from jobs.election.randomizers import ScoreMechanism, sums_when_asked
from jobs.election.selection import Bits, select
from jobs.election.simulated import SimulatedVoters
from jobs.election.spec import ElectionSpec
from jobs.election.study_elections import make_election
from jobs.population import Population
from udfs.contests import Contest
from udfs.draws import RowDraws
from udfs.profile import Profile
from udfs.streams import derive_key

OWN = "own"
"""The family of the population's own election, of whose ballots there is one profile."""
REPLICATIONS_A_TASK = 50
"""At most: so that an election is not made too often."""
_BALLOTS_A_TASK = 1 << 20
"""About so many ballots, times the rounds of a rule, a task asks: a few seconds' work."""


@dataclass(frozen=True, eq=False)
class Point:
    """A rule in a model of privacy, at one size.

    Attributes
    ----------
    spec : ElectionSpec
        The election: it has the rule, the candidates, the model and epsilon.
    ballots : int
    """

    spec: ElectionSpec
    ballots: int

    @property
    def model(self) -> str:
        """The model of privacy."""
        return self.spec.privacy.model

    @property
    def epsilon(self) -> Decimal:
        """What an election may give away of a ballot."""
        return self.spec.privacy.epsilon

    @property
    def label(self) -> str:
        """What its draws depend on."""
        return f"{self.spec.rule.name} {self.model} {self.ballots} {self.spec.rule.candidates} {self.epsilon}"


@dataclass(frozen=True)
class Series:
    """Elections of one family at one point, by their margins.

    Attributes
    ----------
    point : Point
    family : str
        `OWN`, or one of `jobs.election.study_elections`.
    """

    point: Point
    family: str


@dataclass(frozen=True)
class Tally:
    """How often an outcome was right, by the place of a series and a margin: a commutative monoid under `add`.

    Attributes
    ----------
    counts : dict of (int, int) to (int, int)
        How many replications were right, of how many.
    """

    counts: dict[tuple[int, int], tuple[int, int]]


def add(found: Iterable[Tally]) -> Tally:
    """Add tallies up."""
    counts: dict[tuple[int, int], tuple[int, int]] = {}
    for one in found:
        for key, (right, tried) in one.counts.items():
            before = counts.get(key, (0, 0))
            counts[key] = (before[0] + right, before[1] + tried)
    return Tally(counts)


def replications_a_task(point: Point) -> int:
    """Return how many replications one task makes: as many as take it a few seconds, and one at least."""
    if point.model == "central":
        return REPLICATIONS_A_TASK
    return min(max(1, _BALLOTS_A_TASK // point.ballots), REPLICATIONS_A_TASK)


@dataclass(frozen=True, eq=False)
class Replicate:
    """Holds an election some times, and counts how often the outcome is the true one. Runs on a worker.

    Parameters
    ----------
    series : tuple of Series
    seed : int
        Public: elections and all coins follow from it.
    electorates : int
        Replications are shared equally by so many elections of a series and a margin.
    replications : int
    own : Profile
        The ballots of the population.
    outcome : Margin
        Their outcome, with its margin.
    """

    series: tuple[Series, ...]
    seed: int
    electorates: int
    replications: int
    own: Profile
    outcome: Margin

    def __call__(self, unit: tuple[int, int, range]) -> Tally:
        """Return the tally of some replications of a margin of the series in one place."""
        place, margin, replications = unit
        point = self.series[place].point
        right, held = 0, -1
        for replication in replications:
            electorate = replication * self.electorates // self.replications
            if electorate != held:
                profile, truth = self._election(self.series[place], margin, electorate)
                label = (self.series[place].family, str(margin), str(electorate))
                election = Election(point.spec, profile, truth, self._key(point.label, *label))
                held = electorate
            right += election.held(replication) == truth.outcome
        return Tally({(place, margin): (right, len(replications))})

    def _election(self, series: Series, margin: int, electorate: int) -> tuple[Profile, Margin]:
        if series.family == OWN:
            return self.own, self.outcome
        point = series.point
        return make_election(series.family, point.spec.rule, point.ballots, margin, (self.seed, electorate))

    def _key(self, *labels: str) -> bytes:
        secret = hashlib.sha256(f"dask-canvass study {self.seed}".encode()).digest()
        return derive_key(secret, *labels)


class Election:
    """An election that can be held again and again, each time with public and private coins of its own.

    Parameters
    ----------
    spec : ElectionSpec
    profile : Profile
    truth : Margin
        The outcome, and its exact margin.
    key : bytes
        32 bytes, of which all coins are made.
    """

    def __init__(self, spec: ElectionSpec, profile: Profile, truth: Margin, key: bytes) -> None:
        self._spec, self._profile, self._truth, self._key = spec, profile, truth, key
        self._release: Release | None = None
        self._rounds: Rounds | None = None
        seed = derive_key(key, "public seed")
        if spec.privacy.model == "local":
            self._release = release_for(spec, profile.ballots, seed)
        elif spec.privacy.model == "interactive":
            self._rounds = RememberedRounds(**vars(rounds_for(spec, profile.ballots, seed)))

    def held(self, replication: int) -> int | None:
        """Hold it once; return the winner's number, or None for nobody."""
        key = derive_key(self._key, "replication", str(replication))
        voters = SimulatedVoters(self._profile, key, replication * self._profile.ballots)
        if self._release is not None:
            return self._by_release(self._release, voters)
        if self._rounds is not None:
            asked = AskInRounds(self._rounds, cast(Population, voters), self._spec.question)
            return conduct(self._spec.rule.rounds(), asked)[0]
        return self._by_selection(key)

    def _by_release(self, release: Release, voters: SimulatedVoters) -> int | None:
        """Ask everybody once."""
        partly = any(map(sums_when_asked, release.mechanisms.values()))
        ask = voters.collect if partly else voters.ask
        sums = dict(zip(release.mechanisms, ask(release.asks(self._spec.question), "randomize"), strict=True))
        reports = cast(Population, voters.collected()) if partly else None
        answer = AskRelease(release.mechanisms, sums, reports, voters.rows)
        return conduct(self._spec.rule.count(), answer)[0]

    def _by_selection(self, key: bytes) -> int | None:
        """Draw an outcome by the exact margin, as the central model does."""
        rule, privacy, nobody = self._spec.rule, self._spec.privacy, self._spec.rule.candidates
        outcome = nobody if self._truth.outcome is None else self._truth.outcome
        bits = Bits(RowDraws(key, 1))
        drawn = select(outcome, rule.outcomes, self._truth.margin, privacy.epsilon, privacy.selection, bits)
        return None if drawn == nobody else drawn


@dataclass(frozen=True)
class RememberedRounds(Rounds):
    """Rounds whose randomizers are chosen once for each question."""

    known: dict[tuple[int, Contest], tuple[ScoreMechanism, str]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def mechanism(self, place: int, contest: Contest) -> tuple[ScoreMechanism, str]:
        """Return the randomizer of a round, and why it is that one."""
        if (place, contest) not in self.known:
            self.known[place, contest] = super().mechanism(place, contest)
        return self.known[place, contest]
