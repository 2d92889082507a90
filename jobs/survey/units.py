"""Laying a survey out: which attributes share a report, with which design, and at which epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, cast

from jobs.survey.collected_spec import FieldTable, TwoSamplesTable, report_labels
from jobs.survey.layout import LARGEST_OF_SETS, Layout, Unit
from jobs.survey.reconstruct import Axis
from jobs.survey.schemes import SHARED_MECHANISMS, Schemes, predict_schemes
from udfs.asking import Ask
from udfs.categories import CategoryQuestion
from udfs.collected import Collected, CollectedReports, CollectedSets
from udfs.design import Design
from udfs.errors import SpecError
from udfs.field_designs import FieldDesign, with_nonresponse
from udfs.lookup import Category
from udfs.mechanisms import MECHANISMS, least_variance
from udfs.plain import PlainAnswers
from udfs.randomized_response import RandomizedResponse
from udfs.randomizer import Randomizer
from udfs.sampled_response import SampledResponse
from udfs.several import ProductQuestion, SideBySide

if TYPE_CHECKING:
    from jobs.survey.spec import SurveySpec


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
        scheme = str(spec.budget.scheme)
        if len(open_ones) == 1 and scheme in ("sample", "joint"):
            raise SpecError("budget.scheme", "several attributes must share it", f"one, {open_ones[0]}")
        scheme = scheme if len(open_ones) > 1 else "split"
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
    _check_shared(spec, names)
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
    together = {one: joint.of for joint in spec.joint for one in joint.of}
    for statistic in spec.statistics:
        if name in statistic.of and len(statistic.of) > 1:
            attributes = {other for one in statistic.of for other in together.get(one, (one,))}
            if math.prod(spec.question(one).cells for one in attributes) > LARGEST_OF_SETS:
                return True
    return False


def _check_shared(spec: SurveySpec, names: Sequence[str]) -> None:
    """Refuse mechanisms that no report to several attributes is made with."""
    for name in names:
        mechanism = spec.attributes[name].mechanism
        if mechanism not in SHARED_MECHANISMS:
            raise SpecError(
                f"attributes.{name}.mechanism",
                "one report to several attributes is randomized response's",
                mechanism,
                "leave it out",
            )


def _joint_unit(
    spec: SurveySpec, names: Sequence[str], epsilon: Decimal, where: tuple[str, str], reason: str
) -> Unit:
    """Return the unit of attributes whose product cell is randomized at once; `where` names both in errors."""
    _check_shared(spec, names)
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
    table, collected = spec.attributes[name], cast(FieldTable | TwoSamplesTable, spec.collected)
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
        labels, made_by = table.categories, PlainAnswers(2, collected.design)
        epsilon, cells = Decimal("Infinity"), 2
    try:
        reports = CategoryQuestion(name, labels, table.missing)
    except SpecError as error:  # the categories are sound: so it is the reports' own labels
        raise SpecError("collected.reports", error.must, error.got, error.remedy) from None
    ask: Ask = (CollectedReports(reports, made_by.label), Collected(made_by))
    return Unit(name, (Axis((name,), (cells,), made_by),), ask, ask, epsilon, "as the spec says")
