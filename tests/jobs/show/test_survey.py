from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from cluster.dataset import open_dataset
from jobs.catalogue import load
from jobs.results import encode
from jobs.show import show_ledger, show_plan, show_result
from tests.jobs.house import House

MARKUP = "[red]x[/red]"
LINK = "[link=http://example.com]y[/link]"
EMOJI = ":skull:"


@pytest.fixture
def marked(house: House) -> House:
    """A house whose every name looks like markup."""
    house.write({"id": [1, 2, 3], MARKUP: [MARKUP, LINK, None]})
    attribute = {"categories": [MARKUP, LINK], "epsilon": 1000, "missing": "category"}
    house.given["attributes"] = {MARKUP: attribute}
    house.given["population"]["name"] = f"{MARKUP} {EMOJI}"
    return house


def test_a_result_is_shown_without_taking_names_for_markup(
    marked: House, capsys: pytest.CaptureFixture[str]
) -> None:
    document, stored = marked.run()
    show_result(document, f"{MARKUP}{EMOJI}", stored)
    shown = capsys.readouterr().out
    assert f"{MARKUP}  (randomized-response, epsilon 1000)" in shown
    assert f"3 respondents of {MARKUP} {EMOJI}, taken as a simple random sample," in shown
    for document_name in ("result.json", "report.html"):
        assert f"{MARKUP}{EMOJI}/{document_name}" in shown.splitlines()
    assert "no answer (of all)" in shown
    for category in (MARKUP, LINK):
        assert any(line.split()[:2] == [category, "0.5000"] for line in shown.splitlines())


def test_a_plan_is_shown_without_taking_names_for_markup(
    marked: House, capsys: pytest.CaptureFixture[str]
) -> None:
    job, spec = load(marked.given)
    planned = job.plan(spec, open_dataset(spec.population.path, "id"))
    show_plan("survey", json.loads(encode(planned)))
    shown = capsys.readouterr().out
    assert any(line.split()[:1] == [MARKUP] for line in shown.splitlines())
    assert "randomize: 3 rows in 1 task" in shown
    assert "epsilon 1000 a respondent, 1000 of it charged" in shown


def test_a_ledger_is_shown_without_taking_names_for_markup(
    marked: House, capsys: pytest.CaptureFixture[str]
) -> None:
    marked.ledger.set_limit(MARKUP, Decimal("2.5"))
    marked.ledger.reserve(MARKUP, "0123456789abcdef", "draw", [(f"{MARKUP}{EMOJI}", Decimal("0.10"))])
    show_ledger(marked.ledger)
    shown = capsys.readouterr().out
    assert f"{MARKUP}: 0.10 spent, limit 2.5" in shown
    assert f"{MARKUP}{EMOJI}" in shown
    assert "0123456789ab " in shown
    assert "reserved" in shown


def test_a_stored_result_says_that_it_cost_nothing(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    house.fill()
    house.run()
    document, stored = house.run()
    show_result(document, "out", stored)
    shown = capsys.readouterr().out
    assert "Stored result: nothing was drawn or charged. epsilon spent on them: 1, with no limit." in shown


@pytest.mark.parametrize("rows", [0, 1])
def test_a_result_without_numbers_is_shown(
    house: House, capsys: pytest.CaptureFixture[str], rows: int
) -> None:
    house.write({"id": list(range(rows)), "smokes": ["no"] * rows})
    document, stored = house.run()
    show_result(document, "out", stored)
    assert f"{rows} respondents of people" in capsys.readouterr().out


@pytest.mark.parametrize("epsilon", [Decimal("1e308"), Decimal("1e400")])
def test_an_epsilon_beyond_all_floats_is_shown(
    house: House, capsys: pytest.CaptureFixture[str], epsilon: Any
) -> None:
    house.fill()
    house.smokes["epsilon"] = epsilon
    document, stored = house.run()
    show_result(document, "out", stored)
    assert "240 respondents" in capsys.readouterr().out


def test_a_long_path_is_shown_in_one_line(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    house.fill()
    path = "/".join(["a-folder-of-results"] * 10)
    show_result(*house.run()[:1], path, False)
    assert f"{path}/result.json" in capsys.readouterr().out.splitlines()
