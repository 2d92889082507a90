from __future__ import annotations

import math

import numpy as np
import pytest

from jobs.survey.measures import phi_squared
from jobs.survey.reconstruct import TableEstimate
from jobs.survey.statistics import estimate_statistic
from tests.jobs.survey.reported import (
    EVERY_KIND,
    IDENTITY,
    INSIDE,
    Survey,
    exact,
    fresh_rng,
    independent,
)


def test_negative_shares_are_projected_and_told() -> None:
    margin = Survey(np.array([[0.49, 0.03], [-0.03, 0.51]]), 2.0).predicted(10_000)
    assert (margin.proportions < 0).sum() == 1
    for kind in ("entropy", "mutual-information", "chi-square", "g-squared"):
        found = estimate_statistic(kind, margin)
        assert found.note is not None
        assert found.note.startswith("1 of 4 cells had negative estimates")
        assert math.isfinite(found.estimate)
        assert math.isfinite(found.standard_error)


def test_a_correlation_beyond_one_is_told() -> None:
    found = estimate_statistic(
        "pearson", Survey(np.array([[0.52, -0.02], [-0.02, 0.52]]), 2.0).predicted(10**4)
    )
    assert found.estimate > 1
    assert found.interval[1] == 1
    assert found.note is not None


def test_only_measures_of_independence_warn_of_it() -> None:
    margin = Survey(INSIDE, 4.0).predicted(10**6)
    for kind in EVERY_KIND:
        note = estimate_statistic(kind, margin).note
        if kind in ("entropy", "pearson"):
            assert note is None
        else:
            assert note is not None
            assert "independence-test" in note


def test_intervals_stay_within_what_can_be() -> None:
    vague = Survey(independent(3, 3), 1.0).predicted(50)
    ranges = {"entropy": (0, math.log2(9)), "mutual-information": (0, math.log2(3))}
    ranges["chi-square"] = (0, 2 * vague.table.reports)
    for kind, (least, most) in ranges.items():
        low, high = estimate_statistic(kind, vague).interval
        assert least <= low <= high <= most
    assert estimate_statistic("pearson", vague).interval == (-1, 1)
    sharp = estimate_statistic("pearson", Survey(INSIDE, 4.0).predicted(10**8))
    low, high = sharp.interval
    assert high - low == pytest.approx(2 * 1.959964 * sharp.standard_error, rel=1e-6)


def test_scores_move_and_stretch_without_changing_the_correlation() -> None:
    margin = Survey(INSIDE, 4.0).predicted(10**6)
    found = estimate_statistic("pearson", margin)
    same = estimate_statistic("pearson", margin, [[5, 7, 9, 11, 13, 15], [-1e6, 0, 1e6]])
    assert same.estimate == pytest.approx(found.estimate)
    assert same.standard_error == pytest.approx(found.standard_error)
    turned = estimate_statistic("pearson", margin, [range(6), [2, 1, 0]])
    assert turned.estimate == pytest.approx(-found.estimate)


def test_a_correlation_without_variance_is_unknown() -> None:
    everybody_alike = np.zeros((3, 3), dtype=np.int64)
    everybody_alike[1, 2] = 50
    found = estimate_statistic("pearson", exact(everybody_alike))
    assert math.isnan(found.estimate)
    assert found.note is not None
    assert "variance" in found.note
    same_scores = estimate_statistic("pearson", Survey(INSIDE, 4.0).predicted(10**6), [[1.0] * 6, range(3)])
    assert math.isnan(same_scores.estimate)
    # Noise can make an unbiased variance negative: fewer reports of the outer categories than lies alone.
    noisy = Survey(independent(3, 3), 2.0)
    few = np.array([[0, 1, 0], [1, 9, 1], [0, 1, 0]])
    assert math.isnan(estimate_statistic("pearson", noisy.margin(few)).estimate)


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_where_everybody_is_alike_nothing_breaks(kind: str) -> None:
    everybody_alike = np.zeros((3, 2), dtype=np.int64)
    everybody_alike[1, 0] = 50
    found = estimate_statistic(kind, exact(everybody_alike))
    if kind != "pearson":
        assert found.estimate == 0
        assert found.standard_error == 0
        assert found.interval == (0, 0)


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_where_too_few_answered_nothing_is_said(kind: str) -> None:
    survey = Survey(independent(2, 2), 1.0, missing=0.98)
    nobody = survey.margin(np.zeros((3, 3), dtype=np.int64))
    hardly_anybody = survey.predicted(500)
    for margin in (nobody, hardly_anybody):
        found = estimate_statistic(kind, margin)
        assert math.isnan(found.estimate)
        assert math.isnan(found.standard_error)
        assert np.isnan(found.interval).all()
        assert found.note == "Too few seem to have answered."


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_of_a_single_report_there_is_no_standard_error(kind: str) -> None:
    survey = Survey(independent(2, 2), 1.0)
    found = estimate_statistic(kind, survey.margin(np.array([[1, 0], [0, 0]])))
    assert math.isnan(found.standard_error)


def test_counts_of_a_table_are_of_those_who_answered() -> None:
    survey = Survey(INSIDE, 6.0, missing=0.25)
    margin = survey.predicted(10**6)
    assert isinstance(margin.table, TableEstimate)
    found = estimate_statistic("chi-square", margin)
    assert found.estimate == pytest.approx(10**6 * 0.75**2 * float(phi_squared(INSIDE)[0]), rel=1e-4)


def test_noise_makes_a_chi_square_of_four_one_of_twenty_one() -> None:
    """Of two independent attributes with shares .5, .3 and .2, at epsilon 2 each."""
    shares = np.array([0.5, 0.3, 0.2])
    found = estimate_statistic(
        "chi-square", Survey(np.outer(shares, shares), 4.0).predicted(10**8), with_noise=True
    )
    assert found.if_independent == pytest.approx(21, abs=0.5)


def test_without_noise_a_chi_square_of_independent_answers_is_its_degrees_of_freedom() -> None:
    plain = estimate_statistic(
        "chi-square", Survey(independent(3, 4), IDENTITY).predicted(10**8), with_noise=True
    )
    assert plain.if_independent == pytest.approx(6, rel=1e-4)


@pytest.mark.parametrize("joint", [False, True])
def test_what_noise_alone_makes_of_a_chi_square_is_its_mean_under_independence(joint: bool) -> None:
    survey, times, reports = Survey(independent(3, 3), 4.0, joint=joint), 4_000, 100_000
    told = estimate_statistic("chi-square", survey.predicted(10**8), with_noise=True).if_independent
    rng, seed = fresh_rng()
    tables = np.stack([survey.margin(one).proportions for one in survey.draw(rng, reports, times)])
    found = reports * phi_squared(tables)[0]
    off = (found.mean() - np.array([told, 4.0])) / (found.std() / math.sqrt(times))
    assert abs(off[0]) < 6.2, f"seed {seed}"
    assert abs(off[1]) > 6.2, f"seed {seed}"


def test_what_noise_makes_of_a_statistic_is_told_where_it_is_asked_for_and_the_table_small() -> None:
    margin = Survey(INSIDE, 4.0).predicted(10**6)
    for kind in EVERY_KIND:
        quiet, told = (estimate_statistic(kind, margin, with_noise=wanted) for wanted in (False, True))
        assert quiet.if_independent is None
        assert (told.if_independent is None) == (kind in ("entropy", "pearson"))
        assert (quiet.estimate, quiet.standard_error) == (told.estimate, told.standard_error)
    large = Survey(independent(65, 64), IDENTITY).predicted(10**8)
    assert estimate_statistic("chi-square", large, with_noise=True).if_independent is None
