"""The page in a real browser: what it looks like is measured, and what it does is watched."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from jobs.page import render_study, render_survey
from tests.jobs.page.browsing import CONTRASTS, assert_fits, assert_quiet_and_legible, look, overflow, sheets
from tests.jobs.page.documents import hostile, rich
from tests.jobs.page.studies import hostile_study, rich_study

PAGES = ["rich", "hostile", "study", "hostile-study"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder, found = tmp_path_factory.mktemp("pages"), {}
    written = {
        "rich": render_survey(rich()),
        "hostile": render_survey(hostile()),
        "study": render_study(rich_study()),
        "hostile-study": render_study(hostile_study()),
    }
    for name, page in written.items():
        found[name] = folder / f"{name}.html"
        found[name].write_bytes(page)
    return found


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("media", ["light", "dark", "print"])
def test_a_page_is_quiet_and_legible(browser: Any, pages: dict[str, Path], name: str, media: str) -> None:
    assert_quiet_and_legible(browser, pages[name], media, texts=300)


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_wider_than_the_window_and_every_figure_can_be_seen(
    browser: Any, pages: dict[str, Path], name: str
) -> None:
    assert_fits(browser, pages[name])


def test_every_category_has_its_row_and_a_closed_table_is_printed(
    browser: Any, pages: dict[str, Path]
) -> None:
    count = """
        return [...document.querySelectorAll("tbody th")].filter(
            one => one.innerText.startsWith("category ") && one.getBoundingClientRect().height > 0).length
    """
    look(browser, pages["hostile"], "print")
    assert browser.execute_script(count) == 200
    look(browser, pages["hostile"], "light")
    assert browser.execute_script(count) == 0
    assert browser.execute_script('document.querySelector("details").open = true;' + count) == 200


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_printed_within_the_paper(browser: Any, pages: dict[str, Path], name: str) -> None:
    assert 3 <= sheets(browser, pages[name]) <= 25


def test_a_worse_page_does_not_pass(browser: Any, pages: dict[str, Path], tmp_path: Path) -> None:
    worse, good = tmp_path / "worse.html", pages["rich"].read_text()
    faint = re.sub(r"--muted: #\w+;", "--muted: #8a9299;", good, count=1)
    wide = '<p style="width: 3000px; max-width: none">wide</p><img src="https://page.invalid/a.png" alt="">'
    worse.write_text(faint.replace("</main>", wide + "</main>"))
    look(browser, worse, "light")
    assert browser.execute_script(CONTRASTS)["low"]
    assert overflow(browser) > 0
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))
