from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from jobs.survey.reconstruct import Axis, Sample, TableEstimate
from udfs.field_designs import matrix
from udfs.laplace import LaplaceMechanism
from udfs.optimized_unary import OptimizedUnaryEncoding
from udfs.randomized_response import RandomizedResponse
from udfs.randomizer import PureRandomizer
from udfs.subset_selection import SubsetSelection
from udfs.tables import CrossTable

Floats = npt.NDArray[np.float64]

FOUR_REPORTS = matrix(
    [["1/2", "1/8", "0"], ["1/4", "1/2", "1/8"], ["1/8", "1/4", "3/8"], ["1/8", "1/8", "1/2"]]
)
CODES = {
    "response": Axis(("a",), (4,), RandomizedResponse(4, 2)),
    "laplace": Axis(("b",), (3,), LaplaceMechanism(3, 3)),
    "matrix": Axis(("c",), (3,), FOUR_REPORTS),
    "joint": Axis(("d", "e"), (2, 3), RandomizedResponse(6, 3)),
}
SETS = {
    "subsets": Axis(("f",), (5,), SubsetSelection(5, 1)),
    "unary": Axis(("g",), (3,), OptimizedUnaryEncoding(3, 2)),
}
MIXES = [
    *([name] for name in CODES | SETS),
    *([*pair] for pair in itertools.permutations(CODES, 2)),
    ["response", "laplace", "matrix"],
    ["joint", "matrix", "response"],
    ["subsets", "joint"],
    ["laplace", "unary"],
    ["unary", "response", "subsets"],
]
every_mix = pytest.mark.parametrize("mix", MIXES, ids=" x ".join)
code_mixes = pytest.mark.parametrize("mix", [mix for mix in MIXES if set(mix) <= set(CODES)], ids=" x ".join)


@dataclass(frozen=True)
class Rows:
    """Any reports at all, row by row, and each row's own estimates of all cells of the product."""

    axes: tuple[Axis, ...]
    reports: list[npt.NDArray[Any]]

    @classmethod
    def some(cls, mix: Sequence[str], rows: int, rng: np.random.Generator) -> Rows:
        axes = tuple((CODES | SETS)[name] for name in mix)
        reports: list[npt.NDArray[Any]] = [
            rng.integers(0, axis.design.features, rows)
            if axis.design.one_code
            else some_sets(axis.design, rows, rng)
            for axis in axes
        ]
        return cls(axes, reports)

    @property
    def own(self) -> Floats:
        """The Kronecker product of every row's reconstructed reports: shape (rows, cells)."""
        parts = [own_estimates(axis, one) for axis, one in zip(self.axes, self.reports, strict=True)]
        return reduce(lambda a, b: (a[:, :, None] * b[:, None, :]).reshape(len(a), -1), parts)

    def counts(self, weights: Floats | None = None) -> Any:
        """Count them as a worker does."""
        shape = tuple(axis.design.features for axis in self.axes)
        table = CrossTable(tuple(range(len(shape))), shape, None if weights is None else len(shape))
        return table.tally([*self.reports, *([] if weights is None else [weights])])

    def cut(self, rows: slice) -> Rows:
        return Rows(self.axes, [one[rows] for one in self.reports])


def some_sets(design: Any, rows: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Return sets of cells: of one size where the design makes no others."""
    height = rng.random((rows, design.cells))
    if isinstance(design, SubsetSelection):
        return height.argsort(axis=1) < design.size
    return height < 0.4


def own_estimates(axis: Axis, reports: npt.NDArray[Any]) -> Floats:
    """Invert one axis by the definition of its design: shape (rows, cells)."""
    design = axis.design
    if isinstance(design, PureRandomizer):
        p, q = float(design.support_if_true), float(design.support_if_false)
        return ((np.eye(design.cells)[reports] if design.one_code else reports) - q) / (p - q)
    law = np.array([[float(entry) for entry in row] for row in design.law])
    if len(law) == design.cells:
        return np.linalg.inv(law).T[reports]
    inverse = design.reconstruct(np.eye(design.features))  # there are many: any that undoes the law will do
    assert inverse @ law == pytest.approx(np.eye(design.cells), abs=1e-12)
    return inverse.T[reports]


def squares(rows: Rows, gradients: Floats) -> Floats:
    """Return the mean squares of single rows' estimates of linear functions."""
    return np.mean((rows.own @ gradients.T) ** 2, axis=0)


@every_mix
def test_shares_and_their_variances_are_those_of_the_kronecker_product(mix: list[str]) -> None:
    rows = Rows.some(mix, 60, np.random.default_rng(len(mix)))
    table, own = TableEstimate.of(rows.counts(), rows.axes), rows.own
    assert table.attributes == tuple(name for axis in rows.axes for name in axis.attributes)
    assert table.reports == 60
    assert table.shares.shape == table.shape
    assert table.shares.ravel() == pytest.approx(own.mean(axis=0), rel=1e-9, abs=1e-11)
    variances = own.var(axis=0, ddof=1) / 60
    assert table.cell_variances().ravel() == pytest.approx(variances, rel=1e-8, abs=1e-12)
    unit = np.eye(own.shape[1]).reshape(-1, *table.shape)
    assert np.diag(table.covariance(unit)) == pytest.approx(variances, rel=1e-8, abs=1e-12)
    assert table.variance(unit[0]) == pytest.approx(variances[0], rel=1e-8)


@code_mixes
def test_the_covariance_is_that_of_the_rows_own_estimates(mix: list[str]) -> None:
    rng = np.random.default_rng(7)
    rows = Rows.some(mix, 80, rng)
    table = TableEstimate.of(rows.counts(), rows.axes)
    gradients = rng.normal(size=(4, *table.shape))
    expected = np.cov(rows.own @ gradients.reshape(4, -1).T, rowvar=False) / 80
    assert table.covariance(gradients) == pytest.approx(expected, rel=1e-9)


@code_mixes
def test_weights_give_hajeks_mean_and_its_linearised_variance(mix: list[str]) -> None:
    rng = np.random.default_rng(8)
    rows, weights = Rows.some(mix, 70, rng), rng.uniform(0.1, 9.0, 70)
    sample = Sample.of(rows.counts(weights), rows.axes)
    table = TableEstimate(rows.axes, (sample,), np.ones(1))
    mean = np.average(rows.own, axis=0, weights=weights)
    weighted = weights[:, None] * (rows.own - mean)
    expected = weighted.T @ weighted / weights.sum() ** 2
    assert (sample.reports, sample.weight) == (70, pytest.approx(weights.sum(), rel=1e-12))
    assert sample.effective == pytest.approx(weights.sum() ** 2 / (weights**2).sum(), rel=1e-12)
    assert table.shares.ravel() == pytest.approx(mean, rel=1e-9, abs=1e-11)
    unit = np.eye(len(mean)).reshape(-1, *table.shape)
    assert table.covariance(unit) == pytest.approx(expected, rel=1e-8, abs=1e-12)
    assert table.cell_variances().ravel() == pytest.approx(np.diag(expected), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("mix", [["subsets"], ["unary", "response"]], ids=" x ".join)
def test_weighted_sets_have_the_linearised_variance_too(mix: list[str]) -> None:
    rng = np.random.default_rng(9)
    rows, weights = Rows.some(mix, 70, rng), rng.uniform(0.1, 9.0, 70)
    table = TableEstimate(rows.axes, (Sample.of(rows.counts(weights), rows.axes),), np.ones(1))
    mean = np.average(rows.own, axis=0, weights=weights)
    expected = (weights**2) @ (rows.own - mean) ** 2 / weights.sum() ** 2
    assert table.cell_variances().ravel() == pytest.approx(expected, rel=1e-8, abs=1e-12)
    unit = np.eye(len(mean)).reshape(-1, *table.shape)
    assert np.diag(table.covariance(unit)) == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_weights_that_are_all_alike_change_no_share() -> None:
    rows = Rows.some(["response", "laplace"], 50, np.random.default_rng(1))
    sample = Sample.of(rows.counts(np.full(50, 0.3)), rows.axes)
    plain = TableEstimate.of(rows.counts(), rows.axes)
    weighted = TableEstimate(rows.axes, (sample,), np.ones(1))
    assert weighted.shares == pytest.approx(plain.shares, rel=1e-12)
    assert weighted.cell_variances() == pytest.approx(plain.cell_variances() * 49 / 50, rel=1e-12)


@every_mix
@pytest.mark.parametrize("sizes", [None, (90, 400)])
@pytest.mark.parametrize("lost", [0, 1])
def test_strata_are_estimated_within_and_combined(
    mix: list[str], sizes: tuple[int, ...] | None, lost: int
) -> None:
    rng = np.random.default_rng(10)
    rows, cuts, shares = Rows.some(mix, 75, rng), (slice(0, 30), slice(30, 75)), np.array([0.35, 0.65])
    parts = [rows.cut(cut) for cut in cuts]
    samples = tuple(Sample.of(part.counts(), part.axes, lost) for part in parts)
    table = TableEstimate(rows.axes, samples, shares, sizes)
    gradients = np.eye(rows.own.shape[1])
    expected = np.zeros(len(gradients))
    for part, share, size in zip(parts, shares, sizes or (math.inf, math.inf), strict=True):
        n, own = len(part.own), part.own
        mean = own.mean(axis=0)
        spread = own.var(axis=0, ddof=lost) / n * (1 - n / size)
        expected += share**2 * (spread + (squares(part, gradients) - mean) / size)
    own = shares @ np.stack([part.own.mean(axis=0) for part in parts])
    assert table.shares.ravel() == pytest.approx(own, rel=1e-9, abs=1e-11)
    assert table.cell_variances().ravel() == pytest.approx(expected, rel=1e-8, abs=1e-12)
    unit = gradients.reshape(-1, *table.shape)
    assert np.diag(table.covariance(unit)) == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_of_a_census_the_variance_is_that_of_the_coins_alone() -> None:
    """Where everybody is asked, only the design's own noise is left: nothing where it has none."""
    rows = Rows.some(["response"], 40, np.random.default_rng(2))
    quiet = Axis(("a",), (4,), RandomizedResponse(4, 1000))
    census = TableEstimate.of(rows.counts(), [quiet], size=40)
    assert census.cell_variances() == pytest.approx(0, abs=1e-15)
    noisy = replace(census, axes=rows.axes)
    p, q = (float(rows.axes[0].design.law[0][v]) for v in (0, 1))
    noise = (noisy.shares * p * (1 - p) + (1 - noisy.shares) * q * (1 - q)) / (p - q) ** 2
    assert noisy.cell_variances() == pytest.approx(noise / 40, rel=1e-9)


TINY = [
    (RandomizedResponse(2, 1), RandomizedResponse(3, 2)),
    (LaplaceMechanism(3, 3),),
    (SubsetSelection(3, 1),),
    (OptimizedUnaryEncoding(3, 1),),
    (OptimizedUnaryEncoding(2, 1), RandomizedResponse(2, 1)),
]


def law_of(design: Any) -> list[tuple[Any, list[Fraction]]]:
    """Return every report and its probability under each answer."""
    cells = range(design.cells)
    if design.one_code:
        return [(code, list(row)) for code, row in enumerate(design.law)]
    p, q = design.support_if_true, design.support_if_false
    laws = []
    for bits in itertools.product([False, True], repeat=design.cells):
        if isinstance(design, SubsetSelection):
            size = design.size
            others = (math.comb(design.cells - 1, size - 1), math.comb(design.cells - 1, size))
            chance = [Fraction(p) / others[0] if bits[v] else (1 - Fraction(p)) / others[1] for v in cells]
            chance = chance if sum(bits) == size else [Fraction(0)] * design.cells
        else:
            odds = [[p if u == v else q for u in cells] for v in cells]
            chance = [math.prod(x if b else 1 - x for x, b in zip(row, bits, strict=True)) for row in odds]
        laws.append((bits, chance))
    return laws


@pytest.mark.parametrize("designs", TINY, ids=lambda designs: " x ".join(type(d).__name__ for d in designs))
def test_shares_and_covariances_are_unbiased(designs: tuple[Any, ...]) -> None:
    """All reports of two respondents are enumerated; what comes out on average is the truth."""
    axes = tuple(Axis((f"x{n}",), (design.cells,), design) for n, design in enumerate(designs))
    shape = tuple(design.cells for design in designs)
    truth = np.arange(1.0, math.prod(shape) + 1)
    truth = (truth / truth.sum()).reshape(shape)
    singles = []
    for reports in itertools.product(*(law_of(design) for design in designs)):
        given = reduce(np.multiply.outer, [np.array([float(p) for p in law]) for _, law in reports])
        if (chance := float((given * truth).sum())) > 0:
            singles.append(([report for report, _ in reports], chance))
    assert sum(chance for _, chance in singles) == pytest.approx(1)
    mean, spread, variance = np.zeros(shape), 0.0, 0.0
    unit = np.eye(truth.size).reshape(-1, *shape)
    for one, other in itertools.product(singles, repeat=2):
        rows = Rows(axes, [np.array(pair) for pair in zip(one[0], other[0], strict=True)])
        table, chance = TableEstimate.of(rows.counts(), axes), one[1] * other[1]
        mean += chance * table.shares
        spread = spread + chance * (table.shares.reshape(-1, 1) - truth.reshape(-1, 1)) ** 2
        variance = variance + chance * table.covariance(unit)
    assert mean == pytest.approx(truth, rel=1e-9)
    assert np.diag(variance) == pytest.approx(np.ravel(spread), rel=1e-9)
    at = table.at(truth)
    assert variance == pytest.approx(at.covariance(unit) / 2, rel=1e-8, abs=1e-12)
    assert np.diag(variance) == pytest.approx(at.cell_variances().ravel() / 2, rel=1e-8)


@every_mix
def test_variances_are_the_diagonal_of_the_covariance(mix: list[str]) -> None:
    rng = np.random.default_rng(13)
    rows = Rows.some(mix, 60, rng)
    table = TableEstimate.of(rows.counts(), rows.axes, size=200)
    gradients = rng.normal(size=(5, *table.shape))
    expected = np.diag(table.covariance(gradients))
    assert table.variances(gradients) == pytest.approx(np.maximum(expected, 0), rel=1e-9)
