from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from jobs.survey.reconstruct import Axis, TableEstimate
from tests.jobs.survey.test_reconstruct import CODES, Rows, code_mixes, law_of
from udfs.optimized_unary import OptimizedUnaryEncoding
from udfs.subset_selection import SubsetSelection

SET_DESIGNS = [SubsetSelection(6, 1), SubsetSelection(5, 2), OptimizedUnaryEncoding(5, 1)]


@pytest.mark.parametrize("design", SET_DESIGNS, ids=lambda design: design.label)
def test_what_one_set_can_make_of_a_function_is_found_over_all_sets(design: Any) -> None:
    axis, rng = Axis(("a",), (design.cells,), design), np.random.default_rng(11)
    possible = np.array([bits for bits, chance in law_of(design) if any(chance)], dtype=np.float64)
    p, q = float(design.support_if_true), float(design.support_if_false)
    own = (possible - q) / (p - q)
    table = TableEstimate((axis,), (), np.ones(0))
    for gradient in [*np.eye(design.cells), *rng.normal(size=(20, design.cells)), np.ones(design.cells)]:
        found = table.report_range(gradient)
        assert found == pytest.approx(((own @ gradient).min(), (own @ gradient).max()), rel=1e-9, abs=1e-9)


@code_mixes
def test_what_one_report_can_make_of_a_function_is_found_over_all_reports(mix: list[str]) -> None:
    axes, rng = tuple(CODES[name] for name in mix), np.random.default_rng(12)
    codes = [
        np.array(one)
        for one in zip(*itertools.product(*(range(a.design.features) for a in axes)), strict=True)
    ]
    own, table = Rows(axes, codes).own, TableEstimate(axes, (), np.ones(0))
    gradient = rng.normal(size=table.shape)
    values = own @ gradient.ravel()
    assert table.report_range(gradient) == pytest.approx((values.min(), values.max()), rel=1e-9)
