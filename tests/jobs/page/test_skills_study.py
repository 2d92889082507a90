"""The page of a study of a tree's error: what it says, draws and leaves out."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs.page.page import render_skills_study
from jobs.page.sheet import settings
from jobs.page.skills_study_figures import Reference, Series, _legible, draw_errors, heights, reach
from jobs.page.skills_study_medians import draw_ranks
from tests.jobs.page.browsing import assert_fits, assert_quiet_and_legible, sheets
from tests.jobs.page.documents import HOSTILE
from tests.jobs.page.missing import assert_clean, paths_of, without
from tests.jobs.page.reading import Element, card_of, marks, read, rows
from tests.jobs.page.skill_studies import NOISE, SIZES, hostile_skills_study, law, least, skills_study

MADE = {"study": skills_study, "least": least, "hostile": hostile_skills_study}


@pytest.fixture(scope="module")
def page() -> Element:
    return read(render_skills_study(skills_study()))


def _section(page: Element, name: str) -> Element:
    (found,) = (one for one in page.all("section") if one.attributes["aria-labelledby"] == name)
    return found


def _chart(page: Element, start: str) -> Element:
    (found,) = (one for one in page.all("svg") if one.attributes.get("aria-label", "").startswith(start))
    return found


def test_what_came_out_is_said_first(page: Element) -> None:
    told = _section(page, "outcome").text.replace("\N{NO-BREAK SPACE}", " ")
    assert (
        "With 10,000 uniform workers, depth 5, 10 bins and ε 1, noise shares of all miscount 1.85 % of them,"
        " 1.34 % once counts are made to agree, and one trusted party’s noise miscounts 1.68 % of them"
        in told
    )
    assert "36 of 36 measured leaf errors have the value that the noise’s law gives" in told
    assert (
        "The deepest medians there, of 625 workers on average, are off by 0.0544 (noise shares of all)"
        in told
    )
    assert "nothing was protected" in page.text


def test_measured_errors_that_disagree_with_the_law_are_counted() -> None:
    made = skills_study()
    for one in made["result"]["study"]["points"][:3]:
        one["predicted"]["raw"] *= 1.5
    told = _section(read(render_skills_study(made)), "outcome").text
    assert "33 of 36 measured leaf errors" in told


def test_leaf_errors_are_drawn_by_each_size_and_by_workers_times_epsilon(page: Element) -> None:
    section = _section(page, "leaves")
    captions = [one.text for one in section.all("figcaption")]
    assert captions == [
        "By ε (10,000 workers, depth 5, 10 bins)",
        "By workers (ε 1, depth 5, 10 bins)",
        "By depth (ε 1, 10,000 workers, 10 bins)",
        "By bins (ε 1, 10,000 workers, depth 5)",
    ]
    # Two mechanisms, raw and consistent, at each of three sizes.
    assert [
        len(marks(chart))
        for chart in section.all("svg")
        if "Leaf errors by" in chart.attributes.get("aria-label", "")
    ] == [12] * 4
    product = card_of(page, "One number tells")
    assert [one.text.strip() for one in product.all("li")][:3] == ["depth 2", "depth 5", "depth 10"]


def test_medians_are_drawn_by_node_by_bins_and_over_one_number(page: Element) -> None:
    assert len(marks(_chart(page, "Rank errors of medians at the base"))) == 3 * 5
    assert len(marks(_chart(page, "Rank errors of medians by the workers of a node, for each"))) == 2 * 3 * 5
    levels = sum(n / 2**row >= 10 for n, depth, *_ in SIZES for row in range(depth))
    assert len(marks(_chart(page, "Rank errors of all medians"))) == 2 * levels + 2  # and two references


def test_all_numbers_stand_in_a_table_beside_the_law(page: Element) -> None:
    (table,) = _section(page, "numbers").all("table")
    body = [row for row in rows(table)[1:] if len(row) > 1]
    assert len(body) == 3 * len(SIZES)
    assert body[0] == [
        *("1,000", "5", "10", "1"),
        *("0.185± 0.0088", "0.176", "0.134± 0.0070", "0.141"),
        *("0.0340", "0.500"),
    ]
    assert body[-1][4:] == ["0", "0", "0", "0", "0.000100", "0.00160"]
    names = [one.text for one in table.all("strong")]
    assert names == ["noise shares of all", "one trusted party’s noise", "no noise"]
    assert math.isclose(law("shares", SIZES[0]), 0.176)


def test_trees_that_there_are_reference_values_of_stand_beside_these(page: Element) -> None:
    (table,) = card_of(page, "One number tells").all("table")
    assert rows(table)[1:] == [
        ["1,000 × 1", "5", "0.185± 0.0088", "0.176", "0.166", "0.134± 0.0070", "0.141", "0.14–0.15"],
        ["10,000 × 0.1", "5", "0.185± 0.0088", "0.176", "0.166", "0.134± 0.0070", "0.141", "0.14–0.15"],
    ]


def test_the_populations_own_tree_has_a_section(page: Element) -> None:
    section = _section(page, "own")
    assert "20,000 workers, depth 6, 10 bins" in section.text
    assert "are not split" not in section.text
    assert [len(marks(chart)) for chart in section.all("svg") if "chart" in chart.attributes["class"]] == [
        12,
        18,
    ]
    (table,) = section.all("table")
    assert len([row for row in rows(table)[1:] if len(row) > 1]) == len(NOISE) * 3
    few = _section(read(render_skills_study(least())), "own")
    assert "fewer than 40 workers are not split" in few.text


def test_what_was_done_is_told(page: Element) -> None:
    told = _section(page, "asked").text
    for text in (
        "noise shares of all, one trusted party’s noise, no noise",
        "0.1, 1, 10",
        "1,000, 10,000, 100,000",
        "3, cut in turn",
        "1.111 times the variance that is due",
    ):
        assert text in told


def test_a_study_of_one_size_without_noise_has_no_figures_of_leaves() -> None:
    page = read(render_skills_study(least()))
    assert not [
        one for one in page.all("section") if one.attributes["aria-labelledby"] in ("leaves", "outcome")
    ]
    assert len(marks(_chart(page, "Rank errors of medians at the base"))) == 5


def test_a_figure_has_its_marks_where_errors_are() -> None:
    series = [
        Series(
            [1.0, 10.0, 100.0], 0, [1.0, 0.1, None], [(0.5, 2.0), (-0.1, 0.2), (None, None)], [1.0, 0.1, 0.01]
        ),
        Series([1.0, 10.0], 1, [0.5, 0.05], is_open=True),
    ]
    crosses = [Reference(10.0, 0.02, 0.02), Reference(100.0, 0.01, 0.03)]
    limits = reach(heights(series, crosses))
    assert limits is not None
    with settings():
        chart = read(
            draw_errors("x", "A figure", series, limits, across="n", up="e", references=crosses).encode()
        )
    points = np.array(marks(chart))
    assert len(points) == 5  # four that were measured, and a cross; a range has none
    x, y = points.T
    assert x[1] - x[0] == pytest.approx(x[3] - x[2], abs=0.01)
    assert x[4] == pytest.approx(x[1], abs=0.01)
    decade = y[1] - y[0]
    assert y[3] - y[2] == pytest.approx(decade, abs=0.01)
    assert y[4] - y[1] == pytest.approx(decade * math.log10(5), abs=0.01)


def test_series_stand_side_by_side_on_a_grid() -> None:
    series = [Series([1.0, 10.0], look, [0.1, 0.1]) for look in range(2)]
    limits = reach(heights(series))
    assert limits is not None
    with settings():
        chart = read(
            draw_errors("x", "A figure", series, limits, across="n", up="e", grid=[1.0, 10.0]).encode()
        )
    x = [place for place, _ in marks(chart)]
    assert x[2] - x[0] == pytest.approx(x[3] - x[1], abs=0.01)
    assert x[2] - x[0] == pytest.approx(7.0, abs=0.01)


def test_marks_of_ranks_stand_side_by_side_over_ticks_at_the_sizes_of_nodes() -> None:
    sizes = [10_000 / 2**row for row in range(5)]
    point = {"medians": [{"workers": size, "rank_error": {"mean": 0.1}} for size in sizes]}
    with settings():
        drawn = draw_ranks("x", "A figure", [point, point], [point, point])
    chart = read(str(drawn).encode())
    places = np.sort(np.array([x for x, _ in marks(chart)]).reshape(4, 5), axis=0)
    assert np.diff(places, axis=0) == pytest.approx(7.0, abs=0.02)
    drawn_ticks = [
        float(found[1])
        for path in chart.all("path")
        if (found := re.fullmatch(r"M ([\d.]+) 240\s+L ([\d.]+) 236\s*", path.attributes.get("d", "")))
    ]
    assert drawn_ticks == pytest.approx(places.mean(axis=0), abs=0.02)
    assert {"10,000", "5,000", "2,500", "1,250", "625"} <= {one.text for one in chart.all("text")}


def test_marks_of_many_levels_leave_room_between_one_level_and_the_next() -> None:
    point = {"medians": [{"workers": 1e4 / 2**row, "rank_error": {"mean": 0.1}} for row in range(14)]}
    with settings():
        chart = read(str(draw_ranks("x", "A figure", [point] * 3, [point] * 3)).encode())
    places = np.sort(np.array([x for x, _ in marks(chart)]).reshape(6, 14), axis=0)
    assert (places[0, 1:] - places[-1, :-1]).min() > 0
    written = [one.text for one in chart.all("text")]
    assert "10,000" in written
    assert "5,000" not in written  # there is no room beside the other


def test_numbers_of_an_axis_stand_clear_of_each_other() -> None:
    columns = [(float(at), "10,000") for at in range(0, 60, 10)]
    assert _legible(columns, 1.0) == [columns[0], columns[5]]  # a number is 37 wide
    assert _legible(columns, 0.1) == columns
    assert _legible([], 1.0) == []


def test_an_axis_reaches_all_that_is_positive() -> None:
    assert reach([None, 0.0, -1.0]) is None
    low, high = reach([0.01, 10.0, None, 0.0]) or (0.0, 0.0)
    assert -2.3 < low < -2 < 1 < high < 1.3
    low, high = reach([1.0]) or (0.0, 0.0)
    assert low < 0 < high


def test_a_page_is_the_same_for_the_same_document() -> None:
    assert render_skills_study(skills_study()) == render_skills_study(skills_study())


def test_no_text_of_a_document_becomes_markup_or_a_reference() -> None:
    shown = render_skills_study(hostile_skills_study())
    page = read(shown)
    assert not page.all("script", "img", "iframe")
    assert b"onload=alert(1)>" not in shown
    assert HOSTILE[8] in page.text
    for link in re.findall(rb'(?:href|src)="([^"]*)"', shown):
        assert link.startswith((b"#", b"data:"))


def test_whatever_is_null_or_not_there_the_page_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    # Figures are the slow part, and take what is missing in a test of their own.
    for module in ("skills_study", "skills_study_medians"):
        monkeypatch.setattr(f"jobs.page.{module}.draw_errors", lambda *_, **__: "")
    few = skills_study()
    found = few["result"]["study"]
    found["points"] = [one for one in found["points"] if one["mechanism"] != "central"][::4]
    found["own"]["points"] = found["own"]["points"][2:3]
    for one in (*found["points"], *found["own"]["points"]):
        one["medians"] = one["medians"][:1]
    paths = paths_of(few)
    assert len(paths) > 100
    for path in paths:
        for replace in (True, False):
            assert_clean(render_skills_study(without(few, path, replace)), path)


def test_figures_take_what_is_missing() -> None:
    made = skills_study()
    found = made["result"]["study"]
    for place, point in enumerate([*found["points"], *found["own"]["points"]]):
        point[("raw", "consistent", "predicted", "medians", "epsilon")[place % 5]] = None
        if point["raw"]:
            point["raw"][("mean", "interval")[place % 2]] = None
    assert_clean(render_skills_study(made), ())
    for point in found["points"]:
        point["medians"] = [{"workers": 10.0, "rank_error": {"mean": 0.0}}]
    assert_clean(render_skills_study(made), ())


@pytest.mark.parametrize("made", [{}, {"result": None}, {"result": {"study": {"points": [{}], "own": 3}}}])
def test_an_empty_document_is_an_empty_page(made: dict[str, Any]) -> None:
    assert not read(render_skills_study(made)).all("table")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("studies")
    found = {name: folder / f"{name}.html" for name in MADE}
    for name, path in found.items():
        path.write_bytes(render_skills_study(MADE[name]()))
    return found


@pytest.mark.parametrize("name", ["study", "hostile"])
@pytest.mark.parametrize("media", ["light", "dark", "print"])
def test_a_page_is_quiet_and_legible(browser: Any, written: dict[str, Path], name: str, media: str) -> None:
    assert_quiet_and_legible(browser, written[name], media, texts=40)


@pytest.mark.parametrize("name", MADE)
def test_nothing_is_wider_than_the_window_and_every_figure_can_be_seen(
    browser: Any, written: dict[str, Path], name: str
) -> None:
    assert_fits(browser, written[name])


@pytest.mark.parametrize("name", MADE)
def test_a_page_can_be_printed_within_the_paper(browser: Any, written: dict[str, Path], name: str) -> None:
    assert 1 <= sheets(browser, written[name]) <= 10
