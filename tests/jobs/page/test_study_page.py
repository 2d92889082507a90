from __future__ import annotations

import copy
import itertools
import math
import re
from typing import Any

import pytest

from jobs.page import render_study
from tests.jobs.page.documents import HOSTILE
from tests.jobs.page.reading import Element, marks, read, resolution, rows, ticks, value
from tests.jobs.page.studies import EPSILONS, MECHANISMS, hostile_study, rich_study, study

COLUMNS = [
    "empirical_standard_error",
    "predicted_standard_error",
    "mean_estimated_standard_error",
    "root_mean_squared_error",
]


@pytest.fixture(scope="module")
def written() -> bytes:
    return render_study(rich_study())


@pytest.fixture(scope="module")
def page(written: bytes) -> Element:
    return read(written)


def _section(page: Element, name: str) -> Element:
    (found,) = (one for one in page.all("section") if one.attributes["aria-labelledby"] == name)
    return found


def _card(page: Element, section: str, heading: str) -> Element:
    (card,) = (one for one in _section(page, section).all("article") if one.all("h3")[0].text == heading)
    return card


def _number(text: str) -> float:
    """Return a number that is shown, in whatever way."""
    power = re.fullmatch(r"(.*) × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text)
    if power is None:
        return value(text) or 0.0
    return float(power[1]) * 10.0 ** int(power[2].translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))


def _assert_shown(text: str, expected: float | None, digits: float = 2e-3) -> None:
    if expected is None:
        assert text == "not estimable"
    else:
        # Three digits that tell, or the decimals that are written, where these are fewer.
        room = 1.001 * resolution(text) if "×" not in text else 0.0
        assert _number(text) == pytest.approx(expected, rel=5 * digits, abs=room)


def test_what_came_out_is_counted(page: Element) -> None:
    told = _section(page, "outcome").text
    expected = (
        "Randomized response had the smaller root mean squared error at 4 of 4 epsilons for the proportions"
        " of ldl, the proportions of smokes, and the entropy of ldl. Randomized response had the smaller root"
        " mean squared error at 3 of 3 epsilons for the chi-square of ldl and smokes."
    )
    assert expected in told


def test_whoever_is_better_is_named_and_a_tie_is_nobodys() -> None:
    made = rich_study()
    points = made["result"]["study"]["points"]
    for ours, theirs in _in_pairs(points):
        ours["root_mean_squared_error"][6] = 2.0 if ours["epsilon"] > 1 else 1.0
        theirs["root_mean_squared_error"][6] = 1.0
    told = _section(read(render_study(made)), "outcome").text
    assert (
        "The Laplace mechanism had the smaller root mean squared error at 2 of 4 epsilons for the entropy"
        in told
    )


def _in_pairs(points: list[Any]) -> list[tuple[Any, Any]]:
    return list(zip(points[::2], points[1::2], strict=True))


def test_many_outcomes_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.page.figures.dots", lambda *_, **__: "")
    monkeypatch.setattr("jobs.page.study_figures.draw_curves", lambda *_, **__: "")
    made = study({f"a{k}": ["no", "yes"] for k in range(7)}, [])
    told = _section(read(render_study(made)), "outcome").text
    assert "Of 28 comparisons" in told
    assert (
        "randomized response had the smaller root mean squared error in 28 and the Laplace mechanism" in told
    )


def test_it_is_said_that_nothing_was_protected(page: Element) -> None:
    (told,) = (one for one in page.all("div") if "guarantee" in one.attributes.get("class", ""))
    assert "This population is public: nothing was protected" in told.text
    assert "248 respondents, asked 200 times at each of 4 epsilons from 0.5 to 4" in page.text


@pytest.mark.parametrize(("name", "first", "size"), [("ldl", 0, 4), ("smokes", 4, 2)])
def test_every_number_of_proportions_is_that_of_the_study(
    page: Element, name: str, first: int, size: int
) -> None:
    given = rich_study()["result"]["study"]
    (details,) = _card(page, "proportions", name).all("details")
    shown = rows(details.all("table")[0])
    assert len(shown) == size * len(given["points"])
    for k, row in enumerate(shown):
        at, rest = divmod(k, size * len(MECHANISMS))
        category, mechanism = divmod(rest, len(MECHANISMS))
        point, place = given["points"][at * len(MECHANISMS) + mechanism], first + category
        assert (float(row[0]), row[1]) == (point["epsilon"], given["quantities"][place]["category"])
        assert row[2] == ["randomized response", "Laplace mechanism"][mechanism]
        for text, expected in zip(row[3:5], [given["truth"][place], point["mean"][place]], strict=True):
            assert value(text) == pytest.approx(100 * expected, abs=1.001 * resolution(text))
        for text, column in zip(row[5:], COLUMNS, strict=True):
            _assert_shown(text, 100 * point[column][place])


@pytest.mark.parametrize(("heading", "place"), [("Entropy of ldl", 6), ("Chi-square of ldl and smokes", 7)])
def test_every_number_of_a_statistic_is_that_of_the_study(page: Element, heading: str, place: int) -> None:
    points = rich_study()["result"]["study"]["points"]
    shown = rows(_card(page, "statistics", heading).all("table")[0])
    assert len(shown) == len(points)
    for row, point in zip(shown, points, strict=True):
        _assert_shown(row[2], point["mean"][place])
        for text, column in zip(row[3:7], COLUMNS, strict=True):
            _assert_shown(text, point[column][place])
        assert row[7:] == ([str(point["finite"][place])] if place == 7 else [])


def test_marks_of_proportions_lie_where_the_means_are_and_huge_errors_are_cut_off(page: Element) -> None:
    given = rich_study()["result"]["study"]
    figures = _card(page, "proportions", "ldl").all("figure")[:3]
    assert [one.all("figcaption")[0].text for one in figures] == ["ε 0.5", "ε 2", "ε 4"]
    for figure, first in zip(figures, (0, 4, 6), strict=True):
        at = ticks(figure)
        (one, x1), (other, x2) = min(at.items()), max(at.items())
        seen = sorted((one + (x - x1) * (other - one) / (x2 - x1)) / 100 for x, _ in marks(figure))
        expected = [mean for point in given["points"][first : first + 2] for mean in point["mean"][:4]]
        # Eight bars go on at both ends at the smallest epsilon: those of the Laplace mechanism.
        arrows = [-0.5] * 4 + [1.5] * 4 if first == 0 else []
        assert seen == pytest.approx(sorted(expected + arrows), abs=2e-3)
        assert ("Arrowheads: the Laplace mechanism, beyond −50 % or 150 %." in figure.text) == (first == 0)


def test_truths_are_strokes_and_each_mechanism_has_its_standard_errors(page: Element) -> None:
    for figure in _card(page, "proportions", "smokes").all("figure")[:3]:
        strokes = [
            one for one in figure.all("path") if "stroke: var(--ink)" in one.attributes.get("style", "")
        ]
        assert len(strokes) == 2
    captions = [one.text for one in _card(page, "statistics", "Entropy of ldl").all("figcaption")]
    assert captions == [
        "Estimate",
        "Standard errors, randomized response",
        "Standard errors, Laplace mechanism",
    ]
    found = "within a quarter of the empirical one at 4 of 4 epsilons under randomized response and at 4 of 4"
    assert found in _card(page, "statistics", "Entropy of ldl").text


def test_standard_errors_far_from_any_empirical_one_are_cut_off_and_it_is_said(page: Element) -> None:
    ours, theirs = _card(page, "statistics", "Chi-square of ldl and smokes").all("figure")[1:]
    assert "Arrowheads" not in ours.text
    assert "Arrowheads: more than ten times the largest" in theirs.text


def test_guesses_are_shown_against_a_guess_without_a_report(page: Element) -> None:
    card = _card(page, "guesses", "smokes")
    assert f"Without a report {100 * (1 - 5 / 9):.1f} % of guesses are wrong" in card.text
    points = rich_study()["result"]["study"]["points"]
    for row, (ours, theirs) in zip(rows(card.all("table")[0]), _in_pairs(points), strict=True):
        assert float(row[0]) == ours["epsilon"]
        for text, point in zip(row[1:], (ours, theirs), strict=True):
            assert value(text) == pytest.approx(100 * point["guess"]["smokes"]["mean_error"], abs=0.0051)
    by_answer = rows(card.all("table")[1])
    assert by_answer[0][2:] == ["22.5", "23.5"]


def test_a_mechanism_without_guesses_is_passed_over_and_named() -> None:
    made = rich_study()
    for point in made["result"]["study"]["points"][1::2]:
        point["mechanism"], point["guess"] = "subset-selection", {}
    card = _card(read(render_study(made)), "guesses", "ldl")
    assert "Not followed for subset selection" in card.text
    assert "not estimable" not in card.text


def test_theorems_say_where_they_hold(page: Element) -> None:
    told = _section(page, "theorems").text
    assert "Theorem 4 was found to hold on average in 4 of 4 checks, and for every category in 3" in told
    assert "(not for >=130 of ldl at ε 0.5)" in told
    assert "Theorem 2 was found to hold on average in 4 of 4 checks, and for every category in 4." in told
    assert "For more than two categories theorem 3 is not proved" in told
    assert (
        "What the paper expects of more than two categories in place of theorem 3 was found to hold" in told
    )
    table = rows(_card(page, "theorems", "ldl").all("table")[0])[-len(EPSILONS) :]
    assert table[0] == ["0.5", "67.50", "70.75", "yes", "no: not >=130", "0.6750", "0.7075", "yes", "yes"]


def test_what_fails_is_said_to_fail() -> None:
    made = rich_study()
    for one in made["result"]["study"]["theorems"]:
        one |= {"holds_on_average": False, "holds_for_every_cell": False, "cells_where_not": [0, 9]}
    shown = read(render_study(made))
    assert (
        "Theorem 2 was found to hold on average in 0 of 4 checks, and for every category in 0" in shown.text
    )
    row = rows(_card(shown, "theorems", "smokes").all("table")[0])[-1]
    assert row[3:5] == ["no", "no: not no, no answer"]


def test_without_theorems_there_is_no_section_of_them() -> None:
    made = rich_study()
    made["result"]["study"]["theorems"] = []
    assert "theorems" not in [
        one.attributes["aria-labelledby"] for one in read(render_study(made)).all("section")
    ]


def test_the_true_epsilon_is_shown_where_it_is_smaller(page: Element) -> None:
    table = _section(page, "limits").all("table")[0]
    assert [one.text for one in table.all("th")][:2] == ["parameter ε", "Laplace mechanism: ldl and smokes"]
    assert rows(table) == [[f"{at:g}", f"{0.95 * at:.4f}"] for at in EPSILONS]


@pytest.mark.parametrize("mechanisms", [["laplace"], [*MECHANISMS, "subset-selection", "optimized-unary"]])
@pytest.mark.parametrize("epsilons", [[1.0], [0.01, 3.0]])
def test_any_grid_has_its_page(mechanisms: list[str], epsilons: list[float]) -> None:
    made = study({"a": ["no", "yes"]}, [("entropy", ["a"], 0.9)], epsilons=epsilons, mechanisms=mechanisms)
    shown = read(render_study(made))
    dots = _card(shown, "proportions", "a").all("figure")[0]
    assert len(marks(dots)) >= 2 * len(mechanisms)
    assert len(rows(_card(shown, "statistics", "Entropy of a").all("table")[0])) == len(mechanisms) * len(
        epsilons
    )


def test_an_epsilon_is_in_its_place_whatever_its_order_and_a_document_stays_as_it_was(written: bytes) -> None:
    made, turned = rich_study(), rich_study()
    turned["result"]["study"]["points"] = [
        point for pair in reversed(_in_pairs(made["result"]["study"]["points"])) for point in pair
    ]
    given = copy.deepcopy(turned)
    assert render_study(turned) == written
    assert turned == given


def test_every_text_of_a_study_is_shown_as_it_is_and_does_nothing() -> None:
    shown = render_study(hostile_study())
    page = read(shown)
    assert not page.all("script", "image", "iframe", "object", "form", "foreignobject", "img")
    everything = page.all(*{match.decode().lower() for match in re.findall(rb"<([a-zA-Z0-9]+)", shown)})
    assert not [one for one in everything if any(name.startswith("on") for name in one.attributes)]
    ids = [one.attributes["id"] for one in everything if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    written = [text.encode("utf-8", "replace").decode().strip() or "(blank)" for text in HOSTILE]
    labels = [row[1] for row in rows(page.all("details")[0].all("table")[0])]
    assert list(dict.fromkeys(labels)) == written
    references = re.findall(r'(?:href="|url\()#?([^")]*)', shown.decode())
    assert set(references) <= {*ids, "data:,"}
    assert b"http:" not in shown
    assert b"https:" not in shown


def test_headings_of_a_study_are_in_order_and_figures_have_names(page: Element) -> None:
    levels = [int(one.tag[1]) for one in page.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    named = [one.attributes["aria-label"] for one in page.all("svg") if one.attributes.get("role") == "img"]
    assert len(named) == len(set(named)) >= 15
    assert all(
        one.attributes.get("aria-hidden") == "true" for one in page.all("svg") if "role" not in one.attributes
    )


def test_errors_over_categories_are_the_root_of_their_mean_square(page: Element) -> None:
    points = rich_study()["result"]["study"]["points"]
    table = rows(_card(page, "proportions", "smokes").all("table")[0])
    for row, pair in zip(table, _in_pairs(points), strict=True):
        for text, point in zip(row[1:], pair, strict=True):
            errors = point["root_mean_squared_error"][4:6]
            _assert_shown(text, 100 * math.sqrt(sum(error**2 for error in errors) / 2))
