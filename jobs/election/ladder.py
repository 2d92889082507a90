"""From which margin on an outcome is right often enough: a ladder of margins, climbed down and then halved.

Tried first is a margin that is surely enough. Each next one is half as large, until the outcome is clearly wrong
too often; then margins between the last that was enough and the first that was not, until these are close.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression
from scipy.stats import norm

CONFIDENCE = 0.95
CLOSE = 1.25
"""Margins are close if the larger is at most so many times the smaller."""

Rungs = Mapping[int, tuple[int, int]]
"""By margin: how many replications were right, of how many."""
Curve = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Crossing:
    """Where a share of right outcomes reaches the one that is wanted.

    Attributes
    ----------
    margin : float or None
        None where no margin that was tried is enough.
    low, high : float or None
        The same of the upper and of the lower ends of the shares' intervals; None where that lies beyond
        what was tried.
    """

    margin: float | None
    low: float | None
    high: float | None


def wilson(right: float, tried: float) -> tuple[float, float]:
    """Return Wilson's interval for a probability, from how often an event was seen.

    References
    ----------
    Wilson: Probable inference, the law of succession, and statistical inference (1927).

    Examples
    --------
    >>> [round(end, 3) for end in wilson(95, 100)]
    [0.888, 0.978]
    """
    squared = float(norm.isf((1 - CONFIDENCE) / 2)) ** 2
    centre = (right + squared / 2) / (tried + squared)
    reach = math.sqrt(squared * (right * (tried - right) / tried + squared / 4)) / (tried + squared)
    return centre - reach, centre + reach


def next_margin(rungs: Rungs, top: int, wanted: float) -> int | None:
    """Return which margin to try next; None where those that were tried are enough.

    Parameters
    ----------
    rungs : Rungs
    top : int
        The margin to begin with.
    wanted : float
        The share of right outcomes that is looked for.

    Examples
    --------
    >>> next_margin({}, 80, 0.95), next_margin({80: (100, 100)}, 80, 0.95)
    (80, 40)
    >>> next_margin({80: (100, 100), 40: (80, 100)}, 80, 0.95)
    57
    """
    if not rungs:
        return top
    margins = sorted(rungs)
    lowest = margins[0]
    enough = [margin for margin, share in zip(margins, shares(rungs), strict=True) if share >= wanted]
    if not enough:
        return None
    if lowest > 1 and wilson(*rungs[lowest])[1] >= wanted:
        return lowest // 2
    above = enough[0]
    below = max((margin for margin in margins if margin < above), default=above)
    between = round(math.sqrt(above * below))
    return between if above > CLOSE * below and below < between < above else None


def shares(rungs: Rungs) -> Curve:
    """Return the share of right outcomes by margin, in ascending order, made not to fall (isotonic regression).

    Examples
    --------
    >>> shares({1: (6, 10), 2: (5, 10), 4: (9, 10)}).tolist()
    [0.55, 0.55, 0.9]
    """
    right, tried = np.array([rungs[margin] for margin in sorted(rungs)], dtype=np.float64).T
    curve: Curve = isotonic_regression(right / tried, weights=tried).x
    return curve


def crossing(rungs: Rungs, wanted: float) -> Crossing:
    """Return where the share of right outcomes reaches the one that is wanted, and an interval.

    Examples
    --------
    >>> found = crossing({10: (60, 100), 20: (90, 100), 40: (100, 100)}, 0.95)
    >>> round(found.margin, 2), round(found.low, 2), round(found.high, 2)
    (28.28, 21.36, 37.46)
    """
    margins = sorted(rungs)
    ends = np.array([wilson(*rungs[margin]) for margin in margins]).T
    # What bounds the probability at a margin from below does so at larger ones, and from above at smaller ones.
    low, high = np.maximum.accumulate(ends[0]), np.minimum.accumulate(ends[1][::-1])[::-1]
    return Crossing(
        _reaches(margins, shares(rungs), wanted),
        _reaches(margins, high, wanted) if high[0] < wanted else None,
        _reaches(margins, low, wanted),
    )


def _reaches(margins: Sequence[int], curve: Curve, wanted: float) -> float | None:
    """Return where a curve that does not fall reaches a height: straight between its points, over log margins."""
    if curve[-1] < wanted:
        return None
    place = int(np.argmax(curve >= wanted))
    if not place:
        return float(margins[0])
    below, above = (math.log(margin) for margin in margins[place - 1 : place + 1])
    part = (wanted - curve[place - 1]) / (curve[place] - curve[place - 1])
    return float(math.exp(below + part * (above - below)))
