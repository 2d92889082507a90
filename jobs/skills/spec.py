"""The spec of a private k-d tree of skills."""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, model_validator

from jobs.skills.budget import LevelBudget, split_budget
from jobs.skills.key_files import read_public
from jobs.skills.study_spec import SkillsStudyTable
from jobs.skills.tree import MOST_COUNTERS, MOST_DEPTH, Shape
from jobs.spec import Epsilon, Spec, Table, Text, as_tuple
from udfs.errors import SpecError
from udfs.skills import SkillsQuestion
from udfs.threshold import ThresholdKey

MOST_BINS, MOST_HOLDERS = 1000, 1000
_EXACTLY = Context(prec=10_000, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Doubles and halves any epsilon that a spec can hold without rounding."""
WORKERS_A_TASK, BLOCKS_A_TASK = 1024, 1
"""A worker's ciphertexts take some milliseconds; a task should take seconds."""
MOST_WORKERS_A_TASK = 2048
"""Larger row groups are cut: else one of a million workers would be one task, of an hour."""


def _as_bound(value: Any) -> float:
    known = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    number = float(value) if known else math.nan
    if not math.isfinite(number):
        raise SpecError("", "must be a finite number", f"{value!r}"[:80])
    return number + 0.0


def _as_share(value: Any) -> Decimal:
    known = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    share = Decimal(str(value) if isinstance(value, float) else value) if known else Decimal("NaN")
    if not (share.is_finite() and 0 < share < 1):
        raise SpecError("counts_share", "must be a number between 0 and 1", f"{value!r}"[:80])
    return share


def _distinct(columns: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(columns)) != len(columns):
        raise SpecError("", "each dimension must stand once", f"{len(columns)} of {len(set(columns))} kinds")
    return columns


Bound = Annotated[float, BeforeValidator(_as_bound, json_schema_input_type=float)]
Share = Annotated[
    Decimal,
    BeforeValidator(_as_share, json_schema_input_type=float),
    PlainSerializer(str, return_type=str),
]


class SkillsTable(Table):
    """What the tree cuts, and how deep."""

    dimensions: Annotated[
        tuple[Text, ...], BeforeValidator(as_tuple), Field(min_length=1), AfterValidator(_distinct)
    ] = Field(
        description="Columns of skills, in the order in which levels cut them; from the last on, the first again."
    )
    domain: Annotated[tuple[Bound, Bound], BeforeValidator(as_tuple)] = Field(
        (0.0, 1.0), description="The least and the greatest skill, both included."
    )
    bins: int = Field(10, ge=2, le=MOST_BINS, description="Bins of a node's histogram, of equal widths.")
    depth: int = Field(6, ge=0, le=MOST_DEPTH, description="So many times the root's box is cut.")
    min_count: int = Field(0, ge=0, description="A node with a lower noisy count is not cut.")
    counts_share: Share = Field(
        Decimal("0.7"), description="The part of epsilon for counts; the rest is for medians."
    )
    allocation: Literal["quadtree", "tree"] = Field(
        "quadtree",
        description="How counts' epsilon grows from level to level: \"quadtree\", the paper's, by 2^(1/3);"
        ' "tree", the optimum for d dimensions, by 2^((1 - 1/d)/3).',
    )

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        low, high = self.domain
        if not low < high or not math.isfinite(high - low):
            raise SpecError("domain", "must rise", f"{low} to {high}")
        if 2**self.depth * (self.bins + 2) > MOST_COUNTERS:
            raise SpecError(
                "depth",
                f"a level must have at most {MOST_COUNTERS:,} counters",
                f"{2**self.depth} nodes of {self.bins} bins",
                "cut less deep",
            )
        return self


class PrivacyTable(Table):
    """How workers are protected."""

    epsilon: Epsilon
    neighbours: Literal["replace", "add-or-remove"] = Field(
        "replace",
        description="What epsilon is for: one worker replaced by another, which is what the ledger is charged, or one"
        " more or less, of which it is charged twice as much.",
    )
    collusion: int = Field(
        0, ge=0, description="So many participants may tell each other their noise: the rest must suffice."
    )
    dropout: int = Field(
        0, ge=0, description="So many participants may be missing; with more, nothing is opened."
    )
    participant: Literal["worker", "block"] = Field(
        "worker", description="Who encrypts: every worker, or a steward for a whole block of rows."
    )


class KeysTable(Table):
    """Who can open the sums."""

    public: Text | None = Field(None, description="The public file of `canvass keys new`.")
    shares: Annotated[tuple[Text, ...] | None, BeforeValidator(as_tuple)] = Field(
        None, description="Share files of holders who are embedded in the job, for trials."
    )
    mailbox: Text | None = Field(None, description="A folder that holders elsewhere read requests from.")
    wait_s: float = Field(3600.0, gt=0, description="mailbox: wait so long for holders to answer.")
    holders: int | None = Field(
        None, ge=1, le=MOST_HOLDERS, description="Keys for this job alone: shared among so many."
    )
    threshold: int | None = Field(None, ge=1, description="Of whom so many can open a sum.")
    bits: int | None = Field(None, ge=512, le=8192, description="The bits of such keys; by default 2048.")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        trial = self.holders is not None or self.threshold is not None
        if trial == (self.public is not None):
            raise SpecError(
                "keys",
                "must name a public file, or how many holders keys for this job alone are dealt to",
                "both" if trial else "neither",
                'set public = "keys/public.json", or holders and threshold',
            )
        if self.public is not None and (self.shares is None) == (self.mailbox is None):
            raise SpecError(
                "shares",
                "must be given, or mailbox: holders are embedded or elsewhere",
                "both" if self.shares is not None else "neither",
            )
        if trial:
            self._check_trial()
        elif self.bits is not None:
            raise SpecError("bits", "are those of the public file", "others beside it", "take them out")
        return self

    def _check_trial(self) -> None:
        if self.shares is not None or self.mailbox is not None:
            where = "shares" if self.shares is not None else "mailbox"
            raise SpecError(where, "must go with a public file", "keys for this job alone")
        if self.holders is None or self.threshold is None:
            missing = "holders" if self.holders is None else "threshold"
            raise SpecError(missing, "must be given where keys are dealt to holders by the job", "nothing")
        if self.threshold > self.holders:
            raise SpecError(
                "threshold",
                "must be at most as many as hold shares",
                f"{self.threshold} of {self.holders}",
            )
        if self.modulus_bits % 2:
            raise SpecError("bits", "must be even", f"{self.bits}")

    @property
    def modulus_bits(self) -> int:
        """The bits of keys that the job deals itself."""
        return 2048 if self.bits is None else self.bits

    @property
    def where(self) -> Literal["trial", "embedded", "mailbox"]:
        """Where holders are: in the job, with a key that it deals itself or with share files; or behind a mailbox."""
        if self.public is None:
            return "trial"
        return "embedded" if self.mailbox is None else "mailbox"


class SkillsSpec(Spec):
    """A balanced k-d tree of workers' skills, with counts, under distributed privacy."""

    job: Literal["skills"]
    skills: SkillsTable
    privacy: PrivacyTable
    keys: KeysTable | None = None
    study: SkillsStudyTable | None = None

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        if self.study is None and self.keys is None:
            raise SpecError("keys", "is required", "nothing", "name who can open the sums")
        if self.study is not None and not self.population.public:
            raise SpecError(
                "study", "a study compares with the truth, so its population must be public", "public = false"
            )
        if self.population.id is not None and self.population.id in self.skills.dimensions:
            raise SpecError("population.id", "the column of ids must hold no skill", self.population.id)
        _ = self.budget
        return self

    def canonical(self) -> dict[str, Any]:
        """Return the spec as JSON values: of keys that last, which one it is, and not where its files are.

        A job that went on under another key would have its first levels opened twice, and pay once.
        """
        found = super().canonical()
        if self.keys is not None:
            table = self.keys
            trial = {"holders": table.holders, "threshold": table.threshold, "bits": table.modulus_bits}
            key = trial if self.key is None else {"key_id": self.key.key_id}
            found["keys"] = {"where": table.where} | key
        return found

    @cached_property
    def key(self) -> ThresholdKey | None:
        """The public key that workers encrypt under, read once; None where the job deals its own.

        Raises
        ------
        ProtocolError
            Names the file that is no public key.
        """
        return read_public(self.keys.public) if self.keys is not None and self.keys.public else None

    @property
    def task_rows(self) -> int | None:
        """Rows of a task, at least: encryption takes far longer than reading."""
        if self.study is not None:
            return None
        return WORKERS_A_TASK if self.privacy.participant == "worker" else BLOCKS_A_TASK

    @property
    def unit_rows(self) -> int | None:
        """Rows of a task's smallest part, at most: a steward's block is never cut."""
        cut = self.study is None and self.privacy.participant == "worker"
        return MOST_WORKERS_A_TASK if cut else None

    @cached_property
    def question(self) -> SkillsQuestion:
        """What every worker is asked."""
        return SkillsQuestion(self.skills.dimensions, self.skills.domain)

    @property
    def shape(self) -> Shape:
        """The shape of the tree."""
        table = self.skills
        return Shape(table.dimensions, table.domain, table.bins, table.depth, table.min_count)

    @property
    def charge(self) -> Decimal:
        """Epsilon for a worker replaced: what the ledger is charged."""
        epsilon = self.privacy.epsilon
        return epsilon if self.privacy.neighbours == "replace" else _EXACTLY.multiply(epsilon, Decimal(2))

    @property
    def tree_epsilon(self) -> Decimal:
        """Epsilon for one worker more or less: what the levels share. Replacing is removing and adding."""
        epsilon = self.privacy.epsilon
        return _EXACTLY.multiply(epsilon, Decimal("0.5")) if self.privacy.neighbours == "replace" else epsilon

    @cached_property
    def budget(self) -> tuple[LevelBudget, ...]:
        """Each level's part of epsilon, root first."""
        table = self.skills
        return split_budget(
            self.tree_epsilon, table.depth, table.counts_share, table.allocation, len(table.dimensions)
        )

    def needed(self, participants: int) -> int:
        """Return how many noise shares suffice for the noise that is due.

        Raises
        ------
        SpecError
            Where so many may collude or be missing that hardly anybody is left.
        """
        parts = participants - self.privacy.collusion - self.privacy.dropout
        if parts < 1:
            raise SpecError(
                "privacy.collusion",
                "must, with privacy.dropout, leave participants whose noise suffices",
                f"{self.privacy.collusion} and {self.privacy.dropout} of {participants} {self.privacy.participant}s",
                "plan for fewer, or ask more",
            )
        return parts
