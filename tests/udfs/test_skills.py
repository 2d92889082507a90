"""Skills are read as the numbers that people write, and what is none is counted and never asked."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from udfs.asides import Aside
from udfs.asking import refusal, respond
from udfs.draws import fresh_draws
from udfs.errors import SchemaError, SpecError
from udfs.skills import SkillsQuestion
from udfs.tree_cells import TreeCells, bin_edges

UNIT = (0.0, 1.0)
MISSING, NOT_NUMBERS, OUTSIDE = "missing answers", "values that are not numbers", "values outside the domain"
INTEGERS = [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = [pa.float16(), pa.float32(), pa.float64()]
DECIMALS = [pa.decimal32(9, 4), pa.decimal64(18, 9), pa.decimal128(38, 20), pa.decimal256(70, 40)]
OTHER_TYPES = [
    pa.bool_(),
    pa.string(),
    pa.null(),
    pa.date32(),
    pa.duration("s"),
    pa.binary(8),
    pa.list_(pa.float64()),
    pa.dictionary(pa.int8(), pa.float64()),
]


def read(values, arrow_type=None, domain=UNIT):
    """Return what is read from one column."""
    block = pa.record_batch({"s": pa.array(values, arrow_type or pa.float64())})
    return SkillsQuestion(("s",), domain).read(block)


def written(numbers, arrow_type):
    """Return numbers as values of a type."""
    if pa.types.is_decimal(arrow_type):
        return [Decimal(str(number)) for number in numbers]
    return np.array(numbers, dtype=arrow_type.to_pandas_dtype())


@pytest.mark.parametrize("arrow_type", [*INTEGERS, *FLOATS, *DECIMALS], ids=str)
def test_numbers_of_any_type_are_read_as_float64(arrow_type):
    SkillsQuestion(("s",), (-3, 120)).parts[0].check_type(arrow_type, "part-0")
    numbers = [0, 1, 120, 7]
    reading = read(written(numbers, arrow_type), arrow_type, (-3, 120))
    assert (reading.codes.dtype, reading.codes.shape, reading.faults) == (np.float64, (4, 1), {})
    assert reading.codes[:, 0].tolist() == numbers
    column = pa.array([*written(numbers, arrow_type), None], arrow_type).slice(1)
    missing = SkillsQuestion(("s",), (-3, 120)).read(pa.record_batch({"s": column}))
    assert missing.faults == {("s", MISSING): 1}


@pytest.mark.parametrize("arrow_type", [*FLOATS[1:], *DECIMALS], ids=str)
@pytest.mark.parametrize("parts", [10, 100, 1000])
def test_written_decimals_are_read_as_the_same_numbers_from_every_type(arrow_type, parts):
    numbers = [place / parts for place in range(parts + 1)]
    assert read(written(numbers, arrow_type), arrow_type).codes[:, 0].tolist() == numbers


@pytest.mark.parametrize("arrow_type", [*FLOATS[1:], *DECIMALS], ids=str)
def test_case_k12_hundredths_lie_in_their_cells_whatever_they_are_written_as(arrow_type):
    numbers = [place / 100 for place in range(101)]
    cells = TreeCells((), (), (), 1, 0, (bin_edges(0.0, 1.0, 100),))
    places = cells.cells(read(written(numbers, arrow_type), arrow_type).codes)[:, 1] - 1
    assert places.tolist() == [*range(100), 99]


@given(bits=st.lists(st.integers(0, 2**32 - 1), min_size=1))
def test_floats_of_32_bits_keep_their_order_and_stay_themselves(bits):
    numbers = np.array(bits, dtype=np.uint32).view(np.float32)
    numbers = np.sort(numbers[np.abs(numbers) < 2**53])
    found = read(numbers, pa.float32(), (-(2.0**53) + 1, 2.0**53 - 1)).codes[:, 0]
    assert (found.astype(np.float32) == numbers).all()
    assert ((found[1:] > found[:-1]) == (numbers[1:] > numbers[:-1])).all()


@given(digits=st.lists(st.integers(-(10**38) + 1, 10**38 - 1), min_size=1), scale=st.integers(25, 38))
def test_decimals_are_correctly_rounded(digits, scale):
    numbers = [Decimal(f"{one}E-{scale}") for one in digits]
    reading = read(numbers, pa.decimal128(38, scale), (-1e14, 1e14))
    assert reading.codes[:, 0].tolist() == [float(Fraction(one, 10**scale)) for one in digits]


@given(
    numbers=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(2**53 - 3, 2**53 + 3), min_size=1),
    sign=st.sampled_from([1, -1]),
)
def test_an_integer_is_read_as_it_is_or_lies_outside_the_domain(numbers, sign):
    largest = float(2**53 - 1)
    numbers = [sign * max(number, 1 - 2**63) for number in numbers]
    reading = read(numbers, pa.int64(), (-largest, largest))
    beyond = sum(abs(number) >= 2**53 for number in numbers)
    assert reading.faults == ({("s", OUTSIDE): beyond} if beyond else {})
    if not beyond:
        assert [int(number) for number in reading.codes[:, 0]] == numbers


ODD = [math.nan, math.inf, -math.inf, None, -0.0, 0.0, 1.0, 5e-324, -5e-324]
ODD += [np.nextafter(1.0, 0), np.nextafter(1.0, 2), -1e308]
odd = st.sampled_from(ODD) | st.floats()


@given(rows=st.lists(st.tuples(odd, odd), max_size=30))
@example(rows=[(number, 0.5) for number in ODD])
@example(rows=[(-0.0, 1.0), (0.5, -0.0)])
def test_what_cannot_be_asked_is_counted_by_column_and_by_what_is_wrong(rows):
    columns = {name: pa.array([row[place] for row in rows], pa.float64()) for place, name in enumerate("ab")}
    found = SkillsQuestion(("a", "b"), UNIT).read(pa.record_batch(columns))
    faults = {}
    for place, name in enumerate("ab"):
        numbers = [row[place] for row in rows]
        present = [number for number in numbers if number is not None]
        faults[name, MISSING] = len(numbers) - len(present)
        faults[name, NOT_NUMBERS] = sum(math.isnan(number) for number in present)
        faults[name, OUTSIDE] = sum(not (math.isnan(number) or 0 <= number <= 1) for number in present)
    assert found.faults == {what: count for what, count in faults.items() if count}
    if not found.faults:
        assert found.codes.tolist() == [list(row) for row in rows]
        assert not np.signbit(found.codes).any()
        assert found.codes.flags.f_contiguous


@pytest.mark.parametrize("domain", [(0.0, 1.0), (-0.1, 0.3), (0.1, 0.7), (-5, 5), (1e-3, 1e15)], ids=str)
@pytest.mark.parametrize("arrow_type", FLOATS[1:], ids=str)
def test_the_ends_of_the_domain_are_in_it_and_the_next_numbers_are_not(domain, arrow_type):
    low, high = (np.array(end, dtype=arrow_type.to_pandas_dtype()) for end in domain)
    reading = read(np.array([low, high]), arrow_type, domain)
    assert (reading.faults, reading.codes[:, 0].tolist()) == ({}, list(domain))
    below, above = np.nextafter(low, low.dtype.type(-np.inf)), np.nextafter(high, high.dtype.type(np.inf))
    assert read(np.array([below, low, above]), arrow_type, domain).faults == {("s", OUTSIDE): 2}


@pytest.mark.parametrize("arrow_type", OTHER_TYPES, ids=str)
def test_a_column_that_holds_no_numbers_is_refused_by_place_name_and_type(arrow_type):
    first, second = SkillsQuestion(("a", "b"), UNIT).parts
    assert (first.column, second.column, first.missing) == ("a", "b", "none")
    with pytest.raises(SchemaError, match="must hold numbers") as caught:
        second.check_type(arrow_type, "part-0")
    assert (caught.value.where, caught.value.got) == ("part-0, column 'b'", f"type {arrow_type}")


@pytest.mark.parametrize(
    ("columns", "domain", "where"),
    [
        ((), UNIT, "skills.dimensions"),
        (("a", "b", "a"), UNIT, "skills.dimensions"),
        (("a",), (1.0, 0.0), "skills.domain"),
        (("a",), (0.5, 0.5), "skills.domain"),
        (("a",), (0.0, math.nan), "skills.domain"),
        (("a",), (0.0, math.inf), "skills.domain"),
        (("a",), (0, 2**53), "skills.domain"),
        (("a",), (-(2**53), 0), "skills.domain"),
    ],
    ids=str,
)
def test_columns_that_cannot_be_told_apart_and_domains_without_numbers_are_refused(columns, domain, where):
    with pytest.raises(SpecError) as caught:
        SkillsQuestion(columns, domain)
    assert caught.value.where == where


def test_a_label_tells_questions_apart_and_not_how_a_domain_is_written():
    questions = [(("a", "b"), UNIT), (("b", "a"), UNIT), (("a",), UNIT), (("a, b",), UNIT), (("a",), (0, 2))]
    assert len({SkillsQuestion(*question).label for question in questions}) == len(questions)
    assert SkillsQuestion(("a",), (0, 1)).label == SkillsQuestion(("a",), UNIT).label


def test_a_block_with_a_fault_gives_no_report_and_its_refusal_shows_no_number():
    block = pa.record_batch({"a": [0.123456, 1.987654, math.nan], "b": [None, 0.5, 0.5]})
    ask = SkillsQuestion(("a", "b"), UNIT), Aside()
    response = respond(ask, block, lambda answers: fresh_draws(len(answers)))
    assert response.reports is response.answers is None
    message = str(refusal({("file", *fault): rows for fault, rows in response.faults.items()}))
    assert "1 values outside the domain in column 'a' of file" in message
    assert "1 values that are not numbers in column 'a' of file" in message
    assert "1 missing answers in column 'b' of file" in message
    assert not any(number in message for number in ("123456", "987654"))


def test_skills_are_asked_as_one_question_that_imputes_nothing():
    question = SkillsQuestion(("a", "b"), UNIT)
    codes = question.read(pa.record_batch({"a": [0.5], "b": [1]})).codes
    assert (question.name, question.labels, question.imputes) == ("skills", (), False)
    assert question.impute(codes, fresh_draws(1)) is codes
