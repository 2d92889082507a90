"""Of a survey's page, what goes beyond single questions, and what is there only for some designs."""

from __future__ import annotations

import re
from typing import Any

import pytest

from jobs.page import render_survey
from tests.jobs.page.documents import attribute, document, hostile, rich
from tests.jobs.page.reading import Element, card_of, read, rows, ticks


@pytest.fixture(scope="module")
def page() -> Element:
    return read(render_survey(rich()))


def test_a_joint_table_of_three_attributes_has_a_row_for_every_pair_of_the_first_two() -> None:
    proportions = [[[0.1, 0.2], [0.05, 0.15]], [[0.2, 0.1], [0.1, 0.1]]]
    one = {"of": ["a", "b", "c"], "categories": [["p", "q"], ["r", "s"], ["t"]], "proportions": proportions}
    shown = read(render_survey(document({}, joint=[one])))
    table = rows(shown.all("table")[0])
    assert table[0] == ["", "t", "no answer"]
    assert [row[0] for row in table[1:]] == ["p · r", "p · s", "q · r", "q · s"]
    assert table[2][1:] == ["5.00± –", "15.00± –"]


def test_a_statistic_of_proportions_is_a_table_with_its_attributes_categories() -> None:
    made = rich()
    made["result"]["joint"] = []
    estimate = [[0.4, 0.55], [0.03, 0.02]]
    one = {
        "kind": "proportions",
        "of": ["cheated", "place"],
        "estimate": estimate,
        "standard_error": estimate,
    }
    made["result"]["statistics"].append(one)
    shown = rows(card_of(read(render_survey(made)), "cheated and place").all("table")[0])
    assert shown == [
        ["", "at home", "at work"],
        ["no", "40.0± 40.0", "55.0± 55.0"],
        ["yes", "3.0± 3.0", "2.0± 2.0"],
    ]


def test_a_table_that_is_a_file_is_named_with_its_size_and_attributes(page: Element) -> None:
    names = ", ".join(f"q{k}" for k in range(13)) + " and q13"
    card = card_of(page, names)
    assert (
        "16,384 cells, of 14 attributes: too many to be looked at. They are in tables/0.parquet," in card.text
    )
    assert [one.attributes["href"] for one in card.all("a")] == ["tables/0.parquet"]
    made = rich()
    made["result"]["statistics"].append(made["result"]["joint"].pop())
    shown = read(render_survey(made))
    assert card_of(shown, names).text == card.text
    assert "Proportions" not in [one.text for one in shown.all("h3")]


def test_a_file_with_another_name_is_named_but_not_linked() -> None:
    shown = read(render_survey(hostile()))
    assert "They are in javascript:alert(1)," in shown.text
    assert all(one.attributes["href"].startswith("#") for one in shown.all("a"))


def test_a_table_of_many_rows_is_folded() -> None:
    side = [f"c{k}" for k in range(40)]
    one = {"of": ["a", "b"], "categories": [side, ["p", "q"]], "proportions": [[0.0125, 0.0125]] * 40}
    (details,) = read(render_survey(document({}, joint=[one]))).all("details")
    assert details.all("summary")[0].text == "All 80 cells as a table"
    assert len(rows(details.all("table")[0])) == 41


def _stroke(statistic: dict[str, Any]) -> float | None:
    """Return the place on the axis of the only statistic's stroke."""
    (chart,) = read(render_survey(document({}, statistics=[statistic]))).all("figure")
    at = ticks(chart, "")
    (one, x1), (other, x2) = min(at.items()), max(at.items())
    found = [
        path.attributes for path in chart.all("path") if "var(--ink)" in path.attributes.get("style", "")
    ]
    if not found:
        assert "The stroke" not in chart.text
        return None
    assert "The stroke is where noise alone would put it." in chart.text
    (x,) = {float(x) for x in re.findall(r"[ML] ?(\S+) ", found[0]["d"])}
    return one + (x - x1) * (other - one) / (x2 - x1)


def test_what_noise_alone_would_make_of_a_measure_is_a_stroke_where_it_is_near() -> None:
    given = {"kind": "chi-square", "of": ["a", "b"], "estimate": 14.0, "standard_error": 10.0}
    near = given | {"interval": [0.0, 33.6], "if_independent": 21.0}
    assert _stroke(near) == pytest.approx(21.0, abs=0.05)
    assert _stroke(near | {"if_independent": None}) is None
    assert _stroke(given | {"interval": [13.0, 15.0], "if_independent": 2.0}) is None


def test_what_two_samples_say_of_cheaters_is_put_in_words(page: Element) -> None:
    card = card_of(page, "Carriers and cheaters: cheated").text
    assert "If nobody cheated, so many cheaters or more would come up in about 75 of 100 such surveys" in card
    assert "That is no evidence of cheating, and none of honesty." in card
    assert "Cheaters came out as no share." in card
    assert "p_value" not in page.text
    (link,) = card_of(page, "cheated").all("a")
    assert link.attributes["href"] == "#cheating"


def test_shares_that_two_samples_do_not_tell_are_left_to_the_model() -> None:
    note = "see cheating: whether cheaters are carriers is not known"
    nothing = {"simplex-projection": None, "clip-and-rescale": None, "maximum-likelihood": None}
    missing = {"handling": "none", "share": None, "standard_error": None, "note": note}
    one = attribute(["no", "yes"], [None, None], None, post_processed=nothing, missing=missing)
    cheating = [{"attribute": "trait", "model": "cheater-detection", "estimates": {}, "p_value": None}]
    card = card_of(read(render_survey(document({"trait": one}, cheating=cheating))), "trait")
    assert not card.all("table", "figure")
    assert "See cheating: whether cheaters are carriers is not known." in card.text
    assert "could be estimated" not in card.text


def test_without_post_processed_shares_there_are_no_columns_for_them() -> None:
    nothing = {"simplex-projection": None, "maximum-likelihood": None}
    shown = read(
        render_survey(document({"a": attribute(["x", "y"], [-0.1, 1.1], 0.1, post_processed=nothing)}))
    )
    assert [one.text for one in shown.all("table")[0].all("thead")[0].all("th")] == [
        "category", "share, %", "std. error", "95\N{NO-BREAK SPACE}% interval",
    ]  # fmt: skip
    assert "That is no mistake" in shown.text
    assert "columns at the right" not in shown.text


def test_what_the_guarantee_leaves_out_is_said_where_it_is_used() -> None:
    made = rich()
    made["privacy"] |= {
        "basis": "collected: as the spec says",
        "covers": "reports, and no column beside them",
    }
    made["privacy"] |= {"limit": None, "spent_before": 0.0, "spent_after": 0.0}
    made["spec"]["collected"] = {"design": "warner", "weight": "w", "strata": None, "groups": None}
    shown = read(render_survey(made)).text
    assert "This covers reports, and no column beside them: weights are used as they stand." in shown
    assert "Nothing is charged for these reports: they had been collected before." in shown
    assert "ε 0 has been spent" not in shown
    made["spec"]["collected"]["weight"] = None
    assert "as they stand" not in read(render_survey(made)).text
