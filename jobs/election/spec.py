"""The spec of an election."""

from __future__ import annotations

import difflib
import unicodedata
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from jobs.election.rules import RULES, Scoring
from jobs.election.rules.rule import Rule
from jobs.election.study_spec import ElectionStudyTable
from jobs.election.surrogates import SURROGATES
from jobs.spec import Epsilon, PopulationTable, Spec, Table, Text, as_tuple
from udfs.ballots import BallotQuestion
from udfs.contests import MOST_IN_EVERY_SET
from udfs.errors import SpecError
from udfs.probability import parse_number


def _as_name(value: Any) -> str | int:
    """Return a candidate's name, with accents in the encoding that all names are brought to (NFC)."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise SpecError("", "must be text or a whole number", f"{type(value).__name__} {value!r}")
    if isinstance(value, int):
        return value
    if any(unicodedata.category(sign) == "Cc" for sign in value):
        raise SpecError("", "must be text without control characters", repr(value)[:80])
    return unicodedata.normalize("NFC", value)


def _known_rule(name: str) -> str:
    if name not in RULES:
        near = difflib.get_close_matches(name, RULES, 1)
        remedy = f'did you mean "{near[0]}"?' if near else "known are " + ", ".join(RULES)
        raise SpecError("", "must be a voting rule", repr(name)[:80], remedy)
    return name


def _as_probability(value: Any) -> Decimal:
    known = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    number = Decimal(str(value) if isinstance(value, float) else value) if known else Decimal("NaN")
    if not number.is_finite() or not _LEAST_FAILURE <= number < Decimal("0.5"):
        raise SpecError("failure_probability", "must be a number between 1e-100 and 1/2", f"{value}")
    return number


Name = Annotated[
    str | int, Field(union_mode="left_to_right"), BeforeValidator(_as_name, json_schema_input_type=str | int)
]
Names = Annotated[tuple[Name, ...], BeforeValidator(as_tuple)]
Failure = Annotated[Decimal, BeforeValidator(_as_probability), PlainSerializer(str, return_type=str)]
Weight = Annotated[
    Fraction,
    BeforeValidator(parse_number, json_schema_input_type=float | str),
    PlainSerializer(str, return_type=str),
]

RuleName = Annotated[
    str, AfterValidator(_known_rule), WithJsonSchema({"type": "string", "enum": list(RULES)})
]
_LEAST_FAILURE = Decimal("1e-100")
MOST_FOR_STV_MARGIN = 16
"""Of more candidates, finding the margin can take for ever; it is NP-hard."""
REPORT_COLUMNS = ("question", "answer", "bit", "first_choice_bit", "duels_bit")
"""What reports are called in their files: see `jobs.election.local`."""


class BallotsTable(PopulationTable):
    """Who votes, and where their ballots stand."""

    ranking: Text | None = Field(
        None, description="A list column, best first; a list of lists where ranks may be shared."
    )
    ranks: Annotated[tuple[Text, ...] | None, BeforeValidator(as_tuple)] = Field(
        None, description="Columns, one a rank, best first."
    )

    @model_validator(mode="after")
    def _one_layout(self) -> Self:
        if self.ranking is not None and self.ranks is not None:
            raise SpecError(
                "ranks", "must not stand beside ranking: ballots have one layout", "both", "keep one"
            )
        if self.ranks is not None and (not self.ranks or len(set(self.ranks)) != len(self.ranks)):
            raise SpecError("ranks", "must be columns that differ", f"{len(self.ranks)} columns")
        return self


class ElectionTable(Table):
    """Who stands, and how the winner is found."""

    candidates: Names = Field(min_length=1, description="Names or numbers; also the tie order.")
    rule: RuleName
    weights: Annotated[tuple[Weight, ...] | None, BeforeValidator(as_tuple)] = Field(
        None, description="scoring: points by place, best first."
    )
    tie_order: Annotated[tuple[Name, ...] | None, BeforeValidator(as_tuple)] = Field(
        None, description="All candidates: of a tie, whoever stands first here is the best."
    )
    invalid: Literal["truncate", "blank", "refuse"] = Field(
        "truncate",
        description="An overvote, a repeat or an unknown name: the ballot is cut there, is blank, or is refused.",
    )
    shared: Literal["auto", "overvote", "tie"] = Field(
        "auto",
        description='A rank of several: an overvote, or a tie; "auto": an overvote to plurality, runoff and STV.',
    )

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if len(set(self.candidates)) != len(self.candidates):
            twice = [str(name) for name, times in Counter(self.candidates).items() if times > 1]
            raise SpecError("candidates", "each candidate must stand once", f"{', '.join(twice)} twice")
        if self.tie_order is not None and Counter(self.tie_order) != Counter(self.candidates):
            ours, theirs = Counter(self.candidates), Counter(self.tie_order)
            odd = sorted({str(name) for name in (ours - theirs) | (theirs - ours)})
            raise SpecError(
                "tie_order", "must hold all candidates once", f"{', '.join(odd)} in one of the two alone"
            )
        if (self.weights is None) == (self.rule == "scoring"):
            raise SpecError(
                "weights",
                "must be given for scoring, and for no other rule",
                f"rule {self.rule} {'without' if self.weights is None else 'with'} them",
                "give one a place, best first" if self.weights is None else "take them out",
            )
        if self.weights is not None:
            self._check_weights(self.weights)
        return self

    def _check_weights(self, weights: tuple[Fraction, ...]) -> None:
        if len(weights) != len(self.candidates):
            raise SpecError(
                "weights",
                "must be as many as there are candidates, one a place",
                f"{len(weights)} for {len(self.candidates)}",
            )
        if any(later > sooner for sooner, later in pairwise(weights)):
            raise SpecError("weights", "must not rise from place to place", "weights that rise")
        if len(weights) > 1 and weights[0] == weights[-1]:
            raise SpecError("weights", "must tell the first place from the last", "equal weights")


class PrivacyTable(Table):
    """How ballots are protected."""

    model: Literal["central", "local", "interactive"]
    epsilon: Epsilon
    failure_probability: Failure = Field(
        Decimal("0.05"), description="The decisive margin is where the answer is right but this often."
    )
    randomizer: Literal["auto", "ball", "sampled", "ellipsoid", "subset-selection"] = Field(
        "auto", description='local and interactive; "auto": the least variance for what is asked.'
    )
    rounds: Literal["share-voters", "share-budget"] = Field(
        "share-voters",
        description="interactive: each voter answers in one round, with all of epsilon, or in all, with a part.",
    )
    shares: Annotated[tuple[int, ...] | None, BeforeValidator(as_tuple)] = Field(
        None, description="share-voters: the parts of the voters that each round gets."
    )
    selection: Literal["margin", "exponential"] = Field(
        "margin", description="central: exactly epsilon-private, or the paper's weights."
    )
    score: Literal["exact", "polynomial"] = Field(
        "exact", description="central: the margin of victory, or a score that takes polynomial time."
    )


class CollectedTable(Table):
    """The rows hold reports on ballots, as this project writes them."""

    design: Literal["ballots"]


class ElectionSpec(Spec):
    """An election: one winner, by one rule, in one model of privacy."""

    job: Literal["election"]
    population: BallotsTable
    election: ElectionTable
    privacy: PrivacyTable
    collected: CollectedTable | None = None
    study: ElectionStudyTable | None = None

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        table, privacy = self.population, self.privacy
        if self.collected is None and table.ranking is None and table.ranks is None:
            raise SpecError(
                "population.ranking",
                "is required, or population.ranks",
                "nothing",
                "name the ballots' columns",
            )
        if self.collected is not None and (table.ranking is not None or table.ranks is not None):
            raise SpecError(
                "population.ranking", "is not read where reports were collected", "a column", "take it out"
            )
        if table.id is not None and table.id in (table.ranking, *(table.ranks or ())):
            raise SpecError("population.id", "the column of ids must hold no ranks", table.id)
        if table.id in REPORT_COLUMNS:
            raise SpecError(
                "population.id", "must not be called what reports are", table.id, "rename the column"
            )
        if self.collected is not None and privacy.model != "local":
            raise SpecError("privacy.model", "collected reports are local", privacy.model, 'set "local"')
        if privacy.score == "polynomial" and type(self.rule) not in SURROGATES:
            known = ", ".join(kind.name for kind in SURROGATES)
            raise SpecError(
                "privacy.score", f"must be exact but for {known}", f"rule {self.rule.name}", 'set "exact"'
            )
        if privacy.shares is not None:
            self._check_shares(privacy.shares)
        if self.collected is None:
            _ = self.question
        if self.study is not None:
            self._check_study(self.study)
        exact = "central" in self._models and self.privacy.score == "exact"
        if exact and self.election.rule == "stv" and len(self.election.candidates) > MOST_FOR_STV_MARGIN:
            raise SpecError(
                "election.candidates",
                f"the exact margin of STV is searched for at most {MOST_FOR_STV_MARGIN}",
                f"{len(self.election.candidates)}",
                'ask in rounds: privacy.model = "interactive"',
            )
        everything = "local" in self._models and self.election.rule == "stv" and self.collected is None
        if everything and len(self.election.candidates) > MOST_IN_EVERY_SET:
            raise SpecError(
                "election.candidates",
                f"at most {MOST_IN_EVERY_SET} can be asked about in every set at once",
                f"{len(self.election.candidates)}",
                'ask in rounds: privacy.model = "interactive"',
            )
        return self

    def _check_study(self, study: ElectionStudyTable) -> None:
        """Refuse what a study cannot follow over its grid."""
        privacy = self.privacy
        if not self.population.public:
            raise SpecError(
                "study", "a study compares with the truth, so its population must be public", "public = false"
            )
        if self.collected is not None:
            raise SpecError("study", "a study draws reports of its own", "collected reports")
        if privacy.randomizer not in ("auto", "ball"):
            raise SpecError(
                "study", "needs a randomizer for every rule", privacy.randomizer, 'use "auto" or "ball"'
            )
        if privacy.shares is not None or privacy.score != "exact":
            raise SpecError("study", "sets voters' shares and scores by itself", "privacy.shares or .score")

    @property
    def _models(self) -> tuple[str, ...]:
        return (self.privacy.model,) if self.study is None else self.study.mechanisms

    def _check_shares(self, shares: tuple[int, ...]) -> None:
        rounds = self.rule.most_rounds
        if self.privacy.model != "interactive" or self.privacy.rounds != "share-voters":
            raise SpecError(
                "privacy.shares",
                "are for voters who are shared among rounds",
                f"model {self.privacy.model}, rounds {self.privacy.rounds}",
                'take them out, or set model = "interactive" and rounds = "share-voters"',
            )
        if len(shares) != rounds or any(share < 1 for share in shares) or sum(shares) > 1 << 40:
            raise SpecError(
                "privacy.shares",
                f"must be {rounds} whole numbers above 0, one a round, and at most 2**40 together",
                ", ".join(map(str, shares[:20])) or "none",
            )

    @property
    def order(self) -> tuple[str | int, ...]:
        """The candidates in the tie order: how they are numbered."""
        return self.election.tie_order or self.election.candidates

    @cached_property
    def rule(self) -> Rule:
        """The voting rule."""
        kind, candidates = RULES[self.election.rule], len(self.election.candidates)
        return (
            kind(candidates) if self.election.weights is None else Scoring(candidates, self.election.weights)
        )

    @property
    def shared(self) -> Literal["overvote", "tie"]:
        """What a rank of several is."""
        if self.election.shared != "auto":
            return self.election.shared
        return "overvote" if self.rule.counts_first_choices else "tie"

    @cached_property
    def question(self) -> BallotQuestion:
        """What every voter is asked, whose answer is their ballot."""
        table = self.population
        columns = table.ranks or ((table.ranking,) if table.ranking else ())
        layout: Literal["list", "ranks"] = "ranks" if table.ranks else "list"
        return BallotQuestion(columns, self.order, layout, self.election.invalid, self.shared)
