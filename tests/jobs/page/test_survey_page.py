from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

from jobs.page import render_study, render_survey
from tests.jobs.page.documents import HOSTILE, attribute, document, hostile, rich
from tests.jobs.page.reading import Element, card_of, marks, read, resolution, rows, ticks, value
from tests.jobs.page.studies import rich_study


@pytest.fixture(scope="module")
def page() -> Element:
    return read(render_survey(rich()))


def test_the_same_document_gives_the_same_bytes_in_another_process_and_under_other_settings(
    tmp_path: Path,
) -> None:
    (tmp_path / "matplotlibrc").write_text("lines.linewidth: 9\nfont.size: 30\naxes.facecolor: red\n")
    (tmp_path / "documents.json").write_text(json.dumps([rich(), rich_study()]))
    script = (
        "import json, sys; from jobs.page import render_study, render_survey;"
        f"survey, study = json.load(open({str(tmp_path / 'documents.json')!r}));"
        "sys.stdout.buffer.write(render_survey(survey) + render_study(study));"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        check=True,
        env={"MATPLOTLIBRC": str(tmp_path / "matplotlibrc"), "PYTHONHASHSEED": "7", "HOME": str(tmp_path)},
        cwd=Path(__file__).parents[3],
    )
    assert ran.stdout == render_survey(rich()) + render_study(rich_study())


def test_rendering_leaves_the_document_and_matplotlib_as_they_were() -> None:
    before, given = dict(mpl.rcParams), rich()
    render_survey(given)
    assert given == rich()
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("name", ["cheated", "drinks", "place", "income"])
def test_every_number_of_an_attribute_is_that_of_the_document(page: Element, name: str) -> None:
    given = rich()["result"]["attributes"][name]
    post = {key: values for key, values in given["post_processed"].items() if values}
    for k, shown in enumerate(rows(card_of(page, name).all("table")[0])[: len(given["categories"])]):
        label, share, error, interval, *others = shown
        low, high = interval.split(" to ")
        assert label == str(given["categories"][k])
        expected = [given["proportions"][k], given["standard_errors"][k], *given["intervals"][k]]
        expected += [column[k] for column in post.values()]
        for text, number in zip([share, error, low, high, *others], expected, strict=True):
            assert value(text) == pytest.approx(100 * number, abs=resolution(text) * (1 + 1e-9))
            assert resolution(text) <= 100 * given["standard_errors"][k] / 20, "too few digits"


@pytest.mark.parametrize("name", ["cheated", "drinks", "place", "income"])
def test_every_dot_lies_where_its_estimate_is(page: Element, name: str) -> None:
    given = rich()["result"]["attributes"][name]["proportions"]
    (chart,) = card_of(page, name).all("figure")
    at = ticks(chart)
    (one, x1), (other, x2) = min(at.items()), max(at.items())
    by_row = [x for x, _ in sorted(marks(chart), key=lambda mark: mark[1])]
    seen = [(one + (x - x1) * (other - one) / (x2 - x1)) / 100 for x in by_row]
    assert seen == pytest.approx(given, abs=2e-5)


def test_a_negative_estimate_is_an_open_dot_left_of_zero_and_is_explained(page: Element) -> None:
    chart = card_of(page, "place").all("figure")[0]
    open_dots = [one for one in chart.all("use") if "var(--below)" in one.attributes["style"]]
    assert [float(one.attributes["x"]) < ticks(chart)[0.0] for one in open_dots] == [True]
    below = [
        one.text for one in card_of(page, "place").all("td") if "below" in one.attributes.get("class", "")
    ]
    assert below == ["−2.3"]
    assert "That is no mistake" in page.text


def test_without_negative_estimates_nothing_is_explained() -> None:
    shown = render_survey(document({"a": attribute(["x", "y"], [0.25, 0.75], 0.01)})).decode()
    assert "That is no mistake" not in shown


@pytest.mark.parametrize(
    ("privacy", "expected"),
    [
        ({"epsilon": 1.0}, "Whatever one respondent answered, their reports are at most e1 ≈ 2.719 times as"),
        (
            {"epsilon": 50.0, "basis": "collected: as the spec says"},
            "If the reports were made as the spec says, then whatever one respondent answered, their reports"
            " are at most e50 ≈ 5.185 × 10²¹ times as likely as under any other answers.",
        ),
        ({"epsilon": None}, "This design gives no guarantee of differential privacy: a report can tell"),
        ({"epsilon": 5000.0}, "e5000 ≈ 2.968 × 10²¹⁷¹ times"),
    ],
)
def test_the_guarantee_is_one_plain_sentence(privacy: dict[str, Any], expected: str) -> None:
    made = rich()
    made["privacy"] |= privacy
    (guarantee,) = (one for one in read(render_survey(made)).all("div") if "guarantee" in str(one.attributes))
    assert expected in guarantee.text


def test_the_budget_says_what_is_spent_and_what_is_left(page: Element) -> None:
    (bar,) = (one for one in page.all("svg") if one.attributes.get("class") == "bar")
    widths = {one.attributes["class"]: one.attributes["width"] for one in bar.all("rect")}
    assert widths == {"own": "70.833%", "before": "20.833%", "track": "100%"}
    assert next(one.text for one in page.all("ul") if one.attributes.get("class") == "keys").split("\n") == [
        "spent before: ε 2.5",
        "by this survey: ε 6",
        "left of 12: ε 3.5",
    ]


def test_without_a_limit_there_is_no_bar() -> None:
    made = rich()
    made["privacy"] |= {"limit": None, "spent_before": 0.0, "spent_after": 6.0}
    shown = read(render_survey(made))
    assert not [one for one in shown.all("svg") if one.attributes.get("class") == "bar"]
    assert "ε 6 has been spent on each of these respondents. No limit is set." in shown.text


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (
            1e-9,
            "fewer than 1 of 1,000 such surveys (p\N{NO-BREAK SPACE}<\N{NO-BREAK SPACE}0.001, 4 degrees of freedom).",
        ),
        (
            0.031,
            "about 3 of 100 such surveys (p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.031, 4 degrees of freedom).",
        ),
        (
            0.5,
            "(p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.5, 4 degrees of freedom). That is no evidence that they are related",
        ),
    ],
)
def test_a_p_value_is_put_in_words(p: float, expected: str) -> None:
    made = rich()
    made["result"]["statistics"][2]["p_value"] = p
    shown = read(render_survey(made))
    assert expected in card_of(shown, "Test of independence of drinks and cheated").text


def test_statistics_joint_tables_regressions_groups_and_cheaters_show_their_numbers(page: Element) -> None:
    entropy = card_of(page, "Entropy of drinks").text
    assert "2.176 bits ± 0.012" in entropy
    assert "interval 2.152 to 2.201" in entropy
    joint = rows(card_of(page, "cheated and drinks").all("table")[0])
    assert joint[1] == ["no", "21.03± 0.51", "27.90± 0.51", "25.04± 0.51", "13.15± 0.51", "5.83± 0.51"]
    assert joint[2][-1] == "−0.40± 0.49"
    terms = rows(card_of(page, "What goes with cheated").all("table")[0])
    assert terms[2] == [
        "drinks: daily",
        "0.970",
        "0.170",
        "5.71",
        "<\N{NO-BREAK SPACE}0.001",
        "2.64",
        "1.89 to 3.68",
    ]
    groups = rows(card_of(page, "drinks in each group").all("table")[0])
    assert groups[1] == ["never", "23.38± 0.44", "21.48± 0.50", "22.18± 0.44"]
    cheating = rows(card_of(page, "Carriers and cheaters: cheated").all("table")[0])
    assert cheating[0] == ["carriers", "87.1", "4.1", "79.0 to 95.1"]


def test_every_text_of_a_document_is_shown_as_it_is_and_does_nothing() -> None:
    shown = render_survey(hostile())
    page = read(shown)
    labels = [row[0] for row in rows(page.all("table")[0])]
    written = [text.encode("utf-8", "replace").decode().strip() or "(blank)" for text in HOSTILE]
    assert labels == written
    assert not page.all("script", "image", "iframe", "object", "form", "foreignobject")
    assert not [one for one in _everything(page) if any(name.startswith("on") for name in one.attributes)]
    drawn = [one.text for one in page.all("article")[0].all("figure")[0].all("text")]
    assert [text for text in drawn if text.startswith("$")] == [HOSTILE[1]]
    assert "@0@" in drawn
    assert sum(row[0].startswith("category ") for table in page.all("table") for row in rows(table)) == 200


def test_a_page_refers_to_nothing_but_itself_and_the_tables_beside_it() -> None:
    for made in (rich(), hostile()):
        shown = render_survey(made)
        page = read(shown)
        ids = [one.attributes["id"] for one in _everything(page) if "id" in one.attributes]
        assert len(ids) == len(set(ids))
        links = [
            one.attributes[key]
            for one in _everything(page)
            for key in ("href", "src")
            if key in one.attributes
        ]
        links += re.findall(r"url\(([^)]*)\)", shown.decode())
        beside = {"tables/0.parquet"} if made == rich() else set()
        assert {link for link in links if link.removeprefix("#") not in ids} == {"data:,"} | beside
        assert b"http:" not in shown
        assert b"https:" not in shown
        assert b"@import" not in shown
        policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
        assert policy in [one.attributes.get("content") for one in page.all("meta")]


def test_headings_are_in_order_and_figures_have_names(page: Element) -> None:
    levels = [int(one.tag[1]) for one in page.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    for one in page.all("svg"):
        assert one.attributes.get("aria-hidden") == "true" or (
            one.attributes["role"] == "img" and one.attributes["aria-label"]
        )


def _everything(element: Element) -> list[Element]:
    inside = [one for one in element.inside if isinstance(one, Element)]
    return inside + [inner for one in inside for inner in _everything(one)]
