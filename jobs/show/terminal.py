"""What all that is shown in a terminal shares."""

from __future__ import annotations

import math

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

_WIDTH = 110


def console_of_width() -> Console:
    """Return the terminal, or a console of a fixed width where there is none."""
    console = Console(highlight=False, emoji=False)
    return console if console.is_terminal else Console(highlight=False, emoji=False, width=_WIDTH)


def numbers_table(first: str, *headings: str) -> Table:
    """Return a table whose first column is text, and all others numbers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(Text(first))
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def bar(share: float | None) -> Text:
    """Return a bar of up to 25 cells, in eighths."""
    eighths = round(200 * min(max(share or 0.0, 0.0), 1.0))
    return Text("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip(), style="cyan")


def short(number: float | None) -> str:
    """Return a number as shortly as it can be told."""
    return "infinity" if number is None or not math.isfinite(number) else f"{number:.10g}"
