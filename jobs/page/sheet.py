"""A sheet to draw on: matplotlib's marks, the page's words and colours.

Matplotlib places marks. It is never shown the document's text: a placeholder stands where a text goes, and the
escaped text takes its place afterwards, so that no label is read as mathematics or looked for in a font.
Colours are placeholders too, and become the page's variables: one figure serves light, dark and paper.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from typing import Any

import matplotlib as mpl
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from jobs.page.words import fitted

MARKERS = "osD^vP"
SERIES = len(MARKERS)
"""How many series can be told apart, by colour and by shape."""

COLOURS = {
    "ink": "#000001",
    "muted": "#000002",
    "grid": "#000003",
    "card": "#000004",
    "below": "#000005",
    **{f"series-{k}": f"#0000{k + 10:02d}" for k in range(1, SERIES + 1)},
}
FONT = 11.5
"""The size of labels in pixels, where a figure is as wide as it was drawn."""
LONGEST_LABEL = 11.5
"""In units of their size: what is longer is cut, and whole only to those who point at it."""

_SETTINGS = {"axes", "figure", "font", "lines", "markers", "patch", "path", "savefig", "svg", "text"}
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Type", "Format"))
_NOT_OURS = re.compile(
    r"<metadata>.*?</metadata>|<style.*?</style>|font-family: [^;\"]*;? ?| transform=\"rotate\(-?0 [^\"]*\"",
    re.S,
)
"""What matplotlib adds that would rule the whole page, refer to elsewhere, or is idle."""
_REFERENCE = re.compile(r'(?:xlink:href="#|url\(#)([^")]+)')
_ID = re.compile(r' id="([^"]*)"')
_PLACEHOLDER = re.compile(r">@(\d+)@<")
_BREAKS = re.compile(r"\s*\n\s*")


@dataclass
class Sheet:
    """A sheet of one pair of axes with margins in pixels, and the texts that will be put on it."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    texts: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.figure = Figure(figsize=(self.width / 72, self.height / 72), dpi=72)
        FigureCanvasSVG(self.figure)
        self.figure.patch.set_visible(False)
        self.axes: Axes = self.figure.add_axes(
            (
                self.left / self.width,
                self.bottom / self.height,
                1 - (self.left + self.right) / self.width,
                1 - (self.top + self.bottom) / self.height,
            )
        )
        self.axes.set_axis_off()

    @property
    def inner_width(self) -> float:
        return self.width - self.left - self.right

    @property
    def inner_height(self) -> float:
        return self.height - self.top - self.bottom

    def write(
        self, x: float, y: float, text: str, *, colour: str = "ink", room: float = 30.0, **style: Any
    ) -> None:
        """Write a text at data coordinates, or another transform's; cut where it is wider than its room."""
        style = {"fontsize": FONT, "va": "baseline", "clip_on": False, **style}
        self.axes.text(x, y, f"@{len(self.texts)}@", color=COLOURS[colour], parse_math=False, **style)
        self.texts.append((fitted(text, room), text))

    def svg(self, name: str, title: str) -> Markup:
        """Return the sheet as an inline SVG element, its ids made the page's own by a prefix."""
        target = io.StringIO()
        self.figure.savefig(target, format="svg", metadata=_NO_METADATA)
        whole = target.getvalue()
        body = _NOT_OURS.sub("", whole[whole.index(">", whole.index("<svg")) + 1 :])
        used = set(_REFERENCE.findall(body))
        body = _ID.sub(lambda match: f' id="{name}-{match[1]}"' if match[1] in used else "", body)
        body = body.replace('xlink:href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")
        for colour, stand_in in COLOURS.items():
            body = body.replace(stand_in, f"var(--{colour})")
        body = _PLACEHOLDER.sub(lambda match: f">{self._worded(int(match[1]))}<", body)
        opening = Markup(
            '<svg class="chart" role="img" aria-label="{}" viewBox="0 0 {:g} {:g}" width="{:g}">'
        ).format(title, self.width, self.height, self.width)
        return opening + Markup(_BREAKS.sub("\n", body).strip())  # noqa: S704 (its texts are escaped)

    def _worded(self, k: int) -> Markup:
        shown, whole = self.texts[k]
        if shown == whole:
            return escape(whole)
        # Isolated, a text from right to left has its ellipsis at its own end.
        return Markup("\N{FIRST STRONG ISOLATE}{}\N{POP DIRECTIONAL ISOLATE}<title>{}</title>").format(
            shown, whole
        )


def settings() -> Any:
    """Return the context in which figures are drawn: matplotlib's own defaults, and stable ids.

    The reader's matplotlibrc changes nothing, and what was set before is set again after. Matplotlib's
    settings belong to the process: one thread at a time may be within.
    """
    own = {key: value for key, value in mpl.rcParamsDefault.items() if key.partition(".")[0] in _SETTINGS}
    return mpl.rc_context({**own, "svg.fonttype": "none", "svg.hashsalt": "page", "path.simplify": False})
