"""The spec of a survey."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from jobs.spec import Epsilon, Spec, Table, Text
from udfs.asking import Ask
from udfs.categories import CategoryQuestion
from udfs.collected import Collected, CollectedReports
from udfs.errors import SpecError
from udfs.mechanisms import MECHANISMS
from udfs.randomizer import PureRandomizer


def _as_category(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


Category = Annotated[bool | int | float | str, BeforeValidator(_as_category)]


class AttributeTable(Table):
    """One attribute: what is asked, and how the answer is protected."""

    categories: Annotated[tuple[Category, ...], BeforeValidator(_as_tuple)] = Field(min_length=1)
    epsilon: Epsilon = Field(description="What one answer may give away: e**epsilon bounds every ratio.")
    mechanism: Literal["randomized-response", "subset-selection"] = "randomized-response"
    missing: Literal["none", "category", "random"] = Field(
        "none", description="A null is refused, is one more cell, or is a uniform answer, randomized."
    )
    undeclared: Literal["refuse", "missing"] = Field(
        "refuse", description="An answer outside the categories is refused, or is missing."
    )


class CollectedTable(Table):
    """The columns already hold reports: nothing is drawn, and nothing is charged."""

    design: Literal["randomized-response"] = Field(description="Reports of the attributes' mechanisms.")


class SurveySpec(Spec):
    """A survey: proportions of any number of attributes."""

    job: Literal["survey"]
    attributes: dict[Text, AttributeTable] = Field(min_length=1)
    collected: CollectedTable | None = None

    @model_validator(mode="after")
    def _build_every_ask(self) -> Self:
        for name in self.attributes:
            self.question(name)
            try:
                self.randomizer(name)
            except SpecError as error:  # so small an epsilon that nothing could be estimated
                raise SpecError(f"attributes.{name}.epsilon", error.must, error.got, error.remedy) from None
        if self.population.id in self.attributes:
            raise SpecError("population.id", "the column of ids must not be an attribute", self.population.id)
        return self

    def question(self, name: str) -> CategoryQuestion:
        """Return the question of an attribute."""
        table = self.attributes[name]
        return CategoryQuestion(name, table.categories, table.missing, table.undeclared)

    def randomizer(self, name: str) -> PureRandomizer:
        """Return the randomizer of an attribute."""
        table = self.attributes[name]
        return MECHANISMS[table.mechanism](self.question(name).cells, table.epsilon)

    def asks(self) -> list[Ask]:
        """Return what everybody is asked, in the spec's order."""
        if self.collected is None:
            return [(self.question(name), self.randomizer(name)) for name in self.attributes]
        return [
            (CollectedReports(self.question(name), self.randomizer(name)), Collected(self.randomizer(name)))
            for name in self.attributes
        ]
