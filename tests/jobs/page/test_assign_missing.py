"""Whatever a document of assignments holds, its page is made and does nothing."""

from __future__ import annotations

from typing import Any

import pytest

from jobs.page.page import render_assign
from tests.jobs.page.documents import HOSTILE
from tests.jobs.page.missing import STRANGE, assert_clean, paths_of, replaced, without
from tests.jobs.page.reading import read
from tests.jobs.page.test_assign import everything
from tests.jobs.page.test_assign_documents import (
    DISPATCHES,
    assignments,
    hostile_assignments,
)

MOST_BYTES = 400_000


@pytest.mark.parametrize("name", DISPATCHES)
def test_a_page_is_the_same_bytes_again_and_not_too_many(name: str) -> None:
    page = render_assign(DISPATCHES[name]())
    assert page == render_assign(DISPATCHES[name]())
    assert len(page) < MOST_BYTES
    assert_clean(page, ())
    read(page)


def test_every_name_is_shown_as_it_is_and_does_nothing() -> None:
    shown = render_assign(hostile_assignments())
    page = read(shown)
    cut = [text.encode("utf-8", "replace").decode() for text in (HOSTILE[0], HOSTILE[8])]
    for text in cut:
        assert text in page.text
    for name in (
        "\u2068לא עניתי על",
        "\u2068日本語のとても",
        "\u2068WWWWWW",
        "\u2068a label that goes on",
        "(blank)",
    ):
        assert f"≤ {name}" in page.text
    assert page.text.count("\u2068") == page.text.count("\u2069")  # else it would turn what follows around
    assert not page.all("script", "image", "iframe", "object", "form", "foreignobject")
    elements = everything(page)
    assert not [one for one in elements if any(name.startswith("on") for name in one.attributes)]
    ids = [one.attributes["id"] for one in elements if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    links = [one.attributes[key] for one in elements for key in ("href", "src") if key in one.attributes]
    assert {link for link in links if link.removeprefix("#") not in ids} == {"data:,"}
    assert b"http:" not in shown
    assert b"https:" not in shown


@pytest.mark.parametrize("name", DISPATCHES)
def test_links_within_a_page_lead_somewhere(name: str) -> None:
    page = read(render_assign(DISPATCHES[name]()))
    ids = {one.attributes["id"] for one in everything(page) if "id" in one.attributes}
    assert {one.attributes["href"] for one in page.all("a")} <= {f"#{one}" for one in ids}


def test_whatever_is_null_or_not_there_the_page_is_made() -> None:
    made = assignments(leaves=2)
    paths = paths_of(made)
    assert len(paths) > 70
    for path in paths:
        for replace in (True, False):
            page = render_assign(without(made, path, replace))
            assert_clean(page, path)
            read(page)


@pytest.mark.parametrize("strange", STRANGE)
def test_whatever_is_of_another_kind_the_page_is_made(strange: Any) -> None:
    made = assignments(leaves=2)
    for path in paths_of(made["result"], ("result",)):
        read(render_assign(replaced(made, path, strange)))


@pytest.mark.parametrize("made", [{}, {"result": None}, {"result": {"leaves": [], "precision": []}}])
def test_an_empty_document_is_an_empty_page(made: dict[str, Any]) -> None:
    assert not read(render_assign(made)).all("article", "figure")
