"""Freed memory is kept where the C library can be told to."""

from __future__ import annotations

import platform
import sys

import pytest

from cluster.allocator import keep_freed_memory


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_freed_memory_is_kept_on_glibc() -> None:
    assert keep_freed_memory()


def test_elsewhere_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert keep_freed_memory.__wrapped__() is False
