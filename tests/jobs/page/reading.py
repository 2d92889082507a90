"""Reading a page back: its elements, its tables, and where the marks of its figures are."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "link", "br", "img"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    inside: list[Element | str] = field(default_factory=list)

    def all(self, *tags: str) -> list[Element]:
        """Return the elements of these tags within, in the page's order."""
        found = []
        for one in self.inside:
            if isinstance(one, Element):
                found += ([one] if one.tag in tags else []) + one.all(*tags)
        return found

    @property
    def text(self) -> str:
        return "".join(one if isinstance(one, str) else one.text for one in self.inside).strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("document", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].inside.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def read(page: bytes) -> Element:
    """Return a page's elements; every element must be closed, in order."""
    reader = _Reader()
    reader.feed(page.decode("utf-8"))
    reader.close()
    assert [one.tag for one in reader.open] == ["document"]
    return reader.root


def card_of(page: Element, heading: str) -> Element:
    """Return the only card with this heading."""
    (card,) = (card for card in page.all("article") if card.all("h3")[0].text == heading)
    return card


def rows(table: Element) -> list[list[str]]:
    """Return the texts of a table's cells below its head."""
    return [[cell.text for cell in row.all("th", "td")] for row in table.all("tr") if row.all("td")]


def value(text: str) -> float | None:
    """Return a number that is shown, and None for a dash."""
    return None if text == "–" else float(text.replace("−", "-").replace(",", ""))


def resolution(text: str) -> float:
    """Return half a unit in the last place of a number that is shown."""
    return 0.5 * 10.0 ** -len(text.partition(".")[2])


def marks(chart: Element) -> list[tuple[float, float]]:
    """Return where the dots of a figure are, in its own units."""
    return [(float(one.attributes["x"]), float(one.attributes["y"])) for one in chart.all("use")]


def ticks(chart: Element, unit: str = "%") -> dict[float, float]:
    """Return where the numbers of a figure's axis are written, by number."""
    found = {}
    for one in chart.all("text"):
        if match := re.fullmatch(rf"(−?[\d.]+){re.escape(unit)}", one.text):
            found[value(match[1]) or 0.0] = float(one.attributes["x"])
    return found
