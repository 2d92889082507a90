"""Figures of a tree of skills as inline SVG: a tree over its leaves' counts, and steps along a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from jobs.page.scales import rounded_up, ticks
from jobs.page.sheet import COLOURS, Sheet
from jobs.page.skills_boxes import Array, factor_of, paint, shades
from jobs.page.skills_tree import Node, Tree
from jobs.page.words import count, fitted, short
from jobs.skills.words import brief

MOST_LEVELS = 10
"""Below the root, a figure shows so many levels."""
MOST_BARS = 128
"""More leaves stand without their standard errors, which would cover each other."""
_GUTTER, _INNER, _RIGHT = 132.0, 640.0, 12.0
_TALL, _LOW, _STRIP, _BETWEEN, _FOOT = 38.0, 15.0, 170.0, 26.0, 12.0
_FONT, _ROOM = 11.0, 64.0
_UNIT = 16
"""The tree is painted on a grid so many times as fine as its pixels."""
_STEPS = (352.0, 190.0)


def draw_tree(name: str, title: str, tree: Tree) -> Markup:
    """Draw a tree from the root down, a row for each level, and its leaves' counts below.

    All nodes of a level are equally wide. Their shades say how their counts compare with an even share of the
    root's; where they are cut is written where there is room. Below stand both counts of each leaf, with a
    standard error either way where they are not too many.

    Parameters
    ----------
    name, title : str
        As in `figures.dots`.
    tree : Tree

    Returns
    -------
    Markup
    """
    levels = min(tree.depth, MOST_LEVELS)
    by_place = {one.place: one for one in tree.nodes if one.place and one.place[0] <= levels}
    root = by_place.get((0, 0))
    whole = (root and root.best) or float(tree.counts.sum())
    rows = [[by_place.get((below, k)) for k in range(1 << below)] for below in range(levels + 1)]
    crowds = [_crowd(row, whole) for row in rows]
    factor = factor_of(max(float(one.max()) for one in crowds))
    parts, top = [], 6.0
    for row, crowd in zip(rows, crowds, strict=True):
        tall = _TALL if _INNER / len(row) >= _ROOM else _LOW
        parts += [_shaded(shades(crowd, factor), top, tall), _written(row, top, tall)]
        top += tall + 2.0
    leaves = [one for one in tree.leaves if one.place and one.place[0] <= levels]
    parts.append(_counts(leaves, top + _BETWEEN))
    width, height = _GUTTER + _INNER + _RIGHT, top + _BETWEEN + _STRIP + _FOOT
    opening = Markup(
        '<svg class="chart" id="{}" role="img" aria-label="{}" viewBox="0 0 {:g} {:g}" width="{:g}">'
    )
    return opening.format(name, title, width, height, width) + Markup("").join([*parts, Markup("</svg>")])


def _crowd(row: Sequence[Node | None], whole: float) -> Array:
    """Return the counts of a level as multiples of an even share."""
    even = whole / len(row)
    return np.array([(one.best or 0.0) / even if one and even > 0 else 0.0 for one in row])


def _shaded(cells: NDArray[np.int64], top: float, tall: float) -> Markup:
    """Return a level's nodes as shades, with gaps between them where they are wide enough."""
    size, width = (_UNIT * _INNER, _UNIT * tall), _INNER / len(cells)
    painted = paint(cells[:, None], np.linspace(0.0, 1.0, len(cells) + 1), np.array([0.0, 1.0]), size)
    shape = Markup('<g transform="translate({:g} {:g}) scale({:g})">{}</g>')
    shaded = shape.format(_GUTTER, top, 1 / _UNIT, Markup(painted))  # noqa: S704 (numbers alone)
    if width < 5:
        return shaded
    gaps = "".join(f"M{_GUTTER + k * width:.1f} {top:g}v{tall:g}" for k in range(1, len(cells)))
    return shaded + Markup('<path class="gaps" d="{}"/>').format(gaps)


def _written(row: Sequence[Node | None], top: float, tall: float) -> Markup:
    """Return a level's name, and where there is room where each node is cut, and its count."""
    there = [(k, one) for k, one in enumerate(row) if one]
    named = next((one.dimension for _, one in there if one.dimension is not None), "leaves")
    known = next((f"{short(one.level)}: " for _, one in there if one.level is not None), "")
    parts = [_text(_GUTTER - 8, top + tall / 2 + 4, "end", fitted(known + named, _GUTTER / _FONT - 1.2))]
    for k, one in there if tall == _TALL else ():
        lines = [] if one.split is None else [f"at {brief(one.split)}"]
        lines += [] if one.best is None else [count(one.best)]
        for line, shown in enumerate(lines):
            y = top + tall / 2 + 4 + 14 * (line - (len(lines) - 1) / 2)
            parts.append(_text(_GUTTER + (k + 0.5) * _INNER / len(row), y, "middle", shown, "count"))
    return Markup("").join(parts)


def _counts(leaves: Sequence[Node], top: float) -> Markup:
    """Return the strip of the leaves' counts, the raw ones a little to the left of the consistent ones."""
    both = [(one.count, one.error) for one in leaves], [(one.estimate, one.estimate_error) for one in leaves]
    reached = [v + side * (e or 0.0) for kind in both for v, e in kind if v is not None for side in (-1, 1)]
    low, high = min([0.0, *reached]), max([0.0, *reached])
    high = rounded_up(low, high) if high > low else low + 1.0
    parts = []

    def place(value: float) -> float:
        return top + _STRIP * (high - value) / (high - low)

    line = Markup('<path class="{}" d="M{:g} {:.2f}h{:g}"/>')
    for tick, shown in ticks(low, high, log=False):
        parts.append(line.format("axis" if tick == 0 else "grid", _GUTTER, place(tick), _INNER))
        parts.append(
            _text(_GUTTER - 8, place(tick) + 4, "end", count(float(tick)) if abs(tick) >= 1000 else shown)
        )
    parts.append(_text(_GUTTER, top - 9, "start", "workers in each leaf", "named"))
    room = _INNER / max(len(leaves), 1)
    dot = min(6.5, max(1.6, 0.45 * room))
    shift = min(4.0, room / 4)
    for kind, look, side in ((both[0], "raw", -shift), (both[1], "consistent", shift)):
        marks = [
            (_GUTTER + _INNER * (one.place[1] + 0.5) / (1 << one.place[0]) + side, value, error)
            for one, (value, error) in zip(leaves, kind, strict=True)
            if one.place and value is not None
        ]
        dots = "".join(f"M{x:.1f} {place(value):.1f}h0" for x, value, _ in marks)
        bars = "".join(
            f"M{x:.1f} {place(value - error):.1f}V{place(value + error):.1f}"
            for x, value, error in marks
            if error is not None and len(leaves) <= MOST_BARS
        )
        strokes = [(f"{look} bars", 0.3 * dot, bars), (f"{look} dots", dot, dots)]
        strokes += [("hole", dot - 3.2, dots)] if look == "raw" and dot > 4 else []
        shape = Markup('<path class="{}" stroke-width="{:.2g}" d="{}"/>')
        parts += [shape.format(*stroke) for stroke in strokes if stroke[2]]
    return Markup("").join(parts)


def _text(x: float, y: float, anchor: str, shown: str, look: str = "quiet") -> Markup:
    text = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" font-size="{:g}" class="{}">{}</text>')
    return text.format(x, y, anchor, _FONT, look, shown)


def draw_steps(
    name: str,
    title: str,
    values: Array,
    edges: Array,
    *,
    reference: float | None = None,
    cut: float | None = None,
) -> Markup:
    """Draw a value for each interval of a dimension.

    Parameters
    ----------
    name, title : str
        As in `figures.dots`.
    values : float64 array (intervals,)
        Those below zero are of a colour of their own.
    edges : float64 array (intervals + 1,)
    reference : float, optional
        A line across: what values are compared with.
    cut : float, optional
        Where the dimension is cut: an upright line.

    Returns
    -------
    Markup
    """
    sheet = Sheet(*_STEPS, 46.0, 12.0, 10.0, 26.0)
    axes: Any = sheet.axes
    reach = [0.0, *values.tolist(), *([] if reference is None else [1.15 * reference])]
    low, high = min(reach), max(reach)
    high = rounded_up(low, high + 0.04 * (high - low)) if high > low else low + 1.0
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(low, high)
    for tick, text in ticks(low, high, log=False):
        axes.hlines(
            [tick], edges[0], edges[-1], colors=COLOURS["muted" if tick == 0 else "grid"], linewidth=0.8
        )
        below = 4.0 * (high - low) / sheet.inner_height
        shown = count(tick) if abs(tick) >= 1000 else text
        sheet.write(
            -7 / sheet.inner_width,
            tick - below,
            shown,
            colour="muted",
            ha="right",
            fontsize=10.5,
            transform=axes.get_yaxis_transform(),
        )
    for tick, text in ticks(float(edges[0]), float(edges[-1]), log=False):
        sheet.write(
            tick,
            -18 / sheet.inner_height,
            text,
            colour="muted",
            ha="center",
            fontsize=10.5,
            transform=axes.get_xaxis_transform(),
        )
    for part, colour in ((np.maximum(values, 0.0), "series-1"), (np.minimum(values, 0.0), "below")):
        if part.any():
            axes.stairs(part, edges, fill=True, facecolor=COLOURS[colour], alpha=0.3, edgecolor="none")
    axes.stairs(values, edges, color=COLOURS["series-1"], linewidth=1.6, baseline=None)
    if reference is not None:
        axes.hlines(
            [reference], edges[0], edges[-1], colors=COLOURS["muted"], linewidth=1.1, linestyles=[(0, (4, 3))]
        )
    if cut is not None:
        axes.vlines([cut], low, high, colors=COLOURS["series-2"], linewidth=2.0)
    return sheet.svg(name, title)
