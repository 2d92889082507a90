from __future__ import annotations

import itertools
import math
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from jobs.survey.margin import Margin
from jobs.survey.reconstruct import Axis, Sample, TableEstimate
from tests.jobs.survey.reported import fresh_rng
from udfs.field_designs import matrix
from udfs.laplace import LaplaceMechanism
from udfs.optimized_unary import OptimizedUnaryEncoding
from udfs.plain import PlainAnswers
from udfs.randomized_response import RandomizedResponse
from udfs.subset_selection import SubsetSelection

Floats = npt.NDArray[np.float64]


def one_by_one(margin: Margin) -> tuple[Floats, Floats]:
    """Return the variances of raw shares and of proportions, each from its own gradient: the reference."""
    raw = np.eye(margin.raw.size).reshape(-1, *margin.raw.shape)
    inner = np.eye(margin.proportions.size).reshape(-1, *margin.proportions.shape)
    of_raw = [margin.table.covariance(margin.lift(one)[None])[0, 0] for one in raw]
    of_proportions = [margin.table.covariance(margin.gradient(one)[None])[0, 0] for one in inner]
    return np.reshape(of_raw, margin.raw.shape), np.reshape(of_proportions, margin.proportions.shape)


LAWS = [["3/4", "1/8", "1/8"], ["1/8", "3/4", "1/4"], ["1/8", "1/8", "5/8"]]
TABLES: dict[str, list[Axis]] = {
    "alone": [Axis(("a",), (3,), RandomizedResponse(3, 2)), Axis(("b",), (4,), RandomizedResponse(4, 3))],
    "other designs": [Axis(("a",), (3,), matrix(LAWS)), Axis(("b",), (4,), LaplaceMechanism(4, 6))],
    "joint": [Axis(("a", "b"), (3, 4), RandomizedResponse(12, 4))],
    "joint by a matrix": [Axis(("a", "b", "c"), (3, 2, 2), LaplaceMechanism(12, 40))],
    "joint and others": [
        Axis(("c",), (2,), RandomizedResponse(2, 2)),
        Axis(("a", "d", "b"), (3, 2, 2), RandomizedResponse(12, 5)),
        Axis(("e",), (2,), PlainAnswers(2)),
    ],
    "one set": [Axis(("a",), (5,), SubsetSelection(5, 2))],
    "sets": [Axis(("a",), (3,), SubsetSelection(3, 2)), Axis(("b",), (2,), OptimizedUnaryEncoding(2, 2))],
    "sets and codes": [
        Axis(("a",), (3,), OptimizedUnaryEncoding(3, 3)),
        Axis(("b", "c"), (2, 2), RandomizedResponse(4, 3)),
    ],
}
SIZES = {"one sample": None, "of a finite population": (10**6,), "of two strata": (10**6, 4 * 10**6)}


def some_samples(axes: Sequence[Axis], strata: int, weighted: bool, rng: np.random.Generator) -> list[Sample]:
    """Return samples as they are on average, near any shares at all."""
    samples = []
    for reports in (400, 300)[:strata]:
        layers = []
        for _ in range(1 + weighted):
            law = rng.uniform(2, 3, [axis.design.cells for axis in axes])
            law /= law.sum()
            for number, axis in enumerate(axes):
                law = axis.design.observe(law, number)
            layers.append(law)
        effective = reports / 1.7 if weighted else float(reports)
        samples.append(Sample(layers[0], layers[-1], reports, effective, float(reports), reports, 1.01))
    return samples


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("axes", TABLES.values(), ids=TABLES)
def test_variances_are_those_of_one_gradient_a_cell(
    axes: list[Axis], sizes: tuple[int, ...] | None, weighted: bool
) -> None:
    rng, seed = fresh_rng()
    strata = len(sizes or (1,))
    samples = tuple(some_samples(axes, strata, weighted, rng))
    table = TableEstimate(
        tuple(axes), samples, np.array([0.3, 0.7][-strata:]) if strata > 1 else np.ones(1), sizes
    )
    for of in (one[::-1] for count in (1, 2, 3) for one in itertools.combinations(table.attributes, count)):
        for missing in itertools.product([False, True], repeat=len(of)):
            shape = [
                table.shape[table.attributes.index(name)] - gone
                for name, gone in zip(of, missing, strict=True)
            ]
            # The guard against a share of answers near zero is not what is looked at.
            margin = Margin(
                replace(table, samples=tuple(replace(one, effective=1e4) for one in samples)), of, missing
            )
            raw, proportions = one_by_one(margin)
            assert margin.variances().shape == tuple(shape)
            assert margin.raw_variances == pytest.approx(raw, rel=1e-7, abs=1e-14), seed
            assert margin.variances() == pytest.approx(proportions, rel=1e-7, abs=1e-14), seed


def test_covariances_with_those_who_answered_are_those_of_the_dense_matrix() -> None:
    rng, seed = fresh_rng()
    for axes in TABLES.values():
        table = TableEstimate(tuple(axes), tuple(some_samples(axes, 1, True, rng)), np.ones(1), (900,))
        of = table.attributes
        margin = Margin(table, of, (True,) * len(of))
        unit = np.eye(margin.raw.size).reshape(-1, *margin.raw.shape)
        answered = -margin._others.astype(np.float64)
        dense = table.covariance(np.stack([*map(margin.lift, unit), margin.lift(answered)]))
        assert margin.covariances_with_answered.ravel() == pytest.approx(
            dense[-1, :-1], rel=1e-8, abs=1e-13
        ), seed
        assert margin.answered_error**2 == pytest.approx(dense[-1, -1], rel=1e-8), seed
        gradient = rng.normal(size=table.shape)
        one = table.covariance(np.concatenate([unit.reshape(-1, *table.shape), gradient[None]]))[-1, :-1]
        assert table.covariances_with(gradient).ravel() == pytest.approx(one, rel=1e-8, abs=1e-13), seed


@pytest.mark.parametrize("shape", [(256, 256), (2,) * 16], ids=str)
def test_large_tables_with_missing_answers_take_little_more_than_themselves(shape: tuple[int, ...]) -> None:
    """One gradient for each of 65,536 cells would be 34 gigabytes."""
    names = tuple(f"x{place}" for place in range(len(shape)))
    axis = Axis(names, shape, RandomizedResponse(math.prod(shape), 16))
    observed = axis.design.observe(np.full(axis.design.cells, 1 / axis.design.cells))
    table = TableEstimate((axis,), (Sample.expected(observed, 10**7),), np.ones(1))
    tracemalloc.start()
    variances = Margin(table, names, (True,) + (False,) * (len(shape) - 1)).variances()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.isfinite(variances).all()
    assert peak < 40 * observed.nbytes
