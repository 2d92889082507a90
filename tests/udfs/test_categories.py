from __future__ import annotations

import json
import math
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.scripted import ScriptedDraws
from tests.vectors import load
from udfs.categories import CategoryQuestion
from udfs.draws import fresh_draws
from udfs.errors import SchemaError, SpecError
from udfs.exact import WORD
from udfs.randomized_response import RandomizedResponse

CASES = {case["id"]: case for case in load("survey_field_cases")}
SHARED_CASES = Path(__file__).parents[3] / "shared" / "cases" / "field-cases.json"

ARROW_TYPES = {"string": pa.string(), "int64": pa.int64(), "double": pa.float64()}


def columns_of(parts):
    """Return the one column of each part of a case."""
    for part in parts:
        ((name, values),) = part.items()
        kind = name.split(":")[1]
        yield (
            pa.array(values).dictionary_encode()
            if kind == "dictionary"
            else pa.array(values, ARROW_TYPES[kind])
        )


def counts_over(question, columns):
    """Return how many answers each label has over all columns, by label as text."""
    codes = np.concatenate([question.encode(column).codes for column in columns])
    counts = np.bincount(codes, minlength=len(question.labels)).tolist()
    return {str(label): count for label, count in zip(question.labels, counts, strict=False)}


def test_the_cases_at_hand_are_the_shared_ones():
    if not SHARED_CASES.is_file():
        pytest.skip("the shared cases are not here: their copies are tested")
    shared = {case["id"]: case for case in json.loads(SHARED_CASES.read_text(encoding="utf-8"))}
    assert {name: shared[name] for name in CASES} == CASES


def test_case_d01_dictionaries_that_differ_are_counted_by_label():
    parts, expected = CASES["D01"]["input"]["parts"], CASES["D01"]["expect"]["counts"]
    for order in (parts, parts[::-1]):
        assert counts_over(CategoryQuestion("answer", tuple(expected)), columns_of(order)) == expected


def test_case_d03_an_integer_is_the_same_category_in_a_file_of_floats():
    case = CASES["D03"]
    question = CategoryQuestion("answer", tuple(case["input"]["domain"]), missing="category")
    counts = counts_over(question, columns_of(case["input"]["parts"]))
    assert counts == {**case["expect"]["counts"], "None": case["expect"]["missing"]}
    assert [question.encode(column).missing for column in columns_of(case["input"]["parts"])] == [0, 1]


def test_case_d05_text_is_the_same_in_a_dictionary_and_integers_are_read_as_declared():
    for part, domain in (("A", ("b", "g", "r")), ("B", tuple(CASES["D05"]["input"]["B"]["domain"]))):
        parts = CASES["D05"]["input"][part]["parts"]
        question = CategoryQuestion("answer", domain)
        for order in (parts, parts[::-1]):
            assert counts_over(question, columns_of(order)) == CASES["D05"]["expect"][part]["counts"]
        for column in columns_of(parts):
            question.check_type(column.type, "part")


def test_case_r08_one_category_is_refused_and_a_constant_column_is_not():
    with pytest.raises(SpecError, match="needs two categories; got 1"):
        CategoryQuestion("answer", tuple(CASES["R08"]["input"]["A"]["domain"]))
    constant = CASES["R08"]["input"]["B"]
    question = CategoryQuestion("answer", tuple(constant["domain"]))
    design = RandomizedResponse(question.cells, constant["epsilon"])
    codes = question.encode(pa.array(constant["answers"])).codes
    counts = design.tally(design.randomize(codes, fresh_draws(len(codes))))
    assert dict(zip(question.labels, counts.tolist(), strict=True)) == CASES["R08"]["expect"]["B"]["counts"]


@pytest.mark.parametrize(
    ("categories", "must"),
    [
        ((), "all text, all numbers or all truth values; got none"),
        (("a", 1), "all text, all numbers or all truth values; got numbers, text"),
        ((True, 1), "all text, all numbers or all truth values; got numbers, truth values"),
        (("a", "b", "a"), "each category must stand once; got a twice"),
        ((1, 2, 1.0), "each category must stand once; got 1, 1.0 twice"),
        ((True, True), "each category must stand once; got True twice"),
        (("a",), "needs two categories; got 1"),
    ],
    ids=str,
)
def test_categories_that_cannot_be_told_apart_are_refused(categories, must):
    with pytest.raises(SpecError) as caught:
        CategoryQuestion("smokes", categories)
    assert caught.value.where == "attributes.smokes.categories"
    assert must in str(caught.value)


def test_one_category_and_the_cell_of_the_missing_make_a_question():
    question = CategoryQuestion("smokes", ("yes",), missing="category")
    assert (question.cells, question.labels) == (2, ("yes", None))


def test_answers_outside_can_be_missing_only_where_missing_ones_are_provided_for():
    with pytest.raises(SpecError, match=r'attributes.smokes.undeclared: .* got missing = "none"'):
        CategoryQuestion("smokes", ("no", "yes"), undeclared="missing")


@pytest.mark.parametrize(("missing", "cells"), [("none", 3), ("category", 4), ("random", 3)])
def test_only_the_category_of_the_missing_is_one_more_cell(missing, cells):
    question = CategoryQuestion("q", ("a", "b", "c"), missing=missing)
    assert question.cells == len(question.labels) == cells


def test_the_label_tells_questions_apart():
    questions = [
        CategoryQuestion(*parts, missing=missing)
        for parts in [
            ("q", ("a", "b")),
            ("r", ("a", "b")),
            ("q", ("b", "a")),
            ("q", (1, 2)),
            ("q", ("1", "2")),
        ]
        for missing in ("none", "category", "random")
    ]
    assert len({question.label for question in questions}) == len(questions)


def test_a_question_that_was_used_pickles_and_equals_a_fresh_one():
    question = CategoryQuestion("q", ("a", "b"))
    question.encode(pa.array(["a", "b"]))
    again = pickle.loads(pickle.dumps(question))
    assert again == question == CategoryQuestion("q", ("a", "b"))
    assert again.encode(pa.array(["b"])).codes.tolist() == [1]


KINDS = {
    "text": (st.text(max_size=3), [pa.string(), pa.large_string(), pa.string_view()]),
    "integers": (
        st.integers(-9, 9),
        [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()],
    ),
    "naturals": (st.integers(0, 99), [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float64()]),
    "floats": (st.floats(-9, 9, width=16), [pa.float16(), pa.float32(), pa.float64()]),
    "truth values": (st.booleans(), [pa.bool_()]),
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_answers_are_those_of_a_plain_loop_in_columns_of_any_type(kind, data):
    values, arrow_types = KINDS[kind]
    arrow_type = data.draw(st.sampled_from(arrow_types))
    categories = tuple(
        data.draw(st.lists(values, min_size=2, max_size=2 if kind == "truth values" else 5, unique=True))
    )
    answers = data.draw(st.lists(st.sampled_from(categories) | values | st.none()))
    start = data.draw(st.integers(0, len(answers)))
    column = pa.array(answers, arrow_type)
    if data.draw(st.booleans()) and arrow_type not in (pa.string_view(), pa.float16()):
        column = column.dictionary_encode()
    found = CategoryQuestion("q", categories).encode(column.slice(start))
    places = {category: place for place, category in enumerate(categories)}
    assert found.codes.tolist() == [places.get(answer, len(categories)) for answer in answers[start:]]
    assert found.missing == answers[start:].count(None)
    assert found.undeclared == sum(one is not None and one not in places for one in answers[start:])


def test_nan_is_a_missing_answer():
    question = CategoryQuestion("q", (0.0, 1.0), missing="category")
    for arrow_type in (pa.float32(), pa.float64()):
        found = question.encode(pa.array([math.nan, 1.0, None, -0.0, 7.0], arrow_type))
        assert found.codes.tolist() == [2, 1, 2, 0, 2]
        assert (found.missing, found.undeclared) == (2, 1)


@pytest.mark.parametrize(
    "column", [pa.nulls(3), pa.nulls(3, pa.string()), pa.array([None] * 3).dictionary_encode()]
)
def test_a_column_of_nulls_is_all_missing(column):
    question = CategoryQuestion("q", ("a", "b"))
    question.check_type(column.type, "part-0")
    found = question.encode(column)
    assert (found.codes.tolist(), found.missing, found.undeclared) == ([2, 2, 2], 3, 0)


def test_undeclared_and_missing_answers_are_counted_apart():
    question = CategoryQuestion("q", ("a", "b"), missing="category", undeclared="missing")
    found = question.encode(pa.array(["c", None, "a", "", "b", "A"]))
    assert found.codes.tolist() == [2, 2, 0, 2, 1, 2]
    assert (found.missing, found.undeclared) == (1, 3)


@pytest.mark.parametrize(
    ("categories", "arrow_type"),
    [
        (("no", "yes"), pa.int64()),
        (("no", "yes"), pa.bool_()),
        (("no", "yes"), pa.binary()),
        ((1, 2), pa.date32()),
        ((0.5, 1.5), pa.int64()),
        ((-1, -2), pa.uint8()),
        ((300, 400), pa.int8()),
        ((1, 2), pa.list_(pa.int64())),
        (("no", "yes"), pa.dictionary(pa.int8(), pa.int64())),
        (("no", "yes"), pa.dictionary(pa.int8(), pa.binary())),
    ],
    ids=str,
)
def test_a_column_that_can_hold_no_category_is_refused_by_place_name_and_type(categories, arrow_type):
    with pytest.raises(SchemaError) as caught:
        CategoryQuestion("smokes", categories).check_type(arrow_type, "part-3.parquet")
    assert caught.value.where == "part-3.parquet, column 'smokes'"
    assert caught.value.got == f"type {arrow_type}"


def test_no_message_and_no_repr_holds_an_answer():
    question = CategoryQuestion("smokes", ("no", "yes"))
    question.encode(pa.array(["a secret of somebody's", None]))
    assert repr(question) == (
        "CategoryQuestion(column='smokes', categories=('no', 'yes'), missing='none', undeclared='refuse')"
    )


def test_those_who_gave_no_answer_are_given_a_uniform_one_and_others_keep_theirs():
    question = CategoryQuestion("q", ("a", "b", "c"), missing="random")
    codes = question.encode(pa.array([None, None, None, "a", "c", None])).codes
    assert WORD % 3 == 1  # so the last word is drawn again
    draws = ScriptedDraws({0: [0, 1, 2, 1, 1, WORD - 1], 1: [0, 0, 0, 0, 0, 4]})
    assert question.impute(codes, draws).tolist() == [0, 1, 2, 0, 2, 1]
    assert question.impute(codes, draws).dtype == codes.dtype


def test_where_nobody_is_missing_nothing_is_drawn_to_impute():
    question = CategoryQuestion("q", ("a", "b"), missing="random")
    draws = ScriptedDraws({0: [1, 1]})
    assert question.impute(question.encode(pa.array(["b", "a"])).codes, draws).tolist() == [1, 0]
    assert draws.read == []


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_category_is_a_finite_number(number):
    with pytest.raises(SpecError, match="finite"):
        CategoryQuestion("x", (1.0, number))


@pytest.mark.parametrize(
    ("categories", "arrow_type"), [(("1", "1.0"), pa.int64()), ((0.1, 0.1 + 1e-12), pa.float32())]
)
def test_a_type_that_cannot_tell_two_categories_apart_is_refused(categories, arrow_type):
    with pytest.raises(SchemaError, match="apart"):
        CategoryQuestion("x", categories).check_type(arrow_type, "file")
