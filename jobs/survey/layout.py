"""How a survey's attributes are asked: which of them share a report, with what, and at which epsilon."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from jobs.survey.reconstruct import Axis
from jobs.survey.schemes import Schemes
from udfs.asking import Ask
from udfs.collected import Collected
from udfs.design import Counts
from udfs.errors import SpecError
from udfs.field_designs import FieldDesign
from udfs.plain import PlainAnswers
from udfs.sampled_response import SampledResponse
from udfs.tables import LARGEST_TABLE

LARGEST_DENSE = 4096
"""Rao and Scott's test needs the covariance of all cells of the table it is in."""
LARGEST_OF_SETS = 1024
"""Second moments of tables of sets are dense: larger tables need reports of one code."""


@dataclass(frozen=True)
class Unit:
    """One report of a respondent: to one attribute, or to several that share it.

    Parameters
    ----------
    name : str
        The attribute, or the name of the column of reports to several.
    axes : tuple of Axis
        One; where one attribute of several is reported on, one for each of these.
    asked : Ask
        What respondents are asked, or were.
    ask : Ask
        What rows are asked: the same, or where it was collected, what was reported.
    epsilon : Decimal
        What the report may give away; infinite where it hides nothing.
    reason : str
        Why it is asked like this.
    """

    name: str
    axes: tuple[Axis, ...]
    asked: Ask
    ask: Ask
    epsilon: Decimal
    reason: str

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that the report is to."""
        return tuple(name for axis in self.axes for name in axis.attributes)

    @property
    def mechanism(self) -> str:
        """What the attributes are asked with."""
        made_by = self._made_by
        return made_by.name if isinstance(made_by, FieldDesign | PlainAnswers) else str(made_by.mechanism)

    @property
    def _made_by(self) -> Any:
        """What made or makes the reports."""
        _, mechanism = self.asked
        return mechanism.design if isinstance(mechanism, Collected) else mechanism

    def counts_of(self, attribute: str, counts: Counts) -> Counts:
        """Return the part of the unit's counts that is to one attribute, or to all that share its axis."""
        mechanism = self._made_by
        if isinstance(mechanism, SampledResponse):
            return mechanism.counts_of(self.attributes.index(attribute), counts)
        return counts


@dataclass(frozen=True)
class Layout:
    """All that everybody is asked.

    Parameters
    ----------
    units : tuple of Unit
        In the spec's order of their first attributes.
    scheme : str, optional
        How attributes without an epsilon of their own share one.
    schemes : Schemes, optional
        What each way of sharing the whole epsilon predicts.
    """

    units: tuple[Unit, ...]
    scheme: str | None
    schemes: Schemes | None

    @property
    def asks(self) -> tuple[Ask, ...]:
        """What everybody is asked."""
        return tuple(unit.ask for unit in self.units)

    @property
    def epsilon(self) -> Decimal:
        """What all reports of a respondent may give away together."""
        return sum((unit.epsilon for unit in self.units), Decimal(0))

    def unit_of(self, attribute: str) -> Unit:
        """Return the unit that an attribute is in."""
        return next(unit for unit in self.units if attribute in unit.attributes)

    def axis_of(self, attribute: str) -> Axis:
        """Return the axis that an attribute is in."""
        return next(axis for axis in self.unit_of(attribute).axes if attribute in axis.attributes)

    def places(self, attributes: Iterable[str]) -> tuple[int, ...]:
        """Return the places of the units that hold some attributes, in order."""
        return tuple(sorted({self.units.index(self.unit_of(name)) for name in attributes}))

    def axes(self, places: Sequence[int]) -> tuple[Axis, ...]:
        """Return the axes of the table of some units."""
        return tuple(self.units[place].axes[0] for place in places)

    def check_outcome(self, where: str, attribute: str) -> None:
        """Refuse the outcome of a regression whose reports are not one of two codes."""
        unit = self.unit_of(attribute)
        if len(unit.attributes) > 1 or not unit.axes[0].design.one_code:
            raise SpecError(
                where,
                "must be an attribute with a report of its own, of one code",
                unit.mechanism if len(unit.attributes) == 1 else ", ".join(unit.attributes),
            )

    def check_table(self, where: str, attributes: Sequence[str], dense: bool = False) -> None:
        """Refuse a statistic whose table cannot be had, or is too large for what is `dense` in its cells."""
        places = self.places(attributes)
        if len(attributes) > 1 and any(len(self.units[place].axes) > 1 for place in places):
            raise SpecError(
                where,
                "attributes of which each respondent reports on one have no table",
                'scheme = "sample"',
                'set budget.scheme = "split" or "joint"',
            )
        axes = self.axes(places)
        if math.prod(axis.design.features for axis in axes) > LARGEST_TABLE:
            raise SpecError(
                where, f"a table has {LARGEST_TABLE:,} cells at most", "more", "take fewer attributes"
            )
        cells = math.prod(axis.design.cells for axis in axes)
        if dense and cells > LARGEST_DENSE:
            raise SpecError(
                where, f"a test of independence is of {LARGEST_DENSE:,} cells at most", f"{cells:,}"
            )
        if len(axes) > 1 and cells > LARGEST_OF_SETS and not all(axis.design.one_code for axis in axes):
            raise SpecError(
                where,
                f"a table of more than {LARGEST_OF_SETS:,} cells needs reports of one code each",
                f"{cells:,} cells",
                'set mechanism = "randomized-response" or "auto"',
            )
