"""Progress: lines, bars or nothing, and never more than stages and counts."""

from __future__ import annotations

import io

import pytest

from cluster import progress
from cluster.progress import BarProgress, LineProgress, Progress, progress_for


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def run_stage(shown: Progress, tasks: int = 3) -> None:
    """Open a stage, and do its tasks."""
    shown.say("preparing")
    with shown.stage("randomize", tasks) as advance:
        for _ in range(tasks):
            advance()


def test_elsewhere_a_stage_is_two_lines(capsys: pytest.CaptureFixture[str]) -> None:
    stream = io.StringIO()
    run_stage(progress_for(stream, quiet=False))
    preparing, begins, ends = stream.getvalue().splitlines()
    assert (preparing, begins) == ("canvass: preparing", "canvass: randomize: 3 tasks")
    assert ends.startswith("canvass: randomize: done in ")
    run_stage(LineProgress(stream), 1)
    assert "canvass: randomize: 1 task\n" in stream.getvalue()
    assert capsys.readouterr() == ("", "")


def test_a_long_stage_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 0.0)
    stream = io.StringIO()
    run_stage(LineProgress(stream))
    assert [line for line in stream.getvalue().splitlines() if " of " in line] == [
        f"canvass: randomize: {done} of 3 tasks" for done in (1, 2, 3)
    ]


def test_a_stage_that_fails_does_not_say_that_it_is_done() -> None:
    stream = io.StringIO()
    with pytest.raises(ValueError, match=r"^$"), LineProgress(stream).stage("randomize", 2):
        raise ValueError
    assert "done" not in stream.getvalue()


def test_a_terminal_gets_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    shown = progress_for(stream, quiet=False)
    assert isinstance(shown, BarProgress)
    run_stage(shown)
    assert "3/3" in stream.getvalue()


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_quiet_is_quiet(stream: io.StringIO, capsys: pytest.CaptureFixture[str]) -> None:
    run_stage(progress_for(stream, quiet=True))
    assert stream.getvalue() == ""
    assert capsys.readouterr() == ("", "")
