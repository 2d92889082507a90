from __future__ import annotations

import json
from itertools import pairwise, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.statistics import UnlikelyError, assert_law
from tests.udfs.scripted import ScriptedDraws
from udfs.asking import respond
from udfs.categories import CategoryQuestion
from udfs.draws import IdDraws, RowDraws, fresh_draws
from udfs.errors import SpecError
from udfs.identity import IdColumn
from udfs.randomized_response import RandomizedResponse
from udfs.sampled_response import SampledResponse
from udfs.several import LARGEST_PRODUCT, ProductQuestion, SideBySide
from udfs.streams import Secret

KINDS = (ProductQuestion, SideBySide)
TYPES = (
    pa.int8(),
    pa.uint16(),
    pa.int64(),
    pa.float16(),
    pa.float64(),
    pa.string(),
    pa.large_string(),
    pa.dictionary(pa.int32(), pa.string()),
)


def question_of(place, cells, missing="none", undeclared="refuse"):
    """Return a question whose categories are the numbers from 0."""
    return CategoryQuestion(f"q{place}", tuple(range(cells)), missing, undeclared)


def block_of(columns, types=None):
    """Return columns of numbers, None where there is no answer, as a block."""
    types = types or [pa.int64()] * len(columns)
    arrays = [
        pa.array([None if one is None else str(one) for one in column], pa.string()).cast(kind)
        if not pa.types.is_floating(kind)
        else pa.array([None if one is None else np.float16(one) for one in column], pa.float16()).cast(kind)
        for column, kind in zip(columns, types, strict=True)
    ]
    return pa.record_batch(arrays, [f"q{place}" for place in range(len(columns))])


@st.composite
def surveys(draw):
    """Draw some questions, rows of answers to them with blanks where they may be, and columns' types."""
    parts = [
        question_of(place, draw(st.integers(2, 6)), draw(st.sampled_from(["none", "category", "random"])))
        for place in range(draw(st.integers(2, 4)))
    ]
    rows = draw(st.integers(0, 10))
    columns = []
    for part in parts:
        answers = st.sampled_from(part.categories)
        answers = answers if part.missing == "none" else answers | st.none()
        columns.append(draw(st.lists(answers, min_size=rows, max_size=rows)))
    return parts, columns, [draw(st.sampled_from(TYPES)) for _ in parts]


def cells_after(question, codes):
    """Return each question's cells where the blanks are filled, row by row."""
    if isinstance(question, SideBySide):
        return codes.tolist()
    return np.column_stack(np.unravel_index(codes, question.shape)).tolist()


@pytest.mark.parametrize("kind", KINDS)
@given(survey=surveys())
def test_answers_in_columns_of_any_types_are_told_apart_and_blanks_alone_are_filled(kind, survey):
    parts, columns, types = survey
    question = kind("all", tuple(parts))
    reading = question.read(block_of(columns, types))
    assert reading.faults == {}
    codes = reading.codes
    if question.imputes:
        codes = question.impute(codes, fresh_draws(len(codes)))
    assert len(codes) == len(columns[0])
    for row, cells in enumerate(cells_after(question, codes)):
        for part, column, cell in zip(parts, columns, cells, strict=True):
            if column[row] is not None:
                assert cell == column[row]
            elif part.missing == "category":
                assert cell == len(part.categories)
            else:
                assert cell in part.categories


@given(survey=surveys())
def test_a_product_s_codes_are_the_ravel_of_its_parts_codes(survey):
    parts, columns, types = survey
    question, block = ProductQuestion("all", tuple(parts)), block_of(columns, types)
    apart = [part.read(block).codes for part in parts]
    widths = [part.cells + (part.missing == "random") for part in parts]
    assert question.read(block).codes.tolist() == np.ravel_multi_index(apart, widths).tolist()
    together = SideBySide("all", tuple(parts)).read(block).codes
    assert together.tolist() == np.column_stack(apart).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_a_product_of_many_cells_keeps_every_code_apart(kind):
    """The codes read go up to 6 * 300 * 141 - 1: beyond 16 bits, where blanks are counted too."""
    parts = (question_of(0, 5, "random"), question_of(1, 300), question_of(2, 140, "category"))
    columns = [[4, None, 0], [299, 299, 0], [None, 139, 0]]
    question = kind("all", parts)
    read = question.read(block_of(columns)).codes
    draws = ScriptedDraws({0: [9, 3, 9]})
    assert cells_after(question, question.impute(read, draws)) == [[4, 299, 140], [3, 299, 139], [0, 0, 0]]
    if kind is ProductQuestion:
        assert read.tolist() == [(4 * 300 + 299) * 141 + 140, (5 * 300 + 299) * 141 + 139, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_filling_blanks_is_exactly_uniform_and_independent_of_one_another(kind):
    """Each question reads words of its own, and all words below the product of the cells give each tuple once."""
    cells = (3, 2, 4)
    question = kind("all", tuple(question_of(place, one, "random") for place, one in enumerate(cells)))
    words = list(product(*map(range, cells)))
    blank = question.read(block_of([[None] * len(words)] * 3)).codes
    draws = ScriptedDraws({place: [row[place] for row in words] for place in range(3)})
    filled = cells_after(question, question.impute(blank, draws))
    assert filled == [list(row) for row in words]
    assert sorted(draws.read) == [0, 1, 2]


class OneWord:
    """A source that gives its first word to everybody who asks."""

    def __init__(self, draws):
        self._draws = draws

    def __len__(self):
        return len(self._draws)

    def words(self, index):
        return self._draws.words(0)


@pytest.mark.parametrize("kind", KINDS)
def test_blanks_are_filled_evenly_by_real_draws_and_by_one_word_for_all_they_are_not(kind):
    question = kind("all", (question_of(0, 3, "random"), question_of(1, 3, "random")))

    def counter(source):
        def sample(secret, rows):
            blank = question.read(block_of([[None, 0]] * 2)).codes[:1].repeat(rows, axis=0)
            cells = np.array(cells_after(question, question.impute(blank, source(secret, rows))))
            return np.bincount(cells @ [3, 1], minlength=9)

        return sample

    def own(secret, rows):
        return RowDraws(secret.key("blanks"), rows)

    law, mutant = [1 / 9] * 9, (np.eye(3) / 3).ravel().tolist()
    assert_law(counter(own), law, mutant)
    with pytest.raises(UnlikelyError):
        assert_law(counter(lambda secret, rows: OneWord(own(secret, rows))), law, mutant)


def test_nothing_is_drawn_where_no_answer_is_blank():
    parts = (question_of(0, 3, "random"), question_of(1, 3, "random"))
    for kind in KINDS:
        question = kind("all", parts)
        codes, draws = question.read(block_of([[0, 1], [2, 0]])).codes, ScriptedDraws({0: [0, 0]})
        assert cells_after(question, question.impute(codes, draws)) == [[0, 2], [1, 0]]
        assert draws.read == []


@pytest.mark.parametrize("kind", KINDS)
def test_faults_are_named_by_each_column_and_nothing_is_drawn(kind):
    parts = (question_of(0, 2), question_of(1, 3, "category", "missing"), question_of(2, 2, "random"))
    question = kind("all", parts)
    block = block_of([[0, None, None, 7], [0, 1, 9, None], [0, 5, 1, None]])
    faults = {
        ("q0", "missing answers"): 2,
        ("q0", "answers outside the categories"): 1,
        ("q2", "answers outside the categories"): 1,
    }
    assert question.read(block).faults == faults

    def never(answers):
        raise AssertionError("nothing may be drawn")

    response = respond((question, RandomizedResponse(16, 1)), block, never)
    assert (response.reports, response.faults) == (None, faults)


def test_a_product_of_too_many_cells_is_refused_blanks_that_are_filled_counted_too():
    def binary(questions, missing="none"):
        return ProductQuestion("all", tuple(question_of(place, 2, missing) for place in range(questions)))

    assert binary(20).cells == LARGEST_PRODUCT
    codes = binary(20).read(block_of([[1]] * 20)).codes
    assert codes.tolist() == [LARGEST_PRODUCT - 1]
    assert binary(12, "random").read(block_of([[None]] * 12)).codes.tolist() == [3**12 - 1]
    for questions, missing, cells in [
        (21, "none", "2,097,152"),
        (13, "category", "1,594,323"),
        (13, "random", "1,594,323"),
        (30, "random", "205,891,132,094,649"),
    ]:
        with pytest.raises(SpecError, match="all: a product must have 1,048,576 cells at most") as caught:
            binary(questions, missing)
        assert caught.value.got == cells
    wide = SideBySide("all", tuple(question_of(place, 2) for place in range(40)))
    assert len(wide.labels) == 80


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("places", [(), (0,), (1, 1), (0, 1, 0)])
def test_fewer_than_two_attributes_or_the_same_twice_are_refused(kind, places):
    with pytest.raises(SpecError, match="two or more attributes, all different"):
        kind("all", tuple(question_of(place, 2) for place in places))


PARTS = (
    CategoryQuestion("s", ('"quoted"', "ü, €"), missing="category"),
    CategoryQuestion("n", (0, 1.5, -2)),
    CategoryQuestion("b", (False, True), missing="random"),
)


def test_labels_of_a_product_are_json_lists_in_the_order_of_the_codes():
    question = ProductQuestion("all", PARTS)
    expected = [list(one) for one in product(('"quoted"', "ü, €", None), (0, 1.5, -2), (False, True))]
    assert [json.loads(label) for label in question.labels] == expected
    assert question.labels[-1] == "[null, -2, true]"
    assert "ü, €" in question.labels[7]
    assert (question.cells, question.shape) == (18, (3, 3, 2))
    block = pa.record_batch({"s": [None, "ü, €"], "n": [1.5, -2.0], "b": [True, False]})
    codes = question.impute(question.read(block).codes, fresh_draws(2))
    found = [json.loads(question.labels[code]) for code in codes]
    assert found == [[None, 1.5, True], ["ü, €", -2, False]]


def test_labels_side_by_side_are_json_lists_of_a_column_and_its_label():
    question = SideBySide("all", PARTS)
    assert [json.loads(label) for label in question.labels] == [
        *(["s", label] for label in ('"quoted"', "ü, €", None)),
        *(["n", label] for label in (0, 1.5, -2)),
        *(["b", label] for label in (False, True)),
    ]


def test_what_bears_on_the_answers_is_in_the_label():
    one, other = question_of(0, 2), question_of(1, 3)
    questions = [
        kind(name, parts) for kind in KINDS for name in ("a", "b") for parts in [(one, other), (other, one)]
    ]
    questions += [ProductQuestion("a", (question_of(0, 2, "category"), other))]
    assert len({question.label for question in questions}) == len(questions)
    assert not questions[0].imputes
    assert SideBySide("a", (one, question_of(1, 3, "random"))).imputes
    assert ProductQuestion("a", PARTS).parts == PARTS


SECRET, IDS = Secret(bytes(range(32))), IdColumn("id", "text")
TWO = (question_of(0, 3, "random"), question_of(1, 2, "category"))
ASKS = [
    (ProductQuestion("all", TWO), RandomizedResponse(9, 1)),
    (SideBySide("all", TWO), SampledResponse((3, 3), 1)),
]


def answer(ask, rows):
    """Return the reports of one block of respondents: (id, answer, answer) each."""
    names, *columns = zip(*rows, strict=True) if rows else ((), (), ())
    ids = IDS.blocks(pa.array(names, pa.string()), SECRET)
    return respond(ask, block_of(columns), lambda answers: IdDraws(SECRET.key("q"), ids, answers)).reports


@pytest.mark.parametrize("ask", ASKS, ids=["product", "sampled"])
@given(
    answers=st.lists(st.tuples(st.sampled_from([0, 1, 2, None]), st.sampled_from([0, 1, None])), max_size=30),
    data=st.data(),
)
def test_with_ids_any_cutting_and_any_order_give_the_same_reports(ask, answers, data):
    rows = [(f"respondent {place}", *both) for place, both in enumerate(answers)]
    whole = answer(ask, rows)
    cuts = sorted([0, *data.draw(st.lists(st.integers(0, len(rows)), max_size=4)), len(rows)])
    blocks = [answer(ask, rows[start:end]) for start, end in pairwise(cuts)]
    assert np.concatenate(blocks).tolist() == whole.tolist()
    assert sum(ask[1].tally(block) for block in blocks).tolist() == ask[1].tally(whole).tolist()
    order = data.draw(st.permutations(range(len(rows))))
    assert answer(ask, [rows[place] for place in order]).tolist() == whole[list(order)].tolist()
