"""Statistical tests whose error rates are chosen, not found out.

A test names the law that must hold and a mutant that must be told from it. Both laws are probabilities of
events; a sample counts the events. From the two laws follow the sample size and, for each event, an exact
binomial region: the true law falls outside of any region with probability 1e-9 at most, and the mutant
stays inside of all of them with probability 1e-9 at most. So a test shows two things with one call: the
product passes it, and the mutant does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.stats import binom, norm

from udfs.streams import Secret

Law: TypeAlias = Sequence[Fraction | float]
"""The probability of each event; events may overlap, and need not cover all that can happen."""

Sample: TypeAlias = Callable[[Secret, int], npt.NDArray[np.integer]]
"""Given a secret and a number of draws, returns how often each event happened."""

FALSE_ALARM = 1e-9
MISS = 1e-9


class UnlikelyError(AssertionError):
    """A sample does not follow its law."""


def acceptance(draws: int, probability: float, false_alarm: float) -> tuple[int, int]:
    """Return the least and the most an event may happen: beyond either with half of `false_alarm` at most."""
    least = binom.ppf(false_alarm / 2, draws, probability)
    return int(least), int(binom.isf(false_alarm / 2, draws, probability))


def miss_probability(draws: int, law: float, mutant: float, false_alarm: float) -> float:
    """Return the probability that an event of the mutant's falls in the law's region."""
    least, most = acceptance(draws, law, false_alarm)
    return float(binom.cdf(most, draws, mutant) - binom.cdf(least - 1, draws, mutant))


def normal_sample_size(
    law: float, mutant: float, false_alarm: float = FALSE_ALARM, miss: float = MISS
) -> int:
    """Return the sample size for one event by the normal approximation.

    Examples
    --------
    >>> keep, keep_of_mutant = 1 / (1 + math.exp(-1.0)), 1 / (1 + math.exp(-1.1))
    >>> normal_sample_size(keep, keep_of_mutant)
    76337
    """
    spread = norm.isf(false_alarm / 2) * math.sqrt(law * (1 - law))
    spread_of_mutant = norm.isf(miss) * math.sqrt(mutant * (1 - mutant))
    return math.ceil(((spread + spread_of_mutant) / (mutant - law)) ** 2)


def sample_size(law: Law, mutant: Law, false_alarm: float = FALSE_ALARM, miss: float = MISS) -> int:
    """Return the sample size at which the event that tells most tells the mutant from the law.

    The first from the normal approximation on that keeps its word with exact regions: these grow in
    steps, so that it is a little more.

    Examples
    --------
    >>> sample_size([1 / (1 + math.exp(-1.0))], [1 / (1 + math.exp(-1.1))])
    76352
    """
    alarm = false_alarm / len(law)
    pairs = {(float(p), float(m)) for p, m in zip(law, mutant, strict=True)}
    draws, p, m = min((normal_sample_size(p, m, alarm, miss), p, m) for p, m in pairs if p != m)
    while miss_probability(draws, p, m, alarm) > miss:
        draws += 1
    return draws


def assert_law(sample: Sample, law: Law, mutant: Law, secret: Secret | None = None) -> None:
    """Fail unless a sample follows `law`, at a size that tells it from `mutant`.

    Parameters
    ----------
    sample : callable
        Draws with keys of the secret it is given.
    law, mutant : sequences of probabilities
    secret : Secret, optional
        A fresh one by default; a failure prints it, so that it can be given here to see it again.
    """
    secret = secret or Secret.new()
    draws = sample_size(law, mutant)
    counts = sample(secret, draws)
    for event, (count, probability) in enumerate(zip(counts, law, strict=True)):
        least, most = acceptance(draws, float(probability), FALSE_ALARM / len(law))
        if not least <= count <= most:
            raise UnlikelyError(
                f"event {event} happened {count} times in {draws} draws, outside of {least} to {most};"
                f" the secret was {secret.reveal().hex()}"
            )
