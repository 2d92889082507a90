from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binom, chi2

from jobs.survey.independence import independence_test
from jobs.survey.margin import Margin
from jobs.survey.measures import phi_squared
from jobs.survey.postprocess import project_to_simplex
from jobs.survey.reconstruct import Axis, TableEstimate
from tests.jobs.survey.reported import Survey, fresh_rng, independent
from udfs.subset_selection import SubsetSelection
from udfs.tables import WEIGHT_UNIT

PValues = npt.NDArray[np.float64]


def naive_p_value(margin: Margin) -> float:
    """Return the p-value as if the reconstructed table had been counted."""
    shares = margin.proportions
    table = project_to_simplex(shares.ravel()).reshape(shares.shape)
    answers = margin.table.reports * margin.answered
    rows, columns = shares.shape
    return float(chi2.sf(answers * phi_squared(table)[0], (rows - 1) * (columns - 1)))


# ---- size -------------------------------------------------------------------------------------------

REPORTS, TIMES = 20_000, 200


@dataclass(frozen=True)
class Null:
    """A survey of independent attributes; epsilon is of both questions together."""

    rows: int
    columns: int
    epsilon: float
    joint: bool
    missing: float


NULLS = [
    Null(cells, cells, epsilon, joint, missing)
    for cells in (2, 3, 6)
    for epsilon in (2.0, 4.0)
    for joint in (False, True)
    for missing in (0.0, 0.2)
]
SIZES = {0.05: (0.03, 0.07), 0.01: (0.004, 0.018)}
"""The tests' sizes are asymptotic: these bounds on them are what is claimed, at each level."""


@cache
def simulated(null: Null) -> tuple[PValues, PValues, int]:
    """Return p-values under independence, the naive ones, and the seed."""
    survey = Survey(independent(null.rows, null.columns), null.epsilon, null.joint, null.missing)
    rng, seed = fresh_rng()
    margins = [survey.margin(counts) for counts in survey.draw(rng, REPORTS, TIMES)]
    tests = [independence_test(margin) for margin in margins]
    plain = not (null.joint or null.missing)
    assert {test.method for test in tests} == {"pearson" if plain else "rao-scott"}
    naive = [naive_p_value(margin) for margin in margins]
    return np.array([test.p_value for test in tests]), np.array(naive), seed


def assert_size(p_values: PValues, level: float, seed: object) -> None:
    """Fail unless the number of rejections can come from a size within the bounds: false alarms 1e-9."""
    least, most = SIZES[level]
    rejections, times = int((p_values <= level).sum()), len(p_values)
    assert binom.ppf(5e-10, times, least) <= rejections <= binom.isf(5e-10, times, most), seed


@pytest.mark.parametrize("null", NULLS, ids=str)
def test_independence_is_rejected_as_often_as_the_level_says(null: Null) -> None:
    p_values, _, seed = simulated(null)
    for level in SIZES:
        assert_size(p_values, level, seed)


@pytest.mark.parametrize("level", SIZES)
def test_over_all_surveys_the_size_is_the_level(level: float) -> None:
    """Together they have enough replications to see a size that is too small as well."""
    runs = [simulated(null) for null in NULLS]
    seeds = [seed for _, _, seed in runs]
    p_values = np.concatenate([p_values for p_values, _, _ in runs])
    assert_size(p_values, level, seeds)
    with pytest.raises(AssertionError):
        assert_size(p_values / 8, level, seeds)
    if level == 0.05:  # at the other, so few rejections hardly differ from none
        with pytest.raises(AssertionError):
            assert_size(p_values * 10, level, seeds)


NOISY = [
    null for null in NULLS if (null.rows == 6 or null.epsilon == 2.0) and (null.rows > 2 or not null.joint)
]
"""Where the noise of the design is much more than that of counting: the naive size is .65 to 1."""


@pytest.mark.parametrize("null", NOISY, ids=str)
def test_a_reconstructed_table_taken_as_counted_rejects_far_too_often(null: Null) -> None:
    _, naive, seed = simulated(null)
    with pytest.raises(AssertionError):
        assert_size(naive, 0.05, seed)


def test_of_reports_that_are_sets_the_size_holds() -> None:
    design, shares = SubsetSelection(cells=6, epsilon=1.0), independent(6, 6)  # type: ignore[arg-type]
    sets = np.array([[cell in one for cell in range(6)] for one in combinations(range(6), design.size or 0)])
    inside, truth = sets.sum(axis=0)[0], float(design.support_if_true)
    law = np.where(sets, truth / inside, (1 - truth) / (len(sets) - inside))
    assert law.sum(axis=0) == pytest.approx(np.ones(6))
    features = np.column_stack([sets, np.ones(len(sets), dtype=np.int64)]).astype(np.int64)
    pairs = law @ shares @ law.T
    rng, seed = fresh_rng()
    drawn = rng.multinomial(REPORTS, pairs.ravel() / pairs.sum(), size=TIMES).reshape(TIMES, *pairs.shape)
    axes = (Axis(("a",), (6,), design), Axis(("b",), (6,), design))
    tables = np.einsum("tuv,ui,vj->tij", drawn, features, features, optimize=True)
    margins = [Margin(TableEstimate.of(table, axes), ("a", "b"), (False, False)) for table in tables]
    tests = [independence_test(margin) for margin in margins]
    assert {test.method for test in tests} == {"rao-scott"}
    assert_size(np.array([test.p_value for test in tests]), 0.05, seed)
    with pytest.raises(AssertionError):
        assert_size(np.array([naive_p_value(margin) for margin in margins]), 0.05, seed)


def test_with_weights_the_size_holds_and_without_their_design_effect_it_does_not() -> None:
    """One respondent in ten weighs as much as 19 others: a design effect of 4.7."""
    survey, light, heavy = Survey(independent(3, 3), 6.0), 1, 19
    rng, seed = fresh_rng()
    parts = [survey.draw(rng, reports, TIMES) for reports in (9 * REPORTS // 10, REPORTS // 10)]
    held, ignored = np.empty(TIMES), np.empty(TIMES)
    for number, (one, other) in enumerate(zip(*parts, strict=True)):
        first, second = one.astype(object), other.astype(object)
        layers = [
            first + second,
            (light * first + heavy * second) * WEIGHT_UNIT,
            (light**2 * first + heavy**2 * second) * WEIGHT_UNIT,
        ]
        margin = Margin(TableEstimate.of(np.stack(layers), survey.axes), ("a", "b"), (False, False))
        held[number] = independence_test(margin).p_value
        (sample,) = margin.table.samples
        unweighted = replace(sample, squares=sample.observed.copy(), effective=float(sample.reports))
        table = replace(margin.table, samples=(unweighted,))
        ignored[number] = independence_test(replace(margin, table=table)).p_value
    assert_size(held, 0.05, seed)
    with pytest.raises(AssertionError):
        assert_size(ignored, 0.05, seed)
