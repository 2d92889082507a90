"""The scales of figures: what lies where on an axis, and what is written there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from matplotlib.ticker import LogLocator, MaxNLocator

from jobs.page.words import short

_LINEAR = MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10])


@dataclass(frozen=True)
class Series:
    """Estimates with intervals: None where a number is missing."""

    name: str
    estimates: Sequence[float | None]
    intervals: Sequence[tuple[float | None, float | None]]

    def through(self, place: Callable[[float | None], float | None]) -> Series:
        """Return the series as it lies on an axis."""
        ends = [(place(low), place(high)) for low, high in self.intervals]
        return Series(self.name, [place(value) for value in self.estimates], ends)


def cut_off(
    places: Iterable[float], one: Series, limits: tuple[float, float]
) -> tuple[Series, list[tuple[tuple[float, float], bool]]]:
    """Return what of a series is within limits, and where arrowheads say that it goes on.

    Parameters
    ----------
    places : iterable of float
        Where each estimate lies on the other axis.
    one : Series
        As it lies on its axis.
    limits : tuple of float
        The ends of the axis.

    Returns
    -------
    within : Series
        Its estimates, without those beyond the limits, and its bars, cut there; no bar where nothing is left.
    arrows : list
        Each arrowhead's place and limit, and whether it points up.
    """
    low, high = limits
    estimates: list[float | None] = []
    intervals: list[tuple[float | None, float | None]] = []
    arrows = []
    for place, value, (start, end) in zip(places, one.estimates, one.intervals, strict=True):
        reached = [x for x in (value, start, end) if x is not None]
        arrows += [((place, low), False)] if any(x < low for x in reached) else []
        arrows += [((place, high), True)] if any(x > high for x in reached) else []
        estimates.append(value if value is not None and low <= value <= high else None)
        if start is None or end is None or start > high or end < low:
            intervals.append((None, None))
        else:
            intervals.append((max(start, low), min(end, high)))
    return Series(one.name, estimates, intervals), arrows


def scaled(value: float | None, scale: float) -> float | None:
    """Return a value on an axis of its multiples."""
    return None if value is None else value * scale


def on_log(value: float | None) -> float | None:
    """Return a value on a logarithmic axis, where only what is positive has a place."""
    return math.log10(value) if value is not None and value > 0 else None


def span(series: Sequence[Series], reference: float | None) -> tuple[float, float]:
    """Return the ends of an axis that shows all there is, the reference too, with a little room."""
    known = [value for one in series for value in one.estimates if value is not None]
    known += [end for one in series for ends in one.intervals for end in ends if end is not None]
    known += [] if reference is None else [reference]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if low == high:
        low, high = (low - 0.1 * abs(low), high + 0.1 * abs(high)) if low else (-0.5, 0.5)
    room = 0.05 * (high - low)
    return (low if low == reference else low - room, high if high == reference else high + room)


def rounded_up(low: float, high: float) -> float:
    """Return the next place of a tick above an axis, if it is near: the axis then ends with a number."""
    above = float(min((tick for tick in _LINEAR.tick_values(low, high) if tick >= high), default=high))
    return above if above - low <= 1.12 * (high - low) else high


def ticks(low: float, high: float, log: bool) -> list[tuple[float, str]]:
    """Return at most six places on an axis with what is written there."""
    if not log:
        at = _LINEAR.tick_values(low, high)
        texts = [(float(tick), float(tick)) for tick in at]
    else:
        subs = (
            (1.0,)
            if high - low > 2.5
            else (1.0, 2.0, 5.0)
            if high - low > 0.6
            else (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
        )
        values = LogLocator(subs=subs, numticks=6).tick_values(10.0**low, 10.0**high)
        texts = [(math.log10(value), float(value)) for value in values]
    tiny = 1e-9 * (high - low)
    return [(at, short(float(f"{shown:.6g}"))) for at, shown in texts if low - tiny <= at <= high + tiny]
