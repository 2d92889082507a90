"""Figures of a graph as inline SVG: estimates of all nodes in their order, and how they are spread."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from jobs.page.scales import rounded_up, ticks
from jobs.page.words import ems

MOST_STEPS = 240
"""Of more nodes, neighbours in the order are drawn together."""
MOST_BINS = 24
"""Of values that may be anywhere, fewer bins hold few of them: twice the cube root of how many (Rice's rule)."""

_WIDE, _TALL, _TOP, _FOOT, _RIGHT = 352.0, 200.0, 40.0, 44.0, 10.0
_LEAST_LEFT, _FONT = 40.0, 11.5

_LEAST_REACH = 1e-6
"""Of estimates that differ by less, all are as good as the same: the axis goes up to one more."""

_ACROSS = Markup('<path class="{}" d="M{:.2f} {:.2f}h{:.2f}"/>')
_SHAPE = Markup('<path class="{}" d="{}"/>')
_TEXT = Markup('<text x="{:.2f}" y="{:.2f}" text-anchor="{}">{}</text>')
_OPENING = Markup(
    '<svg class="chart graph" id="{}" role="img" aria-label="{}" viewBox="0 0 {:g} {:g}" width="{:g}">'
)

Numbers = Sequence[float]


class _Frame:
    """Where things are in a figure whose upright axis goes from one number to another."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high
        self.rows = ticks(low, high, log=False)
        self.left = max([_LEAST_LEFT, *(ems(text) * _FONT + 12 for _, text in self.rows)])
        self.wide = _WIDE - self.left - _RIGHT

    def up(self, value: float) -> float:
        """Return the height of a value."""
        return _TOP + _TALL * (self.high - value) / (self.high - self.low)

    def scale(self, name: str, across: str) -> list[Markup]:
        """Return lines across with their numbers, and what both axes say."""
        parts = [_TEXT.format(0.0, _TOP - 24, "start", name)]
        for tick, shown in self.rows:
            y = self.up(tick)
            parts.append(_ACROSS.format("axis" if tick == 0 else "grid", self.left, y, self.wide))
            parts.append(_TEXT.format(self.left - 8, y + 4, "end", shown))
        parts.append(_TEXT.format(self.left + self.wide / 2, _TOP + _TALL + _FOOT - 5, "middle", across))
        return parts


def draw_ranked(name: str, title: str, values: Numbers, errors: Numbers, what: str) -> Markup:
    """Draw the estimates of all nodes as steps, the greatest first, in a band of a standard error either way.

    Parameters
    ----------
    name, title : str
        The figure's id, and what it shows in words.
    values, errors : sequence of float
        One a node, and one node at least.
    what : str
        What is estimated.
    """
    order = np.argsort(-np.asarray(values), kind="stable")
    groups = np.array_split(order, min(len(order), MOST_STEPS))
    middle = [float(np.mean(np.asarray(values)[one])) for one in groups]
    reach = [float(np.mean(np.asarray(errors)[one])) for one in groups]
    lows = [value - error for value, error in zip(middle, reach, strict=True)]
    highs = [value + error for value, error in zip(middle, reach, strict=True)]
    low, high = min([0.0, *lows]), max([0.0, *highs])
    high = low + 1 if high - low < _LEAST_REACH else high
    frame = _Frame(low, rounded_up(low, high))
    ends = [frame.left + frame.wide * k / len(groups) for k in range(len(groups) + 1)]
    band = _steps(ends, [frame.up(value) for value in highs]) + _steps(
        ends[::-1], [frame.up(value) for value in reversed(lows)]
    ).replace("M", "L", 1)
    parts = frame.scale(what, "nodes, the greatest estimate first")
    parts += [
        _SHAPE.format("band", band + "z"),
        _SHAPE.format("steps", _steps(ends, [frame.up(v) for v in middle])),
    ]
    return _figure(name, title, parts)


def bins_of(values: Numbers, step: float | None) -> tuple[list[int], list[float]]:
    """Return how many values lie in each bin of equal width, and where bins begin and end.

    Parameters
    ----------
    values : sequence of float
        One at least.
    step : float or None
        The distance of neighbouring values that are possible, if there is one: each bin then holds as many of these as
        all others. Bins that did not would look like hills and valleys.

    Examples
    --------
    >>> bins_of([0.0, 1.0, 1.0, 3.0], 1.0)
    ([1, 2, 0, 1], [-0.5, 0.5, 1.5, 2.5, 3.5])
    """
    low, high = min(values), max(values)
    width = (high - low) / min(MOST_BINS, math.ceil(2 * len(values) ** (1 / 3))) if step is None else step
    width = max(width, 1e-9 * max(abs(low), abs(high))) or 1.0
    first = low - width / 2
    if step is not None:
        width *= max(1, math.ceil((high - first) / width / MOST_BINS))
    number = max(1, math.ceil((high - first) / width))
    counts, edges = np.histogram(values, bins=first + width * np.arange(number + 1))
    return counts.tolist(), edges.tolist()


def draw_histogram(
    name: str, title: str, bins: tuple[list[int], list[float]], noise: float, what: str
) -> Markup:
    """Draw how many nodes have how many, as they are estimated, and how wide the noise is in that.

    Parameters
    ----------
    name, title : str
        The figure's id, and what it shows in words.
    bins : list of int, list of float
        As `bins_of` returns them.
    noise : float
        A standard error: an I-beam above the bars goes from one below to one above its middle, if there is room.
    what : str
        What is estimated.
    """
    counts, edges = bins
    frame = _Frame(0.0, rounded_up(0.0, float(max(*counts, 1))))
    first, last = edges[0], edges[-1]
    room, floor = frame.wide / len(counts), frame.up(0)
    gap = min(1.5, 0.2 * room)
    bars = "".join(
        f"M{frame.left + k * room + gap / 2:.2f} {floor:.2f}V{frame.up(count):.2f}h{room - gap:.2f}V{floor:.2f}z"
        for k, count in enumerate(counts)
        if count
    )
    parts = [*frame.scale("nodes", f"{what}, as they are estimated"), _SHAPE.format("bars", bars)]
    for at, shown in ticks(first, last, log=False):
        x = frame.left + frame.wide * (at - first) / (last - first)
        parts.append(_TEXT.format(x, floor + 17, "middle", shown))
    beam = 2 * noise * frame.wide / (last - first)
    if 0 < beam <= frame.wide:
        right = frame.left + frame.wide
        drawn = f"M{right - beam:.2f} {_TOP - 18:g}v8m0 -4h{beam:.2f}m0 -4v8"
        parts += [
            _SHAPE.format("noise", drawn),
            _TEXT.format(right, _TOP - 24, "end", "noise: ± a standard error"),
        ]
    return _figure(name, title, parts)


def _steps(ends: Numbers, heights: Numbers) -> str:
    """Return a line that keeps each height from one end to the next."""
    pieces = "".join(f"V{y:.1f}H{x:.1f}" for x, y in zip(ends[1:], heights, strict=True))
    return f"M{ends[0]:.1f} {heights[0]:.1f}{pieces}"


def _figure(name: str, title: str, parts: list[Markup]) -> Markup:
    tall = _TOP + _TALL + _FOOT
    return _OPENING.format(name, title, _WIDE, tall, _WIDE) + Markup("").join([*parts, Markup("</svg>")])
