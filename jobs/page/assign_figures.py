"""Figures of assignments as inline SVG: what each protocol costs, and how much of the items is of use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from markupsafe import Markup

from jobs.page.scales import rounded_up, ticks
from jobs.page.words import fitted

PARTS = ("once", "up", "down")
"""What a bar of costs is made of, by their looks."""

_WIDE, _ROW, _BAR, _BELOW = 420.0, 50.0, 16.0, 26.0
_MOST_TICKS = 5
_NAME_EMS, _FONT = 15.0, 12.0
_LEFT, _INNER, _RIGHT = 56.0, 640.0, 12.0
_TOP, _TALL, _FOOT = 14.0, 190.0, 30.0
_MOST_GAPS = 200
"""More leaves are drawn as one shape of steps: between so many bars there are seams."""
_LINE = Markup('<path class="{}" d="M{:.2f} {:.2f}{}{:g}"/>')
_TEXT = Markup('<text x="{:.2f}" y="{:.2f}" class="{}" text-anchor="{}">{}</text>')


@dataclass(frozen=True)
class CostBar:
    """What a protocol costs, as it is drawn.

    Attributes
    ----------
    name : str
    note : str
        What is written at the other end.
    parts : tuple of float
        The bytes of each of `PARTS`.
    taken : bool
    """

    name: str
    note: str
    parts: tuple[float, ...]
    taken: bool = False


def draw_costs(name: str, title: str, bars: Sequence[CostBar], sizes: Sequence[str]) -> Markup:
    """Draw what each protocol costs a worker as a bar on a logarithmic scale.

    A bar is as long as the scale says of all its bytes together. Its parts share that length out by their own
    bytes: on such a scale they would not add up.

    Parameters
    ----------
    name, title : str
        The figure's id, and what it shows in words.
    bars : sequence of CostBar
        One of no bytes has no bar.
    sizes : sequence of str
        How 1, 10, 100 bytes and so on are written, as far as is needed: see `decades`.
    """
    low, high = decades(bars)
    height = _ROW * len(bars) + _BELOW
    per = _WIDE / (high - low)
    parts = []
    for decade in range(low, high + 1, max(1, math.ceil((high - low) / _MOST_TICKS))):
        x = (decade - low) * per
        anchor = "start" if decade == low else "end" if decade == high else "middle"
        parts.append(_LINE.format("axis" if decade == low else "grid", x, 0.0, "v", _ROW * len(bars) + 4))
        parts.append(_TEXT.format(x, height - 8, "quiet", anchor, sizes[decade]))
    for k, bar in enumerate(bars):
        top, look = k * _ROW, "taken" if bar.taken else "named"
        parts.append(_TEXT.format(4.0, top + 18, look, "start", fitted(bar.name, _NAME_EMS)))
        parts.append(_TEXT.format(_WIDE, top + 18, look, "end", bar.note))
        whole, x = sum(bar.parts), 0.0
        for part, size in zip(PARTS, bar.parts, strict=True):
            if size > 0:
                long = (math.log10(whole) - low) * per * size / whole
                shape = Markup('<rect class="{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:g}"/>')
                parts.append(shape.format(part, x, top + 25, long, _BAR))
                x += long
    return _figure(name, title, _WIDE, height, parts)


def decades(bars: Sequence[CostBar]) -> tuple[int, int]:
    """Return the powers of ten between which all bars end, the shortest not at the very start.

    Examples
    --------
    >>> decades([CostBar("a", "", (0.0, 500.0, 500.0)), CostBar("b", "", (2e6, 0.0, 0.0))])
    (2, 7)
    """
    known = [math.log10(whole) for bar in bars if (whole := sum(bar.parts)) >= 1]
    low = max(0, math.ceil(min(known, default=0.0)) - 1)
    return low, max(low + 1, math.ceil(max(known, default=1.0)))


def draw_precision(name: str, title: str, precision: Sequence[float], mean: float | None) -> Markup:
    """Draw the precision of every leaf as a bar, the highest first, and their mean as a dashed line.

    Parameters
    ----------
    name, title : str
        The figure's id, and what it shows in words.
    precision : sequence of float
        From 0 to 1, one a leaf, not all 0.
    mean : float, optional
    """
    shares = sorted((100 * min(max(one, 0.0), 1.0) for one in precision), reverse=True)
    high = min(100.0, rounded_up(0.0, max([*shares, 100 * (mean or 0.0)])))

    def place(value: float) -> float:
        return _TOP + _TALL * (1 - value / high)

    parts = []
    for tick, shown in ticks(0.0, high, log=False):
        parts.append(_LINE.format("axis" if tick == 0 else "grid", _LEFT, place(tick), "h", _INNER))
        parts.append(_TEXT.format(_LEFT - 8, place(tick) + 4, "quiet", "end", f"{shown} %"))
    room = _INNER / len(shares)
    if len(shares) <= _MOST_GAPS:
        gap, floor = min(2.0, 0.2 * room), f"{place(0):g}"
        steps = [
            f"M{_LEFT + k * room + gap / 2:.2f} {floor}V{place(share):.2f}h{room - gap:.2f}V{floor}z"
            for k, share in enumerate(shares)
        ]
    else:
        ends = enumerate(f"{place(share):.2f}" for share in shares)
        levels = [(y, [*alike][-1][0]) for y, alike in groupby(ends, key=itemgetter(1))]
        steps = [f"M{_LEFT:g} {place(0):g}"]
        steps += [f"V{y}H{_LEFT + (last + 1) * room:.2f}" for y, last in levels]
        steps.append(f"V{place(0):g}z")
    parts.append(Markup('<path class="bars" d="{}"/>').format("".join(steps)))
    if mean is not None:
        parts.append(_LINE.format("mean", _LEFT, place(100 * mean), "h", _INNER))
    height = _TOP + _TALL + _FOOT
    parts.append(_TEXT.format(_LEFT, height - 8, "quiet", "start", "leaves, the highest precision first"))
    return _figure(name, title, _LEFT + _INNER + _RIGHT, height, parts)


def _figure(name: str, title: str, width: float, height: float, parts: Sequence[Markup]) -> Markup:
    opening = Markup(
        '<svg class="chart" id="{}" role="img" aria-label="{}" viewBox="0 0 {:g} {:g}" width="{:g}">'
    )
    return opening.format(name, title, width, height, width) + Markup("").join([*parts, Markup("</svg>")])
