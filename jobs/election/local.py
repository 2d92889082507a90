"""One round: every voter reports once, and the reports answer whatever the rule may ask.

Privacy: epsilon for all that a voter reports, exactly.

References
----------
papers/private-voting, section 4 and appendices D to F: algorithms 1, 2 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from jobs.election.count import Round
from jobs.election.interactive import split
from jobs.election.randomizers import ScoreMechanism, Setting, choose, name_of, options, sums_when_asked
from jobs.election.rules import Runoff
from jobs.election.rules.rule import Rule
from jobs.population import Population
from udfs.asking import Ask
from udfs.ball import Ball, DirectionSums
from udfs.ballot_reports import CollectedBallots, CollectedScores, reports_of
from udfs.ballots import BallotQuestion
from udfs.choice import SampledChoice
from udfs.contests import Contest, Duels, EveryFirstChoice, FirstChoice
from udfs.errors import SchemaError, SpecError
from udfs.randomizer import Counts
from udfs.streams import derive_key


@dataclass(frozen=True)
class Release:
    """What every voter reports: one report to each randomizer.

    Attributes
    ----------
    mechanisms : dict of str to ScoreMechanism
        By the names of their columns; what is sampled has two, `question` and `answer`.
    reason : str
        Why they are these.
    reading : dict of str to str
        How ballots were read, where reports that were collected say so: `invalid` and `shared`.
    """

    mechanisms: dict[str, ScoreMechanism]
    reason: str
    reading: dict[str, str] = field(default_factory=dict)

    def asks(self, question: BallotQuestion) -> list[Ask]:
        """Return what every voter is asked."""
        return [(replace(question, name=name), one) for name, one in self.mechanisms.items()]

    def collected(self) -> list[Ask]:
        """Return what is read of reports that are there."""
        return [(CollectedBallots(name, one), CollectedScores(one)) for name, one in self.mechanisms.items()]


def plan_release(rule: Rule, wanted: str, epsilon: Decimal, seed: bytes, ballots: int) -> Release:
    """Return the release that answers all that a rule may ask.

    Parameters
    ----------
    rule : Rule
    wanted : str
        A randomizer, or "auto": the one whose gaps have the least variance.
    epsilon : Decimal
    seed : bytes
        32 published bytes.
    ballots : int

    Raises
    ------
    SpecError
        Where that randomizer cannot answer the rule.
    """
    setting = Setting(rule.candidates, epsilon, seed)
    if isinstance(rule, Runoff) and rule.candidates > 2:
        return _release_runoff(rule, wanted, setting, ballots)
    *_, contest = rule.release()  # of two candidates, a runoff is its duel
    if isinstance(contest, EveryFirstChoice) and rule.candidates == 2:
        contest = FirstChoice((0, 1))
    mechanism, reason = choose(contest, wanted, setting, ballots)
    return Release({"bit" if isinstance(mechanism, Ball) else "answer": mechanism}, reason)


def _release_runoff(rule: Runoff, wanted: str, setting: Setting, ballots: int) -> Release:
    """Return first choices and all duels: half of the voters for each, or half of epsilon (algorithm 2)."""
    first, duels = rule.release()
    half = replace(setting, epsilon=split(setting.epsilon, 2))
    pairs = Duels.of_all(rule.candidates).pairs
    sets, weights = (rule.everybody, *pairs), (len(pairs), *(1,) * len(pairs))
    of_first, of_duels = (
        options(contest, replace(half, seed=derive_key(setting.seed, name)))
        for name, contest in (("first choices", first), ("duels", duels))
    )
    found: dict[str, dict[str, ScoreMechanism]] = {
        "sampled": {"answer": SampledChoice(rule.candidates, sets, weights, setting.epsilon, setting.seed)}
    }
    for name in ("ball", "ellipsoid"):
        found[name] = {"first_choice_bit": of_first["ball"](), "duels_bit": of_duels[name]()}
    if wanted not in ("auto", *found):
        raise SpecError(
            "privacy.randomizer", "must be one that can answer a runoff", wanted, f"use {', '.join(found)}"
        )
    if wanted != "auto":
        return Release(found[wanted], "as the spec says")

    def variance(mechanisms: dict[str, ScoreMechanism]) -> float:
        return sum(
            next(one for one in mechanisms.values() if one.answers(contest))
            .noise(contest, max(ballots, 1))
            .gap
            for contest in (first, Duels(((0, 1),)))
        ) / max(ballots, 1)

    spread = {name: variance(mechanisms) for name, mechanisms in found.items()}
    best, second = sorted(spread, key=lambda name: spread[name])[:2]
    reason = f"{best} has the least variance of a gap and a duel together, {spread[best]:.4g} a ballot"
    return Release(found[best], f"{reason}, before {second} with {spread[second]:.4g}")


@dataclass
class AskRelease:
    """Answers from a release that was made: a `jobs.election.count.Answer`.

    Attributes
    ----------
    mechanisms : dict of str to ScoreMechanism
    sums : dict of str to ndarray of int64
        What each one's reports add up to.
    reports : Population, optional
        The reports themselves, for randomizers that add up only what is asked for.
    ballots : int
    """

    mechanisms: dict[str, ScoreMechanism]
    sums: dict[str, Counts]
    reports: Population | None
    ballots: int
    asked: int = 0

    def __call__(self, contest: Contest) -> Round:
        """Answer from the first randomizer whose reports do."""
        name, mechanism = answering(self.mechanisms, contest)
        self.asked += 1
        counts = self.sums[name]
        if sums_when_asked(mechanism):
            counts = self._add_up(name, mechanism, contest)
        estimate = mechanism.estimate(contest, counts, self.ballots)
        asked, fewest = int(mechanism.asked(contest, counts).sum()), mechanism.fewest(contest, counts)
        return Round(contest, estimate.scores, estimate.standard_errors, asked, name_of(mechanism), fewest)

    def _add_up(self, name: str, ball: Ball, contest: Contest) -> Counts:
        """Pass over the reports again, for the coordinates that a contest asks for."""
        if self.reports is None:
            raise AssertionError("nothing was written to pass over again")
        ask: Ask = (CollectedBallots(name, ball), CollectedScores(ball))
        sums = DirectionSums(ball, ball.coordinates(contest))
        found: Counts = self.reports.ask([ask], f"question {self.asked}", [sums])[-1]
        return found


def answering(mechanisms: dict[str, ScoreMechanism], contest: Contest) -> tuple[str, ScoreMechanism]:
    """Return the first randomizer whose reports answer a contest, by its column.

    Raises
    ------
    SpecError
        Where none does.
    """
    for name, mechanism in mechanisms.items():
        if mechanism.answers(contest):
            return name, mechanism
    raise SpecError(
        "election.rule",
        "must ask what the reports can answer",
        f"{type(contest).__name__} of other reports",
        "collect them with a randomizer for this rule",
    )


def release_of(metadata: Sequence[dict[str, Any]], candidates: Sequence[str | int]) -> Release:
    """Return the release that files of reports were made by, as their footers say.

    Parameters
    ----------
    metadata : sequence of dict
        The `canvass` entry of every file's footer.
    candidates : sequence of str or int
        In the tie order.

    Raises
    ------
    SchemaError
        Where footers say nothing, differ, or have other candidates or another order.
    """
    found = [entry.get("ballots") for entry in metadata]
    if not found or not isinstance(found[0], dict):
        remedy = "take files of reports as an election wrote them"
        raise SchemaError("collected", "needs reports whose footers say how they were made", "others", remedy)
    if any(one != found[0] for one in found):
        remedy = "take those of one election"
        raise SchemaError("collected", "needs reports that were made alike", "footers that differ", remedy)
    if found[0].get("candidates") != list(candidates):
        raise SchemaError(
            "election.candidates",
            "must be those of the reports, in their tie order",
            f"{len(candidates)} others, or in another order",
            "take them from the footer's canvass entry",
        )
    reading = {key: str(found[0].get(key)) for key in ("invalid", "shared")}
    return Release(dict(reports_of(found[0])), "as the reports' footers say", reading)
