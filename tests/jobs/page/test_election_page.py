from __future__ import annotations

import copy
import itertools
import re
from typing import Any

import pytest

from jobs.page.page import render_election
from tests.jobs.page.documents import HOSTILE
from tests.jobs.page.elections import (
    ELECTIONS,
    alone,
    asked,
    borda,
    central,
    condorcet,
    election,
    hostile_election,
    hostile_transfers,
    knockout,
    nobody,
    plurality,
    transfers,
    unvoted,
)
from tests.jobs.page.missing import assert_clean, paths_of, without
from tests.jobs.page.reading import Element, card_of, read, rows

SPACE = "\N{NO-BREAK SPACE}"


def _header(made: dict[str, Any]) -> list[str]:
    """Return the paragraphs above the first heading below the name."""
    (header,) = read(render_election(made)).all("header")
    return [one.text for one in header.all("p")]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            transfers(),
            f"Pat McCarthy wins by single transferable vote, in the interactive model at ε{SPACE}1.",
        ),
        (plurality(), f"Wright wins by plurality, in the local model at ε{SPACE}1."),
        (central(), f"Pat McCarthy wins by single transferable vote, in the central model at ε{SPACE}1."),
        (
            nobody(),
            f"Nobody wins by the Condorcet rule, in the local model at ε{SPACE}1: no candidate beats all others.",
        ),
        (alone(), f"Ada is the only candidate, and wins by plurality, in the local model at ε{SPACE}1."),
        (
            unvoted(),
            f"No ballot was cast: by the tie order alone Ada wins by plurality, in the local model at ε{SPACE}1.",
        ),
    ],
)
def test_the_first_thing_said_is_the_outcome_with_its_rule_model_and_epsilon(
    made: dict[str, Any], expected: str
) -> None:
    assert _header(made)[1] == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            transfers(),
            f"The race was decided by an estimated 2,027 of 312,771 ballots; with 95{SPACE}% probability the answer"
            f" is right wherever that is at least 1,850. The scores leave no other outcome: with 95{SPACE}%"
            f" probability the answer is right.",
        ),
        (
            plurality(),
            f"The race was decided by an estimated 183 of 8,980 ballots; with 95{SPACE}% probability the answer is"
            " right wherever that is at least 1,850. The scores leave other outcomes possible: the race was too close to"
            " be sure of the answer.",
        ),
        (
            borda(),
            f"The race was decided by an estimated 8 of 1,000 ballots; with 95{SPACE}% probability the answer is"
            " right wherever that is at least 1,850. So few ballots cannot decide any race for sure at this ε: take"
            " the answer for a guess.",
        ),
        (
            plurality(estimated_margin=None),
            f"With 95{SPACE}% probability the answer is right wherever at least 1,850 of the 8,980 ballots decided"
            " the race. The scores leave other outcomes possible: the race was too close to be sure of the answer.",
        ),
        (
            central(),
            f"With 95{SPACE}% probability the answer is right wherever at least 5 of the 312,771 ballots decided the"
            " race. How many did is not told: the outcome is all that leaves.",
        ),
        (
            plurality(decisive_margin={"value": None, "failure_probability": 0.01}),
            f"No margin is known from which on the answer is right with 99{SPACE}% probability.",
        ),
        (alone(), "There was only one possible outcome, and the answer is right."),
    ],
)
def test_then_how_decisive_the_race_was(made: dict[str, Any], expected: str) -> None:
    assert _header(made)[2] == expected


def test_the_margins_are_where_they_belong_on_their_bar() -> None:
    made = transfers()
    made["result"] |= {"estimated_margin": 1000}
    made["result"]["decisive_margin"]["value"] = 2000
    bar = next(one for one in read(render_election(made)).all("svg") if "margin" in str(one.attributes))
    estimate, _, least = bar.all("rect")
    widths = [float(one.rstrip("%")) for one in (estimate.attributes["width"], least.attributes["x"])]
    assert widths[1] == pytest.approx(2 * widths[0], abs=2e-3)


@pytest.mark.parametrize(
    ("model", "basis", "expected"),
    [
        (
            "local",
            "",
            "Whatever one voter’s ballot, their report is at most e1 ≈ 2.719 times as likely as with",
        ),
        (
            "interactive",
            "",
            "Whatever one voter’s ballot, all that is sent in all rounds is at most e1 ≈ 2.719",
        ),
        ("central", "", "Whatever one voter’s ballot, the outcome is at most e1 ≈ 2.719 times as likely as"),
        (
            "local",
            "collected: as the footers say",
            "If reports were made as they say, then whatever one voter’s",
        ),
    ],
)
def test_the_guarantee_is_one_sentence_of_what_leaves(model: str, basis: str, expected: str) -> None:
    made = plurality()
    made["result"]["model"] = model
    made["privacy"] |= {"model": model, "basis": basis}
    shown = read(render_election(made)).text
    assert expected in shown
    assert ("Nothing is charged" in shown) == bool(basis)
    made["privacy"]["epsilon"] = None
    assert "This election gives no guarantee of differential privacy." in read(render_election(made)).text


def _text(made: dict[str, Any]) -> str:
    return read(render_election(made)).text


def test_ties_say_whether_the_tie_order_decided() -> None:
    assert "In round 2 Will Baker and Shawn Bunney were level: the tie order decided." in _text(transfers())
    assert "Here Ada and Bo were level: the tie order decided." in _text(unvoted())
    assert "In round 3 Ada and Eve were level: the tie order decided." in _text(knockout())
    made = knockout()
    made["result"]["rounds"][3]["tied"] = ["Ada", "Eve"]
    assert "In round 4 Ada and Eve were level in a duel." in _text(made)


def test_estimates_below_zero_are_explained() -> None:
    assert "That is no mistake" in _text(plurality())
    assert "That is no mistake" not in _text(transfers())


def test_what_was_asked_of_whom_says_how_many_voters_each_round_had_and_what_they_sent() -> None:
    text = _text(transfers())
    table = next(one for one in read(render_election(transfers())).all("table") if "voters" in one.text)
    assert rows(table)[2] == ["3", "first choices", "3 candidates", "subset selection", "83,406", "26.7"]
    assert "First choices: whom do you place first among these candidates?" in text
    assert (
        "A random set of candidates, which holds their own choice more often than any other; or one bit:"
        in text
    )
    assert "Each voter is asked in one round alone, and spends all of ε there" in text
    assert "A ballot is cut where it first breaks the rules." in text
    two = plurality(asked={"randomizer": ["ball", "ellipsoid"]})
    assert "2 reports, with an equal part of ε each: one bit: on which side" in _text(two)
    assert "Nothing was asked." in _text(alone())


def test_of_the_central_model_nothing_is_shown_but_the_outcome_and_the_margin_it_needs() -> None:
    made = central()
    leak = asked("first choices", ["LEAKED"], [7654321.0], 1.0, tied=["LEAKED"], eliminated="LEAKED")
    made["result"] |= {
        "rounds": [leak, leak],
        "estimated_margin": 7654321,
        "estimated_margin_is": "LEAKED",
        "asked": {"randomizer": ["LEAKED"], "reason": "LEAKED"},
    }
    made["seconds"] = {"LEAKED": 7654321.0}
    shown = render_election(made).decode()
    assert "LEAKED" not in shown
    assert "7654321" not in shown.replace(",", "")
    assert not read(shown.encode()).all("figure", "table")
    assert "By chance: any other outcome has e^(−ε × margin) times the chance of the true one." in shown


@pytest.mark.parametrize("made", [hostile_election(), hostile_transfers()])
def test_every_name_is_shown_as_it_is_and_does_nothing(made: dict[str, Any]) -> None:
    shown = render_election(made)
    page = read(shown)
    names = [row[0] for row in rows(page.all("table")[0])]
    written = [text.encode("utf-8", "replace").decode().strip() or "(blank)" for text in HOSTILE]
    if "stv" not in str(made["result"]["rule"]):
        assert set(written) <= set(names)
    assert not page.all("script", "image", "iframe", "object", "form", "foreignobject")
    everything = _everything(page)
    assert not [one for one in everything if any(name.startswith("on") for name in one.attributes)]
    ids = [one.attributes["id"] for one in everything if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    links = [one.attributes[key] for one in everything for key in ("href", "src") if key in one.attributes]
    links += re.findall(r"url\(([^)]*)\)", shown.decode())
    assert {link for link in links if link.removeprefix("#") not in ids} == {"data:,"}
    assert b"http:" not in shown
    assert b"https:" not in shown


def _everything(element: Element) -> list[Element]:
    inside = [one for one in element.inside if isinstance(one, Element)]
    return inside + [inner for one in inside for inner in _everything(one)]


@pytest.mark.parametrize("name", ELECTIONS)
def test_headings_are_in_order_figures_have_names_and_the_document_stays(name: str) -> None:
    made = ELECTIONS[name]()
    before = copy.deepcopy(made)
    shown = render_election(made)
    assert made == before
    assert render_election(before) == shown
    assert_clean(shown, (name,))
    page = read(shown)
    levels = [int(one.tag[1]) for one in page.all("h1", "h2", "h3", "h4")]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    for one in page.all("svg"):
        assert one.attributes.get("aria-hidden") == "true" or (
            one.attributes["role"] == "img" and one.attributes["aria-label"]
        )


@pytest.mark.parametrize("make", [transfers, condorcet, knockout, borda, central])
def test_whatever_is_null_or_not_there_the_page_is_made(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Figures are the slow part, and take what is missing in a test of their own.
    for figure in ("draw_scores", "draw_transfers", "draw_duels"):
        monkeypatch.setattr(f"jobs.page.election_rounds.{figure}", lambda *_, **__: "")
    for path in paths_of(make()):
        for replace in (True, False):
            assert_clean(render_election(without(make(), path, replace)), path)


@pytest.mark.parametrize("name", ["transfers", "condorcet", "condorcet-30", "knockout", "borda"])
def test_rounds_of_nothing_but_nulls_can_be_drawn(name: str) -> None:
    made = ELECTIONS[name]()
    for one in made["result"]["rounds"]:
        for key in ("scores", "standard_errors", "intervals"):
            one[key] = [None for _ in one[key]]
    assert_clean(render_election(made), (name,))
    made["result"]["rounds"] = [{}, {"question": None}, {"question": "duels", "pairs": [[], ["Ada"], None]}]
    assert_clean(render_election(made), (name,))


@pytest.mark.parametrize("made", [{}, {"result": None}, {"result": {"rounds": [None]}}])
def test_an_empty_document_is_an_empty_page(made: dict[str, Any]) -> None:
    read(render_election(made))


def test_a_name_that_is_a_number_is_a_name() -> None:
    made = election("plurality", [1, 2], 10, 2, [asked("first choices", [1, 2], [3.0, 7.0], 1.0)])
    assert _header(made)[1].startswith("2 wins by plurality")
    assert [
        row[0] for row in rows(card_of(read(render_election(made)), "First choices").all("table")[0])
    ] == [
        "2",
        "1",
    ]


def test_what_first_choices_include_is_said_where_they_are_shown() -> None:
    made = transfers()
    assert "differences between candidates do not" not in render_election(made).decode()
    made["result"]["rounds"][0]["includes"] = "an equal part of <b>blank</b> ballots"
    page = render_election(made).decode()
    assert "First choices include an equal part of &lt;b&gt;blank&lt;/b&gt; ballots; differences" in page
