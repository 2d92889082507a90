"""Pages in a real browser: how they are opened, and what is measured of all of them."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

CUT_OFF = """
return [...document.querySelectorAll("svg[role=img]")].flatMap(one => {
  const {left, right} = one.getBoundingClientRect();
  return [...one.querySelectorAll("text")].filter(text => {
    const box = text.getBoundingClientRect();
    return box.left < left - 1 || box.right > right + 1;
  }).map(text => [one.ariaLabel, text.textContent]);
});
"""
"""Returns the texts that stand out of their figures."""
CONTRASTS = """
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
"""Returns how many texts there are, and those that are too faint for what is behind them."""

FIGURES = """
return [...document.querySelectorAll("svg[role=img]")].map(one => {
  const {width, height} = one.getBoundingClientRect();
  return {width, height, name: one.ariaLabel, widest: Math.max(0, ...[...one.querySelectorAll("text")].map(
    text => { const box = text.getBBox(); return -box.x; }))};
});
"""
"""Returns how large figures are, what they are called, and how far labels stand out at the left."""


def look(browser: Any, page: Path, media: str, width: int = 1280) -> None:
    """Open a page, on a screen in light or in dark, or as it is printed."""
    scheme = "dark" if media == "dark" else "light"
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {
            "media": "print" if media == "print" else "screen",
            "features": [{"name": "prefers-color-scheme", "value": scheme}],
        },
    )
    resize(browser, width)
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(page.as_uri())


def resize(browser: Any, width: int) -> None:
    """Make the window so wide."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def overflow(browser: Any) -> int:
    """Return by how many pixels the page is wider than the window."""
    root = "document.documentElement"
    return int(browser.execute_script(f"return {root}.scrollWidth - {root}.clientWidth"))


def requests(browser: Any) -> list[str]:
    """Return all that was asked for since the page was opened."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]


def assert_quiet_and_legible(browser: Any, page: Path, media: str, texts: int) -> None:
    """Assert that a page of more than so many texts can be read, asks for nothing, and has no errors."""
    look(browser, page, media)
    contrasts = browser.execute_script(CONTRASTS)
    assert contrasts["texts"] > texts
    assert contrasts["low"] == []
    assert [url for url in requests(browser) if not url.startswith("data:")] == [page.as_uri()]
    assert browser.get_log("browser") == []


def assert_fits(browser: Any, page: Path) -> None:
    """Assert that nothing is wider than the window, be it narrow or broad, and that all of a figure is seen."""
    look(browser, page, "light")
    for width in (360, 768, 1280):
        resize(browser, width)
        assert overflow(browser) <= 0, width
        for figure in browser.execute_script(FIGURES):
            assert figure["name"]
            assert 150 < figure["width"] <= width
            assert figure["height"] >= 10
            assert figure["widest"] <= 0, "a label is cut off at the left of its figure"


def sheets(browser: Any, page: Path) -> int:
    """Return how many sheets of A4 a page fills; assert that none of its tables and figures is cut off."""
    look(browser, page, "print", width=680)  # as wide as A4 is between its margins
    cut = (
        'return [...document.querySelectorAll("table, svg")]'
        ".filter(one => one.getBoundingClientRect().right > 681).map(one => one.parentElement.ariaLabel)"
    )
    assert browser.execute_script(cut) == []
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    return len(re.findall(rb"/Type /Page\b", base64.b64decode(printed["data"])))
