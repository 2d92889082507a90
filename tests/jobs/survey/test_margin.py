from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from jobs.survey.margin import Margin
from jobs.survey.reconstruct import Axis, Sample, TableEstimate
from udfs.design import Design
from udfs.laplace import LaplaceMechanism
from udfs.plain import PlainAnswers
from udfs.randomized_response import RandomizedResponse
from udfs.subset_selection import SubsetSelection

Floats = npt.NDArray[np.float64]

SHAPE = {"a": 3, "b": 2, "c": 4}
MISSING = {"a": True, "b": False, "c": True}
ORDERS = [order for count in (1, 2, 3) for order in itertools.permutations("abc", count)]
every_order = pytest.mark.parametrize("of", ORDERS, ids="".join)


def table_of(shares: Floats, joint: bool = True, reports: int = 50) -> TableEstimate:
    """Return the table of reports that hide nothing: a's alone, those of b and c in one."""
    designs: list[tuple[Sequence[str], Design]]
    designs = [("a", PlainAnswers(3)), ("bc", PlainAnswers(8))]
    if not joint:
        designs = [(name, PlainAnswers(cells)) for name, cells in SHAPE.items()]
    axes = tuple(Axis(tuple(of), tuple(SHAPE[one] for one in of), design) for of, design in designs)
    observed = shares.reshape([axis.design.cells for axis in axes])
    return TableEstimate(axes, (Sample.expected(observed, reports),), np.ones(1))


def some_shares(seed: int = 4) -> Floats:
    shares = np.random.default_rng(seed).uniform(1, 3, tuple(SHAPE.values()))
    return shares / shares.sum()


def margin_of(shares: Floats, of: Sequence[str]) -> Margin:
    return Margin(table_of(shares), tuple(of), tuple(MISSING[name] for name in of))


@every_order
def test_a_margin_has_its_attributes_in_the_order_wanted(of: tuple[str, ...]) -> None:
    shares, margin = some_shares(), margin_of(some_shares(), of)
    assert margin.raw == pytest.approx(np.einsum("abc->" + "".join(of), shares), rel=1e-12)
    answers = np.einsum("abc->" + "".join(of), shares)[
        tuple(slice(None, -1) if MISSING[name] else slice(None) for name in of)
    ]
    assert margin.answered == pytest.approx(answers.sum(), rel=1e-12)
    assert margin.proportions == pytest.approx(answers / answers.sum(), rel=1e-12)


@every_order
def test_lifting_a_gradient_undoes_taking_a_margin(of: tuple[str, ...]) -> None:
    """They are adjoint: the gradient of a function of the margin, by the whole table's cells."""
    rng, margin = np.random.default_rng(5), margin_of(some_shares(), of)
    gradient, table = rng.normal(size=margin.raw.shape), rng.normal(size=tuple(SHAPE.values()))
    lifted = float((margin.lift(gradient) * table).sum())
    assert lifted == pytest.approx(float((gradient * margin.take(table)).sum()))


@every_order
def test_the_gradient_is_the_limit_of_finite_differences(of: tuple[str, ...]) -> None:
    rng, shares, step = np.random.default_rng(6), some_shares(), 1e-6
    margin = margin_of(shares, of)
    by_proportions, by_answered = rng.normal(size=margin.proportions.shape), float(rng.normal())
    gradient = margin.gradient(by_proportions, by_answered if any(margin.missing) else 0.0)
    for _ in range(5):
        way = rng.normal(size=shares.shape)
        way -= way.mean()  # shares sum to one

        def value(
            at: Floats, by: Floats = by_proportions, weight: float = by_answered, of: Sequence[str] = of
        ) -> float:
            there = margin_of(at, of)
            return float((by * there.proportions).sum()) + weight * there.answered

        difference = (value(shares + step * way) - value(shares - step * way)) / (2 * step)
        assert float((gradient * way).sum()) == pytest.approx(difference, rel=1e-6, abs=1e-8)


@every_order
def test_variances_are_the_delta_methods(of: tuple[str, ...]) -> None:
    shares, margin = some_shares(), margin_of(some_shares(), of)
    dispersion = (np.diag(shares.ravel()) - np.outer(shares, shares)) / 49
    unit = np.eye(margin.proportions.size).reshape(-1, *margin.proportions.shape)
    gradients = np.stack([margin.gradient(one).ravel() for one in unit])
    expected = np.diag(gradients @ dispersion @ gradients.T)
    assert margin.variances().ravel() == pytest.approx(expected, rel=1e-9)
    raw = margin.raw.ravel()
    assert margin.raw_variances.ravel() == pytest.approx(raw * (1 - raw) / 49, rel=1e-9)
    answered = margin.answered
    assert margin.answered_error == pytest.approx(math.sqrt(answered * (1 - answered) / 49), abs=1e-9)


@pytest.mark.parametrize("of", ["a", "ab", "ba", "ca"])
def test_variances_at_other_proportions_keep_who_answered(of: str) -> None:
    """Reports that hide nothing: those who answered are a multinomial sample of their own."""
    margin = margin_of(some_shares(), of)
    other = np.random.default_rng(8).uniform(1, 2, margin.proportions.shape)
    other /= other.sum()
    expected = (np.diag(other.ravel()) - np.outer(other, other)) / margin.answered
    unit = np.eye(other.size).reshape(-1, *other.shape)
    found = margin.variances_at(other, np.concatenate([unit, unit[:1] - 2 * unit[1:2]]))
    assert found[:-1] == pytest.approx(np.diag(expected), rel=1e-9, abs=1e-12)
    both = expected[0, 0] - 4 * expected[0, 1] + 4 * expected[1, 1]
    assert found[-1] == pytest.approx(both, rel=1e-9, abs=1e-12)


def test_attributes_with_a_report_of_their_own_or_together_have_one_margin() -> None:
    shares = some_shares()
    for of in ORDERS:
        missing = tuple(MISSING[name] for name in of)
        apart, joint = (Margin(table_of(shares, joint), of, missing) for joint in (False, True))
        assert apart.proportions == pytest.approx(joint.proportions, rel=1e-12)
        assert apart.variances() == pytest.approx(joint.variances(), rel=1e-9)


DESIGNS: list[Design] = [RandomizedResponse(3, 1), LaplaceMechanism(3, 2), SubsetSelection(3, 1)]
every_design = pytest.mark.parametrize("design", DESIGNS, ids=lambda design: type(design).__name__)


def features(design: Design, reports: int) -> npt.NDArray[np.int64]:
    """Return the sum of so many reports of the first cell."""
    counts = np.zeros(design.features, dtype=np.int64)
    counts[0] = reports
    if not design.one_code:
        counts[-1] = reports
    return counts


@every_design
@pytest.mark.parametrize("missing", [False, True])
def test_of_no_reports_all_is_unknown(design: Design, missing: bool) -> None:
    table = TableEstimate.of(features(design, 0), [Axis(("a",), (3,), design)])
    margin = Margin(table, ("a",), (missing,))
    assert table.reports == 0
    for unknown in (table.shares, table.cell_variances(), margin.proportions, margin.variances()):
        assert np.isnan(unknown).all()


@every_design
def test_one_report_has_shares_and_no_variance(design: Design) -> None:
    axes = [Axis(("a",), (3,), design)]
    table = TableEstimate.of(features(design, 1), axes)
    assert np.isfinite(table.shares).all()
    assert np.isnan(table.cell_variances()).all()
    likely = TableEstimate(tuple(axes), (Sample.of(features(design, 1), axes, lost=0),), np.ones(1))
    assert np.isfinite(likely.cell_variances()).all()


@every_design
def test_a_stratum_of_no_share_says_nothing_and_spoils_nothing(design: Design) -> None:
    axes = (Axis(("a",), (3,), design),)
    samples = tuple(Sample.of(features(design, reports), axes) for reports in (20, 0))
    alone = TableEstimate(axes, samples[:1], np.ones(1))
    beside = TableEstimate(axes, samples, np.array([1.0, 0.0]))
    unit = np.eye(3)
    assert beside.shares == pytest.approx(alone.shares, rel=1e-15)
    assert beside.cell_variances() == pytest.approx(alone.cell_variances(), rel=1e-15)
    assert beside.covariance(unit) == pytest.approx(alone.covariance(unit), rel=1e-15)
    needed = TableEstimate(axes, samples, np.array([0.5, 0.5]))
    assert np.isnan(needed.shares).all()
    assert np.isnan(needed.cell_variances()).all()


def test_weights_that_are_all_zero_are_no_reports() -> None:
    axes = (Axis(("a",), (2,), RandomizedResponse(2, 1)),)
    counts = np.array([[3, 4], [0, 0], [0, 0]], dtype=object)
    sample = Sample.of(counts, axes)
    assert (sample.reports, sample.weight) == (7, 0.0)
    assert np.isnan(sample.observed).all()


def test_nobody_seems_to_have_answered_within_two_standard_errors_of_zero() -> None:
    design = RandomizedResponse(3, 1)
    for reports, known in (([22, 24, 60], False), ([60, 24, 22], True)):
        table = TableEstimate.of(np.array(reports), [Axis(("a",), (3,), design)])
        margin = Margin(table, ("a",), (True,))
        assert (margin.answered > 2 * margin.answered_error) == known
        assert np.isfinite(margin.proportions).all() == known
