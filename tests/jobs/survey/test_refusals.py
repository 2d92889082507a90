"""Every refusal of a survey's spec names the key that must be changed."""

from __future__ import annotations

from copy import deepcopy
from decimal import Decimal
from typing import Any

import pytest

from jobs.catalogue import load
from tests.jobs.house import House
from tests.jobs.survey.collecting import refused
from tests.jobs.survey.surveys import survey
from udfs.errors import SpecError

YES_NO = {"categories": ["no", "yes"]}
ASKED = YES_NO | {"epsilon": 1}
LARGE = {"categories": list(range(600)), "epsilon": 1}
TWO = {"a": ASKED, "b": ASKED}
OPEN = {"a": YES_NO, "b": YES_NO}
FREE = {"c": YES_NO}
JOINT = {"joint": [{"of": ["a", "b"], "epsilon": 1}]}
SETS = {"categories": list(range(40)), "epsilon": 1, "mechanism": "subset-selection"}
WARNER = {"design": "warner", "p": 0.7}
OWN = {"design": "randomized-response"}
SAMPLES = {"design": "cheater-detection", "sample": "s", "p": {"x": 0.2, "y": 0.8}}
STUDY = {"epsilons": [1], "mechanisms": ["laplace"], "replications": 2}


def statistic(kind: str, *of: str, **more: Any) -> dict[str, Any]:
    return {"statistics": [{"kind": kind, "of": list(of)} | more]}


def regression(outcome: str, **more: Any) -> dict[str, Any]:
    return {"regressions": [{"outcome": outcome} | more]}


REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    # budgets
    ({"a": YES_NO}, {}, "attributes.a.epsilon"),
    ({"a": ASKED | {"epsilon": Decimal("1e-30")}}, {}, "attributes.a.epsilon"),
    ({"a": {"categories": list(range(9)), "epsilon": Decimal("1e-9"), "mechanism": "laplace"}}, {}, "attributes.a.epsilon"),
    ({"a": ASKED | {"epsilon": Decimal("1e-13"), "mechanism": "auto"}}, {}, "attributes.a.epsilon"),
    (TWO, {"budget": {"epsilon": 1}}, "budget"),
    (OPEN, {"budget": {"epsilon": 0}}, "budget.epsilon"),
    (OPEN, {"budget": {"epsilon": 1, "scheme": "halve"}}, "budget.scheme"),
    *((OPEN, {"budget": {"epsilon": Decimal("1e-30"), "scheme": one}}, "budget.epsilon") for one in ("split", "sample", "joint", "auto")),
    # joint reports
    (OPEN, {"joint": [{"of": ["a", "b"]}]}, "joint.0.epsilon"),
    (OPEN, {"joint": [{"of": ["a"], "epsilon": 1}]}, "joint.0.of"),
    (OPEN, {"joint": [{"of": ["a", "x"], "epsilon": 1}]}, "joint.0.of"),
    (OPEN, {"joint": [{"of": ["a", "a"], "epsilon": 1}]}, "joint.0.of"),
    (OPEN | FREE, {"joint": [{"of": ["a", "b"], "epsilon": 1}, {"of": ["b", "c"], "epsilon": 1}]}, "joint.1.of"),
    (OPEN, {"joint": [{"of": ["a", "b"], "epsilon": Decimal("1e-30")}]}, "joint.0.epsilon"),
    (TWO, JOINT, "attributes.a.epsilon"),
    (OPEN | FREE, JOINT, "attributes.c.epsilon"),
    (OPEN | {"a x b": ASKED}, JOINT, "attributes"),
    ({name: {"categories": list(range(1100))} for name in "ab"}, JOINT, "joint.0.of"),
    # statistics
    (TWO, statistic("mode", "a"), "statistics.0.kind"),
    (TWO, statistic("entropy"), "statistics.0.of"),
    (TWO, statistic("entropy", "x"), "statistics.0.of"),
    (TWO, statistic("entropy", "a", "a"), "statistics.0.of"),
    *((TWO, statistic(kind, "a"), "statistics.0.of") for kind in ("pearson", "chi-square", "g-squared", "mutual-information", "independence-test")),
    (TWO | {"c": ASKED}, statistic("pearson", "a", "b", "c"), "statistics.0.of"),
    (TWO, statistic("entropy", "a", scores=[[1, 2]]), "statistics.0.scores"),
    (TWO, statistic("pearson", "a", "b", scores=[[1, 2], [1, 2, 3]]), "statistics.0.scores"),
    (TWO, statistic("pearson", "a", "b", scores=[[1, 2]]), "statistics.0.scores"),
    ({"a": ASKED, "b": ASKED | {"missing": "random"}}, statistic("independence-test", "a", "b"), "statistics.0.kind"),
    (dict.fromkeys("abc", LARGE), statistic("proportions", "a", "b", "c"), "statistics.0.of"),
    ({"a": SETS, "b": SETS}, statistic("entropy", "a", "b"), "statistics.0.of"),
    (OPEN, {"budget": {"epsilon": 1, "scheme": "sample"}} | statistic("entropy", "a", "b"), "statistics.0.of"),
    # collected reports
    ({"a": YES_NO}, {"collected": {"p": 0.7}}, "collected.design"),
    ({"a": YES_NO}, {"collected": {"design": "tarot"}}, "collected.design"),
    ({"a": YES_NO}, {"collected": {"design": "warner"}}, "collected.p"),
    *(({"a": YES_NO}, {"collected": {"design": design, "p": 0.5}}, "collected.p") for design in ("warner", "crosswise")),
    ({"a": YES_NO}, {"collected": {"design": "warner", "p": 1.5}}, "collected.p"),
    ({"a": YES_NO}, {"collected": {"design": "triangular", "p": 1}}, "collected.p"),
    ({"a": YES_NO}, {"collected": {"design": "kuk", "p_sensitive": 0.4, "p_other": 0.4}}, "collected.p_sensitive"),
    ({"a": YES_NO}, {"collected": {"design": "kuk", "p_sensitive": 0.4, "p_other": 0.2, "repetitions": 0}}, "collected.repetitions"),
    ({"a": YES_NO}, {"collected": {"design": "forced-response", "p": "2/3", "forced_yes": "1/6", "forced_no": "1/5"}}, "collected.p"),
    ({"a": YES_NO}, {"collected": {"design": "unrelated-question", "p": 0, "alpha": 0.5}}, "collected.p"),
    ({"a": YES_NO}, {"collected": {"design": "matrix", "rows": [["1/2", "1/2"], ["1/2", "1/2"]]}}, "collected.rows"),
    ({"a": YES_NO}, {"collected": {"design": "matrix", "rows": [["1/2", "1/3"], ["1/2", "1/3"]]}}, "collected.rows"),
    ({"a": {"categories": [1, 2, 3]}}, {"collected": WARNER}, "attributes.a.categories"),
    ({"a": YES_NO}, {"collected": WARNER | {"reports": ["red"]}}, "collected.reports"),
    ({"a": YES_NO}, {"collected": WARNER | {"reports": ["red", "red"]}}, "collected.reports"),
    ({"a": YES_NO}, {"collected": WARNER | {"weight": "w", "strata": "w"}}, "collected.strata"),
    ({"a": YES_NO}, {"collected": WARNER | {"denominator": "n-2"}}, "collected.denominator"),
    ({"a": ASKED}, {"collected": WARNER}, "attributes.a.epsilon"),
    ({"a": YES_NO | {"mechanism": "laplace"}}, {"collected": WARNER}, "attributes.a.mechanism"),
    ({"a": YES_NO | {"missing": "random"}}, {"collected": WARNER}, "attributes.a.missing"),
    (OPEN, {"collected": WARNER} | JOINT, "collected.design"),
    (OPEN, {"collected": WARNER, "budget": {"epsilon": 1}}, "collected.design"),
    ({"a": YES_NO}, {"collected": OWN}, "attributes.a.epsilon"),
    (OPEN, {"collected": OWN | {"weight": "w"}, "budget": {"epsilon": 1, "scheme": "sample"}}, "collected"),
    ({"a": YES_NO}, {"collected": SAMPLES | {"p": {"x": 0.2}}}, "collected.p"),
    ({"a": YES_NO}, {"collected": SAMPLES | {"weight": "w"}}, "collected.weight"),
    ({"a": YES_NO}, {"collected": SAMPLES | {"p": {"x": 0.2, "y": 0.2}}}, "collected.p"),
    ({"a": {"categories": [1, 2, 3]}}, {"collected": SAMPLES}, "attributes.a"),
    ({"a": YES_NO | {"missing": "category"}}, {"collected": SAMPLES}, "attributes.a"),
    # sampling
    ({"a": ASKED}, {"sampling": {}}, "sampling.size"),
    ({"a": ASKED}, {"sampling": {"size": 5, "strata": {"x": 5}}}, "sampling.size"),
    ({"a": ASKED}, {"sampling": {"size": 0}}, "sampling.size"),
    ({"a": ASKED}, {"sampling": {"strata": {}}}, "sampling.strata"),
    # regressions
    ({"a": ASKED}, regression("a"), "regressions.0"),
    ({"a": YES_NO}, {"collected": WARNER} | regression("x"), "regressions.0.outcome"),
    ({"a": YES_NO | {"missing": "category"}}, {"collected": WARNER} | regression("a"), "regressions.0.outcome"),
    (OPEN, {"collected": WARNER} | regression("a", numbers=["b"]), "regressions.0"),
    (OPEN, {"collected": WARNER} | regression("a", factors={"b": ["no", "yes"]}), "regressions.0"),
    ({"a": YES_NO}, {"collected": WARNER} | regression("a", factors={"sex": ["f"]}), "regressions.0.factors.sex"),
    ({"a": YES_NO}, {"collected": WARNER} | regression("a", factors={"sex": ["f", "f"]}), "regressions.0.factors.sex"),
    ({"a": YES_NO}, {"collected": SAMPLES} | regression("a"), "regressions.0.outcome"),
    (OPEN, {"collected": OWN} | JOINT | regression("a"), "regressions.0.outcome"),
    (OPEN, {"collected": OWN, "budget": {"epsilon": 1, "scheme": "sample"}} | regression("a"), "regressions.0.outcome"),
    ({"a": ASKED | {"mechanism": "optimized-unary"}}, {"collected": OWN} | regression("a"), "regressions.0.outcome"),
    # studies, and the rest
    ({"a": ASKED}, {"study": STUDY}, "study"),
    ({"a": ASKED}, {"study": STUDY, "collected": OWN, "population": {"path": "people", "public": True}}, "study"),
    ({"a": ASKED | {"undeclared": "missing"}}, {}, "attributes.a.undeclared"),
    ({"a": ASKED | {"categories": ["only"]}}, {}, "attributes.a.categories"),
    ({"a": ASKED | {"categories": ["no", "no"]}}, {}, "attributes.a.categories"),
    ({"a": ASKED | {"mechanism": "magic"}}, {}, "attributes.a.mechanism"),
    ({"a": ASKED | {"epsilom": 1}}, {}, "attributes.a.epsilom"),
    ({"id": ASKED}, {}, "population.id"),
    (OPEN, {"collected": WARNER, "sampling": {"size": 9}} | regression("a", numbers=["age"]), "sampling"),
    ({"a": YES_NO}, {"collected": SAMPLES, "sampling": {"size": 9}}, "sampling"),
    ({"a": YES_NO}, {"collected": SAMPLES} | statistic("entropy", "a"), "statistics"),
    (OPEN, {"collected": WARNER | {"weight": "id"}}, "collected.weight"),
    ({"a": ASKED}, {"statistic": []}, "statistic"),
]  # fmt: skip


@pytest.mark.parametrize(("attributes", "tables", "where"), REFUSED)
def test_a_spec_that_cannot_be_met_is_refused_by_its_key(
    attributes: dict[str, Any], tables: dict[str, Any], where: str
) -> None:
    with pytest.raises(SpecError) as error:
        survey(deepcopy(attributes), **deepcopy(tables))
    assert error.value.where == where
    assert error.value.must


SOUND: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (OPEN, JOINT),
    (OPEN | {"c": ASKED}, JOINT | statistic("pearson", "a", "c", scores=[[0, 1], [0, Decimal("2.5")]])),
    ({"a": SETS | {"mechanism": "auto"}, "b": SETS | {"mechanism": "auto"}}, statistic("entropy", "a", "b")),
    ({"a": ASKED, "b": ASKED | {"missing": "random"}}, statistic("chi-square", "a", "b")),
    (OPEN, {"collected": WARNER, "sampling": {"size": 9}}),
    (OPEN, {"collected": WARNER} | regression("a", numbers=["age"])),
    (OPEN, {"collected": OWN | {"weight": "w"}} | JOINT),
    ({"a": YES_NO}, {"collected": SAMPLES}),
    ({"a": ASKED}, {"study": STUDY, "population": {"path": "people", "public": True}}),
]


@pytest.mark.parametrize(("attributes", "tables"), SOUND)
def test_its_sound_neighbour_is_not(attributes: dict[str, Any], tables: dict[str, Any]) -> None:
    assert survey(deepcopy(attributes), **deepcopy(tables)).layout.units


def test_tables_of_sets_become_tables_of_codes_where_that_is_needed() -> None:
    auto = SETS | {"mechanism": "auto"}
    alone = survey({"a": auto, "b": auto})
    together = survey({"a": auto, "b": auto}, **statistic("entropy", "a", "b"))
    assert {unit.mechanism for unit in alone.layout.units} == {"subset-selection"}
    assert {unit.mechanism for unit in together.layout.units} == {"randomized-response"}


def test_a_refused_spec_leaves_nothing(house: House) -> None:
    house.fill()
    house.smokes.pop("epsilon")
    with pytest.raises(SpecError):
        load(house.given)
    assert not house.out.exists()
    assert house.charges() == []


@pytest.mark.parametrize(
    ("tables", "where"),
    [
        ({"sampling": {"size": 239}}, "sampling"),
        ({"sampling": {"strata": {"x": 500}}}, "sampling.strata"),
    ],
)
def test_a_population_that_does_not_fit_is_refused_before_anything_is_charged(
    house: House, tables: dict[str, Any], where: str
) -> None:
    house.fill()
    house.given |= tables
    assert refused(house).where == where
