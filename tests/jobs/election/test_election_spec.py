"""The spec of an election: read whole, and refused by the key that is wrong."""

from __future__ import annotations

import json
import tomllib
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from click.testing import CliRunner

from jobs.__main__ import canvass
from jobs.catalogue import load
from jobs.election.rules import RULES
from udfs.errors import SpecError

GIVEN: dict[str, Any] = {
    "job": "election",
    "population": {"path": "people", "id": "voter", "ranking": "ranking"},
    "output": {"path": "out"},
    "election": {"candidates": ["Ada", "Bo", "Cy", "Di"], "rule": "stv"},
    "privacy": {"model": "interactive", "epsilon": Decimal("0.1")},
}
GONE = object()
MANY = [f"c{number}" for number in range(17)]
LOCAL = {"privacy.model": "local"}
SCORING = {"election.rule": "scoring"}
COLLECTED = {"collected": {"design": "ballots"}, "population.ranking": GONE}


def given(changes: dict[str, Any]) -> dict[str, Any]:
    """Return tables with some keys changed, added or gone."""
    tables = deepcopy(GIVEN)
    for dotted, value in changes.items():
        *way, last = dotted.split(".")
        table = tables
        for step in way:
            table = table.setdefault(step, {})
        if value is GONE:
            del table[last]
        else:
            table[last] = value
    return tables


def spec(**changes: Any) -> Any:
    return load(given({key.replace("__", "."): value for key, value in changes.items()}))[1]


def test_a_spec_is_read_with_its_defaults() -> None:
    found = spec()
    assert (found.election.invalid, found.election.shared, found.shared) == ("truncate", "auto", "overvote")
    assert (found.privacy.randomizer, found.privacy.rounds, found.privacy.shares) == (
        "auto",
        "share-voters",
        None,
    )
    assert (found.privacy.selection, found.privacy.score) == ("margin", "exact")
    assert found.privacy.failure_probability == Decimal("0.05")
    assert found.order == ("Ada", "Bo", "Cy", "Di")
    assert found.collected is None


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        # who votes
        ({"population.ranking": GONE}, "population.ranking"),
        ({"population.ranking": ""}, "population.ranking"),
        ({"population.ranking": "a\nb"}, "population.ranking"),
        ({"population.ranking": ["ranking"]}, "population.ranking"),
        ({"population.ranks": ["r1", "r2"]}, "population.ranks"),
        ({"population.ranking": GONE, "population.ranks": []}, "population.ranks"),
        ({"population.ranking": GONE, "population.ranks": ["r1", "r1"]}, "population.ranks"),
        ({"population.ranking": GONE, "population.ranks": "r1"}, "population.ranks"),
        ({"population.ranking": GONE, "population.ranks": ["r1", 2]}, "population.ranks.1"),
        ({"population.id": "ranking"}, "population.id"),
        ({"population.ranking": GONE, "population.ranks": ["voter", "r2"]}, "population.id"),
        ({"population.id": "question"}, "population.id"),
        ({"population.id": "duels_bit"}, "population.id"),
        ({"population.path": GONE}, "population.path"),
        ({"population.rankings": "ranking"}, "population.rankings"),
        # who stands
        ({"election.candidates": GONE}, "election.candidates"),
        ({"election.candidates": []}, "election.candidates"),
        ({"election.candidates": "Ada"}, "election.candidates"),
        ({"election.candidates": ["Ada", "Bo", "Ada"]}, "election.candidates"),
        ({"election.candidates": ["\u00c9va", "E\u0301va"]}, "election.candidates"),
        ({"election.candidates": ["Ada", ""]}, "election.candidates"),
        ({"election.candidates": ["Ada", "B\no"]}, "election.candidates.1"),
        ({"election.candidates": ["\x1b[31mAda", "Bo"]}, "election.candidates.0"),
        ({"election.candidates": ["Ada", 2]}, "election.candidates"),
        ({"election.candidates": ["Ada", 2.5]}, "election.candidates.1"),
        ({"election.candidates": [True, 2]}, "election.candidates.0"),
        ({"election.candidates": [["Ada"], "Bo"]}, "election.candidates.0"),
        ({"election.candidates": [f"c{number}" for number in range(256)]}, "election.candidates"),
        ({"election.candidates": MANY} | LOCAL, "election.candidates"),
        ({"election.tie_order": ["Ada", "Bo", "Cy"]}, "election.tie_order"),
        ({"election.tie_order": ["Ada", "Bo", "Cy", "Eve"]}, "election.tie_order"),
        ({"election.tie_order": ["Ada", "Bo", "Cy", "Di", "Di"]}, "election.tie_order"),
        ({"election.candidates": [1, 2], "election.tie_order": ["2", "1"]}, "election.tie_order"),
        ({"election.tie_order": "Ada"}, "election.tie_order"),
        # by which rule
        ({"election.rule": GONE}, "election.rule"),
        ({"election.rule": "approval"}, "election.rule"),
        ({"election.weights": [3, 2, 1, 0]}, "election.weights"),
        (SCORING, "election.weights"),
        (SCORING | {"election.weights": [2, 1, 0]}, "election.weights"),
        (SCORING | {"election.weights": [3, 1, 2, 0]}, "election.weights"),
        (SCORING | {"election.weights": [1, 1, 1, 1]}, "election.weights"),
        (SCORING | {"election.weights": [3, 2, 1, "1/0"]}, "election.weights.3"),
        (SCORING | {"election.weights": [3, 2, 1, "zero"]}, "election.weights.3"),
        (SCORING | {"election.weights": [Decimal("Infinity"), 2, 1, 0]}, "election.weights.0"),
        (SCORING | {"election.weights": [3, 2, 1, True]}, "election.weights.3"),
        (SCORING | {"election.weights": 3}, "election.weights"),
        ({"election.invalid": "skip"}, "election.invalid"),
        ({"election.shared": "average"}, "election.shared"),
        # in which model
        ({"privacy": GONE}, "privacy"),
        ({"privacy.model": GONE}, "privacy.model"),
        ({"privacy.model": "shuffled"}, "privacy.model"),
        ({"privacy.epsilon": GONE}, "privacy.epsilon"),
        *(({"privacy.epsilon": value}, "privacy.epsilon") for value in (0, -1, "1", True, Decimal("NaN"), Decimal("Infinity"))),
        *(
            ({"privacy.failure_probability": value}, "privacy.failure_probability")
            for value in (0, 1, -1, True, "0.05", Decimal("0.5"), Decimal("NaN"), float("nan"), Decimal("1e-2000"), [])
        ),
        ({"privacy.randomizer": "laplace"}, "privacy.randomizer"),
        ({"privacy.rounds": "one"}, "privacy.rounds"),
        ({"privacy.shares": [1, 2]}, "privacy.shares"),
        ({"privacy.shares": [1, 2, 4, 8]}, "privacy.shares"),
        ({"privacy.shares": [1, 0, 4]}, "privacy.shares"),
        ({"privacy.shares": [1, 1 << 40, 1]}, "privacy.shares"),
        ({"privacy.shares": []}, "privacy.shares"),
        ({"privacy.shares": [1, 2, 4.0]}, "privacy.shares.2"),
        ({"privacy.shares": [1, 2, 4], "privacy.rounds": "share-budget"}, "privacy.shares"),
        ({"privacy.shares": [1, 2, 4]} | LOCAL, "privacy.shares"),
        ({"privacy.selection": "uniform"}, "privacy.selection"),
        ({"privacy.score": "fast"}, "privacy.score"),
        ({"privacy.model": "central", "privacy.score": "polynomial"}, "privacy.score"),
        # of reports that are here
        (COLLECTED, "privacy.model"),
        (LOCAL | {"collected": {"design": "ballots"}}, "population.ranking"),
        (LOCAL | COLLECTED | {"collected": {}}, "collected.design"),
        (LOCAL | COLLECTED | {"collected": {"design": "rr"}}, "collected.design"),
        ({"spoilt": 1}, "spoilt"),
    ],
)  # fmt: skip
def test_a_spec_is_refused_by_the_key_that_is_wrong(changes: dict[str, Any], where: str) -> None:
    with pytest.raises(SpecError) as refused:
        load(given(changes))
    assert refused.value.where == where


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("model", ["central", "local", "interactive"])
def test_every_rule_goes_with_every_model(rule: str, model: str) -> None:
    weights = {"election__weights": [3, Decimal("1.5"), "1/3", 0]} if rule == "scoring" else {}
    found = spec(election__rule=rule, privacy__model=model, **weights)
    assert found.rule.name == rule
    assert found.rule.candidates == 4
    if weights:
        assert found.rule.weights == (3, Fraction(3, 2), Fraction(1, 3), 0)


def test_the_tie_order_numbers_the_candidates() -> None:
    found = spec(election__tie_order=["Di", "Ada", "Cy", "Bo"])
    assert found.order == ("Di", "Ada", "Cy", "Bo")
    assert found.question.candidates == found.order
    assert found.election.candidates == ("Ada", "Bo", "Cy", "Di")


def test_names_are_one_however_their_accents_are_encoded() -> None:
    composed, decomposed = "\u00c9va", "E\u0301va"
    found = spec(election__candidates=["Bo", decomposed], election__tie_order=[composed, "Bo"])
    assert found.order == (composed, "Bo")
    assert found.election.candidates == ("Bo", composed)
    assert found.job_id("") == spec(
        election__candidates=["Bo", composed], election__tie_order=[composed, "Bo"]
    ).job_id("")


@pytest.mark.parametrize("value", [0.05, Decimal("0.05")])
def test_a_probability_is_the_decimal_that_it_prints_as(value: Any) -> None:
    assert spec(privacy__failure_probability=value).privacy.failure_probability == Decimal("0.05")


@pytest.mark.parametrize(
    ("rule", "shared"),
    [
        ("plurality", "overvote"), ("runoff", "overvote"), ("stv", "overvote"),
        ("borda", "tie"), ("veto", "tie"), ("condorcet", "tie"), ("maximin", "tie"),
    ],
)  # fmt: skip
def test_a_shared_rank_is_what_suits_the_rule_or_what_the_spec_says(rule: str, shared: str) -> None:
    assert spec(election__rule=rule).shared == spec(election__rule=rule).question.shared == shared
    for chosen in ("overvote", "tie"):
        assert spec(election__rule=rule, election__shared=chosen).question.shared == chosen


def test_ballots_stand_in_one_column_or_in_one_a_rank() -> None:
    assert (spec().question.columns, spec().question.layout) == (("ranking",), "list")
    found = load(given({"population.ranking": GONE, "population.ranks": ["r1", "r2"]}))[1]
    assert (found.question.columns, found.question.layout) == (("r1", "r2"), "ranks")


def test_what_bears_on_the_answer_is_part_of_the_jobs_identity_and_where_it_goes_is_not() -> None:
    same = spec().job_id("")
    assert spec(output__path="elsewhere", cluster={"workers": 2}).job_id("") == same
    others = [
        {"election__rule": "plurality"},
        {"election__tie_order": ["Di", "Cy", "Bo", "Ada"]},
        {"election__invalid": "blank"},
        {"election__shared": "tie"},
        {"privacy__epsilon": Decimal("0.2")},
        {"privacy__model": "central"},
        {"privacy__rounds": "share-budget"},
        {"privacy__shares": [1, 1, 1]},
        {"privacy__randomizer": "ball"},
        {"privacy__selection": "exponential"},
        {"privacy__failure_probability": Decimal("0.01")},
    ]
    assert len({same, *(spec(**changes).job_id("") for changes in others)}) == 1 + len(others)


def test_a_spec_comes_back_from_its_canonical_form() -> None:
    weights = [3, Decimal("1.5"), "1/3", 0]
    found = spec(election__rule="scoring", election__weights=weights, privacy__model="central")
    canonical = json.loads(json.dumps(found.canonical()))
    assert canonical["election"]["weights"] == ["3", "3/2", "1/3", "0"]
    assert canonical["privacy"]["epsilon"] == "0.1"
    assert canonical["privacy"]["failure_probability"] == "0.05"
    assert "output" not in canonical


def test_the_schema_for_editors_has_every_table_and_what_its_keys_mean() -> None:
    shown = CliRunner().invoke(canvass, ["schema"], catch_exceptions=False)
    schemas = json.loads(shown.output)["oneOf"]
    (found,) = (one for one in schemas if "election" in one["properties"])
    tables = found["$defs"]
    assert set(tables["ElectionTable"]["properties"]["rule"]["enum"]) == set(RULES)
    assert set(tables["PrivacyTable"]["properties"]["model"]["enum"]) == {"central", "local", "interactive"}
    for name in ("BallotsTable", "ElectionTable", "PrivacyTable"):
        assert tables[name]["additionalProperties"] is False
    assert {"job", "population", "output", "election", "privacy"} <= set(found["required"])


def test_a_number_in_toml_is_exactly_what_is_written() -> None:
    text = """
        job = "election"
        population = {path = "people", ranking = "ranking"}
        output = {path = "out"}
        election = {candidates = [1, 2], rule = "scoring", weights = [0.1, 0.0]}
        privacy = {model = "local", epsilon = 0.1, failure_probability = 0.01}
    """
    found: Any = load(tomllib.loads(text, parse_float=Decimal))[1]
    assert found.privacy.epsilon == Decimal("0.1")
    assert found.rule.weights == (Fraction(1, 10), 0)
    assert found.order == (1, 2)
