from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from udfs.asking import respond
from udfs.categories import CategoryQuestion
from udfs.collected import IMPOSSIBLE, Collected, CollectedReports, CollectedSets
from udfs.draws import fresh_draws
from udfs.errors import SchemaError
from udfs.mechanisms import MECHANISMS
from udfs.randomized_response import RandomizedResponse
from udfs.subset_selection import SubsetSelection

TEXT = CategoryQuestion("q", ("a", "b", "c"))
WITH_MISSING = CategoryQuestion("q", ("a", "b"), missing="category")
NUMBERS = CategoryQuestion("q", tuple(range(20)))
SIX = CategoryQuestion("q", tuple("abcdef"))
ASKED = [
    pytest.param(question, kind(question.cells, 1), id=f"{name} of {question.cells}")
    for question in (TEXT, WITH_MISSING, NUMBERS)
    for name, kind in MECHANISMS.items()
]
CODES, OUTSIDE, MISSING = RandomizedResponse(3, 1), "answers outside the categories", "missing answers"


def never(answers):
    raise AssertionError("a design that only reads draws nothing")


def read_back(question, design):
    """Return the question whose answers are the reports that a design made."""
    if getattr(design, "one_code", True):
        return CollectedReports(question, design.label)
    return CollectedSets(question, design.label, design)


def block_of(column):
    """Return a column of reports as a block."""
    return pa.record_batch({"q": column})


def reports_of(question, design, rows):
    """Return reports to answers of every cell."""
    answers = (np.arange(rows) % question.cells).astype(np.uint8)
    return design.randomize(answers, fresh_draws(rows))


@pytest.mark.parametrize(("question", "design"), ASKED)
def test_reports_read_back_add_up_to_the_same_counts(question, design):
    reports = reports_of(question, design, 60)
    column = design.to_arrow(reports, question.labels)
    asked = read_back(question, design)
    asked.check_type(column.type, "reports")
    for start, length in [(0, 60), (7, 30), (59, 1), (3, 0), (0, 0)]:
        read = respond((asked, Collected(design)), block_of(column.slice(start, length)), never)
        assert read.faults == {}
        assert read.reports.tolist() == reports[start : start + length].tolist()
        expected = design.tally(reports[start : start + length])
        assert Collected(design).tally(read.reports).tolist() == expected.tolist()


def test_a_null_report_is_the_cell_of_the_missing_where_there_is_one():
    block = block_of(pa.array(["a", None, "b", None]))
    found = CollectedReports(WITH_MISSING, CODES.label).read(block)
    assert (found.codes.tolist(), found.faults) == ([0, 2, 1, 2], {})
    assert CollectedReports(TEXT, CODES.label).read(block).faults == {("q", MISSING): 2}


def test_a_report_outside_the_categories_is_a_fault_even_where_such_an_answer_was_missing():
    lenient = CategoryQuestion("q", ("a", "b"), missing="category", undeclared="missing")
    for question in (WITH_MISSING, lenient):
        ask = (CollectedReports(question, CODES.label), Collected(CODES))
        response = respond(ask, block_of(pa.array(["a", "z", None])), never)
        assert response.reports is None
        assert response.faults == {("q", OUTSIDE): 1}


def test_a_null_report_is_a_fault_where_missing_answers_were_made_uniform_before_they_were_hidden():
    question = CategoryQuestion("q", ("a", "b", "c"), missing="random")
    found = CollectedReports(question, CODES.label).read(block_of(pa.array(["a", None])))
    assert found.faults == {("q", MISSING): 1}


def test_a_null_set_and_a_set_of_a_wrong_size_are_faults():
    design = SubsetSelection(6, 1)
    assert design.size == 2
    asked = CollectedSets(SIX, design.label, design)
    sets = [b"\x03", b"\x01", b"\x07", b"\x00", b"\x30"]
    assert asked.read(block_of(pa.array(sets, pa.binary(1)))).faults == {("q", IMPOSSIBLE): 3}
    found = asked.read(block_of(pa.array([*sets, None], pa.binary(1))))
    assert found.faults == {("q", MISSING): 1}


def test_sets_of_unary_encoding_may_be_of_any_size_but_hold_no_more_than_the_cells():
    design = MECHANISMS["optimized-unary"](6, 1)
    asked = CollectedSets(SIX, design.label, design)
    found = asked.read(block_of(pa.array([b"\x00", b"\x3f", b"\x05"], pa.binary(1))))
    assert found.faults == {}
    assert found.codes.astype(int).tolist() == [[0] * 6, [1] * 6, [1, 0, 1, 0, 0, 0]]
    assert asked.read(block_of(pa.array([b"\x40", b"\x01"], pa.binary(1)))).faults == {("q", IMPOSSIBLE): 1}


@pytest.mark.parametrize(
    "arrow_type", [pa.binary(), pa.binary(2), pa.string(), pa.uint8(), pa.list_(pa.bool_())]
)
def test_a_column_that_holds_no_sets_is_refused_by_place_name_and_type(arrow_type):
    design = SubsetSelection(6, 1)
    asked = CollectedSets(SIX, design.label, design)
    with pytest.raises(SchemaError, match="must hold reports as fixed_size_binary") as caught:
        asked.check_type(arrow_type, "part-0")
    assert caught.value.where == "part-0, column 'q'"
    assert caught.value.got == str(arrow_type)


def test_a_column_that_holds_no_categories_is_refused():
    with pytest.raises(SchemaError, match="must hold categories"):
        CollectedReports(TEXT, CODES.label).check_type(pa.int64(), "part-0")


@pytest.mark.parametrize(("question", "design"), ASKED)
def test_the_mechanism_that_only_reads_adds_up_as_its_design_and_makes_nothing(question, design):
    asked, mechanism = read_back(question, design), Collected(design)
    reports = np.arange(3, dtype=np.uint8)
    assert mechanism.randomize(reports, fresh_draws(3)) is reports
    assert asked.impute(reports, fresh_draws(3)) is reports
    assert not mechanism.draws
    assert not asked.imputes
    assert mechanism.zeros().tolist() == design.zeros().tolist() == [0] * design.cells
    assert mechanism.thresholds() == {}
    assert mechanism.label == "collected"
    assert asked.label == f"collected {question.label} {design.label}"
    assert (asked.name, asked.column, asked.labels) == (question.name, question.column, question.labels)
    assert asked.parts == (asked,)
    assert asked.missing == "none"
    with pytest.raises(NotImplementedError):
        mechanism.report_type(question.labels)
    with pytest.raises(NotImplementedError):
        mechanism.to_arrow(reports, question.labels)


def test_a_set_with_a_bit_beyond_the_cells_is_no_report():
    sets = SubsetSelection(6, 1)
    column = pa.array([b"\x03", b"\xc3", b"\x41"], pa.binary(1))
    assert sets.size == 2
    assert CollectedSets(SIX, sets.label, sets).read(block_of(column)).faults == {("q", IMPOSSIBLE): 2}
