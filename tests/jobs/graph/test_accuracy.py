"""By how much estimates are off on average, and how many links of a rebuilt graph are true."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jobs.graph.accuracy import mean_absolute_error, mean_degree_error, true_links


@pytest.mark.parametrize("reports", [0, 1, 2, 9, 184, 5000])
@pytest.mark.parametrize("lie", [0.0, 1e-9, 0.0025, 0.25, 0.49])
def test_links_are_off_by_their_law(reports: int, lie: float) -> None:
    found, at_most = mean_absolute_error("degrees", 1.0, reports, lie)
    assert not at_most
    assert found == pytest.approx(mean_degree_error(np.zeros(reports + 1, dtype=np.int64), lie), rel=1e-9)


def test_of_many_reports_the_law_is_normal() -> None:
    reports, lie = 12_497_500, 0.12
    error = math.sqrt(reports * lie * (1 - lie)) / (1 - 2 * lie)
    found, _ = mean_absolute_error("edges", error, reports, lie)
    assert found == pytest.approx(math.sqrt(2 / math.pi) * error, rel=1e-5)


@pytest.mark.parametrize(
    ("kind", "reports", "lie"),
    [("triangles", 9, 0.1), ("degrees", 9, None), ("degrees", 9, 0.5), ("degrees", 1 << 60, 0.1)],
)
def test_where_no_law_is_known_no_mean_absolute_error_is_above_a_standard_error(
    kind: str, reports: int, lie: float | None
) -> None:
    assert mean_absolute_error(kind, 3.0, reports, lie) == (3.0, True)


def test_links_that_may_be_noise_alone_are_not_said_to_be_true() -> None:
    pairs, lie = 10_000, 0.1
    error = math.sqrt(pairs * lie * (1 - lie)) / (1 - 2 * lie)
    assert true_links(1.9 * error, 1.9 * error, pairs, lie) is None
    assert true_links(2.1 * error, 2.1 * error, pairs, lie) is not None
