from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.laws import EPSILONS, assert_private, exp_below, response_law
from tests.udfs.scripted import ScriptedDraws
from tests.vectors import load
from udfs.draws import fresh_draws
from udfs.errors import SpecError
from udfs.exact import WORD
from udfs.randomized_response import RandomizedResponse

CASES = {case["id"]: case for case in load("survey_field_cases")}
ALL_CELLS = range(2, 65)


def assert_design_private(law, cells, epsilon):
    """Check a matrix of randomized response against epsilon and against the ideal matrix."""
    assert_private(law, response_law(cells, exp_below(epsilon)), epsilon)


def law_of(cells, truth):
    """Return the matrix with this diagonal and equal parts of what is left."""
    lie = (1 - truth) / (cells - 1)
    return [[truth if u == v else lie for v in range(cells)] for u in range(cells)]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_law_is_exactly_private_for_2_to_64_cells(epsilon):
    for cells in ALL_CELLS:
        assert_design_private(RandomizedResponse(cells, epsilon).law, cells, epsilon)


@given(cells=st.integers(2, 64), epsilon=st.decimals("1e-6", "44", places=17))
def test_the_law_is_exactly_private_at_any_epsilon(cells, epsilon):
    assert_design_private(RandomizedResponse(cells, epsilon).law, cells, epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cells", [2, 3, 6, 64])
def test_a_law_of_a_tenth_more_epsilon_is_caught(cells, epsilon):
    mutant = RandomizedResponse(cells, epsilon * Decimal("1.1")).law
    with pytest.raises(AssertionError, match="a ratio exceeds"):
        assert_design_private(mutant, cells, epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cells", [2, 3, 6, 64])
def test_a_law_that_rounds_up_by_one_word_is_caught(cells, epsilon):
    mutant = law_of(cells, Fraction(RandomizedResponse(cells, epsilon).truth + 1, WORD))
    with pytest.raises(AssertionError, match="a ratio exceeds"):
        assert_design_private(mutant, cells, epsilon)


@pytest.mark.parametrize(("cells", "epsilon"), [(2, "1"), (3, "1"), (6, "2"), (64, "0.1")])
def test_a_law_of_floats_is_caught(cells, epsilon):
    keep = Fraction(1 / (1 + (cells - 1) * math.exp(-float(epsilon))))
    with pytest.raises(AssertionError, match=r"a ratio exceeds|far from the ideal"):
        assert_design_private(law_of(cells, keep), cells, Decimal(epsilon))


def test_a_law_that_never_lies_is_caught():
    with pytest.raises(AssertionError, match="betrays"):
        assert_design_private(law_of(3, Fraction(1)), 3, Decimal(1))


def report_of(design, answer, word, second):
    """Return the report of an answer, in plain integers, as the docstring of `randomize` says."""
    others = design.cells - 1
    lie, uneven = divmod(WORD - design.truth, others)
    if word < others * lie:
        return (answer + word // lie + 1) % design.cells
    return (answer + second % others + 1) % design.cells if word < others * lie + uneven else answer


def edges(design):
    """Return every word at which the report changes, and the word before each."""
    lie, uneven = divmod(WORD - design.truth, design.cells - 1)
    starts = [place * lie for place in range(design.cells)] + [(design.cells - 1) * lie + uneven, WORD]
    return sorted({word for start in starts for word in (start - 1, start) if 0 <= word < WORD})


def assert_reports_follow_the_law(cells, epsilon):
    """Check the report of every answer class at every edge, with every kind of second word."""
    design = RandomizedResponse(cells, epsilon)
    words = edges(design)
    seconds = [*range(cells - 1), WORD - 1 - WORD % (cells - 1)]
    rows = [
        (answer, word, seconds[place % len(seconds)])
        for answer in (0, 1, cells // 2, cells - 1)
        for place, word in enumerate(words)
    ]
    answers, first, second = (list(column) for column in zip(*rows, strict=True))
    reports = design.randomize(np.array(answers, dtype=np.uint32), ScriptedDraws({0: first, 1: second}))
    assert reports.tolist() == [report_of(design, *row) for row in rows]


@pytest.mark.parametrize("epsilon", [*EPSILONS, Decimal(1000)])
def test_reports_follow_the_law_word_for_word(epsilon):
    for cells in ALL_CELLS:
        assert_reports_follow_the_law(cells, epsilon)


@pytest.mark.parametrize("cells", [127, 128, 300, 32_767, 32_768, 40_000])
def test_reports_follow_the_law_where_their_type_changes(cells):
    assert_reports_follow_the_law(cells, Decimal(2))


def test_a_lie_that_does_not_divide_evenly_is_an_exactly_uniform_second_draw():
    design = RandomizedResponse(4, 1000)  # one lie in 2**64, among three cells
    assert divmod(WORD - design.truth, 3) == (0, 1)
    draws = ScriptedDraws(
        {0: [0, 0, 0, 0, 1], 1: [0, 1, 2, WORD - 1, WORD - 1], 3: [9, 9, 9, WORD - 1, 9], 5: [9, 9, 9, 4, 9]}
    )
    assert design.randomize(np.zeros(5, dtype=np.uint8), draws).tolist() == [1, 2, 3, 2, 0]


def test_one_word_a_row_is_read_where_no_lie_is_uneven():
    draws = ScriptedDraws({0: [0, WORD - 1]})
    assert RandomizedResponse(2, 1).randomize(np.zeros(2, dtype=np.uint8), draws).tolist() == [1, 0]
    assert draws.read == [0]


def test_one_row_by_itself_is_what_a_respondents_device_sends():
    design = RandomizedResponse(5, 1)
    reports = design.randomize(np.array([4], dtype=np.uint8), fresh_draws(1))
    assert reports.shape == (1,)
    assert 0 <= reports[0] < 5


def test_no_rows_give_no_reports():
    design = RandomizedResponse(5, 1)
    reports = design.randomize(np.array([], dtype=np.uint8), fresh_draws(0))
    assert reports.shape == (0,)
    assert design.tally(reports).tolist() == [0] * 5


@given(data=st.data(), cells=st.sampled_from([2, 3, 16, 17, 200]))
def test_the_tally_of_blocks_adds_up_to_the_tally_of_all(data, cells):
    design = RandomizedResponse(cells, 1)
    reports = np.array(data.draw(st.lists(st.integers(0, cells - 1), max_size=50)), dtype=np.uint8)
    cut = data.draw(st.integers(0, len(reports)))
    whole = design.tally(reports)
    assert whole.tolist() == np.bincount(reports, minlength=cells).tolist()
    assert whole.dtype == np.int64
    assert (
        design.zeros() + design.tally(reports[:cut]) + design.tally(reports[cut:])
    ).tolist() == whole.tolist()


def test_case_r01_the_lie_is_never_the_truth():
    case = CASES["R01"]
    for cells in case["input"]["k"]:
        design, expected = RandomizedResponse(cells, case["input"]["epsilon"]), case["expect"][f"k={cells}"]
        assert float(design.support_if_true) == pytest.approx(expected["keep"], abs=1e-6)
        assert float(design.support_if_false) == pytest.approx(expected["other"], abs=1e-6)
        assert float(design.largest_ratio) == pytest.approx(case["expect"]["max_ratio"], abs=1e-6)


@pytest.mark.parametrize("epsilon", CASES["R02"]["input"]["epsilon"])
def test_case_r02_a_very_large_epsilon_switches_the_noise_off(epsilon):
    case = CASES["R02"]
    domain = case["input"]["domain"]
    answers = np.array([domain.index(answer) for answer in case["input"]["answers"]], dtype=np.uint8)
    design = RandomizedResponse(len(domain), epsilon)
    reports = design.randomize(answers, fresh_draws(len(answers)))
    assert reports.tolist() == answers.tolist()
    shares = design.estimate(design.tally(reports), len(answers)).shares
    assert shares == pytest.approx(list(case["expect"]["shares"].values()), abs=case["expect"]["tol"])


@pytest.mark.parametrize("epsilon", [CASES["R03"]["input"]["epsilon"], 1e-20])
def test_case_r03_a_singular_design_is_refused(epsilon):
    with pytest.raises(SpecError, match="epsilon"):
        RandomizedResponse(len(CASES["R03"]["input"]["domain"]), epsilon)


def test_case_r06_negative_shares_are_given_as_they_are():
    case = CASES["R06"]
    counts = np.array(case["input"]["reported_counts"])
    estimate = RandomizedResponse(3, case["input"]["epsilon"]).estimate(counts, 100)
    assert estimate.shares == pytest.approx(case["expect"]["raw"], abs=case["expect"]["tol"])
    assert estimate.shares.sum() == pytest.approx(1)
    # The case divides by n and has .08; the unbiased variance divides by n - 1.
    assert np.sqrt(np.diag(estimate.covariance)) == pytest.approx([0, 0.0804, 0.0804], abs=1e-4)
    assert np.sqrt(np.diag(estimate.covariance) * 99 / 100) == pytest.approx(case["expect"]["se"], abs=1e-6)


def test_reports_are_a_dictionary_of_the_labels():
    design = RandomizedResponse(3, 1)
    column = design.to_arrow(np.array([2, 0, 1], dtype=np.uint8), ("a", "b", "c"))
    assert column.type == design.report_type(("a", "b", "c")) == pa.dictionary(pa.uint8(), pa.string())
    assert column.to_pylist() == ["c", "a", "b"]


def test_the_cell_of_those_who_did_not_answer_is_a_null_report():
    design = RandomizedResponse(3, 1)
    column = design.to_arrow(np.array([2, 0, 1, 2], dtype=np.uint8), (7, 8, None))
    assert column.type == design.report_type((7, 8, None)) == pa.dictionary(pa.uint8(), pa.int64())
    assert column.to_pylist() == [None, 7, 8, None]


def test_the_label_tells_designs_apart_and_equal_ones_not():
    labels = {RandomizedResponse(cells, epsilon).label for cells in (2, 3) for epsilon in (1, 1.1)}
    assert len(labels) == 4
    assert RandomizedResponse(2, 1).label == RandomizedResponse(2, Decimal("1.00")).label
    assert RandomizedResponse(2, 1).thresholds() == {"truth": RandomizedResponse(2, 1).truth}
