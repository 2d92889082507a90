"""The spec of a survey."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from jobs.spec import Epsilon, Spec, Table, Text, as_tuple
from jobs.survey.collected_spec import CollectedTable
from jobs.survey.consistency import check_consistency
from jobs.survey.layout import Layout
from jobs.survey.units import lay_out
from udfs.categories import CategoryQuestion
from udfs.errors import SpecError


def _as_category(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def _as_number(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal | int) and not isinstance(value, bool) else value


def _scores(categories: Sequence[Any]) -> tuple[float, ...]:
    """Return categories that are numbers as they are, and the places of others."""
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in categories)
    return tuple(map(float, categories if numbers else range(len(categories))))


Category = Annotated[bool | int | float | str, BeforeValidator(_as_category)]
Number = Annotated[float, BeforeValidator(_as_number), Field(allow_inf_nan=False)]
Names = Annotated[tuple[Text, ...], BeforeValidator(as_tuple)]
Categories = Annotated[tuple[Category, ...], BeforeValidator(as_tuple)]

Kind = Literal[
    "proportions",
    "entropy",
    "mutual-information",
    "chi-square",
    "g-squared",
    "pearson",
    "independence-test",
]
OF_ANY: tuple[str, ...] = ("proportions", "entropy")
"""Of any number of attributes together; all others are of two."""


class AttributeTable(Table):
    """One attribute: what is asked, and how the answer is protected."""

    categories: Categories = Field(min_length=1)
    epsilon: Epsilon | None = Field(
        None, description="What one answer may give away: e**epsilon bounds every ratio."
    )
    mechanism: Literal["auto", "randomized-response", "laplace", "subset-selection", "optimized-unary"] = (
        Field("randomized-response", description='"auto": the one with the least variance.')
    )
    missing: Literal["none", "category", "random"] = Field(
        "none", description="A null is refused, is one more cell, or is a uniform answer, randomized."
    )
    undeclared: Literal["refuse", "missing"] = Field(
        "refuse", description="An answer outside the categories is refused, or is missing."
    )


class JointTable(Table):
    """Attributes whose product cell is randomized at once: they have no epsilon of their own."""

    of: Names = Field(min_length=2)
    epsilon: Epsilon

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.of)) != len(self.of):
            raise SpecError("of", "each attribute must stand once", ", ".join(self.of))
        return self


class BudgetTable(Table):
    """One epsilon for all attributes that have none of their own."""

    epsilon: Epsilon
    scheme: Literal["auto", "split", "sample", "joint"] = Field(
        "auto",
        description="Equal parts for each attribute; all of it on one attribute, by chance; all of it on their"
        ' product cell; or "auto": what predicts the least variance.',
    )


class StatisticTable(Table):
    """A statistic of one attribute, or of several together."""

    kind: Kind
    of: Names = Field(min_length=1)
    scores: Annotated[
        tuple[Annotated[tuple[Number, ...], BeforeValidator(as_tuple)], ...] | None,
        BeforeValidator(as_tuple),
    ] = Field(
        None,
        description="pearson: a number for each category of both; by default the categories' own, or their places.",
    )

    @model_validator(mode="after")
    def _of_so_many(self) -> Self:
        if len(set(self.of)) != len(self.of):
            raise SpecError("of", "each attribute must stand once", ", ".join(self.of))
        if self.kind not in OF_ANY and len(self.of) != 2:
            raise SpecError("of", f"{self.kind} is of two attributes", f"{len(self.of)}")
        if self.scores is not None and self.kind != "pearson":
            raise SpecError("scores", "only pearson has scores", self.kind)
        return self


class RegressionTable(Table):
    """A logistic regression of a collected yes or no on columns that are no secret."""

    outcome: Text
    numbers: Names = Field((), description="Numeric columns, as they are.")
    factors: dict[Text, Categories] = Field(
        {}, description="Columns with their categories; the first is what the others are compared with."
    )


class SamplingTable(Table):
    """How many there are of whom the rows are a sample without replacement: standard errors heed it."""

    size: int | None = Field(None, ge=1, description="Everybody in the population.")
    strata: dict[Text, int] | None = Field(None, min_length=1, description="Everybody in each stratum.")

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.size is None) == (self.strata is None):
            raise SpecError("size", "give the size of the population, or of its strata", "both or neither")
        return self


class StudyTable(Table):
    """The survey's own experiment, on a population that is public: replications over a grid."""

    epsilons: Annotated[tuple[Epsilon, ...], BeforeValidator(as_tuple)] = Field(min_length=1)
    mechanisms: Annotated[
        tuple[Literal["randomized-response", "laplace", "subset-selection", "optimized-unary"], ...],
        BeforeValidator(as_tuple),
    ] = Field(min_length=1)
    replications: int = Field(ge=2, le=1_000_000)
    seed: int = Field(0, ge=0)


class SurveySpec(Spec):
    """A survey: proportions and statistics of any number of attributes."""

    job: Literal["survey"]
    attributes: dict[Text, AttributeTable] = Field(min_length=1)
    joint: Annotated[tuple[JointTable, ...], BeforeValidator(as_tuple)] = ()
    budget: BudgetTable | None = None
    statistics: Annotated[tuple[StatisticTable, ...], BeforeValidator(as_tuple)] = ()
    collected: CollectedTable | None = None
    regressions: Annotated[tuple[RegressionTable, ...], BeforeValidator(as_tuple)] = ()
    sampling: SamplingTable | None = None
    study: StudyTable | None = None

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        check_consistency(self)
        return self

    def at(self, epsilon: Decimal, mechanism: str, rows: int | None) -> SurveySpec:
        """Return the survey of one point of a study's grid; of `rows` respondents, who are all there are."""
        tables = {
            name: table.model_copy(update={"epsilon": epsilon, "mechanism": mechanism})
            for name, table in self.attributes.items()
        }
        sampling = None if rows is None else SamplingTable(size=rows)
        changed = {"attributes": tables, "study": None, "sampling": sampling}
        return SurveySpec.model_construct(**(dict(self) | changed))

    def question(self, name: str) -> CategoryQuestion:
        """Return the question of an attribute."""
        table = self.attributes[name]
        return CategoryQuestion(name, table.categories, table.missing, table.undeclared)

    def scores(self, table: StatisticTable) -> tuple[tuple[float, ...], ...]:
        """Return what a statistic counts the categories of each attribute as."""
        return table.scores or tuple(_scores(self.attributes[name].categories) for name in table.of)

    @cached_property
    def layout(self) -> Layout:
        """What everybody is asked, and which table each statistic needs."""
        if self.study is not None:
            return lay_out(self.at(self.study.epsilons[0], self.study.mechanisms[0], None))
        return lay_out(self)
