"""Figures of an election as inline SVG: scores on one scale, transfers from round to round, all duels at once.

All of it is a pure function of its arguments, to be called within `sheet.settings()`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path

from jobs.page.scales import Series, rounded_up, span, ticks
from jobs.page.sheet import COLOURS, FONT, LONGEST_LABEL, SERIES, Sheet
from jobs.page.words import ems

LEVELS = 8
"""How many shades a table or a figure of duels has, for either sign."""
_WIDTH, _ROW, _GAP = 352.0, 24.0, 9.0
_BROAD, _BROAD_FONT = 420.0, 13.0
_BAR, _BETWEEN, _TALL = 9.0, 16.0, 250.0
_CELLS, _LEAST, _NUMBERS = 380.0, 9.0, 24.0
_SQUARE = np.array([(0.06, 0.06), (0.94, 0.06), (0.94, 0.94), (0.06, 0.94), (0.06, 0.06)])


@dataclass(frozen=True)
class Dot:
    """A row of a figure of scores.

    Attributes
    ----------
    label : str
    estimate : float or None
    interval : tuple of float or None
    look : {"on", "rest", "out"}
        Goes on or wins, and is of the first colour; the rest, muted; is out, and open.
    """

    label: str
    estimate: float | None
    interval: tuple[float | None, float | None]
    look: str = "rest"


def scale_of(rows: Sequence[Dot]) -> tuple[float, float]:
    """Return the ends of an axis, zero on it, on which all of these rows are in sight."""
    low, high = span([Series("", [one.estimate for one in rows], [one.interval for one in rows])], 0.0)
    return low, rounded_up(low, high)


def draw_scores(
    name: str, title: str, rows: Sequence[Dot], ends: tuple[float, float], unit: str = ""
) -> Markup:
    """Draw scores as dots on their intervals, a row for each.

    Parameters
    ----------
    name, title, unit
        As in `figures.dots`.
    rows : sequence of Dot
    ends : tuple of float
        Of the axis, as `scale_of` returns them: several figures may share one.

    Returns
    -------
    Markup
    """
    gutter = min(max((ems(one.label) for one in rows), default=0.0), LONGEST_LABEL) * FONT
    sheet = Sheet(_WIDTH, 32.0 + _ROW * len(rows), gutter + _GAP + 10.0, 16.0, 6.0, 26.0)
    axes, edges = sheet.axes, (-0.5, len(rows) - 0.5)
    axes.set_xlim(*ends)
    axes.set_ylim(*reversed(edges))
    written = ticks(*ends, log=False)
    axes.vlines([tick for tick, _ in written], *edges, colors=COLOURS["grid"], linewidth=0.8, clip_on=False)
    axes.vlines([0.0], *edges, colors=COLOURS["muted"], linewidth=1.1, clip_on=False)
    for tick, text in written:
        below = edges[1] + 17 / _ROW
        sheet.write(tick, below, text + unit, colour="muted", ha="center", fontsize=10.5)
    left: dict[str, Any] = {"room": LONGEST_LABEL, "ha": "right", "transform": axes.get_yaxis_transform()}
    for k, one in enumerate(rows):
        sheet.write(-_GAP / sheet.inner_width, k + 4 / _ROW, one.label, **left)
        colour = COLOURS[{"on": "series-1", "out": "below"}.get(one.look, "muted")]
        low, high = one.interval
        if low is not None and high is not None:
            axes.hlines([k], low, high, colors=colour, linewidth=2.4, capstyle="round", clip_on=False)
        if one.estimate is not None:
            is_open = one.look == "out"
            axes.plot(
                [one.estimate],
                [k],
                marker="o",
                color=colour,
                clip_on=False,
                markersize=6.0 if is_open else 6.4,
                markeredgewidth=1.6 if is_open else 0.6,
                markeredgecolor=colour if is_open else COLOURS["card"],
                markerfacecolor=COLOURS["card"] if is_open else colour,
            )
    return sheet.svg(name, title)


def draw_transfers(
    name: str,
    title: str,
    labels: Sequence[str],
    heads: Sequence[str],
    columns: Sequence[Sequence[float | None]],
) -> Markup:
    """Draw how votes go from round to round: a bar for each candidate in it, and bands between the rounds.

    A band along a candidate's own bars is what both rounds have in common. What a candidate gains leaves the bar
    of whoever is gone after the round, in its colour; where gains add up to more than that bar, by noise, they
    start narrower than they end. A loss, which is noise or exhausted ballots, leaves a step.

    Parameters
    ----------
    name, title : str
        As in `figures.dots`.
    labels : sequence of str
        Candidates, the winner first, and the first who is out last.
    heads : sequence of str
        The number of each round.
    columns : sequence of sequence of float or None
        For each round each candidate's estimate: None once they are out. Two rounds at least.

    Returns
    -------
    Markup
    """
    votes = [[None if one is None else max(one, 0.0) for one in column] for column in columns]
    most = max(sum(filter(None, column)) for column in votes) or 1.0
    heights = np.array([[one or 0.0 for one in column] for column in votes]) * _TALL / most
    tops = np.cumsum(heights + _BETWEEN, axis=1) - heights - _BETWEEN
    gutter = min(max(map(ems, labels)), LONGEST_LABEL) * _BROAD_FONT + 18.0
    tall = _TALL + _BETWEEN * (len(labels) - 1)
    sheet = Sheet(_BROAD, tall + 38.0, gutter, 6.0, 28.0, 10.0)
    axes, starts = sheet.axes, np.linspace(0.0, sheet.inner_width - _BAR, len(votes))
    axes.set_xlim(0.0, sheet.inner_width)
    axes.set_ylim(tall, 0.0)
    colours = [COLOURS[f"series-{c + 1}" if c < SERIES else "muted"] for c in range(len(labels))]
    for k in range(len(votes) - 1):
        across = (starts[k] + _BAR, starts[k + 1])
        stays = [one is not None for one in votes[k + 1]]
        out = [c for c, one in enumerate(votes[k]) if one is not None and not stays[c]]
        kept, gained, given = flows(heights[k], heights[k + 1], stays, out[-1] if out else None)
        for c, colour in enumerate(colours):
            if kept[c]:
                _band(sheet, across, (tops[k, c], kept[c]), (tops[k + 1, c], kept[c]), colour, 0.22)
            if given[c]:
                start = tops[k, out[-1]] + sum(given[:c])
                end = tops[k + 1, c] + kept[c]
                _band(sheet, across, (start, given[c]), (end, gained[c]), colours[out[-1]], 0.5)
    above: dict[str, Any] = {"colour": "muted", "fontsize": _BROAD_FONT - 1.0}
    sheet.write(-8.0, -12.0, "round", ha="right", **above)
    for k, column in enumerate(votes):
        sheet.write(starts[k] + _BAR / 2, -12.0, heads[k], ha="center", **above)
        for c, one in enumerate(column):
            if one is not None:
                place, height = (starts[k], tops[k, c]), max(heights[k, c], 0.8)
                style: dict[str, Any] = {"facecolor": colours[c], "edgecolor": "none", "clip_on": False}
                axes.add_patch(Rectangle(place, _BAR, height, **style))
    for c, label in enumerate(labels):
        middle = tops[0, c] + heights[0, c] / 2 + 4.5
        sheet.write(-8.0, middle, label, room=LONGEST_LABEL, ha="right", fontsize=_BROAD_FONT)
    return sheet.svg(name, title)


def flows(
    now: Sequence[float], then: Sequence[float], stays: Sequence[bool], out: int | None
) -> tuple[list[float], list[float], list[float]]:
    """Return how the votes of two rounds, none below zero, are taken to have moved.

    Parameters
    ----------
    now, then : sequence of float
        Each candidate's votes in a round and in the next.
    stays : sequence of bool
        Who is still there in the next one.
    out : int or None
        Who is not.

    Returns
    -------
    kept, gained, given : list of float
        What each candidate has in both rounds, has more in the next, and how much of that comes from whoever is
        out: all of it, unless gains add up to more than there was.

    Examples
    --------
    >>> flows([5.0, 4.0, 3.0], [7.0, 3.5, 0.0], [True, True, False], 2)
    ([5.0, 3.5, 0.0], [2.0, 0.0, 0.0], [2.0, 0.0, 0.0])
    >>> flows([5.0, 4.0, 3.0], [9.0, 6.0, 0.0], [True, True, False], 2)[2]
    [2.0, 1.0, 0.0]
    """
    kept = [min(a, b) if there else 0.0 for a, b, there in zip(now, then, stays, strict=True)]
    gained = [max(b - a, 0.0) if there else 0.0 for a, b, there in zip(now, then, stays, strict=True)]
    left = 0.0 if out is None else now[out]
    share = min(1.0, left / sum(gained)) if any(gained) else 0.0
    return kept, gained, [share * gain for gain in gained]


def _band(
    sheet: Sheet,
    across: tuple[float, float],
    start: tuple[float, float],
    end: tuple[float, float],
    colour: str,
    alpha: float,
) -> None:
    """Draw a band between two places, each given by its top and its height."""
    (x, far), middle = across, sum(across) / 2
    (top, height), (top_then, height_then) = start, end
    points = [
        *((x, top), (middle, top), (middle, top_then), (far, top_then)),
        *((far, top_then + height_then), (middle, top_then + height_then), (middle, top + height)),
        *((x, top + height), (x, top)),
    ]
    curve = [Path.CURVE4] * 3
    codes = [Path.MOVETO, *curve, Path.LINETO, *curve, Path.CLOSEPOLY]
    style: dict[str, Any] = {"facecolor": colour, "alpha": alpha, "edgecolor": "none", "clip_on": False}
    sheet.axes.add_patch(PathPatch(Path(points, codes), **style))


def signed_levels(table: Sequence[Sequence[float | None]]) -> list[list[int]]:
    """Return how strong each cell's shade is, from -`LEVELS` to `LEVELS`: 0 for nothing and missing.

    Examples
    --------
    >>> signed_levels([[None, 4.0], [-4.0, 0.01]])
    [[0, 8], [-8, 1]]
    """
    most = max((abs(value) for row in table for value in row if value is not None), default=0.0)
    return [
        [
            0 if not value else (1 if value > 0 else -1) * max(1, round(LEVELS * abs(value) / most))
            for value in row
        ]
        for row in table
    ]


def draw_duels(
    name: str, title: str, labels: Sequence[str], table: Sequence[Sequence[float | None]]
) -> Markup:
    """Draw the margins of all duels as shades, a row and a column for each candidate.

    Parameters
    ----------
    name, title : str
        As in `figures.dots`.
    labels : sequence of str
    table : sequence of sequence of float or None
        Each row's candidate's margin over each column's.

    Returns
    -------
    Markup
    """
    size = len(labels)
    gutter = min(max(map(ems, labels)), LONGEST_LABEL) * FONT + _NUMBERS + 6.0
    cell = max(_CELLS / size, _LEAST)
    sheet = Sheet(gutter + cell * size + 8.0, 26.0 + cell * size, gutter, 8.0, 22.0, 4.0)
    axes = sheet.axes
    axes.set_xlim(0.0, size)
    axes.set_ylim(size, 0.0)
    levels = np.array(signed_levels(table))
    for level in np.unique(levels[levels != 0]):
        corners = [_SQUARE + np.array((column, row)) for row, column in np.argwhere(levels == level)]
        codes = [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY] * len(corners)
        colour = COLOURS["series-1" if level > 0 else "below"]
        style: dict[str, Any] = {"facecolor": colour, "alpha": abs(level) / LEVELS, "edgecolor": "none"}
        axes.add_patch(PathPatch(Path(np.concatenate(corners), codes), **style))
    for k, label in enumerate(labels):
        sheet.write(k + 0.5, -6.0 / cell, f"{k + 1}", colour="muted", ha="center", fontsize=8.0)
        sheet.write(-4.0 / cell, k + 0.5 + 3.4 / cell, f"{k + 1}", colour="muted", ha="right", fontsize=9.5)
        sheet.write(
            -_NUMBERS / cell, k + 0.5 + 3.7 / cell, label, room=LONGEST_LABEL, ha="right", fontsize=10.5
        )
    return sheet.svg(name, title)
