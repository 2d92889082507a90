"""How reports that are here already were made: one table for each design of the field."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from jobs.spec import Table, Text, as_tuple
from udfs import field_designs
from udfs.errors import SpecError
from udfs.field_designs import FieldDesign
from udfs.probability import parse_probability


def _as_probability(value: Any) -> Fraction:
    return parse_probability(value, "")


Probability = Annotated[
    Fraction,
    BeforeValidator(_as_probability, json_schema_input_type=float | str),
    PlainSerializer(str, return_type=str),
]
"""A number, or text such as "1/6": exactly as written."""


class _Collected(Table):
    """What all designs have: nothing is drawn, and nothing is charged."""

    weight: Text | None = Field(None, description="The column of weights.")
    strata: Text | None = Field(None, description="The column of strata: estimated within, and combined.")
    groups: Text | None = Field(None, description="The column of groups: estimated each by itself.")
    denominator: Literal["n-1", "n"] = Field(
        "n-1", description="What variances divide by: n is maximum likelihood's, n-1 is unbiased."
    )

    @model_validator(mode="after")
    def _columns_apart(self) -> Self:
        columns = [one for one in (self.weight, self.strata, self.groups) if one is not None]
        if len(set(columns)) != len(columns):
            twice = next(key for key in ("groups", "strata") if columns.count(getattr(self, key)) > 1)
            raise SpecError(
                twice, "weights, strata and groups must be different columns", getattr(self, twice)
            )
        return self


class OwnReports(_Collected):
    """Reports of the attributes' own mechanisms, as this project writes them."""

    design: Literal["randomized-response"]


class FieldTable(_Collected):
    """A classical design, the same for all attributes."""

    reports: Annotated[tuple[int | str | bool, ...] | None, BeforeValidator(as_tuple)] = Field(
        None, description="The reports that can be, in the design's order; by default the categories."
    )

    def build(self) -> FieldDesign:
        """Return the design."""
        raise NotImplementedError


class Warner(FieldTable):
    """A card asks for the trait with probability p, else for its absence."""

    design: Literal["warner"]
    p: Probability

    def build(self) -> FieldDesign:
        """Return the design."""
        return field_designs.warner(self.p)


class ForcedResponse(FieldTable):
    """The truth with probability p, else what the die says."""

    design: Literal["forced-response"]
    p: Probability
    forced_yes: Probability
    forced_no: Probability

    def build(self) -> FieldDesign:
        """Return the design."""
        return field_designs.forced_response(self.p, self.forced_yes, self.forced_no)


class UnrelatedQuestion(FieldTable):
    """The sensitive question with probability p, else one that a known share says yes to."""

    design: Literal["unrelated-question"]
    p: Probability
    alpha: Probability

    def build(self) -> FieldDesign:
        """Return the design."""
        return field_designs.unrelated_question(self.p, self.alpha)


class Crosswise(FieldTable):
    """Are the answers to the sensitive and to an innocuous question the same?"""

    design: Literal["crosswise"]
    p: Probability

    def build(self) -> FieldDesign:
        """Return the design."""
        return field_designs.crosswise(self.p)


class Triangular(FieldTable):
    """A triangle from those with the sensitive or an innocuous trait."""

    design: Literal["triangular"]
    p: Probability

    def build(self) -> FieldDesign:
        """Return the design."""
        return field_designs.triangular(self.p)


class Mangat(FieldTable):
    """Carriers say yes; others do so with probability 1 - p."""

    design: Literal["mangat"]
    p: Probability

    def build(self) -> FieldDesign:
        """Return the design."""
        return field_designs.mangat(self.p)


class Kuk(FieldTable):
    """How many red cards were drawn from one deck or the other."""

    design: Literal["kuk"]
    p_sensitive: Probability
    p_other: Probability
    repetitions: int = Field(1, ge=1, le=field_designs.MOST_REPETITIONS)

    def build(self) -> FieldDesign:
        """Return the design."""
        return field_designs.kuk(self.p_sensitive, self.p_other, self.repetitions)


Row = Annotated[tuple[Probability, ...], BeforeValidator(as_tuple)]


class Matrix(FieldTable):
    """Any matrix: row u, column v is the probability of report u for answer v."""

    design: Literal["matrix"]
    rows: Annotated[tuple[Row, ...], BeforeValidator(as_tuple)] = Field(min_length=2)

    def build(self) -> FieldDesign:
        """Return the design."""
        return field_designs.matrix(self.rows)


class TwoSamplesTable(Table):
    """Two samples with chances of their own: how many carry the trait, and how many cheat."""

    weight: ClassVar[None] = None
    strata: ClassVar[None] = None
    groups: ClassVar[None] = None
    denominator: ClassVar[str] = "n-1"

    design: str
    sample: Text = Field(description="The column that says which sample a respondent was in.")
    p: dict[Text, Probability] = Field(description="The chance of each sample, by its value in that column.")

    @model_validator(mode="after")
    def _two(self) -> Self:
        if len(self.p) != 2:
            raise SpecError("p", "must be of two samples", f"{len(self.p)}")
        if len(set(self.p.values())) != len(self.p):
            raise SpecError("p", "the two samples must have different chances", "one chance")
        return self


class StochasticLieDetector(TwoSamplesTable):
    """Carriers say yes; others say no with their sample's p, else yes."""

    design: Literal["stochastic-lie-detector"]


class CheaterDetection(TwoSamplesTable):
    """A forced yes with their sample's p, else the truth; cheaters say no."""

    design: Literal["cheater-detection"]


CollectedTable = Annotated[
    OwnReports
    | Warner
    | ForcedResponse
    | UnrelatedQuestion
    | Crosswise
    | Triangular
    | Mangat
    | Kuk
    | Matrix
    | StochasticLieDetector
    | CheaterDetection,
    Field(discriminator="design"),
]


def report_labels(table: FieldTable, categories: Sequence[Any], reports: int) -> tuple[Any, ...]:
    """Return the labels of a design's reports."""
    if table.reports is not None:
        if len(table.reports) != reports:
            raise SpecError("collected.reports", f"the design has {reports} reports", f"{len(table.reports)}")
        return table.reports
    if isinstance(table, Kuk) and reports != len(categories):
        return tuple(range(reports))
    if reports != len(categories):
        raise SpecError(
            "collected.reports", f"the design has {reports} reports, so they need labels", "nothing"
        )
    return tuple(categories)
