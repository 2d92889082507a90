"""Pages of graphs and of their studies: what they show, whatever is missing or strange in their documents."""

from __future__ import annotations

from typing import Any

import pytest

from jobs.page.graph_figures import bins_of
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
    assert "They are off by" in text, "of triangles there is a bound"


def test_a_trusted_holder_s_page_says_so() -> None:
    document = GRAPHS["central"]()
    text = read(render_graph(document)).text
    assert "all that is published is at most" in text
    assert "Were both ends to report" not in text
    assert "A graph to analyse" not in text
    total = document["result"]["edges"]
    assert f"{total['estimates']:,.0f} ± {total['standard_errors']:.2g}" in text, "noise is whole"


@pytest.mark.parametrize(("made", "drawn"), [(graph, 40), (large, 240)])
def test_every_node_is_drawn_and_of_many_some_together(made: Any, drawn: int) -> None:
    ranked = [
        one
        for one in read(render_graph(made())).all("svg")
        if one.attributes.get("id", "").startswith("ranked")
    ]
    steps = [
        path.attributes["d"]
        for one in ranked
        for path in one.all("path")
        if path.attributes["class"] == "steps"
    ]
    assert [one.count("H") for one in steps] == [drawn, drawn]


def test_of_many_nodes_the_table_holds_some_and_says_so() -> None:
    assert "100 of 20,000 are in this table" in read(render_graph(large())).text


@pytest.mark.parametrize(
    ("values", "step", "nodes"),
    [
        ([0.0], None, [1]),
        ([0.0, 4.0], None, [1, 0, 0, 1]),
        ([1.0, 1.0], 1.0, [2]),
        ([0.0, 47.0], 1.0, [1, *[0] * 22, 1]),
    ],
)
def test_every_node_is_in_one_bin(values: list[float], step: float | None, nodes: list[int]) -> None:
    counts, edges = bins_of(values, step)
    assert counts == nodes
    assert edges[0] < min(values)
    assert edges[-1] >= max(values)


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
    shown = [row for table in page.all("table")[1:3] for row in table.all("tr") if len(row.all("td")) > 1]
    assert len(shown) == len(points)
    assert "rounded to 0 or 1 gives away less" in text
    assert "at ε 1, 2 and 4 no more than 0.832, 1.49 and 2.62" in text
    assert "Cauchy noise" in text
    assert "output, smooth sensitivity" in text
    assert "3 replications" in text
