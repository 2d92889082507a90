"""The page of a tree of skills in a real browser: looked at as the others are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jobs.page.page import render_skills
from tests.jobs.page.browsing import CUT_OFF, assert_quiet_and_legible, look, overflow, resize, sheets
from tests.jobs.page.skill_trees import TREES

SEEN = ["plane", "three", "deep", "ended", "noisy", "hostile-skills"]
_CHOOSE = """
const [label] = arguments;
label.scrollIntoView({block: "center", behavior: "instant"});
const box = label.getBoundingClientRect(), before = scrollY;
const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
if (!label.contains(hit)) throw new Error("something lies over the label");
label.click();
return scrollY - before;
"""
"""Chooses a pair, and returns how far that scrolled the page."""
_LARGE = """
return [...document.querySelectorAll(".planes > figure")]
    .filter(one => getComputedStyle(one).visibility === "visible")
    .map(one => one.querySelector("svg").ariaLabel);
"""
"""Returns the names of the pairs that are shown large."""


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("trees")
    found = {name: folder / f"{name}.html" for name in SEEN}
    for name, path in found.items():
        path.write_bytes(render_skills(TREES[name]()))
    return found


@pytest.mark.parametrize("name", SEEN)
@pytest.mark.parametrize("media", ["light", "dark", "print"])
def test_a_page_is_quiet_and_legible(browser: Any, trees: dict[str, Path], name: str, media: str) -> None:
    assert_quiet_and_legible(browser, trees[name], media, texts=40)


@pytest.mark.parametrize("name", SEEN)
def test_nothing_is_wider_than_the_window_and_no_text_stands_out_of_its_figure(
    browser: Any, trees: dict[str, Path], name: str
) -> None:
    look(browser, trees[name], "light")
    for width in (360, 768, 1280):
        resize(browser, width)
        assert overflow(browser) <= 0, width
        assert browser.execute_script(CUT_OFF) == [], width


@pytest.mark.parametrize("name", SEEN)
def test_a_page_can_be_printed_within_the_paper(browser: Any, trees: dict[str, Path], name: str) -> None:
    assert 1 <= sheets(browser, trees[name]) <= 16


@pytest.mark.parametrize(("name", "pairs"), [("three", 3), ("deep", 45)])
def test_a_pair_of_skills_is_shown_large_once_it_is_chosen(
    browser: Any, trees: dict[str, Path], name: str, pairs: int
) -> None:
    look(browser, trees[name], "light")
    assert browser.execute_script(_LARGE) == ["leaves by welding and first aid"]
    labels = browser.find_elements("css selector", ".planes > label")
    assert len(labels) == pairs
    for label in (labels[-1], labels[1]):
        assert browser.execute_script(_CHOOSE, label) == 0
        chosen = browser.execute_script('return document.querySelector(".planes > input:checked").ariaLabel')
        assert browser.execute_script(_LARGE) == [f"leaves by {chosen}"]
        assert chosen != "welding and first aid"


def test_a_pair_is_drawn_large_as_it_is_drawn_small(browser: Any, trees: dict[str, Path]) -> None:
    look(browser, trees["three"], "light")
    sizes = browser.execute_script(
        """
        const shown = document.querySelector(".planes > figure");
        return [...document.querySelectorAll(".planes > label > svg"), shown.querySelector("use")]
            .map(one => one.getBoundingClientRect()).map(({width, height}) => [width, height]);
        """
    )
    for width, height in sizes:
        assert width > 40
        assert width == pytest.approx(height, abs=1.5)
    assert sizes[-1][0] > 2 * sizes[0][0]
