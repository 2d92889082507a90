from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from jobs.survey.regression import fit_logistic
from tests.jobs.survey.regressions import DIRECT, WARNER, Floats, every_law, fit, typical
from udfs.errors import SchemaError
from udfs.logistic import LogisticSums, logistic_sums


def refusal(call: Callable[[], Any]) -> SchemaError:
    with pytest.raises(SchemaError) as refused:
        call()
    return refused.value


@every_law
def test_collinear_columns_are_named(law: Floats) -> None:
    features, reports, _ = typical(law)
    redundant = np.column_stack([features, 0.3 * features[:, 1] - 20 * features[:, 2]])
    refused = refusal(lambda: fit(redundant, reports, law))
    assert refused.must == "no column may be a combination of others"
    assert refused.got == "x1, x2, x3"


@every_law
@pytest.mark.parametrize(("constant", "named"), [(7.0, "intercept, x3"), (0.0, "x3")])
def test_a_constant_column_is_named(law: Floats, constant: float, named: str) -> None:
    features, reports, _ = typical(law)
    refused = refusal(lambda: fit(np.column_stack([features, np.full(3000, constant)]), reports, law))
    assert refused.got == named
    assert "leave" in refused.remedy


def test_fewer_rows_than_terms_are_refused() -> None:
    features, reports, _ = typical(WARNER)
    assert (
        refusal(lambda: fit(features[:2], reports[:2], WARNER)).must
        == "no column may be a combination of others"
    )


@pytest.mark.parametrize("rows", [0, 5])
def test_rows_of_no_weight_are_refused(rows: int) -> None:
    refused = refusal(lambda: fit(np.ones((rows, 1)), np.zeros(rows, dtype=np.intp), WARNER, np.zeros(rows)))
    assert refused.got == f"{rows} rows without"


@every_law
@pytest.mark.parametrize("scale", [1.0, 2.0**40])
@pytest.mark.parametrize("answer", ["first", "last"])
def test_reports_all_alike_have_no_finite_maximum(law: Floats, scale: float, answer: str) -> None:
    features, reports, weights = typical(law)
    alike = np.full_like(reports, 0 if answer == "first" else len(law) - 1)
    refused = refusal(lambda: fit(features, alike, law, weights * scale))
    assert refused.must == "the likelihood must have its maximum at finite coefficients"
    assert "merge" in refused.remedy


@every_law
def test_a_group_whose_reports_are_all_alike_is_named(law: Floats) -> None:
    features, reports, _ = typical(law)
    group = (np.arange(3000) < 40).astype(np.float64)
    alike = np.where(group == 1, 0, reports)
    refused = refusal(lambda: fit(np.column_stack([features, group]), alike, law))
    assert refused.must == "the likelihood must have its maximum at finite coefficients"
    assert refused.got.endswith("along x3")


def test_a_column_that_separates_the_reports_is_refused() -> None:
    x = np.linspace(-1, 1, 200)
    refused = refusal(lambda: fit(np.column_stack([np.ones(200), x]), (x > 0.3).astype(np.intp), DIRECT))
    assert refused.must == "the likelihood must have its maximum at finite coefficients"
    assert "x1" in refused.got


def test_a_likelihood_that_never_rises_is_refused() -> None:
    features, reports, _ = typical(WARNER)

    def falling(beta: Floats) -> LogisticSums:
        sums = logistic_sums(features, reports, WARNER, beta)
        return replace(sums, log_likelihood=-1.0 - float(beta.any()))

    refused = refusal(lambda: fit_logistic(falling, ["intercept", "x1", "x2"], weighted=False))
    assert refused.must == "a step along the score must raise the likelihood"
