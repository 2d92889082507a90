"""Answers folded into 32 bits: small ones as they always were, and all 64 bits of a wide one."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.statistics import FALSE_ALARM, acceptance
from udfs.folding import folded

GAMMA = 0x9E3779B97F4A7C15
PUBLISHED = [
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
]
"""The first outputs of SplitMix64 from the state 1234567."""


def test_wide_answers_are_the_upper_halves_of_splitmix64s_published_outputs():
    states = [(1234567 + GAMMA * step) % 2**64 for step in range(1, 6)]
    expected = [output >> 32 for output in PUBLISHED]
    words = np.array(states, dtype=np.uint64)
    for answers in (words, words[:, None], words.view(np.float64), words.view(np.int64)):
        assert folded(answers).tolist() == expected


@given(answers=st.lists(st.tuples(*[st.integers(0, 255)] * 3), min_size=1), wide=st.booleans())
def test_several_answers_are_folded_by_horners_rule_whatever_their_layout(answers, wide):
    columns = np.array(answers, dtype=np.uint64 if wide else np.uint8)
    codes = [folded(column).tolist() for column in columns.T]
    expected = [((a * 0x9E3779B1 + b) * 0x9E3779B1 + c) % 2**32 for a, b, c in zip(*codes, strict=True)]
    assert folded(columns).tolist() == folded(np.asfortranarray(columns)).tolist() == expected
    if not wide:
        assert codes == columns.T.tolist()


@pytest.mark.parametrize("shape", [(0,), (0, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_no_rows_are_folded_into_no_numbers(shape, dtype):
    assert folded(np.zeros(shape, dtype=dtype)).tolist() == []


def collisions(fold):
    """Return how many of a million pairs of skills in thousandths share their number with another one."""
    skills = np.stack(np.meshgrid(*[np.arange(1000) / 1000] * 2), axis=-1).reshape(-1, 2)
    return len(skills) - len(np.unique(fold(skills)))


def test_a_million_pairs_of_skills_share_numbers_as_rarely_as_by_chance():
    """By chance, 116 of them do, with a standard deviation of 11."""
    assert collisions(folded) < 116 + 6.2 * 11
    assert collisions(lambda skills: folded(skills.view(np.uint64) >> np.uint64(44))) > 1000


def all_bits_matter(fold):
    """Tell whether flipping any one bit of a wide answer flips each bit of its number half of the time."""
    draws, seed = 1 << 14, int.from_bytes(os.urandom(8), "little")
    least, most = acceptance(draws, 0.5, FALSE_ALARM / (64 * 32))
    words = np.random.default_rng(seed).integers(0, 2**64, draws, dtype=np.uint64)
    before, places = fold(words), np.arange(32, dtype=np.uint64)[:, None]
    for bit in range(64):
        changed = before ^ fold(words ^ np.uint64(1 << bit))
        flips = np.count_nonzero((changed >> places) & np.uint64(1), axis=1)
        if not ((flips >= least) & (flips <= most)).all():
            print(f"seed {seed}: bit {bit}")
            return False
    return True


def test_each_of_64_bits_changes_the_whole_number():
    assert all_bits_matter(folded)
    for mutant in (lambda words: words & np.uint64(2**32 - 1), lambda words: words >> np.uint64(32)):
        assert not all_bits_matter(mutant)
    assert not all_bits_matter(lambda words: folded(words | np.uint64(1 << 63)))
