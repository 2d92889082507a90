"""Figures of a study of decisive margins: margins by size, on logarithmic axes, as inline SVG.

A pure function of its arguments, to be called within `sheet.settings()`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from jobs.page.scales import ticks
from jobs.page.sheet import COLOURS, FONT, MARKERS, Sheet
from jobs.page.words import ems

_WIDTH, _HEIGHT, _BESIDE, _EDGE = 352.0, 300.0, 6.0, 16.0
_ROOM = 0.08
KINDS = {
    "measured": (1.9, "none"),
    "proof": (1.3, "1.5 3"),
    "bound": (1.5, "7 3"),
    "paper": (1.1, "7 3 1.5 3"),
    "lower": (1.1, "1 2.5"),
}
"""The width and the dashes, in pixels, of each kind of line."""

Number = float | None


@dataclass(frozen=True)
class Line:
    """Margins over a grid, of one look.

    Attributes
    ----------
    values : sequence of float or None
        None where there is none: the line breaks.
    look : int or None
        Its colour and its mark, from 0; None for a line that belongs to several.
    kind : str
        In `KINDS`. What is measured has marks, full ones on random elections and open ones on those of a proof.
    intervals : sequence of (float or None, float or None)
    beyond : sequence of float or None
        Where nothing was enough, the largest margin that was tried: an arrowhead stands there.
    """

    values: Sequence[Number]
    look: int | None
    kind: str
    intervals: Sequence[tuple[Number, Number]] = ()
    beyond: Sequence[Number] = ()


def reach(lines: Iterable[Line]) -> tuple[float, float] | None:
    """Return the ends of an axis that shows all lines, as logarithms, or None where there is nothing to show."""
    known = [
        value
        for one in lines
        for value in (*one.values, *one.beyond, *(end for ends in one.intervals for end in ends))
        if value is not None and value > 0
    ]
    return (math.log10(min(known)) - _ROOM, math.log10(max(known)) + _ROOM) if known else None


def draw_margins(
    name: str,
    title: str,
    grid: Sequence[float],
    lines: Sequence[Line],
    limits: tuple[float, float],
    *,
    across: str,
    up: str,
) -> Markup:
    """Draw margins over a grid of sizes, both on logarithmic axes.

    Parameters
    ----------
    name : str
        Of letters, digits and hyphens, and the page's only figure of that name.
    title : str
        What the figure says to those who do not see it.
    grid : sequence of float
        At least two sizes: positive and increasing.
    lines : sequence of Line
    limits : tuple of float
        The ends of the upright axis: see `reach`.
    across, up : str
        What the two axes say.

    Returns
    -------
    Markup
    """
    low, high = limits
    rows = ticks(low, high, log=True)
    gutter = max([40.0, *(ems(text) * FONT + 12.0 for _, text in rows)])
    sheet = Sheet(_WIDTH, _HEIGHT, gutter + 6.0, 10.0, 30.0, 46.0)
    axes, along = sheet.axes, np.log10(np.array(grid, dtype=np.float64))
    pixel = (along[-1] - along[0]) / (sheet.inner_width - 2 * _EDGE)
    axes.set_xlim(along[0] - _EDGE * pixel, along[-1] + _EDGE * pixel)
    axes.set_ylim(low, high)
    _write_scales(sheet, list(zip(along, grid, strict=True)), rows, across, up, gutter)
    looks = sorted({one.look for one in lines if one.look is not None})
    for one in lines:
        marked = one.kind in ("measured", "proof")
        beside = 0.0
        if marked and one.look is not None:
            place = looks.index(one.look) - (len(looks) - 1) / 2
            beside = _BESIDE * pixel * (place + (0.35 if one.kind == "proof" else 0.0))
        _draw(sheet, along + beside, one, marked)
    return sheet.svg(name, title)


def _write_scales(
    sheet: Sheet,
    columns: Sequence[tuple[float, float]],
    rows: Sequence[tuple[float, str]],
    across: str,
    up: str,
    gutter: float,
) -> None:
    """Write both axes: every size of the grid, and round margins with a line across for each."""
    axes = sheet.axes
    low, high = axes.get_ylim()
    places = [tick for tick, _ in rows]
    axes.hlines(places, *axes.get_xlim(), colors=COLOURS["grid"], linewidth=0.8, clip_on=False)
    left: dict[str, Any] = {"colour": "muted", "ha": "right", "transform": axes.get_yaxis_transform()}
    for tick, text in rows:
        shown = f"{float(text):,.10g}" if text.replace(".", "", 1).isdigit() else text
        sheet.write(-8 / sheet.inner_width, tick - 4 * (high - low) / sheet.inner_height, shown, **left)
    below: dict[str, Any] = {"colour": "muted", "ha": "center", "transform": axes.get_xaxis_transform()}
    for place, size in columns:
        sheet.write(place, -18 / sheet.inner_height, f"{size:,.10g}", **below)
    middle = sum(axes.get_xlim()) / 2
    sheet.write(middle, -37 / sheet.inner_height, across, **below)
    sheet.write(
        -gutter / sheet.inner_width, 1 + 14 / sheet.inner_height, up, colour="muted", transform=axes.transAxes
    )


def _draw(sheet: Sheet, along: Any, one: Line, marked: bool) -> None:
    """Draw a line, with its bars, marks and arrowheads where it has them."""
    axes = sheet.axes
    colour = COLOURS["muted"] if one.look is None else COLOURS[f"series-{one.look + 1}"]
    width, dashes = KINDS[one.kind]
    heights = [_placed(value) for value in one.values]
    pattern: Any = "-" if dashes == "none" else (0, tuple(float(part) / width for part in dashes.split()))
    axes.plot(along, heights, color=colour, linewidth=width, linestyle=pattern, clip_on=False)
    if not marked or one.look is None:
        return
    bars = [
        (x, _placed(ends[0] or value), _placed(ends[1] or value))
        for x, value, ends in zip(along, one.values, one.intervals, strict=False)
        if value is not None
    ]
    if bars:
        x, lows, highs = np.array(bars, dtype=np.float64).T
        axes.vlines(x, lows, highs, colors=colour, linewidth=1.3, clip_on=False)
    is_open = one.kind == "proof"
    look: dict[str, Any] = {"linestyle": "none", "color": colour, "clip_on": False}
    look |= {
        "markerfacecolor": COLOURS["card"] if is_open else colour,
        "markeredgecolor": colour if is_open else COLOURS["card"],
        "markeredgewidth": 1.3 if is_open else 0.8,
    }
    axes.plot(along, heights, marker=MARKERS[one.look], markersize=5.2 if is_open else 6.2, **look)
    arrows = [(x, _placed(value)) for x, value in zip(along, one.beyond, strict=False) if value is not None]
    if arrows:
        axes.plot(*zip(*arrows, strict=True), marker="^", markersize=6.5, **look)


def _placed(value: Number) -> float:
    return math.log10(value) if value is not None and value > 0 else math.nan


def line_legend(names: dict[str, str]) -> list[tuple[str, Markup]]:
    """Return what each kind of line stands for, with a piece of it."""
    piece = Markup(
        '<svg class="mark" aria-hidden="true" width="34" height="16"><path d="M1 8h32" fill="none"'
        ' stroke="var(--ink)" stroke-width="{}" stroke-dasharray="{}"/>{}</svg>'
    )
    marks = {
        "measured": Markup('<circle cx="17" cy="8" r="4" fill="var(--ink)"/>'),
        "proof": Markup(
            '<circle cx="17" cy="8" r="3.6" fill="var(--card)" stroke="var(--ink)" stroke-width="1.3"/>'
        ),
    }
    return [(name, piece.format(*KINDS[kind], marks.get(kind, ""))) for kind, name in names.items()]
