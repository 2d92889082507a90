"""Figures of assignments as inline SVG: how much of what the workers of each leaf download is for them."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from jobs.page.scales import rounded_up, ticks

_LEFT, _INNER, _RIGHT = 56.0, 640.0, 12.0
_TOP, _TALL, _FOOT = 14.0, 190.0, 30.0
_MOST_GAPS = 200
"""More bars stand without gaps between them."""


def draw_precision(name: str, title: str, precision: Sequence[float], mean: float | None) -> Markup:
    """Draw the precision of every leaf as a bar, the highest first, and their mean as a dashed line.

    Parameters
    ----------
    name, title : str
        The figure's id, and what it shows in words.
    precision : sequence of float
        From 0 to 1, one a leaf.
    mean : float, optional

    Returns
    -------
    Markup
    """
    shares = sorted((100 * min(max(one, 0.0), 1.0) for one in precision), reverse=True)
    most = max([*shares, 100 * (mean or 0.0)], default=0.0)
    high = min(100.0, rounded_up(0.0, most)) if most > 0 else 1.0
    width, height = _LEFT + _INNER + _RIGHT, _TOP + _TALL + _FOOT

    def place(value: float) -> float:
        return _TOP + _TALL * (1 - value / high)

    line = Markup('<path class="{}" d="M{:g} {:.2f}h{:g}"/>')
    text = Markup('<text x="{:g}" y="{:.2f}" class="quiet" text-anchor="{}">{}</text>')
    parts = []
    for tick, shown in ticks(0.0, high, log=False):
        parts.append(line.format("axis" if tick == 0 else "grid", _LEFT, place(tick), _INNER))
        parts.append(text.format(_LEFT - 8, place(tick) + 4, "end", f"{shown} %"))
    room = _INNER / max(len(shares), 1)
    gap = min(2.0, 0.2 * room) if len(shares) <= _MOST_GAPS else 0.0
    bars = "".join(
        f"M{_LEFT + k * room + gap / 2:.2f} {place(0):.2f}V{place(share):.2f}h{room - gap:.2f}V{place(0):.2f}z"
        for k, share in enumerate(shares)
    )
    parts.append(Markup('<path class="bars" d="{}"/>').format(bars))
    if mean is not None:
        parts.append(line.format("mean", _LEFT, place(100 * mean), _INNER))
    parts.append(text.format(_LEFT, height - 8, "start", "leaves, the highest precision first"))
    opening = Markup(
        '<svg class="chart" id="{}" role="img" aria-label="{}" viewBox="0 0 {:g} {:g}" width="{:g}">'
    )
    return opening.format(name, title, width, height, width) + Markup("").join([*parts, Markup("</svg>")])
