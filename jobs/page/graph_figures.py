"""Figures of a graph as inline SVG: estimates of all nodes in their order, and how they are spread."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from jobs.page.scales import rounded_up, ticks

MOST_MARKS = 400
"""Of more nodes, neighbours in the order are drawn together."""
_LEFT, _RIGHT, _TOP, _FOOT = 64.0, 12.0, 14.0, 30.0
_WIDE, _TALL = 640.0, 220.0
_NARROW = 352.0
_BINS = 24

_LINE = Markup('<path class="{}" d="M{:.2f} {:.2f}h{:g}"/>')
_TEXT = Markup('<text x="{:.2f}" y="{:.2f}" class="quiet" text-anchor="{}">{}</text>')
_OPENING = Markup(
    '<svg class="chart graph" id="{}" role="img" aria-label="{}" viewBox="0 0 {:g} {:g}" width="{:g}">'
)

Numbers = Sequence[float]


def draw_ranked(name: str, title: str, values: Numbers, errors: Numbers, what: str) -> Markup:
    """Draw the estimates of all nodes, the greatest first, with a standard error either way.

    Parameters
    ----------
    name, title : str
        The figure's id, and what it shows in words.
    values, errors : sequence of float
        One a node.
    what : str
        What is estimated.
    """
    order = np.argsort(-np.asarray(values), kind="stable")
    groups = np.array_split(order, min(len(order), MOST_MARKS)) if len(order) else []
    marks = [
        (float(np.mean(np.asarray(values)[one])), float(np.mean(np.asarray(errors)[one]))) for one in groups
    ]
    low = min([0.0, *(value - error for value, error in marks)])
    high = max([low + 1e-9, 0.0, *(value + error for value, error in marks)])
    high = rounded_up(low, high)
    room = _WIDE / max(len(marks), 1)
    bars = "".join(
        f"M{_LEFT + (k + 0.5) * room:.1f} {_place(value - error, low, high):.1f}V{_place(value + error, low, high):.1f}"
        for k, (value, error) in enumerate(marks)
    )
    dots = "".join(
        f"M{_LEFT + (k + 0.5) * room:.1f} {_place(value, low, high):.1f}h0"
        for k, (value, _) in enumerate(marks)
    )
    size = min(5.0, max(1.6, 0.6 * room))
    shape = Markup('<path class="{}" stroke-width="{:.2g}" d="{}"/>')
    parts = [*_scale(low, high, _WIDE), shape.format("spread", min(3.0, max(0.7, 0.4 * room)), bars)]
    parts.append(shape.format("dots", size, dots))
    height = _TOP + _TALL + _FOOT
    parts.append(_TEXT.format(_LEFT, height - 8, "start", f"nodes, the most {what} first"))
    return _svg(name, title, _LEFT + _WIDE + _RIGHT, height, parts)


def draw_histogram(name: str, title: str, values: Numbers, what: str) -> Markup:
    """Draw how many nodes have how many, as they are estimated: the spread of a sequence, wider than the truth's by noise."""
    counts, edges = np.histogram(np.asarray(values), bins=min(_BINS, max(1, len(values))))
    high = rounded_up(0.0, float(max(counts.max(initial=1), 1)))
    room = _NARROW / len(counts)
    bars = "".join(
        f"M{_LEFT + k * room + 0.75:.2f} {_place(0, 0, high):.2f}V{_place(float(count), 0, high):.2f}"
        f"h{room - 1.5:.2f}V{_place(0, 0, high):.2f}z"
        for k, count in enumerate(counts.tolist())
        if count
    )
    parts = [*_scale(0.0, high, _NARROW), Markup('<path class="bars" d="{}"/>').format(bars)]
    height = _TOP + _TALL + _FOOT
    first, last = float(edges[0]), float(edges[-1])
    for at, shown in ticks(first, last, log=False) if last > first else ():
        parts.append(
            _TEXT.format(_LEFT + _NARROW * (at - first) / (last - first), height - 12, "middle", shown)
        )
    parts.append(_TEXT.format(_LEFT, _TOP - 3, "start", f"nodes, by {what}"))
    return _svg(name, title, _LEFT + _NARROW + _RIGHT, height, parts)


def _place(value: float, low: float, high: float) -> float:
    return _TOP + _TALL * (high - value) / (high - low)


def _scale(low: float, high: float, wide: float) -> list[Markup]:
    """Return the lines across with their numbers."""
    parts = []
    for tick, shown in ticks(low, high, log=False):
        parts.append(_LINE.format("axis" if tick == 0 else "grid", _LEFT, _place(tick, low, high), wide))
        parts.append(_TEXT.format(_LEFT - 8, _place(tick, low, high) + 4, "end", shown))
    return parts


def _svg(name: str, title: str, width: float, height: float, parts: list[Markup]) -> Markup:
    return _OPENING.format(name, title, width, height, width) + Markup("").join([*parts, Markup("</svg>")])
