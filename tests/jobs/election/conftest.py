"""What the tests of elections share."""

from __future__ import annotations

import pytest


@pytest.fixture
def blank_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no page be drawn: it would take longer than all else."""
    monkeypatch.setattr("jobs.lifecycle._page", lambda job, document: {"report.html": b""})
