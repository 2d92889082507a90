"""The ladder of margins: which one to try next, and where right outcomes become frequent enough."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom, norm

from jobs.election.ladder import CLOSE, Crossing, crossing, next_margin, shares, wilson

TRIED = 10**6
Law = Callable[[float], float]


def climb(law: Law, top: int, tried: int = TRIED, wanted: float = 0.95) -> dict[int, tuple[int, int]]:
    """Climb down as if outcomes were right exactly as often as is probable."""
    rungs: dict[int, tuple[int, int]] = {}
    while (margin := next_margin(rungs, top, wanted)) is not None:
        assert margin not in rungs
        assert 1 <= margin <= top
        rungs[margin] = (round(tried * law(margin)), tried)
    return rungs


def gaussian(spread: float) -> Law:
    return lambda margin: float(norm.cdf(2 * margin / spread))


@pytest.mark.parametrize("spread", [3.0, 40.0, 1234.5, 98765.0])
@pytest.mark.parametrize("times", [1.0, 1.7, 30.0, 900.0])
def test_the_crossing_is_found_wherever_the_ladder_begins(spread: float, times: float) -> None:
    true = spread * float(norm.ppf(0.95)) / 2
    rungs = climb(gaussian(spread), math.ceil(true * times))
    found = crossing(rungs, 0.95)
    assert found.margin is not None
    assert found.margin == pytest.approx(true, rel=0.1, abs=0.6)
    assert len(rungs) <= math.log2(times) + 7


def test_margins_around_the_crossing_are_close_to_each_other() -> None:
    rungs = climb(gaussian(1000.0), 20_000)
    margins = np.array(sorted(rungs))
    curve = shares(rungs)
    above, below = margins[curve >= 0.95].min(), margins[curve < 0.95].max()
    assert above <= CLOSE * below
    assert curve[0] < 0.95


def test_where_nothing_is_enough_the_largest_margin_is_tried_and_no_other() -> None:
    rungs = climb(lambda _: 0.9, 50)
    assert list(rungs) == [50]
    assert crossing(rungs, 0.95) == Crossing(None, None, None)


def test_where_everything_is_enough_the_least_margin_is() -> None:
    rungs = climb(lambda _: 1.0, 50)
    assert sorted(rungs) == [1, 3, 6, 12, 25, 50]
    assert crossing(rungs, 0.95).margin == 1.0


def test_neighbouring_margins_have_none_between_them() -> None:
    rungs = climb(lambda margin: 1.0 if margin >= 3 else 0.2, 8)
    assert sorted(rungs) == [2, 3, 4, 8]
    assert crossing(rungs, 0.95).margin is not None


def test_a_crossing_lies_between_its_ends_and_chance_falls_no_share() -> None:
    rungs = {5: (50, 100), 10: (93, 100), 14: (91, 100), 20: (98, 100), 40: (100, 100)}
    np.testing.assert_allclose(shares(rungs), [0.5, 0.92, 0.92, 0.98, 1.0])
    found = crossing(rungs, 0.95)
    assert found.margin == pytest.approx(math.sqrt(14 * 20))
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.margin < found.high


def test_an_end_that_was_not_tried_is_none() -> None:
    few = crossing({10: (2, 10), 20: (10, 10)}, 0.95)
    assert few.margin is not None
    assert few.high is None  # ten right of ten may well be nine of ten
    sure = crossing({10: (100, 100), 20: (100, 100)}, 0.95)
    assert (sure.margin, sure.low) == (10.0, None)


@pytest.mark.parametrize("tried", [30, 100, 1000])
@pytest.mark.parametrize("probability", [0.5, 0.9, 0.95])
def test_the_interval_of_wilson_covers_a_probability_about_as_often_as_it_says(
    tried: int, probability: float
) -> None:
    ends = [wilson(right, tried) for right in range(tried + 1)]
    covered = sum(
        binom.pmf(right, tried, probability)
        for right, (low, high) in enumerate(ends)
        if low <= probability <= high
    )
    assert covered == pytest.approx(0.95, abs=0.025)


def test_the_ends_of_wilson_are_where_the_score_test_rejects() -> None:
    for right, tried in ((0, 5), (3, 7), (95, 100), (100, 100)):
        for end in wilson(right, tried):
            error = math.sqrt(max(end * (1 - end), 0.0) / tried)
            assert abs(right / tried - end) == pytest.approx(error * float(norm.isf(0.025)), abs=1e-12)
