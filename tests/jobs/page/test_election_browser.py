"""The page of an election in a real browser: looked at as the others are."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest

from jobs.page.page import render_election
from tests.jobs.page.elections import ELECTIONS
from tests.jobs.page.test_browser import (
    _CONTRASTS,
    _FIGURES,
    _look,
    _overflow,
    _requests,
    _resize,
    browser,
)

__all__ = ["browser"]

SEEN = [
    "transfers",
    "plurality",
    "condorcet",
    "central",
    "many",
    "landslide",
    "hostile-election",
    "hostile-transfers",
]


@pytest.fixture(scope="module")
def elections(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("elections")
    found = {name: folder / f"{name}.html" for name in SEEN}
    for name, path in found.items():
        path.write_bytes(render_election(ELECTIONS[name]()))
    return found


@pytest.mark.parametrize("name", SEEN)
@pytest.mark.parametrize("media", ["light", "dark", "print"])
def test_a_page_is_quiet_and_legible(browser: Any, elections: dict[str, Path], name: str, media: str) -> None:
    _look(browser, elections[name], media)
    contrasts = browser.execute_script(_CONTRASTS)
    assert contrasts["texts"] > 40
    assert contrasts["low"] == []
    asked = [url for url in _requests(browser) if not url.startswith("data:")]
    assert asked == [elections[name].as_uri()]
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("name", SEEN)
def test_nothing_is_wider_than_the_window_and_every_figure_can_be_seen(
    browser: Any, elections: dict[str, Path], name: str
) -> None:
    _look(browser, elections[name], "light")
    for width in (360, 768, 1280):
        _resize(browser, width)
        assert _overflow(browser) <= 0, width
        for figure in browser.execute_script(_FIGURES):
            assert figure["name"]
            assert 150 < figure["width"] <= width
            assert figure["height"] >= 10
            assert figure["widest"] <= 0, "a label is cut off at the left of its figure"


@pytest.mark.parametrize("name", SEEN)
def test_a_page_can_be_printed_within_the_paper(browser: Any, elections: dict[str, Path], name: str) -> None:
    _look(browser, elections[name], "print", width=680)  # as wide as A4 is between its margins
    cut = (
        'return [...document.querySelectorAll("table, svg")]'
        ".filter(one => one.getBoundingClientRect().right > 681).map(one => one.parentElement.ariaLabel)"
    )
    assert browser.execute_script(cut) == []
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    assert 1 <= len(re.findall(rb"/Type /Page\b", base64.b64decode(printed["data"]))) <= 16


def test_the_names_beside_the_transfers_do_not_overlap(browser: Any, elections: dict[str, Path]) -> None:
    for name in ("transfers", "landslide", "hostile-transfers"):
        _look(browser, elections[name], "light")
        boxes = browser.execute_script(
            """
            const chart = document.querySelector("article .pair svg.chart");
            return [...chart.querySelectorAll("text")].map(text => text.getBBox())
                .map(({x, y, width, height}) => [x, y, x + width, y + height]);
            """
        )
        assert len(boxes) > 8
        for k, (left, top, right, bottom) in enumerate(boxes):
            for x, y, far, low in boxes[:k]:
                # A line's box is a little taller than its letters.
                assert x >= right or far <= left or y >= bottom - 4 or low - 4 <= top, name
