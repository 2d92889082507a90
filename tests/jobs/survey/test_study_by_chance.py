"""Replications scatter about the truth as the randomizers' law says: regions without an approximation.

A share's estimate is a sum of independent terms of two values each: of all whose answer it is, and of all
others, each report supports it or not. So its law is known exactly, and Chernoff's bound gives a region for the
sum of any function of it over replications.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import logsumexp
from scipy.stats import binom

from tests.jobs.house import House
from tests.jobs.survey.studies import ROWS, put_study
from tests.statistics import FALSE_ALARM, MISS, UnlikelyError
from udfs.randomized_response import RandomizedResponse
from udfs.randomizer import PureRandomizer
from udfs.subset_selection import SubsetSelection

EPSILON = 3
DESIGNS: dict[str, type[PureRandomizer]] = {
    "randomized-response": RandomizedResponse,
    "subset-selection": SubsetSelection,
}
SHARES = {"smokes": [0.75, 0.25], "walks": [0.375, 0.375, 0.25]}
PLACES = {"smokes": [0, 1], "walks": [5, 6, 7]}
"""Those of drinks, between them, are ratios."""

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class DeviationLaw:
    """The law of how far one estimate is off the truth: values, and the logarithms of their probabilities."""

    values: Values
    logs: Values

    @classmethod
    def of(cls, design: PureRandomizer, share: float, sampled: bool = False) -> DeviationLaw:
        """Return the law of a share's estimate from `ROWS` reports; of a sample of respondents or of them all."""
        p, q = float(design.support_if_true), float(design.support_if_false)
        true = round(share * ROWS)
        supports = np.arange(ROWS + 1)
        if sampled:
            logs = binom.logpmf(supports, ROWS, q + (p - q) * share)
        else:
            ours, others = (binom.pmf(supports, n, one) for n, one in ((true, p), (ROWS - true, q)))
            with np.errstate(divide="ignore"):  # what floats cannot tell from 0 stays below 1e-300
                logs = np.log(np.convolve(ours, others)[: ROWS + 1])
        return cls((supports / ROWS - q) / (p - q) - share, logs)

    @property
    def variance(self) -> float:
        return float(np.exp(self.logs) @ self.values**2)

    def region(self, power: int, draws: int, error: float) -> tuple[float, float]:
        """Return what the sum of a power of `draws` deviations is below or above with `error` / 2 each at most.

        P(sum >= t) <= E[exp(s value)]**draws exp(-s t) for every s > 0; so any s gives a bound that holds.
        """
        values = self.values**power
        tilts = np.geomspace(1e-3, 1e3, 400)[:, None] / np.abs(values).max()
        cost = -np.log(error / 2)
        above, below = (logsumexp(self.logs + sign * tilts * values, axis=1) for sign in (1, -1))
        tilts = tilts[:, 0]
        return float(-((draws * below + cost) / tilts).min()), float(((draws * above + cost) / tilts).min())


def replications_to_tell(law: DeviationLaw, mutant: DeviationLaw) -> int:
    """Return at how many replications no sum of squares is likely by both laws."""
    draws = 50
    while law.region(2, draws, FALSE_ALARM)[1] >= mutant.region(2, draws, MISS)[0]:
        draws += 10
    return draws


def assert_scatters(point: dict[str, Any], place: int, truth: float, law: DeviationLaw) -> None:
    """Fail unless one quantity's deviations and their squares add up to what is likely by a law."""
    draws = point["finite"][place]
    sums = {
        1: (point["mean"][place] - truth) * draws,
        2: point["root_mean_squared_error"][place] ** 2 * draws,
    }
    for power, found in sums.items():
        least, most = law.region(power, draws, FALSE_ALARM)
        if not least <= found <= most:
            raise UnlikelyError(
                f"power {power} of deviations: {found:.6g}, outside of {least:.6g} to {most:.6g}"
            )


def test_a_region_is_missed_as_rarely_as_it_says_and_hardly_more_rarely():
    law, draws = DeviationLaw.of(RandomizedResponse(2, EPSILON), 0.25), 20
    of_sums = np.ones(1)
    for _ in range(draws):
        of_sums = np.convolve(of_sums, np.exp(law.logs))
    sums = np.linspace(draws * law.values[0], draws * law.values[-1], len(of_sums))
    least, most = law.region(1, draws, FALSE_ALARM)
    for outside in (sums < least, sums > most):
        assert FALSE_ALARM / 100 < of_sums[outside].sum() <= FALSE_ALARM / 2


@pytest.mark.parametrize("mechanism", DESIGNS)
def test_estimates_scatter_about_the_truth_by_their_law_without_sampling(house: House, mechanism: str):
    put_study(house)
    followed = [
        (place, share, DESIGNS[mechanism](len(SHARES[name]), EPSILON))
        for name, places in PLACES.items()
        for place, share in zip(places, SHARES[name], strict=True)
    ]
    laws = [
        [DeviationLaw.of(design, share, sampled) for sampled in (False, True)]
        for _, share, design in followed
    ]
    house.given["study"] |= {
        "replications": max(replications_to_tell(law, mutant) for law, mutant in laws),
        "epsilons": [EPSILON],
        "mechanisms": [mechanism],
        "seed": int(np.random.SeedSequence().entropy % 2**40),
    }
    found = house.run()[0]["result"]["study"]
    (point,) = found["points"]
    for (place, share, design), (law, mutant) in zip(followed, laws, strict=True):
        assert found["truth"][place] == pytest.approx(share)
        assert point["predicted_standard_error"][place] ** 2 == pytest.approx(law.variance, rel=1e-9)
        # Without sampling, what a replication estimates as its variance is linear in its estimate.
        tilt = ((1 - 2 * float(design.support_if_false)) / design.slope - 1) / ROWS
        estimated = law.variance + tilt * (point["mean"][place] - share)
        assert point["mean_estimated_standard_error"][place] ** 2 == pytest.approx(estimated, rel=1e-9)
        try:
            assert_scatters(point, place, share, law)
        except UnlikelyError as error:
            raise UnlikelyError(f"quantity {place}, seed {found['seed']}: {error}") from None
        with pytest.raises(UnlikelyError):
            assert_scatters(point, place, share, mutant)
