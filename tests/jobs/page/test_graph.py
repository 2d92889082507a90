"""Pages of graphs and of their studies: what they show, whatever is missing or strange in their documents."""

from __future__ import annotations

from typing import Any

import pytest

from jobs.page.page import render_graph, render_graph_study
from tests.jobs.page.documents import HOSTILE
from tests.jobs.page.graph_documents import GRAPHS, graph, hostile, large, study
from tests.jobs.page.missing import STRANGE, assert_clean, paths_of, replaced, without
from tests.jobs.page.reading import read


@pytest.mark.parametrize("name", GRAPHS)
def test_a_page_is_the_same_each_time_and_small(name: str) -> None:
    page = render_graph(GRAPHS[name]())
    assert page == render_graph(GRAPHS[name]())
    assert len(page) < 400_000
    assert_clean(page, ())


def test_a_graph_s_page_says_what_there_is_and_what_it_costs() -> None:
    document = graph()
    text = read(render_graph(document)).text
    result = document["result"]
    assert f"about {result['edges']['estimates']:,.0f} links" in text
    assert f"{result['triangles']['total']['estimates']:,.0f} triangles" in text
    assert "times as likely as otherwise" in text
    assert "≈ 20" in text
    assert "was merged" in text
    assert f"{result['released']['links']:,} links, as many as are estimated" in text
    assert "lie below zero" in text


def test_a_trusted_holder_s_page_says_so() -> None:
    text = read(render_graph(GRAPHS["central"]())).text
    assert "all that is published is at most" in text
    assert "merged" not in text
    assert "A graph to analyse" not in text


def test_every_node_is_drawn_and_of_many_some_together() -> None:
    marks = [render_graph(one).decode().count("h0") for one in (graph(), large())]
    assert marks == [2 * 40, 2 * 400]
    assert "100 of 5,000 are in this table" in read(render_graph(large())).text


def test_markup_in_names_is_text() -> None:
    page = render_graph(hostile()).decode()
    for name in (HOSTILE[0], HOSTILE[2], HOSTILE[8]):
        assert name in read(page.encode()).text
    assert "<script" not in page


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the figures of studies out, which take long."""
    monkeypatch.setattr("jobs.page.graph_study.draw_errors", lambda *_, **__: "")


@pytest.mark.parametrize("take", [True, False])
@pytest.mark.parametrize(("made", "render"), [(graph, render_graph), (study, render_graph_study)])
def test_whatever_is_missing_the_page_is_clean(made: Any, render: Any, take: bool, undrawn: None) -> None:
    document = made()
    for path in paths_of(document):
        assert_clean(render(without(document, path, take)), path)


@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize(("made", "render"), [(graph, render_graph), (study, render_graph_study)])
def test_whatever_is_of_another_kind_the_page_is_made(
    made: Any, render: Any, strange: Any, undrawn: None
) -> None:
    document = made()
    for path in paths_of(document["result"], ("result",)):
        read(render(replaced(document, path, strange)))


@pytest.mark.parametrize("render", [render_graph, render_graph_study])
def test_an_empty_document_is_an_empty_page(render: Any) -> None:
    for made in ({}, {"result": None}, {"result": {"study": {"points": []}}}):
        assert not read(render(made)).all("figure")


def test_a_study_s_page_shows_both_statistics_with_all_their_numbers() -> None:
    document = study()
    page = read(render_graph_study(document))
    text = page.text
    points = [one for one in document["result"]["study"]["points"] if one["mechanism"] != "zero"]
    assert len(page.all("figure")) == 4
    assert sum(len(table.all("tr")) - 1 for table in page.all("table")[:2]) == len(points)
    assert "Cauchy noise" in text
    assert "output, smooth sensitivity" in text
    assert "3 replications" in text
