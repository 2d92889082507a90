from __future__ import annotations

import itertools
import re
from functools import cache
from typing import Any

import numpy as np
import pytest

from jobs.page.page import render_skills
from tests.jobs.page.documents import HOSTILE
from tests.jobs.page.missing import STRANGE, assert_clean, paths_of, replaced, without
from tests.jobs.page.reading import Element, card_of, read, rows, value
from tests.jobs.page.skill_trees import (
    NAMES,
    TREES,
    deep,
    hostile_skills,
    noisy,
    plane,
    root,
    skills,
)

MOST_BYTES = 2_000_000
"""As `render_skills` promises."""


@cache
def _deep() -> bytes:
    """Return the page of a tree of 1,024 leaves that cuts ten of twelve dimensions."""
    return render_skills(deep())


def _everything(element: Element) -> list[Element]:
    inside = [one for one in element.inside if isinstance(one, Element)]
    return inside + [inner for one in inside for inner in _everything(one)]


def _of_class(page: Element, look: str) -> list[Element]:
    return [one for one in _everything(page) if look in one.attributes.get("class", "").split()]


def test_every_two_of_the_dimensions_that_are_cut_can_be_chosen() -> None:
    page = read(_deep())
    choices = [one for one in page.all("input") if one.attributes["type"] == "radio"]
    expected = [f"{a} and {b}" for a, b in itertools.combinations(NAMES[:10], 2)]
    assert [one.attributes["aria-label"] for one in choices] == expected
    assert sum("checked" in one.attributes for one in choices) == 1
    used = [one.attributes["href"] for one in page.all("use") if one.attributes["href"].startswith("#boxes-")]
    assert used == [f"#boxes-{k}" for k in range(1, 46)]
    assert "The tree does not cut surveying and teaching: it tells nothing of them." in page.text


def test_what_is_cut_but_not_drawn_is_named() -> None:
    text = read(render_skills(deep(depth=11, workers=2500))).text
    assert "Not drawn: 1 more skill that the tree cuts, surveying." in text
    assert "The tree does not cut teaching: it tells nothing of it." in text
    assert "The lowest 1 levels are not drawn" not in text
    assert "The lowest level is not drawn" in text


@pytest.mark.parametrize("name", TREES)
def test_a_page_is_the_same_bytes_again_and_not_too_many(name: str) -> None:
    made = TREES[name]()
    page = _deep() if name == "deep" else render_skills(made)
    assert page == render_skills(made)
    assert len(page) < MOST_BYTES
    read(page)


@pytest.mark.parametrize("dimensions", [2, 12])
def test_noise_does_not_make_a_page_too_long(dimensions: int) -> None:
    assert len(render_skills(deep(dimensions, 10, workers=2000, noise=300.0))) < MOST_BYTES


def test_boxes_of_two_dimensions_are_drawn_where_they_are_with_their_counts() -> None:
    made = plane()
    page = read(render_skills(made))
    (outline,) = _of_class(page, "outline")
    drawn = {
        tuple(map(int, found))
        for found in re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)H\d+z", outline.attributes["d"])
    }
    expected = set()
    for leaf in made["result"]["leaves"]:
        (left, right), (low, high) = ([round(1000 * end) for end in leaf["box"][name]] for name in NAMES[:2])
        expected.add((left, 1000 - high, right - left, high - low))
    assert drawn == expected
    (figure,) = [one for one in page.all("svg") if "leaves by" in one.attributes.get("aria-label", "")]
    written = sorted(one.text for one in _of_class(figure, "count"))
    assert written == sorted(f"{leaf['consistent_count']:.0f}" for leaf in made["result"]["leaves"])


def test_leaves_counts_are_drawn_at_their_heights_with_a_standard_error_either_way() -> None:
    made = plane()
    page = read(render_skills(made))
    (chart,) = [one for one in page.all("svg") if one.attributes.get("id") == "tree-chart"]
    leaves = made["result"]["leaves"]
    for look, key, error in (
        ("raw", "count", "standard_error"),
        ("consistent", "consistent_count", "consistent_standard_error"),
    ):
        dots, bars = (
            next(
                one for one in chart.all("path") if one.attributes.get("class") == f"{look} {what}"
            ).attributes["d"]
            for what in ("dots", "bars")
        )
        heights = [float(y) for _, y in re.findall(r"M([\d.]+) ([\d.]+)h0", dots)]
        values = [leaf[key] for leaf in leaves]
        slope, start = np.polyfit(values, heights, 1)
        assert heights == pytest.approx(np.array(values) * slope + start, abs=0.15)
        ends = [
            (float(low) - float(high)) / 2 for low, high in re.findall(r"M[\d.]+ ([\d.]+)V([\d.]+)", bars)
        ]
        assert ends == pytest.approx([-slope * leaf[error] for leaf in leaves], abs=0.15)


def test_the_table_of_leaves_holds_what_the_document_does_the_largest_first() -> None:
    made = plane()
    (table,) = card_of(read(render_skills(made)), "Leaves, the largest first").all("table")[:1]
    shown = [[value(cell) for cell in (row[0], *row[2:6])] for row in rows(table)]
    leaves = sorted(made["result"]["leaves"], key=lambda leaf: -leaf["consistent_count"])
    assert len(shown) == len(leaves)
    for row, leaf in zip(shown, leaves, strict=True):
        assert row[:3] == [leaf["id"], leaf["count"], leaf["standard_error"]]
        assert row[3:] == pytest.approx(
            [leaf["consistent_count"], leaf["consistent_standard_error"]], abs=0.051
        )


def test_long_tables_are_cut_and_say_so() -> None:
    text = read(_deep()).text
    assert "256 of 1,024 are in this table: all are in leaves.parquet." in text
    assert "256 of 1,023 are in this table: all are in result.json." in text


def test_levels_have_their_parts_of_epsilon_as_bars_one_after_the_other() -> None:
    made = plane()
    page = read(render_skills(made))
    (section,) = [one for one in page.all("section") if one.attributes["aria-labelledby"] == "levels"]
    shown = rows(section.all("table")[0])[1:]
    budget = made["result"]["budget"]
    assert [row[0] for row in shown] == ["4", "3", "2", "1", "0"]
    assert [row[1] for row in shown] == ["welding", "first aid", "welding", "first aid", "–"]
    assert [row[2] for row in shown] == ["1", "2", "4", "8", "16"]
    largest = max(float(one["counts"]) + float(one["median"] or 0) for one in budget)
    for row, one in zip(section.all("tr")[1:], budget, strict=True):
        bars = row.all("rect")
        counts, medians = (float(bar.attributes["width"].rstrip("%")) for bar in bars)
        assert counts == pytest.approx(100 * float(one["counts"]) / largest, abs=0.006)
        assert medians == pytest.approx(100 * float(one["median"] or 0) / largest, abs=0.006)
        assert bars[1].attributes["x"] == bars[0].attributes["width"]


def test_where_noise_leaves_nobody_boxes_are_not_shaded_and_it_is_said() -> None:
    page = read(render_skills(noisy()))
    assert "All leaves together are estimated to hold nobody" in page.text
    assert not [one for one in page.all("h3") if one.text == "One skill at a time"]
    assert "Some counts lie below zero. That is no mistake" in page.text


def test_a_tree_that_is_not_cut_has_no_boxes_but_its_count() -> None:
    page = read(render_skills(root()))
    assert not [one for one in page.all("h2") if one.text == "Leaves, by skills"]
    assert rows(card_of(page, "Leaves, the largest first").all("table")[0])[0][1] == "everybody"


def test_every_name_is_shown_as_it_is_and_does_nothing() -> None:
    shown = render_skills(hostile_skills())
    page = read(shown)
    cut = [text.encode("utf-8", "replace").decode().strip() or "(blank)" for text in HOSTILE[:5]]
    assert {one.text for one in page.all("figcaption")} >= set(cut)
    assert not page.all("script", "image", "iframe", "object", "form", "foreignobject")
    everything = _everything(page)
    assert not [one for one in everything if any(name.startswith("on") for name in one.attributes)]
    ids = [one.attributes["id"] for one in everything if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    links = [one.attributes[key] for one in everything for key in ("href", "src") if key in one.attributes]
    links += re.findall(r"url\(([^)]*)\)", shown.decode())
    assert {link for link in links if link.removeprefix("#") not in ids} == {"data:,"}
    assert b"http:" not in shown
    assert b"https:" not in shown


def test_whatever_is_null_or_not_there_the_page_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.page.skills.draw_steps", lambda *_, **__: "")  # the slow part
    made = skills(NAMES[:3], 2, workers=60)
    paths = paths_of(made)
    assert len(paths) > 100
    for path in paths:
        for replace in (True, False):
            page = render_skills(without(made, path, replace))
            assert_clean(page, path)
            read(page)


@pytest.mark.parametrize("strange", STRANGE)
def test_whatever_is_of_another_kind_the_page_is_made(strange: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.page.skills.draw_steps", lambda *_, **__: "")
    made = skills(NAMES[:2], 1, workers=60)
    for path in paths_of(made["result"], ("result",)):
        read(render_skills(replaced(made, path, strange)))


@pytest.mark.parametrize("made", [{}, {"result": None}, {"result": {"nodes": [], "leaves": []}}])
def test_an_empty_document_is_an_empty_page(made: dict[str, Any]) -> None:
    assert not read(render_skills(made)).all("article", "figure")
