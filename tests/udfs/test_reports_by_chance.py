"""Statistical tests of the randomizers: the product follows its law, and a mutant is told from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pytest

from tests.statistics import UnlikelyError, assert_law, sample_size
from tests.udfs.laws import law_and_supports
from udfs.draws import IdDraws, RowDraws
from udfs.laplace import LaplaceMechanism
from udfs.optimized_unary import OptimizedUnaryEncoding
from udfs.randomized_response import RandomizedResponse
from udfs.randomizer import Randomizer
from udfs.streams import block_key
from udfs.subset_selection import SubsetSelection

ANSWER = 1
WARNER = RandomizedResponse(2, 1)
RESPONSE = RandomizedResponse(4, 1)
SUBSETS = SubsetSelection(6, Decimal("0.5"))
UNARY = OptimizedUnaryEncoding(3, 1)
LAPLACE = LaplaceMechanism(4, 3)


def column_of(design):
    """Return the law of the reports of one answer."""
    return [float(row[ANSWER]) for row in law_and_supports(design)[0]]


def masks_of(reports):
    """Return each report as a number with a bit for each cell that it supports."""
    return (
        reports @ (1 << np.arange(reports.shape[1])) if reports.ndim == 2 else 1 << reports.astype(np.int64)
    )


def counter_of(design, randomize):
    """Return a sample that counts each report of one answer."""
    events = masks_of(law_and_supports(design)[1])

    def sample(secret, draws):
        answers = np.full(draws, ANSWER, dtype=np.uint8)
        reports = randomize(answers, RowDraws(secret.key("reports"), draws))
        return np.bincount(masks_of(reports), minlength=1 << design.cells)[events]

    return sample


@dataclass(frozen=True)
class Mutant:
    """A wrong randomizer and its law."""

    design: Randomizer
    randomize: Callable
    law: list[float]


def mutants_of(design):
    """Return the mistakes that a test must find."""
    supports = law_and_supports(design)[1].tolist()
    shifted = [np.roll(held, -1).tolist() for held in supports]
    more, less = (type(design)(design.cells, design.epsilon * Decimal(f)) for f in ("1.1", "0.909090909"))
    size = design.size if isinstance(design, SubsetSelection) else 1
    plain = np.roll(np.arange(design.cells) < size, ANSWER).astype(int).tolist()

    def silent(answers, draws):
        return answers if design.one_code else np.array([plain] * len(answers))

    def off_by_one(answers, draws):
        reports = design.randomize(answers, draws)
        return (reports + 1) % design.cells if design.one_code else np.roll(reports, 1, axis=1)

    return {
        "epsilon x 1.1": Mutant(design, more.randomize, column_of(more)),
        "epsilon / 1.1": Mutant(design, less.randomize, column_of(less)),
        "no noise": Mutant(design, silent, [float(held == plain) for held in supports]),
        "off by one": Mutant(
            design, off_by_one, [column_of(design)[supports.index(held)] for held in shifted]
        ),
    }


MUTANTS = [
    pytest.param(mutant, id=f"{design.mechanism} {design.cells} {name}")
    for design in (WARNER, RESPONSE, SUBSETS, UNARY, LAPLACE)
    for name, mutant in mutants_of(design).items()
]


@pytest.mark.parametrize("mutant", MUTANTS)
def test_reports_follow_their_law_and_those_of_a_mutant_do_not(mutant):
    law = column_of(mutant.design)
    assert_law(counter_of(mutant.design, mutant.design.randomize), law, mutant.law)
    with pytest.raises(UnlikelyError):
        assert_law(counter_of(mutant.design, mutant.randomize), law, mutant.law)


def test_a_tenth_more_epsilon_is_told_from_one_event_by_76352_draws():
    mutant = mutants_of(WARNER)["epsilon x 1.1"]
    kept, kept_by_mutant = [column_of(WARNER)[ANSWER]], [mutant.law[ANSWER]]
    assert sample_size(kept, kept_by_mutant) == 76_352

    def count_kept(randomize):
        return lambda secret, draws: counter_of(WARNER, randomize)(secret, draws)[[ANSWER]]

    assert_law(count_kept(WARNER.randomize), kept, kept_by_mutant)
    with pytest.raises(UnlikelyError):
        assert_law(count_kept(mutant.randomize), kept, kept_by_mutant)


@pytest.mark.parametrize("design", [SUBSETS, UNARY])
def test_each_cell_is_in_a_set_as_often_as_the_supports_say(design):
    def supported(design):
        others = [float(design.support_if_false)] * design.cells
        return [float(design.support_if_true) if cell == ANSWER else p for cell, p in enumerate(others)]

    def counter(design):
        def sample(secret, draws):
            answers = np.full(draws, ANSWER, dtype=np.uint8)
            return design.tally(design.randomize(answers, RowDraws(secret.key("reports"), draws)))

        return sample

    mutant = type(design)(design.cells, design.epsilon * Decimal("1.1"))
    assert_law(counter(design), supported(design), supported(mutant))
    with pytest.raises(UnlikelyError):
        assert_law(counter(mutant), supported(design), supported(mutant))


class FirstWord:
    """The first word of a source, again and again."""

    def __init__(self, draws):
        self._draws = draws

    def __len__(self):
        return len(self._draws)

    def words(self, index):
        return self._draws.words(0)


def test_the_bits_of_a_set_are_drawn_one_by_one():
    """One word for all cells would put the others in together."""
    law = column_of(UNARY)
    together = [0.0] * len(law)
    supports = law_and_supports(UNARY)[1].tolist()
    q = float(UNARY.support_if_false)
    for held, chance in {(0, 0, 0): 0.5, (0, 1, 0): 0.5 - q, (1, 1, 1): q}.items():
        together[supports.index(list(held))] = chance

    def reuse(answers, draws):
        return UNARY.randomize(answers, FirstWord(draws))

    assert_law(counter_of(UNARY, UNARY.randomize), law, together)
    with pytest.raises(UnlikelyError):
        assert_law(counter_of(UNARY, reuse), law, together)


class EveryOther:
    """Half of a source's rows."""

    def __init__(self, draws, first):
        self._draws, self._first = draws, first

    def __len__(self):
        return len(self._draws) // 2

    def words(self, index):
        return self._draws.words(index)[self._first :: 2]


def neighbours(secret, answers):
    """Return the draws of the rows of one block, one and the next."""
    block = RowDraws(secret.key("q"), 2 * len(answers))
    return EveryOther(block, 0), EveryOther(block, 1)


def two_blocks(secret, answers):
    """Return the draws of the same rows of two blocks."""
    return [RowDraws(block_key(secret.key("q"), (file, 0, 0), answers), len(answers)) for file in (0, 1)]


def two_questions(secret, answers):
    """Return one block's draws for two questions."""
    return [RowDraws(block_key(secret.key(q), (0, 0, 0), answers), len(answers)) for q in ("q", "r")]


def ids_from(first, rows):
    """Return blocks of integer ids."""
    return np.stack(
        [np.arange(first, first + rows, dtype=np.uint64), np.zeros(rows, dtype=np.uint64)], axis=1
    )


def neighbouring_ids(secret, answers):
    """Return the draws of respondents whose ids follow each other."""
    block = IdDraws(secret.key("q"), ids_from(7, 2 * len(answers)), np.repeat(answers, 2))
    return EveryOther(block, 0), EveryOther(block, 1)


def two_questions_to_an_id(secret, answers):
    """Return the same respondents' draws for two questions."""
    return [IdDraws(secret.key(q), ids_from(7, len(answers)), answers) for q in ("q", "r")]


PAIRS = [neighbours, two_blocks, two_questions, neighbouring_ids, two_questions_to_an_id]


@pytest.mark.parametrize("pair", PAIRS)
def test_two_reports_are_independent_and_reused_noise_is_not(pair):
    column = np.array(column_of(RESPONSE))
    law, reused = np.outer(column, column).ravel().tolist(), np.diag(column).ravel().tolist()

    def count_pairs(draws_of):
        def sample(secret, draws):
            answers = np.full(draws, ANSWER, dtype=np.uint8)
            first, second = (RESPONSE.randomize(answers, one) for one in draws_of(secret, answers))
            return np.bincount(first.astype(int) * RESPONSE.cells + second, minlength=len(law))

        return sample

    assert_law(count_pairs(pair), law, reused)
    with pytest.raises(UnlikelyError):
        assert_law(count_pairs(lambda secret, answers: [pair(secret, answers)[0]] * 2), law, reused)


def test_an_answer_and_its_change_have_independent_reports():
    """The answer is mixed in, so that a retry on changed rows draws anew."""
    changed = 3
    law = np.outer(
        [float(row[ANSWER]) for row in RESPONSE.law], [float(row[changed]) for row in RESPONSE.law]
    )
    moves = [float(row[0]) for row in RESPONSE.law]
    reused = np.zeros((4, 4))
    for move, chance in enumerate(moves):
        reused[(ANSWER + move) % 4, (changed + move) % 4] = chance

    def count_pairs(mixed_in):
        def sample(secret, draws):
            ids = ids_from(0, draws)
            both = [np.full(draws, answer, dtype=np.uint8) for answer in (ANSWER, changed)]
            first, second = (
                RESPONSE.randomize(answers, IdDraws(secret.key("q"), ids, answers if mixed_in else both[0]))
                for answers in both
            )
            return np.bincount(first.astype(int) * 4 + second, minlength=16)

        return sample

    assert_law(count_pairs(True), law.ravel().tolist(), reused.ravel().tolist())
    with pytest.raises(UnlikelyError):
        assert_law(count_pairs(False), law.ravel().tolist(), reused.ravel().tolist())
