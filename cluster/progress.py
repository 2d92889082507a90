"""How far a job is: bars on a terminal, plain lines elsewhere, nothing where it is to be quiet."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TextIO

from rich import progress as rich_progress
from rich.console import Console

_SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Shows nothing."""

    @contextlib.contextmanager
    def stage(self, name: str, total: int) -> Iterator[Callable[[], None]]:
        """Open a stage of so many tasks; the callable given says that one is done."""
        yield lambda: None

    def say(self, text: str) -> None:
        """Say what is going on between stages."""


class LineProgress(Progress):
    """Writes a line when a stage begins, every ten seconds, and when it ends."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr

    @contextlib.contextmanager
    def stage(self, name: str, total: int) -> Iterator[Callable[[], None]]:
        """Open a stage of so many tasks."""
        done, started, last = 0, time.monotonic(), time.monotonic()

        def advance() -> None:
            nonlocal done, last
            done += 1
            if time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
                last = time.monotonic()
                self.say(f"{name}: {done} of {total} tasks")

        self.say(f"{name}: {total} task{'s' * (total != 1)}")
        yield advance
        self.say(f"{name}: done in {time.monotonic() - started:.1f} s")

    def say(self, text: str) -> None:
        """Write one line."""
        print(f"canvass: {text}", file=self._stream, flush=True)


class BarProgress(Progress):
    """Draws a bar for each stage on a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @contextlib.contextmanager
    def stage(self, name: str, total: int) -> Iterator[Callable[[], None]]:
        """Open a stage of so many tasks."""
        columns = (
            rich_progress.TextColumn("{task.description:<24}"),
            rich_progress.BarColumn(),
            rich_progress.MofNCompleteColumn(),
            rich_progress.TimeElapsedColumn(),
        )
        with rich_progress.Progress(*columns, console=self._console) as bars:
            task = bars.add_task(name, total=total)
            yield lambda: bars.advance(task)

    def say(self, text: str) -> None:
        """Write one dim line."""
        self._console.print(text, style="dim", markup=False, highlight=False)


def progress_for(stream: TextIO, quiet: bool) -> Progress:
    """Return bars where the stream is a terminal, lines where it is not, nothing where it is to be quiet."""
    if quiet:
        return Progress()
    console = Console(file=stream)
    return BarProgress(console) if console.is_terminal else LineProgress(stream)
