"""The page of assignments in a real browser: looked at as the others are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jobs.page.page import render_assign
from tests.jobs.page.browsing import CUT_OFF, assert_quiet_and_legible, look, overflow, resize, sheets
from tests.jobs.page.test_assign_documents import DISPATCHES

SEEN = ["lattice", "large", "short-of-gets", "empty", "hostile"]
_COVERED = """
const texts = [...document.querySelectorAll("#costs-chart text")].map(one => one.getBoundingClientRect());
return texts.flatMap((a, k) => texts.slice(k + 1).filter(b =>
  Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
  Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3));
"""
"""Returns texts of the figure of costs that lie over others."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("assignments")
    found = {name: folder / f"{name}.html" for name in SEEN}
    for name, path in found.items():
        path.write_bytes(render_assign(DISPATCHES[name]()))
    return found


@pytest.mark.parametrize("name", SEEN)
@pytest.mark.parametrize("media", ["light", "dark", "print"])
def test_a_page_is_quiet_and_legible(browser: Any, pages: dict[str, Path], name: str, media: str) -> None:
    assert_quiet_and_legible(browser, pages[name], media, texts=40)


@pytest.mark.parametrize("name", SEEN)
def test_nothing_is_wider_than_the_window_and_no_text_stands_out_of_its_figure(
    browser: Any, pages: dict[str, Path], name: str
) -> None:
    look(browser, pages[name], "light")
    for width in (360, 400, 768, 1280):
        resize(browser, width)
        assert overflow(browser) <= 0, width
        assert browser.execute_script(CUT_OFF) == [], width
        assert browser.execute_script(_COVERED) == [], width


@pytest.mark.parametrize("name", SEEN)
def test_a_page_can_be_printed_within_the_paper(browser: Any, pages: dict[str, Path], name: str) -> None:
    assert 1 <= sheets(browser, pages[name]) <= 6
