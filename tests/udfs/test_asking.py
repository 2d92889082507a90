from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.scripted import ScriptedDraws
from udfs.asking import MOST_REPEATS, Partial, WrittenFile, combine, refusal, respond
from udfs.categories import CategoryQuestion
from udfs.draws import IdDraws, fresh_draws
from udfs.exact import WORD
from udfs.identity import IdColumn
from udfs.randomized_response import RandomizedResponse
from udfs.streams import Secret
from udfs.subset_selection import SubsetSelection

SECRET = Secret(bytes(range(32)))
QUESTIONS = {
    missing: CategoryQuestion("q", ("a", "b", "c"), missing, "refuse" if missing == "none" else "missing")
    for missing in ("none", "category", "random")
}
ASKS = [
    (question, kind(question.cells, 1))
    for question in QUESTIONS.values()
    for kind in (RandomizedResponse, SubsetSelection)
]
IDS = IdColumn("id", "text")


def block_of(answers):
    """Return answers to the one question as a block."""
    return pa.record_batch({"q": pa.array(answers, pa.string())})


def ask_block(ask, rows, start=0):
    """Return what one block of (id, answer) rows gives back, as one work unit."""
    question, mechanism = ask
    names = pa.array([name for name, _ in rows], pa.string())
    blocks = IDS.blocks(names, SECRET)
    key = SECRET.key(question.label, mechanism.label)
    block = block_of([answer for _, answer in rows])
    reports = respond(ask, block, lambda answers: IdDraws(key, blocks, answers)).reports
    return reports, Partial((mechanism.tally(reports),), len(rows), digests={f"unit {start}": "digest"})


@st.composite
def populations(draw):
    """Draw respondents with ids and answers, and where to cut them into blocks."""
    answers = draw(st.lists(st.sampled_from("abc"), max_size=30))
    cuts = draw(st.lists(st.integers(0, len(answers)), max_size=5))
    rows = [(f"respondent {place}", answer) for place, answer in enumerate(answers)]
    return rows, sorted({0, *cuts, len(rows)})


@pytest.mark.parametrize("ask", ASKS, ids=lambda part: part.label if hasattr(part, "label") else None)
@given(population=populations())
def test_any_cutting_into_blocks_gives_the_reports_and_the_sum_of_one_block(ask, population):
    rows, cuts = population
    whole, one = ask_block(ask, rows)
    parts = [ask_block(ask, rows[start:end], start) for start, end in pairwise(cuts)]
    together = combine([partial for _, partial in parts])
    if parts:
        assert np.concatenate([reports for reports, _ in parts]).tolist() == whole.tolist()
        assert together.counts[0].tolist() == one.counts[0].tolist()
    assert together.rows == one.rows == len(rows)
    assert len(together.digests) == len(parts)


@pytest.mark.parametrize("ask", ASKS, ids=lambda part: part.label if hasattr(part, "label") else None)
def test_a_block_of_one_row_is_what_a_respondents_device_sends(ask):
    response = respond(ask, block_of(["b"]), lambda answers: fresh_draws(len(answers)))
    assert response.faults == {}
    assert len(response.reports) == 1
    assert ask[1].tally(response.reports).sum() == ask[1].thresholds().get("size", 1)


def test_the_draws_are_those_of_the_truthful_answers():
    seen = []

    def draws_of(answers):
        seen.append(answers.tolist())
        return fresh_draws(len(answers))

    for missing, question in QUESTIONS.items():
        block = block_of(["c", "a"] if missing == "none" else ["c", None, "z"])
        respond((question, RandomizedResponse(question.cells, 1)), block, draws_of)
    assert seen == [[2, 0], [2, 3, 3], [2, 3, 3]]


@pytest.mark.parametrize(
    ("answers", "faults"),
    [
        (["a", None, None], {("q", "missing answers"): 2}),
        (["a", "z", "b"], {("q", "answers outside the categories"): 1}),
        (["z", None, "y"], {("q", "missing answers"): 1, ("q", "answers outside the categories"): 2}),
    ],
)
def test_a_block_with_a_fault_is_counted_and_draws_nothing(answers, faults):
    def never(answers):
        raise AssertionError("nothing may be drawn")

    response = respond((QUESTIONS["none"], RandomizedResponse(3, 1)), block_of(answers), never)
    assert response.reports is None
    assert response.faults == faults


@pytest.mark.parametrize("missing", ["category", "random"])
def test_where_missing_answers_are_provided_for_all_rows_report(missing):
    question = QUESTIONS[missing]
    design = RandomizedResponse(question.cells, 1000)
    response = respond((question, design), block_of(["c", None, "z"]), lambda answers: fresh_draws(3))
    assert response.faults == {}
    assert response.reports[0] == 2
    assert set(response.reports.tolist()) <= set(range(question.cells))


def test_a_random_answer_is_drawn_apart_from_the_noise_and_is_randomized_too():
    design = RandomizedResponse(3, 1)
    lie = (WORD - design.truth) // 2
    rows = [
        (answer, uniform, noise)
        for answer in (None, "a")
        for uniform in range(3)
        for noise in (0, lie, WORD - 1)
    ]
    answers, uniform, noise = (list(column) for column in zip(*rows, strict=True))
    draws = ScriptedDraws({0: noise, 1: uniform})
    response = respond((QUESTIONS["random"], design), block_of(answers), lambda codes: draws)
    moves = {0: 1, lie: 2, WORD - 1: 0}
    expected = [((uniform if answer is None else 0) + moves[noise]) % 3 for answer, uniform, noise in rows]
    assert response.reports.tolist() == expected


def partial(number, counts=True):
    """Return the answers of one work unit, like no other's."""
    sums = (np.array([number, 2]), np.array([3, number, number])) if counts else ()
    faults = {("file", "q", "missing answers"): 1, (f"file {number}", "q", "missing answers"): number}
    files = {f"file {number}": WrittenFile(number, "ab")}
    return Partial(sums, number, faults, {f"unit {number}": "digest"}, (number, 7), files)


def parts_of(one):
    """Return a partial answer as values that compare."""
    return (
        [counts.tolist() for counts in one.counts],
        one.rows,
        one.faults,
        one.digests,
        one.repeats,
        one.files,
    )


@given(numbers=st.lists(st.integers(1, 10**6), min_size=1, max_size=6, unique=True), data=st.data())
def test_partial_answers_add_up_the_same_in_any_order_and_grouping(numbers, data):
    partials = [partial(number) for number in numbers]
    whole = combine(partials)
    assert whole.rows == sum(numbers)
    assert whole.counts[0].tolist() == [sum(numbers), 2 * len(numbers)]
    assert whole.faults["file", "q", "missing answers"] == len(numbers)
    assert whole.repeats == tuple(sorted({7, *numbers}))
    shuffled = data.draw(st.permutations(partials))
    cut = data.draw(st.integers(0, len(partials)))
    assert parts_of(combine([combine(shuffled[:cut]), combine(shuffled[cut:])])) == parts_of(whole)


def test_no_partial_answers_are_neutral_on_either_side():
    one = partial(5)
    assert parts_of(combine([])) == parts_of(Partial(()))
    for group in ([one], [one, combine([])], [combine([]), one], [Partial(()), one, Partial(())]):
        assert parts_of(combine(group)) == parts_of(one)


def test_adding_up_changes_no_part():
    one, two = partial(1), partial(2)
    before = [parts_of(one), parts_of(two)]
    combine([one, two])
    combine([combine([one]), two])
    assert [parts_of(one), parts_of(two)] == before


def test_answers_to_other_questions_do_not_add_up():
    with pytest.raises(ValueError, match="zip"):
        combine([partial(1), Partial((np.array([1, 2]),))])


def test_only_so_many_repeats_are_told_apart_whatever_the_grouping():
    parts = [Partial((), repeats=tuple(range(start, start + MOST_REPEATS))) for start in (500, 0, 9000)]
    whole = combine(parts)
    assert whole.repeats == tuple(range(MOST_REPEATS))
    assert combine([parts[0], combine(parts[1:])]).repeats == whole.repeats


def test_a_refusal_names_file_column_and_count_of_the_first_faults():
    faults = {(f"part-{place}", "smokes", "missing answers"): place + 1 for place in range(7)}
    message = str(refusal(faults))
    assert "1 missing answers in column 'smokes' of part-0; 2 missing answers" in message
    assert "5 missing answers in column 'smokes' of part-4; and 2 more" in message
    assert "part-5" not in message
    assert "more" not in str(refusal(dict(list(faults.items())[:5])))
