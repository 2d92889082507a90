"""Leaves' boxes in any two dimensions, or in one: how crowded they are there, and how that is drawn.

A tree that cuts more than two dimensions has leaves that lie on top of each other in any two of them. Workers
of a leaf are taken to be spread evenly in its box, so that the crowd at a place is the sum of what all leaves
above it put there: the marginal density that the tree describes, exactly where its edges are few, else
averaged over a grid.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from jobs.page.scales import ticks
from jobs.page.words import count, ems, fitted

Array = NDArray[np.float64]

LEVELS, EVEN = 8, 4
"""How many shades there are, and which is that of an even spread."""
_FACTORS = (1.25, 1.5, 2.0, 4.0, 10.0)
"""From a shade to the next one the crowd is so many times as large: the finest that shows all there is."""
SIDE = 1000
"""Boxes are drawn on a square of so many units."""
_CELLS = 60_000
"""Cells of all drawings of a page."""
_MOST_OUTLINES = 64
"""More boxes that lie on top of each other are shaded alone: their edges would cover all."""
_VIEW, _LEFT, _TOP, _INNER = 480.0, 58.0, 10.0, 400.0
_FONT = 12.0


def cells_a_side(drawings: int) -> int:
    """Return how fine grids are at most, of so many drawings on a page.

    Examples
    --------
    >>> cells_a_side(1), cells_a_side(15), cells_a_side(45)
    (96, 63, 36)
    """
    return min(math.isqrt(_CELLS // max(drawings, 1)), 96)


def edges_of(ends: Array, most: int) -> Array:
    """Return where a dimension is cut, from 0 to 1; a grid where that is at more than so many places.

    Parameters
    ----------
    ends : float64 array (leaves, 2)
        The boxes, as shares of the domain.
    most : int
        Intervals, at most.

    Examples
    --------
    >>> edges_of(np.array([[0.0, 0.3], [0.3, 1.0]]), 4).tolist()
    [0.0, 0.3, 1.0]
    >>> edges_of(np.array([[0.1, 0.2], [0.3, 1]]), 2).tolist()
    [0.0, 0.5, 1.0]
    """
    edges = np.unique(np.append(ends, (0.0, 1.0)))
    return edges if len(edges) <= most + 1 else np.linspace(0.0, 1.0, most + 1)


def shares_of(ends: Array, edges: Array) -> Array:
    """Return which part of each leaf's workers is in each interval: (leaves, intervals), rows add up to 1.

    Examples
    --------
    >>> shares_of(np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([0.0, 0.5, 1.0])).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    low, high = ends[:, :1], ends[:, 1:]
    overlap = np.clip(np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1]), 0.0, None)
    last = len(edges) - 2
    at = np.clip(np.searchsorted(edges, low[:, 0], side="right") - 1, 0, last)
    flat = (high <= low)[:, 0]  # a box without width: all of it is where it stands
    overlap[flat] = np.eye(last + 1)[at[flat]]
    return np.asarray(overlap / np.where(flat, 1.0, (high - low)[:, 0])[:, None])


def crowd(counts: Array, parts: Sequence[Array], edges: Sequence[Array]) -> Array:
    """Return how many times as many workers are in each cell as if all were spread evenly.

    Parameters
    ----------
    counts : float64 array (leaves,)
    parts : sequence of float64 array (leaves, intervals)
        As `shares_of` returns them, of one dimension or two.
    edges : sequence of float64 array

    Returns
    -------
    float64 array
        One axis for each dimension; zeros where there is nobody in all.
    """
    total, sizes = counts.sum(), [np.diff(one) for one in edges]
    weights = counts / total if total > 0 else np.zeros_like(counts)
    if len(parts) == 1:
        return np.asarray(weights @ parts[0] / sizes[0])
    return np.asarray((parts[0] * weights[:, None]).T @ parts[1] / np.outer(*sizes))


def factor_of(most: float) -> float:
    """Return the factor between shades with which so large a crowd still has a shade of its own."""
    return next((one for one in _FACTORS if most <= one ** (LEVELS - EVEN + 0.5)), _FACTORS[-1])


def shades(crowds: Array, factor: float) -> NDArray[np.int64]:
    """Return each cell's shade: 0 for nothing, 1 to `LEVELS`, and -1 for less than nothing.

    Examples
    --------
    >>> shades(np.array([-0.2, 0.0, 0.001, 0.5, 1.0, 1.3, 2.0, 999.0]), 2.0).tolist()
    [-1, 0, 1, 3, 4, 4, 5, 8]
    """
    tiny = 1e-9
    steps = np.log(np.maximum(crowds, tiny)) / math.log(factor)
    found = np.clip(np.rint(steps) + EVEN, 1, LEVELS).astype(np.int64)
    return np.where(crowds > tiny, found, np.where(crowds < -tiny, -1, 0))


def scale(factor: float) -> list[tuple[int, str]]:
    """Return each shade with what it stands for, in times as many as if spread evenly.

    Examples
    --------
    >>> scale(2.0)[:5]
    [(1, '0.12 or less'), (2, '0.25'), (3, '0.5'), (4, '1'), (5, '2')]
    """
    texts = [f"{float(f'{factor ** (k - EVEN):.2g}'):g}" for k in range(1, LEVELS + 1)]
    texts[0], texts[-1] = f"{texts[0]} or less", f"{texts[-1]} or more"
    return list(enumerate(texts, 1))


def rectangles(cells: NDArray[np.int64]) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield rectangles of one value that cover an array but its zeros: the value, and both axes' ends.

    Examples
    --------
    >>> list(rectangles(np.array([[2, 2, 0], [2, 2, 1]])))
    [(1, 1, 2, 2, 3), (2, 0, 2, 0, 2)]
    """
    open_: dict[tuple[int, int, int], int] = {}
    for row in range(len(cells) + 1):
        runs, start = set(), 0
        for value, group in groupby(cells[row].tolist() if row < len(cells) else ()):
            end = start + len(list(group))
            if value:
                runs.add((value, start, end))
            start = end
        for value, start, end in sorted(open_.keys() - runs):
            yield value, open_.pop((value, start, end)), row, start, end
        for run in runs:
            open_.setdefault(run, row)


def fill_of(shade: int) -> Markup:
    """Return how a shade is painted, as attributes."""
    if shade < 0:
        return Markup('fill="var(--below)" fill-opacity="0.55"')
    return Markup('fill="var(--series-1)" fill-opacity="{:.3g}"').format(0.06 + 0.94 * shade / LEVELS)


def paint(
    cells: NDArray[np.int64], across: Array, up: Array, size: tuple[float, float] = (SIDE, SIDE)
) -> str:
    """Return cells as paths, one a shade, in whole units: the first axis to the right, the other up."""
    x = np.rint(size[0] * across).astype(int).tolist()
    y = np.rint(size[1] * (1 - up)).astype(int).tolist()
    paths: dict[int, list[str]] = {}
    for shade, left, right, low, high in rectangles(cells):
        if x[right] > x[left] and y[low] > y[high]:
            path = f"M{x[left]} {y[high]}h{x[right] - x[left]}v{y[low] - y[high]}H{x[left]}z"
            paths.setdefault(shade, []).append(path)
    return "".join(f'<path {fill_of(shade)} d="{"".join(paths[shade])}"/>' for shade in sorted(paths))


def outlines(ends: Array) -> NDArray[np.int64]:
    """Return leaves' different boxes in two dimensions, in the square's units: left, top, width, height."""
    places = np.rint(SIDE * ends).astype(np.int64).reshape(-1, 4)
    left, right, low, high = np.unique(places, axis=0).T
    return np.stack([left, SIDE - high, right - left, high - low], axis=1)


def draw_boxes(name: str, ends: Array, cells: NDArray[np.int64], edges: Sequence[Array]) -> Markup:
    """Draw leaves in two dimensions, without words: shades, and the different boxes.

    Parameters
    ----------
    name : str
        The group's id: `view_boxes` shows it again.
    ends : float64 array (leaves, 2, 2)
        The boxes in both dimensions, as shares of the domain.
    cells : int64 array
        Shades on the grid of the edges.
    edges : sequence of two float64 arrays

    Returns
    -------
    Markup
        A small SVG element for the eye alone.
    """
    drawn, boxes = paint(cells, edges[0], edges[1]), outlines(ends)
    if len(boxes) <= _MOST_OUTLINES or apart(ends):
        path = "".join(f"M{x} {y}h{w}v{h}H{x}z" for x, y, w, h in boxes.tolist())
        look = "outline" if len(boxes) <= _MOST_OUTLINES else "outline thin"
        drawn += f'<path class="{look}" d="{path}"/>'
    return Markup(  # noqa: S704 (numbers alone)
        f'<svg class="boxes" aria-hidden="true" viewBox="0 0 {SIDE} {SIDE}"><g id="{name}">{drawn}</g></svg>'
    )


def apart(ends: Array) -> bool:
    """Tell whether leaves lie beside each other in two dimensions, so that each has a place of its own."""
    boxes = outlines(ends)
    return len(boxes) == len(ends) and abs(int((boxes[:, 2] * boxes[:, 3]).sum()) - SIDE**2) < SIDE * len(
        boxes
    )


def view_boxes(
    name: str,
    title: str,
    labels: tuple[str, str],
    domain: tuple[float, float],
    numbers: Sequence[tuple[Any, ...]] = (),
) -> Markup:
    """Show a drawing of `draw_boxes` at its full size, with axes.

    Parameters
    ----------
    name, title : str
        The drawing's id, and what it says to those who do not see it.
    labels : tuple of str
        The dimension to the right, and the one up.
    domain : tuple of float
    numbers : sequence of tuple
        Counts, or None, with the left, top, width and height of their boxes: written where there is room.
    """
    low, high = domain
    text = Markup('<text x="{:.4g}" y="{:.4g}" text-anchor="{}" font-size="{:g}" class="{}">{}</text>')
    parts = [
        Markup('<svg class="chart" role="img" aria-label="{}" viewBox="0 0 {:g} {:g}" width="{:g}">').format(
            title, _VIEW, _INNER + 64.0, _VIEW
        ),
        Markup('<use href="#{}" transform="translate({:g} {:g}) scale({:g})"/>').format(
            name, _LEFT, _TOP, _INNER / SIDE
        ),
        Markup('<rect class="frame" x="{:g}" y="{:g}" width="{:g}" height="{:g}"/>').format(
            _LEFT, _TOP, _INNER, _INNER
        ),
    ]
    for at, shown in ticks(low, high, log=False):
        step = _INNER * (at - low) / (high - low)
        parts.append(text.format(_LEFT + step, _TOP + _INNER + 18, "middle", 11, "quiet", shown))
        parts.append(text.format(_LEFT - 7, _TOP + _INNER - step + 4, "end", 11, "quiet", shown))
    across, up = (fitted(label, 28.0) for label in labels)
    parts.append(text.format(_LEFT + _INNER / 2, _TOP + _INNER + 42, "middle", _FONT, "named", across))
    turned = Markup(
        '<text transform="translate(14 {:g}) rotate(-90)" text-anchor="middle" font-size="{:g}"'
        ' class="named">{}</text>'
    )
    parts.append(turned.format(_TOP + _INNER / 2, _FONT, up))
    for number, x, y, width, height in numbers:
        written, unit = count(number), _INNER / SIDE
        if number is not None and ems(written) * _FONT < width * unit - 6 and height * unit > 18:
            middle = (_LEFT + (x + width / 2) * unit, _TOP + (y + height / 2) * unit + 4)
            parts.append(text.format(*middle, "middle", _FONT, "count", written))
    return Markup("").join([*parts, Markup("</svg>")])
