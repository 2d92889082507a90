from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.statistics import UnlikelyError, assert_law
from tests.udfs.laws import EPSILONS, assert_private, exp_below, response_law
from tests.udfs.scripted import ScriptedDraws
from udfs.asking import respond
from udfs.categories import CategoryQuestion
from udfs.draws import IdDraws, RowDraws, fresh_draws
from udfs.errors import SpecError
from udfs.exact import WORD
from udfs.randomized_response import RandomizedResponse
from udfs.sampled_response import SampledResponse
from udfs.several import SideBySide

SHAPES = [(2, 2), (2, 3), (3, 2, 4), (5, 2)]


def answers_of(shape):
    """Return every tuple of answers."""
    return list(product(*map(range, shape)))


def together(shape, laws, turns):
    """Return the law of reports (attribute, code), a column a tuple of answers, from each attribute's own."""
    return [
        [turns(answers)[place] * laws[place][code][answers[place]] for answers in answers_of(shape)]
        for place, cells in enumerate(shape)
        for code in range(cells)
    ]


def evenly(shape):
    """Return what chooses each attribute equally often, whatever the answers are."""
    return lambda answers: [Fraction(1, len(shape))] * len(shape)


def law_of(design, turns=None):
    """Return the law that a design should have."""
    laws = [one.law for one in design.designs]
    return together(design.shape, laws, turns or evenly(design.shape))


def ideal_law(shape, epsilon):
    """Return the law before anything is rounded to a word."""
    return together(shape, [response_law(cells, exp_below(epsilon)) for cells in shape], evenly(shape))


def pieces_of(design):
    """Return pieces of the range of words within which a report stays: (a word, its share, a second digit)."""
    others = design.cells - 1
    lie, uneven = divmod(WORD - design.truth, others)
    lies = [(place * lie, Fraction(lie, WORD), 0) for place in range(others) if lie]
    rest = [(others * lie, Fraction(uneven, WORD * others), digit) for digit in range(others) if uneven]
    return [*lies, *rest, (WORD - 1, Fraction(design.truth, WORD), 0)]


def law_of_code(design):
    """Return the law that `randomize` has: run on every turn, and on every piece of the other words."""
    columns = answers_of(design.shape)
    codes = sum(design.shape)
    law = [[Fraction(0)] * len(columns) for _ in range(codes)]
    runs = [(turn, *piece) for turn, one in enumerate(design.designs) for piece in pieces_of(one)]
    turns, words, shares, digits = zip(*runs, strict=True)
    for column, answers in enumerate(columns):
        draws = ScriptedDraws({0: turns, 1: words, 3: digits})
        reports = design.randomize(np.tile(np.array(answers, dtype=np.uint8), (len(runs), 1)), draws)
        for report, share in zip(reports.tolist(), shares, strict=True):
            law[report][column] += share / len(design.shape)
    return law


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_law_is_exactly_private_for_all_answers_together(shape, epsilon):
    assert_private(law_of(SampledResponse(shape, epsilon)), ideal_law(shape, epsilon), epsilon)


@given(
    shape=st.lists(st.integers(2, 6), min_size=1, max_size=3), epsilon=st.decimals("1e-6", "44", places=17)
)
def test_the_law_is_exactly_private_at_any_epsilon(shape, epsilon):
    design = SampledResponse(tuple(shape), epsilon)
    assert_private(law_of(design), ideal_law(design.shape, epsilon), epsilon)


@pytest.mark.parametrize("epsilon", [Decimal("0.1"), Decimal(1), Decimal(5), Decimal(44)])
@pytest.mark.parametrize("shape", SHAPES)
def test_reports_follow_the_law_word_for_word(shape, epsilon):
    design = SampledResponse(shape, epsilon)
    assert law_of_code(design) == law_of(design)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_tenth_more_epsilon_is_caught(epsilon):
    mutant = SampledResponse((2, 3), epsilon * Decimal("1.1"))
    with pytest.raises(AssertionError, match="a ratio exceeds"):
        assert_private(law_of(mutant), ideal_law((2, 3), epsilon), epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_choice_that_depends_on_an_answer_is_caught(epsilon):
    """However little: a hundredth more turns for those whose first answer is the first."""

    def turns(answers):
        return [Fraction(51, 100), Fraction(49, 100)] if answers[0] == 0 else [Fraction(1, 2)] * 2

    with pytest.raises(AssertionError, match=r"a ratio exceeds|far from the ideal"):
        assert_private(law_of(SampledResponse((2, 3), epsilon), turns), ideal_law((2, 3), epsilon), epsilon)


def test_the_turn_is_an_exactly_uniform_draw_that_no_answer_moves():
    design = SampledResponse((2, 2, 2), Decimal(1000))
    refused = WORD - WORD % 3
    draws = ScriptedDraws({0: [0, 1, 2, refused], 2: [9, 9, 9, 4], 1: [WORD - 1] * 4, 3: [0] * 4})
    for answers in answers_of((2, 2, 2)):
        reports = design.randomize(np.array([answers] * 4, dtype=np.uint8), draws)
        assert reports.tolist() == [answers[0], 2 + answers[1], 4 + answers[2], 2 + answers[1]]


DESIGN, ANSWERS = SampledResponse((2, 3), Decimal(1)), (0, 2)
COLUMN = answers_of(DESIGN.shape).index(ANSWERS)


def column_of(law):
    """Return what the reports of those answers follow."""
    return [float(row[COLUMN]) for row in law]


def first_if_first(answers, draws):
    """Report on the first attribute wherever its answer is the first."""
    reports = DESIGN.randomize(answers, draws)
    own = DESIGN.designs[0].randomize(answers[:, 0], draws)
    return np.where(answers[:, 0] == 0, own, reports)


MORE = SampledResponse((2, 3), Decimal("1.1"))
MUTANTS = {
    "epsilon x 1.1": (MORE.randomize, column_of(law_of(MORE))),
    "choice by answer": (
        first_if_first,
        column_of(law_of(DESIGN, lambda answers: [1, 0] if answers[0] == 0 else [Fraction(1, 2)] * 2)),
    ),
}


def by_row(secret, answers):
    """Return the draws of one block of rows."""
    return RowDraws(secret.key("q"), len(answers))


def by_id(secret, answers):
    """Return the draws of respondents with ids from 0."""
    ids = np.zeros((len(answers), 2), dtype=np.uint64)
    ids[:, 0] = np.arange(len(answers))
    return IdDraws(secret.key("q"), ids, answers)


@pytest.mark.parametrize("draws_of", [by_row, by_id])
@pytest.mark.parametrize("mutant", MUTANTS)
def test_reports_follow_their_law_and_those_of_a_mutant_do_not(draws_of, mutant):
    def counter(randomize):
        def sample(secret, rows):
            answers = np.tile(np.array(ANSWERS, dtype=np.uint8), (rows, 1))
            return DESIGN.tally(randomize(answers, draws_of(secret, answers)))

        return sample

    randomize, law_of_mutant = MUTANTS[mutant]
    law = column_of(law_of(DESIGN))
    assert_law(counter(DESIGN.randomize), law, law_of_mutant)
    with pytest.raises(UnlikelyError):
        assert_law(counter(randomize), law, law_of_mutant)


QUESTION = SideBySide(
    "either",
    (CategoryQuestion("a", ("x", "y"), missing="category"), CategoryQuestion("b", (1, 2), missing="random")),
)


def test_rows_whose_blanks_are_filled_are_randomized_like_any_other():
    design = SampledResponse(QUESTION.shape, Decimal(1000))
    block = pa.record_batch({"a": ["y", None, "x", None], "b": [None, None, 2, 1]})
    turns, own = {0: [0, 1, 1, 0]}, {2: [WORD - 1] * 4}  # the mechanism's lane
    blanks = {3: [1, 0, 9, 9]}  # the second question's words in the lane of blanks
    words = turns | own | blanks
    response = respond((QUESTION, design), block, lambda answers: ScriptedDraws(words))
    assert response.reports.tolist() == [1, 3, 4, 2]


@given(answers=st.lists(st.sampled_from(answers_of((2, 3))), max_size=40))
def test_reports_add_up_code_by_code_and_come_apart_by_attribute(answers):
    rows = np.array(answers, dtype=np.uint8).reshape(-1, 2)
    reports = DESIGN.randomize(rows, fresh_draws(len(rows)))
    counts = DESIGN.tally(reports)
    assert counts.tolist() == [np.count_nonzero(reports == code) for code in range(5)]
    apart = [DESIGN.counts_of(place, counts) for place in range(2)]
    assert [part.tolist() for part in apart] == [counts[:2].tolist(), counts[2:].tolist()]
    assert sum(part.sum() for part in apart) == len(rows)
    assert (DESIGN.zeros() + counts).tolist() == counts.tolist()
    assert DESIGN.zeros().dtype == counts.dtype == np.int64


@pytest.mark.parametrize("shape", SHAPES)
def test_each_attribute_s_part_of_the_law_estimates_its_share_without_bias(shape):
    """Each attribute's expected reports, rebuilt by its own design, are its answer, one in so many times."""
    design = SampledResponse(shape, Decimal(1))
    law = np.array(law_of(design), dtype=float)
    for column, answers in enumerate(answers_of(shape)):
        for place, own in enumerate(design.designs):
            observed = design.counts_of(place, law[:, column])
            assert observed.sum() == pytest.approx(1 / len(shape))
            shares = own.reconstruct(observed * len(shape))
            assert shares == pytest.approx(np.eye(own.cells)[answers[place]], abs=1e-12)


@pytest.mark.parametrize(
    ("shape", "dtype"), [((2, 3), np.uint8), ((100, 27), np.uint8), ((100, 28), np.uint16)]
)
def test_codes_are_as_small_as_their_number_allows_and_none_is_lost(shape, dtype):
    design = SampledResponse(shape, Decimal(1000))
    last = np.tile(np.array([one - 1 for one in shape], dtype=np.uint8), (200, 1))
    reports = design.randomize(last, fresh_draws(200))
    assert reports.dtype == dtype
    assert set(reports.tolist()) == {shape[0] - 1, sum(shape) - 1}
    assert design.starts == (0, shape[0], sum(shape))


def test_nobody_and_one_alone_report():
    assert DESIGN.randomize(np.empty((0, 2), dtype=np.uint8), fresh_draws(0)).tolist() == []
    assert 0 <= DESIGN.randomize(np.array([[1, 2]], dtype=np.uint8), fresh_draws(1))[0] < 5


def test_reports_are_a_dictionary_of_the_labels():
    labels = QUESTION.labels
    design = SampledResponse(QUESTION.shape, Decimal(1))
    column = design.to_arrow(np.array([4, 0, 2], dtype=np.uint8), labels)
    assert column.type == design.report_type(labels) == pa.dictionary(pa.uint8(), pa.string())
    assert [json.loads(one) for one in column.to_pylist()] == [["b", 2], ["a", "x"], ["a", None]]


def test_the_label_and_the_thresholds_are_those_of_every_attribute_s_design():
    assert DESIGN.thresholds() == {"truth_0": DESIGN.designs[0].truth, "truth_1": DESIGN.designs[1].truth}
    assert DESIGN.designs == (RandomizedResponse(2, 1), RandomizedResponse(3, 1))
    designs = [((2, 3), 1), ((3, 2), 1), ((2, 3), "1.1"), ((2, 3, 2), 1)]
    labels = {SampledResponse(shape, Decimal(epsilon)).label for shape, epsilon in designs}
    assert len(labels) == len(designs)
    assert SampledResponse((2, 3), Decimal("1.0")).label == DESIGN.label


@pytest.mark.parametrize(("shape", "epsilon"), [((2, 1), 1), ((2, 3), 0), ((2, 3), -1), ((2, 3), "NaN")])
def test_what_is_no_design_is_refused(shape, epsilon):
    with pytest.raises(SpecError):
        SampledResponse(shape, Decimal(epsilon))
