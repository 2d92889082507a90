"""How a survey's attributes are asked: which of them share a report, with what, and at which epsilon."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any, cast

from jobs.survey.collected_spec import FieldTable, TwoSamplesTable, report_labels
from jobs.survey.reconstruct import Axis
from jobs.survey.schemes import Schemes, predict_schemes
from udfs.asking import Ask
from udfs.categories import CategoryQuestion
from udfs.collected import Collected, CollectedReports, CollectedSets
from udfs.design import Counts, Design
from udfs.errors import SpecError
from udfs.field_designs import FieldDesign, with_nonresponse
from udfs.lookup import Category
from udfs.mechanisms import MECHANISMS, least_variance
from udfs.plain import PlainAnswers
from udfs.randomized_response import RandomizedResponse
from udfs.randomizer import Randomizer
from udfs.sampled_response import SampledResponse
from udfs.several import ProductQuestion, SideBySide
from udfs.tables import LARGEST_TABLE, CrossTable

if TYPE_CHECKING:
    from jobs.survey.spec import SurveySpec

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

    def table(self, places: tuple[int, ...]) -> CrossTable:
        """Return the table of reports of some units."""
        return CrossTable(places, tuple(axis.design.features for axis in self.axes(places)))

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


def lay_out(spec: SurveySpec) -> Layout:
    """Lay a survey out.

    Raises
    ------
    SpecError
        Where an attribute has no epsilon, or two; where a design cannot be built; where a statistic's table
        cannot be had.
    """
    if isinstance(spec.collected, FieldTable | TwoSamplesTable):
        if spec.joint or spec.budget:
            raise SpecError("collected.design", "has no joint reports and no budget", spec.collected.design)
        layout = Layout(tuple(_field_unit(spec, name) for name in spec.attributes), None, None)
    else:
        layout = _drawn(spec)
    asides = spec.collected and (spec.collected.weight or spec.collected.strata or spec.collected.groups)
    if asides and any(len(unit.axes) > 1 for unit in layout.units):
        raise SpecError(
            "collected",
            "has no weights, strata or groups where respondents report on one attribute of several",
            'scheme = "sample"',
        )
    for place, statistic in enumerate(spec.statistics):
        layout.check_table(f"statistics.{place}.of", statistic.of, statistic.kind == "independence-test")
    return layout


def _drawn(spec: SurveySpec) -> Layout:
    """Lay out what is drawn here, or was drawn by this project's own mechanisms."""
    joined = _joined(spec)
    open_ones = [
        name for name, table in spec.attributes.items() if table.epsilon is None and name not in joined
    ]
    if spec.budget is not None and not open_ones:
        raise SpecError("budget", "is for attributes without an epsilon of their own", "none of these")
    schemes = predict_schemes(spec, open_ones or list(spec.attributes), _total(spec))
    scheme = None
    units: dict[str, Unit] = {}
    if spec.budget is not None:
        scheme = str(spec.budget.scheme) if len(open_ones) > 1 else "split"
        scheme = schemes.best if scheme == "auto" else scheme
        for name in open_ones:
            units[name] = _budgeted(spec, open_ones, name, scheme, schemes, spec.budget.epsilon)
    for name, table in spec.attributes.items():
        if name in joined:
            joint, where = spec.joint[joined[name]], f"joint.{joined[name]}"
            units[name] = _joint_unit(
                spec, joint.of, joint.epsilon, (f"{where}.of", f"{where}.epsilon"), "joint, as the spec says"
            )
        elif table.epsilon is not None:
            units[name] = _single_unit(spec, name, table.epsilon, f"attributes.{name}.epsilon")
    unique = dict.fromkeys(units[name].name for name in spec.attributes)
    by_name = {unit.name: unit for unit in units.values()}
    shadowed = any(name not in by_name[unit.name].attributes for name, unit in units.items())
    if shadowed or spec.population.id in by_name:
        raise SpecError(
            "attributes", "must be named apart from the columns of joint reports", ", ".join(by_name)
        )
    return Layout(tuple(by_name[name] for name in unique), scheme, schemes)


def _joined(spec: SurveySpec) -> dict[str, int]:
    """Return the place of each joined attribute's joint; see that every attribute has one epsilon."""
    joined: dict[str, int] = {}
    for place, joint in enumerate(spec.joint):
        for name in joint.of:
            if name in joined:
                raise SpecError(f"joint.{place}.of", "an attribute can be in one joint", name)
            joined[name] = place
    for name, table in spec.attributes.items():
        if table.epsilon is not None and name in joined:
            raise SpecError(
                f"attributes.{name}.epsilon", "is that of its joint", str(table.epsilon), "leave it out"
            )
        if table.epsilon is None and name not in joined and spec.budget is None:
            raise SpecError(f"attributes.{name}.epsilon", "is required", "nothing", "or give a budget")
    return joined


def _total(spec: SurveySpec) -> Decimal:
    """Return the epsilon that the spec gives to the attributes that could share it."""
    if spec.budget is not None:
        return spec.budget.epsilon
    own = sum((table.epsilon for table in spec.attributes.values() if table.epsilon), Decimal(0))
    return own + sum((joint.epsilon for joint in spec.joint), Decimal(0))


def _budgeted(
    spec: SurveySpec, names: Sequence[str], name: str, scheme: str, schemes: Schemes, epsilon: Decimal
) -> Unit:
    """Return the unit of an attribute that shares the budget."""
    reason = f"{scheme}: {schemes.reason(scheme)}"
    if scheme == "split":
        part = (epsilon / len(names)).quantize(Decimal(1).scaleb(epsilon.adjusted() - 20), ROUND_FLOOR)
        return _single_unit(spec, name, part if len(names) > 1 else epsilon, "budget.epsilon", reason)
    if scheme == "joint":
        return _joint_unit(spec, names, epsilon, ("budget.scheme", "budget.epsilon"), reason)
    questions = tuple(spec.question(one) for one in names)
    question = SideBySide(" or ".join(names), questions)
    try:
        mechanism = SampledResponse(question.shape, epsilon)
    except SpecError as error:
        raise SpecError("budget.epsilon", error.must, error.got, error.remedy) from None
    axes = tuple(
        Axis((one.column,), (one.cells,), design)
        for one, design in zip(questions, mechanism.designs, strict=True)
    )
    asked: Ask = (question, mechanism)
    return Unit(question.name, axes, asked, _asked_here(spec, asked), epsilon, reason)


def _single_unit(spec: SurveySpec, name: str, epsilon: Decimal, where: str, reason: str = "") -> Unit:
    """Return the unit of an attribute that is randomized on its own; `where` says so much epsilon."""
    question, table = spec.question(name), spec.attributes[name]
    try:
        if table.mechanism == "auto":
            randomizer, why = least_variance(question.cells, epsilon, _needs_codes(spec, name))
        else:
            randomizer, why = MECHANISMS[table.mechanism](question.cells, epsilon), "as the spec says"
    except SpecError as error:  # so small an epsilon that nothing could be estimated
        raise SpecError(where, error.must, error.got, error.remedy) from None
    spent = getattr(randomizer, "true_epsilon", randomizer.epsilon)
    axis = Axis((name,), (question.cells,), randomizer)
    asked: Ask = (question, randomizer)
    return Unit(name, (axis,), asked, _asked_here(spec, asked), spent, f"{why}; {reason}" if reason else why)


def _asked_here(spec: SurveySpec, asked: Ask) -> Ask:
    """Return what rows are asked: what respondents are, or where reports are here already, these."""
    question, mechanism = asked
    if spec.collected is None:
        return asked
    reading = Collected(cast(Design, mechanism))
    if not isinstance(question, CategoryQuestion):
        reports = CategoryQuestion(question.name, cast(tuple[Category, ...], question.labels))
        return CollectedReports(reports, mechanism.label), reading
    if isinstance(mechanism, Randomizer) and not mechanism.one_code:
        return CollectedSets(question, mechanism.label, mechanism), reading
    return CollectedReports(question, mechanism.label), reading


def _needs_codes(spec: SurveySpec, name: str) -> bool:
    """Tell whether an attribute is in a table that sets would make too large."""
    return any(
        math.prod(spec.question(one).cells for one in statistic.of) > LARGEST_OF_SETS
        for statistic in spec.statistics
        if name in statistic.of and len(statistic.of) > 1
    )


def _joint_unit(
    spec: SurveySpec, names: Sequence[str], epsilon: Decimal, where: tuple[str, str], reason: str
) -> Unit:
    """Return the unit of attributes whose product cell is randomized at once; `where` names both in errors."""
    key = where[0]
    try:
        question = ProductQuestion(" x ".join(names), tuple(spec.question(name) for name in names))
        key = where[1]
        randomizer = RandomizedResponse(question.cells, epsilon)
    except SpecError as error:
        raise SpecError(key, error.must, error.got, error.remedy) from None
    axis = Axis(tuple(names), question.shape, randomizer)
    asked: Ask = (question, randomizer)
    return Unit(question.name, (axis,), asked, _asked_here(spec, asked), epsilon, reason)


def _field_unit(spec: SurveySpec, name: str) -> Unit:
    """Return the unit of an attribute that was asked with a design of the field."""
    table, collected = spec.attributes[name], spec.collected
    where = f"attributes.{name}"
    for key in ("epsilon", "mechanism", "undeclared"):
        if key in table.model_fields_set:
            raise SpecError(
                f"{where}.{key}", "is the design's, as collected says", "one more", "leave it out"
            )
    if table.missing == "random":
        raise SpecError(
            f"{where}.missing", "nothing was drawn for missing reports", '"random"', 'set "category"'
        )
    if isinstance(collected, FieldTable):
        design, nonresponse = collected.build(), table.missing == "category"
        if design.cells != len(table.categories):
            raise SpecError(
                f"{where}.categories", f"the design is of {design.cells}", f"{len(table.categories)}"
            )
        labels = report_labels(collected, table.categories, design.features)
        design = with_nonresponse(design) if nonresponse else design
        made_by: FieldDesign | PlainAnswers = design
        epsilon, cells = design.epsilon, design.cells
    else:
        if len(table.categories) != 2 or table.missing != "none":
            raise SpecError(where, "two samples are asked for a yes or no, and all must answer", "otherwise")
        labels, made_by, epsilon, cells = table.categories, PlainAnswers(2), Decimal("Infinity"), 2
    try:
        reports = CategoryQuestion(name, labels, table.missing)
    except SpecError as error:  # the categories are sound: so it is the reports' own labels
        raise SpecError("collected.reports", error.must, error.got, error.remedy) from None
    ask: Ask = (CollectedReports(reports, made_by.label), Collected(made_by))
    return Unit(name, (Axis((name,), (cells,), made_by),), ask, ask, epsilon, "as the spec says")
