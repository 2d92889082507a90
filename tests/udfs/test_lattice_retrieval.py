from __future__ import annotations

import os

import numpy as np
import pytest

from tests.udfs.lattices import ITEMS, LAID, LATTICE, SHAPES, fetched, lattice_of, matrix_of, random_items
from udfs import lattice_retrieval
from udfs.draws import RowDraws, fresh_draws
from udfs.errors import ProtocolError, SchemaError, SpecError
from udfs.lattice_law import scale
from udfs.lattice_retrieval import Kept
from udfs.lattice_shape import Shape, bases
from udfs.retrieval import Hint


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_worker_gets_the_bytes_of_its_item(shape):
    items = random_items(shape.items, shape.item_bytes)
    places = np.arange(shape.items)[:: max(1, shape.items // 25)]
    places = np.append(places, [shape.items - 1, 0])
    assert fetched(lattice_of(shape, items), items, places)[0] == [items[place] for place in places]


@pytest.mark.parametrize("shape", SHAPES[1:7], ids=str)
def test_any_cut_of_the_library_into_blocks_gives_the_same_bytes(shape):
    items = random_items(shape.items, shape.item_bytes)
    lattice, places, key = lattice_of(shape, items), np.array([0, shape.items - 1]), os.urandom(32)
    whole = fetched(lattice, items, places, draws=RowDraws(key, 2))
    for cuts in (
        [1],
        [0, 1, 1],
        [*range(1, shape.rows)],
        sorted(np.random.default_rng().integers(0, shape.rows, 3)),
    ):
        found = fetched(lattice, items, places, list(cuts), draws=RowDraws(key, 2))
        assert found[0] == whole[0] == [items[0], items[-1]]
        assert np.array_equal(found[1], whole[1])
        assert np.array_equal(found[2], whole[2])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_library_written_a_few_items_at_a_time_is_the_same(shape, monkeypatch):
    items = random_items(shape.items, shape.item_bytes)
    lattice = lattice_of(shape, items)
    whole = lattice.library(items)
    monkeypatch.setattr(lattice_retrieval, "_WRITTEN_BYTES", 5 * shape.item_bytes)
    assert np.array_equal(lattice.library(items), whole)


def test_a_version_tells_shapes_and_items_apart():
    ways = [(1, 1), (2, 1), (1, 2), (1, 3)]
    shapes = [Shape(6, 30, 1, 1, base, *way) for base in bases()[-2:] for way in ways]
    libraries = [random_items(6, 30) for _ in range(2)]
    assert len({lattice_of(shape, items).version for shape in shapes for items in libraries}) == 16


def test_the_cost_is_what_is_sent_and_received():
    for shape in SHAPES:
        items = random_items(shape.items, shape.item_bytes)
        lattice = lattice_of(shape, items)
        query = lattice.query(np.array([0]), fresh_draws(1))
        library = lattice.library(items)
        answer = lattice.answer(library, 0, query.sent)
        assert lattice.cost.upload_bytes == query.sent.nbytes
        assert lattice.cost.download_bytes == answer.nbytes
        assert lattice.cost.hint_bytes == lattice.hint(library, 0).nbytes
        assert lattice.cost.products == library.size * query.sent.shape[1]


def test_an_answer_is_the_product_of_every_row_with_all_that_was_sent_whatever_that_is():
    library = LATTICE.library(ITEMS)
    sent = np.random.default_rng().integers(0, 2**32, (3, 2, LAID.columns), dtype=np.uint32)
    exact = np.einsum("rc,wsc->wsr", library.astype(object), sent.astype(object)) % 2**32
    rounded = (exact + 2**15) % 2**32 // 2**16
    assert np.array_equal(LATTICE.answer(library, 0, sent).astype(object), rounded)


def centred(numbers):
    return numbers.astype(np.uint32).view(np.int32).astype(np.int64)


@pytest.mark.parametrize("shape", [LAID, SHAPES[9]], ids=str)
def test_a_hint_is_the_product_with_the_public_matrix_rounded_to_24_bits(shape):
    items = random_items(shape.items, shape.item_bytes)
    lattice = lattice_of(shape, items)
    library = lattice.library(items)
    product = library.astype(np.uint32) @ matrix_of(lattice)
    hint = lattice.hint(library, 0).astype(np.uint32) @ np.array([2**8, 2**16, 2**24], dtype=np.uint32)
    off = centred(hint - product)
    assert off.min() >= -(2**7) + 1
    assert off.max() <= 2**7


def test_nobody_asking_gets_nothing():
    assert fetched(LATTICE, ITEMS, np.array([], dtype=np.int64))[0] == []


@pytest.mark.parametrize("places", [[-1], [60], [2.0], [True], [None], ["2"]])
def test_a_place_outside_of_the_library_is_refused_before_anything_is_drawn(places):
    class Untouched:
        def __len__(self):
            return 1

        def words(self, index):
            raise AssertionError("a word was drawn")

    with pytest.raises(SpecError, match="from 0 to 59"):
        LATTICE.query(np.array(places), Untouched())


def test_workers_without_draws_of_their_own_are_refused():
    with pytest.raises(SpecError, match="2 workers, 1 draws"):
        LATTICE.query(np.array([0, 1]), fresh_draws(1))


def test_a_hint_of_another_library_is_refused_and_would_give_other_bytes():
    changed = [*ITEMS[:-1], os.urandom(40)]
    other = lattice_of(LAID, changed)
    query, library = LATTICE.query(np.array([4]), fresh_draws(1)), LATTICE.library(ITEMS)
    answers, stale = LATTICE.answer(library, 0, query.sent), other.hint(other.library(changed), 0)
    with pytest.raises(ProtocolError, match="version"):
        LATTICE.decode(query.kept, answers, Hint(other.version, stale))
    assert bytes(LATTICE.decode(query.kept, answers, Hint(LATTICE.version, stale))[0]) != ITEMS[4]


def test_items_of_another_length_hints_answers_and_queries_of_another_shape_are_refused():
    library, query = LATTICE.library(ITEMS), LATTICE.query(np.array([4]), fresh_draws(1))
    hint, answers = LATTICE.hint(library, 0), LATTICE.answer(library, 0, query.sent)
    with pytest.raises(SchemaError, match="60 items of 40 bytes"):
        LATTICE.library([*ITEMS[:-1], b"short"])
    for parts in ((answers[..., 1:], hint), (answers, hint[1:]), (answers[:0], hint)):
        with pytest.raises(ProtocolError, match="all blocks"):
            LATTICE.decode(query.kept, parts[0], Hint(LATTICE.version, parts[1]))
    for sent in (query.sent[..., 1:], query.sent[0], query.sent.astype(np.uint64)):
        with pytest.raises(ProtocolError, match="must be uint32"):
            LATTICE.answer(library, 0, sent)


@pytest.mark.parametrize("base", bases())
def test_errors_up_to_half_a_step_less_what_rounding_takes_leave_every_byte_right(base):
    shape = Shape(1, 500, 1, 1, base)
    items = [os.urandom(500)]
    lattice, step = lattice_of(shape, items), scale(base.modulus)
    kept = Kept(np.zeros((1, 1, 1024), np.int16), np.array([0]))
    hint = Hint(lattice.version, np.zeros((shape.rows, 1024, 3), np.uint8))
    entries = lattice.library(items)[:, 0].astype(np.int64) * step
    room = (step - 1) // 2 - 2**15
    for error in (room, -room, room // 2, 0):
        answers = ((entries + error + 2**15) % 2**32 >> 16).astype(np.uint16).reshape(1, 1, -1)
        assert bytes(lattice.decode(kept, answers, hint)[0]) == items[0]
    beyond = ((entries + step // 2 + 2**15 + 2**15) % 2**32 >> 16).astype(np.uint16).reshape(1, 1, -1)
    assert bytes(lattice.decode(kept, beyond, hint)[0]) != items[0]


def test_what_workers_keep_is_not_printed():
    assert repr(LATTICE.query(np.array([4]), fresh_draws(1)).kept) == "Kept()"
