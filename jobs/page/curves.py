"""Figures as inline SVG: curves over a grid of epsilons, with bars, and the strokes that tell them apart.

A pure function of its arguments, to be called within `sheet.settings()`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from jobs.page.scales import Series, cut_off, on_log, span, ticks
from jobs.page.sheet import COLOURS, FONT, MARKERS, Sheet
from jobs.page.words import ems

STROKES = {"solid": (1.8, "none"), "dashed": (1.8, "6 3"), "dotted": (1.8, "1.5 3")}
"""The width and the dashes, in pixels, of each kind of curve."""
_WIDTH, _HEIGHT, _BESIDE = 352.0, 262.0, 5.0
_DECADE = 20.0
"""A grid that spans more than this ratio has a logarithmic axis."""


@dataclass(frozen=True)
class Curve:
    """A series with the look it has.

    Attributes
    ----------
    series : Series
    look : int
        Its colour and its mark, from 0.
    stroke : {"solid", "dashed", "dotted"}
        Marks are full on a solid curve, and open on a dotted one; a dashed one has none.
    """

    series: Series
    look: int
    stroke: str = "solid"


def draw_curves(
    name: str,
    title: str,
    grid: Sequence[float],
    curves: Sequence[Curve],
    *,
    across: str,
    up: str,
    log: bool = False,
    reference: float | None = None,
    limits: tuple[float, float] | None = None,
    unit: str = "",
) -> Markup:
    """Draw each series as a curve over a grid, with its intervals as bars side by side.

    Parameters
    ----------
    name, title, unit
        As in `figures.dots`.
    grid : sequence of float
        Where the estimates are: positive, and increasing.
    curves : sequence of Curve
        A curve breaks where an estimate is missing.
    across, up : str
        What the two axes say.
    log : bool
        Whether the upright axis is logarithmic: what is not positive is then not drawn.
    reference : float, optional
        Where a line is drawn that the curves are compared with: always in sight.
    limits : tuple of float, optional
        The ends of the upright axis, if it is not to show all: what goes on ends there with an arrowhead.

    Returns
    -------
    Markup
    """
    placed = [one.series.through(on_log) if log else one.series for one in curves]
    line = on_log(reference) if log else reference
    low, high = span(placed, line)
    if limits is not None:
        low, high = map(math.log10, limits) if log else limits
    by_ratio = grid[-1] > _DECADE * grid[0]
    along = np.log10(grid) if by_ratio else np.array(grid, dtype=np.float64)
    first, last = (along[0], along[-1]) if len(along) > 1 else (along[0] - 0.5, along[0] + 0.5)
    rows = ticks(low, high, log)
    gutter = max([46.0, *(ems(text + unit) * FONT + 12.0 for _, text in rows)])
    sheet = Sheet(_WIDTH, _HEIGHT, gutter + 8.0, 12.0, 32.0, 46.0)
    axes, beside = sheet.axes, _BESIDE * (last - first) / (sheet.inner_width - 28.0)
    # Points stand a little inside the frame: bars side by side have room at both ends.
    edge = 14.0 * (last - first) / (sheet.inner_width - 28.0)
    axes.set_xlim(first - edge, last + edge)
    axes.set_ylim(low, high)
    _write_scales(sheet, ticks(first, last, by_ratio), [(at, text + unit) for at, text in rows])
    centre: dict[str, Any] = {"colour": "muted", "ha": "center", "transform": axes.get_xaxis_transform()}
    sheet.write((first + last) / 2, -37 / sheet.inner_height, across, **centre)
    sheet.write(
        -gutter / sheet.inner_width, 1 + 16 / sheet.inner_height, up, colour="muted", transform=axes.transAxes
    )
    if line is not None:
        axes.hlines([line], *axes.get_xlim(), colors=COLOURS["ink"], linewidth=1.4, clip_on=False)
    looks = sorted({one.look for one in curves})
    for one, series in zip(curves, placed, strict=True):
        bars = any(None not in ends for ends in series.intervals)
        shift = beside * (looks.index(one.look) - (len(looks) - 1) / 2) if bars else 0.0
        _draw(sheet, along + shift, one, series)
    return sheet.svg(name, title)


def _write_scales(sheet: Sheet, across: Sequence[tuple[float, str]], up: Sequence[tuple[float, str]]) -> None:
    """Write the numbers of both axes, with a line across for each upright one."""
    axes = sheet.axes
    low, high = axes.get_ylim()
    places = [tick for tick, _ in up]
    axes.hlines(places, *axes.get_xlim(), colors=COLOURS["grid"], linewidth=0.8, clip_on=False)
    left: dict[str, Any] = {"colour": "muted", "ha": "right", "transform": axes.get_yaxis_transform()}
    for tick, text in up:
        sheet.write(-8 / sheet.inner_width, tick - 4 * (high - low) / sheet.inner_height, text, **left)
    below: dict[str, Any] = {"colour": "muted", "ha": "center", "transform": axes.get_xaxis_transform()}
    for tick, text in across:
        sheet.write(tick, -18 / sheet.inner_height, text, **below)


def _draw(sheet: Sheet, along: Any, one: Curve, series: Series) -> None:
    axes, colour = sheet.axes, COLOURS[f"series-{one.look + 1}"]
    width, dashes = STROKES[one.stroke]
    within, arrows = cut_off(along, series, axes.get_ylim())
    bars = [(x, *ends) for x, ends in zip(along, within.intervals, strict=True) if None not in ends]
    if bars:
        x, lows, highs = np.array(bars, dtype=np.float64).T
        axes.vlines(x, lows, highs, colors=colour, linewidth=1.6, clip_on=False)
    heights = [math.nan if value is None else value for value in series.estimates]
    # The curve is cut at the frame, its marks are not.
    dashed = "-" if dashes == "none" else (0, tuple(float(part) / width for part in dashes.split()))
    axes.plot(along, heights, color=colour, linewidth=width, linestyle=dashed)
    marks: dict[str, Any] = {"linestyle": "none", "color": colour, "clip_on": False}
    edge: dict[str, Any] = {"markeredgecolor": COLOURS["card"], "markeredgewidth": 0.8}
    for (x, limit), is_up in arrows:
        axes.plot([x], [limit], marker="^" if is_up else "v", markersize=6.5, **edge, **marks)
    if one.stroke == "dotted":
        edge = {"markerfacecolor": COLOURS["card"], "markeredgecolor": colour, "markeredgewidth": 1.3}
    if one.stroke != "dashed":
        shown = [math.nan if value is None else value for value in within.estimates]
        axes.plot(along, shown, marker=MARKERS[one.look], markersize=6.0, **edge, **marks)


def stroke_legend(names: dict[str, str]) -> list[tuple[str, Markup]]:
    """Return what each kind of curve stands for, with a piece of it."""
    piece = Markup(
        '<svg class="mark" aria-hidden="true" width="30" height="16"><path d="M1 8h28" fill="none"'
        ' stroke="var(--ink)" stroke-width="{}" stroke-dasharray="{}"/></svg>'
    )
    return [(name, piece.format(*STROKES[stroke])) for stroke, name in names.items()]
