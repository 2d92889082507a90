from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.lookup import Lookup, can_hold_answers

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
FLOATS = [pa.float16(), pa.float32(), pa.float64()]
TEXTS = [pa.string(), pa.large_string(), pa.string_view()]


def limits(arrow_type):
    """Return the least and the greatest integer of a type."""
    info = np.iinfo(arrow_type.to_pandas_dtype())
    return int(info.min), int(info.max)


def values_of(arrow_type):
    """Return a strategy of a type's values."""
    if pa.types.is_integer(arrow_type):
        least, greatest = limits(arrow_type)
        near = st.integers(max(least, -3), 3)
        ends = st.sampled_from([least, least + 1, greatest - 1, greatest])
        return near | ends | st.integers(least, greatest)
    if pa.types.is_floating(arrow_type):
        width = arrow_type.bit_width
        return st.sampled_from([0.0, -0.0, 1.0, 2.0, 0.5]) | st.floats(width=width, allow_nan=False)
    return (
        st.booleans() if pa.types.is_boolean(arrow_type) else st.sampled_from("abcü ") | st.text(max_size=5)
    )


@st.composite
def columns(draw, arrow_type):
    """Draw categories of a type and answers to them, with what surrounds these in a longer column."""
    values = values_of(arrow_type)
    finite = values.filter(math.isfinite) if pa.types.is_floating(arrow_type) else values
    categories = tuple(draw(st.lists(finite, min_size=1, max_size=6, unique=True)))
    others = [st.none(), st.just(math.nan)] if pa.types.is_floating(arrow_type) else [st.none()]
    answers = draw(st.lists(st.one_of(st.sampled_from(categories), values, *others), max_size=30))
    start = draw(st.integers(0, len(answers)))
    return categories, answers, start, draw(st.integers(0, len(answers) - start))


def plain_codes(categories, answers):
    """Return the codes, answer by answer."""
    codes = []
    for answer in answers:
        if answer is None or answer != answer:
            codes.append(len(categories))
        else:
            codes.append(categories.index(answer) if answer in categories else len(categories) + 1)
    return codes


@pytest.mark.parametrize("coded", [False, True], ids=["plain", "dictionary"])
@pytest.mark.parametrize("arrow_type", [*INTEGERS, *FLOATS, *TEXTS, pa.bool_()], ids=str)
@given(data=st.data())
def test_codes_are_those_of_a_plain_loop(arrow_type, coded, data):
    categories, answers, start, length = data.draw(columns(arrow_type))
    column = as_column(answers, arrow_type, coded, data)
    codes = Lookup(categories, column.type).codes(column.slice(start, length))
    assert codes.tolist() == plain_codes(categories, answers[start : start + length])
    assert np.issubdtype(codes.dtype, np.unsignedinteger)


def as_column(answers, arrow_type, coded, data):
    """Return answers as a column, or as a dictionary with its entries in any order and one to spare."""
    if not coded:
        return pa.array(answers, arrow_type)
    entries = data.draw(st.permutations([*dict.fromkeys(answers), data.draw(values_of(arrow_type))]))
    nulls_inside = data.draw(st.booleans())
    entries = [entry for entry in entries if entry is not None or nulls_inside]
    places = [None if answer is None and not nulls_inside else entries.index(answer) for answer in answers]
    index_type = data.draw(st.sampled_from(INTEGERS))
    return pa.DictionaryArray.from_arrays(pa.array(places, index_type), pa.array(entries, arrow_type))


@pytest.mark.parametrize("arrow_type", [*INTEGERS, *FLOATS, *TEXTS, pa.bool_(), pa.null()], ids=str)
def test_empty_and_null_columns_have_empty_and_missing_codes(arrow_type):
    lookup = Lookup((0, 1), arrow_type)
    assert lookup.codes(pa.array([], arrow_type)).tolist() == []
    assert lookup.codes(pa.nulls(3, arrow_type)).tolist() == [2, 2, 2]


@pytest.mark.parametrize("arrow_type", INTEGERS, ids=str)
def test_integers_at_the_ends_of_their_type_are_told_apart(arrow_type):
    least, greatest = limits(arrow_type)
    answers = pa.array([least, least + 1, greatest - 1, greatest, 5], arrow_type)
    for categories in [(least, least + 1), (greatest, greatest - 1), (greatest, least), (5, 6)]:
        codes = Lookup(categories, arrow_type).codes(answers)
        assert codes.tolist() == plain_codes(categories, answers.to_pylist())


@pytest.mark.parametrize("span", [(1 << 16) - 1, 1 << 16, 1 << 40])
def test_integers_far_apart_are_found_like_those_close_by(span):
    categories = (10, 10 + span)
    answers = [9, 10, 11, 9 + span, 10 + span, 11 + span, None]
    codes = Lookup(categories, pa.int64()).codes(pa.array(answers))
    assert codes.tolist() == plain_codes(categories, answers)


def test_what_lies_under_a_null_is_not_read():
    values = pa.py_buffer(np.array([1, 2, 3], dtype=np.int64))
    column = pa.Array.from_buffers(pa.int64(), 3, [pa.py_buffer(b"\x05"), values])
    assert column.to_pylist() == [1, None, 3]
    assert Lookup((1, 2, 3), pa.int64()).codes(column).tolist() == [0, 3, 2]


def test_all_values_of_a_byte_can_be_categories():
    every = tuple(range(-128, 128))
    assert Lookup(every, pa.int8()).codes(pa.array(every, pa.int8())).tolist() == list(range(256))


@pytest.mark.parametrize(
    ("categories", "answers"),
    [
        ((1, 2), [pa.array([2.0, 1.0, 1.5]), pa.array([2, 1, 3]), pa.array(["2", "1", "2.0"])]),
        ((1.0, 2.0), [pa.array([2, 1, 3]), pa.array(["2", "1", "2.0"])]),
        (("1", "2"), [pa.array([2, 1, 3]), pa.array([2.0, 1.0, 3.0]), pa.array(["2", "1", "02"])]),
        ((0.5, 2), [pa.array([2.0, 0.5, 1.0]), pa.array(["2", "0.5", ".5"])]),
        (
            (False, True),
            [pa.array([True, False, None]).fill_null(True).slice(0, 2), pa.array(["true", "false"])],
        ),
        (
            (False, True),
            [pa.array([1, 0, 2]), pa.array([1.0, 0.0, 0.5]), pa.array(["true", "false", "True"])],
        ),
        (("false", "true"), [pa.array([True, False])]),
        ((0, 1), [pa.array([True, False])]),
    ],
)
def test_a_category_is_the_same_in_columns_of_other_types(categories, answers):
    for column in answers:
        for one in (column, column.dictionary_encode()):
            assert Lookup(categories, one.type).codes(one).tolist() == [1, 0, 3][: len(one)]


@pytest.mark.parametrize(
    ("categories", "arrow_type", "holds"),
    [
        ((0.5, 1.5), pa.int64(), 0),
        ((0.5, 1), pa.int64(), 1),
        ((-1, 300), pa.uint8(), 0),
        ((-1, 2**63), pa.uint64(), 1),
        ((1, 2**53 + 1), pa.float64(), 1),
        ((1, 2**24 + 1), pa.float32(), 1),
        (("01", "1_0", " 1", "+1"), pa.int64(), 0),
        (("a", "b"), pa.float64(), 0),
        (("yes", "no"), pa.bool_(), 0),
        (("yes", "no"), pa.dictionary(pa.int8(), pa.string()), 2),
        ((1, 2), pa.dictionary(pa.int8(), pa.bool_()), 1),
        ((1, 2), pa.binary(), 0),
        ((1, 2), pa.date32(), 0),
        ((1, 10**400), pa.int64(), 1),
        ((1.0, 1e300), pa.float32(), 1),
        ((0.1, 0.2), pa.float32(), 2),
    ],
    ids=str,
)
def test_a_column_holds_the_categories_that_its_type_can_express(categories, arrow_type, holds):
    assert Lookup(categories, arrow_type).holds == holds


@pytest.mark.parametrize("arrow_type", [*INTEGERS, *FLOATS, *TEXTS, pa.bool_()], ids=str)
def test_answers_can_stand_in_columns_of_text_numbers_and_truth_values(arrow_type):
    assert can_hold_answers(arrow_type)


@pytest.mark.parametrize(
    "arrow_type", [pa.binary(), pa.date32(), pa.timestamp("s"), pa.list_(pa.int8())], ids=str
)
def test_answers_cannot_stand_in_other_columns(arrow_type):
    assert not can_hold_answers(arrow_type)
