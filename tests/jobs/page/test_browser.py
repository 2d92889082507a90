"""The page in a real browser: what it looks like is measured, and what it does is watched."""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs.page import render_study, render_survey
from tests.jobs.page.documents import hostile, rich
from tests.jobs.page.studies import hostile_study, rich_study

_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-extensions",
)

PAGES = ["rich", "hostile", "study", "hostile-study"]

_CONTRASTS = """
const context = Object.assign(document.createElement("canvas"), {width: 1, height: 1})
    .getContext("2d", {willReadFrequently: true});
const seen = new Map();
function colour(text) {
  if (!seen.has(text)) {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = text;
    context.fillRect(0, 0, 1, 1);
    seen.set(text, [...context.getImageData(0, 0, 1, 1).data]);
  }
  return seen.get(text);
}
function luminance([r, g, b]) {
  const [x, y, z] = [r, g, b].map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
}
function behind(element) {
  for (; element; element = element.parentElement) {
    const found = colour(getComputedStyle(element).backgroundColor);
    if (found[3] === 255) return found;
    if (found[3] !== 0) throw new Error("half a background");
  }
  throw new Error("no background");
}
const low = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let texts = 0;
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || element.tagName === "title" || !element.checkVisibility()) continue;
  const style = getComputedStyle(element), front = colour(element.tagName === "text" ? style.fill : style.color);
  if (front[3] !== 255 || style.opacity !== "1") throw new Error("half a text");
  const [a, b] = [luminance(front), luminance(behind(element))].sort((x, y) => y - x);
  texts += 1;
  if ((a + 0.05) / (b + 0.05) < 4.5) low.push([walker.currentNode.data.trim().slice(0, 40), (a + 0.05) / (b + 0.05)]);
}
return {texts, low};
"""

_FIGURES = """
return [...document.querySelectorAll("svg[role=img]")].map(one => {
  const {width, height} = one.getBoundingClientRect();
  return {width, height, name: one.ariaLabel, widest: Math.max(0, ...[...one.querySelectorAll("text")].map(
    text => { const box = text.getBBox(); return -box.x; }))};
});
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("the page is looked at with chromium and chromedriver, and one of them is not installed")
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium drives the browser")
    from selenium.webdriver.chrome.service import Service

    options = selenium.ChromeOptions()
    options.binary_location = chromium
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    running = selenium.Chrome(options=options, service=Service(executable_path=driver))
    yield running
    running.quit()


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


def _look(browser: Any, page: Path, media: str, width: int = 1280) -> None:
    scheme = "dark" if media == "dark" else "light"
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {
            "media": "print" if media == "print" else "screen",
            "features": [{"name": "prefers-color-scheme", "value": scheme}],
        },
    )
    _resize(browser, width)
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(page.as_uri())


def _resize(browser: Any, width: int) -> None:
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def _overflow(browser: Any) -> int:
    root = "document.documentElement"
    return int(browser.execute_script(f"return {root}.scrollWidth - {root}.clientWidth"))


def _requests(browser: Any) -> list[str]:
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("media", ["light", "dark", "print"])
def test_a_page_is_quiet_and_legible(browser: Any, pages: dict[str, Path], name: str, media: str) -> None:
    _look(browser, pages[name], media)
    contrasts = browser.execute_script(_CONTRASTS)
    assert contrasts["texts"] > 300
    assert contrasts["low"] == []
    asked = [url for url in _requests(browser) if not url.startswith("data:")]
    assert asked == [pages[name].as_uri()]
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_wider_than_the_window_and_every_figure_can_be_seen(
    browser: Any, pages: dict[str, Path], name: str
) -> None:
    _look(browser, pages[name], "light")
    for width in (360, 768, 1280):
        _resize(browser, width)
        assert _overflow(browser) <= 0, width
        for figure in browser.execute_script(_FIGURES):
            assert figure["name"]
            assert 150 < figure["width"] <= width
            assert figure["height"] >= 10
            assert figure["widest"] <= 0, "a label is cut off at the left of its figure"


def test_every_category_has_its_row_and_a_closed_table_is_printed(
    browser: Any, pages: dict[str, Path]
) -> None:
    count = """
        return [...document.querySelectorAll("tbody th")].filter(
            one => one.innerText.startsWith("category ") && one.getBoundingClientRect().height > 0).length
    """
    _look(browser, pages["hostile"], "print")
    assert browser.execute_script(count) == 200
    _look(browser, pages["hostile"], "light")
    assert browser.execute_script(count) == 0
    assert browser.execute_script('document.querySelector("details").open = true;' + count) == 200


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_printed_within_the_paper(browser: Any, pages: dict[str, Path], name: str) -> None:
    _look(browser, pages[name], "print", width=680)  # as wide as A4 is between its margins
    cut = (
        'return [...document.querySelectorAll("table")].filter(one => one.getBoundingClientRect().right > 681)'
        ".map(one => one.parentElement.ariaLabel)"
    )
    assert browser.execute_script(cut) == []
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    assert 3 <= len(re.findall(rb"/Type /Page\b", base64.b64decode(printed["data"]))) <= 25


def test_a_worse_page_does_not_pass(browser: Any, pages: dict[str, Path], tmp_path: Path) -> None:
    worse, good = tmp_path / "worse.html", pages["rich"].read_text()
    faint = re.sub(r"--muted: #\w+;", "--muted: #8a9299;", good, count=1)
    wide = '<p style="width: 3000px; max-width: none">wide</p><img src="https://page.invalid/a.png" alt="">'
    worse.write_text(faint.replace("</main>", wide + "</main>"))
    _look(browser, worse, "light")
    assert browser.execute_script(_CONTRASTS)["low"]
    assert _overflow(browser) > 0
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))
