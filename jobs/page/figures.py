"""Figures as inline SVG: dots on intervals, their legend, and the shades of a heat table.

All of it is a pure function of its arguments, to be called within `sheet.settings()`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from jobs.page.scales import Series, cut_off, on_log, rounded_up, scaled, span, ticks
from jobs.page.sheet import COLOURS, FONT, LONGEST_LABEL, MARKERS, Sheet
from jobs.page.words import ems

_WIDTH, _STRIP = 352.0, 288.0
_MARGIN, _GAP = 10.0, 9.0
_LONG = 30
"""From so many rows on they stand closer, and the axis is written above as well as below."""


def dots(
    name: str,
    title: str,
    labels: Sequence[str],
    series: Sequence[Series],
    *,
    reference: float | None = 0.0,
    unit: str = "",
    scale: float = 1.0,
    log: bool = False,
    truths: Sequence[float | None] = (),
    limits: tuple[float, float] | None = None,
) -> Markup:
    """Draw estimates as dots on their intervals, a row for each label.

    Parameters
    ----------
    name : str
        Of letters, digits and hyphens, and the page's only figure of that name.
    title : str
        What the figure says to those who do not see it.
    labels : sequence of str
        One for each row; with a single empty one the figure is a strip without names.
    series : sequence of Series
        At most `sheet.SERIES`; each has an estimate and an interval for each label.
    reference : float or None
        Where the line is drawn that estimates are compared with: in sight, whatever the estimates are.
        Estimates below a reference of 0 are open dots of a colour of their own, where there is one series
        and no truth.
    unit : str
        Follows the numbers of the axis.
    scale : float
        What numbers are multiplied by: 100 for per cent.
    log : bool
        Whether the axis is logarithmic: what is not positive is then not drawn.
    truths : sequence of float or None
        What is compared with in each row, as a true value where it is known: upright strokes behind the dots.
    limits : tuple of float, optional
        How far the axis reaches at most. A bar that goes on ends there with an arrowhead, and so does a dot.

    Returns
    -------
    Markup
        An inline SVG element that inherits the page's colours and font.
    """
    place = on_log if log else partial(scaled, scale=scale)
    placed = [one.through(place) for one in series]
    line = place(reference)
    marked = [place(truth) for truth in truths]
    low, high = span([*placed, Series("", marked, [])], line)
    if not log:
        high = rounded_up(low, high)
    if limits is not None:
        low, high = max(low, limits[0] * scale), min(high, limits[1] * scale)
    gutter = min(max(map(ems, labels), default=0.0), LONGEST_LABEL) * FONT
    is_long = len(labels) > _LONG
    row = (16.0 if is_long else 24.0) + 11.0 * (len(series) - 1)
    top, bottom = (24.0 if is_long else 6.0), 26.0
    left = gutter + _GAP + _MARGIN if gutter else _MARGIN
    sheet = Sheet(_WIDTH if gutter else _STRIP, top + bottom + row * len(labels), left, 16.0, top, bottom)
    axes = sheet.axes
    axes.set_xlim(low, high)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    written = ticks(low, high, log)
    edges = (-0.5, len(labels) - 0.5)
    axes.vlines([tick for tick, _ in written], *edges, colors=COLOURS["grid"], linewidth=0.8, clip_on=False)
    axes.vlines([] if line is None else [line], *edges, colors=COLOURS["muted"], linewidth=1.1, clip_on=False)
    for tick, text in written:
        sheet.write(tick, edges[1] + 17 / row, text + unit, colour="muted", ha="center", fontsize=10.5)
        if is_long:
            sheet.write(tick, edges[0] - 8 / row, text + unit, colour="muted", ha="center", fontsize=10.5)
    for k, text in enumerate(labels if gutter else ()):
        sheet.write(
            -_GAP / sheet.inner_width,
            k + 4 / row,
            text,
            room=LONGEST_LABEL,
            ha="right",
            transform=axes.get_yaxis_transform(),
        )
    plain = len(series) == 1 and not log and not marked
    strokes = [(truth, k) for k, truth in enumerate(marked) if truth is not None]
    if strokes:
        x, y = np.array(strokes, dtype=np.float64).T
        half = 0.5 - 3 / row
        axes.vlines(x, y - half, y + half, colors=COLOURS["ink"], linewidth=1.6, clip_on=False)
    for k, one in enumerate(placed):
        shift = 11.0 * (k - (len(series) - 1) / 2) / row
        _draw_series(axes, one, k, shift, 0.0 if plain and line == 0 else None)
    return sheet.svg(name, title)


def _draw_series(axes: Axes, one: Series, k: int, shift: float, floor: float | None) -> None:
    colour, marker = COLOURS[f"series-{k + 1}"], MARKERS[k]
    rows = np.arange(len(one.estimates)) + shift
    inside, arrows = cut_off(rows, one, axes.get_xlim())
    bars = [(y, *ends) for y, ends in zip(rows, inside.intervals, strict=True) if None not in ends]
    if bars:
        y, low, high = np.array(bars, dtype=np.float64).T
        axes.hlines(y, low, high, colors=colour, linewidth=2.4, capstyle="round", clip_on=False)
    style: dict[str, Any] = {
        "linestyle": "none",
        "marker": marker,
        "clip_on": False,
        "markeredgecolor": COLOURS["card"],
    }
    known = [(value, y) for y, value in zip(rows, inside.estimates, strict=True) if value is not None]
    above = [point for point in known if floor is None or point[0] >= floor]
    below = [point for point in known if floor is not None and point[0] < floor]
    for (y, edge), up in arrows:
        axes.plot([edge], [y], **{**style, "marker": ">" if up else "<"}, color=colour, markersize=6.0)
    if above:
        axes.plot(*zip(*above, strict=True), color=colour, markersize=6.4, markeredgewidth=0.6, **style)
    if below:
        style |= {"markerfacecolor": COLOURS["card"], "markeredgecolor": COLOURS["below"]}
        axes.plot(*zip(*below, strict=True), markersize=6.0, markeredgewidth=1.6, **style)


def legend(names: Sequence[str]) -> list[tuple[str, Markup]]:
    """Return each series' name with its mark, for a legend that is text of the page."""
    shapes = (
        '<circle cx="8" cy="8" r="4.5"/>',
        '<rect x="4" y="4" width="8" height="8"/>',
        '<path d="M8 2.5 13.5 8 8 13.5 2.5 8z"/>',
        '<path d="M8 3l5.5 10h-11z"/>',
        '<path d="M8 13 2.5 3h11z"/>',
        '<path d="M6 2.5h4V6h3.5v4H10v3.5H6V10H2.5V6H6z"/>',
    )
    mark = (
        '<svg class="mark" aria-hidden="true" width="16" height="16" style="fill: var(--series-{})">{}</svg>'
    )
    drawn = [Markup(mark).format(k + 1, Markup(shape)) for k, shape in enumerate(shapes)]  # noqa: S704 (ours)
    return list(zip(names, drawn, strict=False))


def heat_levels(table: Sequence[Sequence[float | None]], levels: int = 8) -> list[list[int]]:
    """Return how dark each cell of a heat table is: 0 for nothing, less than nothing and missing, to `levels`.

    Examples
    --------
    >>> heat_levels([[0.0, -0.1], [0.2, 0.4], [None, 0.01]])
    [[0, 0], [4, 8], [0, 1]]
    """
    most = max((value for row in table for value in row if value is not None), default=0.0)
    return [
        [0 if value is None or value <= 0 else max(1, round(levels * value / most)) for value in row]
        for row in table
    ]
