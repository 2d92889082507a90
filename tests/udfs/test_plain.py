from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.jobs.survey.reported import fresh_rng
from udfs.design import Design
from udfs.plain import PlainAnswers

codes = st.lists(st.integers(0, 4), min_size=2, max_size=40)
PLAIN = PlainAnswers(5)


@given(answers=codes)
def test_the_estimate_is_the_shares_and_their_sample_covariance(answers):
    own = np.eye(5)[answers]
    estimate = PLAIN.estimate(PLAIN.tally(np.array(answers, dtype=np.uint8)), len(answers))
    assert estimate.shares == pytest.approx(own.mean(axis=0))
    assert estimate.covariance == pytest.approx(np.cov(own.T) / len(answers), abs=1e-12)
    assert estimate.reports == len(answers)


def test_of_nobody_there_is_no_estimate_and_of_one_no_covariance():
    nobody = PLAIN.estimate(PLAIN.zeros(), 0)
    assert (nobody.shares.size, nobody.covariance.size, nobody.reports) == (0, 0, 0)
    one = PLAIN.estimate(PLAIN.tally(np.array([2])), 1)
    assert one.shares.tolist() == [0, 0, 1, 0, 0]
    assert np.isnan(one.covariance).all()


@given(answers=codes, cut=st.integers(0, 40))
def test_any_cutting_into_blocks_gives_the_same_counts(answers, cut):
    reports = np.array(answers, dtype=np.uint8)
    counts = PLAIN.zeros() + PLAIN.tally(reports[:cut]) + PLAIN.tally(reports[cut:])
    assert counts.tolist() == [answers.count(cell) for cell in range(5)]
    assert counts.dtype == PLAIN.zeros().dtype == np.int64


@pytest.mark.parametrize("axis", [0, 1])
def test_reports_are_the_answers_along_any_axis(axis):
    rng, seed = fresh_rng()
    table = rng.random((5, 5))
    for same in (PLAIN.observe, PLAIN.reconstruct, PLAIN.pull_back, PLAIN.reconstruct_squares):
        assert same(table, axis).tolist() == table.tolist(), seed
    assert PLAIN.forget(table, axis) == pytest.approx(table.sum(axis=axis)), seed


def test_second_moments_are_those_of_the_answer_itself():
    moments = PLAIN.second_moments()
    for cell in range(5):
        assert moments[cell].tolist() == np.outer(np.eye(5)[cell], np.eye(5)[cell]).tolist()
    shares = np.array([0.1, 0.2, 0.3, 0.4, 0.0])
    assert PLAIN.predicted_covariance(shares) == pytest.approx(np.diag(shares) - np.outer(shares, shares))


def test_it_says_what_it_is():
    assert isinstance(PLAIN, Design)
    assert (PLAIN.features, PLAIN.one_code, PLAIN.name, PLAIN.label) == (5, True, "plain", "plain cells=5")
