"""Keys of three holders, and a mailbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.jobs.skills.holding import share_files


@pytest.fixture
def shares(tmp_path: Path) -> list[Path]:
    return share_files(tmp_path / "keys")


@pytest.fixture
def box(tmp_path: Path) -> Path:
    return tmp_path / "box"
