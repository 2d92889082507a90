"""The page of a study of decisive margins: what it says, draws and leaves out."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs.page.election_study_figures import Line, draw_margins, reach
from jobs.page.page import render_election_study
from jobs.page.sheet import settings
from tests.jobs.page.browsing import assert_fits, assert_quiet_and_legible, sheets
from tests.jobs.page.documents import HOSTILE
from tests.jobs.page.election_studies import (
    BALLOTS,
    SIZES,
    failing,
    hostile_election_study,
    study,
)
from tests.jobs.page.missing import assert_clean, paths_of, without
from tests.jobs.page.reading import Element, card_of, marks, read, rows, value

MADE = {"study": study, "failing": failing, "hostile": hostile_election_study}


@pytest.fixture(scope="module")
def page() -> Element:
    return read(render_election_study(study()))


def _section(page: Element, name: str) -> Element:
    (found,) = (one for one in page.all("section") if one.attributes["aria-labelledby"] == name)
    return found


def _table(page: Element, name: str) -> list[list[str]]:
    (found,) = _section(page, name).all("table")
    return rows(found)


def test_what_came_out_is_said_first(page: Element) -> None:
    told = _section(page, "outcome").text
    assert (
        "With 4,000 ballots, 4 candidates and ε 1, the central model needs a margin of 4.0,"
        " the local model in one round needs a margin of 253,"
        " and the local model in rounds needs a margin of 63." in told
    )
    # Of 5 x 7 first families and 2 x 7 of a proof's, those of 1,000 ballots are not decisive at any margin.
    assert "47 of 47 measured margins agree with what is proved" in told
    assert "2 more series were not decisive" in told
    assert "3 of 3 of the paper’s statements" in told
    assert "nothing was protected" in page.text


def test_a_margin_above_what_is_proved_is_told() -> None:
    made = study()
    made["result"]["study"]["points"][0]["families"][0] |= {"margin": 9.0, "low": 7.0}
    told = _section(read(render_election_study(made)), "outcome").text
    assert "46 of 47 measured margins agree" in told


def test_table_1_has_the_papers_rates_beside_what_was_measured(page: Element) -> None:
    table = [row for row in _table(page, "table") if len(row) > 10]
    assert [row[:4] for row in table] == [
        ["Plurality", "central", "log\xa0m", "log\xa0m"],
        ["", "one\xa0round", "√n", "√n"],
        ["Condorcet", "central", "log\xa0m", "log\xa0m"],
        ["", "one\xa0round", "m\xa0√n", "m\xa0√n"],
        ["", "rounds", "√(m\xa0n)", "√n"],
    ]
    one_round = table[3]
    root = math.sqrt(4000)
    assert one_round[4:8] == ["0.50", "½", "× 2.00", "× 0.25"]
    shown = [value(text) for text in one_round[8:]]
    np.testing.assert_allclose(shown, [4 * root, 6 * root, 16 * root, 36 * root], rtol=5e-3)
    assert table[0][9] == "–"  # a packing is the proof's own


@pytest.mark.parametrize("size", ["ballots", "candidates", "epsilon"])
@pytest.mark.parametrize("rule", ["Plurality", "Condorcet"])
def test_marks_are_where_margins_are_on_logarithmic_axes(page: Element, rule: str, size: str) -> None:
    place = ["ballots", "candidates", "epsilon"].index(size)
    chart = card_of(page, rule).all("svg")[place]
    points = [
        one
        for one in study()["result"]["study"]["points"]
        if one["rule"] == rule.lower() and all(one[name] == at for name, at in _base(but=size).items())
    ]
    expected = sorted(
        math.log10(kind["largest_tried"] if kind["margin"] is None else kind["margin"])
        for one in points
        for kind in one["families"]
    )
    heights = sorted(-y for _, y in marks(chart))
    assert len(heights) == len(expected)
    slope, start = np.polyfit(expected, heights, 1)
    assert slope > 0
    np.testing.assert_allclose(heights, np.array(expected) * slope + start, atol=0.05)


def _base(but: str) -> dict[str, float]:
    return {
        name: at for name, at in {"ballots": 4000, "candidates": 4, "epsilon": 1.0}.items() if name != but
    }


def test_a_figures_axis_names_every_size_of_the_grid(page: Element) -> None:
    charts = card_of(page, "Condorcet").all("svg")
    texts = [{one.text for one in chart.all("text")} for chart in charts]
    assert {"1,000", "4,000", "16,000", "ballots", "margin of victory"} <= texts[0]
    assert {"3", "4", "6", "candidates"} <= texts[1]
    assert {"0.5", "1", "2", "ε"} <= texts[2]


def test_the_figures_of_a_rule_share_one_scale() -> None:
    with settings():
        lines = [Line([10.0, 1000.0], 0, "measured")]
        limits = reach([*lines, Line([1.0, None], None, "lower")])
        assert limits is not None
        np.testing.assert_allclose(limits, (-0.08, 3.08))
        chart = draw_margins("a", "b", [1.0, 2.0], lines, limits, across="x", up="y")
    (low, high) = (y for _, y in sorted(marks(read(chart.encode()))))
    assert (low - high) / (300 - 30 - 46) == pytest.approx(2 / 3.16, abs=0.01)
    assert reach([Line([None, 0.0], 0, "measured")]) is None


def test_all_numbers_of_a_rule_are_in_a_table(page: Element) -> None:
    table = rows(card_of(page, "Condorcet").all("table")[0])
    assert len(table) == 7 + 2 * 2 * 7
    short = next(row for row in table if row[4].startswith("two-way") and row[1] == "1,000")
    assert short[5] == "above 100"
    assert short[9] == "61(25), 80(50), 97(100)"


def test_where_rounds_would_not_help_it_is_said(page: Element) -> None:
    assert "Rounds would not help" in card_of(page, "Plurality").text
    assert "Rounds would not help" not in card_of(page, "Condorcet").text


def test_the_own_election_is_told_by_model_and_epsilon(page: Element) -> None:
    own = _section(page, "own")
    assert (
        "30,000 ballots, 6 candidates, single transferable vote: Ana Muñoz wins by a margin of 1,726"
        in own.text
    )
    table = _table(page, "own")
    assert len(table) == 9
    assert table[3] == ["local model in one round", "0.5", "79.0", "70.0 to 86.0", "5,000"]


def test_checks_are_told_claim_by_claim_and_one_that_fails_as_it_is(page: Element) -> None:
    table = _table(page, "profiles")
    assert table[0] == ["Condorcet", "6 records", "36", "1.5", "2", "yes"]
    failed = _table(read(render_election_study(failing())), "profiles")
    assert failed[-1][-1] == "no: in 35 of 36"
    assert "nobody wins" in _section(read(render_election_study(failing())), "own").text


def test_a_page_is_the_same_for_the_same_document() -> None:
    assert render_election_study(study()) == render_election_study(study())


def test_no_text_of_a_document_becomes_markup_or_a_reference() -> None:
    shown = render_election_study(hostile_election_study())
    page = read(shown)
    assert not page.all("script", "img", "iframe")
    assert b"onload=alert(1)>" not in shown
    assert HOSTILE[8] in page.text
    for link in re.findall(rb'(?:href|src)="([^"]*)"', shown):
        assert link.startswith((b"#", b"data:"))


def test_whatever_is_null_or_not_there_the_page_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    # Figures are the slow part, and take what is missing in a test of their own.
    monkeypatch.setattr("jobs.page.figures.dots", lambda *_, **__: "")
    monkeypatch.setattr("jobs.page.election_study_rules.draw_margins", lambda *_, **__: "")
    few = study(("condorcet",))
    found = few["result"]["study"]
    found["points"] = [one for one in found["points"] if one["ballots"] != 4000 or one["epsilon"] == 2.0]
    found["own"]["points"] = found["own"]["points"][:2]
    paths = paths_of(few)
    assert len(paths) > 100
    for path in paths:
        for replace in (True, False):
            assert_clean(render_election_study(without(few, path, replace)), path)


def test_figures_take_what_is_missing() -> None:
    made = study()
    for place, point in enumerate(made["result"]["study"]["points"]):
        point[("bound", "paper", "lower", "epsilon")[place % 4]] = None
        for family in point["families"]:
            family[("margin", "low", "largest_tried")[place % 3]] = None
    assert_clean(render_election_study(made), ())
    for point in made["result"]["study"]["points"]:
        point["families"] = []
    assert_clean(render_election_study(made), ())


@pytest.mark.parametrize("made", [{}, {"result": None}, {"result": {"study": {"points": [{}], "own": 3}}}])
def test_an_empty_document_is_an_empty_page(made: dict[str, Any]) -> None:
    assert not read(render_election_study(made)).all("table")


def test_a_study_of_one_size_has_no_figures() -> None:
    made = study()
    found = made["result"]["study"]
    found["points"] = [one for one in found["points"] if (one["ballots"], one["candidates"]) == (4000, 4)]
    found["points"] = [one for one in found["points"] if one["epsilon"] == 1.0]
    page = read(render_election_study(made))
    assert not card_of(page, "Condorcet").all("figure")
    assert len(found["points"]) == 5


def test_the_made_up_study_is_a_grid() -> None:
    assert len(set(SIZES)) == 7
    assert {n for n, *_ in SIZES} == set(BALLOTS)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("studies")
    found = {name: folder / f"{name}.html" for name in MADE}
    for name, path in found.items():
        path.write_bytes(render_election_study(MADE[name]()))
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
