"""The page of an election in a real browser: looked at as the others are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jobs.page.page import render_election
from tests.jobs.page.browsing import assert_fits, assert_quiet_and_legible, look, sheets
from tests.jobs.page.elections import ELECTIONS

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
    assert_quiet_and_legible(browser, elections[name], media, texts=40)


@pytest.mark.parametrize("name", SEEN)
def test_nothing_is_wider_than_the_window_and_every_figure_can_be_seen(
    browser: Any, elections: dict[str, Path], name: str
) -> None:
    assert_fits(browser, elections[name])


@pytest.mark.parametrize("name", SEEN)
def test_a_page_can_be_printed_within_the_paper(browser: Any, elections: dict[str, Path], name: str) -> None:
    assert 1 <= sheets(browser, elections[name]) <= 16


def test_the_names_beside_the_transfers_do_not_overlap(browser: Any, elections: dict[str, Path]) -> None:
    for name in ("transfers", "landslide", "hostile-transfers"):
        look(browser, elections[name], "light")
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
