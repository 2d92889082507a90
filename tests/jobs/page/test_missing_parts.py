from __future__ import annotations

from typing import Any

import pytest

from jobs.page import render_study, render_survey
from tests.jobs.page.documents import attribute, document, rich
from tests.jobs.page.missing import assert_clean, paths_of, without
from tests.jobs.page.reading import read
from tests.jobs.page.studies import rich_study


def test_whatever_is_null_or_not_there_the_page_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    # Figures are the slow part, and take what is missing in a test of their own.
    monkeypatch.setattr("jobs.page.figures.dots", lambda *_, **__: "")
    paths = paths_of(rich())
    assert len(paths) > 200
    for path in paths:
        for replace in (True, False):
            assert_clean(render_survey(without(rich(), path, replace)), path)


def test_whatever_is_null_or_not_there_the_page_of_a_study_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.page.figures.dots", lambda *_, **__: "")
    monkeypatch.setattr("jobs.page.study_figures.draw_curves", lambda *_, **__: "")
    paths = paths_of(rich_study())
    assert len(paths) > 80
    for path in paths:
        for replace in (True, False):
            assert_clean(render_study(without(rich_study(), path, replace)), path)


def test_a_study_of_nothing_but_nulls_can_be_drawn() -> None:
    made = rich_study()
    for point in made["result"]["study"]["points"]:
        point |= {key: [None] * len(values) for key, values in point.items() if isinstance(values, list)}
        point["guess"] = {}
    shown = render_study(made)
    assert_clean(shown, ())
    assert b"not estimable" in shown


@pytest.mark.parametrize("made", [{}, {"result": None}, {"result": {"attributes": {"a": {}}}}])
def test_an_empty_document_is_an_empty_page(made: dict[str, Any]) -> None:
    read(render_survey(made))
    read(render_study(made))


def test_estimates_that_are_all_null_are_said_to_be_so() -> None:
    shown = read(render_survey(document({"a": attribute(["x", "y"], [None, None], None)})))
    assert not shown.all("article")[0].all("table", "figure")
    assert "The reports do not tell" in shown.text
