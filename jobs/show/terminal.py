"""What all that is shown in a terminal shares."""

from __future__ import annotations

import math
from typing import Any

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


def say(console: Console, text: str) -> None:
    """Print text as it is."""
    console.print(text, markup=False)


def say_spent(console: Console, privacy: dict[str, Any], whom: str, stored: bool) -> None:
    """Say what was spent on whom, and whether anything was drawn for this result."""
    limit = "no limit" if privacy["limit"] is None else f"a limit of {short(privacy['limit'])}"
    found = "Stored result: nothing was drawn or charged. " if stored else ""
    say(console, f"{found}epsilon spent on {whom}: {short(privacy['spent_after'])}, with {limit}.")


def say_files(console: Console, output: str, *names: str) -> None:
    """Say where results are, a line each that is not broken."""
    for name in names:
        console.print(f"{output}/{name}", markup=False, soft_wrap=True)


def say_costs(console: Console, planned: dict[str, Any], whose: str, asked: str = "rows") -> None:
    """Say why a plan is what it is, what it does in turn and with how many asked, reads and writes, and what it spends."""
    for reason in planned["reasons"]:
        say(console, reason)
    for stage in planned["stages"]:
        tasks = f"{stage['tasks']} task{'s' * (stage['tasks'] != 1)}"
        say(console, f"{stage['name']}: {planned['rows']:,} {asked} in {tasks}")
    size, epsilon = planned["bytes"], planned["epsilon"]
    written = "" if size["written"] is None else f", writes about {size['written']:,}"
    say(console, f"reads {size['read']:,} bytes{written}")
    say(console, f"epsilon {short(epsilon['total'])} {whose}, {short(epsilon['charged'])} of it charged")


def short(number: float | None) -> str:
    """Return a number as shortly as it can be told."""
    return "infinity" if number is None or not math.isfinite(number) else f"{number:.10g}"
