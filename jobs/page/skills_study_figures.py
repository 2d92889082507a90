"""Figures of a study of a tree's error, on logarithmic axes: what was measured as marks, its law as lines.

A pure function of its arguments, to be called within `sheet.settings()`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from markupsafe import Markup

from jobs.page.scales import ticks
from jobs.page.sheet import COLOURS, FONT, MARKERS, Sheet
from jobs.page.skills_errors import Number
from jobs.page.words import ems, short

_WIDTH, _HEIGHT, _EDGE, _BESIDE = 352.0, 282.0, 16.0, 7.0
_MOST_OF_A_GAP = 0.7
_TICK, _CLEAR = 4.0, 6.0
_ROOM = 0.06
_DASHES = "5 3"
LEVEL = 1.4
"""How thick a line is that errors are compared with."""


@dataclass(frozen=True)
class Series:
    """What was measured, and what its law gives, of one look.

    Attributes
    ----------
    places : sequence of float
        On the axis across: positive, and not falling where there is a law.
    look : int
        Its colour and its mark, from 0.
    measured : sequence of float or None
    intervals : sequence of (float or None, float or None)
    law : sequence of float or None
        None for no line; it breaks where a number is missing.
    is_open : bool
        Whether its marks are open, and its line dashed.
    """

    places: Sequence[float]
    look: int
    measured: Sequence[Number]
    intervals: Sequence[tuple[Number, Number]] = ()
    law: Sequence[Number] = ()
    is_open: bool = False


@dataclass(frozen=True)
class Reference:
    """A value, or the ends of a range, from elsewhere."""

    place: float
    low: float
    high: float


Limits = tuple[float, float]


def reach(values: Iterable[Number]) -> Limits | None:
    """Return the ends of a logarithmic axis that shows all positive values; None where there are none."""
    known = [math.log10(value) for value in values if value is not None and value > 0]
    if not known:
        return None
    room = _ROOM * (max(known) - min(known)) or _ROOM
    return min(known) - room, max(known) + room


def heights(series: Sequence[Series], references: Sequence[Reference] = ()) -> list[Number]:
    """Return all that an upright axis has to show; bars may leave it."""
    drawn = [value for one in series for value in (*one.measured, *one.law)]
    return [*drawn, *(end for one in references for end in (one.low, one.high))]


def draw_errors(
    name: str,
    title: str,
    series: Sequence[Series],
    limits: Limits,
    *,
    across: str,
    up: str,
    grid: Sequence[float] = (),
    references: Sequence[Reference] = (),
    level: Number = None,
    joined: bool = False,
) -> Markup:
    """Draw errors, both axes logarithmic.

    Parameters
    ----------
    name : str
        Of letters, digits and hyphens, and the page's only figure of that name.
    title : str
        What the figure says to those who do not see it.
    series : sequence of Series
        One at least that has a place.
    limits : tuple of float
        The ends of the upright axis, as logarithms: see `reach`.
    across, up : str
        What the two axes say.
    grid : sequence of float
        Where there are ticks across, with their numbers as far as there is room; round numbers by default.
        Series stand side by side at each: those of one look in one place where a law tells them apart.
    references : sequence of Reference
        Drawn as I-beams, or as crosses where both ends are one.
    level : float, optional
        A line across that errors are compared with: positive.
    joined : bool
        Whether lines join what was measured, which then stands where it is and not side by side.

    Returns
    -------
    Markup
    """
    rows = ticks(*limits, log=True)
    gutter = max([40.0, *(ems(text) * FONT + 12.0 for _, text in rows)])
    sheet = Sheet(_WIDTH, _HEIGHT, gutter + 6.0, 10.0, 30.0, 46.0)
    places = np.log10([place for one in series for place in one.places] + [one.place for one in references])
    low, high = float(places.min()), float(places.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    pixel = (high - low) / (sheet.inner_width - 2 * _EDGE)
    sheet.axes.set_xlim(low - _EDGE * pixel, high + _EDGE * pixel)
    sheet.axes.set_ylim(*limits)
    columns = [(math.log10(size), f"{size:,.10g}") for size in grid]
    _write_scales(sheet, _legible(columns, pixel) or ticks(low, high, log=True), rows, (across, up), gutter)
    _draw_ticks(sheet, [at for at, _ in columns])
    lanes = sorted({_lane(one) for one in series})
    gaps = [right - left for (left, _), (right, _) in pairwise(columns)]
    step = min([_BESIDE * pixel, *(_MOST_OF_A_GAP * gap / len(lanes) for gap in gaps)]) if grid else 0.0
    if level is not None:
        sheet.axes.hlines(
            [_placed(level)], *sheet.axes.get_xlim(), colors=COLOURS["ink"], linewidth=LEVEL, clip_on=False
        )
    for one in series:
        if joined:
            _draw(sheet, replace(one, law=one.measured), 0.0)
        else:
            _draw(sheet, one, step * (lanes.index(_lane(one)) - (len(lanes) - 1) / 2))
    _draw_references(sheet, references, pixel)
    return sheet.svg(name, title)


def _write_scales(
    sheet: Sheet,
    columns: Sequence[tuple[float, str]],
    rows: Sequence[tuple[float, str]],
    names: tuple[str, str],
    gutter: float,
) -> None:
    """Write both axes, with a line across for each upright number."""
    axes, (across, up) = sheet.axes, names
    low, high = axes.get_ylim()
    axes.hlines(
        [at for at, _ in rows], *axes.get_xlim(), colors=COLOURS["grid"], linewidth=0.8, clip_on=False
    )
    left: dict[str, Any] = {"colour": "muted", "ha": "right", "transform": axes.get_yaxis_transform()}
    for at, text in rows:
        sheet.write(-8 / sheet.inner_width, at - 4 * (high - low) / sheet.inner_height, text, **left)
    below: dict[str, Any] = {"colour": "muted", "ha": "center", "transform": axes.get_xaxis_transform()}
    for at, text in columns:
        sheet.write(at, -18 / sheet.inner_height, _apart(text), **below)
    sheet.write(sum(axes.get_xlim()) / 2, -37 / sheet.inner_height, across, **below)
    sheet.write(
        -gutter / sheet.inner_width, 1 + 14 / sheet.inner_height, up, colour="muted", transform=axes.transAxes
    )


def _legible(columns: Sequence[tuple[float, str]], pixel: float) -> list[tuple[float, str]]:
    """Return as many numbers of an axis as stand clear of each other, from the last on."""
    kept: list[tuple[float, str]] = []
    for at, text in reversed(columns):
        if not kept or kept[-1][0] - at > ((ems(text) + ems(kept[-1][1])) * FONT / 2 + _CLEAR) * pixel:
            kept.append((at, text))
    return kept[::-1]


def _draw_ticks(sheet: Sheet, places: Sequence[float]) -> None:
    low, high = sheet.axes.get_ylim()
    below = low - _TICK * (high - low) / sheet.inner_height
    sheet.axes.vlines(places, below, low, colors=COLOURS["muted"], linewidth=0.8, clip_on=False)


def _lane(one: Series) -> tuple[int, bool]:
    """Return what stands in one place: open marks leave the full ones where no law tells them apart."""
    return one.look, one.is_open and not one.law


def _apart(text: str) -> str:
    """Return a number of an axis with its thousands apart."""
    return f"{float(text):,.10g}" if text.replace(".", "", 1).isdigit() else text


def _draw(sheet: Sheet, one: Series, beside: float) -> None:
    """Draw the line of a series' law, then its bars and its marks beside the line's place."""
    axes, colour = sheet.axes, COLOURS[f"series-{one.look + 1}"]
    along = np.log10(one.places)
    if one.law:
        width = 1.4
        dashes: Any = (0, tuple(float(part) / width for part in _DASHES.split())) if one.is_open else "-"
        law = [_placed(value) for value in one.law]
        axes.plot(along, law, color=colour, linewidth=width, linestyle=dashes)
    shift = along + beside
    bars = [
        (x, _placed(ends[0]), _placed(ends[1]))
        for x, value, ends in zip(shift, one.measured, one.intervals, strict=False)
        if value is not None
    ]
    if bars:
        bottom = axes.get_ylim()[0]
        x, lows, highs = np.array(bars, dtype=np.float64).T
        lows = np.where(np.isnan(lows), bottom, lows)  # an interval that reaches zero has no lower end here
        axes.vlines(x, lows, highs, colors=colour, linewidth=1.3)
    look: dict[str, Any] = {
        "markerfacecolor": COLOURS["card"] if one.is_open else colour,
        "markeredgecolor": colour if one.is_open else COLOURS["card"],
        "markeredgewidth": 1.3 if one.is_open else 0.8,
        "markersize": 5.2 if one.is_open else 6.2,
    }
    marks = [_placed(value) for value in one.measured]
    axes.plot(shift, marks, linestyle="none", marker=MARKERS[one.look], clip_on=False, **look)


def _draw_references(sheet: Sheet, references: Sequence[Reference], pixel: float) -> None:
    axes, ink = sheet.axes, COLOURS["ink"]
    for one in references:
        at, ends = math.log10(one.place), (math.log10(one.low), math.log10(one.high))
        if one.low == one.high:
            axes.plot(
                [at], ends[:1], linestyle="none", marker="x", color=ink, markersize=6.5, markeredgewidth=1.6
            )
            continue
        axes.vlines([at], *ends, colors=ink, linewidth=1.6)
        axes.hlines(ends, at - 4 * pixel, at + 4 * pixel, colors=ink, linewidth=1.6)


def _placed(value: Number) -> float:
    return math.log10(value) if value is not None and value > 0 else math.nan


def kinds_legend(names: Sequence[str], lines: bool = True) -> list[tuple[str, Markup]]:
    """Return what full and open marks stand for, with their lines if there are any, and what a cross does."""
    path = '<path d="M1 8h32" stroke="var(--ink)" stroke-width="1.4" stroke-dasharray="{}"/>' if lines else ""
    open_ = 'fill="var(--card)" stroke="var(--ink)" stroke-width="1.3"'
    shapes = (
        path.format("none") + '<circle cx="17" cy="8" r="4" fill="var(--ink)"/>',
        path.format(_DASHES) + f'<circle cx="17" cy="8" r="3.6" {open_}/>',
        '<path d="M13 4l8 8m0-8l-8 8" stroke="var(--ink)" stroke-width="1.6"/>',
    )
    piece = Markup('<svg class="mark" aria-hidden="true" width="34" height="16">{}</svg>')
    drawn = [piece.format(Markup(one)) for one in shapes]  # noqa: S704 (ours)
    return list(zip(names, drawn, strict=False))


def shown(value: Number) -> str:
    """Return an epsilon or a size as a legend says it."""
    return "–" if value is None else _apart(short(value))
