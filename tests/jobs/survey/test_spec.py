from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from jobs.spec import check
from jobs.survey.spec import SurveySpec
from udfs.collected import Collected, CollectedReports
from udfs.errors import SpecError
from udfs.randomized_response import RandomizedResponse
from udfs.subset_selection import SubsetSelection


def survey(collected: bool = False, **table: Any) -> SurveySpec:
    """Return a survey of one attribute; None leaves a key out."""
    asked = {"categories": ["no", "yes"], "epsilon": 1} | table
    given = {
        "job": "survey",
        "population": {"path": "people", "id": "id"},
        "output": {"path": "out"},
        "attributes": {"smokes": {key: value for key, value in asked.items() if value is not None}},
    }
    spec = check(SurveySpec, given | ({"collected": {"design": "randomized-response"}} if collected else {}))
    assert isinstance(spec, SurveySpec)
    return spec


def refusal(**table: Any) -> SpecError:
    with pytest.raises(SpecError) as refused:
        survey(**table)
    return refused.value


@pytest.mark.parametrize(
    "epsilon",
    [-1, 0, -0.0, 0.0, math.nan, math.inf, -math.inf, True, "1.0", "abc", None, [1]]
    + [Decimal(text) for text in ("-0.5", "0", "-0.0", "NaN", "sNaN", "Infinity", "-Infinity", "1e-30")],
)
def test_an_epsilon_that_is_no_positive_number_is_refused_by_name(epsilon: object) -> None:
    assert refusal(epsilon=epsilon).where == "attributes.smokes.epsilon"


@pytest.mark.parametrize("epsilon", [1, 0.1, Decimal("0.1"), Decimal("1000"), Decimal("1e308")])
def test_any_other_epsilon_is_taken_as_it_is_written(epsilon: Any) -> None:
    assert survey(epsilon=epsilon).attributes["smokes"].epsilon == Decimal(str(epsilon))


@pytest.mark.parametrize(
    ("categories", "what"),
    [
        ([], "at least 1"),
        (["only"], "a question needs two categories"),
        (["no", "yes", "no"], "each category must stand once; got no twice"),
        ([1, 1.0], "each category must stand once"),
        ([1, Decimal("1.0")], "each category must stand once"),
        (["no", 1], "all text, all numbers or all truth values; got numbers, text"),
        ([0, True], "all text, all numbers or all truth values; got numbers, truth values"),
        ("no", "must be a list"),
        ({"no": 1}, "must be a list"),
        (None, "is required"),
    ],
)
def test_categories_that_make_no_question_are_refused_by_name(categories: Any, what: str) -> None:
    error = refusal(categories=categories)
    assert error.where == "attributes.smokes.categories"
    assert what in str(error)


@pytest.mark.parametrize("category", [["yes"], {"yes": 1}, Decimal])
def test_a_category_of_no_known_kind_is_refused(category: Any) -> None:
    assert refusal(categories=["no", category]).where.startswith("attributes.smokes.categories.1")


def test_one_category_is_enough_where_no_answer_is_another_cell() -> None:
    assert survey(categories=["yes"], missing="category").question("smokes").cells == 2


def test_a_decimal_category_is_a_number() -> None:
    assert survey(categories=[Decimal("1.5"), 2]).attributes["smokes"].categories == (1.5, 2)


def test_undeclared_answers_are_missing_only_where_missing_ones_are_provided_for() -> None:
    assert refusal(undeclared="missing").where == "attributes.smokes.undeclared"
    assert survey(undeclared="missing", missing="random").question("smokes").undeclared == "missing"


def test_a_survey_asks_something() -> None:
    given = {"job": "survey", "population": {"path": "people"}, "output": {"path": "out"}}
    for attributes in ({}, {"attributes": {}}):
        with pytest.raises(SpecError) as refused:
            check(SurveySpec, given | attributes)
        assert refused.value.where == "attributes"


def test_the_ids_are_no_attribute() -> None:
    table = {"categories": [1, 2], "epsilon": 1}
    given = {"job": "survey", "population": {"path": "people", "id": "id"}, "output": {"path": "out"}}
    with pytest.raises(SpecError, match=r"population\.id: the column of ids must not be an attribute"):
        check(SurveySpec, given | {"attributes": {"id": table}})


@pytest.mark.parametrize(
    ("mechanism", "kind"),
    [("randomized-response", RandomizedResponse), ("subset-selection", SubsetSelection)],
)
def test_a_mechanism_spans_all_cells(mechanism: str, kind: type) -> None:
    randomizer = survey(mechanism=mechanism, missing="category").layout.axis_of("smokes").design
    assert isinstance(randomizer, kind)
    assert (randomizer.cells, randomizer.epsilon) == (3, 1)


def test_collected_reports_are_read_and_not_drawn() -> None:
    ((question, mechanism),) = survey(collected=True).layout.asks
    assert isinstance(question, CollectedReports)
    assert isinstance(mechanism, Collected)
    assert not mechanism.draws
