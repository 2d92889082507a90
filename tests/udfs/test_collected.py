from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from udfs.asking import respond
from udfs.categories import CategoryQuestion
from udfs.collected import Collected, CollectedReports
from udfs.errors import SchemaError
from udfs.randomized_response import RandomizedResponse
from udfs.streams import fresh_draws
from udfs.subset_selection import SubsetSelection

TEXT = CategoryQuestion("q", ("a", "b", "c"))
WITH_MISSING = CategoryQuestion("q", ("a", "b"), missing="category")
NUMBERS = CategoryQuestion("q", tuple(range(20)))
ASKED = [
    (question, kind(question.cells, 1))
    for question in (TEXT, WITH_MISSING, NUMBERS)
    for kind in (RandomizedResponse, SubsetSelection)
]


def never(answers):
    raise AssertionError("a design that only reads draws nothing")


@pytest.mark.parametrize(("question", "design"), ASKED)
def test_reports_read_back_add_up_to_the_same_counts(question, design):
    answers = (np.arange(60) % question.cells).astype(np.uint8)
    reports = design.randomize(answers, fresh_draws(60))
    column = design.to_arrow(reports, question.labels)
    asked = CollectedReports(question, design)
    asked.check_type(column.type, "reports")
    for start, length in [(0, 60), (7, 30), (59, 1), (3, 0)]:
        read = respond((asked, Collected(design)), column.slice(start, length), never)
        assert read.faults == {}
        expected = design.tally(reports[start : start + length])
        assert Collected(design).tally(read.reports).tolist() == expected.tolist()


def test_a_null_report_is_the_cell_of_the_missing_where_there_is_one():
    column = pa.array(["a", None, "b", None])
    found = CollectedReports(WITH_MISSING, RandomizedResponse(3, 1)).encode(column)
    assert (found.codes.tolist(), found.missing, found.undeclared) == ([0, 2, 1, 2], 0, 0)
    found = CollectedReports(TEXT, RandomizedResponse(3, 1)).encode(column)
    assert (found.missing, found.undeclared) == (2, 0)


def test_a_report_outside_the_categories_is_a_fault():
    ask = (CollectedReports(WITH_MISSING, RandomizedResponse(3, 1)), Collected(RandomizedResponse(3, 1)))
    response = respond(ask, pa.array(["a", "z", None]), never)
    assert response.reports is None
    assert response.faults == {"answers outside the categories": 1}


def test_a_null_set_and_a_set_of_a_wrong_size_are_faults():
    design = SubsetSelection(6, 1)
    assert design.size == 2
    asked = CollectedReports(CategoryQuestion("q", tuple("abcdef")), design)
    sets = [b"\x03", b"\x01", b"\x07", b"\x00", b"\x30"]
    found = asked.encode(pa.array(sets, pa.binary(1)))
    assert (found.missing, found.undeclared) == (0, 3)
    found = asked.encode(pa.array([*sets, None], pa.binary(1)))
    assert found.missing == 1


@pytest.mark.parametrize(
    "arrow_type", [pa.binary(), pa.binary(2), pa.string(), pa.uint8(), pa.list_(pa.bool_())]
)
def test_a_column_that_holds_no_sets_is_refused_by_place_name_and_type(arrow_type):
    asked = CollectedReports(CategoryQuestion("q", tuple("abcdef")), SubsetSelection(6, 1))
    with pytest.raises(SchemaError, match="must hold reports as fixed_size_binary") as caught:
        asked.check_type(arrow_type, "part-0")
    assert caught.value.where == "part-0, column 'q'"
    assert caught.value.got == str(arrow_type)


def test_a_column_that_holds_no_categories_is_refused():
    with pytest.raises(SchemaError, match="must hold categories"):
        CollectedReports(TEXT, RandomizedResponse(3, 1)).check_type(pa.int64(), "part-0")


@pytest.mark.parametrize(("question", "design"), ASKED)
def test_the_mechanism_that_only_reads_is_its_design_in_all_else(question, design):
    asked, mechanism = CollectedReports(question, design), Collected(design)
    reports = np.arange(3, dtype=np.uint8)
    assert mechanism.randomize(reports, fresh_draws(3)) is reports
    assert asked.impute(reports, fresh_draws(3)) is reports
    assert not mechanism.draws
    assert mechanism.zeros().tolist() == [0] * design.cells
    assert mechanism.thresholds() == design.thresholds()
    assert mechanism.report_type(question.labels) == design.report_type(question.labels)
    assert mechanism.label == f"collected {design.label}"
    assert asked.label == f"collected {question.label} {design.label}"
    assert (asked.column, asked.labels) == (question.column, question.labels)
    assert (asked.missing, asked.undeclared) == ("none", "refuse")
    made = design.randomize(np.zeros(4, dtype=np.uint8), fresh_draws(4))
    assert mechanism.to_arrow(made, question.labels) == design.to_arrow(made, question.labels)


def test_a_set_with_a_bit_beyond_the_cells_is_no_report():
    asked, sets = CategoryQuestion("x", tuple("abcdef")), SubsetSelection(6, 1)
    column = pa.array([b"\x03", b"\xc3"], pa.binary(1))
    assert sets.size == 2
    assert CollectedReports(asked, sets).encode(column).undeclared == 1
