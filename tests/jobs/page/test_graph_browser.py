"""The pages of graphs and of their studies in a real browser: looked at as the others are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jobs.page.page import render_graph, render_graph_study
from tests.jobs.page.browsing import (
    CUT_OFF,
    assert_fits,
    assert_quiet_and_legible,
    look,
    overflow,
    resize,
    sheets,
)
from tests.jobs.page.graph_documents import GRAPHS, STUDIES

SEEN = ["local", "central", "two", "spoilt", "large", "hostile", *STUDIES]
_COVERED = """
return [...document.querySelectorAll("svg[role=img]")].flatMap(one => {
  const texts = [...one.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
  return texts.flatMap(([first, a], k) => texts.slice(k + 1).filter(([_, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3).map(([second]) => [one.ariaLabel, first, second]));
});
"""
"""Returns texts of figures that lie over others."""
_SIZES = """
return [...document.querySelectorAll("svg[role=img] text")]
    .map(one => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a);
"""
"""Returns how large texts of figures are, in pixels of the screen."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("graphs")
    found = {name: folder / f"{name}.html" for name in SEEN}
    for name, path in found.items():
        path.write_bytes(
            render_graph_study(STUDIES[name]()) if name in STUDIES else render_graph(GRAPHS[name]())
        )
    return found


@pytest.mark.parametrize("name", SEEN)
@pytest.mark.parametrize("media", ["light", "dark", "print"])
def test_a_page_is_quiet_and_legible(browser: Any, pages: dict[str, Path], name: str, media: str) -> None:
    assert_quiet_and_legible(browser, pages[name], media, texts=40)


@pytest.mark.parametrize("name", SEEN)
def test_nothing_is_wider_than_the_window_and_every_figure_can_be_seen(
    browser: Any, pages: dict[str, Path], name: str
) -> None:
    assert_fits(browser, pages[name])


@pytest.mark.parametrize("name", SEEN)
def test_texts_of_figures_stand_within_them_apart_and_are_not_small(
    browser: Any, pages: dict[str, Path], name: str
) -> None:
    look(browser, pages[name], "light")
    for width in (360, 768, 1280):
        resize(browser, width)
        assert overflow(browser) <= 0, width
        assert browser.execute_script(CUT_OFF) == [], width
        assert browser.execute_script(_COVERED) == [], width
        sizes = browser.execute_script(_SIZES)
        assert sizes
        assert min(sizes) > 8.5, width
        assert max(sizes) < 16, width


@pytest.mark.parametrize("name", SEEN)
def test_a_page_can_be_printed_within_the_paper(browser: Any, pages: dict[str, Path], name: str) -> None:
    assert 1 <= sheets(browser, pages[name]) <= 10


def test_links_within_a_page_lead_somewhere(browser: Any, pages: dict[str, Path]) -> None:
    for name in SEEN:
        look(browser, pages[name], "light")
        lost = browser.execute_script(
            'return [...document.querySelectorAll("a[href^=\\"#\\"]")]'
            ".filter(one => !document.getElementById(one.hash.slice(1))).map(one => one.hash)"
        )
        assert lost == [], name
