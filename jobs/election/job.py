"""The election job.

Question: in what order do you place the candidates? Privacy unit: one ballot, replaced by any other. Guarantee:
epsilon, exactly: in the local model for each voter's report, in the interactive one for all that a voter sends in
all rounds, in the central one for the outcome. Who sees what: a worker stands in for its voters' devices and sees
their ballots; local and interactive drivers see reports and their sums, the central one sees the tally, which stays
inside. Method: one rule, written once, put to the exact tally, to one release, or to voters round by round. Cost: one
pass over the ballots, or one a round.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypeAlias

from jobs.election.central import draw_outcome
from jobs.election.check import check_data
from jobs.election.count import Round, conduct
from jobs.election.decisive import assured, decisive_margin
from jobs.election.document import estimated_margin, head, round_documents
from jobs.election.interactive import AskInRounds
from jobs.election.local import AskRelease, Release
from jobs.election.models import release_for, rounds_for
from jobs.election.plan import plan_election
from jobs.election.randomizers import name_of, sums_when_asked
from jobs.election.spec import ElectionSpec
from jobs.election.study import run_study
from jobs.election.study_plan import plan_study
from jobs.population import Data, Digests, Population
from jobs.results import encode

_Answered: TypeAlias = tuple[int | None, tuple[Round, ...], dict[str, Any]]
"""The winner's number or None, the rounds, and how voters were asked."""
_BASIS = {
    "central": "the outcome was drawn by this job",
    "local": "drawn by this job",
    "interactive": "drawn by this job",
}
_COVERS = {
    "central": "the outcome",
    "local": "all that voters report",
    "interactive": "all that voters report, in all rounds",
}
"""Of each model, what the guarantee stands on, and what it covers."""


class Election:
    """The winner by a voting rule, in a model of privacy."""

    @property
    def spec_type(self) -> type[ElectionSpec]:
        """The type of its specs."""
        return ElectionSpec

    def check(self, spec: ElectionSpec, data: Data) -> None:
        """Refuse data whose columns, types or footers do not fit the spec.

        Raises
        ------
        SchemaError
        SpecError
        """
        check_data(spec, data)

    def plan(self, spec: ElectionSpec, data: Data) -> dict[str, Any]:
        """Return what the job would do and how decisive a race it would need; reads no row."""
        return plan_election(spec, data) if spec.study is None else plan_study(spec, spec.study, data)

    def look_through(self, spec: ElectionSpec, data: Data, population: Population) -> Digests:
        """Have all rows looked through for what will be asked; return their keyed digests."""
        if spec.collected is None:
            return population.check([spec.question])
        release = release_for(spec, data.rows, bytes(32), data.metadata)
        return population.check([question for question, _ in release.collected()])

    def roles(self, spec: ElectionSpec) -> str:
        """Return who stands in for whom: the cluster for respondents' devices."""
        return "embedded"

    def writes_reports(self, spec: ElectionSpec) -> bool:
        """Tell whether voters' reports are published: those of one round."""
        return spec.output.reports and spec.privacy.model == "local" and bool(self.charges(spec))

    def charges(self, spec: ElectionSpec) -> list[tuple[str, Decimal]]:
        """Return epsilon for a ballot; nothing for reports that are here already, or where one candidate stands."""
        if spec.study is not None or spec.collected is not None or spec.rule.outcomes == 1:
            return []
        return [("ballot", spec.privacy.epsilon)]

    def privacy(self, spec: ElectionSpec) -> dict[str, Any]:
        """Return the guarantee."""
        if spec.study is not None:
            return {"model": "none", "basis": "a study on public data: nothing is protected", "epsilon": None}
        model = spec.privacy.model
        return {
            "model": model,
            "neighbours": "one ballot replaced",
            "basis": _BASIS[model] if spec.collected is None else "collected: as the reports' footers say",
            "covers": _COVERS[model],
            "epsilon": spec.privacy.epsilon,
        }

    def run(self, spec: ElectionSpec, population: Population) -> dict[str, Any]:
        """Hold the election, or study when it names the right winner."""
        if spec.study is not None:
            return {"study": run_study(spec, spec.study, population)}
        ballots, model = population.rows, spec.privacy.model
        if model == "central":
            winner = 0 if spec.rule.candidates == 1 else draw_outcome(spec, population)
            return head(spec, winner, ballots) | {
                "decisive_margin": decisive_margin(spec, ballots),
                "selection": spec.privacy.selection,
                "score": spec.privacy.score,
            }
        ask = self._ask_in_rounds if model == "interactive" else self._ask_once
        winner, held, told = ask(spec, population)
        margin, meaning = estimated_margin(spec.rule, held, ballots)
        return (
            head(spec, winner, ballots)
            | told
            | {
                "decisive_margin": decisive_margin(spec, ballots, population.metadata, held),
                "assured": assured(spec, winner, ballots, population.metadata, held),
                "estimated_margin": margin,
                "estimated_margin_is": meaning,
                "rounds": round_documents(spec, held),
            }
        )

    def _ask_in_rounds(self, spec: ElectionSpec, population: Population) -> _Answered:
        """Ask voters anew for every question of the rule."""
        rounds = rounds_for(spec, population.rows, population.public_seed)
        winner, held = conduct(spec.rule.rounds(), AskInRounds(rounds, population, spec.question))
        shares = rounds.shares if rounds.share_voters else None
        return (
            winner,
            held,
            {
                "asked": {
                    "randomizer": spec.privacy.randomizer,
                    "rounds": spec.privacy.rounds,
                    "shares": shares,
                    "public_seed": rounds.seed.hex(),
                }
            },
        )

    def _ask_once(self, spec: ElectionSpec, population: Population) -> _Answered:
        """Ask everybody once, or read what was reported, and let the rule ask of that."""
        seed = bytes(32) if spec.collected is not None else population.public_seed
        release = release_for(spec, population.rows, seed, population.metadata)
        winner, held = self._count_release(spec, release, population)
        seeds = {} if spec.collected is not None else {"public_seed": seed.hex()}
        asked = {"randomizer": [*map(name_of, release.mechanisms.values())], "reason": release.reason}
        return winner, held, {"asked": asked | seeds} | release.reading

    def _count_release(
        self, spec: ElectionSpec, release: Release, population: Population
    ) -> tuple[int | None, tuple[Round, ...]]:
        """Add the reports of a release up, and count by them."""
        if spec.rule.candidates == 1:
            return 0, ()
        partly = any(map(sums_when_asked, release.mechanisms.values()))
        reports: Population | None = None
        if spec.collected is not None:
            sums, reports = population.ask(release.collected(), "count reports"), population
        elif partly or self.writes_reports(spec):
            sums = population.collect(release.asks(spec.question), "randomize")
            reports = population.collected() if partly else None
        else:
            sums = population.ask(release.asks(spec.question), "randomize")
        named = dict(zip(release.mechanisms, sums, strict=True))
        answer = AskRelease(release.mechanisms, named, reports, population.rows)
        return conduct(spec.rule.count(), answer)

    def documents(self, document: dict[str, Any]) -> dict[str, bytes]:
        """Return the result, and a study by itself."""
        if "study" in document["result"]:
            return {"result.json": encode(document), "study.json": encode(document["result"]["study"])}
        return {"result.json": encode(document)}

    def page(self, document: dict[str, Any]) -> bytes:
        """Return the page of an election, or of a study."""
        from jobs.page.page import (  # noqa: PLC0415  its figures take half a second to import
            render_election,
            render_election_study,
        )

        return render_election_study(document) if "study" in document["result"] else render_election(document)
