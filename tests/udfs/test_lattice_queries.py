from __future__ import annotations

import os

import numpy as np
import pytest

from tests.statistics import UnlikelyError, assert_law
from tests.udfs.lattices import (
    LAID,
    LATTICE,
    SHAPES,
    errors_of,
    lattice_of,
    masks_of,
    matrix_of,
    random_items,
)
from udfs.draws import Lane, RowDraws, fresh_draws
from udfs.lattice_law import GAUSSIAN
from udfs.lattice_retrieval import LatticeRetrieval


@pytest.mark.parametrize("shape", [LAID, SHAPES[5], SHAPES[9]], ids=str)
def test_a_query_is_a_mask_small_errors_and_one_scaled_unit(shape):
    items = random_items(shape.items, shape.item_bytes)
    lattice = lattice_of(shape, items)
    errors = errors_of(lattice, lattice.query(np.array([3, 0, shape.items - 1]), fresh_draws(3)))
    assert abs(errors).max() <= len(GAUSSIAN.tails)
    assert errors.any(axis=2).all()


def error_events(numbers):
    return np.array([np.count_nonzero(numbers >= edge) for edge in (1, 5, 10, -4, -9)])


def error_law(tails):
    unit = 1 << 128
    return [*(tails[k - 1] / unit for k in (1, 5, 10)), *(1 - tails[k - 1] / unit for k in (5, 10))]


def errors_sampler(part, times=1):
    def sample(secret, size):
        query = LATTICE.query(
            np.zeros(size // 100 + 1, np.int64), RowDraws(secret.key("errors"), size // 100 + 1)
        )
        drawn = errors_of(LATTICE, query) if part == "errors" else query.kept.secrets
        return error_events(times * drawn.reshape(-1)[:size])

    return sample


@pytest.mark.parametrize("part", ["errors", "secrets"])
def test_errors_and_secrets_follow_the_gaussian_and_doubled_or_absent_they_do_not(part):
    law = error_law(GAUSSIAN.tails)
    wider = error_law([GAUSSIAN.tails[int(k / 1.1)] for k in range(20)])
    assert_law(errors_sampler(part), law, wider)
    for times in (0, 2):
        with pytest.raises(UnlikelyError):
            assert_law(errors_sampler(part, times), law, wider)


def eighths(numbers):
    return np.bincount(numbers.reshape(-1) >> np.uint32(29), minlength=8)


def seen_sampler(place, column, unmask=False):
    """Return a sampler of one number that the platform sees, of queries for a place."""

    def sample(secret, size):
        drawn = LATTICE.query(np.full(size, place), RowDraws(secret.key("seen"), size))
        seen = drawn.sent - masks_of(LATTICE, drawn.kept) if unmask else drawn.sent
        return eighths(seen[:, 0, column])

    return sample


UNIFORM, BIASED = [1 / 8] * 8, [0.25, *[0.75 / 7] * 7]


@pytest.mark.parametrize(("place", "column"), [(0, 0), (0, 7), (59, 118)])
def test_what_the_platform_sees_is_uniform_and_without_the_secret_it_is_not(place, column):
    assert_law(seen_sampler(place, column), UNIFORM, BIASED)
    with pytest.raises(UnlikelyError):
        assert_law(seen_sampler(place, column, unmask=True), UNIFORM, BIASED)


def test_two_queries_of_one_get_and_of_two_workers_differ_uniformly_and_of_one_secret_they_do_not():
    def sampler(second):
        def sample(secret, size):
            sent = LATTICE.query(np.zeros(2 * size, np.int64), RowDraws(secret.key("pairs"), 2 * size)).sent
            left = sent[:size, 0, 4]
            right = {"worker": sent[size:, 0, 4], "way": sent[:size, 1, 4], "same": left}[second]
            return eighths(left - right)

        return sample

    assert_law(sampler("worker"), UNIFORM, BIASED)
    assert_law(sampler("way"), UNIFORM, BIASED)
    with pytest.raises(UnlikelyError):
        assert_law(sampler("same"), UNIFORM, BIASED)


def test_the_same_draws_ask_the_same_and_every_get_asks_with_numbers_of_its_own():
    draws, places = fresh_draws(4), np.array([7, 7, 7, 7])
    lanes = [LATTICE.query(places, Lane(draws, get, 3)) for get in (0, 1, 2, 0)]
    assert np.array_equal(lanes[0].sent, lanes[3].sent)
    numbers = np.concatenate([query.sent.reshape(-1, LAID.columns) for query in lanes[:3]])
    secrets = np.concatenate([query.kept.secrets.reshape(-1, 1024) for query in lanes[:3]])
    assert len(np.unique(numbers, axis=0)) == len(np.unique(secrets, axis=0)) == len(numbers) == 24


def test_the_same_draws_never_hide_two_places_or_two_libraries_with_the_same_numbers():
    draws, place = fresh_draws(1), np.array([5])
    other = LatticeRetrieval(LAID, "0" * 64)
    kept = [
        lattice.query(place + off, draws).kept for lattice, off in ((LATTICE, 0), (LATTICE, 1), (other, 0))
    ]
    for one, two in ((0, 1), (0, 2), (1, 2)):
        same = np.count_nonzero(kept[one].secrets == kept[two].secrets)
        assert same < kept[one].secrets.size // 4
    sent = [lattice.query(place + off, draws).sent for lattice, off in ((LATTICE, 0), (LATTICE, 1))]
    assert np.count_nonzero(sent[0] == sent[1]) < 3  # of 240 numbers of 32 bits


def test_a_worker_asks_the_same_whoever_else_asks_with_it():
    key = os.urandom(32)
    together = LATTICE.query(np.array([5, 9]), RowDraws(key, 2))
    alone = LATTICE.query(np.array([5]), RowDraws(key, 1))
    assert np.array_equal(together.sent[:1], alone.sent)


@pytest.mark.parametrize("word", range(4))
def test_every_word_of_the_key_matters_and_no_others_are_read(word):
    class Changed:
        def __init__(self, change):
            self.change = np.uint64(change)

        def __len__(self):
            return 1

        def words(self, index):
            assert index < 4
            return np.array([index], dtype=np.uint64) ^ (self.change if index == word else np.uint64(0))

    place = np.array([5])
    first, second = (LATTICE.query(place, Changed(change)).kept.secrets for change in (0, 1 << 63))
    assert np.count_nonzero(first == second) < first.size // 4


def test_no_two_rows_of_the_public_matrix_are_the_same_and_another_library_has_another():
    shape = SHAPES[9]
    one, other = (matrix_of(LatticeRetrieval(shape, version * 64)) for version in "ab")
    assert one.shape == (5000, 1024)
    assert len(np.unique(np.concatenate([one, other])[:, :4], axis=0)) == 10_000


def test_the_public_matrix_is_uniform():
    def sample(secret, size):
        lattice = LatticeRetrieval(LAID, secret.reveal().hex())
        return eighths(matrix_of(lattice).reshape(-1)[-size:])

    assert_law(sample, UNIFORM, BIASED)
